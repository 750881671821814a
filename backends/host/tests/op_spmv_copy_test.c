/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products with a copied matrix (op_spmv_copy.h) have the same bits as those without a copy: rows of lengths
 * around every limit, ranges of rows, unusual values. A matrix that makes the product fail is not copied.
 */
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "op_spmv_copy.h"
#include "test_ops.h"

static uint64_t state = 11;

typedef struct test_matrix {
    test_call c;
    hac_op_request request;
    uint64_t rows;
    double *y, *plain;
} test_matrix;

/* Rows of `length(i)` entries. */
static void begin(test_matrix *m, uint64_t rows, uint64_t columns, uint64_t (*length)(uint64_t i), bool ones)
{
    uint64_t entries = 0;
    for (uint64_t i = 0; i < rows; i++)
        entries += length(i);
    memset(m, 0, sizeof *m);
    m->rows = rows;
    test_call_init(&m->c, 0);
    m->y = test_dense(&m->c, HAC_KIND_F64, rows, 1);
    test_sparse(&m->c, HAC_KIND_F64, rows, columns, entries);
    test_fill(test_dense(&m->c, HAC_KIND_F64, columns, 1), HAC_KIND_F64, columns, &state, true);
    test_fill(test_values(&m->c, 1), HAC_KIND_F64, entries, &state, true);
    test_offsets(&m->c, 1)[0] = 0;
    for (uint64_t i = 0; i < rows; i++)
        test_offsets(&m->c, 1)[i + 1] = test_offsets(&m->c, 1)[i] + length(i);
    for (uint64_t e = 0; e < entries; e++)
        test_indices(&m->c, 1)[e] = (uint32_t)(hac_random_u64(&state) % columns);
    if (ones) {
        m->c.operands[1].ones = 1;
        m->c.operands[1].values = UINT64_MAX;
    }
    m->plain = malloc((rows + 1) * sizeof *m->plain);
    assert_non_null(m->plain);
}

static void end(test_matrix *m)
{
    free(m->plain);
    test_call_clear(&m->c);
}

/* The call's request, and in `plain` its product without a copy. */
static void read_request(test_matrix *m, uint64_t first, uint64_t count)
{
    assert_int_equal(test_run(&m->c, NULL, "op.spmv", first, count), HAC_OK);
    memcpy(m->plain, m->y, m->rows * sizeof *m->y);
    m->c.task.first = first;
    m->c.task.count = count;
    hac_status status = hac_op_request_read(hac_op_rule_find("op.spmv"), &m->c.task, &m->request, &m->c.err);
    assert_int_equal(status, HAC_OK);
    m->request.fixed = HAC_OP_SPMV_COPY_BYTES;
}

static void try_range(test_matrix *m, uint64_t first, uint64_t count)
{
    uint64_t values[HAC_TASK_VALUES_MAX];
    size_t n = 0;
    memset(m->y, 0x5a, m->rows * sizeof *m->y);
    read_request(m, first, count);
    memset(m->y, 0x5a, m->rows * sizeof *m->y);
    for (int again = 0; again < 2; again++) {
        hac_status status = hac_op_rule_find("op.spmv")->run(&m->request, values, &n, &m->c.err);
        assert_int_equal(status, HAC_OK);
        assert_non_null(m->request.copy);
        if (memcmp(m->y, m->plain, m->rows * sizeof *m->y) != 0)
            fail_msg("rows %llu + %llu of %llu differ", (unsigned long long)first, (unsigned long long)count,
                     (unsigned long long)m->rows);
    }
    hac_op_request_clear(&m->request);
    assert_null(m->request.copy);
}

static uint64_t all_lengths(uint64_t i)
{
    return i * 7 % 300;
}

static uint64_t short_and_long(uint64_t i)
{
    return i % 97 == 5 ? 9000 : i % 3;
}

static uint64_t empty(uint64_t i)
{
    return i * 0;
}

static uint64_t one(uint64_t i)
{
    return 1 + i * 0;
}

static void try_shape(uint64_t rows, uint64_t columns, uint64_t (*length)(uint64_t i))
{
    for (int ones = 0; ones < 2; ones++) {
        test_matrix m;
        begin(&m, rows, columns, length, ones != 0);
        try_range(&m, 0, rows);
        for (unsigned turn = 0; turn < 8 && rows > 1; turn++) {
            uint64_t first = hac_random_u64(&state) % rows;
            try_range(&m, first, 1 + hac_random_u64(&state) % (rows - first));
        }
        end(&m);
    }
}

static void test_same_bits(void **unused)
{
    (void)unused;
    try_shape(1, 1, one);
    try_shape(3, 5, all_lengths);
    try_shape(300, 40, all_lengths);
    try_shape(1500, 70000, all_lengths);
    try_shape(4095, 9, one); /* parts end at 4,096 rows … */
    try_shape(4096, 9, one);
    try_shape(4097, 9, one);
    try_shape(8192, 9, one);
    try_shape(700, 3, short_and_long); /* … or 8,192 entries, or with one longer row */
    try_shape(10000, 50, empty);
}

static void expect_no_copy(test_matrix *m)
{
    hac_op_spmv_copy *copy = hac_op_spmv_copy_new(&m->request);
    assert_null(copy);
}

/* The request was read while all was well; others may change the memory at any time. */
static void test_not_copied(void **unused)
{
    (void)unused;
    test_matrix m;
    begin(&m, 2000, 100, all_lengths, false);
    read_request(&m, 10, 1500);
    uint32_t *column = &test_indices(&m.c, 1)[test_offsets(&m.c, 1)[1509]], was = *column;
    *column = 100;
    expect_no_copy(&m);
    *column = was;
    uint64_t *offsets = test_offsets(&m.c, 1);
    for (uint64_t row = 10; row <= 1510; row += 250)
        for (unsigned how = 0; how < 3; how++) {
            uint64_t keep = offsets[row];
            offsets[row] = how == 0 ? UINT64_MAX : how == 1 ? m.request.v[1].entries + 1 : 0;
            if (row != 10 || how != 2) /* it may begin at 0 */
                expect_no_copy(&m);
            offsets[row] = keep;
        }
    uint64_t values[HAC_TASK_VALUES_MAX];
    size_t n = 0;
    offsets[700] = UINT64_MAX; /* the product says what is wrong */
    assert_int_equal(hac_op_rule_find("op.spmv")->run(&m.request, values, &n, &m.c.err), HAC_INVALID);
    assert_non_null(strstr(m.c.err.message, "operand 1: row 699: its offsets"));
    hac_op_request_clear(&m.request);
    end(&m);
}

/* As many bytes as the copy may have, and fewer. */
static void test_bytes(void **unused)
{
    (void)unused;
    for (int ones = 0; ones < 2; ones++) {
        test_matrix m;
        begin(&m, 100, 9, one, ones != 0);
        read_request(&m, 0, 100);
        const uint64_t needed = 100 * (32 + (ones ? 4 : 12));
        m.request.fixed = needed;
        hac_op_spmv_copy *copy = hac_op_spmv_copy_new(&m.request);
        assert_non_null(copy);
        hac_op_spmv_copy_free(copy);
        for (uint64_t less = 1; less <= needed; less = less * 3 + 1) {
            m.request.fixed = needed - less;
            expect_no_copy(&m);
        }
        hac_op_request_clear(&m.request);
        end(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_not_copied),
        cmocka_unit_test(test_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
