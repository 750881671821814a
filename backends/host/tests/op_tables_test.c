/* SPDX-License-Identifier: Apache-2.0 */
/* The sub-operators in C that make matrices, tables and numberings, and distances, against simple oracles. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "test_ops.h"

static uint64_t state = 362436069;

static bool same(double a, double b)
{
    return (a == b && signbit(a) == signbit(b)) || (isnan(a) && isnan(b));
}

/* ---- distances ---- */

static double distance_of(unsigned function, const double *a, const double *b, size_t columns)
{
    double sum = 0, na = 0, nb = 0;
    for (size_t c = 0; c < columns; c++) {
        double d = a[c] - b[c];
        sum += function == HAC_OP_COSINE ? a[c] * b[c] : function == HAC_OP_MANHATTAN ? fabs(d) : d * d;
        na += a[c] * a[c];
        nb += b[c] * b[c];
    }
    if (function == HAC_OP_EUCLIDEAN)
        return sqrt(sum);
    if (function == HAC_OP_COSINE)
        return sqrt(na) == 0 || sqrt(nb) == 0 ? 1 : 1 - sum / (sqrt(na) * sqrt(nb));
    return sum;
}

static float narrow_distance_of(unsigned function, const float *a, const float *b, size_t columns)
{
    float sum = 0, na = 0, nb = 0;
    for (size_t c = 0; c < columns; c++) {
        float d = a[c] - b[c];
        sum += function == HAC_OP_COSINE ? a[c] * b[c] : function == HAC_OP_MANHATTAN ? fabsf(d) : d * d;
        na += a[c] * a[c];
        nb += b[c] * b[c];
    }
    if (function == HAC_OP_EUCLIDEAN)
        return sqrtf(sum);
    if (function == HAC_OP_COSINE)
        return sqrtf(na) == 0 || sqrtf(nb) == 0 ? 1 : 1 - sum / (sqrtf(na) * sqrtf(nb));
    return sum;
}

static double any_distance(unsigned function, const void *a, const void *b, unsigned kind, uint64_t i,
                           uint64_t j, size_t columns)
{
    if (kind == HAC_KIND_F64)
        return distance_of(function, (const double *)a + i * columns, (const double *)b + j * columns,
                           columns);
    return (double)narrow_distance_of(function, (const float *)a + i * columns,
                                      (const float *)b + j * columns, columns);
}

static double value_of(const void *values, unsigned kind, uint64_t i)
{
    return kind == HAC_KIND_F64 ? ((const double *)values)[i] : (double)((const float *)values)[i];
}

/* In long double, in which no square leaves its range. */
static long double wide_distance(unsigned function, const void *a, const void *b, unsigned kind, uint64_t i,
                                 uint64_t j, size_t columns)
{
    long double sum = 0, na = 0, nb = 0;
    for (size_t c = 0; c < columns; c++) {
        long double v = value_of(a, kind, i * columns + c), w = value_of(b, kind, j * columns + c), d = v - w;
        sum += function == HAC_OP_COSINE ? v * w : function == HAC_OP_MANHATTAN ? fabsl(d) : d * d;
        na += v * v;
        nb += w * w;
    }
    if (function == HAC_OP_EUCLIDEAN)
        return sqrtl(sum);
    if (function == HAC_OP_COSINE)
        return na == 0 || nb == 0 ? 1 : 1 - sum / (sqrtl(na) * sqrtl(nb));
    return sum;
}

/* Where squares leave the range of T, ours are scaled and the plain loops are not. */
static bool is_distance(double got, double plain, long double wide, unsigned kind)
{
    long double bound = kind == HAC_KIND_F64 ? 1e-14L : 1e-5L;
    long double smallest = kind == HAC_KIND_F64 ? 0x1p-1074L : 0x1p-149L;
    double rounded = kind == HAC_KIND_F64 ? (double)wide : (double)(float)wide;
    return same(got, plain) || same(got, rounded) ||
           fabsl(got - wide) <= bound * fmaxl(fabsl(wide), 1e-300L) + smallest ||
           (fabsl(wide) <= 2 && fabsl(got - wide) <= bound);
}

static void try_distances(unsigned function, unsigned kind, uint64_t rows, uint64_t others, uint64_t columns,
                          bool odd)
{
    test_call d, n;
    test_call_init(&d, function);
    void *all = test_dense(&d, kind, rows, others), *a = test_dense(&d, kind, rows, columns);
    void *b = test_dense(&d, kind, others, columns);
    test_fill(a, kind, rows * columns, &state, odd);
    test_fill(b, kind, others * columns, &state, odd);
    memset(a, 0, columns * hac_op_element_size(kind)); /* a row without a direction */
    test_run_well(&d, NULL, "op.distance", rows, 100);
    test_call_init(&n, function);
    uint32_t *index = test_dense(&n, HAC_KIND_U32, rows, 1);
    memcpy(test_dense(&n, kind, rows, columns), a, d.bytes[1]);
    memcpy(test_dense(&n, kind, others, columns), b, d.bytes[2]);
    void *min = test_dense(&n, kind, rows, 1);
    test_run_well(&n, NULL, "op.nearest", rows, HAC_OP_BLOCK);
    unsigned ranked = function == HAC_OP_EUCLIDEAN ? HAC_OP_SQUARED_EUCLIDEAN : function;
    for (uint64_t i = 0; i < rows; i++) {
        double best = INFINITY;
        uint32_t at = 0;
        for (uint64_t j = 0; j < others; j++) {
            double expected = any_distance(function, a, b, kind, i, j, columns);
            long double wide = wide_distance(function, a, b, kind, i, j, columns);
            if (!is_distance(value_of(all, kind, i * others + j), expected, wide, kind))
                fail_msg("distance %llu %llu: %a, not %a", (unsigned long long)i, (unsigned long long)j,
                         value_of(all, kind, i * others + j), expected);
            double by = any_distance(ranked, a, b, kind, i, j, columns);
            if (by < best) {
                best = by;
                at = (uint32_t)j;
            }
        }
        long double wide = wide_distance(function, a, b, kind, i, index[i], columns);
        long double by = wide_distance(function, a, b, kind, i, at, columns);
        assert_true(index[i] == at || wide <= by || is_distance((double)wide, (double)by, by, kind));
        if (best < INFINITY)
            assert_true(is_distance(value_of(min, kind, i),
                                    any_distance(function, a, b, kind, i, index[i], columns), wide, kind));
    }
    test_call_clear(&d);
    test_call_clear(&n);
}

static void test_distances(void **unused)
{
    static const uint64_t shapes[][3] = {{1, 1, 1}, {31, 3, 2}, {64, 7, 5}, {129, 256, 64}, {4500, 4, 3}};
    (void)unused;
    for (size_t s = 0; s < 5; s++)
        for (unsigned f = HAC_OP_EUCLIDEAN; f <= HAC_OP_COSINE; f++)
            for (int odd = 0; odd < 2; odd++) {
                try_distances(f, HAC_KIND_F64, shapes[s][0], shapes[s][1], shapes[s][2], odd);
                try_distances(f, HAC_KIND_F32, shapes[s][0], shapes[s][1], shapes[s][2], odd);
            }
}

/* ---- keys ---- */

static void try_keys(unsigned function, unsigned kind, uint64_t rows, uint64_t n, uint64_t columns)
{
    test_call t, m;
    bool floats = kind == HAC_KIND_F64 || kind == HAC_KIND_F32;
    unsigned wide = floats ? HAC_KIND_F64 : HAC_KIND_I64;
    uint64_t blocks = (rows + HAC_OP_KEY_BLOCK - 1) / HAC_OP_KEY_BLOCK, cells = columns + 1;
    test_call_init(&t, function);
    void *tables = test_dense(&t, wide, blocks * n, cells);
    uint32_t *keys = test_dense(&t, HAC_KIND_U32, rows, 1);
    void *x = columns == 0 ? NULL : test_dense(&t, kind, rows, columns);
    t.call.n = n;
    for (uint64_t i = 0; i < rows; i++)
        keys[i] = (uint32_t)(hac_random_u64(&state) % n);
    if (x != NULL)
        test_fill(x, kind, rows * columns, &state, floats);
    test_run_well(&t, NULL, "op.keys", rows, HAC_OP_KEY_BLOCK);
    test_call_init(&m, function);
    void *y = test_dense(&m, wide, n, cells);
    memcpy(test_dense(&m, wide, blocks * n, cells), tables, t.bytes[0]);
    test_run_well(&m, NULL, "op.keys_combine", n, HAC_OP_BLOCK);
    double *sums = calloc(n * cells, 8), *block = calloc(n * cells, 8);
    for (uint64_t first = 0; first < rows; first += HAC_OP_KEY_BLOCK) {
        memset(block, 0, n * cells * 8);
        for (uint64_t i = first; i < rows && i < first + HAC_OP_KEY_BLOCK; i++)
            for (uint64_t c = 0; c < cells; c++) {
                double *cell = &block[keys[i] * cells + c], v = 1;
                if (c > 0)
                    v = floats ? value_of(x, kind, i * columns + c - 1)
                               : (double)((int32_t *)x)[i * columns + c - 1];
                bool start = block[keys[i] * cells] == 1; /* its first row is the one that was just counted */
                if (c == 0 || function == HAC_OP_SUM)
                    *cell += v;
                else if (start || (function == HAC_OP_MIN ? v < *cell || (isnan(*cell) && !isnan(v))
                                                          : v > *cell || (isnan(v) && !isnan(*cell))))
                    *cell = v;
            }
        for (uint64_t k = 0; k < n; k++)
            for (uint64_t c = cells; c-- > 0;) {
                double *to = &sums[k * cells + c], v = block[k * cells + c];
                if (c == 0 || function == HAC_OP_SUM)
                    *to += v;
                else if (block[k * cells] != 0 &&
                         (sums[k * cells] == 0 ||
                          (function == HAC_OP_MIN ? v < *to || (isnan(*to) && !isnan(v))
                                                  : v > *to || (isnan(v) && !isnan(*to)))))
                    *to = v;
            }
    }
    for (uint64_t i = 0; i < n * cells; i++)
        if (floats)
            assert_true(same(((double *)y)[i], sums[i]));
        else
            assert_int_equal(((int64_t *)y)[i], (int64_t)sums[i]);
    if (rows > 100) {
        keys[100] = (uint32_t)n;
        assert_int_equal(test_run(&t, NULL, "op.keys", 0, 0), HAC_INVALID);
        assert_non_null(strstr(t.err.message, "operand 1: row 100: "));
    }
    free(sums);
    free(block);
    test_call_clear(&t);
    test_call_clear(&m);
}

static void test_keys(void **unused)
{
    static const uint8_t functions[] = {HAC_OP_SUM, HAC_OP_MIN, HAC_OP_MAX};
    static const uint64_t rows[] = {0, 1, 1000, 65535, 65536, 65537, 200000};
    (void)unused;
    for (size_t f = 0; f < 3; f++)
        for (size_t s = 0; s < 7; s++) {
            try_keys(functions[f], HAC_KIND_F64, rows[s], 7, 1);
            try_keys(functions[f], HAC_KIND_F32, rows[s], 1000, 3);
            try_keys(functions[f], HAC_KIND_I32, rows[s], 5000, 2);
            try_keys(functions[f], HAC_KIND_I32, rows[s], 1, 0);
        }
}

static void test_histogram(void **unused)
{
    test_call c, m;
    uint64_t rows = 150000, bins[10] = {0};
    (void)unused;
    test_call_init(&c, 0);
    uint64_t *tables = test_dense(&c, HAC_KIND_U64, 30, 1);
    double *x = test_dense(&c, HAC_KIND_F64, rows, 1);
    c.call.a = -50;
    c.call.b = 150;
    c.call.n = 10;
    test_fill(x, HAC_KIND_F64, rows, &state, true);
    x[0] = -50;
    x[1] = 150;
    x[2] = -30;
    test_run_well(&c, NULL, "op.histogram", rows, HAC_OP_KEY_BLOCK);
    test_call_init(&m, 0);
    uint64_t *y = test_dense(&m, HAC_KIND_U64, 10, 1);
    memcpy(test_dense(&m, HAC_KIND_U64, 30, 1), tables, 240);
    test_run_well(&m, NULL, "op.keys_combine", 10, UINT64_MAX);
    for (uint64_t i = 0; i < rows; i++)
        if (x[i] >= -50 && x[i] <= 150)
            bins[x[i] == 150 ? 9 : (size_t)floor((x[i] + 50) / 200 * 10)]++;
    assert_memory_equal(y, bins, sizeof bins);
    test_call_clear(&c);
    test_call_clear(&m);
}

/* Values on borders, in their own bins. */
static void try_borders(unsigned kind, uint64_t bins, double to)
{
    test_call c;
    test_call_init(&c, 0);
    uint64_t *table = test_dense(&c, HAC_KIND_U64, bins, 1);
    void *x = test_dense(&c, kind, bins + 1, 1);
    c.call.a = 0;
    c.call.b = to;
    c.call.n = bins;
    for (uint64_t i = 0; i <= bins; i++)
        if (kind == HAC_KIND_F64)
            ((double *)x)[i] = (double)i * to / (double)bins;
        else if (kind == HAC_KIND_I32)
            ((int32_t *)x)[i] = (int32_t)i;
        else
            ((uint64_t *)x)[i] = i;
    test_run_well(&c, NULL, "op.histogram", bins + 1, HAC_OP_KEY_BLOCK);
    for (uint64_t i = 0; i < bins; i++)
        assert_int_equal(table[i], i + 1 < bins ? 1 : 2);
    test_call_clear(&c);
}

static void test_borders(void **unused)
{
    (void)unused;
    for (uint64_t bins = 1; bins <= 1000; bins++) {
        try_borders(HAC_KIND_F64, bins, (double)bins);
        try_borders(HAC_KIND_F64, bins, (double)bins / 64); /* the quotients are exact */
        try_borders(HAC_KIND_I32, bins, (double)bins);
        try_borders(HAC_KIND_I64, bins, (double)bins);
        try_borders(HAC_KIND_U64, bins, (double)bins);
    }
}

/* A range whose width is no double. */
static void test_widest_histogram(void **unused)
{
    test_call c;
    (void)unused;
    test_call_init(&c, 0);
    uint64_t *table = test_dense(&c, HAC_KIND_U64, 2, 1);
    double *x = test_dense(&c, HAC_KIND_F64, 4, 1);
    c.call.a = -1e308;
    c.call.b = 1e308;
    c.call.n = 2;
    x[0] = -1e308;
    x[1] = -0.0;
    x[2] = 1e308;
    x[3] = (double)NAN;
    test_run_well(&c, NULL, "op.histogram", 4, HAC_OP_KEY_BLOCK);
    assert_int_equal(table[0], 1);
    assert_int_equal(table[1], 2);
    test_call_clear(&c);
}

/* ---- distances whose squares leave the range of floats ---- */

static void test_extreme_distances(void **unused)
{
    static const double points[] = {1e300, 2e300, 3e-200, 0, 5e-324}, others[] = {0, 3e300, 4e-200};
    static const uint32_t nearest[] = {0, 1, 2, 0, 0};
    test_call d, n;
    (void)unused;
    test_call_init(&d, HAC_OP_EUCLIDEAN);
    double *apart = test_dense(&d, HAC_KIND_F64, 5, 3);
    memcpy(test_dense(&d, HAC_KIND_F64, 5, 1), points, sizeof points);
    memcpy(test_dense(&d, HAC_KIND_F64, 3, 1), others, sizeof others);
    test_run_well(&d, NULL, "op.distance", 5, 5);
    for (size_t i = 0; i < 15; i++)
        assert_true(fabs(apart[i] - fabs(points[i / 3] - others[i % 3])) <= 1e-15 * apart[i]);
    test_call_init(&n, HAC_OP_SQUARED_EUCLIDEAN);
    uint32_t *at = test_dense(&n, HAC_KIND_U32, 5, 1);
    memcpy(test_dense(&n, HAC_KIND_F64, 5, 1), points, sizeof points);
    memcpy(test_dense(&n, HAC_KIND_F64, 3, 1), others, sizeof others);
    test_run_well(&n, NULL, "op.nearest", 5, HAC_OP_BLOCK);
    assert_memory_equal(at, nearest, sizeof nearest);
    test_call_clear(&d);
    test_call_clear(&n);
}

/* ---- csr, transpose ---- */

#define NODES 37

/* The matrix of c, `at` entries, without values: only if all are 1.0. */
static void try_csr_of_ones(test_call *c, uint64_t at, bool possible)
{
    uint64_t values = c->operands[0].values;
    uint32_t first = test_indices(c, 0)[0];
    c->operands[0].ones = 1;
    c->operands[0].values = UINT64_MAX; /* not read */
    test_indices(c, 0)[0] = UINT32_MAX;
    assert_int_equal(test_run(c, NULL, "op.csr", 0, 0), possible ? HAC_OK : HAC_INVALID);
    if (possible)
        assert_int_equal(c->result.values[1], at);
    else
        assert_non_null(strstr(c->err.message, "operand 0: its values are not all 1.0"));
    assert_int_equal(test_indices(c, 0)[0], possible ? first : UINT32_MAX);
    test_indices(c, 0)[0] = first;
    c->operands[0].ones = 0;
    c->operands[0].values = values;
}

static void try_csr(uint64_t n, bool values, bool symmetric)
{
    static double sum[NODES][NODES];
    static bool there[NODES][NODES];
    test_call c, t;
    memset(sum, 0, sizeof sum);
    memset(there, 0, sizeof there);
    test_call_init(&c, 0);
    c.call.flags = symmetric ? HAC_OP_SYMMETRIC : 0;
    test_sparse(&c, HAC_KIND_F64, NODES, NODES, 2 * n);
    int64_t *row = test_dense(&c, HAC_KIND_I64, n, 1);
    uint32_t *column = test_dense(&c, HAC_KIND_U32, n, 1);
    double *v = values ? test_dense(&c, HAC_KIND_F64, n, 1) : NULL;
    if (values)
        test_fill(v, HAC_KIND_F64, n, &state, false);
    for (uint64_t i = 0; i < n; i++) {
        /* the last row is empty where that is allowed */
        row[i] = (int64_t)(hac_random_u64(&state) % (NODES - 1));
        column[i] = (uint32_t)(hac_random_u64(&state) % NODES);
        double value = values ? v[i] : 1.0;
        for (int turn = 0; turn < 1 + symmetric; turn++) {
            size_t a = turn ? column[i] : (size_t)row[i], b = turn ? (size_t)row[i] : column[i];
            if (there[a][b] && symmetric)
                continue;
            sum[a][b] = there[a][b] ? sum[a][b] + value : value;
            there[a][b] = true;
        }
    }
    test_run_well(&c, NULL, "op.csr", 0, 0);
    uint64_t at = 0;
    for (size_t i = 0; i < NODES; i++) {
        assert_int_equal(test_offsets(&c, 0)[i], at);
        for (size_t j = 0; j < NODES; j++)
            if (there[i][j]) {
                assert_int_equal(test_indices(&c, 0)[at], j);
                assert_true(same(((double *)test_values(&c, 0))[at], sum[i][j]));
                at++;
            }
    }
    assert_int_equal(test_offsets(&c, 0)[NODES], at);
    assert_int_equal(c.result.values[0], NODES);
    assert_int_equal(c.result.values[1], at);
    if (at > 0)
        try_csr_of_ones(&c, at, !values && symmetric);

    test_call_init(&t, 0);
    test_sparse(&t, HAC_KIND_F64, NODES, NODES, at);
    test_sparse(&t, HAC_KIND_F64, NODES, NODES, at);
    memcpy(test_offsets(&t, 1), test_offsets(&c, 0), (NODES + 1) * 8);
    memcpy(test_indices(&t, 1), test_indices(&c, 0), at * 4);
    memcpy(test_values(&t, 1), test_values(&c, 0), at * 8);
    test_run_well(&t, NULL, "op.transpose", 0, 0);
    t.operands[1].ones = 1;
    assert_int_equal(test_run(&t, NULL, "op.transpose", 0, 0), HAC_INVALID);
    assert_non_null(strstr(t.err.message, "operand 1: it must have values"));
    at = 0;
    for (size_t i = 0; i < NODES; i++)
        for (size_t j = 0; j < NODES; j++)
            if (there[j][i]) {
                assert_int_equal(test_indices(&t, 0)[at], j);
                assert_true(same(((double *)test_values(&t, 0))[at++], sum[j][i]));
            }
    if (at > 0) { /* not enough space: the call fails, and nothing is written */
        c.operands[0].entries = at - 1;
        assert_int_equal(test_run(&c, NULL, "op.csr", 0, 0), HAC_OK);
        assert_int_equal(c.result.values[1], at);
        column[0] = NODES;
        assert_int_equal(test_run(&c, NULL, "op.csr", 0, 0), HAC_INVALID);
    }
    test_call_clear(&c);
    test_call_clear(&t);
}

typedef struct wide_entry {
    uint32_t row, column;
    uint64_t turn;
    double value;
} wide_entry;

static int by_place(const void *a, const void *b)
{
    const wide_entry *x = a, *y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return x->turn < y->turn ? -1 : 1;
}

/* Rows of thousands of entries beside short ones, columns of several digits, many places repeated. */
static void try_wide_csr(uint64_t rows, uint64_t columns, uint64_t n, bool values, bool symmetric)
{
    static wide_entry wanted[20000];
    uint64_t some[300], n_wanted = 0, at = 0;
    test_call c;
    for (size_t i = 0; i < 300; i++)
        some[i] = hac_random_u64(&state) % columns;
    test_call_init(&c, 0);
    c.call.flags = symmetric ? HAC_OP_SYMMETRIC : 0;
    test_sparse(&c, HAC_KIND_F64, rows, columns, 2 * n);
    uint32_t *row = test_dense(&c, HAC_KIND_U32, n, 1), *column = test_dense(&c, HAC_KIND_U32, n, 1);
    double *v = values ? test_dense(&c, HAC_KIND_F64, n, 1) : NULL;
    if (values)
        test_fill(v, HAC_KIND_F64, n, &state, false);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t draw = hac_random_u64(&state);
        row[i] = (uint32_t)(draw % 4 == 0 ? rows / 2 : draw / 4 % rows);
        column[i] = (uint32_t)(draw % 3 == 0 ? some[draw / 3 % 300] : hac_random_u64(&state) % columns);
        double value = values ? v[i] : 1.0;
        wanted[n_wanted++] = (wide_entry){row[i], column[i], i, value};
        if (symmetric && row[i] != column[i])
            wanted[n_wanted++] = (wide_entry){column[i], row[i], i, value};
    }
    qsort(wanted, n_wanted, sizeof *wanted, by_place);
    test_run_well(&c, NULL, "op.csr", 0, 0);
    for (uint64_t i = 0; i < n_wanted; at++) {
        double sum = wanted[i].value;
        uint64_t first = i++;
        for (; i < n_wanted && wanted[i].row == wanted[first].row && wanted[i].column == wanted[first].column;
             i++)
            sum = symmetric ? sum : sum + wanted[i].value;
        uint32_t in = wanted[first].row;
        assert_true(test_offsets(&c, 0)[in] <= at && at < test_offsets(&c, 0)[in + 1]);
        assert_int_equal(test_indices(&c, 0)[at], wanted[first].column);
        assert_true(same(((double *)test_values(&c, 0))[at], sum));
    }
    assert_int_equal(c.result.values[1], at);
    assert_int_equal(test_offsets(&c, 0)[rows], at);
    test_call_clear(&c);
}

static void test_wide_csr(void **unused)
{
    (void)unused;
    for (int k = 0; k < 4; k++) {
        try_wide_csr(5, 5000000, 9000, k & 1, false);
        try_wide_csr(3000, 3000, 9000, k & 1, k & 2);
        try_wide_csr(3, 3, 700, k & 1, k & 2);
        try_wide_csr(2048, 2048, 500, k & 1, k & 2);
    }
}

/* Only sparse matrices of f64 may be without values, and only where the codelet allows it. */
static void test_ones(void **unused)
{
    static const struct {
        const char *codelet;
        unsigned kind;
        size_t operand;
        uint8_t ones;
    } wrong[] = {{"op.spmv", HAC_KIND_I64, 1, 1},
                 {"op.spmv", HAC_KIND_F64, 0, 1},
                 {"op.spmv", HAC_KIND_F64, 2, 1},
                 {"op.spmv", HAC_KIND_F64, 1, 2},
                 {"op.gather", HAC_KIND_F64, 1, 1}};
    (void)unused;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        test_call c;
        test_call_init(&c, 0);
        test_dense(&c, wrong[i].kind, 30, 1);
        test_sparse(&c, wrong[i].kind, 30, 30, 60);
        test_dense(&c, wrong[i].kind, 30, 1);
        c.operands[wrong[i].operand].ones = wrong[i].ones;
        assert_int_equal(test_run(&c, NULL, wrong[i].codelet, 0, 0), HAC_INVALID);
        assert_non_null(strstr(c.err.message, "it must have values"));
        test_call_clear(&c);
    }
}

static void test_csr(void **unused)
{
    static const uint64_t sizes[] = {0, 1, 5, 100, 3000};
    (void)unused;
    for (size_t s = 0; s < 5; s++)
        for (int k = 0; k < 4; k++)
            try_csr(sizes[s], k & 1, k & 2);
}

static void test_transpose(void **unused)
{
    test_call c;
    (void)unused;
    test_call_init(&c, 0);
    uint32_t *y = test_dense(&c, HAC_KIND_U32, 77, 130), *x = test_dense(&c, HAC_KIND_U32, 130, 77);
    test_fill(x, HAC_KIND_U32, 130 * 77, &state, true);
    test_run_well(&c, NULL, "op.transpose", 0, 0);
    for (size_t i = 0; i < 130; i++)
        for (size_t j = 0; j < 77; j++)
            assert_int_equal(y[j * 130 + i], x[i * 77 + j]);
    test_call_clear(&c);
}

/* ---- numbering ---- */

static double ordered(const void *values, unsigned kind, uint64_t i)
{
    switch (kind) {
    case HAC_KIND_F64:
        return ((const double *)values)[i];
    case HAC_KIND_F32:
        return (double)((const float *)values)[i];
    case HAC_KIND_I64:
        return (double)((const int64_t *)values)[i];
    case HAC_KIND_I32:
        return ((const int32_t *)values)[i];
    case HAC_KIND_U32:
        return ((const uint32_t *)values)[i];
    case HAC_KIND_BOOL:
        return ((const uint8_t *)values)[i] != 0;
    default:
        return (double)((const uint64_t *)values)[i];
    }
}

static void try_index(unsigned kind, uint64_t rows, uint64_t spread)
{
    test_call c;
    size_t size = hac_op_element_size(kind);
    test_call_init(&c, 0);
    uint32_t *id = test_dense(&c, HAC_KIND_U32, rows, 1);
    uint8_t *distinct = test_dense(&c, kind, 2 * rows, 1), *x = test_dense(&c, kind, rows, 1);
    uint32_t *id2 = test_dense(&c, HAC_KIND_U32, rows, 1);
    uint8_t *x2 = test_dense(&c, kind, rows, 1);
    for (uint64_t i = 0; i < rows; i++)
        for (int both = 0; both < 2; both++) {
            int64_t whole = (int64_t)(hac_random_u64(&state) % spread) - (int64_t)(spread / 2);
            if (kind == HAC_KIND_U64)
                whole += (int64_t)(spread / 2);
            double d = i % 50 == 0 ? (double)NAN : i % 50 == 1 ? -0.0 : (double)whole / 8;
            float f = (float)d;
            memcpy((both ? x2 : x) + i * size,
                   kind == HAC_KIND_F64   ? (const void *)&d
                   : kind == HAC_KIND_F32 ? (const void *)&f
                                          : (const void *)&whole,
                   size);
        }
    test_run_well(&c, NULL, "op.index", 0, 0);
    uint64_t n = c.result.values[2];
    assert_int_equal(c.result.values[0], rows);
    for (uint64_t i = 0; i + 1 < n; i++) /* strictly ascending, NaN last */
        assert_true(ordered(distinct, kind, i) < ordered(distinct, kind, i + 1) ||
                    (i + 2 == n && isnan(ordered(distinct, kind, i + 1))));
    for (uint64_t i = 0; i < rows; i++) {
        assert_true(id[i] < n && id2[i] < n);
        double a = ordered(x, kind, i), b = ordered(x2, kind, i);
        assert_true(ordered(distinct, kind, id[i]) == a ||
                    (isnan(a) && isnan(ordered(distinct, kind, id[i]))));
        assert_true(ordered(distinct, kind, id2[i]) == b ||
                    (isnan(b) && isnan(ordered(distinct, kind, id2[i]))));
    }
    if (n > 1) {
        c.operands[1].rows = n - 1;
        assert_int_equal(test_run(&c, NULL, "op.index", 0, 0), HAC_OK);
        assert_int_equal(c.result.values[2], n);
    }
    test_call_clear(&c);
}

static void test_index(void **unused)
{
    static const uint8_t kinds[] = {HAC_KIND_I64, HAC_KIND_U64, HAC_KIND_I32, HAC_KIND_U32,
                                    HAC_KIND_F64, HAC_KIND_F32, HAC_KIND_BOOL};
    static const uint64_t rows[] = {0, 1, 2, 700, 20000};
    (void)unused;
    for (size_t k = 0; k < sizeof kinds; k++)
        for (size_t s = 0; s < 5; s++) {
            try_index(kinds[k], rows[s], 10);
            try_index(kinds[k], rows[s], 100000);
            try_index(kinds[k], rows[s], UINT64_C(1) << 31);
        }
}

/* Keys with equal low halves of a known hash: a table without a seed took minutes for these. */
static void test_index_of_prepared_keys(void **unused)
{
    enum { ROWS = 600000 };
    uint64_t inverse = UINT64_C(0xd6e8feb86659fd93);
    test_call c;
    (void)unused;
    for (int i = 0; i < 6; i++) /* of an odd number, modulo 2^64 */
        inverse *= 2 - UINT64_C(0xd6e8feb86659fd93) * inverse;
    test_call_init(&c, 0);
    uint32_t *id = test_dense(&c, HAC_KIND_U32, ROWS, 1);
    uint64_t *distinct = test_dense(&c, HAC_KIND_U64, ROWS, 1), *x = test_dense(&c, HAC_KIND_U64, ROWS, 1);
    for (uint64_t i = 0; i < ROWS; i++) {
        uint64_t m = (i + 1) << 32;
        m = (m ^ m >> 32) * inverse;
        x[i] = m ^ m >> 32;
    }
    test_run_well(&c, NULL, "op.index", 0, 0);
    assert_int_equal(c.result.values[2], ROWS);
    for (uint64_t i = 0; i < ROWS; i++)
        assert_int_equal(distinct[id[i]], x[i]);
    test_call_clear(&c);
}

static void put_texts(const test_call *c, size_t operand, char texts[][16], uint64_t rows)
{
    uint64_t at = 0;
    for (uint64_t i = 0; i < rows; i++) {
        test_offsets(c, operand)[i] = at;
        memcpy((char *)test_values(c, operand) + at, texts[i], strlen(texts[i]));
        at += strlen(texts[i]);
    }
    test_offsets(c, operand)[rows] = at;
}

static void test_index_of_texts(void **unused)
{
    enum { ROWS = 5000 };
    static char texts[ROWS][16], before[16];
    test_call c;
    (void)unused;
    test_call_init(&c, 0);
    uint32_t *id = test_dense(&c, HAC_KIND_U32, ROWS, 1);
    test_text(&c, ROWS, 16 * ROWS);
    test_text(&c, ROWS, 16 * ROWS);
    for (int i = 0; i < ROWS; i++)
        snprintf(texts[i], sizeof texts[i], "%s%llu", i % 2 ? "w" : "\xc3\xa4",
                 (unsigned long long)(hac_random_u64(&state) % 900));
    texts[7][0] = '\0';
    put_texts(&c, 2, texts, ROWS);
    test_run_well(&c, NULL, "op.index", 0, 0);
    uint64_t n = c.result.values[2];
    assert_int_equal(test_offsets(&c, 1)[n], c.result.values[3]);
    for (uint64_t i = 0; i < n; i++) {
        char now[16] = "";
        uint64_t from = test_offsets(&c, 1)[i], to = test_offsets(&c, 1)[i + 1];
        memcpy(now, (char *)test_values(&c, 1) + from, to - from);
        assert_true(i == 0 || strcmp(before, now) < 0);
        memcpy(before, now, 16);
        for (int row = 0; row < ROWS; row++)
            assert_int_equal(id[row] == i, strcmp(texts[row], now) == 0);
    }
    test_offsets(&c, 2)[3] = 16 * ROWS + 1;
    assert_int_equal(test_run(&c, NULL, "op.index", 0, 0), HAC_INVALID);
    test_call_clear(&c);
}

static void test_tokenize(void **unused)
{
    static char lines[3000][16];
    test_call c;
    uint64_t words = 0, bytes = 0;
    (void)unused;
    test_call_init(&c, 0);
    test_text(&c, 9000, 40000);
    uint64_t *rows = test_dense(&c, HAC_KIND_U64, 9000, 1);
    test_text(&c, 3000, 48000);
    c.operands[2].first = 4096;
    for (int i = 0; i < 3000; i++)
        for (size_t j = 0; j < hac_random_u64(&state) % 16; j++)
            lines[i][j] = " \t\n\v\f\rabcdefgh\xe4"[hac_random_u64(&state) % 15];
    put_texts(&c, 2, lines, 3000);
    test_run_well(&c, NULL, "op.tokenize", 0, 0);
    for (int i = 0; i < 3000; i++)
        for (char *rest = lines[i], *word; (word = strtok_r(rest, " \t\n\v\f\r", &rest)) != NULL; words++) {
            assert_int_equal(test_offsets(&c, 0)[words], bytes);
            assert_memory_equal((char *)test_values(&c, 0) + bytes, word, strlen(word));
            assert_int_equal(rows[words], 4096 + i);
            bytes += strlen(word);
        }
    assert_int_equal(c.result.values[0], words);
    assert_int_equal(c.result.values[1], bytes);
    assert_int_equal(c.result.values[2], words);
    c.operands[0].rows = words - 1;
    assert_int_equal(test_run(&c, NULL, "op.tokenize", 0, 0), HAC_OK);
    assert_int_equal(c.result.values[0], words);
    test_call_clear(&c);
}

/* ---- memory that others change meanwhile ---- */

typedef struct meddler {
    test_call *call;
    atomic_bool stop;
} meddler;

/* Writes bytes, and sometimes whole words, anywhere into the call's memory. */
static void *meddle(void *argument)
{
    meddler *m = argument;
    uint64_t own = 77;
    while (!atomic_load(&m->stop)) {
        uint64_t r = hac_random_u64(&own);
        size_t operand = r % m->call->call.n_operands;
        uint64_t at = (r >> 8) % (m->call->bytes[operand] - 7);
        if (r >> 60 == 0)
            memset(m->call->memory[operand] + at, 0xff, 8);
        else
            m->call->memory[operand][at] = (uint8_t)(r >> 40);
    }
    return NULL;
}

static void try_meddling(test_call *c, const char *codelet)
{
    meddler m = {.call = c};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, meddle, &m), 0);
    for (int i = 0; i < 60; i++) {
        for (size_t o = 0; o < c->call.n_operands; o++)
            if (c->operands[o].form != HAC_VECTOR_FIX_VALUE) /* restored, for a while */
                for (uint64_t row = 0; row <= c->operands[o].rows; row++)
                    test_offsets(c, o)[row] = row * (c->operands[o].entries / c->operands[o].rows);
        hac_status status = test_run(c, NULL, codelet, 0, 0);
        assert_true(status == HAC_OK || status == HAC_INVALID || status == HAC_FAILED);
        for (size_t o = 0; o < c->call.n_operands; o++)
            assert_true(test_guard_is_whole(c->memory[o], c->bytes[o]));
    }
    atomic_store(&m.stop, true);
    pthread_join(thread, NULL);
    test_call_clear(c);
}

/* Nothing outside of the spans is touched (AddressSanitizer watches, too), and every run ends. */
static void test_memory_that_changes(void **unused)
{
    enum { ROWS = 3000 };
    test_call c;
    (void)unused;
#if defined(__SANITIZE_THREAD__)
    skip(); /* this race is intended */
#endif
    test_call_init(&c, 0);
    test_sparse(&c, HAC_KIND_F64, 200, 200, 2 * ROWS);
    memset(test_dense(&c, HAC_KIND_U32, ROWS, 1), 0, 4 * ROWS);
    memset(test_dense(&c, HAC_KIND_U32, ROWS, 1), 0, 4 * ROWS);
    try_meddling(&c, "op.csr");
    test_call_init(&c, 0);
    test_sparse(&c, HAC_KIND_F64, 200, ROWS, 4 * ROWS);
    test_sparse(&c, HAC_KIND_F64, ROWS, 200, 4 * ROWS);
    memset(test_indices(&c, 1), 0, 16 * ROWS);
    try_meddling(&c, "op.transpose");
    test_call_init(&c, 0);
    test_dense(&c, HAC_KIND_F64, ROWS, 1);
    test_sparse(&c, HAC_KIND_F64, ROWS, 200, 4 * ROWS);
    memset(test_indices(&c, 1), 0, 16 * ROWS);
    test_dense(&c, HAC_KIND_F64, 200, 1);
    try_meddling(&c, "op.spmv");
    test_call_init(&c, 0);
    test_text(&c, 4 * ROWS, 16 * ROWS);
    test_dense(&c, HAC_KIND_U64, 4 * ROWS, 1);
    test_text(&c, ROWS, 16 * ROWS);
    try_meddling(&c, "op.tokenize");
    test_call_init(&c, 0);
    test_dense(&c, HAC_KIND_U32, ROWS, 1);
    test_text(&c, ROWS, 16 * ROWS);
    test_text(&c, ROWS, 16 * ROWS);
    try_meddling(&c, "op.index");
    test_call_init(&c, 0);
    test_dense(&c, HAC_KIND_U32, ROWS, 1);
    test_dense(&c, HAC_KIND_I64, ROWS, 1);
    memset(test_dense(&c, HAC_KIND_I64, ROWS, 1), 0, 8 * ROWS);
    try_meddling(&c, "op.index");
    test_call_init(&c, 0);
    c.call.n = 5;
    test_dense(&c, HAC_KIND_F64, 5, 2);
    memset(test_dense(&c, HAC_KIND_U32, ROWS, 1), 0, 4 * ROWS);
    test_dense(&c, HAC_KIND_F64, ROWS, 1);
    try_meddling(&c, "op.keys");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distances),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_histogram),
        cmocka_unit_test(test_borders),
        cmocka_unit_test(test_widest_histogram),
        cmocka_unit_test(test_extreme_distances),
        cmocka_unit_test(test_csr),
        cmocka_unit_test(test_wide_csr),
        cmocka_unit_test(test_ones),
        cmocka_unit_test(test_transpose),
        cmocka_unit_test(test_index),
        cmocka_unit_test(test_index_of_prepared_keys),
        cmocka_unit_test(test_index_of_texts),
        cmocka_unit_test(test_tokenize),
        cmocka_unit_test(test_memory_that_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
