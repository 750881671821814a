/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the radix sort in plain C: keys as codelets see them, the map from key to cell, and a sort for
 * what does not fit a device. For radix*.c and small_sort.c.
 */
#ifndef CODELETS_RADIX_HOST_H
#define CODELETS_RADIX_HOST_H

#include "base/radix_layout.h"
#include "base/type.h"
#include "codelet/codelet.h"

/* The order of a job's keys. In argsort all NaNs are one key: a mapped key above `top` becomes `top`. */
typedef struct hac_radix_order {
    hac_key_order order;
    uint64_t top;
    uint32_t key_bytes;
} hac_radix_order;

hac_radix_order hac_radix_order_of(hac_type type, bool descending, bool argsort);

static inline uint64_t hac_radix_load(const void *keys, uint64_t i, uint32_t key_bytes)
{
    return key_bytes == 4 ? ((const uint32_t *)keys)[i] : ((const uint64_t *)keys)[i];
}

static inline uint64_t hac_radix_map(const hac_radix_order *o, uint64_t key)
{
    hac_key_order up = o->order;
    up.reverse = 0;
    uint64_t m = o->key_bytes == 4 ? hac_key_map32(up, (uint32_t)key) : hac_key_map64(up, key);
    return (m < o->top ? m : o->top) ^ o->order.reverse;
}

static inline uint64_t hac_radix_unmap(const hac_radix_order *o, uint64_t m)
{
    return o->key_bytes == 4 ? hac_key_unmap32(o->order, (uint32_t)m) : hac_key_unmap64(o->order, m);
}

/* The cell of a mapped key; with a refined map, its place: base/radix_layout.h. */
uint32_t hac_radix_cell(const hac_radix_header *h, uint64_t m);
uint32_t hac_radix_place(const hac_radix_header *h, const uint32_t *entries, uint64_t m);

/* Writes a refined map over all keys that no sample would choose: every third cell has sixteen places. Sets
 * the entries and cells of a TABLE and its header, except the sort's own figures. For known-answer tests and
 * tests. */
void hac_radix_refine_thirds(uint8_t *table);

/*
 * Sorts n mapped keys in place. The sort is stable and takes time n · (number of digits in which keys
 * differ). Without an index, keys are unmapped. With an index of 4 or 8 bytes (argsort), the index is sorted
 * along and the keys are left in no order. Allocates scratch of the size of both for the time of the call.
 */
HAC_MUST_USE hac_status hac_radix_sort_bucket(const hac_radix_order *order, void *keys, void *index,
                                              uint32_t index_bytes, uint64_t n, hac_error *err);

/* The parameters of the radix codelets (hac_radix_params), checked. */
typedef struct hac_radix_sizes {
    uint64_t n, chunk_items, chunks;
    uint32_t buckets, index_bytes, key_bytes;
} hac_radix_sizes;

/* What a span holds; a span that is too short is refused. */
typedef enum hac_radix_span {
    HAC_RADIX_KEYS, /* n keys */
    HAC_RADIX_INDEX,
    HAC_RADIX_TABLE,
    HAC_RADIX_COUNTS
} hac_radix_span;

HAC_MUST_USE hac_status hac_radix_sizes_of(const hac_task *task, const hac_radix_span *spans, size_t n_spans,
                                           hac_radix_sizes *ret, hac_error *err);
/* Also checks that the codelet is for indices of this many bytes. */
HAC_MUST_USE hac_status hac_radix_sizes_of_kind(const hac_task *task, const hac_radix_span *spans,
                                                size_t n_spans, uint32_t index_bytes, hac_radix_sizes *ret,
                                                hac_error *err);

/* Bytes of a key or an index, whichever is larger: the unit of windows. */
static inline uint64_t hac_radix_widest(const hac_radix_sizes *p)
{
    return p->index_bytes > p->key_bytes ? p->index_bytes : p->key_bytes;
}

/* A checked copy of TABLE in its present state, since others can write to TABLE. */
typedef struct hac_radix_table {
    hac_radix_header header;
    bool direct; /* a cell is its own bucket: no lookup and no search */
    /* malloc'ed, 64-byte aligned: cells, then splitters, values or entries, which are undefined where there
     * are none */
    uint8_t *maps;
    uint64_t maps_bytes, splitters_at;
} hac_radix_table;

HAC_MUST_USE hac_status hac_radix_table_read(const hac_span *span, const hac_radix_sizes *params,
                                             hac_radix_table *ret, hac_error *err);
/* Whether a cell is not a bucket yet, but where a search begins. */
static inline bool hac_radix_searches(const hac_radix_header *h)
{
    return h->levels != 0 && h->levels <= HAC_RADIX_MAX_LEVELS;
}

/* Number of buckets up to the last one that a key can come to; the others are empty. */
static inline uint32_t hac_radix_filled(const hac_radix_table *table)
{
    const hac_radix_header *h = &table->header;
    const uint16_t *cells = (const uint16_t *)(const void *)table->maps;
    return hac_radix_searches(h) ? h->buckets : cells[h->cells - 1] + 1u;
}

/* For a table with values: the mapped key of each bucket; undefined where there is none. */
void hac_radix_values(const hac_radix_table *table, uint64_t *ret);

void hac_radix_table_free(hac_radix_table *table);

/* 64-byte aligned memory for free(); NULL: out of memory. */
void *hac_radix_alloc(uint64_t bytes);

#endif
