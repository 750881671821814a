/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of typed bytes. */
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "source_support.h"

/* ---- making them ---- */

static void put_code(hac_text *data, unsigned code)
{
    test_put(data, true, 1, code);
}

static void put_string(hac_text *data, const char *text)
{
    put_code(data, 7);
    test_put_text(data, true, text, strlen(text));
}

static void put_int(hac_text *data, int32_t value)
{
    put_code(data, 3);
    test_put(data, true, 4, value);
}

static void put_double(hac_text *data, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_code(data, 6);
    test_put(data, true, 8, bits);
}

/* Makes an object from hexadecimal digits; blanks are ignored. */
static void put_hex(hac_text *data, const char *hex)
{
    unsigned byte;
    for (; *hex != 0; hex += 2) {
        hex += strspn(hex, " ");
        assert_int_equal(sscanf(hex, "%2x", &byte), 1);
        put_code(data, byte);
    }
}

static void check(const char *schema, const hac_text *data, bool skip, const char *wanted, const char *what)
{
    test_query q;
    test_query_make(&q, HAC_INPUT_TYPEDBYTES, false, schema);
    q.query.source.options.skip_errors = skip;
    for (int file = 0; file < 2; file++) {
        test_reading reading = {.data = data->data, .bytes = data->bytes, .file = file != 0};
        hac_autofree char *got = test_read(&q.query, &reading);
        if (strcmp(got, wanted) != 0)
            fail_msg("%s, %s: gives\n%s\nnot\n%s", schema, what, got, wanted);
    }
}

/* ---- objects and columns ---- */

static const struct {
    const char *object, *type, *wanted; /* of the value; `wanted` begins with '!' for an error */
} objects[] = {
    /* whole numbers */
    {"01 ff", "i8", "-1"},
    {"01 80", "i64", "-128"},
    {"01 ff", "u8", "!-1 is not a value of u8"},
    {"03 0000007f", "i8", "127"},
    {"03 00000080", "i8", "!128 is not a value of i8"},
    {"03 ffffff80", "i8", "-128"},
    {"03 ffffff7f", "i8", "!-129 is not a value of i8"},
    {"03 0000ffff", "u16", "65535"},
    {"03 00010000", "u16", "!65536 is not a value of u16"},
    {"03 80000000", "i32", "-2147483648"},
    {"04 7fffffffffffffff", "i64", "9223372036854775807"},
    {"04 8000000000000000", "i64", "-9223372036854775808"},
    {"04 8000000000000000", "u64", "!-9223372036854775808 is not a value of u64"},
    {"04 7fffffffffffffff", "u64", "9223372036854775807"},
    {"04 00000000ffffffff", "u32", "4294967295"},
    {"04 0000000100000000", "u32", "!4294967296 is not a value of u32"},
    {"04 0020000000000000", "f64", "9007199254740992"},
    {"04 0020000000000001", "f64", "!9007199254740993 is not a value of f64"},
    {"04 7fffffffffffffff", "f64", "!9223372036854775807 is not a value of f64"},
    {"04 8000000000000000", "f64", "-9.2233720368547758e+18"},
    {"03 01000000", "f32", "16777216"},
    {"03 01000001", "f32", "!16777217 is not a value of f32"},
    {"04 7fffffffffffffff", "f32", "!9223372036854775807 is not a value of f32"},
    {"03 0000007b", "decimal(5,2)", "12300"},
    {"03 000003e7", "decimal(5,2)", "99900"},
    {"03 000003e8", "decimal(5,2)", "!1000 is not a value of decimal(5,2)"},
    {"04 8000000000000000", "decimal(38,19)", "-5000000000000000000:0"},
    {"04 8000000000000000", "decimal(38,20)", "!-9223372036854775808 is not a value of decimal(38,20)"},
    {"01 05", "bool", "!a byte (5) is no bool"},
    {"03 00000001", "date", "!an int (1) is no date"},
    {"04 0000000000000001", "timestamp", "!a long (1) is no timestamp"},
    {"03 00000001", "bytes", "!an int (1) is no bytes"},
    {"01 fb", "string", "<2:-5>"},
    {"04 8000000000000000", "string", "<20:-9223372036854775808>"},
    /* floats */
    {"05 3fc00000", "f32", "1.5"},
    {"05 3dcccccd", "f64", "0.10000000149011612"},
    {"05 3dcccccd", "string", "<3:0.1>"},
    {"06 3fb999999999999a", "f32", "0.100000001"},
    {"06 3fb999999999999a", "f64", "0.10000000000000001"},
    {"06 3fb999999999999a", "string", "<3:0.1>"},
    {"06 7ff0000000000000", "f32", "inf"},
    {"06 7fefffffffffffff", "f32", "!1.7976931348623157e+308 is not a value of f32"},
    {"06 7ff8000000000000", "string", "<3:nan>"},
    {"06 3ff0000000000000", "i64", "!a double (1.0) is no i64"},
    {"05 3f800000", "decimal(5,2)", "!a float (1.0) is no decimal(5,2)"},
    /* bool */
    {"02 00", "bool", "false"},
    {"02 07", "bool", "true"},
    {"02 01", "string", "<4:true>"},
    {"02 00", "string", "<5:false>"},
    {"02 01", "i64", "!a bool (true) is no i64"},
    {"02 01", "f64", "!a bool (true) is no f64"},
    /* text: "-12", " 7 ", "1.5", "x", "yes", "2020-01-31", "2020-01-31 00:00:01", "300" */
    {"07 00000003 2d3132", "i64", "-12"},
    {"07 00000003 203720", "i64", "7"},
    {"07 00000003 312e35", "f64", "1.5"},
    {"07 00000003 312e35", "decimal(3,1)", "15"},
    {"07 00000003 312e35", "i64", "!'1.5' is not a whole number (i64)"},
    {"07 00000001 78", "i64", "!'x' is not a whole number (i64)"},
    {"07 00000001 78", "f64", "!'x' is not a number (f64)"},
    {"07 00000001 78", "bool", "!'x' is not true or false (bool)"},
    {"07 00000001 78", "date", "!'x' is not a date like 2020-01-31 (date)"},
    {"07 00000001 78", "timestamp", "!'x' is not a time like 2020-01-31 12:34:56 (timestamp)"},
    {"07 00000001 78", "decimal(3,1)", "!'x' is not a number (decimal(3,1))"},
    {"07 00000001 78", "bytes", "!'x' is not hexadecimal digits, two a byte (bytes)"},
    {"07 00000004 30313032", "bytes", "<2:\1\2>"},
    {"07 00000003 796573", "bool", "true"},
    {"07 0000000a 323032302d30312d3331", "date", "18292"},
    {"07 00000013 323032302d30312d33312030303a30303a3031", "timestamp", "1580428801000000"},
    {"07 00000003 333030", "u8", "!'300' is out of the range of u8"},
    {"07 00000003 333030", "decimal(3,1)", "!'300' is out of the range of decimal(3,1)"},
    {"07 00000001 78", "string", "<1:x>"},
    {"07 00000000", "string", "<0:>"},
    {"07 00000000", "bytes", "<0:>"},
    {"07 00000000", "i64", "-"},
    {"07 00000000", "date", "-"},
    {"07 00000001 20", "i64", "!' ' is not a whole number (i64)"},
    {"07 00000002 ff fe", "string", "<2:\xff\xfe>"}, /* need not be UTF-8 */
    /* bytes, and types with the same layout */
    {"00 00000002 6162", "string", "<2:ab>"},
    {"00 00000002 6162", "bytes", "<2:ab>"},
    {"00 00000000", "bytes", "<0:>"},
    {"00 00000000", "f64", "-"},
    {"00 00000001 31", "i64", "!bytes where i64 is wanted"},
    {"32 00000002 6162", "bytes", "<2:ab>"},
    {"b1 00000002 6162", "string", "<2:ab>"},
    {"c8 00000002 6162", "bytes", "<2:ab>"},
    {"c8 00000000", "i64", "-"},
    /* objects of objects */
    {"08 00000000", "i64", "!a vector where i64 is wanted"},
    {"09 03 00000001 ff", "string", "!a list where string is wanted"},
    {"0a 00000001 07 00000001 78 01 05", "bytes", "!a map where bytes is wanted"},
};

static void test_objects(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) {
        char schema[64], wanted[300];
        hac_text data = HAC_TEXT_NONE;
        const char *value = objects[i].wanted;
        snprintf(schema, sizeof schema, "key:string value:%s", objects[i].type);
        for (int again = 0; again < 2; again++) {
            put_string(&data, "k");
            put_hex(&data, objects[i].object);
        }
        if (value[0] == '!')
            snprintf(wanted, sizeof wanted, "error: record 1, column value: %s", value + 1);
        else
            snprintf(wanted, sizeof wanted, "<1:k>|%s|\n<1:k>|%s|\n", value, value);
        check(schema, &data, false, wanted, objects[i].object);
        snprintf(wanted, sizeof wanted, value[0] == '!' ? "skipped: 2" : "<1:k>|%s|\n<1:k>|%s|\nskipped: 0",
                 value, value);
        check(schema, &data, true, wanted, objects[i].object);
        hac_text_clear(&data);
    }
}

/* ---- columns by position ---- */

static void test_columns(void **state)
{
    (void)state;
    hac_text data = HAC_TEXT_NONE;
    put_int(&data, 1); /* a vector of all columns */
    put_hex(&data, "08 00000003 03 00000002 07 00000001 61 01 03");
    put_int(&data, 2); /* a list; the last column is missing */
    put_hex(&data, "09 03 00000004 07 00000001 62 ff");
    put_int(&data, 3); /* nested objects: one that no column asks for, and one that a column does */
    put_hex(&data, "08 00000003 03 00000005 09 08 00000001 01 01 ff 01 09");
    put_int(&data, 4);
    put_hex(&data, "08 00000000");
    put_int(&data, 5); /* too many */
    put_hex(&data, "08 00000004 01 01 01 02 01 03 01 04");
    put_int(&data, 6); /* none */
    put_hex(&data, "01 01");
    put_int(&data, 7);
    put_hex(&data, "09 ff");
    check("a:i32 b:i32 c:string d:i8", &data, true,
          "1|2|<1:a>|3|\n2|4|<1:b>|-|\n4|-|-|-|\n7|-|-|-|\nskipped: 3", "all");
    check("a:i32 b:i32 c:string d:i8", &data, false,
          "1|2|<1:a>|3|\n2|4|<1:b>|-|\nerror: record 3, column c: a list where string is wanted", "all");
    test_query q;
    test_query_make(&q, HAC_INPUT_TYPEDBYTES, false, "a:i32 d:i8");
    q.positions[1] = 3;
    q.query.schema_columns = 4;
    test_reading reading = {.data = data.data, .bytes = data.bytes};
    hac_autofree char *two = test_read(&q.query, &reading);
    assert_string_equal(two,
                        "1|3|\n2|-|\n3|9|\n4|-|\nerror: record 5: the value has 4 elements instead of 3");
    q.query.source.options.skip_errors = true;
    hac_autofree char *skipping = test_read(&q.query, &reading);
    assert_string_equal(skipping, "1|3|\n2|-|\n3|9|\n4|-|\n7|-|\nskipped: 2");
    test_query_make(&q, HAC_INPUT_TYPEDBYTES, false, "a:i32");
    hac_autofree char *keys = test_read(&q.query, &reading);
    assert_string_equal(keys, "1|\n2|\n3|\n4|\n5|\n6|\n7|\n");
    hac_text_clear(&data);
    put_int(&data, 6);
    put_hex(&data, "01 01");
    check("a:i32 b:i32 c:string", &data, false,
          "error: record 1: the value is a byte where a vector or a list of 2 columns is wanted", "scalar");
    hac_text_clear(&data);
}

/* ---- what cannot be skipped ---- */

static const struct {
    const char *value, *wanted;
} lost[] = {
    {"0b", "byte 8 of the record: an object's type is none of typed bytes"},
    {"c9 00000000", "byte 8 of the record: an object's type is none of typed bytes"},
    {"31 00000000", "byte 8 of the record: an object's type is none of typed bytes"},
    {"ff", "byte 8 of the record: a list's end stands where no list is"},
    {"08 00000001 ff", "byte 13 of the record: a list's end stands where no list is"},
    {"0a 00000001 01 01 ff", "byte 15 of the record: a list's end stands where no list is"},
    {"07 ffffffff", "byte 12 of the record: a length or a count is negative"},
    {"08 80000000", "byte 12 of the record: a length or a count is negative"},
    {"07 00000005 61626364", "byte 12 of the record: the input ends within this record"},
    {"00 7fffffff 61626364", "byte 12 of the record: the input ends within this record"},
    {"08 7fffffff 0101", "byte 14 of the record: the input ends within this record"},
    {"0a 00000002 0101", "byte 14 of the record: the input ends within this record"},
    {"09 0101", "byte 10 of the record: the input ends within this record"},
    {"03 000000", "byte 8 of the record: the input ends within this record"},
    {"07 0000", "byte 8 of the record: the input ends within this record"},
    {"", "byte 7 of the record: a key without a value"},
};

static void test_lost(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof lost / sizeof *lost; i++) {
        char wanted[300];
        hac_text data = HAC_TEXT_NONE;
        put_string(&data, "a");
        put_string(&data, "b");
        put_string(&data, "k");
        put_hex(&data, lost[i].value);
        const char *skip = "; it cannot be skipped, as nobody can tell where the next record begins";
        for (int skips = 0; skips < 2; skips++) {
            snprintf(wanted, sizeof wanted, "<1:a>|<1:b>|\nerror: record 2: %s%s", lost[i].wanted,
                     skips != 0 ? skip : "");
            check("key:string value:string", &data, skips != 0, wanted, lost[i].value);
        }
        hac_text_clear(&data);
    }
}

static void test_depth(void **state)
{
    (void)state;
    for (int depth = 63; depth < 67; depth++) {
        hac_text data = HAC_TEXT_NONE;
        put_string(&data, "k");
        for (int i = 0; i < depth; i++)
            put_hex(&data, i % 3 == 0 ? "08 00000001" : i % 3 == 1 ? "09" : "0a 00000001 01 01");
        put_hex(&data, "01 01");
        for (int i = depth - 1; i >= 0; i--)
            put_hex(&data, i % 3 == 1 ? "ff" : "");
        test_query q;
        test_query_make(&q, HAC_INPUT_TYPEDBYTES, false, "key:string");
        q.query.schema_columns = 2;
        test_reading reading = {.data = data.data, .bytes = data.bytes};
        hac_autofree char *got = test_read(&q.query, &reading);
        if (depth <= 64)
            assert_string_equal(got, "<1:k>|\n");
        else
            assert_non_null(strstr(got, "objects are nested more than 64 deep"));
        hac_text_clear(&data);
    }
}

/* ---- many ---- */

static void add_shown(hac_text *wanted, hac_text *data, size_t bytes, uint64_t v)
{
    hac_autofree char *text = malloc(bytes + 1);
    assert_non_null(text);
    memset(text, 'a' + (int)(v % 26), bytes);
    text[bytes] = 0;
    put_string(data, text);
    hac_text_addf(wanted, "<%zu:%s>|", bytes, text);
}

/* Texts and numbers in one string column, in runs, so that batches have only texts, only numbers, or both;
 * with records in error between them if `bad`. */
static size_t make_many(hac_text *data, hac_text *wanted, uint64_t *ends, size_t n, size_t longest, bool bad)
{
    uint64_t seed = n + longest;
    size_t skipped = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t v = hac_random_u64(&seed);
        if (bad && v % 5 == 0) {
            put_string(data, "x");
            put_hex(data, "08 00000001 07 00000001 78");
            skipped++;
        } else {
            put_code(data, 4);
            test_put(data, true, 8, (int64_t)v);
            put_hex(data, "08 00000003");
            put_double(data, (double)(v % 1000));
            hac_text_addf(wanted, "%lld|%llu|", (long long)v, (unsigned long long)v % 1000);
            if (i / 700 % 3 == 0 || v % 3 == 0) {
                add_shown(wanted, data, v % longest, v);
            } else {
                put_int(data, (int32_t)v);
                char text[16];
                int bytes = snprintf(text, sizeof text, "%d", (int32_t)v);
                hac_text_addf(wanted, "<%d:%s>|", bytes, text);
            }
            add_shown(wanted, data, v % 3, v + 1);
            hac_text_add(wanted, "\n");
        }
        ends[i] = data->bytes;
    }
    if (bad)
        hac_text_addf(wanted, "skipped: %zu", skipped);
    return skipped;
}

static void test_many(void **state)
{
    (void)state;
    static const struct {
        size_t n, longest;
    } sizes[] = {{1, 5}, {1023, 5}, {1024, 5}, {1025, 5}, {10000, 30}, {3000, 1000}, {8, 600000}};
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
        size_t n = sizes[i / 2].n;
        hac_text data = HAC_TEXT_NONE, wanted = HAC_TEXT_NONE;
        hac_autofree uint64_t *ends = calloc(n, sizeof *ends);
        assert_non_null(ends);
        make_many(&data, &wanted, ends, n, sizes[i / 2].longest, i % 2 == 1);
        test_query q;
        test_query_make(&q, HAC_INPUT_TYPEDBYTES, false, "a:i64 b:f64 c:string d:string");
        q.query.source.options.skip_errors = i % 2 == 1;
        test_check_records(&q.query, &data, ends, n, wanted.data);
        hac_text_clear(&data);
        hac_text_clear(&wanted);
    }
}

/* The window ends at all places of a record. */
static void test_window_ends(void **state)
{
    (void)state;
    const size_t block = (1u << 18) + 4096;
    test_query q;
    test_query_make(&q, HAC_INPUT_TYPEDBYTES, false, "key:string value:i64");
    for (size_t less = 0; less < 40; less++) {
        hac_text data = HAC_TEXT_NONE, wanted = HAC_TEXT_NONE;
        add_shown(&wanted, &data, block - less - 10, 3);
        put_hex(&data, "01 05");
        hac_text_add(&wanted, "5|\n");
        for (int i = 1; i < 4; i++) {
            add_shown(&wanted, &data, 5, (uint64_t)i);
            put_int(&data, i);
            hac_text_addf(&wanted, "%d|\n", i);
        }
        test_reading reading = {.data = data.data, .bytes = data.bytes, .file = less % 2 == 1};
        hac_autofree char *got = test_read(&q.query, &reading);
        assert_string_equal(got, wanted.data);
        hac_text_clear(&data);
        hac_text_clear(&wanted);
    }
}

static void test_largest(void **state)
{
    (void)state;
    const size_t max = (size_t)64 << 20;
    test_query q;
    test_query_make(&q, HAC_INPUT_TYPEDBYTES, false, "key:i8 value:string");
    for (size_t over = 0; over < 2; over++) {
        size_t text = max + over - 2 - 5;
        hac_autofree char *data = calloc(1, max + over);
        assert_non_null(data);
        data[0] = 1;
        data[2] = 7;
        for (int i = 0; i < 4; i++)
            data[3 + i] = (char)(text >> (24 - 8 * i));
        hac_source_place place = {.fd = -1, .memory = (uint8_t *)data, .bytes = max + over};
        hac_source *source = NULL;
        hac_batch batch;
        hac_error err = HAC_ERROR_NONE;
        assert_int_equal(hac_source_open(&q.query, &place, NULL, &source, &err), HAC_OK);
        assert_int_equal(hac_source_begin(source, 0, place.bytes, false, &err), HAC_OK);
        hac_status status = hac_source_next(source, &batch, &err);
        assert_int_equal(status, over == 0 ? HAC_OK : HAC_FAILED);
        if (over == 0)
            assert_int_equal(((hac_string_ref *)batch.columns[1].values)->length, text);
        else
            assert_non_null(strstr(err.message, "a record is longer than 64 MiB"));
        hac_source_free(source);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_objects), cmocka_unit_test(test_columns), cmocka_unit_test(test_lost),
        cmocka_unit_test(test_depth),   cmocka_unit_test(test_many),    cmocka_unit_test(test_window_ends),
        cmocka_unit_test(test_largest),
    };
    return cmocka_run_group_tests(tests, hac_test_fds_setup, hac_test_fds_teardown);
}
