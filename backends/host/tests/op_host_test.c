/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sub-operators in C against oracles that are as simple as possible, for sizes around lanes and blocks.
 * Divided at multiples of the grain, they give the same bytes.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "test_ops.h"

#define BLOCK HAC_OP_BLOCK
#define LANES HAC_OP_LANES

static uint64_t state = 88172645463325252u;

static const uint64_t sizes[] = {0,    1,    2,    63,   64,   65,    127,   1000,  1023,  1024,
                                 1025, 4095, 4096, 4097, 8192, 12289, 65535, 65536, 65537, 150001};
#define N_SIZES (sizeof sizes / sizeof *sizes)

static const uint8_t numbers[] = {HAC_KIND_F64, HAC_KIND_F32, HAC_KIND_I64, HAC_KIND_U64,
                                  HAC_KIND_I32, HAC_KIND_U32, HAC_KIND_BOOL};

static uint64_t blocks_of(uint64_t rows)
{
    return (rows + BLOCK - 1) / BLOCK;
}

static uint64_t bits_of(double d)
{
    uint64_t bits;
    d = d != d ? (double)NAN : d;
    memcpy(&bits, &d, 8);
    return bits;
}

static double as_double(const void *values, unsigned kind, uint64_t i)
{
    const uint8_t *v = values;
    switch (kind) {
    case HAC_KIND_F64:
        return ((const double *)values)[i];
    case HAC_KIND_F32:
        return (double)((const float *)values)[i];
    default:
        return v[i];
    }
}

static int64_t as_integer(const void *values, unsigned kind, uint64_t i)
{
    switch (kind) {
    case HAC_KIND_I64:
    case HAC_KIND_U64:
        return ((const int64_t *)values)[i];
    case HAC_KIND_I32:
        return ((const int32_t *)values)[i];
    case HAC_KIND_U32:
        return ((const uint32_t *)values)[i];
    default:
        return ((const uint8_t *)values)[i];
    }
}

static bool is_float(unsigned kind)
{
    return kind == HAC_KIND_F32 || kind == HAC_KIND_F64;
}

/* ---- reductions ---- */

/* NaN is above all. */
static bool below(double a, double b)
{
    return isnan(b) ? !isnan(a) : a < b;
}

static double term(unsigned function, double x, double y)
{
    return function == HAC_OP_SQUARES    ? x * x
           : function == HAC_OP_PRODUCTS ? x * y
           : function == HAC_OP_SUM      ? x
           : function == HAC_OP_MIN      ? x
           : function == HAC_OP_MAX      ? x
                                         : fabs(x);
}

/* As op_layout.h says: f32 sums are rounded at each step. */
static double block_of(unsigned function, const double *x, const double *y, uint64_t n, bool narrow)
{
    double lane[LANES];
    bool best = function == HAC_OP_MIN || function == HAC_OP_MAX || function == HAC_OP_LARGEST;
    for (uint64_t l = 0; l < LANES; l++) {
        lane[l] = function == HAC_OP_MIN ? (double)NAN : function == HAC_OP_MAX ? (double)-INFINITY : 0.0;
        for (uint64_t i = l; i < n; i += LANES) {
            double t = term(function, x[i], y == NULL ? 0 : y[i]);
            t = narrow ? (double)(float)t : t;
            if (!best)
                lane[l] = narrow ? (double)((float)lane[l] + (float)t) : lane[l] + t;
            else if (function == HAC_OP_MIN ? below(t, lane[l]) : below(lane[l], t))
                lane[l] = t;
        }
    }
    for (uint64_t s = LANES / 2; s > 0; s /= 2)
        for (uint64_t l = 0; l < s; l++)
            if (!best)
                lane[l] = narrow ? (double)((float)lane[l] + (float)lane[l + s]) : lane[l] + lane[l + s];
            else if (function == HAC_OP_MIN ? below(lane[l + s], lane[l]) : below(lane[l], lane[l + s]))
                lane[l] = lane[l + s];
    return lane[0];
}

static void expect_float(const void *got, unsigned kind, uint64_t i, double expected)
{
    double value = as_double(got, kind, i);
    uint64_t bits;
    if (kind == HAC_KIND_F64)
        memcpy(&bits, (const double *)got + i, 8); /* also the bits of a NaN */
    else
        bits = bits_of(value);
    if (bits != bits_of(expected))
        fail_msg("element %llu: %a, not %a", (unsigned long long)i, value, expected);
}

static void try_float_reduce(unsigned function, unsigned kind, unsigned wide, uint64_t rows, bool odd)
{
    test_call c, combine;
    test_call_init(&c, function);
    void *partials = test_dense(&c, wide, blocks_of(rows), 1), *x = test_dense(&c, kind, rows, 1);
    void *y = function == HAC_OP_PRODUCTS ? test_dense(&c, kind, rows, 1) : NULL;
    test_fill(x, kind, rows, &state, odd);
    if (y != NULL)
        test_fill(y, kind, rows, &state, odd);
    test_run_well(&c, NULL, "op.reduce", rows, UINT64_MAX);
    double *a = calloc(rows + 1, 8), *b = calloc(rows + 1, 8), *p = calloc(blocks_of(rows) + 1, 8);
    for (uint64_t i = 0; i < rows; i++) {
        a[i] = as_double(x, kind, i);
        b[i] = y == NULL ? 0 : as_double(y, kind, i);
    }
    for (uint64_t at = 0; at < rows; at += BLOCK) {
        p[at / BLOCK] =
            block_of(function, a + at, b + at, rows - at < BLOCK ? rows - at : BLOCK, wide == HAC_KIND_F32);
        expect_float(partials, wide, at / BLOCK, p[at / BLOCK]);
    }
    test_call_init(&combine, function);
    void *value = test_dense(&combine, wide, 1, 1), *again = test_dense(&combine, wide, blocks_of(rows), 1);
    memcpy(again, partials, c.bytes[0]);
    hac_status status = test_run(&combine, NULL, "op.combine", 0, 0);
    if (rows == 0 && (function == HAC_OP_MIN || function == HAC_OP_MAX)) {
        assert_int_equal(status, HAC_FAILED);
    } else {
        assert_int_equal(status, HAC_OK);
        unsigned with = function == HAC_OP_MIN || function == HAC_OP_MAX ? function
                        : function == HAC_OP_LARGEST                     ? HAC_OP_MAX
                                                                         : HAC_OP_SUM;
        uint64_t n = blocks_of(rows);
        expect_float(value, wide, 0, n <= 1 ? p[0] : block_of(with, p, NULL, n, wide == HAC_KIND_F32));
    }
    free(a);
    free(b);
    free(p);
    test_call_clear(&combine);
    test_call_clear(&c);
}

static void test_reduce_floats(void **unused)
{
    static const uint8_t functions[] = {HAC_OP_SUM, HAC_OP_SQUARES, HAC_OP_MAGNITUDE, HAC_OP_MIN,
                                        HAC_OP_MAX, HAC_OP_LARGEST, HAC_OP_PRODUCTS};
    (void)unused;
    for (size_t s = 0; s < N_SIZES; s++)
        for (size_t f = 0; f < sizeof functions; f++)
            for (int odd = 0; odd < 2; odd++) {
                try_float_reduce(functions[f], HAC_KIND_F64, HAC_KIND_F64, sizes[s], odd);
                try_float_reduce(functions[f], HAC_KIND_F32, HAC_KIND_F32, sizes[s], odd);
                try_float_reduce(functions[f], HAC_KIND_F32, HAC_KIND_F64, sizes[s], odd);
            }
}

static __int128 integer_of(unsigned function, unsigned kind, const void *x, uint64_t first, uint64_t n)
{
    bool sign = kind == HAC_KIND_I32 || kind == HAC_KIND_I64;
    __int128 result = 0;
    for (uint64_t i = first; i < first + n; i++) {
        int64_t raw = as_integer(x, kind, i);
        __int128 v = sign ? raw : (__int128)(uint64_t)raw, size = v < 0 ? -v : v;
        if (function == HAC_OP_COUNT)
            result += kind == HAC_KIND_BOOL ? v : 1;
        else if (function == HAC_OP_SUM)
            result += v;
        else if (function == HAC_OP_SQUARES || function == HAC_OP_PRODUCTS)
            result += v * v;
        else if (function == HAC_OP_MAGNITUDE)
            result += size;
        else if (function == HAC_OP_LARGEST)
            result = size > result ? size : result;
        else if (i == first || (function == HAC_OP_MIN ? v < result : v > result))
            result = v;
    }
    return result;
}

static void test_reduce_integers(void **unused)
{
    static const uint8_t functions[] = {HAC_OP_SUM, HAC_OP_SQUARES, HAC_OP_MAGNITUDE, HAC_OP_MIN,
                                        HAC_OP_MAX, HAC_OP_LARGEST, HAC_OP_PRODUCTS,  HAC_OP_COUNT};
    (void)unused;
    for (size_t s = 0; s < N_SIZES; s++)
        for (size_t f = 0; f < sizeof functions; f++)
            for (size_t k = 2; k < sizeof numbers; k++) {
                test_call c;
                unsigned kind = numbers[k], function = functions[f];
                bool sign = kind == HAC_KIND_I32 || kind == HAC_KIND_I64;
                unsigned wide = sign && function != HAC_OP_COUNT ? HAC_KIND_I64 : HAC_KIND_U64;
                test_call_init(&c, function);
                int64_t *p = test_dense(&c, wide, blocks_of(sizes[s]), 1);
                void *x = test_dense(&c, kind, sizes[s], 1);
                test_fill(x, kind, sizes[s], &state, false);
                if (function == HAC_OP_PRODUCTS)
                    memcpy(test_dense(&c, kind, sizes[s], 1), x, c.bytes[1]);
                test_run_well(&c, NULL, "op.reduce", sizes[s], 2 * BLOCK);
                for (uint64_t at = 0; at < sizes[s]; at += BLOCK)
                    assert_true(p[at / BLOCK] ==
                                (int64_t)integer_of(function, kind, x, at,
                                                    sizes[s] - at < BLOCK ? sizes[s] - at : BLOCK));
                test_call_clear(&c);
            }
}

static void test_integers_overflow(void **unused)
{
    static const struct {
        uint8_t function, kind;
        uint64_t value;
    } cases[] = {
        {HAC_OP_SUM, HAC_KIND_I64, INT64_MAX},
        {HAC_OP_SUM, HAC_KIND_I64, (uint64_t)INT64_MIN},
        {HAC_OP_SUM, HAC_KIND_U64, UINT64_MAX},
        {HAC_OP_SQUARES, HAC_KIND_I64, UINT64_C(1) << 40},
        {HAC_OP_SQUARES, HAC_KIND_U64, UINT64_MAX},
        {HAC_OP_MAGNITUDE, HAC_KIND_I64, (uint64_t)INT64_MIN},
        {HAC_OP_LARGEST, HAC_KIND_I64, (uint64_t)INT64_MIN},
        {HAC_OP_PRODUCTS, HAC_KIND_I64, INT64_MAX},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_call c;
        test_call_init(&c, cases[i].function);
        test_dense(&c, cases[i].kind, 3, 1);
        for (int operand = 0; operand < 1 + (cases[i].function == HAC_OP_PRODUCTS); operand++) {
            uint64_t *x = test_dense(&c, cases[i].kind, 3 * BLOCK, 1);
            memset(x, 0, 3 * BLOCK * 8);
            x[2 * BLOCK + 5] = x[2 * BLOCK + 9] = cases[i].value;
        }
        c.operands[1].first = c.operands[2].first = 10 * BLOCK;
        assert_int_equal(test_run(&c, NULL, "op.reduce", 0, 2 * BLOCK), HAC_OK);
        assert_int_equal(test_run(&c, NULL, "op.reduce", 2 * BLOCK, BLOCK), HAC_FAILED);
        assert_non_null(strstr(c.err.message, "row 49152"));
        test_call_clear(&c);
    }
}

static void try_arg(unsigned function, unsigned kind, uint64_t rows, bool odd)
{
    test_call c, combine;
    unsigned wide = kind == HAC_KIND_I32 ? HAC_KIND_I64 : kind;
    uint64_t size = hac_op_element_size(wide), best = 0;
    test_call_init(&c, function);
    uint64_t *p = test_dense(&c, wide, blocks_of(rows), 16 / size);
    void *x = test_dense(&c, kind, rows, 1);
    test_fill(x, kind, rows, &state, odd);
    c.operands[1].first = 3 * BLOCK;
    test_run_well(&c, NULL, "op.reduce", rows, BLOCK);
    for (uint64_t i = 1; i < rows; i++) {
        bool less = is_float(kind) ? below(as_double(x, kind, i), as_double(x, kind, best))
                                   : as_integer(x, kind, i) < as_integer(x, kind, best);
        bool more = is_float(kind) ? below(as_double(x, kind, best), as_double(x, kind, i))
                                   : as_integer(x, kind, i) > as_integer(x, kind, best);
        if (function == HAC_OP_ARGMIN ? less : more)
            best = i;
    }
    test_call_init(&combine, function);
    uint64_t *ret = test_dense(&combine, HAC_KIND_U64, 1, 2);
    memcpy(test_dense(&combine, wide, blocks_of(rows), 16 / size), p, c.bytes[0]);
    assert_int_equal(test_run(&combine, NULL, "op.combine", 0, 0), HAC_OK);
    if (ret[0] != 3 * BLOCK + best)
        fail_msg("function %u kind %u rows %llu: %llu, not %llu", function, kind, (unsigned long long)rows,
                 (unsigned long long)ret[0] - 3 * BLOCK, (unsigned long long)best);
    test_call_clear(&combine);
    test_call_clear(&c);
}

static void test_arg(void **unused)
{
    (void)unused;
    for (size_t s = 1; s < N_SIZES; s++)
        for (int odd = 0; odd < 2; odd++)
            for (size_t k = 0; k < 5; k++) {
                if (numbers[k] == HAC_KIND_U64)
                    continue; /* the oracle compares as i64 */
                try_arg(HAC_OP_ARGMIN, numbers[k], sizes[s], odd);
                try_arg(HAC_OP_ARGMAX, numbers[k], sizes[s], odd);
            }
}

/* All are NaN: the first one is the minimum and the maximum. */
static void test_arg_of_nans(void **unused)
{
    (void)unused;
    for (unsigned function = HAC_OP_ARGMIN; function <= HAC_OP_ARGMAX; function++) {
        test_call c;
        test_call_init(&c, function);
        uint64_t *p = test_dense(&c, HAC_KIND_F64, 1, 2);
        double *x = test_dense(&c, HAC_KIND_F64, 200, 1);
        for (int i = 0; i < 200; i++)
            x[i] = (double)NAN;
        test_run_well(&c, NULL, "op.reduce", 200, BLOCK);
        assert_int_equal(p[1], 0);
        x[130] = x[129] = 5;
        test_run_well(&c, NULL, "op.reduce", 200, BLOCK);
        assert_int_equal(p[1], function == HAC_OP_ARGMIN ? 129 : 0);
        test_call_clear(&c);
    }
}

/* ---- programs ---- */

static hac_program_builder *new_builder(void)
{
    hac_program_builder *b = NULL;
    assert_int_equal(hac_program_builder_new(&b, NULL), HAC_OK);
    return b;
}

static hac_value_id constant(hac_program_builder *b, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, 8);
    return hac_program_builder_constant(b, HAC_REPR_F64, bits, 0);
}

/* y = 3 x1 + x2, where x2 is a vector or one value. */
static void try_map_floats(uint64_t rows, uint64_t columns, bool one, uint64_t step)
{
    test_call c;
    test_call_init(&c, 0);
    double *y = test_dense(&c, HAC_KIND_F64, rows, columns);
    double *x = test_dense(&c, HAC_KIND_F64, rows, columns);
    double *z = test_dense(&c, HAC_KIND_F64, one ? 1 : rows, one ? 1 : columns);
    hac_program_builder *b = new_builder();
    hac_value_id in[2];
    for (size_t i = 0; i < 2; i++)
        in[i] = hac_program_builder_input(b, i, (hac_value_type){.kind = HAC_KIND_F64});
    hac_value_id scaled = hac_program_builder_op(b, HAC_OP_MUL_F64, in[0], constant(b, 3), 0, 0);
    test_program(&c, b, hac_program_builder_op(b, HAC_OP_ADD_F64, scaled, in[1], 0, 0), HAC_KIND_F64);
    hac_program_builder_free(b);
    test_fill(x, HAC_KIND_F64, rows * columns, &state, true);
    test_fill(z, HAC_KIND_F64, one ? 1 : rows * columns, &state, true);
    test_run_well(&c, NULL, "op.map", rows, step);
    for (uint64_t i = 0; i < rows * columns; i++)
        expect_float(y, HAC_KIND_F64, i, x[i] * 3 + z[one ? 0 : i]);
    test_call_clear(&c);
}

static void test_map_floats(void **unused)
{
    (void)unused;
    for (size_t s = 0; s < N_SIZES; s++)
        for (int one = 0; one < 2; one++) {
            try_map_floats(sizes[s], 1, one, BLOCK);
            try_map_floats(sizes[s], 1, one, UINT64_MAX);
        }
    try_map_floats(5000, 3, false, BLOCK);
    try_map_floats(4097, 17, true, UINT64_MAX);
}

/* Each type of number through its representation and back. */
static void test_map_kinds(void **unused)
{
    (void)unused;
    for (size_t s = 0; s < 14; s++)
        for (size_t k = 0; k < sizeof numbers; k++) {
            test_call c;
            test_call_init(&c, 0);
            void *y = test_dense(&c, numbers[k], sizes[s], 1), *x = test_dense(&c, numbers[k], sizes[s], 1);
            hac_program_builder *b = new_builder();
            test_program(&c, b, hac_program_builder_input(b, 0, (hac_value_type){.kind = numbers[k]}),
                         numbers[k]);
            hac_program_builder_free(b);
            test_fill(x, numbers[k], sizes[s], &state, false);
            test_run_well(&c, NULL, "op.map", sizes[s], BLOCK);
            assert_true(sizes[s] == 0 || memcmp(x, y, c.bytes[0]) == 0);
            test_call_clear(&c);
        }
}

static void test_map_names_the_row(void **unused)
{
    test_call c;
    (void)unused;
    test_call_init(&c, 0);
    test_dense(&c, HAC_KIND_I64, 9000, 1);
    int64_t *x = test_dense(&c, HAC_KIND_I64, 9000, 1);
    memset(x, 0, 9000 * 8);
    hac_program_builder *b = new_builder();
    hac_value_id in = hac_program_builder_input(b, 0, (hac_value_type){.kind = HAC_KIND_I64});
    test_program(&c, b, hac_program_builder_op(b, HAC_OP_ADD_I64, in, in, 0, 0), HAC_KIND_I64);
    hac_program_builder_free(b);
    c.operands[0].first = c.operands[1].first = BLOCK;
    assert_int_equal(test_run(&c, NULL, "op.map", 0, 9000), HAC_OK);
    x[8500] = x[8600] = INT64_MAX;
    assert_int_equal(test_run(&c, NULL, "op.map", 0, 9000), HAC_FAILED);
    assert_non_null(strstr(c.err.message, "op.map: row 12596: "));
    test_call_clear(&c);
}

static hac_value_id above(hac_program_builder *b, size_t input, double limit)
{
    hac_value_id x = hac_program_builder_input(b, input, (hac_value_type){.kind = HAC_KIND_F64});
    return hac_program_builder_op(b, HAC_OP_LT_F64, constant(b, limit), x, 0, 0);
}

static void test_reduce_of_a_program(void **unused)
{
    (void)unused;
    for (size_t s = 0; s < N_SIZES; s++) {
        test_call c, counted;
        uint64_t rows = sizes[s];
        test_call_init(&c, HAC_OP_SUM);
        double *p = test_dense(&c, HAC_KIND_F64, blocks_of(rows), 1), *y = calloc(rows + 1, 8);
        double *x = test_dense(&c, HAC_KIND_F64, rows, 1);
        hac_program_builder *b = new_builder();
        hac_value_id in = hac_program_builder_input(b, 0, (hac_value_type){.kind = HAC_KIND_F64});
        test_program(&c, b, hac_program_builder_op(b, HAC_OP_SUB_F64, in, constant(b, 7), 0, 0),
                     HAC_KIND_F64);
        test_fill(x, HAC_KIND_F64, rows, &state, true);
        test_run_well(&c, NULL, "op.reduce", rows, BLOCK);
        for (uint64_t i = 0; i < rows; i++)
            y[i] = x[i] - 7;
        for (uint64_t at = 0; at < rows; at += BLOCK)
            expect_float(p, HAC_KIND_F64, at / BLOCK,
                         block_of(HAC_OP_SUM, y + at, NULL, rows - at < BLOCK ? rows - at : BLOCK, false));
        test_call_init(&counted, HAC_OP_COUNT);
        uint64_t *n = test_dense(&counted, HAC_KIND_U64, blocks_of(rows), 1), expected = 0, got = 0;
        memcpy(test_dense(&counted, HAC_KIND_F64, rows, 1), x, rows * 8);
        test_program(&counted, b, above(b, 0, 20), HAC_KIND_BOOL);
        hac_program_builder_free(b);
        test_run_well(&counted, NULL, "op.reduce", rows, UINT64_MAX);
        for (uint64_t i = 0; i < rows; i++)
            expected += x[i] > 20 || isnan(x[i]);
        for (uint64_t i = 0; i < blocks_of(rows); i++)
            got += n[i];
        assert_int_equal(got, expected);
        free(y);
        test_call_clear(&c);
        test_call_clear(&counted);
    }
}

static void try_filter(unsigned kind, uint64_t rows, uint64_t columns, uint64_t step)
{
    test_call count, copy;
    uint64_t size = hac_op_element_size(kind) * columns, n = 0, capacity = 0;
    test_call_init(&count, 0);
    uint64_t *counts = test_dense(&count, HAC_KIND_U64, blocks_of(rows), 1);
    double *x = test_dense(&count, HAC_KIND_F64, rows, 1);
    hac_program_builder *b = new_builder();
    test_program(&count, b, above(b, 0, 10), HAC_KIND_BOOL);
    test_fill(x, HAC_KIND_F64, rows, &state, false);
    test_run_well(&count, NULL, "op.filter_count", rows, step);
    for (uint64_t i = 0; i < blocks_of(rows); i++)
        capacity += counts[i];
    test_call_init(&copy, 0);
    uint8_t *y = test_dense(&copy, kind, capacity, columns), *from = test_dense(&copy, kind, rows, columns);
    test_fill(from, kind, rows * columns, &state, true);
    memcpy(test_dense(&copy, HAC_KIND_U64, blocks_of(rows), 1), counts, count.bytes[0]);
    memcpy(test_dense(&copy, HAC_KIND_F64, rows, 1), x, rows * 8);
    test_program(&copy, b, above(b, 0, 10), HAC_KIND_BOOL);
    hac_program_builder_free(b);
    test_run_well(&copy, NULL, "op.filter_copy", rows, step);
    for (uint64_t i = 0; i < rows; i++)
        if (x[i] > 10)
            assert_memory_equal(y + size * n++, from + size * i, size);
    assert_int_equal(n, capacity);
    if (step == UINT64_MAX)
        assert_int_equal(copy.result.values[0], capacity);
    if (rows > 1000) {
        copy.operands[0].rows--;
        assert_int_equal(test_run(&copy, NULL, "op.filter_copy", 0, rows), HAC_OK);
        /* not enough space: the call fails, and nothing is written */
        assert_int_equal(copy.result.values[0], capacity);
        copy.operands[0].rows++;
        ((uint64_t *)test_values(&copy, 2))[0]--;
        assert_int_equal(test_run(&copy, NULL, "op.filter_copy", 0, rows), HAC_INVALID);
        ((uint64_t *)test_values(&copy, 2))[0] = UINT64_MAX;
        assert_int_equal(test_run(&copy, NULL, "op.filter_copy", 0, rows), HAC_INVALID);
    }
    test_call_clear(&count);
    test_call_clear(&copy);
}

static void test_filters(void **unused)
{
    (void)unused;
    for (size_t s = 0; s < N_SIZES; s++) {
        try_filter(HAC_KIND_F64, sizes[s], 1, UINT64_MAX);
        try_filter(HAC_KIND_I32, sizes[s], 1, BLOCK);
        try_filter(HAC_KIND_BOOL, sizes[s], 3, 2 * BLOCK);
    }
}

/* ---- scans ---- */

static void try_scan(unsigned function, unsigned kind, uint64_t rows, bool exclusive)
{
    test_call sums, scan;
    bool narrow = kind == HAC_KIND_F32;
    test_call_init(&sums, function);
    void *p = test_dense(&sums, kind, blocks_of(rows), 1), *x = test_dense(&sums, kind, rows, 1);
    test_fill(x, kind, rows, &state, function != HAC_OP_SUM);
    sums.call.flags = exclusive ? HAC_OP_EXCLUSIVE : 0;
    test_run_well(&sums, NULL, "op.scan_sums", rows, BLOCK);
    test_call_init(&scan, function);
    void *y = test_dense(&scan, kind, rows, 1);
    memcpy(test_dense(&scan, kind, rows, 1), x, sums.bytes[1]);
    memcpy(test_dense(&scan, kind, blocks_of(rows), 1), p, sums.bytes[0]);
    scan.call.flags = sums.call.flags;
    test_run_well(&scan, NULL, "op.scan", rows, 2 * BLOCK);
#define ROUND(v) (narrow ? (double)(float)(v) : (v))
    double carry = 0, block = 0, run = 0, best = function == HAC_OP_MIN ? (double)NAN : -(double)INFINITY;
    for (uint64_t i = 0; i < rows; i++) {
        double v = as_double(x, kind, i);
        if (i % BLOCK == 0 && i != 0) {
            carry = ROUND(carry + ROUND(block + run));
            block = run = 0;
        } else if (i % LANES == 0 && i != 0) {
            block = ROUND(block + run);
            run = 0;
        }
        double before = ROUND(carry + ROUND(block + run));
        run = ROUND(run + v);
        if (function == HAC_OP_MIN ? below(v, best) : below(best, v))
            best = v;
        if (function != HAC_OP_SUM)
            expect_float(y, kind, i, best);
        else
            expect_float(y, kind, i, exclusive ? before : ROUND(carry + ROUND(block + run)));
    }
    test_call_clear(&sums);
    test_call_clear(&scan);
}

static void test_scans(void **unused)
{
    (void)unused;
    for (size_t s = 0; s < N_SIZES; s++)
        for (unsigned kind = HAC_KIND_F32; kind <= HAC_KIND_F64; kind++) {
            try_scan(HAC_OP_SUM, kind, sizes[s], false);
            try_scan(HAC_OP_SUM, kind, sizes[s], true);
            try_scan(HAC_OP_MIN, kind, sizes[s], false);
            try_scan(HAC_OP_MAX, kind, sizes[s], false);
        }
}

static void test_integer_scan(void **unused)
{
    test_call c;
    (void)unused;
    test_call_init(&c, HAC_OP_SUM);
    int64_t *y = test_dense(&c, HAC_KIND_I64, 10000, 1), sum = 0;
    int32_t *x = test_dense(&c, HAC_KIND_I32, 10000, 1);
    int64_t *p = test_dense(&c, HAC_KIND_I64, 3, 1);
    test_fill(x, HAC_KIND_I32, 10000, &state, false);
    memset(p, 0, 24);
    for (int i = 0; i < 8192; i++)
        p[i / 4096] += x[i];
    test_run_well(&c, NULL, "op.scan", 10000, BLOCK);
    for (int i = 0; i < 10000; i++)
        assert_int_equal(y[i], sum += x[i]);
    p[0] = INT64_MAX;
    x[4096] = 1;
    assert_int_equal(test_run(&c, NULL, "op.scan", 4096, 4096), HAC_FAILED);
    test_call_clear(&c);
}

/* ---- moving rows ---- */

static void test_gather_and_scatter(void **unused)
{
    static const uint8_t indices[] = {HAC_KIND_U32, HAC_KIND_U64, HAC_KIND_I32, HAC_KIND_I64};
    (void)unused;
    for (size_t s = 0; s < N_SIZES; s++)
        for (size_t k = 0; k < 4; k++) {
            test_call g, t;
            uint64_t rows = sizes[s], columns = 1 + s % 3, from = rows / 2 + 1, size = 8 * columns;
            test_call_init(&g, 0);
            uint8_t *y = test_dense(&g, HAC_KIND_F64, rows, columns);
            uint8_t *x = test_dense(&g, HAC_KIND_F64, from, columns), *expected = calloc(from, size);
            uint8_t *index = test_dense(&g, indices[k], rows, 1);
            uint64_t width = hac_op_element_size(indices[k]);
            test_fill(x, HAC_KIND_F64, from * columns, &state, true);
            for (uint64_t i = 0; i < rows; i++)
                memcpy(index + i * width, &(uint64_t){hac_random_u64(&state) % from}, width);
            test_run_well(&g, NULL, "op.gather", rows, BLOCK);
            test_call_init(&t, 0);
            uint8_t *back = test_dense(&t, HAC_KIND_F64, from, columns);
            memcpy(test_dense(&t, HAC_KIND_F64, rows, columns), y, rows * size);
            memcpy(test_dense(&t, indices[k], rows, 1), index, rows * width);
            test_run_well(&t, NULL, "op.scatter", 0, 0);
            for (uint64_t i = 0; i < rows; i++) {
                uint64_t at = (uint64_t)as_integer(index, indices[k], i);
                assert_memory_equal(y + i * size, x + at * size, size);
                memcpy(expected + at * size, y + i * size, size);
            }
            assert_memory_equal(back, expected, from * size);
            if (rows > 5) {
                memset(index + 5 * width, 0xff, width);
                assert_int_equal(test_run(&g, NULL, "op.gather", 0, 0), HAC_INVALID);
                assert_non_null(strstr(g.err.message, "operand 2: row 5: "));
            }
            free(expected);
            test_call_clear(&g);
            test_call_clear(&t);
        }
}

/* ---- matrices ---- */

static void try_gemm(unsigned kind, uint64_t rows, uint64_t depth, uint64_t columns, bool odd)
{
    test_call c;
    bool narrow = kind == HAC_KIND_F32;
    test_call_init(&c, 0);
    void *y = test_dense(&c, kind, rows, columns), *a = test_dense(&c, kind, rows, depth);
    void *b = test_dense(&c, kind, depth, columns);
    test_fill(a, kind, rows * depth, &state, odd && kind != HAC_KIND_I64);
    test_fill(b, kind, depth * columns, &state, odd && kind != HAC_KIND_I64);
    test_run_well(&c, NULL, "op.gemm", rows, 67);
    for (uint64_t i = 0; i < rows; i++)
        for (uint64_t j = 0; j < columns; j++) {
            double sum = 0;
            int64_t whole = 0;
            for (uint64_t k = 0; k < depth; k++) {
                sum = ROUND(sum +
                            ROUND(as_double(a, kind, i * depth + k) * as_double(b, kind, k * columns + j)));
                if (kind == HAC_KIND_I64)
                    whole += ((int64_t *)a)[i * depth + k] * ((int64_t *)b)[k * columns + j];
            }
            if (kind == HAC_KIND_I64)
                assert_int_equal(((int64_t *)y)[i * columns + j], whole);
            else
                expect_float(y, kind, i * columns + j, sum);
        }
    test_call_clear(&c);
}

static void test_gemm(void **unused)
{
    static const uint64_t shapes[][3] = {{1, 1, 1},    {3, 2, 5},     {4, 8, 8},      {5, 7, 17},
                                         {64, 33, 16}, {65, 257, 31}, {130, 600, 40}, {1, 300, 100}};
    (void)unused;
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int odd = 0; odd < 2; odd++) {
            try_gemm(HAC_KIND_F64, shapes[s][0], shapes[s][1], shapes[s][2], odd);
            try_gemm(HAC_KIND_F32, shapes[s][0], shapes[s][1], shapes[s][2], odd);
            try_gemm(HAC_KIND_I64, shapes[s][0], shapes[s][1], shapes[s][2], odd);
        }
}

static void test_gemv(void **unused)
{
    (void)unused;
    for (uint64_t columns = 1; columns < 300; columns += columns < 5 ? 1 : 37)
        for (unsigned kind = HAC_KIND_F32; kind <= HAC_KIND_F64; kind++) {
            test_call c;
            double row[300], x[300];
            test_call_init(&c, 0);
            void *y = test_dense(&c, kind, 131, 1), *a = test_dense(&c, kind, 131, columns);
            void *v = test_dense(&c, kind, columns, 1);
            test_fill(a, kind, 131 * columns, &state, true);
            test_fill(v, kind, columns, &state, false);
            test_run_well(&c, NULL, "op.gemv", 131, 10);
            for (uint64_t i = 0; i < 131; i++) {
                for (uint64_t k = 0; k < columns; k++) {
                    row[k] = as_double(a, kind, i * columns + k);
                    x[k] = as_double(v, kind, k);
                }
                expect_float(y, kind, i, block_of(HAC_OP_PRODUCTS, row, x, columns, kind == HAC_KIND_F32));
            }
            test_call_clear(&c);
        }
}

/* Rows of 0 … many entries. */
static void fill_sparse(const test_call *c, size_t operand, bool columns)
{
    const hac_op_operand *o = &c->operands[operand];
    uint64_t *offsets = test_offsets(c, operand);
    offsets[0] = 0;
    for (uint64_t i = 0; i < o->rows; i++) {
        uint64_t r = hac_random_u64(&state), n = r % 4 == 0 ? 0 : (r >> 8) % (2 * o->entries / o->rows + 1);
        offsets[i + 1] = offsets[i] + n < o->entries ? offsets[i] + n : o->entries;
    }
    for (uint64_t e = 0; columns && e < o->entries; e++)
        test_indices(c, operand)[e] = (uint32_t)(hac_random_u64(&state) % o->columns);
}

/* Operand 1 has no values that a codelet could read. */
static void without_values(test_call *c)
{
    c->operands[1].ones = 1;
    c->operands[1].values = UINT64_MAX;
}

/* `ones`: a matrix of f64 whose values are all 1.0 and not stored. */
static void try_spmv(unsigned kind, uint64_t rows, uint64_t columns, uint64_t step, bool ones)
{
    test_call c;
    bool narrow = kind == HAC_KIND_F32;
    test_call_init(&c, 0);
    void *y = test_dense(&c, kind, rows, 1);
    test_sparse(&c, kind, rows, columns, rows * 7);
    void *x = test_dense(&c, kind, columns, 1), *a = test_values(&c, 1);
    fill_sparse(&c, 1, true);
    test_fill(a, kind, rows * 7, &state, kind != HAC_KIND_I64);
    test_fill(x, kind, columns, &state, false);
    for (uint64_t e = 0; ones && e < rows * 7; e++)
        ((double *)a)[e] = 1.0;
    if (ones)
        without_values(&c);
    test_run_well(&c, NULL, "op.spmv", rows, step);
    for (uint64_t i = 0; i < rows; i++) {
        double lanes[4] = {0};
        int64_t whole = 0;
        for (uint64_t e = test_offsets(&c, 1)[i]; e < test_offsets(&c, 1)[i + 1]; e++) {
            uint64_t j = test_indices(&c, 1)[e];
            double *lane = &lanes[(e - test_offsets(&c, 1)[i]) % 4];
            *lane = ROUND(*lane + ROUND(as_double(a, kind, e) * as_double(x, kind, j)));
            if (kind == HAC_KIND_I64)
                whole += ((int64_t *)a)[e] * ((int64_t *)x)[j];
        }
        if (kind == HAC_KIND_I64)
            assert_int_equal(((int64_t *)y)[i], whole);
        else
            expect_float(y, kind, i, ROUND(ROUND(lanes[0] + lanes[2]) + ROUND(lanes[1] + lanes[3])));
    }
    uint64_t *offsets = test_offsets(&c, 1), keep = offsets[1];
    offsets[1] = UINT64_MAX;
    assert_int_equal(test_run(&c, NULL, "op.spmv", 0, 0), HAC_INVALID);
    assert_non_null(strstr(c.err.message, "operand 1: row 0: its offsets"));
    offsets[1] = keep;
    memset(test_indices(&c, 1), 0xff, 4 * 7 * rows);
    assert_int_equal(test_run(&c, NULL, "op.spmv", 0, 0), HAC_INVALID);
    test_call_clear(&c);
}

static void test_spmv(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < 3; k++) {
        try_spmv(numbers[k], 200, 50, 1, false);
        try_spmv(numbers[k], 5000, 70000, 999, false);
        try_spmv(numbers[k], 30000, 3, UINT64_MAX, false);
    }
    try_spmv(HAC_KIND_F64, 5000, 700, 999, true);
}

static double in_turn(unsigned function, const double *x, uint64_t n, bool narrow)
{
    double sum = 0;
    for (uint64_t i = 0; i < n; i++) {
        double t = term(function, x[i], 0);
        t = narrow ? (double)(float)t : t;
        if (function == HAC_OP_SUM || function == HAC_OP_SQUARES || function == HAC_OP_MAGNITUDE)
            sum = narrow ? (double)((float)sum + (float)t) : sum + t;
        else if (i == 0 || (function == HAC_OP_MIN ? below(t, sum) : below(sum, t)))
            sum = t;
    }
    return sum;
}

static void try_row_reduce(unsigned form, unsigned function, unsigned kind, unsigned wide, bool ones)
{
    static double row[100000];
    test_call c;
    uint64_t rows = 9000;
    test_call_init(&c, function);
    void *y = test_dense(&c, function == HAC_OP_COUNT ? HAC_KIND_U64 : wide, rows, 1);
    if (form == HAC_VECTOR_FIX_VALUE)
        test_dense(&c, kind, rows, 5);
    else if (form == HAC_VECTOR_SPARSE_MATRIX)
        test_sparse(&c, kind, rows, 10, 6 * rows);
    else
        test_variable(&c, kind, rows, 6 * rows);
    void *a = test_values(&c, 1);
    test_fill(a, kind, form == HAC_VECTOR_FIX_VALUE ? 5 * rows : 6 * rows, &state, is_float(kind));
    if (form != HAC_VECTOR_FIX_VALUE)
        fill_sparse(&c, 1, form == HAC_VECTOR_SPARSE_MATRIX);
    for (uint64_t e = 0; ones && e < 6 * rows; e++)
        ((double *)a)[e] = 1.0;
    if (ones)
        without_values(&c);
    test_run_well(&c, NULL, "op.row_reduce", rows, BLOCK);
    for (uint64_t i = 0; i < rows; i++) {
        uint64_t from = form == HAC_VECTOR_FIX_VALUE ? 5 * i : test_offsets(&c, 1)[i];
        uint64_t to = form == HAC_VECTOR_FIX_VALUE ? from + 5 : test_offsets(&c, 1)[i + 1];
        for (uint64_t e = from; e < to; e++)
            row[e - from] = is_float(kind) ? as_double(a, kind, e) : (double)as_integer(a, kind, e);
        double expected = function == HAC_OP_COUNT ? (double)(to - from)
                                                   : in_turn(function, row, to - from, wide == HAC_KIND_F32);
        if (is_float(wide) && function != HAC_OP_COUNT)
            expect_float(y, wide, i, expected);
        else
            assert_int_equal(((int64_t *)y)[i], (int64_t)expected);
    }
    test_call_clear(&c);
}

static void test_row_reduce(void **unused)
{
    static const uint8_t forms[] = {HAC_VECTOR_FIX_VALUE, HAC_VECTOR_SPARSE_MATRIX, HAC_VECTOR_VARIABLE_LEN};
    static const uint8_t functions[] = {HAC_OP_SUM, HAC_OP_SQUARES, HAC_OP_MAGNITUDE, HAC_OP_MIN,
                                        HAC_OP_MAX, HAC_OP_LARGEST, HAC_OP_COUNT};
    (void)unused;
    for (size_t f = 0; f < 3; f++)
        for (size_t i = 0; i < sizeof functions; i++) {
            try_row_reduce(forms[f], functions[i], HAC_KIND_F64, HAC_KIND_F64, false);
            try_row_reduce(forms[f], functions[i], HAC_KIND_F32, HAC_KIND_F32, false);
            try_row_reduce(forms[f], functions[i], HAC_KIND_F32, HAC_KIND_F64, false);
            try_row_reduce(forms[f], functions[i], HAC_KIND_I32, HAC_KIND_I64, false);
            try_row_reduce(forms[f], functions[i], HAC_KIND_U64, HAC_KIND_U64, false);
        }
    for (size_t i = 0; i < sizeof functions; i++)
        try_row_reduce(HAC_VECTOR_SPARSE_MATRIX, functions[i], HAC_KIND_F64, HAC_KIND_F64, true);
}

static void test_arg_rows(void **unused)
{
    (void)unused;
    for (uint64_t columns = 1; columns < 200; columns = columns * 2 + 1)
        for (unsigned function = HAC_OP_ARGMIN; function <= HAC_OP_ARGMAX; function++) {
            test_call c;
            test_call_init(&c, function);
            uint32_t *y = test_dense(&c, HAC_KIND_U32, 5000, 1);
            float *a = test_dense(&c, HAC_KIND_F32, 5000, columns);
            test_fill(a, HAC_KIND_F32, 5000 * columns, &state, true);
            test_run_well(&c, NULL, "op.arg_rows", 5000, BLOCK);
            for (uint64_t i = 0; i < 5000; i++) {
                uint64_t best = 0;
                for (uint64_t j = 1; j < columns; j++) {
                    double v = (double)a[i * columns + j], b = (double)a[i * columns + best];
                    best = (function == HAC_OP_ARGMIN ? below(v, b) : below(b, v)) ? j : best;
                }
                assert_int_equal(y[i], best);
            }
            test_call_clear(&c);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reduce_floats),
        cmocka_unit_test(test_reduce_integers),
        cmocka_unit_test(test_integers_overflow),
        cmocka_unit_test(test_arg),
        cmocka_unit_test(test_arg_of_nans),
        cmocka_unit_test(test_map_floats),
        cmocka_unit_test(test_map_kinds),
        cmocka_unit_test(test_map_names_the_row),
        cmocka_unit_test(test_reduce_of_a_program),
        cmocka_unit_test(test_filters),
        cmocka_unit_test(test_scans),
        cmocka_unit_test(test_integer_scan),
        cmocka_unit_test(test_gather_and_scatter),
        cmocka_unit_test(test_gemm),
        cmocka_unit_test(test_gemv),
        cmocka_unit_test(test_spmv),
        cmocka_unit_test(test_row_reduce),
        cmocka_unit_test(test_arg_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
