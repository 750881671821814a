/* SPDX-License-Identifier: Apache-2.0 */
#include "group_memory.h"

#include <stdlib.h>
#include <string.h>

#include "codelet/hash.h"

#define ARENA_MIN 4096u
#define ARENA_MAX (1u << 20)

/* `old_bytes` of the budget are in use now and will be free. */
static bool is_allowed(const hac_memory_budget *budget, uint64_t old_bytes, uint64_t bytes, hac_error *err)
{
    if (bytes != 0 && bytes <= budget->limit && budget->used - old_bytes <= budget->limit - bytes)
        return true;
    (void)!hac_fail(err, HAC_NO_MEMORY, "the groups need more than the %llu bytes of memory that they have",
                    (unsigned long long)budget->limit);
    return false;
}

static void *count(hac_memory_budget *budget, void *memory, uint64_t old_bytes, uint64_t bytes,
                   hac_error *err)
{
    if (memory == NULL)
        (void)!hac_fail_no_memory(err);
    else
        budget->used += bytes - old_bytes;
    return memory;
}

void *hac_budget_resize(hac_memory_budget *budget, void *old, uint64_t old_bytes, uint64_t bytes,
                        hac_error *err)
{
    if (!is_allowed(budget, old_bytes, bytes, err))
        return NULL;
    return count(budget, realloc(old, bytes), old_bytes, bytes, err);
}

void *hac_budget_zeros(hac_memory_budget *budget, uint64_t n, uint64_t size, hac_error *err)
{
    if (!is_allowed(budget, 0, n * size, err))
        return NULL;
    return count(budget, calloc(n, size), 0, n * size, err);
}

void hac_budget_free(hac_memory_budget *budget, void *memory, uint64_t bytes)
{
    if (memory != NULL)
        budget->used -= bytes;
    free(memory);
}

/* ---- strings ---- */

uint8_t *hac_group_arena_alloc(hac_group_arena *arena, size_t bytes, hac_error *err)
{
    hac_group_block *block = arena->blocks;
    if (block == NULL || block->capacity - block->used < bytes) {
        size_t capacity =
            block == NULL ? ARENA_MIN : (block->capacity < ARENA_MAX ? block->capacity * 2 : ARENA_MAX);
        capacity = bytes > capacity ? bytes : capacity;
        hac_group_block *fresh = hac_budget_resize(arena->budget, NULL, 0, sizeof *fresh + capacity, err);
        if (fresh == NULL)
            return NULL;
        *fresh = (hac_group_block){.next = block, .capacity = capacity};
        arena->blocks = block = fresh;
    }
    block->used += bytes;
    return block->data + block->used - bytes;
}

hac_status hac_group_arena_keep(hac_group_arena *arena, uint64_t words[2], hac_error *err)
{
    uint32_t n = (uint32_t)words[0];
    if (n <= HAC_STRING_SHORT)
        return HAC_OK;
    uint8_t *copy = hac_group_arena_alloc(arena, n, err);
    if (copy == NULL)
        return HAC_NO_MEMORY;
    memcpy(copy, (const void *)(uintptr_t)words[1], n);
    words[1] = (uint64_t)(uintptr_t)copy;
    return HAC_OK;
}

void hac_group_arena_clear(hac_group_arena *arena)
{
    for (hac_group_block *b = arena->blocks, *next; b != NULL; b = next) {
        next = b->next;
        hac_budget_free(arena->budget, b, sizeof *b + b->capacity);
    }
    arena->blocks = NULL;
}
