/* SPDX-License-Identifier: Apache-2.0 */
#include "base/table.h"

#include <string.h>

#include "base/test_support.h"

#define KIND(k)                                                                                              \
    {                                                                                                        \
        .kind = (k)                                                                                          \
    }

static hac_status check(hac_table_column column, uint64_t rows, uint64_t bytes, const char *wanted)
{
    hac_error err = HAC_ERROR_NONE;
    hac_table table = {rows, 1, &column};
    hac_status status = hac_table_check(&table, bytes, &err);
    if (status != HAC_OK)
        hac_test_assert_says(err.message, wanted);
    return status;
}

static const hac_table_column plain = {.type = KIND(HAC_KIND_I64), .validity = HAC_TABLE_NONE, .values = 64};

static void test_parts_lie_within(void **state)
{
    (void)state;
    assert_int_equal(check(plain, 8, 128, ""), HAC_OK);
    assert_int_equal(check(plain, 9, 128, "column 0: its values"), HAC_INVALID);
    assert_int_equal(check(plain, 8, 127, "values"), HAC_INVALID);
    assert_int_equal(check(plain, 0, 64, ""), HAC_OK);
    assert_int_equal(check(plain, 0, 63, "values"), HAC_INVALID);
    hac_table_column column = plain;
    column.values = 65;
    assert_int_equal(check(column, 1, 1000, "multiple of 64"), HAC_INVALID);
    column.values = HAC_TABLE_NONE;
    assert_int_equal(check(column, 0, 1000, "values"), HAC_INVALID);
    column.values = UINT64_MAX - 63;
    assert_int_equal(check(column, 8, 1000, "values"), HAC_INVALID);
}

static void test_validity(void **state)
{
    (void)state;
    hac_table_column column = plain;
    column.validity = 128;
    assert_int_equal(check(column, 8, 129, ""), HAC_OK);
    assert_int_equal(check(column, 8, 128, "null bits"), HAC_INVALID);
    column.values = 0;
    assert_int_equal(check(column, 9, 129, "null bits"), HAC_INVALID);
    column.validity = 100;
    assert_int_equal(check(column, 8, 200, "multiple"), HAC_INVALID);
}

static void test_sizes_overflow(void **state)
{
    (void)state;
    static const uint64_t rows[] = {UINT64_MAX,         UINT64_MAX - 1,     UINT64_MAX / 8,
                                    UINT64_MAX / 8 + 1, UINT64_MAX / 4 - 1, UINT64_MAX / 16 + 1};
    static const hac_value_type types[] = {KIND(HAC_KIND_I64),
                                           KIND(HAC_KIND_U8),
                                           KIND(HAC_KIND_BOOL),
                                           KIND(HAC_KIND_STRING),
                                           {HAC_KIND_DECIMAL, 38, 2}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (size_t t = 0; t < sizeof types / sizeof *types; t++)
            for (int large = 0; large < 2; large++) {
                hac_table_column column = {.type = types[t],
                                           .large = large != 0,
                                           .validity = HAC_TABLE_NONE,
                                           .bytes = HAC_TABLE_NONE};
                assert_int_equal(check(column, rows[r], 1 << 20, "column 0"), HAC_INVALID);
            }
}

static void test_types_and_width(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    hac_table_column column = plain;
    column.type.kind = HAC_KIND_END;
    assert_int_equal(check(column, 1, 1000, "type"), HAC_INVALID);
    column.type = (hac_value_type){HAC_KIND_DECIMAL, 39, 0};
    assert_int_equal(check(column, 1, 1000, "type"), HAC_INVALID);
    column.type = (hac_value_type){HAC_KIND_DECIMAL, 19, 0};
    column.values = 0;
    assert_int_equal(check(column, 4, 64, ""), HAC_OK); /* 16 bytes each */
    assert_int_equal(check(column, 5, 64, "values"), HAC_INVALID);
    static hac_table_column many[HAC_COLUMNS_MAX + 1];
    for (size_t i = 0; i <= HAC_COLUMNS_MAX; i++)
        many[i] = (hac_table_column){.type = KIND(HAC_KIND_U8), .validity = HAC_TABLE_NONE};
    hac_table table = {1, HAC_COLUMNS_MAX, many};
    assert_int_equal(hac_table_check(&table, 64, &err), HAC_OK);
    table.n_columns++;
    assert_int_equal(hac_table_check(&table, 64, &err), HAC_INVALID);
}

/* Offsets 0, 1, 3, 3 of "abc", then with each of them spoilt. */
static void check_strings(bool large)
{
    _Alignas(64) uint8_t memory[192] = {0};
    hac_table_column column = {.type = KIND(HAC_KIND_STRING),
                               .large = large,
                               .validity = HAC_TABLE_NONE,
                               .values = 0,
                               .bytes = 64,
                               .n_bytes = 3};
    memcpy(memory + 64, "abc", 3);
    for (int spoilt = -1; spoilt < 4; spoilt++) {
        for (int bad = 0; bad < 2; bad++) {
            int64_t offsets[4] = {0, 1, 3, 3};
            if (spoilt >= 0)
                offsets[spoilt] = bad ? -1 : 4;
            for (int i = 0; i < 4; i++) {
                int32_t narrow = (int32_t)offsets[i];
                memcpy(memory + (size_t)i * (large ? 8 : 4), large ? (void *)&offsets[i] : (void *)&narrow,
                       large ? 8 : 4);
            }
            for (uint64_t row = 0; row < 3; row++) {
                const uint8_t *text;
                uint64_t bytes;
                bool wanted = offsets[row] >= 0 && offsets[row + 1] >= offsets[row] && offsets[row + 1] <= 3;
                assert_int_equal(hac_table_string(&column, memory, row, &text, &bytes), wanted);
                if (wanted) {
                    assert_ptr_equal(text, memory + 64 + offsets[row]);
                    assert_int_equal(bytes, offsets[row + 1] - offsets[row]);
                }
            }
        }
    }
}

static void test_strings(void **state)
{
    (void)state;
    check_strings(false);
    check_strings(true);
}

static void test_column_of_empty_strings(void **state)
{
    (void)state;
    _Alignas(64) uint8_t memory[64] = {0};
    hac_table_column column = {
        .type = KIND(HAC_KIND_STRING), .validity = HAC_TABLE_NONE, .bytes = HAC_TABLE_NONE};
    const uint8_t *text = NULL;
    uint64_t bytes = 1;
    assert_int_equal(check(column, 3, 64, ""), HAC_OK);
    assert_true(hac_table_string(&column, memory, 2, &text, &bytes));
    assert_int_equal(bytes, 0);
    assert_non_null(text);
    column.n_bytes = 1;
    assert_int_equal(check(column, 3, 64, "characters"), HAC_INVALID);
    column.bytes = 0;
    column.n_bytes = 65;
    assert_int_equal(check(column, 3, 64, "characters"), HAC_INVALID);
    assert_int_equal(check(column, 16, 65, "values"), HAC_INVALID); /* 17 offsets */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_lie_within), cmocka_unit_test(test_validity),
        cmocka_unit_test(test_sizes_overflow),   cmocka_unit_test(test_types_and_width),
        cmocka_unit_test(test_strings),          cmocka_unit_test(test_column_of_empty_strings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
