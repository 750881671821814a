/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bitonic codelets against test_sort_items and against an interpreter of the network, on the first device
 * found and in both styles. HAC_TEST_SMALL=1 keeps to sizes for an instrumented device (oclgrind);
 * HAC_TEST_SIMT=1 keeps to lock-step style, for devices whose compiler takes minutes over vectors (llvmpipe).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bitonic_layout.h"
#include "base/random.h"
#include "bitonic.h"
#include "test_codelets.h"

typedef struct bitonic_setting {
    const char *name;
    hac_device_options device;
    hac_device **kept; /* open until the end; NULL: opened each time */
} bitonic_setting;

/* The common devices are opened once: compiling their programs takes longer than running them. */
static hac_device *kept[2];

static hac_device *open_device(const bitonic_setting *set)
{
    if (set->kept == NULL)
        return test_open_device(set->device);
    if (*set->kept == NULL)
        *set->kept = test_open_device(set->device);
    return *set->kept;
}

static void close_device(const bitonic_setting *set, hac_device *device)
{
    if (set->kept == NULL)
        hac_device_close(device);
}

static int close_kept(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++)
        hac_device_close(kept[i]);
    return 0;
}

static const bitonic_setting block_style = {"block", {.style = HAC_STYLE_CHOICE_BLOCK}, &kept[0]};
static const bitonic_setting simt_style = {"simt", {.style = HAC_STYLE_CHOICE_SIMT}, &kept[1]};

/* ---- a sort: buffers with guards ---- */

typedef struct bitonic_sort {
    hac_type type;
    bool descending;
    hac_bitonic_index index;
    uint64_t m;
    uint32_t b;
    uint8_t *in, *in_copy, *work, *final;
    uint64_t in_bytes, work_bytes, final_bytes;
} bitonic_sort;

static uint64_t random_state = 88172645463325252u;

static uint32_t block_of(hac_device *device, hac_type type, hac_bitonic_index index)
{
    const hac_device_facts *f = hac_device_get_facts(device);
    hac_bitonic_limits limits = {f->block_items, f->max_loop_iterations, f->local_memory, f->max_allocation,
                                 f->style == HAC_STYLE_SIMT};
    return hac_bitonic_block_log2(&limits, hac_bitonic_item_bytes(type, index));
}

static bitonic_sort sort_new(hac_type type, bool descending, hac_bitonic_index index, uint64_t m)
{
    bitonic_sort s = {.type = type, .descending = descending, .index = index, .m = m};
    s.in_bytes = m * hac_type_size(type);
    s.work_bytes = m * hac_bitonic_item_bytes(type, index);
    s.final_bytes = m * index;
    s.in = test_guarded(s.in_bytes);
    s.in_copy = test_guarded(s.in_bytes);
    s.work = test_guarded(s.work_bytes);
    s.final = test_guarded(s.final_bytes);
    return s;
}

static void sort_free(bitonic_sort *s)
{
    free(s->in);
    free(s->in_copy);
    free(s->work);
    free(s->final);
}

/* ---- patterns ---- */

typedef enum bitonic_pattern {
    RANDOM,
    SORTED,
    REVERSED,
    EQUAL,
    FEW,
    SPECIAL,
    ORGAN_PIPE,
    PATTERNS
} bitonic_pattern;

static uint64_t special_key(hac_type type)
{
    static const uint64_t narrow[] = {0x7fc00000, 0xffc00000, 0x7f800001, 0xff800001, 0xffffffff,
                                      0x7fffffff, 0,          0x80000000, 0x7f800000, 0xff800000,
                                      1,          0x80000001, 0x3f800000};
    uint64_t pick = hac_random_u64(&random_state) % (sizeof narrow / sizeof *narrow);
    if (hac_type_size(type) == 4)
        return narrow[pick];
    if (pick < 6) /* NaNs of either sign */
        return ((pick & 1 ? UINT64_C(0xfff) : UINT64_C(0x7ff)) << 52) | (pick + 1);
    return narrow[pick] << 32 >> (narrow[pick] == 1 ? 32 : 0);
}

static uint64_t key_of(const bitonic_sort *s, bitonic_pattern p, uint64_t i)
{
    switch (p) {
    case SORTED:
        return i * 3;
    case REVERSED:
        return (s->m - i) * 3;
    case EQUAL:
        return 0x41424344;
    case FEW:
        return hac_random_u64(&random_state) % 3 * 0x40000001;
    case SPECIAL:
        return special_key(s->type);
    case ORGAN_PIPE:
        return i < s->m / 2 ? i : s->m - i;
    default:
        return hac_random_u64(&random_state);
    }
}

static void sort_fill(bitonic_sort *s, bitonic_pattern p)
{
    size_t size = hac_type_size(s->type);
    for (uint64_t i = 0; i < s->m; i++) {
        uint64_t key = key_of(s, p, i);
        memcpy(s->in + i * size, &key, size);
    }
    memcpy(s->in_copy, s->in, s->in_bytes + TEST_GUARD);
}

/* ---- running ---- */

static hac_task task_of(const bitonic_sort *s, uint64_t first, uint64_t count)
{
    hac_task task = {.type = s->type, .descending = s->descending, .first = first, .count = count, .fd = -1};
    task.spans[0] = (hac_span){s->in, s->in_bytes};
    task.spans[1] = (hac_span){s->work, s->work_bytes};
    task.spans[2] = (hac_span){s->final, s->final_bytes};
    task.n_spans = s->index == HAC_BITONIC_KEYS ? 2 : 3;
    HAC_SET_PARAMS(&task, &(hac_bitonic_params){.items = s->m, .index_bytes = s->index, .block_log2 = s->b});
    return task;
}

static hac_bitonic_params *params_of(hac_task *task)
{
    return (hac_bitonic_params *)(void *)task->params;
}

static const hac_codelet *codelet(const char *pass, hac_bitonic_index index)
{
    static const hac_codelet entries[] = {HAC_BITONIC_CODELETS};
    char name[64];
    snprintf(name, sizeof name, "bitonic.%s%s", pass,
             index == HAC_BITONIC_KEYS ? "" : (index == HAC_BITONIC_INDEX32 ? ".index" : ".index64"));
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (strcmp(entries[i].name, name) == 0)
            return &entries[i];
    fail_msg("no codelet %s", name);
    return NULL;
}

static hac_task_result run_task(hac_device *device, const char *pass, const bitonic_sort *s,
                                const hac_task *task)
{
    hac_error err = HAC_ERROR_NONE;
    hac_task_result result = {0};
    const hac_codelet *c = codelet(pass, s->index);
    if (c->check(hac_device_get_facts(device), task, &err) != HAC_OK)
        fail_msg("%s check: %s", c->name, err.message);
    if (c->run(device, task, &result, &err) != HAC_OK)
        fail_msg("%s: %s", c->name, err.message);
    return result;
}

static void run_steps(hac_device *device, const bitonic_sort *s, uint64_t first, uint64_t end, uint32_t s0,
                      uint32_t s1)
{
    if (first >= end)
        return;
    hac_task task = task_of(s, first, end - first);
    params_of(&task)->first_step = s0;
    params_of(&task)->last_step = s1;
    run_task(device, "steps", s, &task);
}

static uint32_t last_step(const bitonic_sort *s)
{
    return hac_bitonic_last_step(hac_bitonic_subsets(s->m));
}

/* ---- the oracle ---- */

static uint64_t order_of(const bitonic_sort *s, hac_key_order o, uint64_t key)
{
    uint64_t top = s->type == HAC_TYPE_F32 ? UINT64_C(0x7f800000) : UINT64_C(0x7ff0000000000000);
    if (s->index != HAC_BITONIC_KEYS && hac_type_is_float(s->type) && (key & o.flip) > top)
        return s->descending ? 0 : UINT64_MAX;
    return hac_type_size(s->type) == 8 ? hac_key_map64(o, key) : hac_key_map32(o, (uint32_t)key);
}

static test_item *items_of(const bitonic_sort *s)
{
    test_item *e = malloc(s->m * sizeof *e);
    assert_non_null(e);
    hac_key_order o = hac_key_order_of(s->type, s->descending);
    for (uint64_t i = 0; i < s->m; i++)
        e[i] = (test_item){order_of(s, o, test_load(s->in_copy, i, hac_type_size(s->type))), i};
    return e;
}

static void assert_sorted(const bitonic_sort *s, const char *what)
{
    test_item *e = items_of(s);
    size_t size = hac_type_size(s->type);
    test_sort_items(e, s->m, false);
    for (uint64_t i = 0; i < s->m; i++) {
        uint64_t want = s->index == HAC_BITONIC_KEYS ? test_load(s->in_copy, e[i].index, size) : e[i].index;
        uint64_t got =
            s->index == HAC_BITONIC_KEYS ? test_load(s->work, i, size) : test_load(s->final, i, s->index);
        if (want != got)
            fail_msg("%s: %llu items of %s%s, index %d, b %u: item %llu is %llx, not %llx", what,
                     (unsigned long long)s->m, hac_type_name(s->type), s->descending ? " descending" : "",
                     (int)s->index, s->b, (unsigned long long)i, (unsigned long long)got,
                     (unsigned long long)want);
    }
    free(e);
    assert_memory_equal(s->in, s->in_copy, s->in_bytes + TEST_GUARD);
    assert_true(test_guard_is_whole(s->work, s->work_bytes));
    assert_true(test_guard_is_whole(s->final, s->final_bytes));
}

static void sort_and_check(hac_device *device, bitonic_sort s, bitonic_pattern p, const char *what)
{
    sort_fill(&s, p);
    if (s.b == 0)
        s.b = block_of(device, s.type, s.index);
    run_steps(device, &s, 0, s.m, 1, last_step(&s));
    assert_sorted(&s, what);
    sort_free(&s);
}

/* ---- whole sorts ---- */

static const hac_bitonic_index indices[] = {HAC_BITONIC_KEYS, HAC_BITONIC_INDEX32, HAC_BITONIC_INDEX64};

static void sort_types_and_patterns(const bitonic_setting *set, uint64_t m)
{
    hac_device *device = open_device(set);
    for (int type = HAC_TYPE_U32; type <= HAC_TYPE_F64; type++)
        for (int descending = 0; descending < 2; descending++)
            for (size_t i = 0; i < 3; i++)
                for (int p = 0; p < (test_small_sizes() ? 1 : PATTERNS);
                     p++) /* no branch follows a pattern */
                    sort_and_check(device, sort_new((hac_type)type, descending, indices[i], m),
                                   (bitonic_pattern)p, set->name);
    close_device(set, device);
}

static void sort_sizes(const bitonic_setting *set, hac_type type, hac_bitonic_index index)
{
    hac_device *device = open_device(set);
    uint32_t b = block_of(device, type, index);
    uint64_t top = test_small_sizes() ? 1100 : UINT64_C(9) << b;
    for (uint64_t m = 1; m <= 9; m++)
        sort_and_check(device, sort_new(type, false, index, m), RANDOM, set->name);
    for (uint64_t power = 16; power <= top; power *= test_small_sizes() ? 8 : 2)
        for (uint64_t m = power - 1; m <= power + 1; m++)
            sort_and_check(device, sort_new(type, m % 2 == 0, index, m), RANDOM, set->name);
    for (uint64_t m = 1000; m <= top; m = m * 5 / 2 + 7)
        sort_and_check(device, sort_new(type, false, index, m), RANDOM, set->name);
    close_device(set, device);
}

static void test_types_block(void **state)
{
    (void)state;
    sort_types_and_patterns(&block_style, test_small_sizes() ? 140 : 5000);
}

static void test_types_simt(void **state)
{
    (void)state;
    sort_types_and_patterns(&simt_style, test_small_sizes() ? 300 : 5000);
}

/* Small blocks, so that there are many subsets above them: every number of fused steps, and more than one
 * pass. */
static void test_sizes(void **state)
{
    (void)state;
    const bitonic_setting settings[] = {
        {.name = "block, small blocks", .device.style = HAC_STYLE_CHOICE_BLOCK, .device.block_items = 2048},
        {.name = "simt, small blocks", .device.style = HAC_STYLE_CHOICE_SIMT, .device.block_items = 512},
        {.name = "loop limit", .device.style = HAC_STYLE_CHOICE_BLOCK, .device.max_loop_iterations = 4096},
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        sort_sizes(&settings[i], HAC_TYPE_F32, HAC_BITONIC_INDEX32);
        if (test_small_sizes())
            continue;
        sort_sizes(&settings[i], HAC_TYPE_U32, HAC_BITONIC_KEYS);
        sort_sizes(&settings[i], HAC_TYPE_I64, HAC_BITONIC_KEYS);
        sort_sizes(&settings[i], HAC_TYPE_U64, HAC_BITONIC_INDEX64);
    }
}

/* Full blocks: one item less and one more than a block, and subsets above it. */
static void test_full_blocks(void **state)
{
    (void)state;
    hac_device *device = open_device(&block_style);
    uint64_t block = UINT64_C(1) << block_of(device, HAC_TYPE_U32, HAC_BITONIC_KEYS);
    const uint64_t sizes[] = {block - 1, block, block + 1, 3 * block - 5, 9 * block + 12345};
    for (size_t i = 0; i < (test_small_sizes() ? 0 : sizeof sizes / sizeof *sizes); i++) {
        sort_and_check(device, sort_new(HAC_TYPE_U32, false, HAC_BITONIC_KEYS, sizes[i]), RANDOM, "full");
        sort_and_check(device, sort_new(HAC_TYPE_F64, true, HAC_BITONIC_KEYS, sizes[i] / 2), RANDOM, "full");
        sort_and_check(device, sort_new(HAC_TYPE_I64, false, HAC_BITONIC_INDEX32, sizes[i] / 4), RANDOM,
                       "full");
    }
    close_device(&block_style, device);
}

/* Blocks of one tile: up to a dozen subsets with long strides. */
static void test_many_subsets(void **state)
{
    (void)state;
    for (int simt = 0; simt < 2; simt++) {
        hac_device *device = open_device(simt ? &simt_style : &block_style);
        for (uint64_t m = 300; m < (test_small_sizes() ? UINT64_C(1000) : UINT64_C(300000));
             m = m * 7 / 3 + 1)
            for (size_t i = 0; i < 3; i++) {
                bitonic_sort s = sort_new(i == 1 ? HAC_TYPE_F32 : HAC_TYPE_I64, i == 2, indices[i], m);
                s.b = hac_bitonic_tile_log2(hac_bitonic_item_bytes(s.type, s.index));
                sort_and_check(device, s, RANDOM, "many subsets");
            }
        close_device(simt ? &simt_style : &block_style, device);
    }
}

/* ---- step by step against an interpreter ---- */

static void order_keys(uint32_t *x, uint64_t i, uint64_t j, uint64_t m)
{
    if (j >= m || x[i] <= x[j])
        return;
    uint32_t t = x[i];
    x[i] = x[j];
    x[j] = t;
}

/* Comparator by comparator, from the definition alone. */
static void interpret_step(uint32_t *x, uint64_t m, uint32_t p, uint32_t j)
{
    uint64_t run = UINT64_C(1) << p, stride = UINT64_C(1) << (p - j);
    for (uint64_t i = 0; i < m; i++) {
        uint64_t within = i % run;
        if (j == 1 && within < run / 2)
            order_keys(x, i, i - within + run - 1 - within, m);
        if (j > 1 && i / stride % 2 == 0)
            order_keys(x, i, i + stride, m);
    }
}

static void check_every_step(hac_device *device, uint64_t m)
{
    bitonic_sort s = sort_new(HAC_TYPE_U32, false, HAC_BITONIC_KEYS, m);
    uint32_t *model = malloc(m * sizeof *model), step = 0;
    assert_non_null(model);
    sort_fill(&s, m % 3 == 0 ? FEW : RANDOM);
    s.b = 8;
    memcpy(model, s.in, s.in_bytes);
    for (uint32_t p = 1; p <= hac_bitonic_subsets(m); p++)
        for (uint32_t j = 1; j <= p; j++) {
            interpret_step(model, m, p, j);
            step++;
            run_steps(device, &s, 0, m, step, step);
            assert_memory_equal(model, s.work, s.in_bytes);
        }
    assert_int_equal(step, last_step(&s));
    assert_sorted(&s, "step by step");
    free(model);
    sort_free(&s);
}

static void test_every_step(void **state)
{
    (void)state;
    const bitonic_setting settings[] = {
        block_style, simt_style, {.name = "copies", .device.copy_memory = true}};
    for (size_t i = 0; i < 3; i++) {
        hac_device *device = open_device(&settings[i]);
        for (uint64_t m = 2; m <= (test_small_sizes() ? 20u : 1024u); m += m < 70 || m > 1010 ? 1 : 31)
            check_every_step(device, m);
        check_every_step(device, 2100);
        close_device(&settings[i], device);
    }
}

/* ---- side by side: the schemes of the source ---- */

/* Parts [0, c) and [c, m): two tasks for what may run in parallel, one task for the rest. */
static void sort_in_parts(hac_device *device, bitonic_sort s, uint64_t c, const char *what)
{
    uint32_t S = (uint32_t)__builtin_ctzll(c), last = last_step(&s), step = 1;
    sort_fill(&s, RANDOM);
    if (s.b == 0)
        s.b = block_of(device, s.type, s.index);
    while (step <= last) {
        bool apart = hac_bitonic_group_log2(step) <= S;
        uint32_t end = step;
        while (end < last && (hac_bitonic_group_log2(end + 1) <= S) == apart)
            end++;
        if (apart) {
            run_steps(device, &s, c, s.m, step, end);
            run_steps(device, &s, 0, c, step, end);
        } else
            run_steps(device, &s, 0, s.m, step, end);
        step = end + 1;
    }
    assert_sorted(&s, what);
    sort_free(&s);
}

static void test_parts(void **state)
{
    (void)state;
    const bitonic_setting settings[] = {
        block_style,
        simt_style,
        {.name = "parts, copies", .device.copy_memory = true, .device.block_items = 1024}};
    /* The worked example of the source first: n = 4 with 6, 4 and 8 items. */
    const uint64_t cuts[][2] = {{16, 6},
                                {16, 4},
                                {16, 8},
                                {15, 6},
                                {100, 38},
                                {1000, 256},
                                {1000, 375 / 2 * 2},
                                {5000, 2048},
                                {5000, 1024},
                                {5000, 1876},
                                {70001, 32768},
                                {70001, 49152},
                                {300000, 131072},
                                {300000, 262144},
                                {300000, 98304},
                                {300000, 100032}};
    for (size_t i = 0; i < 3; i++) {
        hac_device *device = open_device(&settings[i]);
        for (size_t k = 0; k < sizeof cuts / sizeof *cuts && (!test_small_sizes() || cuts[k][0] <= 100); k++)
            for (size_t x = 0; x < 3; x++) {
                if (cuts[k][0] > 70001 && x != (i + k) % 3)
                    continue; /* of the largest: each in turn */
                hac_type type = x == 0 ? HAC_TYPE_U32 : (x == 1 ? HAC_TYPE_F32 : HAC_TYPE_I64);
                sort_in_parts(device, sort_new(type, false, indices[x], cuts[k][0]), cuts[k][1],
                              settings[i].name);
            }
        close_device(&settings[i], device);
    }
}

/* A task leaves everything outside its range as it is, byte for byte. */
static void test_range_only(void **state)
{
    (void)state;
    for (int copies = 0; copies < 2; copies++) {
        bitonic_setting set = {.name = "range", .device.copy_memory = copies};
        hac_device *device = open_device(&set);
        bitonic_sort s = sort_new(HAC_TYPE_U32, false, HAC_BITONIC_KEYS, 3000);
        sort_fill(&s, RANDOM);
        s.b = 8;
        run_steps(device, &s, 6, 16, 1, 1);
        for (uint64_t i = 0; i < s.in_bytes; i++)
            if (i < 24 || i >= 64)
                assert_int_equal(s.work[i], 0xa5);
        run_steps(device, &s, 1024, 2048, 1, 55);
        for (uint64_t i = 0; i < s.in_bytes; i++)
            if (i < 24 || (i >= 64 && i < 4096) || i >= 8192)
                assert_int_equal(s.work[i], 0xa5);
        sort_free(&s);
        close_device(&set, device);
    }
}

/* ---- windows ---- */

static void test_small_windows(void **state)
{
    (void)state;
    const bitonic_setting settings[] = {
        {.name = "1 MiB", .device.max_allocation = 1 << 20},
        {.name = "16 KiB", .device.max_allocation = 1 << 14, .device.block_items = 1024},
        {.name = "16 KiB, copies",
         .device.max_allocation = 1 << 14,
         .device.block_items = 1024,
         .device.copy_memory = true},
        {.name = "16 KiB, simt",
         .device.max_allocation = 1 << 14,
         .device.block_items = 1024,
         .device.style = HAC_STYLE_CHOICE_SIMT},
    };
    for (size_t i = test_small_sizes() ? 1 : 0; i < sizeof settings / sizeof *settings; i++) {
        hac_device *device = open_device(&settings[i]);
        uint64_t m = test_small_sizes() ? 5000 : (i == 0 ? 900001 : 70001);
        sort_and_check(device, sort_new(HAC_TYPE_U32, false, HAC_BITONIC_KEYS, m), RANDOM, settings[i].name);
        sort_and_check(device, sort_new(HAC_TYPE_F32, true, HAC_BITONIC_INDEX32, m / 3), SPECIAL,
                       settings[i].name);
        sort_and_check(device, sort_new(HAC_TYPE_I64, false, HAC_BITONIC_INDEX64, m / 5), FEW,
                       settings[i].name);
        sort_in_parts(device, sort_new(HAC_TYPE_F64, false, HAC_BITONIC_KEYS, m / 2),
                      UINT64_C(1) << (hac_bitonic_subsets(m / 2) - 1), settings[i].name);
        close_device(&settings[i], device);
    }
}

/* ---- the other codelets ---- */

/* block, then merge and tail for every subset; the merge in `slices` tasks. */
static void sort_with_passes(hac_device *device, bitonic_sort s, uint64_t slices)
{
    sort_fill(&s, RANDOM);
    hac_task task = task_of(&s, 0, s.m);
    run_task(device, "block", &s, &task);
    for (uint32_t q = s.b + 1; q <= hac_bitonic_subsets(s.m); q++) {
        for (uint64_t slice = slices; slice-- > 0;) {
            task = task_of(&s, 0, s.m);
            params_of(&task)->subset = q;
            params_of(&task)->step = 1;
            params_of(&task)->steps = q - s.b;
            params_of(&task)->slice = slice;
            params_of(&task)->slices = slices;
            run_task(device, "merge", &s, &task);
        }
        task = task_of(&s, 0, s.m);
        params_of(&task)->subset = q;
        params_of(&task)->steps = s.b;
        run_task(device, "tail", &s, &task);
    }
    assert_sorted(&s, "pass by pass");
    sort_free(&s);
}

static void test_passes(void **state)
{
    (void)state;
    for (int simt = 0; simt < 2; simt++) {
        hac_device *device = open_device(simt ? &simt_style : &block_style);
        for (size_t i = 0; i < 3; i++)
            for (uint64_t m = 100; m < (test_small_sizes() ? UINT64_C(1000) : UINT64_C(300000));
                 m = m * 3 + 1) {
                bitonic_sort s = sort_new(HAC_TYPE_F32, i == 1, indices[i], m);
                s.b = 9;
                sort_with_passes(device, s, m < 8000 && hac_device_get_facts(device)->host_memory ? 3 : 1);
            }
        close_device(simt ? &simt_style : &block_style, device);
    }
}

/* ---- what is refused ---- */

static void assert_refused(hac_device *device, const char *pass, const hac_task *task)
{
    hac_error err = HAC_ERROR_NONE;
    hac_status status = codelet(pass, HAC_BITONIC_KEYS)->check(hac_device_get_facts(device), task, &err);
    assert_int_equal(status, HAC_INVALID);
    assert_true(err.message[0] != '\0');
}

/* The codelet refuses the task if `param`, a member of its parameters, has another value. */
static void refuse_with(hac_device *device, const hac_task *task, uint64_t *param, uint64_t value)
{
    uint64_t before = *param;
    *param = value;
    assert_refused(device, "block", task);
    *param = before;
}

static void test_refused_common(void **state)
{
    (void)state;
    hac_device *device = open_device(&block_style);
    bitonic_sort s = sort_new(HAC_TYPE_U32, false, HAC_BITONIC_KEYS, 1000);
    s.b = 8;
    hac_task good = task_of(&s, 0, 1000), bad;
    const uint64_t sizes[] = {0, 1001, UINT64_C(1) << 49, UINT64_MAX};
    for (size_t i = 0; i < 4; i++)
        refuse_with(device, &good, &params_of(&good)->items, sizes[i]);
    const uint64_t blocks[] = {0, 7, 21, 64, UINT64_MAX};
    for (size_t i = 0; i < 5; i++)
        refuse_with(device, &good, &params_of(&good)->block_log2, blocks[i]);
    refuse_with(device, &good, &params_of(&good)->index_bytes, 4);
    const uint64_t ranges[][2] = {{0, 0},     {0, 1001},         {1, 999},
                                  {256, 255}, {999, UINT64_MAX}, {UINT64_MAX, 2}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        bad = good;
        bad.first = ranges[i][0];
        bad.count = ranges[i][1];
        assert_refused(device, "block", &bad);
    }
    bad = good;
    bad.n_spans = 3;
    assert_refused(device, "block", &bad);
    bad = good;
    bad.type = (hac_type)77;
    assert_refused(device, "block", &bad);
    bad = good;
    bad.spans[1].bytes--;
    assert_refused(device, "block", &bad);
    sort_free(&s);
    close_device(&block_style, device);
}

static void test_refused_passes(void **state)
{
    (void)state;
    hac_device *device = open_device(&block_style);
    bitonic_sort s = sort_new(HAC_TYPE_U32, false, HAC_BITONIC_KEYS, 4096);
    s.b = 8;
    hac_task steps = task_of(&s, 0, 1024);
    const uint64_t runs[][2] = {{0, 1},          {1, 79},         {3, 1}, {1, 66},
                                {UINT64_MAX, 0}, {1, UINT64_MAX}, {4, 3}, {1, 0}};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        params_of(&steps)->first_step = runs[i][0];
        params_of(&steps)->last_step = runs[i][1];
        assert_refused(device, "steps", &steps);
    }
    hac_task merge = task_of(&s, 0, 4096);
    const uint64_t merges[][5] = {{0, 1, 1, 0, 1},  {13, 1, 1, 0, 1}, {12, 0, 1, 0, 1},
                                  {12, 1, 5, 0, 1}, {12, 5, 1, 0, 1}, {12, 1, 0, 0, 1},
                                  {12, 1, 1, 1, 1}, {12, 1, 1, 0, 0}, {12, 1, UINT64_MAX, 0, 1}};
    for (size_t i = 0; i < sizeof merges / sizeof *merges; i++) {
        memcpy(&params_of(&merge)->subset, merges[i], sizeof merges[i]);
        assert_refused(device, "merge", &merge);
    }
    hac_task tail = task_of(&s, 0, 4096);
    const uint64_t tails[][2] = {{0, 8}, {13, 8}, {12, 7}, {12, 9}, {8, 8}};
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        params_of(&tail)->subset = tails[i][0];
        params_of(&tail)->steps = tails[i][1];
        assert_refused(device, "tail", &tail);
    }
    sort_free(&s);
    close_device(&block_style, device);
}

/* ---- known answers ---- */

static void test_known_answers(void **state)
{
    (void)state;
    for (int simt = 0; simt < 2 && !test_small_sizes(); simt++) {
        hac_device *device = open_device(simt ? &simt_style : &block_style);
        for (int type = HAC_TYPE_U32; type <= HAC_TYPE_F64; type++)
            for (size_t i = 0; i < 3; i++) {
                hac_error err = HAC_ERROR_NONE;
                const hac_codelet *c = codelet("steps", indices[i]);
                if (c->known_answer(device, (hac_type)type, &err) != HAC_OK)
                    fail_msg("%s", err.message);
            }
        close_device(simt ? &simt_style : &block_style, device);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types_block),    cmocka_unit_test(test_types_simt),
        cmocka_unit_test(test_sizes),          cmocka_unit_test(test_full_blocks),
        cmocka_unit_test(test_many_subsets),   cmocka_unit_test(test_every_step),
        cmocka_unit_test(test_parts),          cmocka_unit_test(test_range_only),
        cmocka_unit_test(test_small_windows),  cmocka_unit_test(test_passes),
        cmocka_unit_test(test_refused_common), cmocka_unit_test(test_refused_passes),
        cmocka_unit_test(test_known_answers),
    };
    return cmocka_run_group_tests(tests, NULL, close_kept);
}
