/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the radix sort that are plain C: keys as the codelets see them, the map from key to cell, and
 * a sort for what does not fit a device. Shared by radix*.c and small_sort.c.
 */
#ifndef CODELETS_RADIX_HOST_H
#define CODELETS_RADIX_HOST_H

#include "base/radix_layout.h"
#include "base/type.h"
#include "opencl/codelet.h"

/* The order of a job's keys. In argsort all NaNs are one key: mapped keys above `top` become `top`. */
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

/* Cell of a mapped key, and of a refined map its place: base/radix_layout.h. */
uint32_t hac_radix_cell(const hac_radix_header *h, uint64_t m);
uint32_t hac_radix_place(const hac_radix_header *h, const uint32_t *entries, uint64_t m);

/* A refined map that no sample chose, of all keys: every third cell has sixteen places. Writes the header but
 * for the sort's own figures, entries and cells of a TABLE. For tests of codelets. */
void hac_radix_refine_thirds(uint8_t *table);

/*
 * Sorts n mapped keys in place, stable, in time n · (digits in which they differ). Un-maps keys; argsort
 * (index not NULL, index_bytes 4 or 8): sorts index with them, keys are left in no order. Scratch of the size
 * of both is allocated for the time of the call.
 */
HAC_MUST_USE hac_status hac_radix_sort_bucket(const hac_radix_order *order, void *keys, void *index,
                                              uint32_t index_bytes, uint64_t n, hac_error *err);

/* The common params of the radix codelets, checked. */
typedef struct hac_radix_params {
    uint64_t n, chunk_items, chunks;
    uint32_t buckets, index_bytes, key_bytes;
} hac_radix_params;

/* Reads params 0 … 3. `span_items` says what each span holds; spans that are too short are refused. */
typedef enum hac_radix_span {
    HAC_RADIX_KEYS, /* n keys */
    HAC_RADIX_INDEX,
    HAC_RADIX_TABLE,
    HAC_RADIX_COUNTS
} hac_radix_span;

HAC_MUST_USE hac_status hac_radix_params_of(const hac_task *task, const hac_radix_span *spans, size_t n_spans,
                                            hac_radix_params *ret, hac_error *err);
/* The same of a codelet for indices of so many bytes. */
HAC_MUST_USE hac_status hac_radix_params_of_kind(const hac_task *task, const hac_radix_span *spans,
                                                 size_t n_spans, uint32_t index_bytes, hac_radix_params *ret,
                                                 hac_error *err);

/* Bytes of a key or an index, whichever has more: what a window of them is measured by. */
static inline uint64_t hac_radix_widest(const hac_radix_params *p)
{
    return p->index_bytes > p->key_bytes ? p->index_bytes : p->key_bytes;
}

/* TABLE as it is now, checked and copied, since others can write to it. */
typedef struct hac_radix_table {
    hac_radix_header header;
    bool direct; /* a cell's bucket is the cell itself, without a search: nothing is looked up */
    /* malloc'ed, 64-byte aligned: cells, and splitters, values or entries, undefined where there are none */
    uint8_t *maps;
    uint64_t maps_bytes, splitters_at;
} hac_radix_table;

HAC_MUST_USE hac_status hac_radix_table_read(const hac_span *span, const hac_radix_params *params,
                                             hac_radix_table *ret, hac_error *err);
/* Whether cells are not buckets yet, but where a search begins. */
static inline bool hac_radix_searches(const hac_radix_header *h)
{
    return h->levels != 0 && h->levels <= HAC_RADIX_MAX_LEVELS;
}

/* Buckets up to the last one that keys can come to; those behind it are empty. */
static inline uint32_t hac_radix_filled(const hac_radix_table *table)
{
    const hac_radix_header *h = &table->header;
    const uint16_t *cells = (const uint16_t *)(const void *)table->maps;
    return hac_radix_searches(h) ? h->buckets : cells[h->cells - 1] + 1u;
}

/* Of a table with values: the mapped key of each bucket; undefined where there is none. */
void hac_radix_values(const hac_radix_table *table, uint64_t *ret);

void hac_radix_table_free(hac_radix_table *table);

/* 64-byte aligned memory, freed with free(); NULL if there is none. */
void *hac_radix_alloc(uint64_t bytes);

#endif
