/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Radix codelets against test_sort_items, on the first device found and in both styles. HAC_TEST_SMALL=1
 * keeps to sizes for an instrumented device (oclgrind); HAC_TEST_PLATFORM names another platform.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/radix_layout.h"
#include "base/random.h"
#include "codelets.h"
#include "radix.h"
#include "radix_host.h"
#include "test_codelets.h"

typedef struct radix_setting {
    const char *name;
    hac_device_options device;
} radix_setting;

/* ---- a sort: buffers with guards ---- */

typedef struct radix_sort {
    hac_type type;
    bool descending;
    uint32_t index_bytes, size;
    uint64_t n;
    hac_radix_cut cut;
    uint8_t *in, *in_copy, *out, *index, *table, *counts;
    bool refined; /* whatever radix.sample chooses */
} radix_sort;

static uint64_t random_state = 88172645463325252u;

static void assert_guard(const uint8_t *data, uint64_t bytes)
{
    assert_true(test_guard_is_whole(data, bytes));
}

static uint64_t counts_bytes(const radix_sort *s)
{
    return hac_radix_counts_bytes(s->cut.chunks, s->cut.buckets);
}

static radix_sort sort_new(hac_type type, bool descending, uint32_t index_bytes, uint64_t n,
                           hac_radix_cut cut)
{
    radix_sort s = {.type = type, .descending = descending, .index_bytes = index_bytes, .n = n, .cut = cut};
    s.size = (uint32_t)hac_type_size(type);
    s.cut.chunks = (n + cut.chunk_items - 1) / cut.chunk_items;
    s.in = test_guarded(n * s.size);
    s.in_copy = test_guarded(n * s.size);
    s.out = test_guarded(n * s.size);
    s.index = test_guarded(n * index_bytes);
    s.table = test_guarded(hac_radix_table_bytes(cut.buckets));
    s.counts = test_guarded(counts_bytes(&s));
    return s;
}

static void sort_free(radix_sort *s)
{
    free(s->in);
    free(s->in_copy);
    free(s->out);
    free(s->index);
    free(s->table);
    free(s->counts);
}

/* ---- patterns ---- */

typedef enum radix_pattern {
    RANDOM,
    SORTED,
    REVERSED,
    EQUAL,
    FEW,
    ZIPF,
    ORGAN_PIPE,
    MOSTLY_SORTED,
    SPECIAL,
    LOW_BITS,
    HIGH_BITS,
    CLUSTERS,
    HALF_ZERO,
    OUTLIER,
    STEPS,
    FLOATS,
    HALVES,
    PATTERNS
} radix_pattern;

static uint64_t special_key(hac_type type, uint64_t r)
{
    static const uint32_t f32[] = {0x7fc00000, 0xffc00000, 0x7f800001, 0xff800001, 0x7fffffff, 0xffffffff,
                                   0x00000000, 0x80000000, 0x7f800000, 0xff800000, 0x00000001, 0x80000001,
                                   0x007fffff, 0x807fffff, 0x3f800000, 0xbf800000};
    uint64_t wide = (uint64_t)f32[r % 16] << 32;
    if (hac_type_size(type) == 4)
        return f32[r % 16];
    /* The same kinds in 64 bits: exponents of all ones have three more bits. */
    bool all_ones = (f32[r % 16] & 0x7f800000) == 0x7f800000;
    return all_ones ? (wide & UINT64_C(0x8000000000000000)) | UINT64_C(0x7ff0000000000000) |
                          (f32[r % 16] & 0x7fffff)
                    : wide;
}

static uint64_t key_of(const radix_sort *s, radix_pattern p, uint64_t i)
{
    uint64_t r = hac_random_u64(&random_state), n = s->n, step = UINT64_MAX / (n + 1);
    unsigned bits = s->size * 8;
    uint64_t spread = s->size == 4 ? UINT64_C(32) : 0;
    switch (p) {
    case SORTED:
        return (i * step) >> spread;
    case REVERSED:
        return ((n - i) * step) >> spread;
    case EQUAL:
        return 42;
    case FEW:
        return (r % 7) * UINT64_C(0x123456789abcdef1);
    case ZIPF:
        return (uint64_t)(1.0 / ((double)(r >> 11) / 9007199254740992.0 + 1e-9));
    case ORGAN_PIPE:
        return i < n / 2 ? i : n - i;
    case MOSTLY_SORTED:
        return i % 20 == 7 ? r : (i * step) >> spread;
    case SPECIAL:
        return special_key(s->type, r);
    case LOW_BITS:
        return (UINT64_C(0x7ff7eeaa) << (bits - 32)) ^ (r & 0xfff);
    case HIGH_BITS:
        return r << (bits - 11);
    case CLUSTERS:
        return ((r % 5) << (bits - 4)) ^ ((r >> 8) & 0x3fff);
    case HALF_ZERO:
        return r & 1 ? 0 : r >> 3;
    case STEPS: /* the low bits are equal in all keys; values above them repeat */
        return ((r % 60000) << (bits == 32 ? 9 : 30)) | 5;
    case FLOATS: /* most values have few exponents, of both signs */
        return (s->size == 4 ? (r & 0x807fffff) | ((127 - (r >> 32 & 7 & (r >> 40))) << 23)
                             : (r & 0x800fffffffffffff) | ((1023 - (r >> 13 & 7 & (r >> 21))) << 52));
    case HALVES:
        return r >> 63 << (bits - 1) | UINT64_C(1) << (bits - 3) |
               (r & ((UINT64_C(1) << (bits == 32 ? 14 : 44)) - 1));
    case OUTLIER:
        return i == n / 3 ? UINT64_MAX >> (64 - bits) : r & 0xffff;
    default:
        return r;
    }
}

static void fill(radix_sort *s, radix_pattern p)
{
    for (uint64_t i = 0; i < s->n; i++) {
        uint64_t key = key_of(s, p, i);
        memcpy(s->in + i * s->size, &key, s->size);
    }
    memcpy(s->in_copy, s->in, s->n * s->size);
}

/* ---- oracle ---- */

static test_item *oracle(const radix_sort *s)
{
    test_item *items = malloc((s->n + 1) * sizeof *items);
    assert_non_null(items);
    for (uint64_t i = 0; i < s->n; i++)
        items[i] = (test_item){test_rank(s->type, test_load(s->in_copy, i, s->size)), i};
    test_sort_items(items, s->n, s->descending);
    return items;
}

/* ---- running ---- */

static hac_task task_of(const radix_sort *s, uint64_t first, uint64_t count)
{
    hac_task task = {.type = s->type, .descending = s->descending, .first = first, .count = count, .fd = -1};
    HAC_SET_PARAMS(&task, &(hac_radix_params){.items = s->n,
                                              .chunk_items = s->cut.chunk_items,
                                              .buckets = s->cut.buckets,
                                              .index_bytes = s->index_bytes});
    return task;
}

static hac_radix_params *params_of(hac_task *task)
{
    return (hac_radix_params *)(void *)task->params;
}

/* All chunks: as many of IN, TABLE, COUNTS, OUT, INDEX as the codelet has. */
static hac_task chunks_task(const radix_sort *s, size_t n_spans)
{
    hac_task task = task_of(s, 0, s->cut.chunks);
    const hac_span spans[] = {{s->in, s->n * s->size},
                              {s->table, hac_radix_table_bytes(s->cut.buckets)},
                              {s->counts, counts_bytes(s)},
                              {s->out, s->n * s->size},
                              {s->index, s->n * s->index_bytes}};
    memcpy(task.spans, spans, sizeof spans);
    task.n_spans = n_spans;
    return task;
}

static void run(hac_device *device, const char *name, const hac_task *task, hac_task_result *result)
{
    hac_error err = HAC_ERROR_NONE;
    const hac_codelet *c = hac_codelet_find(name);
    assert_true(task->n_spans >= c->min_spans && task->n_spans <= c->max_spans);
    assert_int_equal(task->n_params, c->params);
    if (c->check(hac_device_get_facts(device), task, &err) != HAC_OK ||
        c->run(device, task, result, &err) != HAC_OK)
        fail_msg("%s: %s", name, err.message);
}

static const char *named(const radix_sort *s, const char *keys, const char *index32, const char *index64)
{
    return s->index_bytes == 0 ? keys : s->index_bytes == 4 ? index32 : index64;
}

static void order_nans(hac_device *device, const radix_sort *s)
{
    hac_task_result result = {0};
    hac_task nans = task_of(s, 0, 0);
    nans.spans[0] = (hac_span){s->in, s->n * s->size};
    nans.spans[1] = (hac_span){s->out, s->n * s->size};
    nans.n_spans = 2;
    HAC_SET_PARAMS(&nans, &(hac_nan_order_params){.items = s->n});
    run(device, "sort.nan_order", &nans, &result);
}

/* The phases, each in two parts, the later part first. */
static void run_sort(hac_device *device, radix_sort *s)
{
    hac_task_result result = {0};
    size_t extra = s->index_bytes != 0;
    const hac_task chunks = chunks_task(s, 4 + extra);
    hac_task task = chunks_task(s, 2);
    task.count = 0;
    params_of(&task)->seed = hac_random_u64(&random_state);
    run(device, "radix.sample", &task, &result);
    if (s->refined)
        hac_radix_refine_thirds(s->table);
    task = chunks;
    const char *scatter = named(s, "radix.scatter", "radix.scatter.index", "radix.scatter.index64");
    uint64_t cut = s->cut.chunks / 3;
    for (int phase = 0; phase < 2; phase++) {
        task.n_spans = phase == 0 ? 3 : 4 + extra;
        for (int part = 1; part >= 0; part--) {
            task.first = part == 0 ? 0 : cut;
            task.count = part == 0 ? cut : s->cut.chunks - cut;
            if (task.count > 0)
                run(device, phase == 0 ? "radix.count" : scatter, &task, &result);
        }
        if (phase == 1)
            break;
        hac_task scan = task_of(s, 0, 0);
        scan.spans[0] = chunks.spans[1];
        scan.spans[1] = chunks.spans[2];
        scan.n_spans = 2;
        run(device, "radix.scan", &scan, &result);
    }
    task.spans[0] = chunks.spans[1];
    task.spans[1] = chunks.spans[3];
    task.spans[2] = chunks.spans[4];
    task.n_spans = 2 + extra;
    cut = s->cut.buckets / 2;
    for (int part = 1; part >= 0; part--) {
        task.first = part == 0 ? 0 : cut;
        task.count = part == 0 ? cut : s->cut.buckets - cut;
        if (task.count > 0)
            run(device, named(s, "radix.leaf", "radix.leaf.index", "radix.leaf.index64"), &task, &result);
    }
    if (s->index_bytes == 0 && hac_type_is_float(s->type))
        order_nans(device, s);
}

/* All phases as one task, on a device that copies. */
static void run_whole(hac_device *device, radix_sort *s)
{
    hac_task_result result = {0};
    hac_task task = chunks_task(s, 4 + (s->index_bytes != 0));
    task.count = 0;
    params_of(&task)->seed = hac_random_u64(&random_state);
    run(device, s->index_bytes != 0 ? "radix.whole.index" : "radix.whole", &task, &result);
    if (s->index_bytes == 0 && hac_type_is_float(s->type))
        order_nans(device, s);
}

static void assert_sorted(const radix_sort *s, const char *what, radix_pattern p)
{
    test_item *wanted = oracle(s);
    for (uint64_t i = 0; i < s->n; i++) {
        uint64_t key = test_load(s->in_copy, wanted[i].index, s->size);
        bool right = s->index_bytes != 0 ? test_load(s->index, i, s->index_bytes) == wanted[i].index
                                         : test_load(s->out, i, s->size) == key;
        if (!right)
            fail_msg("%s: %s%s, index %u, n %llu, pattern %d, %u buckets: item %llu is wrong", what,
                     hac_type_name(s->type), s->descending ? " desc" : "", s->index_bytes,
                     (unsigned long long)s->n, (int)p, s->cut.buckets, (unsigned long long)i);
    }
    free(wanted);
    assert_memory_equal(s->in, s->in_copy, s->n * s->size);
    assert_guard(s->in, s->n * s->size);
    assert_guard(s->out, s->n * s->size);
    assert_guard(s->index, s->n * s->index_bytes);
    assert_guard(s->table, hac_radix_table_bytes(s->cut.buckets));
    assert_guard(s->counts, counts_bytes(s));
}

static void check_sort(hac_device *device, const char *what, hac_type type, bool descending,
                       uint32_t index_bytes, uint64_t n, hac_radix_cut cut, radix_pattern p)
{
    radix_sort s = sort_new(type, descending, index_bytes, n, cut);
    fill(&s, p);
    run_sort(device, &s);
    assert_sorted(&s, what, p);
    sort_free(&s);
}

static hac_radix_cut cut_for(hac_device *device, uint64_t n)
{
    const hac_device_facts *f = hac_device_get_facts(device);
    return hac_radix_cut_of(n, f->compute_units, f->max_loop_iterations);
}

/* Small chunks and many buckets, so that every boundary is near. */
static hac_radix_cut fine_cut(hac_device *device, uint64_t n)
{
    hac_radix_cut cut = cut_for(device, n);
    cut.chunk_items = 1024;
    cut.buckets = (uint32_t)(n / 100 + 1 < 300 ? n / 100 + 1 : 300);
    return cut;
}

static void check_types(hac_device *device, const char *what, uint64_t n, hac_radix_cut cut, radix_pattern p)
{
    for (int type = HAC_TYPE_U32; type <= HAC_TYPE_F64; type++)
        for (int descending = 0; descending < 2; descending++)
            for (uint32_t index = 0; index <= 8; index += 4)
                if (!test_small_sizes() || index / 4 == (uint32_t)(type + descending + (int)p) % 3)
                    check_sort(device, what, (hac_type)type, descending, index, n, cut, p);
}

/* ---- tests ---- */

static const radix_setting block = {"block", {.style = HAC_STYLE_CHOICE_BLOCK}};
static const radix_setting simt = {"simt", {.style = HAC_STYLE_CHOICE_SIMT}};

static void patterns_of(const radix_setting *s, uint64_t n)
{
    hac_device *device = test_open_device(s->device);
    for (int p = 0; p < PATTERNS; p++)
        check_types(device, s->name, n, fine_cut(device, n), (radix_pattern)p);
    hac_device_close(device);
}

/* Enough buckets that the block style writes whole lines: with the planner's chunks, where a line is filled
 * repeatedly, and with short chunks, where most lines are not full. */
static void many_buckets(void **state)
{
    (void)state;
    uint64_t n = test_small_sizes() ? 6000 : 140003;
    hac_device *device = test_open_device(block.device);
    for (int p = 0; p < PATTERNS; p++)
        for (int type = HAC_TYPE_U32; type <= HAC_TYPE_F64; type++) {
            hac_radix_cut cut = {.chunk_items = (p + type) % 3 == 0 ? 1024 : 65536, .buckets = 2048};
            cut.buckets += (uint32_t)(p + type) % 2 * (HAC_RADIX_MAX_BUCKETS - cut.buckets);
            if (!test_small_sizes() || (p + type) % 4 == 0)
                check_sort(device, "lines", (hac_type)type, p & 1, 0, n, cut, (radix_pattern)p);
        }
    hac_device_close(device);
}

static void refined_by_hand(void **state)
{
    (void)state;
    static const radix_pattern patterns[] = {RANDOM, FLOATS, HALVES, SPECIAL};
    const radix_setting *settings[] = {&block, &simt};
    uint64_t n = test_small_sizes() ? 2500 : 20011;
    for (size_t i = 0; i < 8; i++) {
        hac_device *device = test_open_device(settings[i % 2]->device);
        for (int type = HAC_TYPE_U32; type <= HAC_TYPE_F64; type++) {
            radix_sort s = sort_new((hac_type)type, (i + (size_t)type) % 3 == 0, (i + (size_t)type) % 2 * 4,
                                    n, fine_cut(device, n));
            s.refined = true;
            fill(&s, patterns[i / 2]);
            run_sort(device, &s);
            assert_sorted(&s, settings[i % 2]->name, patterns[i / 2]);
            sort_free(&s);
        }
        hac_device_close(device);
    }
}

/* Half of the keys lie in one cell, half in another cell far away. */
static void halves_are_refined(void **state)
{
    (void)state;
    if (test_small_sizes())
        return;
    hac_device *device = test_open_device(block.device);
    for (int type = HAC_TYPE_U32; type <= HAC_TYPE_F64; type++) {
        hac_radix_cut cut = {.chunk_items = 16384, .buckets = 64};
        radix_sort s = sort_new((hac_type)type, type & 1, (uint32_t)type % 2 * 4, 200003, cut);
        fill(&s, HALVES);
        run_sort(device, &s);
        assert_sorted(&s, "halves", HALVES);
        hac_radix_header h;
        memcpy(&h, s.table, sizeof h);
        assert_int_equal(h.levels, HAC_RADIX_REFINED);
        sort_free(&s);
    }
    hac_device_close(device);
}

static bool cells_are_buckets(const radix_sort *s)
{
    const uint16_t *cells = (const uint16_t *)(const void *)(s->table + hac_radix_cells_offset());
    hac_radix_header h;
    memcpy(&h, s->table, sizeof h);
    bool are = h.levels == 0 && h.method == HAC_RADIX_LINEAR && h.cells <= s->cut.buckets;
    for (uint32_t c = 0; are && c < h.cells; c++)
        are = cells[c] == c;
    return are;
}

/* Even keys need no lookup, with few and with many buckets; other keys use their table. */
static void even_keys_are_direct(void **state)
{
    (void)state;
    if (test_small_sizes())
        return;
    static const radix_pattern patterns[] = {RANDOM, MOSTLY_SORTED, HALVES, CLUSTERS};
    hac_device *device = test_open_device(block.device);
    for (size_t i = 0; i < 16; i++) {
        hac_radix_cut cut = {.chunk_items = 16384, .buckets = i % 2 == 0 ? 64 : 4096};
        radix_pattern p = patterns[i / 4];
        uint32_t index_bytes = i % 3 == 0 ? 4 : 0;
        radix_sort s =
            sort_new(i % 4 < 2 ? HAC_TYPE_I32 : HAC_TYPE_U64, i % 4 == 1, index_bytes, 200003, cut);
        fill(&s, p);
        run_sort(device, &s);
        assert_sorted(&s, "direct", p);
        assert_int_equal(cells_are_buckets(&s), p == RANDOM || p == MOSTLY_SORTED);
        sort_free(&s);
    }
    hac_device_close(device);
}

static void every_pattern_and_type_block(void **state)
{
    (void)state;
    patterns_of(&block, test_small_sizes() ? 2500 : 20011);
}

static void every_pattern_and_type_simt(void **state)
{
    (void)state;
    patterns_of(&simt, test_small_sizes() ? 2500 : 20011);
}

static void sizes_of(const radix_setting *s)
{
    static const uint64_t sizes[] = {1,    2,    3,    7,    8,    9,    15,   16,   17,   31,   63,
                                     64,   65,   255,  256,  257,  511,  512,  513,  1023, 1024, 1025,
                                     1279, 1280, 1281, 2047, 2048, 2049, 4095, 4096, 4097};
    hac_device *device = test_open_device(s->device);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int type = HAC_TYPE_F32; type <= HAC_TYPE_U64; type++)
            for (uint32_t index = 0; index <= 4; index += 4) {
                check_sort(device, s->name, (hac_type)type, i & 1, index, sizes[i],
                           fine_cut(device, sizes[i]), RANDOM);
                check_sort(device, s->name, (hac_type)type, i & 1, index, sizes[i], cut_for(device, sizes[i]),
                           SPECIAL);
            }
    hac_device_close(device);
}

static void sizes_around_boundaries_block(void **state)
{
    (void)state;
    sizes_of(&block);
}

static void sizes_around_boundaries_simt(void **state)
{
    (void)state;
    sizes_of(&simt);
}

/* One bucket of every size around the largest leaf, and far larger: bins, bins that overflow, digits. */
static void large_buckets(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {HAC_RADIX_LEAF_ITEMS - 1, HAC_RADIX_LEAF_ITEMS, HAC_RADIX_LEAF_ITEMS + 1,
                                     3 * HAC_RADIX_LEAF_ITEMS + 5};
    static const radix_pattern patterns[] = {RANDOM,  FEW,      LOW_BITS, HIGH_BITS,
                                             OUTLIER, REVERSED, SPECIAL,  STEPS};
    if (test_small_sizes())
        return;
    hac_device *device = test_open_device(block.device);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (size_t p = 0; p < sizeof patterns / sizeof patterns[0]; p++)
            for (int type = HAC_TYPE_U32; type <= HAC_TYPE_F64; type++) {
                hac_radix_cut cut = cut_for(device, sizes[i]);
                cut.buckets = 1;
                uint32_t index = (i + p + (size_t)type) % 2 * 4; /* keys and argsort in turn */
                check_sort(device, "one bucket", (hac_type)type, p & 1, index, sizes[i], cut, patterns[p]);
            }
    hac_device_close(device);
}

static void the_planners_cut(void **state)
{
    (void)state;
    if (test_small_sizes())
        return;
    hac_device *device = test_open_device(block.device);
    for (int p = 0; p < PATTERNS; p++)
        for (int type = HAC_TYPE_U32; type <= HAC_TYPE_F64; type++)
            check_sort(device, "usual", (hac_type)type, type & 1, (uint32_t)p % 3 * 4, 400000 + (uint64_t)p,
                       cut_for(device, 400000), (radix_pattern)p);
    hac_device_close(device);
}

/* Windows of 1 MiB, copies on the device, and a device with limited loops. */
static bool was_counted(const radix_sort *s)
{
    hac_radix_header h;
    memcpy(&h, s->table, sizeof h);
    return h.counted != 0;
}

/* Nothing is scattered if there are few different keys, unless one of them was not sampled. */
static void few_values_of(const radix_setting *style)
{
    hac_device *device = test_open_device(style->device);
    uint64_t n = test_small_sizes() ? 3000 : 20011;
    unsigned alone = 0;
    for (int type = HAC_TYPE_U32; type <= HAC_TYPE_F64; type++)
        for (int strange = 0; strange < 4; strange++)
            for (uint32_t index = 0; index <= 4; index += 4) {
                radix_sort s =
                    sort_new((hac_type)type, type % 2 == strange % 2, index, n, fine_cut(device, n));
                fill(&s, strange % 2 == 0 ? FEW : EQUAL);
                uint64_t at = strange == 1 ? n - 1 : hac_random_u64(&random_state) % n;
                if (strange > 0)
                    memset(s.in + at * s.size, 0x3e, s.size);
                memcpy(s.in_copy, s.in, n * s.size);
                run_sort(device, &s);
                assert_sorted(&s, style->name, FEW);
                assert_true(was_counted(&s) == (index == 0) || strange > 0);
                alone += index == 0 && !was_counted(&s);
                sort_free(&s);
            }
    assert_true(alone > 0); /* the sample does not have every stranger */
    hac_device_close(device);
}

static void few_values_block(void **state)
{
    (void)state;
    few_values_of(&block);
}

static void few_values_simt(void **state)
{
    (void)state;
    few_values_of(&simt);
}

static void limited_devices(void **state)
{
    (void)state;
    static const radix_setting settings[] = {
        {"1 MiB windows", {.style = HAC_STYLE_CHOICE_BLOCK, .max_allocation = UINT64_C(1) << 20}},
        {"1 MiB windows, copied",
         {.style = HAC_STYLE_CHOICE_BLOCK, .copy_memory = true, .max_allocation = UINT64_C(1) << 20}},
        {"1 MiB windows, copied, simt",
         {.style = HAC_STYLE_CHOICE_SIMT, .copy_memory = true, .max_allocation = UINT64_C(1) << 20}},
        {"loops of 65535", {.style = HAC_STYLE_CHOICE_BLOCK, .max_loop_iterations = 65535}},
        {"loops of 65535, simt", {.style = HAC_STYLE_CHOICE_SIMT, .max_loop_iterations = 65535}},
        {"all",
         {.style = HAC_STYLE_CHOICE_BLOCK,
          .copy_memory = true,
          .max_allocation = UINT64_C(1) << 18,
          .max_loop_iterations = 40000}},
    };
    static const radix_pattern patterns[] = {RANDOM, EQUAL, ZIPF, OUTLIER};
    uint64_t n = test_small_sizes() ? 5000 : 300007;
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        hac_device *device = test_open_device(settings[i].device);
        for (size_t p = 0; p < sizeof patterns / sizeof patterns[0]; p++) {
            if ((i + p) % 2 == 0) {
                check_sort(device, settings[i].name, HAC_TYPE_U32, false, 0, n, cut_for(device, n),
                           patterns[p]);
                check_sort(device, settings[i].name, HAC_TYPE_I64, true, 4, n, cut_for(device, n),
                           patterns[p]);
            } else {
                check_sort(device, settings[i].name, HAC_TYPE_F64, true, 0, n, cut_for(device, n),
                           patterns[p]);
                check_sort(device, settings[i].name, HAC_TYPE_F32, false, 8, n, cut_for(device, n),
                           patterns[p]);
            }
        }
        hac_device_close(device);
    }
}

static void whole_sorts(void **state)
{
    (void)state;
    static const radix_setting settings[] = {
        {"whole", {.style = HAC_STYLE_CHOICE_BLOCK, .copy_memory = true}},
        {"whole, simt", {.style = HAC_STYLE_CHOICE_SIMT, .copy_memory = true}},
    };
    /* around tiles of the lock-step style; those from 20011 on are too many for an instrumented device, the
     * last one also for a CPU that runs work-items */
    static const uint64_t sizes[] = {1, 2, 63, 1025, 2047, 4096, 4097, 20011, 32769, 300007};
    size_t n_sizes = sizeof sizes / sizeof sizes[0];
    for (size_t i = 0; i < 2; i++) {
        hac_device *device = test_open_device(settings[i].device);
        for (size_t k = 0; k < n_sizes - (test_small_sizes() ? 3 : i); k++)
            for (int type = HAC_TYPE_U32; type <= HAC_TYPE_F64; type++)
                for (int p = 0; p < PATTERNS; p++) {
                    if (sizes[k] > 20000 && (p + type) % 4 != 0)
                        continue;
                    radix_sort s =
                        sort_new((hac_type)type, (p + type) & 1, (uint32_t)(p + type + (int)k) % 2 * 4,
                                 sizes[k], p & 1 ? cut_for(device, sizes[k]) : fine_cut(device, sizes[k]));
                    fill(&s, (radix_pattern)p);
                    run_whole(device, &s);
                    assert_sorted(&s, settings[i].name, (radix_pattern)p);
                    sort_free(&s);
                }
        hac_device_close(device);
    }
}

/* radix.whole refuses what does not fit a window, and a device with limited loops. */
static void whole_has_limits(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    radix_sort s = sort_new(HAC_TYPE_U32, false, 0, 5000, (hac_radix_cut){.chunk_items = 1024, .buckets = 8});
    hac_task task = task_of(&s, 0, 0);
    task.spans[0] = task.spans[3] = (hac_span){s.in, s.n * s.size};
    task.spans[1] = (hac_span){s.table, hac_radix_table_bytes(s.cut.buckets)};
    task.spans[2] = (hac_span){s.counts, counts_bytes(&s)};
    task.n_spans = 4;
    hac_device_facts facts = {.max_allocation = 20000};
    assert_int_equal(hac_radix_check_whole_keys(&facts, &task, &err), HAC_OK);
    facts.max_allocation = 19999;
    assert_int_equal(hac_radix_check_whole_keys(&facts, &task, &err), HAC_INVALID);
    facts = (hac_device_facts){.max_allocation = 20000, .max_loop_iterations = 1u << 30};
    assert_int_equal(hac_radix_check_whole_keys(&facts, &task, &err), HAC_INVALID);
    facts.max_loop_iterations = 0;
    params_of(&task)->index_bytes = 4;
    assert_int_equal(hac_radix_check_whole_keys(&facts, &task, &err), HAC_INVALID);
    params_of(&task)->index_bytes = 0;
    task.spans[2].bytes -= 64;
    assert_int_equal(hac_radix_check_whole_keys(&facts, &task, &err), HAC_INVALID);
    sort_free(&s);
}

/* A program that radix.whole does not use is not built. */
static void whole_has_a_program_where_it_runs(void **state)
{
    (void)state;
    for (int type = HAC_TYPE_U32; type <= HAC_TYPE_F64; type++)
        for (int i = 0; i < 5; i++) {
            hac_device_facts facts = {0};
            facts.style = i == 1 ? HAC_STYLE_BLOCK : HAC_STYLE_SIMT;
            facts.max_work_group = i == 2 ? 255 : 256;
            facts.host_memory = i == 3;
            facts.max_loop_iterations = i == 4 ? 65535 : 0;
            assert_true((hac_radix_program_whole_keys(&facts, (hac_type)type) != NULL) == (i == 0));
            assert_true((hac_radix_program_whole_index32(&facts, (hac_type)type) != NULL) == (i == 0));
        }
}

static void scatter_by_wrong_counts(hac_device *device, hac_type type, uint32_t index_bytes,
                                    hac_radix_cut cut)
{
    uint64_t n = 5003;
    radix_sort s = sort_new(type, false, index_bytes, n, cut);
    fill(&s, RANDOM);
    run_sort(device, &s);
    uint64_t *counts = (uint64_t *)(void *)s.counts;
    for (uint64_t i = 0; i < counts_bytes(&s) / 8; i++)
        counts[i] = i % 3 == 0 ? hac_random_u64(&random_state) : n - i % 5;
    hac_task task = chunks_task(&s, 4 + (index_bytes != 0));
    hac_task_result result = {0};
    /* a private buffer shows them, in place they stay unnoticed */
    hac_error err = HAC_ERROR_NONE;
    hac_status status = hac_radix_run_scatter(device, &task, &result, &err);
    assert_true(status == HAC_OK || status == HAC_FAILED);
    assert_guard(s.out, n * s.size);
    assert_guard(s.index, n * index_bytes);
    sort_free(&s);
}

/* Counts that do not match the data: nothing outside OUT is written, whether by key or by whole lines. */
static void wrong_counts_write_nothing_outside(void **state)
{
    (void)state;
    const radix_setting *settings[] = {&block, &simt};
    const hac_radix_cut many = {.chunk_items = 1024, .buckets = HAC_RADIX_MAX_BUCKETS};
    for (size_t k = 0; k < 2; k++) {
        hac_device *device = test_open_device(settings[k]->device);
        scatter_by_wrong_counts(device, HAC_TYPE_U32, 4, fine_cut(device, 5003));
        scatter_by_wrong_counts(device, HAC_TYPE_U32, 0, many);
        scatter_by_wrong_counts(device, HAC_TYPE_U64, 0, many);
        hac_device_close(device);
    }
}

static void bad_tasks_are_refused(void **state)
{
    (void)state;
    hac_device *device = test_open_device(block.device);
    const hac_device_facts *facts = hac_device_get_facts(device);
    radix_sort s = sort_new(HAC_TYPE_U32, false, 0, 5000, fine_cut(device, 5000));
    fill(&s, RANDOM);
    hac_task task = chunks_task(&s, 3);
    hac_task_result result = {0};
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(hac_radix_check_count_keys(facts, &task, &err), HAC_OK);
    /* no table yet */
    assert_int_equal(hac_radix_run_count(device, &task, &result, &err), HAC_INVALID);
    for (size_t i = 0; i < 3; i++) {
        hac_task bad = task;
        bad.spans[i].bytes -= 64;
        assert_int_equal(hac_radix_check_count_keys(facts, &bad, &err), HAC_INVALID);
    }
    hac_task bad = task;
    hac_radix_params *p = params_of(&bad);
    /* clang-format off */
    const struct { uint64_t *param, value; } wrong[] = {
        {&p->items, 0}, {&p->items, UINT64_C(1) << 62}, {&p->chunk_items, 0}, {&p->chunk_items, 1000},
        {&p->chunk_items, UINT64_C(1) << 31}, {&p->buckets, 0}, {&p->buckets, HAC_RADIX_MAX_BUCKETS + 1},
        {&p->index_bytes, 3}, {&p->index_bytes, 1 << 30}};
    /* clang-format on */
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        bad = task;
        *wrong[i].param = wrong[i].value;
        assert_int_equal(hac_radix_check_count_keys(facts, &bad, &err), HAC_INVALID);
    }
    bad = task;
    bad.first = UINT64_MAX;
    assert_int_equal(hac_radix_check_count_keys(facts, &bad, &err), HAC_INVALID);
    bad = task;
    bad.count = s.cut.chunks + 1;
    assert_int_equal(hac_radix_check_count_keys(facts, &bad, &err), HAC_INVALID);
    bad = task;
    bad.type = HAC_TYPE_NONE;
    assert_int_equal(hac_radix_check_count_keys(facts, &bad, &err), HAC_INVALID);
    sort_free(&s);
    hac_device_close(device);
}

/* A table that somebody else changed: cells beyond the buckets, header fields out of range. */
static void damaged_tables_are_refused(void **state)
{
    (void)state;
    hac_device *device = test_open_device(block.device);
    radix_sort s = sort_new(HAC_TYPE_U32, false, 0, 5000, fine_cut(device, 5000));
    fill(&s, RANDOM);
    run_sort(device, &s);
    hac_task task = chunks_task(&s, 3);
    hac_task_result result = {0};
    hac_error err = HAC_ERROR_NONE;
    hac_radix_header good;
    memcpy(&good, s.table, sizeof good);
    for (int i = 0; i < 10; i++) {
        hac_radix_header h = good;
        h.shift = i == 0 ? 32 : h.shift;
        h.last = i == 1 ? 1u << 16 : h.last;
        h.scale = i == 2 ? 1u << 17 : h.scale;
        h.method = i == 3 ? 2 : h.method;
        h.buckets += i == 4;
        h.items -= i == 5;
        h.levels = i == 6 ? 1 : i == 7 ? 12 : i == 9 ? HAC_RADIX_VALUES : h.levels; /* 1: without splitters */
        h.counted = i == 8;
        h.cells = i == 9 ? HAC_RADIX_SPLITTERS + 1 : h.cells;
        memcpy(s.table, &h, sizeof h);
        assert_int_equal(hac_radix_run_count(device, &task, &result, &err), HAC_INVALID);
    }
    memcpy(s.table, &good, sizeof good);
    hac_radix_refine_thirds(s.table);
    hac_radix_header refined;
    memcpy(&refined, s.table, sizeof refined);
    uint32_t *entry = (uint32_t *)(void *)(s.table + hac_radix_splitters_offset()) + 8000, sound = *entry;
    const uint32_t wrong[] = {sound | 63, sound & ~63u, UINT32_MAX << 6 | (sound & 63),
                              (refined.cells - 1) << 6 | 18};
    assert_int_equal(hac_radix_run_count(device, &task, &result, &err), HAC_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        *entry = wrong[i];
        if (hac_radix_run_count(device, &task, &result, &err) != HAC_INVALID)
            fail_msg("entry %zu was taken", i);
    }
    memcpy(s.table, &good, sizeof good);
    uint16_t *cells = (uint16_t *)(void *)(s.table + hac_radix_cells_offset());
    cells[good.cells - 1] = (uint16_t)s.cut.buckets;
    assert_int_equal(hac_radix_run_count(device, &task, &result, &err), HAC_INVALID);
    sort_free(&s);
    hac_device_close(device);
}

/* Builders ask for all programs: here each type and each width of an index in turn. */
static void known_answers(void **state)
{
    (void)state;
    if (test_small_sizes())
        return;
    const radix_setting *settings[] = {&block, &simt};
    hac_status (*const known[])(hac_device *, hac_type, hac_error *) = {
        hac_radix_known_answer_scatter_keys,    hac_radix_known_answer_leaf_index32,
        hac_radix_known_answer_scatter_index64, hac_radix_known_answer_leaf_keys,
        hac_radix_known_answer_scatter_index32, hac_radix_known_answer_leaf_index64};
    for (size_t k = 0; k < 2; k++) {
        hac_device *device = test_open_device(settings[k]->device);
        hac_error err = HAC_ERROR_NONE;
        for (int type = HAC_TYPE_U32; type <= HAC_TYPE_F64; type++)
            if (known[((size_t)type + 3 * k) % 6](device, (hac_type)type, &err) != HAC_OK)
                fail_msg("%s, %s: %s", settings[k]->name, hac_type_name((hac_type)type), err.message);
        hac_device_close(device);
    }
}

/* Windows that do not hold the normal number of keys are no reason to fail. */
static void known_answers_of_whole(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    if (test_small_sizes())
        return;
    for (uint64_t window = 0; window <= UINT64_C(1) << 18; window += UINT64_C(1) << 18) {
        hac_device *device = test_open_device((hac_device_options){
            .style = HAC_STYLE_CHOICE_SIMT, .copy_memory = true, .max_allocation = window});
        for (int type = HAC_TYPE_U32; type <= HAC_TYPE_F64; type++) {
            bool keys = (type % 2 == 0) == (window == 0);
            if ((keys ? hac_radix_known_answer_whole_keys
                      : hac_radix_known_answer_whole_index32)(device, (hac_type)type, &err) != HAC_OK)
                fail_msg("%s: %s", hac_type_name((hac_type)type), err.message);
        }
        hac_device_close(device);
    }
}

static void cuts_are_sound(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 41; bits++)
        for (uint32_t workers = 1; workers < 300; workers *= 3)
            for (int limited = 0; limited < 2; limited++) {
                uint64_t n = bits == 0 ? 1 : (UINT64_C(1) << bits) - 1;
                hac_radix_cut cut = hac_radix_cut_of(n, workers, limited ? 65535 : 0);
                assert_true(cut.buckets >= 1 && cut.buckets <= HAC_RADIX_MAX_BUCKETS);
                assert_true(cut.chunk_items >= 1024 && cut.chunk_items <= HAC_RADIX_MAX_CHUNK);
                assert_true((cut.chunk_items & (cut.chunk_items - 1)) == 0);
                assert_true((cut.chunks - 1) * cut.chunk_items < n && cut.chunks * cut.chunk_items >= n);
                assert_true(limited || cut.chunks <= 1025);
                /* counters: a sixteenth of 32-bit keys, and a partial row */
                uint64_t counts = hac_radix_counts_bytes(cut.chunks, cut.buckets);
                assert_true(limited || cut.chunks == 1 ||
                            counts <= n / 4 + hac_radix_counts_bytes(2, cut.buckets));
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts_are_sound),
        cmocka_unit_test(sizes_around_boundaries_block),
        cmocka_unit_test(sizes_around_boundaries_simt),
        cmocka_unit_test(every_pattern_and_type_block),
        cmocka_unit_test(every_pattern_and_type_simt),
        cmocka_unit_test(many_buckets),
        cmocka_unit_test(refined_by_hand),
        cmocka_unit_test(halves_are_refined),
        cmocka_unit_test(even_keys_are_direct),
        cmocka_unit_test(large_buckets),
        cmocka_unit_test(the_planners_cut),
        cmocka_unit_test(few_values_block),
        cmocka_unit_test(few_values_simt),
        cmocka_unit_test(limited_devices),
        cmocka_unit_test(whole_sorts),
        cmocka_unit_test(whole_has_limits),
        cmocka_unit_test(whole_has_a_program_where_it_runs),
        cmocka_unit_test(wrong_counts_write_nothing_outside),
        cmocka_unit_test(bad_tasks_are_refused),
        cmocka_unit_test(damaged_tables_are_refused),
        cmocka_unit_test(known_answers),
        cmocka_unit_test(known_answers_of_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
