/* SPDX-License-Identifier: Apache-2.0 */
/* Bad records of every kind in every format: the message, with line or record, column and reason; and the
 * rows that remain when they are skipped. A good record comes before and after each. */
#include <stdio.h>
#include <string.h>

#include "source_support.h"

#define LOST "; it cannot be skipped, as nobody can tell where the next record begins"

typedef struct bad {
    const char *text;  /* the record */
    const char *error; /* follows "error: " */
    bool lost;         /* fails even with skip_errors */
} bad;

/* Reads a good, a bad and a good record. Without skipping, the first row may come before the error. */
static void check_bad(const test_query *q, const hac_text *data, const char *row, const bad *b)
{
    char wanted[1200], again[1200];
    test_reading reading = {.data = data->data, .bytes = data->bytes};
    test_query query = *q;
    query.query.columns.fields = query.fields;
    query.query.positions = query.positions;
    query.query.widths = q->query.widths != NULL ? query.widths : NULL;
    hac_autofree char *failed = test_read(&query.query, &reading);
    snprintf(wanted, sizeof wanted, "error: %s", b->error);
    snprintf(again, sizeof again, "%serror: %s", row, b->error);
    if (strcmp(failed, wanted) != 0 && strcmp(failed, again) != 0)
        fail_msg("'%s' gives\n%s\nnot\n%s", b->text, failed, wanted);
    query.query.source.options.skip_errors = true;
    hac_autofree char *skipped = test_read(&query.query, &reading);
    if (b->lost)
        snprintf(wanted, sizeof wanted, "%serror: %s" LOST, row, b->error);
    else
        snprintf(wanted, sizeof wanted, "%s%sskipped: 1", row, row);
    snprintf(again, sizeof again, "error: %s" LOST, b->error);
    if (strcmp(skipped, wanted) != 0 && !(b->lost && strcmp(skipped, again) == 0))
        fail_msg("'%s', skipping, gives\n%s\nnot\n%s", b->text, skipped, wanted);
}

static void check_texts(hac_input_format format, const char *schema, const char *good, const char *row,
                        const bad *cases, size_t n)
{
    test_query q;
    test_query_make(&q, format, false, schema);
    for (size_t i = 0; i < n; i++) {
        hac_text data = HAC_TEXT_NONE;
        hac_text_addf(&data, "%s\n%s\n%s\n", good, cases[i].text, good);
        check_bad(&q, &data, row, &cases[i]);
        hac_text_clear(&data);
    }
}

#define SCHEMA       "i:i8 u:u64 f:f64 g:f32 d:date t:timestamp p:decimal(4,1) b:bool x:bytes s:string"
#define ROW          "1|2|1.5|2.5|0|0|30|true|<1:z>|<1:s>|\n"
#define COUNT(array) (sizeof(array) / sizeof *(array))

static const bad csv_records[] = {
    {"x,2,1,1,1970-01-01,1970-01-01,3,t,7a,s", "line 2, column i: 'x' is not a whole number (i8)", false},
    {"1.5,2,1,1,1970-01-01,1970-01-01,3,t,7a,s", "line 2, column i: '1.5' is not a whole number (i8)", false},
    {"128,2,1,1,1970-01-01,1970-01-01,3,t,7a,s", "line 2, column i: '128' is out of the range of i8", false},
    {"-129,2,1,1,1970-01-01,1970-01-01,3,t,7a,s", "line 2, column i: '-129' is out of the range of i8",
     false},
    {"1,-1,1,1,1970-01-01,1970-01-01,3,t,7a,s", "line 2, column u: '-1' is out of the range of u64", false},
    {"1,18446744073709551616,1,1,1970-01-01,1970-01-01,3,t,7a,s",
     "line 2, column u: '18446744073709551616' is out of the range of u64", false},
    {"1,2,1e,1,1970-01-01,1970-01-01,3,t,7a,s", "line 2, column f: '1e' is not a number (f64)", false},
    {"1,2,1e999,1,1970-01-01,1970-01-01,3,t,7a,s", "line 2, column f: '1e999' is out of the range of f64",
     false},
    {"1,2,1,1e39,1970-01-01,1970-01-01,3,t,7a,s", "line 2, column g: '1e39' is out of the range of f32",
     false},
    {"1,2,1,1,1970-02-30,1970-01-01,3,t,7a,s", "line 2, column d: '1970-02-30' is out of the range of date",
     false},
    {"1,2,1,1,19700101,1970-01-01,3,t,7a,s",
     "line 2, column d: '19700101' is not a date like 2020-01-31 (date)", false},
    {"1,2,1,1,1970-01-01,1970-01-01 25:00,3,t,7a,s",
     "line 2, column t: '1970-01-01 25:00' is out of the range of timestamp", false},
    {"1,2,1,1,1970-01-01,1970-01-01,x,t,7a,s", "line 2, column p: 'x' is not a number (decimal(4,1))", false},
    {"1,2,1,1,1970-01-01,1970-01-01,1000,t,7a,s",
     "line 2, column p: '1000' is out of the range of decimal(4,1)", false},
    {"1,2,1,1,1970-01-01,1970-01-01,3,maybe,7a,s", "line 2, column b: 'maybe' is not true or false (bool)",
     false},
    {"1,2,1,1,1970-01-01,1970-01-01,3,t,7,s",
     "line 2, column x: '7' is not hexadecimal digits, two a byte (bytes)", false},
    {"1,2,1,1,1970-01-01,1970-01-01,3,t,7g,s",
     "line 2, column x: '7g' is not hexadecimal digits, two a byte (bytes)", false},
    {"\"\",2,1,1,1970-01-01,1970-01-01,3,t,7a,s", "line 2, column i: '' is not a whole number (i8)", false},
    {"1,2,1", "line 2: 3 fields instead of 10", false},
    {"1", "line 2: 1 field instead of 10", false},
    {"1,2,1,1,1970-01-01,1970-01-01,3,t,7a,s,", "line 2: 11 fields instead of 10", false},
    {"1,2,1,1,1970-01-01,1970-01-01,3,t,7a,\"s",
     "line 2: a quoted field that begins in this record has no closing quote", true},
    {"1,2,1,1,1970-01-01,1970-01-01,3,t,7a,a\"s",
     "line 2: a double quote inside a field: such a field must be in quotes, with each of its own quotes "
     "doubled",
     true},
    {"1,2,1,1,1970-01-01,1970-01-01,3,t,7a,\"a\"s",
     "line 2: a double quote inside a field: such a field must be in quotes, with each of its own quotes "
     "doubled",
     true},
};

static void test_csv(void **state)
{
    (void)state;
    check_texts(HAC_INPUT_CSV, SCHEMA, "1,2,1.5,2.5,1970-01-01,1970-01-01 00:00,3,true,7a,s", ROW,
                csv_records, COUNT(csv_records));
}

/* The same records: tabs and quotes mean the same in both formats. */
static void test_tsv(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(csv_records); i++) {
        char text[200];
        bad b = csv_records[i];
        if (strchr(b.text, '"') != NULL)
            continue;
        snprintf(text, sizeof text, "%s", b.text);
        for (char *at = text; *at != 0; at++)
            if (*at == ',')
                *at = '\t';
        b.text = text;
        check_texts(HAC_INPUT_TSV, SCHEMA, "1\t2\t1.5\t2.5\t1970-01-01\t1970-01-01 00:00\t3\ttrue\t7a\ts",
                    ROW, &b, 1);
    }
}

static const bad json_records[] = {
    {"{\"i\":\"x\"}", "line 2, column i: 'x' is not a whole number (i8)", false},
    {"{\"i\":1.5}", "line 2, column i: '1.5' is not a whole number (i8)", false},
    {"{\"i\":128}", "line 2, column i: '128' is out of the range of i8", false},
    {"{\"i\":true}", "line 2, column i: 'true' is not a whole number (i8)", false},
    {"{\"u\":-1}", "line 2, column u: '-1' is out of the range of u64", false},
    {"{\"f\":1e999}", "line 2, column f: '1e999' is out of the range of f64", false},
    {"{\"g\":1e39}", "line 2, column g: '1e39' is out of the range of f32", false},
    {"{\"d\":\"1970-02-30\"}", "line 2, column d: '1970-02-30' is out of the range of date", false},
    {"{\"t\":\"noon\"}", "line 2, column t: 'noon' is not a time like 2020-01-31 12:34:56 (timestamp)",
     false},
    {"{\"p\":1000}", "line 2, column p: '1000' is out of the range of decimal(4,1)", false},
    {"{\"p\":\"1,5\"}", "line 2, column p: '1,5' is not a number (decimal(4,1))", false},
    {"{\"b\":\"maybe\"}", "line 2, column b: 'maybe' is not true or false (bool)", false},
    {"{\"x\":\"7g\"}", "line 2, column x: '7g' is not hexadecimal digits, two a byte (bytes)", false},
    {"{\"i\":{}}", "line 2, column i: '{}' is not a whole number (i8)", false},
    {"{\"f\":[1]}", "line 2, column f: '[1]' is not a number (f64)", false},
    {"{\"s\":[1}", "line 2: byte 8 of the line: expected ',' or ']'", false},
    {"{\"s\":\"a}", "line 2: byte 7 of the line: a string has no closing quote", false},
    {"{\"s\":\"\\x\"}", "line 2: byte 9 of the line: a backslash before a character that has no escape",
     false},
    {"{\"s\":\"\\ud800\"}", "line 2: byte 13 of the line: \\u names half of a surrogate pair", false},
    {"{\"s\":01}", "line 2: byte 8 of the line: a number starts with 0", false},
    {"{\"s\":1.}", "line 2: byte 8 of the line: a number is incomplete", false},
    {"{\"s\":nul}", "line 2: byte 6 of the line: expected a value", false},
    {"{\"s\" 1}", "line 2: byte 6 of the line: expected ':' behind a name", false},
    {"{s:1}", "line 2: byte 2 of the line: expected a name in quotes", false},
    {"{\"s\":1", "line 2: byte 7 of the line: expected ',' or '}'", false},
    {"{\"s\":1} 2", "line 2: byte 9 of the line: something follows the object", false},
    {"[1]", "line 2: byte 1 of the line: expected an object", false},
    {"1", "line 2: byte 1 of the line: expected an object", false},
};

static void test_jsonl(void **state)
{
    (void)state;
    const char *good =
        "{\"i\":1,\"u\":2,\"f\":1.5,\"g\":2.5,\"d\":\"1970-01-01\",\"t\":\"1970-01-01\",\"p\":3,"
        "\"b\":true,\"x\":\"7a\",\"s\":\"s\"}";
    for (size_t i = 0; i < COUNT(json_records); i++)
        check_texts(HAC_INPUT_JSONL, SCHEMA, good, ROW, &json_records[i], 1);
}

/* Text need not be UTF-8 in any format: it is read byte by byte. */
static void test_no_utf8(void **state)
{
    (void)state;
    static const struct {
        hac_input_format format;
        const char *text;
    } cases[] = {{HAC_INPUT_CSV, "\xff\xc3\n"},
                 {HAC_INPUT_TSV, "\xff\xc3\n"},
                 {HAC_INPUT_JSONL, "{\"a\":\"\xff\xc3\"}\n"},
                 {HAC_INPUT_LINES, "\xff\xc3\n"},
                 {HAC_INPUT_WORDS, "\xff\xc3\n"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        test_query q;
        test_query_make(&q, cases[i].format, false, "a:string");
        hac_autofree char *got = test_read_text(&q.query, cases[i].text);
        assert_string_equal(got, "<2:\xff\xc3>|\n");
    }
}

/* ---- binary ---- */

static const struct {
    bool lengths;
    const char *text;
    size_t bytes; /* of the record, whose length precedes it */
    const char *error;
} binary_records[] = {
    {true, "", 0, "record 2, column a: the record ends after 0 bytes of 2"},
    {true, "x", 1, "record 2, column a: the record ends after 1 byte of 2"},
    {true, "xx", 2, "record 2, column s: the record ends after 0 bytes of 4 (its length)"},
    {true, "xx\0\0\0", 5, "record 2, column s: the record ends after 3 bytes of 4 (its length)"},
    {true, "xx\0\0\0\3ab", 8, "record 2, column s: the record ends after 2 bytes of 3"},
    {true, "xx\377\377\377\377ab", 8, "record 2, column s: the record ends after 2 bytes of 4294967295"},
    {true, "xx\0\0\0\2ab1234567", 15, "record 2, column p: the record ends after 7 bytes of 8"},
    {true, "xx\0\0\0\2ab123456789", 17, "record 2: 1 byte is left over behind the record's last column"},
    {true, "xx\0\0\0\2ab1234567890", 18, "record 2: 2 bytes are left over behind the record's last column"},
    {true, "xx\0\0\0\2ab\0\0\0\0\0\0\3\350", 16, "record 2, column p: the value has more than 3 digits"},
    {false, "xx\0\0\0\0\0\0\3\350", 10, "record 2, column p: the value has more than 3 digits"},
    {false, "xx\200\0\0\0\0\0\0\0", 10, "record 2, column p: the value has more than 3 digits"},
};

static void add_good(hac_text *data, bool lengths)
{
    if (lengths)
        test_put(data, true, 4, 15);
    test_put(data, true, 2, 258);
    if (lengths)
        test_put_text(data, true, "s", 1);
    test_put(data, true, 8, -999);
}

static void test_binary(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(binary_records); i++) {
        bool lengths = binary_records[i].lengths;
        bad b = {"", binary_records[i].error, false};
        hac_text data = HAC_TEXT_NONE;
        test_query q;
        test_query_make(&q, lengths ? HAC_INPUT_LENGTHS : HAC_INPUT_FIXED, false,
                        lengths ? "a:u16 s:string p:decimal(3,1)" : "a:u16 p:decimal(3,1)");
        q.query.source.options.big_endian = true;
        add_good(&data, lengths);
        if (lengths)
            test_put_text(&data, true, binary_records[i].text, binary_records[i].bytes);
        else
            hac_text_add_bytes(&data, binary_records[i].text, binary_records[i].bytes);
        add_good(&data, lengths);
        check_bad(&q, &data, lengths ? "258|<1:s>|-999|\n" : "258|-999|\n", &b);
        hac_text_clear(&data);
    }
}

static const struct {
    const char *text; /* follows a good record */
    size_t bytes;
    const char *error;
} lost_records[] = {
    {"\0", 1, "record 2: the input ends after 1 of the 4 bytes of its length"},
    {"\0\0\0", 3, "record 2: the input ends after 3 of the 4 bytes of its length"},
    {"\0\0\0\1", 4, "record 2: its length is 1 bytes, and the input ends after 0"},
    {"\0\0\0\11abcd", 8, "record 2: its length is 9 bytes, and the input ends after 4"},
    {"\4\0\0\1abcd", 8,
     "record 2: its length is 67108865 bytes, and a record has at most 64 MiB (are lengths little-endian?)"},
};

static void test_lost_lengths(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(lost_records); i++) {
        bad b = {"", lost_records[i].error, true};
        hac_text data = HAC_TEXT_NONE;
        test_query q;
        test_query_make(&q, HAC_INPUT_LENGTHS, false, "a:string");
        q.query.source.options.big_endian = true;
        test_put_text(&data, true, "ok", 2);
        hac_text_add_bytes(&data, lost_records[i].text, lost_records[i].bytes);
        check_bad(&q, &data, "<2:ok>|\n", &b);
        hac_text_clear(&data);
    }
}

/* ---- too long ---- */

static void test_too_long(void **state)
{
    (void)state;
    static const struct {
        hac_input_format format;
        const char *first, *what;
    } cases[] = {
        {HAC_INPUT_CSV, "", "a record is longer than 64 MiB"},
        {HAC_INPUT_CSV, "\"", "a record is longer than 64 MiB: perhaps a quoted field is not closed"},
        {HAC_INPUT_JSONL, "{\"a\":\"", "a record is longer than 64 MiB"},
        {HAC_INPUT_KV, "", "a record is longer than 64 MiB"},
        {HAC_INPUT_WORDS, "", "a word is longer than 64 MiB"}};
    const size_t bytes = ((size_t)64 << 20) + 10;
    hac_autofree char *data = malloc(bytes);
    assert_non_null(data);
    for (size_t i = 0; i < COUNT(cases); i++) {
        char wanted[200];
        test_query q;
        memset(data, 'x', bytes);
        memcpy(data, cases[i].first, strlen(cases[i].first));
        test_query_make(&q, cases[i].format, false, "a:string");
        q.query.source.options.skip_errors = true;
        test_reading reading = {.data = data, .bytes = bytes};
        hac_autofree char *got = test_read(&q.query, &reading);
        snprintf(wanted, sizeof wanted,
                 "error: line 1: %s; it cannot be skipped, as its end is not looked for any further",
                 cases[i].what);
        assert_string_equal(got, wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv),      cmocka_unit_test(test_tsv),    cmocka_unit_test(test_jsonl),
        cmocka_unit_test(test_no_utf8),  cmocka_unit_test(test_binary), cmocka_unit_test(test_lost_lengths),
        cmocka_unit_test(test_too_long),
    };
    return cmocka_run_group_tests(tests, hac_test_fds_setup, hac_test_fds_teardown);
}
