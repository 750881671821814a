/* SPDX-License-Identifier: Apache-2.0 */
/*
 * radix.leaf alone against qsort, mostly where its bins (sort_radix_leaf.cl) change: ranges of keys around
 * powers of two and around the limit of 16-bit slots, keys at the ends of bins, bins with as many keys as the
 * network sorts, as there are slots, and more. A seeded selection of all combinations, several buckets a
 * task. HAC_TEST_SMALL=1 keeps to few and small ones.
 */
#include <stdlib.h>
#include <string.h>

#include "base/radix_layout.h"
#include "base/random.h"
#include "radix.h"
#include "radix_host.h"
#include "test_codelets.h"

enum { BUCKETS_MAX = 61, KEYS_MAX = 200000, RANGES_MAX = 400, SPARE = 9 };

static uint64_t random_state = 88172645463325252u;

static uint64_t up_to(uint64_t max)
{
    uint64_t r = hac_random_u64(&random_state);
    return max == UINT64_MAX ? r : r % (max + 1);
}

/* ---- bins, as the kernels compute them ---- */

typedef struct binning {
    uint64_t bins, shift, scale;
} binning;

static binning binning_of(uint64_t n, uint64_t range)
{
    uint64_t bits = range == 0 ? 0 : 64 - (uint64_t)__builtin_clzll(range);
    binning g = {.bins = (n / 8 + 16) / 16 * 16, .shift = bits > 16 ? bits - 16 : 0};
    g.scale = (g.bins << 16) / ((range >> g.shift) + 1);
    if (g.scale == 0)
        abort(); /* at least 16 bins, and values of 16 bits */
    return g;
}

/* The widest range whose bins are narrow; the kernels have 4 to spare. */
static uint64_t limit_of(uint64_t n, uint64_t spare)
{
    uint64_t narrow = UINT16_MAX, wide = UINT32_MAX;
    while (wide - narrow > 1) {
        uint64_t middle = narrow + (wide - narrow) / 2;
        binning g = binning_of(n, middle);
        if (0x10000 / g.scale + spare <= UINT64_C(0x10000) >> g.shift)
            narrow = middle;
        else
            wide = middle;
    }
    return narrow;
}

static size_t limits_of(uint64_t n, uint64_t *ret)
{
    for (uint64_t i = 0; i < UINT64_C(3) * SPARE; i++)
        ret[i] = limit_of(n, i / 3) + i % 3 - 1;
    return (size_t)3 * SPARE;
}

static size_t ranges_of(uint64_t bits, uint64_t *ret)
{
    size_t many = 0;
    for (uint64_t k = 8; k <= bits; k++) {
        uint64_t one = k < 64 ? UINT64_C(1) << k : 0;
        const uint64_t ranges[] = {one - 1, one, one + 1, one + one / 2, one + up_to(one - 1)};
        for (size_t i = 0; i < 5; i++)
            ret[many++] = ranges[i] & (UINT64_MAX >> (64 - bits));
    }
    return many;
}

/* ---- keys ---- */

/* STEPS: the low bits are equal. BIN_ENDS: half of the keys are there. THIRD: a third of the keys in a
 * small part of the range. FULL: every fifth bin has more than the network sorts. OVER: more than there
 * are slots. */
typedef enum leaf_pattern { SPREAD, STEPS, BIN_ENDS, THIRD, FULL, OVER, PATTERNS } leaf_pattern;

typedef struct test_bucket {
    uint64_t n, range, base;
    leaf_pattern pattern;
} test_bucket;

/* A key of a bin, minus the lowest key: any key, or one of the two at the bin's ends. */
static uint64_t key_of_bin(const binning *g, uint64_t bin, bool at_end)
{
    uint64_t first = ((bin << 16) + g->scale - 1) / g->scale, last = (((bin + 1) << 16) - 1) / g->scale;
    uint64_t low = (UINT64_C(1) << g->shift) - 1, r = up_to(UINT64_MAX);
    if (at_end)
        return r & 1 ? first << g->shift : last << g->shift | low;
    return (first + (last > first ? up_to(last - first) : 0)) << g->shift | (r & low);
}

static uint64_t key_of(const test_bucket *b, const binning *g, uint64_t crowd, uint64_t i)
{
    uint64_t any = up_to(b->range), fifth = i / crowd * 5 + 2,
             other = i / 3 % ((g->bins - 3) / 5) * 5 + 3 + i % 3;
    switch (b->pattern) {
    case STEPS:
        return any & ~(b->range >> 18);
    case BIN_ENDS:
        return i % 2 == 0 ? any : key_of_bin(g, up_to(g->bins - 1), true);
    case THIRD:
        return i % 3 == 0 ? b->range / 3 + up_to(b->range / (crowd / 2)) : any;
    case FULL:
    case OVER:
        return key_of_bin(g, fifth < g->bins - 1 ? fifth : other, false);
    default:
        return any;
    }
}

/* In random order, and with the ends of the range, in bins that are not crowded. */
static void fill(const test_bucket *b, uint64_t *keys)
{
    binning g = binning_of(b->n, b->range);
    uint64_t crowd = (b->pattern == OVER ? 25 : 17) + up_to(7);
    for (uint64_t i = 0; i < b->n; i++) {
        uint64_t d = i == 0 ? 0 : i == 1 ? b->range : key_of(b, &g, crowd, i - 2), place = up_to(i);
        keys[i] = keys[place];
        keys[place] = b->base + (d < b->range ? d : b->range);
    }
}

/* ---- tasks ---- */

typedef struct leaf_trial {
    hac_device *device;
    hac_type type;
    bool descending;
    uint64_t keys, count;
    test_bucket buckets[BUCKETS_MAX];
} leaf_trial;

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* wanted: mapped keys, in no order. */
static void assert_sorted(const leaf_trial *t, const test_bucket *b, const uint8_t *out, uint64_t *wanted)
{
    hac_radix_order o = hac_radix_order_of(t->type, t->descending, false);
    qsort(wanted, b->n, sizeof *wanted, compare);
    for (uint64_t i = 0; i < b->n; i++)
        if (hac_radix_load(out, i, o.key_bytes) != hac_radix_unmap(&o, wanted[i]))
            fail_msg("%s%s: %llu keys, 0x%llx + 0 … 0x%llx, pattern %d: key %llu is wrong",
                     hac_type_name(t->type), t->descending ? " desc" : "", (unsigned long long)b->n,
                     (unsigned long long)b->base, (unsigned long long)b->range, (int)b->pattern,
                     (unsigned long long)i);
}

static void run_leaf(const leaf_trial *t, uint8_t *table, uint8_t *out)
{
    hac_error err = HAC_ERROR_NONE;
    hac_task_result result = {0};
    hac_task task = {.type = t->type, .descending = t->descending, .count = t->count, .fd = -1};
    HAC_SET_PARAMS(&task, &(hac_radix_params){.items = t->keys, .chunk_items = 1024, .buckets = t->count});
    task.spans[0] = (hac_span){table, hac_radix_table_bytes((uint32_t)t->count)};
    task.spans[1] = (hac_span){out, t->keys * hac_type_size(t->type)};
    task.n_spans = 2;
    if (hac_radix_run_leaf(t->device, &task, &result, &err) != HAC_OK)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < 2; i++)
        assert_true(test_guard_is_whole(task.spans[i].data, task.spans[i].bytes));
}

/* The table belongs to this sort, but its map is useless. */
static void run(leaf_trial *t)
{
    uint32_t size = (uint32_t)hac_type_size(t->type), count = (uint32_t)t->count;
    uint8_t *out = test_guarded(t->keys * size), *table = test_guarded(hac_radix_table_bytes(count));
    uint64_t *starts = (uint64_t *)(void *)(table + hac_radix_starts_offset());
    uint64_t *wanted = (uint64_t *)(void *)test_guarded(t->keys * sizeof *wanted);
    const hac_radix_header h = {HAC_RADIX_MAGIC, t->keys, .buckets = count, .cells = 1, .key_bytes = size};
    memcpy(table, &h, sizeof h);
    memset(table + hac_radix_cells_offset(), 0, sizeof(uint16_t));
    starts[0] = 0;
    for (uint32_t i = 0; i < count; i++) {
        fill(&t->buckets[i], wanted + starts[i]);
        starts[i + 1] = starts[i] + t->buckets[i].n;
    }
    for (uint64_t i = 0; i < t->keys; i++)
        memcpy(out + i * size, &wanted[i], size);
    run_leaf(t, table, out);
    for (uint32_t i = 0; i < count; i++)
        assert_sorted(t, &t->buckets[i], out + starts[i] * size, wanted + starts[i]);
    free(out);
    free(wanted);
    free(table);
    t->keys = t->count = 0;
}

/* Adds a bucket: from base 0, up to the largest key, or in between; sometimes after one with one key or
 * none. */
static void add(leaf_trial *t, uint64_t n, uint64_t range, leaf_pattern p)
{
    uint64_t max = UINT64_MAX >> (64 - 8 * hac_type_size(t->type));
    const uint64_t bases[] = {0, max - range, up_to(max - range)};
    if (t->count + 2 > BUCKETS_MAX || t->keys + n > KEYS_MAX)
        run(t);
    if (up_to(3) == 0)
        t->keys += (t->buckets[t->count++] = (test_bucket){.n = up_to(1), .base = up_to(max)}).n;
    t->buckets[t->count++] = (test_bucket){n, range, bases[up_to(2)], p};
    t->keys += n;
}

/* A random selection of all ranges and patterns with about `keys` keys. */
static void add_chosen(leaf_trial *t, uint64_t n, const uint64_t *ranges, size_t many, uint64_t keys)
{
    for (size_t i = 0; i < many * PATTERNS; i++)
        if (up_to(many * PATTERNS * n) < keys)
            add(t, n, ranges[i / PATTERNS], (leaf_pattern)(i % PATTERNS));
}

static void check(hac_type type, bool descending)
{
    /* with 74945 keys, every 16th of the bins exactly at the limit needs 3 to spare */
    static const uint64_t sizes[] = {17,   31,    100,   129,   200,   1000, 2049,
                                     5003, 24000, 24017, 74945, 98304, 98305};
    uint64_t ranges[RANGES_MAX], limits[3 * SPARE], keys = test_small_sizes() ? 3000 : 500000;
    size_t n_sizes = test_small_sizes() ? 7 : sizeof sizes / sizeof *sizes, bytes = hac_type_size(type);
    const hac_device_options options = {.style = HAC_STYLE_CHOICE_BLOCK};
    leaf_trial t = {.type = type, .descending = descending, .device = test_open_device(options)};
    for (size_t i = 0; i < n_sizes; i++) {
        add_chosen(&t, sizes[i], ranges, ranges_of(8 * bytes, ranges), keys);
        if (bytes == 4)
            add_chosen(&t, sizes[i], limits, limits_of(sizes[i], limits), keys * 3);
    }
    run(&t);
    hac_device_close(t.device);
}

static void types(void **state)
{
    static const hac_type all[] = {HAC_TYPE_U32, HAC_TYPE_I32, HAC_TYPE_F32, HAC_TYPE_U64, HAC_TYPE_F64};
    (void)state;
    for (size_t i = 0; i < 10; i++)
        check(all[i / 2], i % 2 == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(types)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
