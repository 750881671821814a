/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of sub-operators against the codelets in C, byte for byte: sizes around lanes and blocks,
 * divided at multiples of the grain, in both styles, with copied memory, and on a device that ends loops
 * early. HAC_TEST_SMALL=1 keeps to sizes for an instrumented device (oclgrind).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "op_codelets.h"
#include "test_ops.h"

static uint64_t state = 521288629;
static hac_device *device;

static const uint64_t sizes[] = {1, 63, 64, 65, 130, 1025, 4095, 4096, 4097, 9000, 65535, 65537, 140001};

/* An interpreter of kernels takes minutes for more. Where only the driver's limits differ, a few are
 * enough. */
static bool is_tried(uint64_t size, bool limited)
{
    if (test_small_sizes())
        return size == 1 || size == 65 || size == 130;
    return !limited || (size != 63 && size != 130 && size != 9000 && size != 65535);
}

static bool has(unsigned kind)
{
    return kind != HAC_KIND_F64 || hac_device_get_facts(device)->fp64;
}

/* Runs the codelet in C, then the kernels in pieces of `step`, and compares operands 0 and `other`. */
static void compare(test_call *c, const char *name, uint64_t rows, uint64_t step, size_t other)
{
    char kernels[32];
    uint8_t *expected[2] = {NULL, NULL};
    size_t written[2] = {0, other};
    test_run_well(c, NULL, name, rows, UINT64_MAX);
    for (size_t i = 0; i < 1u + (other != 0); i++) {
        expected[i] = malloc(c->bytes[written[i]] + 1);
        assert_non_null(expected[i]);
        memcpy(expected[i], c->memory[written[i]], c->bytes[written[i]]);
        memset(c->memory[written[i]], 0x5a, c->bytes[written[i]]);
    }
    snprintf(kernels, sizeof kernels, "%s.cl", name);
    test_run_well(c, device, kernels, rows, step);
    for (size_t i = 0; i < 1u + (other != 0); i++) {
        bool same = memcmp(expected[i], c->memory[written[i]], c->bytes[written[i]]) == 0;
        for (uint64_t b = 0; !same && b < c->bytes[written[i]]; b++)
            if (expected[i][b] != c->memory[written[i]][b])
                fail_msg("%s function %u kind %u rows %llu: byte %llu of operand %zu is %02x, not %02x",
                         kernels, c->call.function, c->operands[1].kind, (unsigned long long)rows,
                         (unsigned long long)b, written[i], c->memory[written[i]][b], expected[i][b]);
        free(expected[i]);
    }
}

static void *dense(test_call *c, unsigned kind, uint64_t rows, uint64_t columns, bool odd)
{
    void *values = test_dense(c, kind, rows, columns);
    test_fill(values, kind, rows * columns, &state, odd);
    return values;
}

static uint64_t blocks_of(uint64_t rows, uint64_t block)
{
    return (rows + block - 1) / block;
}

static unsigned wide_of(unsigned kind, unsigned function)
{
    bool sign = kind == HAC_KIND_I32 || kind == HAC_KIND_I64;
    if (function == HAC_OP_COUNT)
        return HAC_KIND_U64;
    return kind == HAC_KIND_F32 || kind == HAC_KIND_F64 ? kind : sign ? HAC_KIND_I64 : HAC_KIND_U64;
}

static const uint8_t kinds[] = {HAC_KIND_F32, HAC_KIND_F64, HAC_KIND_I64, HAC_KIND_U64,
                                HAC_KIND_I32, HAC_KIND_U32, HAC_KIND_BOOL};

static void try_reductions(uint64_t rows)
{
    for (size_t k = 0; k < sizeof kinds; k++)
        for (unsigned f = HAC_OP_SUM; f <= HAC_OP_PRODUCTS; f++) {
            test_call c, whole;
            bool odd = kinds[k] == HAC_KIND_F32 || kinds[k] == HAC_KIND_F64;
            unsigned wide = wide_of(kinds[k], f);
            bool arg = f == HAC_OP_ARGMIN || f == HAC_OP_ARGMAX;
            uint64_t columns = arg ? 16 / hac_op_element_size(wide) : 1, n = blocks_of(rows, HAC_OP_BLOCK);
            if (!has(kinds[k]))
                continue;
            test_call_init(&c, f);
            test_dense(&c, wide, n, columns);
            dense(&c, kinds[k], rows, 1, odd);
            if (f == HAC_OP_PRODUCTS)
                dense(&c, kinds[k], rows, 1, odd);
            compare(&c, "op.reduce", rows, 2 * HAC_OP_BLOCK, 0);
            test_call_init(&whole, f);
            test_dense(&whole, arg ? HAC_KIND_U64 : wide, 1, arg ? 2 : 1);
            memcpy(test_dense(&whole, wide, n, columns), c.memory[0], c.bytes[0]);
            compare(&whole, "op.combine", 0, 0, 0);
            test_call_clear(&whole);
            test_call_clear(&c);
        }
}

static hac_value_id number(hac_program_builder *b, unsigned kind, double value)
{
    uint64_t bits = (uint64_t)(int64_t)value;
    float f = (float)value;
    if (kind == HAC_KIND_F64)
        memcpy(&bits, &value, 8);
    if (kind == HAC_KIND_F32) {
        bits = 0;
        memcpy(&bits, &f, 4);
    }
    return hac_program_builder_constant(b, hac_repr_of((hac_value_type){.kind = (uint8_t)kind}), bits, 0);
}

/* x1 + 3 x2 for floats, x1 for others; for filters x1 > 20, or x1 itself if it is bool. */
static void add_program(test_call *c, unsigned kind, bool filter)
{
    hac_program_builder *b = NULL;
    assert_int_equal(hac_program_builder_new(&b, NULL), HAC_OK);
    hac_value_type type = {.kind = (uint8_t)kind};
    hac_value_id x = hac_program_builder_input(b, 0, type), value = x;
    bool f32 = kind == HAC_KIND_F32, f64 = kind == HAC_KIND_F64;
    hac_repr repr = hac_repr_of(type);
    if (filter && kind != HAC_KIND_BOOL)
        value = hac_program_builder_op(b,
                                       f32                    ? HAC_OP_LT_F32
                                       : f64                  ? HAC_OP_LT_F64
                                       : repr == HAC_REPR_U64 ? HAC_OP_LT_U64
                                                              : HAC_OP_LT_I64,
                                       number(b, kind, 20), x, 0, 0);
    else if (!filter && (f32 || f64)) {
        hac_value_id y = hac_program_builder_input(b, 1, type);
        y = hac_program_builder_op(b, f32 ? HAC_OP_MUL_F32 : HAC_OP_MUL_F64, y, number(b, kind, 3), 0, 0);
        value = hac_program_builder_op(b, f32 ? HAC_OP_ADD_F32 : HAC_OP_ADD_F64, x, y, 0, 0);
    }
    test_program(c, b, value, filter ? HAC_KIND_BOOL : kind);
    hac_program_builder_free(b);
}

static void try_programs(uint64_t rows)
{
    for (size_t k = 0; k < sizeof kinds; k++) {
        test_call c, counts, copy;
        uint64_t n = blocks_of(rows, HAC_OP_BLOCK), kept = 0;
        if (!has(kinds[k]))
            continue;
        for (int one = 0; one < 2; one++) {
            test_call_init(&c, 0);
            test_dense(&c, kinds[k], rows, 3);
            dense(&c, kinds[k], rows, 3, true);
            dense(&c, kinds[k], one ? 1 : rows, one ? 1 : 3, true);
            add_program(&c, kinds[k], false);
            compare(&c, "op.map", rows, HAC_OP_BLOCK, 0);
            test_call_clear(&c);
        }
        test_call_init(&c, HAC_OP_SUM);
        test_dense(&c, wide_of(kinds[k], 0), n, 1);
        dense(&c, kinds[k], rows, 1, false);
        dense(&c, kinds[k], rows, 1, false);
        add_program(&c, kinds[k], false);
        compare(&c, "op.reduce", rows, HAC_OP_BLOCK, 0);
        test_call_clear(&c);
        test_call_init(&counts, 0);
        uint64_t *counted = test_dense(&counts, HAC_KIND_U64, n, 1);
        void *x = dense(&counts, kinds[k], rows, 1, false);
        add_program(&counts, kinds[k], true);
        compare(&counts, "op.filter_count", rows, HAC_OP_BLOCK, 0);
        for (uint64_t b = 0; b < n; b++)
            kept += counted[b];
        test_call_init(&copy, 0);
        test_dense(&copy, HAC_KIND_I32, kept, 3);
        dense(&copy, HAC_KIND_I32, rows, 3, true);
        memcpy(test_dense(&copy, HAC_KIND_U64, n, 1), counted, n * 8);
        memcpy(test_dense(&copy, kinds[k], rows, 1), x, counts.bytes[1]);
        add_program(&copy, kinds[k], true);
        compare(&copy, "op.filter_copy", rows, HAC_OP_BLOCK, 0);
        test_call_clear(&copy);
        test_call_clear(&counts);
    }
}

static void try_scans(uint64_t rows)
{
    for (size_t k = 0; k < sizeof kinds; k++)
        for (unsigned f = HAC_OP_SUM; f <= HAC_OP_MAX; f++) {
            test_call c;
            unsigned wide = wide_of(kinds[k], f);
            uint64_t n = blocks_of(rows, HAC_OP_BLOCK);
            if (!has(kinds[k]))
                continue;
            test_call_init(&c, f);
            test_dense(&c, wide, n, 1);
            dense(&c, kinds[k], rows, 1, false);
            compare(&c, "op.scan_sums", rows, HAC_OP_BLOCK, 0);
            test_call_clear(&c);
            test_call_init(&c, f);
            test_dense(&c, wide, rows, 1);
            dense(&c, kinds[k], rows, 1, false);
            dense(&c, wide, n, 1, false);
            c.call.flags = f == HAC_OP_SUM && rows % 2 ? HAC_OP_EXCLUSIVE : 0;
            compare(&c, "op.scan", rows, 2 * HAC_OP_BLOCK, 0);
            test_call_clear(&c);
        }
}

static void fill_sparse(test_call *c, size_t operand)
{
    const hac_op_operand *o = &c->operands[operand];
    uint64_t at = 0;
    for (uint64_t i = 0; i <= o->rows; i++) {
        test_offsets(c, operand)[i] = at;
        at += hac_random_u64(&state) % 7;
        at = at > o->entries ? o->entries : at;
    }
    for (uint64_t e = 0; e < o->entries; e++)
        test_indices(c, operand)[e] = (uint32_t)(hac_random_u64(&state) % o->columns);
    test_fill(test_values(c, operand), o->kind, o->entries, &state, false);
}

static void try_matrices(uint64_t rows)
{
    for (size_t k = 0; k < 4; k++) {
        test_call c;
        unsigned kind = kinds[k];
        uint64_t max = test_small_sizes() ? 20 : 200, few = rows < max ? rows : max, step = rows / 2 + 1;
        if (!has(kind))
            continue;
        test_call_init(&c, HAC_OP_ARGMIN + (unsigned)(rows % 2));
        test_dense(&c, HAC_KIND_U32, rows, 1);
        dense(&c, kind, rows, 5, true);
        compare(&c, "op.arg_rows", rows, HAC_OP_BLOCK, 0);
        test_call_clear(&c);
        for (unsigned f = HAC_OP_SUM; f <= HAC_OP_LARGEST; f++) {
            if (f == HAC_OP_ARGMIN || f == HAC_OP_ARGMAX)
                continue;
            test_call_init(&c, f);
            test_dense(&c, wide_of(kind, f), rows, 1);
            if (f % 2 == 0)
                dense(&c, kind, rows, 3, false);
            else {
                test_sparse(&c, kind, rows, 10, 3 * rows);
                fill_sparse(&c, 1);
            }
            compare(&c, "op.row_reduce", rows, HAC_OP_BLOCK, 0);
            if (f % 2 != 0 && kind == HAC_KIND_F64) {
                c.operands[1].ones = 1;
                compare(&c, "op.row_reduce", rows, HAC_OP_BLOCK, 0);
            }
            test_call_clear(&c);
        }
        if (kind == HAC_KIND_U64)
            continue;
        test_call_init(&c, 0);
        test_dense(&c, kind, rows, 1);
        test_sparse(&c, kind, rows, 33, 4 * rows);
        fill_sparse(&c, 1);
        dense(&c, kind, 33, 1, false);
        compare(&c, "op.spmv", rows, step, 0);
        if (kind == HAC_KIND_F64) {
            c.operands[1].ones = 1;
            compare(&c, "op.spmv", rows, step, 0);
        }
        test_call_clear(&c);
        test_call_init(&c, 0);
        test_dense(&c, kind, few, 1);
        dense(&c, kind, few, 131, false);
        dense(&c, kind, 131, 1, false);
        compare(&c, "op.gemv", few, 77, 0);
        test_call_clear(&c);
        test_call_init(&c, 0);
        test_dense(&c, kind, few, 70);
        dense(&c, kind, few, 131, false);
        dense(&c, kind, 131, 70, false);
        compare(&c, "op.gemm", few, 77, 0);
        test_call_clear(&c);
    }
}

/* Multiplies rows by powers of two so that squares, products and differences leave the range of floats. */
static void spread(void *values, unsigned kind, uint64_t rows, uint64_t columns)
{
    int limit = kind == HAC_KIND_F32 ? 120 : 1000;
    for (uint64_t i = 0; i < rows * columns; i++) {
        int e = i / columns % 3 == 0 ? -limit : i / columns % 3 == 1 ? limit : 0;
        if (kind == HAC_KIND_F32)
            ((float *)values)[i] = ldexpf(((float *)values)[i], e);
        else
            ((double *)values)[i] = ldexp(((double *)values)[i], e);
    }
}

static void try_distances(uint64_t rows, bool extreme)
{
    for (unsigned kind = HAC_KIND_F32; kind <= HAC_KIND_F64 && has(kind); kind++)
        for (unsigned f = HAC_OP_EUCLIDEAN; f <= HAC_OP_COSINE; f++) {
            test_call c;
            uint64_t some = rows < 5000 ? rows : 5000;
            test_call_init(&c, f);
            test_dense(&c, kind, some, 7);
            void *a = dense(&c, kind, some, 5, true), *b = dense(&c, kind, 7, 5, true);
            memset(a, 0, 5 * hac_op_element_size(kind));
            if (extreme) {
                spread(a, kind, some, 5);
                spread(b, kind, 7, 5);
            }
            compare(&c, "op.distance", some, 99, 0);
            test_call_clear(&c);
            test_call_init(&c, f);
            test_dense(&c, HAC_KIND_U32, some, 1);
            a = dense(&c, kind, some, 5, !extreme);
            b = dense(&c, kind, 7, 5, !extreme);
            test_dense(&c, kind, some, 1);
            if (extreme) {
                spread(a, kind, some, 5);
                spread(b, kind, 7, 5);
            }
            compare(&c, "op.nearest", some, HAC_OP_BLOCK, 3);
            test_call_clear(&c);
        }
}

static void try_tables(uint64_t rows)
{
    for (size_t k = 0; k < sizeof kinds; k++)
        for (unsigned f = HAC_OP_SUM; f <= HAC_OP_MAX; f++) {
            test_call c;
            bool floats = kinds[k] == HAC_KIND_F32 || kinds[k] == HAC_KIND_F64;
            unsigned wide = floats ? HAC_KIND_F64 : HAC_KIND_I64;
            uint64_t columns = k % 3, n = blocks_of(rows, HAC_OP_KEY_BLOCK), keys = 1 + rows % 97;
            if (!has(wide) || kinds[k] == HAC_KIND_U64)
                continue;
            test_call_init(&c, f);
            test_dense(&c, wide, n * keys, 1 + columns);
            uint32_t *key = test_dense(&c, HAC_KIND_U32, rows, 1);
            for (uint64_t i = 0; i < rows; i++)
                key[i] = (uint32_t)(hac_random_u64(&state) % keys);
            if (columns > 0)
                dense(&c, kinds[k], rows, columns, floats);
            c.call.n = keys;
            compare(&c, "op.keys", rows, 2 * HAC_OP_KEY_BLOCK, 0);
            test_call_clear(&c);
            test_call_init(&c, f);
            test_dense(&c, wide, keys, 1 + columns);
            dense(&c, wide, n * keys, 1 + columns, floats);
            compare(&c, "op.keys_combine", keys, HAC_OP_BLOCK, 0);
            test_call_clear(&c);
        }
    test_call h;
    if (!has(HAC_KIND_F64))
        return;
    test_call_init(&h, 0);
    test_dense(&h, HAC_KIND_U64, blocks_of(rows, HAC_OP_KEY_BLOCK) * 70, 1);
    dense(&h, HAC_KIND_F32, rows, 1, true);
    h.call.a = -100;
    h.call.b = 120;
    h.call.n = 70;
    compare(&h, "op.histogram", rows, 2 * HAC_OP_KEY_BLOCK, 0);
    test_call_clear(&h);
}

static void try_moves(uint64_t rows)
{
    static const uint8_t indices[] = {HAC_KIND_U32, HAC_KIND_U64, HAC_KIND_I32, HAC_KIND_I64};
    for (size_t k = 0; k < sizeof kinds; k++) {
        test_call c;
        uint64_t from = rows / 3 + 1, columns = 1 + k % 3, width = hac_op_element_size(indices[k % 4]);
        for (int scatters = 0; scatters < 2; scatters++) {
            test_call_init(&c, 0);
            test_dense(&c, kinds[k], scatters ? from : rows, columns);
            dense(&c, kinds[k], scatters ? rows : from, columns, true);
            uint8_t *index = test_dense(&c, indices[k % 4], rows, 1);
            for (uint64_t i = 0; i < rows; i++)
                memcpy(index + i * width, &(uint64_t){hac_random_u64(&state) % from}, width);
            if (scatters)
                compare(&c, "op.scatter", 0, 0, 0);
            else
                compare(&c, "op.gather", rows, HAC_OP_BLOCK, 0);
            memset(index, 0xff, width);
            assert_int_equal(test_run(&c, device, scatters ? "op.scatter.cl" : "op.gather.cl", 0, 0),
                             HAC_INVALID);
            test_call_clear(&c);
        }
    }
}

static void try_all(hac_device_options options)
{
    bool limited = options.copy_memory || options.max_allocation != 0;
    device = test_open_device(options);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        if (!is_tried(sizes[s], limited))
            continue;
        try_reductions(sizes[s]);
        try_programs(sizes[s]);
        try_scans(sizes[s]);
        try_matrices(sizes[s]);
        try_distances(sizes[s], false);
        try_distances(sizes[s], true);
        try_tables(sizes[s]);
        try_moves(sizes[s]);
    }
    hac_device_close(device);
}

static void test_block(void **unused)
{
    (void)unused;
    try_all((hac_device_options){.style = HAC_STYLE_CHOICE_BLOCK});
}

static void test_simt(void **unused)
{
    (void)unused;
    try_all((hac_device_options){.style = HAC_STYLE_CHOICE_SIMT});
}

static void test_copied(void **unused)
{
    (void)unused;
    if (test_small_sizes())
        skip();
    try_all((hac_device_options){.style = HAC_STYLE_CHOICE_SIMT, .copy_memory = true});
}

/* Windows so small that everything takes several launches. */
static void test_short_loops(void **unused)
{
    (void)unused;
    if (test_small_sizes())
        skip();
    try_all((hac_device_options){
        .style = HAC_STYLE_CHOICE_SIMT, .max_loop_iterations = 20000, .max_allocation = UINT64_C(4) << 20});
}

/* Memory that was changed after the check: the kernels report it and touch nothing outside. */
static void test_hostile_memory(void **unused)
{
    (void)unused;
    for (unsigned style = HAC_STYLE_CHOICE_BLOCK; style <= HAC_STYLE_CHOICE_SIMT; style++) {
        test_call c;
        device = test_open_device((hac_device_options){.style = style});
        test_call_init(&c, 0);
        test_dense(&c, HAC_KIND_F32, 100, 1);
        test_sparse(&c, HAC_KIND_F32, 100, 33, 400);
        fill_sparse(&c, 1);
        dense(&c, HAC_KIND_F32, 33, 1, false);
        uint64_t keep = test_offsets(&c, 1)[50];
        static const uint64_t wrong[] = {UINT64_MAX, 401, UINT64_C(1) << 63};
        for (size_t i = 0; i < 3; i++) {
            test_offsets(&c, 1)[50] = wrong[i];
            assert_int_equal(test_run(&c, device, "op.spmv.cl", 0, 0), HAC_INVALID);
            assert_non_null(strstr(c.err.message, "operand 1: row 49: its offsets"));
        }
        test_offsets(&c, 1)[50] = keep;
        for (size_t e = 0; e < 400; e++)
            test_indices(&c, 1)[e] = 33;
        assert_int_equal(test_run(&c, device, "op.spmv.cl", 0, 0), HAC_INVALID);
        assert_true(test_guard_is_whole(c.memory[0], c.bytes[0]));
        test_call_clear(&c);
        test_call_init(&c, 0);
        int64_t *y = test_dense(&c, HAC_KIND_I64, 3, 4), *keys = NULL;
        keys = test_dense(&c, HAC_KIND_I64, 200, 1);
        dense(&c, HAC_KIND_I32, 200, 3, false);
        memset(keys, 0, 200 * 8);
        keys[77] = keys[99] = -1;
        c.call.n = 3;
        assert_int_equal(test_run(&c, device, "op.keys.cl", 0, 0), HAC_INVALID);
        assert_non_null(strstr(c.err.message, "operand 1: row 77: "));
        assert_true(test_guard_is_whole((uint8_t *)y, c.bytes[0]));
        test_call_clear(&c);
        hac_device_close(device);
    }
}

static void test_overflow_is_told(void **unused)
{
    (void)unused;
    for (unsigned style = HAC_STYLE_CHOICE_BLOCK; style <= HAC_STYLE_CHOICE_SIMT; style++) {
        test_call c;
        device = test_open_device((hac_device_options){.style = style});
        test_call_init(&c, HAC_OP_SUM);
        test_dense(&c, HAC_KIND_I64, 3, 1);
        int64_t *x = test_dense(&c, HAC_KIND_I64, 9000, 1);
        memset(x, 0, 9000 * 8);
        x[5000] = x[5100] = INT64_MAX;
        assert_int_equal(test_run(&c, device, "op.reduce.cl", 0, 0), HAC_FAILED);
        assert_non_null(strstr(c.err.message, "row 4096"));
        test_call_clear(&c);
        test_call_init(&c, 0);
        test_dense(&c, HAC_KIND_I64, 9000, 1);
        x = test_dense(&c, HAC_KIND_I64, 9000, 1);
        memset(x, 0, 9000 * 8);
        x[7000] = x[8000] = INT64_MAX;
        hac_program_builder *b = NULL;
        assert_int_equal(hac_program_builder_new(&b, NULL), HAC_OK);
        hac_value_id in = hac_program_builder_input(b, 0, (hac_value_type){.kind = HAC_KIND_I64});
        test_program(&c, b, hac_program_builder_op(b, HAC_OP_ADD_I64, in, in, 0, 0), HAC_KIND_I64);
        hac_program_builder_free(b);
        assert_int_equal(test_run(&c, device, "op.map.cl", 0, 0), HAC_FAILED);
        assert_non_null(strstr(c.err.message, "row 7000: "));
        test_call_clear(&c);
        hac_device_close(device);
    }
}

static void known_answers(hac_style_choice style)
{
    hac_error err = HAC_ERROR_NONE;
    device = test_open_device((hac_device_options){.style = style});
    for (int type = HAC_TYPE_NONE + 1; type < HAC_TYPE_COUNT; type++) {
        if (hac_op_expr_known(device, (hac_type)type, &err) != HAC_OK ||
            hac_op_move_known(device, (hac_type)type, &err) != HAC_OK)
            fail_msg("%s", err.message);
        if (hac_op_number_program(hac_device_get_facts(device), (hac_type)type) != NULL &&
            hac_op_number_known(device, (hac_type)type, &err) != HAC_OK)
            fail_msg("%s", err.message);
    }
    hac_device_close(device);
}

static void test_known_answers(void **unused)
{
    (void)unused;
    if (test_small_sizes())
        skip();
    known_answers(HAC_STYLE_CHOICE_SIMT);
    known_answers(HAC_STYLE_CHOICE_BLOCK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_block),          cmocka_unit_test(test_simt),
        cmocka_unit_test(test_copied),         cmocka_unit_test(test_short_loops),
        cmocka_unit_test(test_hostile_memory), cmocka_unit_test(test_overflow_is_told),
        cmocka_unit_test(test_known_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
