/* SPDX-License-Identifier: Apache-2.0 */
#include "radix_host.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/limits.h"

void *hac_radix_alloc(uint64_t bytes)
{
    if (bytes > SIZE_MAX - HAC_ALIGNMENT)
        return NULL;
    return aligned_alloc(HAC_ALIGNMENT, hac_radix_ceil(bytes == 0 ? 1 : bytes, HAC_ALIGNMENT));
}

hac_radix_order hac_radix_order_of(hac_type type, bool descending, bool argsort)
{
    hac_radix_order o = {.order = hac_key_order_of(type, descending),
                         .key_bytes = (uint32_t)hac_type_size(type)};
    o.top = o.key_bytes == 4 ? UINT32_MAX : UINT64_MAX;
    /* NaNs of both signs are the 2 · rotate largest mapped keys */
    if (argsort && hac_type_is_float(type))
        o.top -= 2 * o.order.rotate - 1;
    return o;
}

/* ---- cells ---- */

static uint32_t log_cell(uint64_t d, const hac_radix_header *h)
{
    d = d == (h->key_bytes == 8 ? UINT64_MAX : UINT32_MAX) ? d : d + 1;
    unsigned exponent = 63 - (unsigned)__builtin_clzll(d);
    uint64_t fraction = exponent >= h->shift ? d >> (exponent - h->shift) : d << (h->shift - exponent);
    return (exponent << h->shift) | (uint32_t)(fraction & ((1u << h->shift) - 1));
}

uint32_t hac_radix_cell(const hac_radix_header *h, uint64_t m)
{
    uint64_t d = m > h->base ? m - h->base : 0;
    if (h->method == HAC_RADIX_LOG)
        return log_cell(d, h);
    d >>= h->shift;
    return (uint32_t)(((d < h->last ? d : h->last) * h->scale) >> 16);
}

uint32_t hac_radix_place(const hac_radix_header *h, const uint32_t *entries, uint64_t m)
{
    uint64_t d = m > h->base ? m - h->base : 0,
             max = (h->key_bytes == 8 ? UINT64_MAX : UINT32_MAX) >> h->shift;
    uint32_t low = hac_radix_low_bits(h->key_bytes);
    d = (d < max ? d : max) << h->shift;
    uint32_t e = entries[d >> low];
    return (e >> 6) + (uint32_t)((d & ((UINT64_C(1) << low) - 1)) >> (e & 63));
}

void hac_radix_refine_thirds(uint8_t *table)
{
    hac_radix_header h;
    uint16_t *cells = (uint16_t *)(void *)(table + hac_radix_cells_offset());
    uint32_t *entries = (uint32_t *)(void *)(table + hac_radix_splitters_offset());
    memcpy(&h, table, sizeof h);
    h.method = HAC_RADIX_LINEAR;
    h.levels = HAC_RADIX_REFINED;
    h.base = 0;
    h.shift = h.last = h.scale = h.cells = 0;
    for (uint32_t i = 0; i < HAC_RADIX_ENTRIES; i++) {
        uint32_t bits = i % 3 == 0 ? 4 : 0;
        entries[i] = h.cells << 6 | (hac_radix_low_bits(h.key_bytes) - bits);
        h.cells += 1u << bits;
    }
    for (uint32_t i = 0; i < h.cells; i++)
        cells[i] = (uint16_t)((uint64_t)i * h.buckets / h.cells);
    memcpy(table, &h, sizeof h);
}

/* ---- params and tables ---- */

static uint64_t span_bytes(const hac_radix_sizes *p, hac_radix_span what)
{
    switch (what) {
    case HAC_RADIX_KEYS:
        return p->n * p->key_bytes;
    case HAC_RADIX_INDEX:
        return p->n * p->index_bytes;
    case HAC_RADIX_TABLE:
        return hac_radix_table_bytes(p->buckets);
    default:
        return hac_radix_counts_bytes(p->chunks, p->buckets);
    }
}

static hac_status check_params(const hac_radix_params *p, hac_error *err)
{
    if (p->items == 0 || p->items > HAC_RADIX_MAX_ITEMS)
        return hac_fail(err, HAC_INVALID, "%llu keys; 1 to 2^40 can be sorted", (unsigned long long)p->items);
    if (p->chunk_items < 1024 || p->chunk_items > HAC_RADIX_MAX_CHUNK ||
        (p->chunk_items & (p->chunk_items - 1)) != 0)
        return hac_fail(err, HAC_INVALID, "chunks of %llu keys; a power of two from 1024 to 2^30 is possible",
                        (unsigned long long)p->chunk_items);
    if (p->buckets == 0 || p->buckets > HAC_RADIX_MAX_BUCKETS)
        return hac_fail(err, HAC_INVALID, "%llu buckets; 1 to %d are possible",
                        (unsigned long long)p->buckets, HAC_RADIX_MAX_BUCKETS);
    if ((p->index_bytes != 0 && p->index_bytes != 4 && p->index_bytes != 8) ||
        (p->index_bytes == 4 && p->items > UINT32_MAX + UINT64_C(1)))
        return hac_fail(err, HAC_INVALID, "indices of %llu bytes do not fit %llu keys",
                        (unsigned long long)p->index_bytes, (unsigned long long)p->items);
    return HAC_OK;
}

hac_status hac_radix_sizes_of(const hac_task *task, const hac_radix_span *spans, size_t n_spans,
                              hac_radix_sizes *ret, hac_error *err)
{
    const hac_radix_params *params = HAC_PARAMS(hac_radix_params, task);
    hac_radix_sizes p = {.key_bytes = (uint32_t)hac_type_size(task->type)};
    if (p.key_bytes == 0)
        return hac_fail(err, HAC_INVALID, "no element type");
    if (task->n_spans != n_spans)
        return hac_fail(err, HAC_INVALID, "%zu spans where there are %zu", task->n_spans, n_spans);
    hac_status status = check_params(params, err);
    if (status != HAC_OK)
        return status;
    p.n = params->items;
    p.chunk_items = params->chunk_items;
    p.chunks = (p.n + p.chunk_items - 1) / p.chunk_items;
    p.buckets = (uint32_t)params->buckets;
    p.index_bytes = (uint32_t)params->index_bytes;
    for (size_t i = 0; i < n_spans; i++)
        if (task->spans[i].bytes < span_bytes(&p, spans[i]))
            return hac_fail(err, HAC_INVALID, "span %zu has %llu bytes, %llu are needed", i,
                            (unsigned long long)task->spans[i].bytes,
                            (unsigned long long)span_bytes(&p, spans[i]));
    *ret = p;
    return HAC_OK;
}

hac_status hac_radix_sizes_of_kind(const hac_task *task, const hac_radix_span *spans, size_t n_spans,
                                   uint32_t index_bytes, hac_radix_sizes *ret, hac_error *err)
{
    hac_status status = hac_radix_sizes_of(task, spans, n_spans, ret, err);
    if (status == HAC_OK && ret->index_bytes != index_bytes)
        return hac_fail(err, HAC_INVALID, "indices of %u bytes do not fit this codelet", ret->index_bytes);
    return status;
}

static bool header_is_sound(const hac_radix_header *h, const hac_radix_sizes *p)
{
    if (h->magic != HAC_RADIX_MAGIC || h->items != p->n || h->buckets != p->buckets ||
        h->key_bytes != p->key_bytes || h->method > HAC_RADIX_LOG ||
        (h->levels > HAC_RADIX_MAX_LEVELS && h->levels != HAC_RADIX_VALUES && h->levels != HAC_RADIX_REFINED))
        return false;
    if (h->levels == HAC_RADIX_VALUES && h->cells > HAC_RADIX_SPLITTERS)
        return false;
    if (h->counted > (h->levels == HAC_RADIX_VALUES && p->index_bytes == 0))
        return false;
    if (h->cells == 0 || h->cells > HAC_RADIX_CELLS || h->shift >= p->key_bytes * 8)
        return false;
    if (h->method == HAC_RADIX_LOG)
        return (uint64_t)p->key_bytes * 8 << h->shift <= h->cells;
    return h->last <= UINT16_MAX && h->scale <= 1u << 16 && ((uint64_t)h->last * h->scale) >> 16 < h->cells;
}

/* Whether every key comes to a bucket: cells ascend and are below `buckets`, no search goes further, and all
 * places are cells. */
static bool maps_are_sound(const hac_radix_table *t, uint32_t buckets, uint32_t key_bytes)
{
    const uint16_t *cells = (const uint16_t *)(const void *)t->maps;
    bool sound = cells[0] < buckets;
    for (size_t i = 1; i < t->header.cells; i++)
        sound = sound && cells[i - 1] <= cells[i] && cells[i] < buckets;
    const uint8_t *end = t->maps + t->splitters_at + (uint64_t)(buckets - 1) * key_bytes;
    const uint8_t *stop = t->maps + t->splitters_at + (uint64_t)HAC_RADIX_SPLITTERS * key_bytes;
    for (; hac_radix_searches(&t->header) && end < stop; end++)
        sound = sound && *end == UINT8_MAX;
    const uint32_t *entries = (const uint32_t *)(const void *)(t->maps + t->splitters_at);
    for (size_t i = 0; t->header.levels == HAC_RADIX_REFINED && i < HAC_RADIX_ENTRIES; i++) {
        uint32_t low = hac_radix_low_bits(key_bytes), shift = entries[i] & 63;
        sound = sound && shift <= low && low - shift < 16 &&
                (entries[i] >> 6) + (1u << (low - shift)) <= t->header.cells;
    }
    return sound;
}

static bool cells_are_buckets(const uint16_t *cells, uint32_t n)
{
    bool are = true;
    for (uint32_t i = 0; i < n; i++)
        are = are && cells[i] == i;
    return are;
}

hac_status hac_radix_table_read(const hac_span *span, const hac_radix_sizes *params, hac_radix_table *ret,
                                hac_error *err)
{
    uint64_t splitters_bytes = (uint64_t)HAC_RADIX_SPLITTERS * params->key_bytes;
    hac_radix_table t = {0};
    memcpy(&t.header, span->data, sizeof t.header);
    if (!header_is_sound(&t.header, params))
        return hac_fail(err, HAC_INVALID,
                        "the table is not that of this sort: radix.sample has to run first");
    uint64_t cells_bytes = t.header.cells * sizeof(uint16_t);
    t.splitters_at = hac_radix_ceil(cells_bytes, HAC_ALIGNMENT);
    t.maps_bytes = t.splitters_at + splitters_bytes;
    t.maps = hac_radix_alloc(t.maps_bytes);
    if (t.maps == NULL)
        return hac_fail_no_memory(err);
    memcpy(t.maps, span->data + hac_radix_cells_offset(), cells_bytes);
    if (t.header.levels != 0)
        memcpy(t.maps + t.splitters_at, span->data + hac_radix_splitters_offset(), splitters_bytes);
    t.direct =
        t.header.levels == 0 && cells_are_buckets((const uint16_t *)(const void *)t.maps, t.header.cells);
    if (!maps_are_sound(&t, params->buckets, params->key_bytes)) {
        free(t.maps);
        return hac_fail(err, HAC_INVALID, "the table's cells are not buckets in rising order");
    }
    *ret = t;
    return HAC_OK;
}

void hac_radix_values(const hac_radix_table *table, uint64_t *ret)
{
    const hac_radix_header *h = &table->header;
    const uint16_t *buckets = (const uint16_t *)(const void *)table->maps;
    for (uint32_t c = 0; c < h->cells; c++) {
        uint64_t value = hac_radix_load(table->maps + table->splitters_at, c, h->key_bytes);
        if (hac_radix_cell(h, value) == c) /* a cell without a place uses another cell's */
            ret[buckets[c]] = value;
    }
}

void hac_radix_table_free(hac_radix_table *table)
{
    free(table->maps);
    table->maps = NULL;
}

/* ---- a bucket on the host ---- */

#define DIGIT_BITS 11
#define DIGITS     (1u << DIGIT_BITS)

typedef struct radix_pair {
    void *keys, *index;
} radix_pair;

static void move_item(radix_pair to, uint64_t t, radix_pair from, uint64_t f, uint32_t key_bytes,
                      uint32_t index_bytes)
{
    if (key_bytes == 4)
        ((uint32_t *)to.keys)[t] = ((const uint32_t *)from.keys)[f];
    else
        ((uint64_t *)to.keys)[t] = ((const uint64_t *)from.keys)[f];
    if (index_bytes == 4)
        ((uint32_t *)to.index)[t] = ((const uint32_t *)from.index)[f];
    else if (index_bytes == 8)
        ((uint64_t *)to.index)[t] = ((const uint64_t *)from.index)[f];
}

/* Sorts by one digit from `from` to `to`. Returns false and moves nothing if all keys have the same digit. */
static bool digit_pass(radix_pair to, radix_pair from, uint64_t n, unsigned shift, uint32_t key_bytes,
                       uint32_t index_bytes)
{
    uint64_t at[DIGITS] = {0}, sum = 0;
    for (uint64_t i = 0; i < n; i++)
        at[(hac_radix_load(from.keys, i, key_bytes) >> shift) & (DIGITS - 1)]++;
    for (unsigned d = 0; d < DIGITS; d++) {
        uint64_t many = at[d];
        if (many == n)
            return false;
        at[d] = sum;
        sum += many;
    }
    for (uint64_t i = 0; i < n; i++) {
        uint64_t t = at[(hac_radix_load(from.keys, i, key_bytes) >> shift) & (DIGITS - 1)]++;
        /* others may have changed the keys since they were counted */
        move_item(to, t < n ? t : n - 1, from, i, key_bytes, index_bytes);
    }
    return true;
}

static void unmap_keys(const hac_radix_order *o, void *keys, uint64_t n)
{
    if (o->key_bytes == 4)
        for (uint64_t i = 0; i < n; i++)
            ((uint32_t *)keys)[i] = hac_key_unmap32(o->order, ((uint32_t *)keys)[i]);
    else
        for (uint64_t i = 0; i < n; i++)
            ((uint64_t *)keys)[i] = hac_key_unmap64(o->order, ((uint64_t *)keys)[i]);
}

static bool is_sorted(const void *keys, uint64_t n, uint32_t key_bytes)
{
    for (uint64_t i = 1; i < n; i++)
        if (hac_radix_load(keys, i - 1, key_bytes) > hac_radix_load(keys, i, key_bytes))
            return false;
    return true;
}

static hac_status sort_mapped(void *keys, void *index, uint32_t key_bytes, uint32_t index_bytes, uint64_t n,
                              hac_error *err)
{
    hac_autofree void *other_keys = hac_radix_alloc(n * key_bytes);
    hac_autofree void *other_index = hac_radix_alloc(n * index_bytes);
    if (other_keys == NULL || other_index == NULL)
        return hac_fail_no_memory(err);
    radix_pair here = {keys, index}, there = {other_keys, other_index};
    for (unsigned shift = 0; shift < key_bytes * 8; shift += DIGIT_BITS) {
        if (!digit_pass(there, here, n, shift, key_bytes, index_bytes))
            continue;
        radix_pair swap = here;
        here = there;
        there = swap;
    }
    if (here.keys == keys)
        return HAC_OK;
    memcpy(keys, here.keys, n * key_bytes);
    if (index_bytes != 0)
        memcpy(index, here.index, n * index_bytes);
    return HAC_OK;
}

hac_status hac_radix_sort_bucket(const hac_radix_order *order, void *keys, void *index, uint32_t index_bytes,
                                 uint64_t n, hac_error *err)
{
    hac_status status = HAC_OK;
    if (!is_sorted(keys, n, order->key_bytes))
        status = sort_mapped(keys, index, order->key_bytes, index == NULL ? 0 : index_bytes, n, err);
    if (status == HAC_OK && index == NULL)
        unmap_keys(order, keys, n);
    return status;
}
