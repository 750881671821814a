/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of one purpose (a compilation, a file's footer): taken in pieces, given back as a whole, bounded. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

typedef struct hac_arena_block hac_arena_block;

typedef struct hac_arena {
    hac_arena_block *blocks; /* the newest first */
    size_t total, limit;     /* bytes given out, and how many may be */
} hac_arena;

/* Zeroed, aligned for any type; NULL when memory or the limit is reached. */
void *hac_arena_alloc(hac_arena *arena, size_t bytes);
void hac_arena_clear(hac_arena *arena);

#endif
