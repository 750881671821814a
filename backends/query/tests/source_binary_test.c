/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of fixed and table. */
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "source_support.h"

/* ---- fixed ---- */

static void test_fixed(void **state)
{
    (void)state;
    test_query q;
    test_query_make(
        &q, HAC_INPUT_FIXED, false,
        "a:i8 b:u16 c:i32 d:f64 e:bool f:date g:decimal(4,1) h:decimal(20,0) i:f32 j:u64 k:timestamp");
    uint8_t data[3 * 64];
    assert_int_equal(q.query.schema_columns, 64);
    for (size_t i = 0; i < 3; i++) {
        uint8_t *at = data + 64 * i;
        memset(at, 0, 64);
        at[0] = 0xff;
        at[1] = 1, at[2] = 2;
        memcpy(at + 3, &(int32_t){-5}, 4);
        memcpy(at + 7, &(double){0.5 * (double)i}, 8);
        at[15] = (uint8_t)(2 * i);
        memcpy(at + 16, &(int32_t){-1}, 4);
        memcpy(at + 20, &(int64_t){9999}, 8);
        memcpy(at + 28, &(__int128){-1}, 16);
        memcpy(at + 44, &(float){1.5f}, 4);
        memcpy(at + 48, &(uint64_t){UINT64_MAX}, 8);
        memcpy(at + 56, &(int64_t){INT64_MIN}, 8);
    }
    char wanted[1000];
    size_t n = 0;
    for (int i = 0; i < 3; i++)
        n += (size_t)sprintf(wanted + n,
                             "-1|513|-5|%.17g|%s|-1|9999|-1:18446744073709551615|1.5|18446744073709551615|"
                             "-9223372036854775808|\n",
                             0.5 * i, i > 0 ? "true" : "false");
    test_check_chunks(&q.query, (char *)data, sizeof data, wanted);
}

static void test_fixed_errors(void **state)
{
    (void)state;
    test_query q;
    test_query_make(&q, HAC_INPUT_FIXED, false, "a:i64 b:i8");
    test_reading reading = {.data = "1234567890", .bytes = 10};
    hac_autofree char *got = test_read(&q.query, &reading);
    assert_string_equal(got, "error: 10 bytes are no whole number of records of 9 bytes");
    q.positions[1] = 9;
    hac_autofree char *outside = test_read(&q.query, &reading);
    assert_string_equal(outside, "error: column 'b' lies outside of its record");
    test_query_make(&q, HAC_INPUT_FIXED, false, "a:string");
    hac_autofree char *string = test_read(&q.query, &reading);
    assert_string_equal(string, "error: column 'a': records of fixed width have no strings");
    test_query_make(&q, HAC_INPUT_FIXED, false, "");
    hac_autofree char *none = test_read(&q.query, &reading);
    assert_string_equal(none, "error: a record of fixed width needs at least one column");
}

static void test_fixed_decimals(void **state)
{
    (void)state;
    int64_t data[] = {99, -99, 100, 5, -100};
    test_query q;
    test_query_make(&q, HAC_INPUT_FIXED, false, "a:decimal(2,0)");
    test_reading reading = {.data = (char *)data, .bytes = sizeof data};
    hac_autofree char *got = test_read(&q.query, &reading);
    assert_string_equal(got, "99|\n-99|\nerror: record 3, column a: the value has more than 2 digits");
    q.query.source.options.skip_errors = true;
    test_check_chunks(&q.query, (char *)data, sizeof data, "99|\n-99|\n5|\nskipped: 2");
}

static void test_fixed_many(void **state)
{
    (void)state;
    const size_t rows = 100000;
    hac_autofree uint8_t *data = malloc(rows * 7);
    hac_text wanted = HAC_TEXT_NONE;
    for (uint32_t r = 0; r < rows; r++) {
        memset(data + r * 7, 0, 7);
        memcpy(data + r * 7 + 3, &r, 4);
        hac_text_addf(&wanted, "%u|\n", r);
    }
    hac_text_add_bytes(&wanted, "", 1);
    test_query q;
    test_query_make(&q, HAC_INPUT_FIXED, false, "a:u32");
    q.positions[0] = 3;
    q.query.schema_columns = 7;
    for (uint64_t chunk = 0; chunk < 600000; chunk += 99990) {
        test_reading reading = {
            .data = (char *)data, .bytes = rows * 7, .chunk = chunk, .file = chunk % 4 == 2};
        hac_autofree char *got = test_read(&q.query, &reading);
        assert_string_equal(got, wanted.data);
    }
    hac_text_clear(&wanted);
}

/* ---- table ---- */

#define ROWS 5000

typedef struct test_table {
    hac_table table;
    hac_table_column columns[16];
    uint8_t *memory;
    size_t bytes;
} test_table;

static uint64_t take(test_table *t, size_t bytes)
{
    size_t at = t->bytes;
    t->bytes += (bytes + 63) / 64 * 64;
    return at;
}

static void set_bit(uint8_t *bits, size_t i)
{
    bits[i / 8] = (uint8_t)(bits[i / 8] | 1 << i % 8);
}

/* i64 with nulls, bool, string (32-bit offsets) with nulls, string (64-bit), u8, decimal(20,0) */
static void make_table(test_table *t, uint64_t rows, uint64_t seed, hac_text *wanted)
{
    static const char *const types[] = {"i64", "bool", "string", "string", "u8", "decimal(20,0)"};
    memset(t, 0, sizeof *t);
    t->memory = aligned_alloc(64, 1 << 20);
    assert_non_null(t->memory);
    memset(t->memory, 0, 1 << 20);
    for (size_t c = 0; c < 6; c++) {
        hac_table_column *column = &t->columns[c];
        assert_int_equal(hac_value_type_parse(types[c], strlen(types[c]), &column->type, NULL), HAC_OK);
        column->validity = c == 0 || c == 2 ? take(t, ROWS / 8 + 1) : HAC_TABLE_NONE;
        column->large = c == 3;
        column->values = take(t, (ROWS + 1) * 16);
        column->bytes = c == 2 || c == 3 ? take(t, ROWS * 8) : HAC_TABLE_NONE;
    }
    for (size_t r = 0; r < rows; r++) {
        uint64_t v = hac_random_u64(&seed);
        bool null = v % 7 == 0 && r > 2000, null_string = v % 5 == 0;
        memcpy(t->memory + t->columns[0].values + r * 8, &v, 8);
        if (!null)
            set_bit(t->memory + t->columns[0].validity, r);
        if (v % 3 == 0)
            set_bit(t->memory + t->columns[1].values, r);
        if (!null_string)
            set_bit(t->memory + t->columns[2].validity, r);
        for (size_t c = 2; c <= 3; c++) {
            size_t n = v % 6;
            memset(t->memory + t->columns[c].bytes + t->columns[c].n_bytes, 'a' + (int)(v % 26), n);
            t->columns[c].n_bytes += n;
        }
        memcpy(t->memory + t->columns[2].values + (r + 1) * 4, &t->columns[2].n_bytes, 4);
        memcpy(t->memory + t->columns[3].values + (r + 1) * 8, &t->columns[3].n_bytes, 8);
        t->memory[t->columns[4].values + r] = (uint8_t)v;
        memcpy(t->memory + t->columns[5].values + r * 16, &(__int128){v}, 16);
        char text[8] = {0};
        memset(text, 'a' + (int)(v % 26), v % 6);
        hac_text_addf(wanted, null ? "-|" : "%lld|", (long long)v);
        hac_text_add(wanted, v % 3 == 0 ? "true|" : "false|");
        hac_text_addf(wanted, null_string ? "-|" : "<%zu:%s>|", strlen(text), text);
        hac_text_addf(wanted, "<%zu:%s>|%u|0:%llu|\n", strlen(text), text, (unsigned)(uint8_t)v,
                      (unsigned long long)v);
    }
    hac_text_add_bytes(wanted, "", 1);
    t->table = (hac_table){rows, 6, t->columns};
}

static void table_query(test_query *q)
{
    test_query_make(q, HAC_INPUT_TABLE, false, "a:i64 b:bool c:string d:string e:u8 f:decimal(20,0)");
}

static void test_table_rows(void **state)
{
    (void)state;
    static const uint64_t rows[] = {0, 1, 7, 8, 9, 1023, 1024, 1025, ROWS};
    static const uint64_t chunks[] = {0, 1, 3, 8, 1000, 1024, 1025, 4096};
    test_query q;
    table_query(&q);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        test_table t;
        hac_text wanted = HAC_TEXT_NONE;
        make_table(&t, rows[i], 50 + i, &wanted);
        for (size_t c = 0; c < sizeof chunks / sizeof *chunks; c++) {
            test_reading reading = {
                .data = (char *)t.memory, .bytes = t.bytes, .table = &t.table, .chunk = chunks[c]};
            hac_autofree char *got = test_read(&q.query, &reading);
            if (strcmp(got, wanted.data) != 0)
                fail_msg("%llu rows in chunks of %llu", (unsigned long long)rows[i],
                         (unsigned long long)chunks[c]);
        }
        free(t.memory);
        hac_text_clear(&wanted);
    }
}

static void check_table(const test_query *q, const test_table *t, const char *wanted)
{
    test_reading reading = {.data = (char *)t->memory, .bytes = t->bytes, .table = &t->table};
    hac_autofree char *got = test_read(&q->query, &reading);
    if (strstr(got, wanted) == NULL || strstr(got, "error: ") == NULL)
        fail_msg("'%s' is not in '%.200s'", wanted, strstr(got, "error: ") ? strstr(got, "error: ") : "rows");
}

static void test_table_errors(void **state)
{
    (void)state;
    test_table t;
    test_query q;
    hac_text wanted = HAC_TEXT_NONE;
    make_table(&t, ROWS, 1, &wanted);
    hac_text_clear(&wanted);
    table_query(&q);
    q.fields[0].type.kind = HAC_KIND_I32;
    check_table(&q, &t, "column 'a' is i64 in the table, not i32");
    table_query(&q);
    q.positions[5] = 6;
    check_table(&q, &t, "the table has no column 6 ('f')");
    table_query(&q);
    t.table.rows = ROWS * 100;
    check_table(&q, &t, "table column 0: its ");
    t.table.rows = ROWS;
    memcpy(t.memory + t.columns[2].values + 1500 * 4, &(int32_t){-1}, 4);
    check_table(&q, &t, "row 1500, column c: its string does not lie within the column");
    for (size_t r = 1490; r < 1510; r++) /* a null's offsets must be in order, too */
        t.memory[t.columns[2].validity + r / 8] &= (uint8_t) ~(1 << r % 8);
    check_table(&q, &t, "row 1500, column c: its string does not lie within the column");
    free(t.memory);
}

static void test_table_hostile_offsets(void **state)
{
    (void)state;
    static const int64_t bad[] = {-1, INT64_MIN, INT64_MAX, INT32_MAX, 1 << 20, 0};
    test_query q;
    table_query(&q);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (size_t row = 0; row <= ROWS; row += 500) {
            test_table t;
            hac_text wanted = HAC_TEXT_NONE;
            make_table(&t, ROWS, 1, &wanted);
            hac_text_clear(&wanted);
            memcpy(t.memory + t.columns[3].values + row * 8, &bad[i], 8);
            if (bad[i] != 0 || row > 0)
                check_table(&q, &t, "column d: its string does not lie within the column");
            free(t.memory);
        }
}

static void test_table_decimals(void **state)
{
    (void)state;
    test_table t;
    test_query q;
    hac_text wanted = HAC_TEXT_NONE;
    make_table(&t, 10, 1, &wanted);
    hac_text_clear(&wanted);
    table_query(&q);
    __int128 large = 1;
    for (int i = 0; i < 20; i++)
        large *= 10;
    memcpy(t.memory + t.columns[5].values + 9 * 16, &large, 16);
    check_table(&q, &t, "row 10, column f: the value has more than 20 digits");
    t.columns[5].validity = take(&t, 64); /* nulls may have any value */
    memset(t.memory + t.columns[5].validity, 0, 64);
    test_reading reading = {.data = (char *)t.memory, .bytes = t.bytes, .table = &t.table};
    hac_autofree char *got = test_read(&q.query, &reading);
    assert_null(strstr(got, "error"));
    free(t.memory);
}

/* A column of 6 GiB (memory that is never touched): batches end where 32-bit refs would not reach. */
static void test_table_of_large_strings(void **state)
{
    (void)state;
    _Alignas(64) static uint8_t memory[64];
    int64_t offsets[5] = {0, 3000000000, 3000000001, 6000000000, 6000000000};
    memcpy(memory, offsets, sizeof offsets);
    hac_table_column column = {.large = true,
                               .type = {.kind = HAC_KIND_STRING},
                               .validity = HAC_TABLE_NONE,
                               .bytes = 64,
                               .n_bytes = 6000000000};
    hac_table table = {4, 1, &column};
    test_query q;
    test_query_make(&q, HAC_INPUT_TABLE, false, "a:string");
    hac_source_place place = {.fd = -1, .memory = memory, .bytes = 6000000064};
    hac_source *source = NULL;
    hac_batch batch;
    assert_int_equal(hac_source_open(&q.query, &place, &table, &source, NULL), HAC_OK);
    assert_int_equal(hac_source_begin(source, 0, 4, false, NULL), HAC_OK);
    assert_int_equal(hac_source_next(source, &batch, NULL), HAC_OK);
    assert_int_equal(batch.rows, 2);
    assert_int_equal(((hac_string_ref *)batch.columns->values)[0].length, 3000000000);
    assert_int_equal(hac_source_next(source, &batch, NULL), HAC_OK);
    assert_int_equal(batch.rows, 2);
    assert_int_equal((uintptr_t)batch.columns->bytes, (uintptr_t)memory + 64 + 3000000001);
    assert_int_equal(((hac_string_ref *)batch.columns->values)[0].length, 2999999999);
    assert_int_equal(hac_source_next(source, &batch, NULL), HAC_NOT_FOUND);
    memcpy(memory + 8, &(int64_t){5000000000}, 8);
    memcpy(memory + 16, &(int64_t){5000000000}, 8);
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(hac_source_begin(source, 0, 4, false, NULL), HAC_OK);
    assert_int_equal(hac_source_next(source, &batch, &err), HAC_FAILED);
    assert_string_equal(err.message, "row 1, column a: its string is longer than 4 GiB");
    hac_source_free(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixed),
        cmocka_unit_test(test_fixed_errors),
        cmocka_unit_test(test_fixed_decimals),
        cmocka_unit_test(test_fixed_many),
        cmocka_unit_test(test_table_rows),
        cmocka_unit_test(test_table_errors),
        cmocka_unit_test(test_table_hostile_offsets),
        cmocka_unit_test(test_table_decimals),
        cmocka_unit_test(test_table_of_large_strings),
    };
    return cmocka_run_group_tests(tests, hac_test_fds_setup, hac_test_fds_teardown);
}
