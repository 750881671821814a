/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>

#define BLOCK_BYTES (16u * 1024)

struct hac_arena_block {
    hac_arena_block *next;
    size_t used, capacity;
    alignas(max_align_t) uint8_t data[];
};

static hac_arena_block *add_block(hac_arena *arena, size_t bytes)
{
    size_t capacity = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
    hac_arena_block *block = calloc(1, sizeof *block + capacity);
    if (block == NULL)
        return NULL;
    block->capacity = capacity;
    block->next = arena->blocks;
    arena->blocks = block;
    return block;
}

void *hac_arena_alloc(hac_arena *arena, size_t bytes)
{
    const size_t align = alignof(max_align_t);
    if (bytes > arena->limit)
        return NULL;
    bytes = (bytes + align - 1) / align * align;
    if (bytes > arena->limit - arena->total)
        return NULL;
    hac_arena_block *block = arena->blocks;
    if (block == NULL || bytes > block->capacity - block->used) {
        block = add_block(arena, bytes);
        if (block == NULL)
            return NULL;
    }
    void *ret = block->data + block->used;
    block->used += bytes;
    arena->total += bytes;
    return ret;
}

void hac_arena_clear(hac_arena *arena)
{
    for (hac_arena_block *block = arena->blocks, *next; block != NULL; block = next) {
        next = block->next;
        free(block);
    }
    arena->blocks = NULL;
    arena->total = 0;
}
