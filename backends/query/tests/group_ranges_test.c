/* SPDX-License-Identifier: Apache-2.0 */
/* Counts rows by one integer key, in tables and through partials, and compares with sorted keys: ranges of
 * keys that are small, move, grow or have outliers, and partials with more partitions than the merge. */
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/test_support.h"
#include "expr/group_layout.h"
#include "query/group_table.h"
#include "query/partial.h"

enum { ROWS = 9000, CHUNK = 4000, PARTIAL = 1 << 20 };

static uint64_t random_state = 1;

/* ---- a query: count() by an i64 ---- */

typedef struct counting {
    hac_program_output key;
    hac_program program;
    hac_aggregate count;
    hac_query query;
} counting;

static void make_query(counting *c)
{
    const hac_value_type i64 = {HAC_KIND_I64, 0, 0};
    *c = (counting){.key = {.type = i64}};
    c->program = (hac_program){.outputs = &c->key, .n_outputs = 1};
    c->count = (hac_aggregate){.function = HAC_AGGREGATE_COUNT_ROWS, .argument = -1, .type = i64};
    c->query = (hac_query){
        .rows = &c->program, .aggregates = true, .n_keys = 1, .aggregate = &c->count, .n_aggregates = 1};
}

static hac_column vector_of(int64_t *keys)
{
    return (hac_column){.type = {HAC_KIND_I64, 0, 0}, .values = keys};
}

/* ---- what is to be found ---- */

static int by_key(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Keys and counts of groups, by key. */
typedef struct found {
    struct {
        int64_t key, count;
    } group[ROWS];
    size_t n;
} found;

static void collect(hac_group_table *t, found *ret)
{
    hac_column results[2];
    uint64_t groups = hac_group_table_groups(t);
    for (uint64_t first = 0, n; first < groups; first += n) {
        n = groups - first < HAC_BATCH_ROWS ? groups - first : HAC_BATCH_ROWS;
        assert_int_equal(hac_group_table_results(t, first, (size_t)n, results, NULL), HAC_OK);
        for (size_t i = 0; i < n; i++, ret->n++) {
            assert_true(ret->n < ROWS);
            ret->group[ret->n].key = ((int64_t *)results[0].values)[i];
            ret->group[ret->n].count = ((int64_t *)results[1].values)[i];
        }
    }
}

static void check(found *got, const int64_t *keys)
{
    int64_t *sorted = malloc(ROWS * sizeof *sorted);
    assert_non_null(sorted);
    memcpy(sorted, keys, ROWS * sizeof *sorted);
    qsort(sorted, ROWS, sizeof *sorted, by_key);
    qsort(got->group, got->n, sizeof *got->group, by_key);
    size_t g = 0;
    for (size_t i = 0, n; i < ROWS; i += n, g++) {
        for (n = 1; i + n < ROWS && sorted[i + n] == sorted[i]; n++)
            ;
        assert_true(g < got->n);
        assert_int_equal(got->group[g].key, sorted[i]);
        assert_int_equal(got->group[g].count, n);
    }
    assert_int_equal(got->n, g);
    free(sorted);
}

/* ---- ways to count ---- */

static size_t next_batch(size_t at, size_t end)
{
    size_t n = 1 + hac_random_u64(&random_state) % HAC_BATCH_ROWS;
    return n < end - at ? n : end - at;
}

static void check_table(const counting *c, int64_t *keys)
{
    hac_group_options options = {.seed = 7, .memory = UINT64_MAX, .partitions = 1};
    hac_group_table *t;
    assert_int_equal(hac_group_table_new(&c->query, &options, &t, NULL), HAC_OK);
    for (int again = 0; again < 2; again++) { /* the range still exists, its groups do not */
        found *got = calloc(1, sizeof *got);
        assert_non_null(got);
        for (size_t i = 0, n; i < ROWS; i += n) {
            n = next_batch(i, ROWS);
            hac_column v = vector_of(keys + i);
            assert_int_equal(hac_group_table_add(t, &v, n, NULL), HAC_OK);
        }
        collect(t, got);
        check(got, keys);
        free(got);
        hac_group_table_reset(t);
    }
    hac_group_table_free(t);
}

static uint8_t *write_partial(const counting *c, const hac_group_options *options, uint64_t chunk,
                              int64_t *keys, size_t rows, uint64_t *ret_bytes)
{
    hac_partial_writer *w;
    uint64_t groups;
    uint8_t *region = malloc(PARTIAL);
    assert_non_null(region);
    assert_int_equal(hac_partial_writer_new(&c->query, options, &w, NULL), HAC_OK);
    hac_partial_begin(w, chunk, region, PARTIAL);
    for (size_t i = 0, n; i < rows; i += n) {
        n = next_batch(i, rows);
        hac_column v = vector_of(keys + i);
        assert_int_equal(hac_partial_add(w, &v, n, NULL), HAC_OK);
    }
    assert_int_equal(hac_partial_end(w, ret_bytes, &groups, NULL), HAC_OK);
    assert_true(*ret_bytes <= PARTIAL);
    hac_partial_writer_free(w);
    return region;
}

/* Each chunk has twice as many partitions as the previous one. */
static void check_partials(const counting *c, int64_t *keys, uint32_t partitions)
{
    enum { CHUNKS = (ROWS + CHUNK - 1) / CHUNK };
    hac_group_options options = {.seed = 7, .memory = UINT64_MAX, .partitions = partitions};
    hac_group_table *t;
    uint8_t *partial[CHUNKS];
    uint64_t bytes[CHUNKS];
    found *got = calloc(1, sizeof *got);
    assert_non_null(got);
    assert_int_equal(hac_group_table_new(&c->query, &options, &t, NULL), HAC_OK);
    for (size_t i = 0; i < CHUNKS; i++, options.partitions *= 2) {
        size_t rows = ROWS - i * CHUNK < CHUNK ? ROWS - i * CHUNK : CHUNK;
        partial[i] = write_partial(c, &options, i, keys + i * CHUNK, rows, &bytes[i]);
    }
    for (uint32_t p = 0; p < partitions; p++) {
        hac_group_table_reset(t);
        for (size_t i = 0; i < CHUNKS; i++)
            assert_int_equal(hac_group_table_merge(t, i, partial[i], bytes[i], p, NULL), HAC_OK);
        collect(t, got);
    }
    check(got, keys);
    for (size_t i = 0; i < CHUNKS; i++)
        free(partial[i]);
    hac_group_table_free(t);
    free(got);
}

/* ---- tests ---- */

static const struct {
    uint64_t low, span, step; /* every `step` rows the range moves by a third */
    unsigned strange;         /* one of this many keys is a random number; 0: none */
} ranges[] = {
    {0, 1, 0, 0},
    {0, 1000, 0, 0},
    {(uint64_t)-500, 1000, 0, 0},
    {0, 200, 1500, 0},
    {70000, 65536, 0, 0},
    {70000, 65537, 0, 0},
    {0, 60000, 2000, 0},
    {UINT64_MAX - 300, 600, 0, 0},
    {INT64_MAX - UINT64_C(300), 600, 0, 0},
    {5, 900, 0, 50},
    {5, 900, 0, 4},
    {UINT64_C(1) << 40, 300, 2000, 9},
    {0, UINT64_MAX, 0, 0},
};

/* The direct range grows to both sides, is limited, and is given up. */
static void test_ranges(void **state)
{
    (void)state;
    counting c;
    int64_t *keys = malloc(ROWS * sizeof *keys);
    assert_non_null(keys);
    make_query(&c);
    for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++)
        for (int upwards = 0; upwards < 2; upwards++) {
            for (size_t i = 0; i < ROWS; i++) {
                uint64_t moved = ranges[k].step == 0 ? 0 : i / ranges[k].step * (ranges[k].span / 3);
                uint64_t key = ranges[k].low + hac_random_u64(&random_state) % ranges[k].span;
                bool strange = ranges[k].strange != 0 && i % ranges[k].strange == 0;
                key = upwards ? key + moved : key - moved;
                keys[i] = (int64_t)(strange ? hac_random_u64(&random_state) : key);
            }
            check_table(&c, keys);
            check_partials(&c, keys, upwards ? 1 : 16);
        }
    free(keys);
}

/* Partials whose partitions are not parts of the merged ones, or that have none. */
static void test_other_partitions(void **state)
{
    (void)state;
    static const uint32_t wrong[] = {0, 1, 2, 3, 6, 8192, UINT32_MAX};
    hac_group_options options = {.seed = 7, .memory = UINT64_MAX, .partitions = 4};
    hac_group_table *t;
    counting c;
    uint64_t bytes;
    int64_t keys[1000];
    make_query(&c);
    for (size_t i = 0; i < 1000; i++)
        keys[i] = (int64_t)(i % 70);
    uint8_t *partial = write_partial(&c, &options, 0, keys, 1000, &bytes);
    assert_int_equal(hac_group_table_new(&c.query, &options, &t, NULL), HAC_OK);
    assert_int_equal(hac_group_table_merge(t, 0, partial, bytes, 0, NULL), HAC_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        memcpy(partial + offsetof(hac_partial_header, partitions), &wrong[i], sizeof *wrong);
        assert_int_equal(hac_group_table_merge(t, 0, partial, bytes, 0, NULL), HAC_INVALID);
    }
    hac_group_table_free(t);
    free(partial);
}

/* A table with little memory has no direct range, and fails only because of its groups. */
static void test_little_memory(void **state)
{
    (void)state;
    counting c;
    int64_t keys[HAC_BATCH_ROWS];
    make_query(&c);
    for (int64_t i = 0; i < HAC_BATCH_ROWS; i++)
        keys[i] = i * 50;
    hac_column v = vector_of(keys);
    bool held = false;
    for (uint64_t memory = 1000; memory < 1 << 21; memory += memory / 7) {
        hac_group_options options = {.seed = 7, .memory = memory, .partitions = 1};
        hac_group_table *t;
        assert_int_equal(hac_group_table_new(&c.query, &options, &t, NULL), HAC_OK);
        hac_status status = hac_group_table_add(t, &v, HAC_BATCH_ROWS, NULL);
        /* more memory never makes it fail */
        assert_true(status == HAC_OK || (status == HAC_NO_MEMORY && !held));
        held |= status == HAC_OK;
        assert_true(status != HAC_OK || hac_group_table_groups(t) == HAC_BATCH_ROWS);
        hac_group_table_free(t);
    }
    assert_true(held);
}

/* What a region needs for the partial of one chunk, where `chunks` chunks with these keys share one; 0: they
 * do not. */
static uint64_t needed_by(int64_t *keys, size_t rows, size_t chunks, uint64_t region)
{
    counting c;
    hac_partial_writer *w;
    uint64_t needed, groups;
    hac_group_options options = {.seed = 7, .memory = UINT64_MAX, .partitions = 4};
    make_query(&c);
    uint8_t *regions = aligned_alloc(64, chunks * region);
    assert_non_null(regions);
    assert_int_equal(hac_partial_writer_new(&c.query, &options, &w, NULL), HAC_OK);
    hac_partial_begin(w, 0, regions, region);
    bool joined = true;
    for (size_t i = 0; joined && i < chunks; i++) {
        hac_column v = vector_of(keys);
        joined = i == 0 || hac_partial_extend(w, region);
        if (joined && rows > 0)
            assert_int_equal(hac_partial_add(w, &v, rows, NULL), HAC_OK);
    }
    assert_int_equal(hac_partial_end(w, &needed, &groups, NULL), HAC_OK);
    if (joined && needed <= region)
        assert_int_equal(hac_partial_chunks(regions, region, chunks + 1), chunks);
    hac_partial_writer_free(w);
    free(regions);
    return joined ? needed : 0;
}

/* Chunks that share a partial need no more each than one of its own does, also without groups. */
static void test_several_chunks(void **state)
{
    (void)state;
    int64_t keys[HAC_BATCH_ROWS];
    for (int64_t i = 0; i < HAC_BATCH_ROWS; i++)
        keys[i] = i % 100 * 70000;
    for (size_t rows = 0; rows <= HAC_BATCH_ROWS; rows += HAC_BATCH_ROWS / 4) {
        uint64_t one = needed_by(keys, rows, 1, 65536), many = needed_by(keys, rows, 9, 65536);
        assert_in_range(many, 1, one + one / 16);
        assert_in_range(needed_by(keys, rows, 9, (one + 63) / 64 * 64), 1, (one + 63) / 64 * 64);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_other_partitions),
        cmocka_unit_test(test_little_memory),
        cmocka_unit_test(test_several_chunks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
