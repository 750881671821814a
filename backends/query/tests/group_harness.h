/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of aggregates: columns of random values of any type, and the results of one aggregate by an i64
 * key through one table and through merged partials, as text. */
#ifndef QUERY_GROUP_HARNESS_H
#define QUERY_GROUP_HARNESS_H

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/test_support.h"
#include "expr/group_layout.h"
#include "query/group_table.h"
#include "query/partial.h"

#define HARNESS_TEXT 64

/* Column 0 is the key: row i belongs to group keys[i], 0 … groups - 1. */
typedef struct harness {
    size_t rows, groups, n_columns;
    hac_column columns[3];
    hac_program_output outputs[3];
    hac_program program;
    hac_aggregate aggregate;
    hac_query query;
    uint64_t random;
} harness;

/* A random value of few different ones, so that there are ties. */
static inline void harness_put(harness *h, hac_column *v, size_t row)
{
    uint64_t k = hac_random_u64(&h->random) % 24;
    __int128 wide = ((__int128)k - 12) * ((__int128)1 << 90);
    if (hac_random_u64(&h->random) % 5 == 0 && v->states != NULL)
        v->states[row] = HAC_ROW_NULL;
    switch (hac_repr_of(v->type)) {
    case HAC_REPR_BOOL:
        ((uint8_t *)v->values)[row] = k % 2;
        break;
    case HAC_REPR_F32:
        ((float *)v->values)[row] = k == 0 ? NAN : k == 1 ? -0.0f : k == 2 ? INFINITY : (float)k - 10;
        break;
    case HAC_REPR_F64:
        ((double *)v->values)[row] = k == 0 ? NAN : k == 1 ? -0.0 : k == 2 ? -INFINITY : (double)k - 10;
        break;
    case HAC_REPR_I128:
        memcpy((uint8_t *)v->values + row * 16, &wide, sizeof wide);
        break;
    case HAC_REPR_STRING: {
        uint8_t *text = (uint8_t *)(uintptr_t)v->bytes + row * 32;
        int n = k == 0 ? 0 : sprintf((char *)text, k % 2 ? "%" PRIu64 : "a text of more bytes %" PRIu64, k);
        ((hac_string_ref *)v->values)[row] = (hac_string_ref){(uint32_t)(row * 32), (uint32_t)n};
        break;
    }
    default:
        ((int64_t *)v->values)[row] = (int64_t)k - (hac_repr_of(v->type) == HAC_REPR_U64 ? 0 : 12);
    }
}

static inline void harness_init(harness *h, size_t rows, size_t groups, size_t n_columns,
                                const hac_value_type *types, uint64_t seed)
{
    *h = (harness){.rows = rows, .groups = groups, .n_columns = n_columns, .random = seed};
    for (size_t c = 0; c < n_columns; c++) {
        hac_column *v = &h->columns[c];
        *v = (hac_column){.type = c == 0 ? (hac_value_type){HAC_KIND_I64, 0, 0} : types[c - 1],
                          .values = calloc(rows + 1, 16),
                          .states = c == 0 ? NULL : calloc(rows + 1, 1),
                          .bytes = calloc(rows + 1, 32)};
        assert_true(v->values != NULL && v->bytes != NULL);
        h->outputs[c].type = v->type;
        for (size_t i = 0; i < rows && c != 0; i++)
            harness_put(h, v, i);
        for (size_t i = 0; i < rows && c == 0; i++)
            ((int64_t *)v->values)[i] = (int64_t)(hac_random_u64(&h->random) % groups);
    }
}

/* Sets the aggregate; call it once `h` has its final place. */
static inline void harness_query(harness *h, hac_aggregate aggregate)
{
    h->aggregate = aggregate;
    h->program = (hac_program){.outputs = h->outputs, .n_outputs = h->n_columns};
    h->query = (hac_query){
        .rows = &h->program, .aggregates = true, .n_keys = 1, .aggregate = &h->aggregate, .n_aggregates = 1};
}

static inline void harness_clear(harness *h)
{
    for (size_t c = 0; c < h->n_columns; c++) {
        free(h->columns[c].values);
        free(h->columns[c].states);
        free((void *)(uintptr_t)h->columns[c].bytes);
    }
}

/* Rows [first, first + n) as vectors. */
static inline const hac_column *harness_part(const harness *h, size_t first, hac_column *ret)
{
    for (size_t c = 0; c < h->n_columns; c++) {
        ret[c] = h->columns[c];
        ret[c].values = (uint8_t *)ret[c].values + first * hac_repr_size(hac_repr_of(ret[c].type));
        ret[c].states = ret[c].states == NULL ? NULL : ret[c].states + first;
    }
    return ret;
}

static inline void harness_print(const hac_column *v, size_t row, char *ret)
{
    __int128 wide;
    if (v->states != NULL && v->states[row] != 0) {
        strcpy(ret, "null");
        return;
    }
    switch (hac_repr_of(v->type)) {
    case HAC_REPR_BOOL:
        sprintf(ret, "%d", ((const uint8_t *)v->values)[row]);
        break;
    case HAC_REPR_F32:
        sprintf(ret, "%a", (double)((const float *)v->values)[row]);
        break;
    case HAC_REPR_F64:
        sprintf(ret, "%a", ((const double *)v->values)[row]);
        break;
    case HAC_REPR_I128:
        memcpy(&wide, (const uint8_t *)v->values + row * 16, sizeof wide);
        sprintf(ret, "%" PRId64 "*2^64+%" PRIu64, (int64_t)(wide >> 64), (uint64_t)wide);
        break;
    case HAC_REPR_STRING: {
        hac_string_ref ref = ((const hac_string_ref *)v->values)[row];
        sprintf(ret, "'%.*s'", (int)ref.length, ref.length == 0 ? "" : (const char *)v->bytes + ref.offset);
        break;
    }
    default:
        sprintf(ret, "%" PRId64, ((const int64_t *)v->values)[row]);
    }
}

/* The groups' results; a group that the table does not have stays as it is. */
static inline void harness_collect(hac_group_table *t, char (*ret)[HARNESS_TEXT])
{
    uint64_t groups = hac_group_table_groups(t);
    for (uint64_t first = 0; first < groups; first += HAC_BATCH_ROWS) {
        size_t n = groups - first < HAC_BATCH_ROWS ? (size_t)(groups - first) : HAC_BATCH_ROWS;
        hac_column results[2];
        assert_int_equal(hac_group_table_results(t, first, n, results, NULL), HAC_OK);
        for (size_t i = 0; i < n; i++)
            harness_print(&results[1], i, ret[((const int64_t *)results[0].values)[i]]);
    }
}

static inline void harness_table(const harness *h, char (*ret)[HARNESS_TEXT])
{
    hac_group_options options = {.seed = 7, .memory = UINT64_MAX, .partitions = 1};
    hac_group_table *t;
    hac_column part[3];
    assert_int_equal(hac_group_table_new(&h->query, &options, &t, NULL), HAC_OK);
    for (size_t i = 0, n; i < h->rows; i += n) {
        n = h->rows - i < 1000 ? h->rows - i : 1000;
        assert_int_equal(hac_group_table_add(t, harness_part(h, i, part), n, NULL), HAC_OK);
    }
    harness_collect(t, ret);
    hac_group_table_free(t);
}

static inline void harness_add(const harness *h, hac_partial_writer *w, size_t chunk, size_t chunks)
{
    hac_column part[3];
    size_t end = h->rows * (chunk + 1) / chunks;
    for (size_t i = h->rows * chunk / chunks, n; i < end; i += n) {
        n = end - i < HAC_BATCH_ROWS ? end - i : HAC_BATCH_ROWS;
        assert_int_equal(hac_partial_add(w, harness_part(h, i, part), n, NULL), HAC_OK);
    }
}

/* Ends the partial; returns what regions need, or `most` if that is more. */
static inline uint64_t harness_end(hac_partial_writer *w, uint64_t most)
{
    uint64_t needed, groups;
    assert_int_equal(hac_partial_end(w, &needed, &groups, NULL), HAC_OK);
    return needed > most ? needed : most;
}

/* Writes the partials of chunks [first, end) of `chunks`, or with `join` as few as there can be. Returns the
 * size that regions need if that is above `region`. */
static inline uint64_t harness_write(const harness *h, hac_partial_writer *w, size_t first, size_t end,
                                     size_t chunks, bool join, uint8_t *regions, uint64_t region)
{
    uint64_t most = region;
    for (size_t c = first; c < end; c++) {
        if (c == first || !join || !hac_partial_extend(w, region)) {
            most = c == first ? most : harness_end(w, most);
            hac_partial_begin(w, c, regions + c * region, region);
        }
        harness_add(h, w, c, chunks);
    }
    return first < end ? harness_end(w, most) : most;
}

/* Regions of `chunks` partials. The first half has one for each chunk, the second one for several. */
static inline uint8_t *harness_partials(const harness *h, const hac_group_options *options, size_t chunks,
                                        uint64_t *ret_region)
{
    hac_partial_writer *w;
    uint64_t region = 1000, needed = 0, more;
    assert_int_equal(hac_partial_writer_new(&h->query, options, &w, NULL), HAC_OK);
    for (;;) {
        uint8_t *regions = aligned_alloc(64, (region * chunks + 63) / 64 * 64);
        needed = harness_write(h, w, 0, chunks / 2, chunks, false, regions, region);
        more = harness_write(h, w, chunks / 2, chunks, chunks, true, regions, region);
        needed = needed > more ? needed : more;
        if (needed <= region) {
            hac_partial_writer_free(w);
            *ret_region = region;
            return regions;
        }
        free(regions);
        region = (needed + 7) / 8 * 8;
    }
}

static inline void harness_merge(hac_group_table *t, const uint8_t *regions, uint64_t region, size_t first,
                                 size_t end, uint32_t partition)
{
    for (size_t c = first, n; c < end; c += n) {
        n = (size_t)hac_partial_chunks(regions + c * region, region, end - c);
        assert_int_equal(hac_group_table_merge(t, c, regions + c * region, n * region, partition, NULL),
                         HAC_OK);
    }
}

/* The results of `chunks` partials of 4 partitions and `passes` passes. They are merged through a carry, a
 * table of the first half of the chunks that is written and merged again. */
static inline void harness_merged(const harness *h, size_t chunks, uint32_t passes, char (*ret)[HARNESS_TEXT])
{
    hac_group_options options = {.seed = 5, .memory = UINT64_MAX, .partitions = 4, .passes = passes};
    for (options.pass = 0; options.pass < passes; options.pass++) {
        uint64_t region_bytes;
        hac_group_table *t, *carry;
        assert_int_equal(hac_group_table_new(&h->query, &options, &t, NULL), HAC_OK);
        assert_int_equal(hac_group_table_new(&h->query, &options, &carry, NULL), HAC_OK);
        uint8_t *data = harness_partials(h, &options, chunks, &region_bytes);
        for (uint32_t partition = 0; partition < options.partitions; partition++) {
            uint64_t needed = 0;
            hac_group_table_reset(t);
            hac_group_table_reset(carry);
            harness_merge(carry, data, region_bytes, 0, chunks / 2, partition);
            assert_int_equal(hac_group_table_write(carry, HAC_PARTIAL_CARRY | 1, NULL, 0, &needed, NULL),
                             HAC_OK);
            uint8_t *region = aligned_alloc(64, (needed + 63) / 64 * 64);
            assert_int_equal(
                hac_group_table_write(carry, HAC_PARTIAL_CARRY | 1, region, needed, &needed, NULL), HAC_OK);
            assert_int_equal(hac_group_table_merge(t, HAC_PARTIAL_CARRY | 1, region, needed, partition, NULL),
                             HAC_OK);
            free(region);
            harness_merge(t, data, region_bytes, chunks / 2, chunks, partition);
            harness_collect(t, ret);
        }
        free(data);
        hac_group_table_free(t);
        hac_group_table_free(carry);
    }
}

#endif
