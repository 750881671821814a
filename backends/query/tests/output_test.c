/* SPDX-License-Identifier: Apache-2.0 */
#include "query/output.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "source_support.h"

#define CAPACITY 4096

static hac_value_type type_of(const char *name)
{
    hac_value_type type = {0};
    assert_int_equal(hac_value_type_parse(name, strlen(name), &type, NULL), HAC_OK);
    return type;
}

/* One column, one row, without its newline; for JSON without {"x": and }. */
static void check_cell(const char *type, const void *value, const char *csv, const char *json)
{
    hac_field field = {.name = "x", .type = type_of(type)};
    hac_schema schema = {&field, 1};
    hac_column column = {.type = field.type, .values = (void *)(uintptr_t)value};
    for (int format = HAC_RESULT_CSV; format <= HAC_RESULT_JSON; format++) {
        uint8_t data[CAPACITY];
        char wanted[CAPACITY];
        hac_output_buffer output = {.data = data, .capacity = sizeof data};
        snprintf(wanted, sizeof wanted, format == HAC_RESULT_JSON ? "{\"x\":%s}\n" : "%s\n",
                 format == HAC_RESULT_JSON ? json : csv);
        hac_output_rows(&output, (hac_result_format)format, &schema, 1, &column, 1);
        assert_in_range(output.bytes, 1, sizeof data - 1);
        data[output.bytes] = 0;
        assert_string_equal(data, wanted);
    }
}

static void test_values(void **state)
{
    (void)state;
    check_cell("i64", &(int64_t){INT64_MIN}, "-9223372036854775808", "-9223372036854775808");
    check_cell("i8", &(int64_t){-7}, "-7", "-7");
    check_cell("u64", &(uint64_t){UINT64_MAX}, "18446744073709551615", "18446744073709551615");
    check_cell("bool", &(uint8_t){1}, "true", "true");
    check_cell("bool", &(uint8_t){0}, "false", "false");
    check_cell("f64", &(double){0.1}, "0.1", "0.1");
    check_cell("f64", &(double){-0.0}, "-0.0", "-0.0");
    check_cell("f64", &(double){NAN}, "nan", "\"nan\"");
    check_cell("f64", &(double){-INFINITY}, "-inf", "\"-inf\"");
    check_cell("f32", &(float){0.1f}, "0.1", "0.1");
    check_cell("f32", &(float){INFINITY}, "inf", "\"inf\"");
    check_cell("date", &(int64_t){0}, "1970-01-01", "\"1970-01-01\"");
    check_cell("timestamp", &(int64_t){1500000}, "1970-01-01 00:00:01.500000",
               "\"1970-01-01 00:00:01.500000\"");
    check_cell("decimal(5,2)", &(int64_t){-105}, "-1.05", "-1.05");
    check_cell("decimal(38,1)", &(__int128){((__int128)1 << 80) * 10}, "1208925819614629174706176.0",
               "1208925819614629174706176.0");
}

static void check_text(const char *type, const char *text, size_t bytes, const char *csv, const char *json)
{
    hac_field field = {.name = "x", .type = type_of(type)};
    hac_schema schema = {&field, 1};
    hac_string_ref ref = {3, (uint32_t)bytes};
    hac_autofree uint8_t *memory = malloc(bytes + 3);
    memcpy(memory + 3, text, bytes);
    hac_column column = {.type = field.type, .values = &ref, .bytes = memory};
    for (int format = HAC_RESULT_CSV; format <= HAC_RESULT_JSON; format++) {
        uint8_t data[CAPACITY];
        hac_output_buffer output = {.data = data, .capacity = sizeof data};
        const char *wanted = format == HAC_RESULT_JSON ? json : csv;
        size_t around = format == HAC_RESULT_JSON ? 5 : 0;
        hac_output_rows(&output, (hac_result_format)format, &schema, 1, &column, 1);
        assert_int_equal(output.bytes, strlen(wanted) + around + (around ? 2 : 1));
        assert_memory_equal(data + around, wanted, strlen(wanted));
    }
}

static void check_string(const char *text, size_t bytes, const char *csv, const char *json)
{
    check_text("string", text, bytes, csv, json);
}

static void test_bytes(void **state)
{
    (void)state;
    char text[1000], hex[2001], json[2003];
    check_text("bytes", "", 0, "\"\"", "\"\"");
    check_text("bytes", "a\"\x00\xff", 4, "612200ff", "\"612200ff\"");
    for (size_t n = 1; n < sizeof text; n += 37) {
        for (size_t i = 0; i < n; i++) {
            text[i] = (char)(i * 7);
            sprintf(hex + 2 * i, "%02x", (unsigned)(i * 7) & 255u);
        }
        snprintf(json, sizeof json, "\"%s\"", hex);
        check_text("bytes", text, n, hex, json);
    }
}

static void test_strings(void **state)
{
    (void)state;
    check_string("", 0, "\"\"", "\"\"");
    check_string("a", 1, "a", "\"a\"");
    check_string("a,b", 3, "\"a,b\"", "\"a,b\"");
    check_string("\"", 1, "\"\"\"\"", "\"\\\"\"");
    check_string("a\"b\"", 4, "\"a\"\"b\"\"\"", "\"a\\\"b\\\"\"");
    check_string("a\nb", 3, "\"a\nb\"", "\"a\\nb\"");
    check_string("a\rb", 3, "\"a\rb\"", "\"a\\rb\"");
    check_string(" a ", 3, " a ", "\" a \"");
    check_string("\\\b\f\t\x01\x1f\x7f", 7, "\\\b\f\t\x01\x1f\x7f", "\"\\\\\\b\\f\\t\\u0001\\u001f\\u007f\"");
    check_string("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", 9, "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
                 "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"");
    check_string("x\xff\xc3", 3, "x\xff\xc3", "\"x\xef\xbf\xbd\xef\xbf\xbd\"");
    check_string("\xed\xa0\x80", 3, "\xed\xa0\x80",
                 "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""); /* a surrogate */
}

/* A byte that needs quotes or an escape, at every place of strings with lengths around the fast path's. */
static void test_special_byte_anywhere(void **state)
{
    (void)state;
    static const struct {
        char byte;
        const char *csv, *json;
    } cases[] = {{',', ",", ","}, {'"', "\"\"", "\\\""}, {'\n', "\n", "\\n"}, {'\r', "\r", "\\r"}};
    for (size_t c = 0; c < 4; c++)
        for (size_t bytes = 1; bytes < 50; bytes++)
            for (size_t at = 0; at < bytes; at++) {
                char text[64], csv[128], json[128];
                memset(text, 'x', bytes);
                text[at] = cases[c].byte;
                snprintf(csv, sizeof csv, "\"%.*s%s%.*s\"", (int)at, text, cases[c].csv,
                         (int)(bytes - at - 1), text + at + 1);
                snprintf(json, sizeof json, "\"%.*s%s%.*s\"", (int)at, text, cases[c].json,
                         (int)(bytes - at - 1), text + at + 1);
                check_string(text, bytes, csv, json);
            }
}

typedef struct rows {
    hac_field fields[3];
    hac_schema schema;
    hac_column columns[3];
    int64_t numbers[4];
    hac_string_ref refs[4];
    uint8_t states[4];
} rows;

/* id:i64, "a ""name""":string with a null, hidden:i64 */
static void make_rows(rows *r)
{
    memset(r, 0, sizeof *r);
    strcpy(r->fields[0].name, "id");
    strcpy(r->fields[1].name, "a \"name\",");
    r->fields[0].type = r->fields[2].type = type_of("i64");
    r->fields[1].type = type_of("string");
    r->schema = (hac_schema){r->fields, 3};
    for (int i = 0; i < 4; i++) {
        r->numbers[i] = i * 1000 - 1;
        r->refs[i] = (hac_string_ref){(uint32_t)i, (uint32_t)i % 3};
    }
    r->states[1] = HAC_ROW_NULL;
    r->columns[0] = (hac_column){.type = r->fields[0].type, .values = r->numbers};
    r->columns[1] = (hac_column){.type = r->fields[1].type,
                                 .values = r->refs,
                                 .states = r->states,
                                 .bytes = (const uint8_t *)"a,b\"c"};
    r->columns[2] = r->columns[0];
}

static const char *const whole[] = {
    "id,\"a \"\"name\"\",\"\n-1,\"\"\n999,\n1999,\"b\"\"\"\n2999,\"\"\n",
    "{\"id\":-1,\"a \\\"name\\\",\":\"\"}\n{\"id\":999,\"a \\\"name\\\",\":null}\n"
    "{\"id\":1999,\"a \\\"name\\\",\":\"b\\\"\"}\n{\"id\":2999,\"a \\\"name\\\",\":\"\"}\n"};

static void write_rows(const rows *r, hac_result_format format, hac_output_buffer *output)
{
    hac_output_header(output, format, &r->schema, 2);
    hac_output_rows(output, format, &r->schema, 2, r->columns, 4);
}

/* For every capacity: bytes that fit are written, nothing is written behind them, and all bytes are
 * counted. */
static void test_room(void **state)
{
    (void)state;
    rows r;
    make_rows(&r);
    for (int format = HAC_RESULT_CSV; format <= HAC_RESULT_JSON; format++) {
        size_t all = strlen(whole[format]);
        for (size_t capacity = 0; capacity <= all + 100; capacity++) {
            hac_autofree uint8_t *data = malloc(capacity + 1);
            data[capacity] = 0x55;
            hac_output_buffer output = {.data = data, .capacity = capacity};
            write_rows(&r, (hac_result_format)format, &output);
            assert_int_equal(output.bytes, all);
            assert_int_equal(data[capacity], 0x55);
            if (capacity >= all)
                assert_memory_equal(data, whole[format], all);
        }
        hac_output_buffer nowhere = {0};
        write_rows(&r, (hac_result_format)format, &nowhere);
        assert_int_equal(nowhere.bytes, all);
    }
}

static void test_no_columns(void **state)
{
    (void)state;
    rows r;
    uint8_t data[64];
    make_rows(&r);
    hac_output_buffer output = {.data = data, .capacity = sizeof data};
    hac_output_rows(&output, HAC_RESULT_JSON, &r.schema, 0, r.columns, 2);
    assert_int_equal(output.bytes, 6);
    assert_memory_equal(data, "{}\n{}\n", 6);
}

/* Results written as CSV or JSON are read back unchanged. */
static void round_trip(const char *schema)
{
    static const char alphabet[] = "ab,\"\n\r\\\t'{}:\x01 \xc3\xa4\xc3\xbc";
    enum { N = 1000 };
    static hac_string_ref refs[N];
    static int64_t numbers[N];
    static uint8_t states[N];
    static char bytes[N * 40];
    static uint8_t data[N * 400];
    uint64_t seed = 61;
    uint32_t used = 0;
    for (size_t i = 0; i < N; i++) {
        refs[i] = (hac_string_ref){used, (uint32_t)(hac_random_u64(&seed) % 40)};
        for (uint32_t b = 0; b < refs[i].length; b++)
            bytes[used + b] = alphabet[hac_random_u64(&seed) % (sizeof alphabet - 5)];
        used += refs[i].length;
        numbers[i] = (int64_t)hac_random_u64(&seed);
        states[i] = hac_random_u64(&seed) % 5 == 0;
    }
    test_query q;
    test_query_make(&q, HAC_INPUT_CSV, true, schema);
    hac_column columns[2] = {
        {.type = q.fields[0].type, .values = refs, .states = states, .bytes = (const uint8_t *)bytes},
        {.type = q.fields[1].type, .values = numbers}};
    char *read[2];
    for (int format = HAC_RESULT_CSV; format <= HAC_RESULT_JSON; format++) {
        hac_output_buffer output = {.data = data, .capacity = sizeof data};
        hac_output_header(&output, (hac_result_format)format, &q.query.columns, 2);
        hac_output_rows(&output, (hac_result_format)format, &q.query.columns, 2, columns, N);
        assert_true(output.bytes <= output.capacity);
        q.query.source.format = format == HAC_RESULT_CSV ? HAC_INPUT_CSV : HAC_INPUT_JSONL;
        test_reading reading = {.data = (char *)data, .bytes = output.bytes};
        read[format] = test_read(&q.query, &reading);
    }
    assert_string_equal(read[0], read[1]);
    const char *at = read[0];
    for (size_t i = 0; i < N; i++) {
        char wanted[128];
        int n = states[i] ? snprintf(wanted, sizeof wanted, "-|%lld|\n", (long long)numbers[i])
                          : snprintf(wanted, sizeof wanted, "<%u:%.*s>|%lld|\n", refs[i].length,
                                     (int)refs[i].length, bytes + refs[i].offset, (long long)numbers[i]);
        assert_memory_equal(at, wanted, (size_t)n);
        at += n;
    }
    assert_int_equal(*at, 0);
    free(read[0]);
    free(read[1]);
}

static void test_round_trip(void **state)
{
    (void)state;
    round_trip("s:string n:i64");
    round_trip("s:bytes n:i64");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),     cmocka_unit_test(test_strings),
        cmocka_unit_test(test_bytes),      cmocka_unit_test(test_special_byte_anywhere),
        cmocka_unit_test(test_room),       cmocka_unit_test(test_no_columns),
        cmocka_unit_test(test_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
