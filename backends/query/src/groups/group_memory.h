/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a group table, counted against one limit. */
#ifndef QUERY_GROUP_MEMORY_H
#define QUERY_GROUP_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct hac_memory_budget {
    uint64_t limit, used; /* bytes */
} hac_memory_budget;

/* Reallocates `old` of `old_bytes` bytes. NULL: no memory, or over the limit; `old` is unchanged then. */
void *hac_budget_resize(hac_memory_budget *budget, void *old, uint64_t old_bytes, uint64_t bytes,
                        hac_error *err);
/* Allocates n · size bytes of zeros; NULL as hac_budget_resize. */
void *hac_budget_zeros(hac_memory_budget *budget, uint64_t n, uint64_t size, hac_error *err);
/* `bytes` is the size of `memory`, which may be NULL. */
void hac_budget_free(hac_memory_budget *budget, void *memory, uint64_t bytes);

/* Strings of groups, which are freed together. */
typedef struct hac_group_block {
    struct hac_group_block *next;
    size_t used, capacity;
    uint8_t data[];
} hac_group_block;

typedef struct hac_group_arena {
    hac_memory_budget *budget;
    hac_group_block *blocks; /* NULL: nothing is allocated */
} hac_group_arena;

uint8_t *hac_group_arena_alloc(hac_group_arena *arena, size_t bytes, hac_error *err);
/* Copies the characters of a long string; words[1] then points to the copy. */
HAC_MUST_USE hac_status hac_group_arena_keep(hac_group_arena *arena, uint64_t words[2], hac_error *err);
void hac_group_arena_clear(hac_group_arena *arena);

#endif
