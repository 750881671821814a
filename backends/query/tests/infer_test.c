/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/query_layout.h"
#include "query/infer.h"
#include "source_support.h"

static hac_status infer(hac_input_format format, bool header, bool skip_errors, const char *text,
                        size_t bytes, hac_schema *ret, hac_error *err)
{
    const hac_source_options options = {.format = format,
                                        .options = {.no_header = !header, .skip_errors = skip_errors}};
    const hac_source_place place = {.fd = -1, .memory = (const uint8_t *)text, .bytes = bytes};
    return hac_infer_schema(&options, &place, ret, err);
}

static void check_bytes(hac_input_format format, bool header, const char *text, size_t bytes,
                        const char *wanted)
{
    hac_schema schema = {0};
    hac_text printed = HAC_TEXT_NONE;
    hac_error err = HAC_ERROR_NONE;
    if (infer(format, header, false, text, bytes, &schema, &err) != HAC_OK)
        fail_msg("%s", err.message);
    hac_schema_print(&schema, &printed);
    assert_string_equal(printed.data != NULL ? printed.data : "", wanted);
    hac_text_clear(&printed);
    hac_schema_clear(&schema);
}

static void check(hac_input_format format, bool header, const char *text, const char *wanted)
{
    check_bytes(format, header, text, strlen(text), wanted);
}

static void check_fails(hac_input_format format, bool header, const char *text, hac_status code,
                        const char *says)
{
    hac_schema schema = {0};
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(infer(format, header, false, text, strlen(text), &schema, &err), code);
    hac_test_assert_says(err.message, says);
    assert_null(schema.fields);
}

/* The inferred type of a column `a` with these values, one a line. */
static void check_type(const char *values, const char *type)
{
    char text[1000], wanted[100];
    snprintf(text, sizeof text, "a,b\n%s\n", values);
    snprintf(wanted, sizeof wanted, "a:%s,b:string", type);
    check(HAC_INPUT_CSV, true, text, wanted);
}

static void test_numbers(void **state)
{
    (void)state;
    check_type("1,\n-2,\n0,\n,\n 7 ,", "i64");
    check_type("9223372036854775807,\n-9223372036854775808,", "i64");
    check_type("9223372036854775808,", "string"); /* not exact as f64 */
    check_type("1,\n2.5,", "f64");
    check_type("12.50,\n-0.05,\n,\n 7.00 ,", "decimal(18,2)");
    check_type("123456789012.0001,\n0.9999,", "decimal(18,4)");
    check_type("12.50,\n3,", "f64"); /* not written as money is */
    check_type("12.5,\n3.0,", "f64");
    check_type("1.500,\n1.50,", "f64");
    check_type("0.12345,", "f64");
    check_type("1234567890123.5,", "f64");
    check_type("1.5,\n1234567890123,", "f64");
    check_type("1.5,\n2e1,", "f64");
    check_type("-0.0,\n1.5,", "f64");
    check_type("1.5,\nnan,", "f64");
    check_type("1.,", "f64");
    check_type("9007199254740992,\n2.5,", "f64");
    check_type("9007199254740993,\n2.5,", "string");
    check_type("1e3,\n.5,\n-0,\nnan,\n-inf,", "f64");
    check_type("nan,\ninf,", "string");
    check_type("007,", "string");
    check_type("-07,\n1,", "string");
    check_type("00.5,", "string");
    check_type("+1,", "string");
    check_type("0,\n1,", "i64"); /* not a bool */
    check_type("1,\nx,", "string");
    check_type("0x10,", "string");
    check_type("1e400,", "string");
}

static void test_others(void **state)
{
    (void)state;
    check_type("true,\nFALSE,\n,", "bool");
    check_type("true,\n1,", "string");
    check_type("yes,\nno,", "string");
    check_type("t,\nf,", "string");
    check_type("2020-01-31,\n0001-01-01,", "date");
    check_type("2020-01-31,\n2020-01-31 12:34:56.789,", "timestamp");
    check_type("2020-01-31T12:34:56Z,\n2020-01-31,", "timestamptz");
    check_type("2020-01-31,\n2020-01-31 12:34:56,\n2020-01-31 12:34:56+02:00,", "timestamptz");
    check_type("2020-02-30,", "string");
    check_type("2020-01-31,\n5,", "string");
    check_type("12:34,", "string");
    check_type(",\n,", "string");
    check_type("\"1\",\n2,", "i64");
    check_type("\"\",\n2,", "string");
}

/* The columns and the options that are found, as "schema decimal/thousands/dates"; columns that are text but
 * could be something else have their HAC_FORM_… bits behind "?". */
static void check_detected(unsigned detect, char delimiter, hac_input_options told, const char *text,
                           const char *wanted)
{
    hac_source_options options = {.format = HAC_INPUT_CSV, .options = told};
    const hac_source_place place = {.fd = -1, .memory = (const uint8_t *)text, .bytes = strlen(text)};
    hac_schema schema = {0};
    hac_text found = HAC_TEXT_NONE;
    hac_error err = HAC_ERROR_NONE;
    char more[HAC_FIELD_NAME_MAX + 16];
    options.options.delimiter = (uint8_t)delimiter;
    if (hac_infer_forms(&options, detect, &place, &schema, &err) != HAC_OK)
        fail_msg("%s", err.message);
    hac_schema_print(&schema, &found);
    for (size_t i = 0; i < schema.n_fields; i++) {
        unsigned forms = schema.fields[i].forms & ~(unsigned)HAC_FORM_FOUND;
        snprintf(more, sizeof more, " %s?%u", schema.fields[i].name, forms);
        hac_text_add(&found, forms != 0 ? more : "");
    }
    snprintf(more, sizeof more, " %u/%u/%u", options.options.decimal, options.options.thousands,
             options.options.dates);
    hac_text_add(&found, more);
    if (strcmp(found.data, wanted) != 0)
        fail_msg("%s: %s and not %s", text, found.data, wanted);
    hac_text_clear(&found);
    hac_schema_clear(&schema);
}

static void check_forms(char delimiter, hac_input_options told, const char *text, const char *wanted)
{
    check_detected(HAC_DETECT_FORMS, delimiter, told, text, wanted);
}

/* An order of dates that another file has shown, with its separators. */
static void test_separators_of_dates(void **state)
{
    (void)state;
    static const char text[] = "a,b,c\n01.02.2024,01/02/2024,01-02-2024\n";
    const hac_input_options dmy = {.dates = HAC_DATES_DMY};
    check_detected(HAC_DETECT_FORMS | HAC_SEPARATOR_DATE_POINT << HAC_DETECT_SEPARATORS, 0, dmy, text,
                   "a:date,b:string,c:string b?8 c?8 0/0/2");
    check_detected(HAC_DETECT_FORMS | (HAC_SEPARATOR_DATE_SLASH | HAC_SEPARATOR_DATE_DASH)
                                          << HAC_DETECT_SEPARATORS,
                   0, dmy, text, "a:string,b:date,c:date a?8 0/0/2");
    check_detected(HAC_DETECT_FORMS, 0, dmy, text, "a:date,b:date,c:date 0/0/2");
}

static void test_forms(void **state)
{
    const hac_input_options none = {0}, comma = {.decimal = HAC_DECIMAL_COMMA},
                            point = {.decimal = HAC_DECIMAL_POINT}, dmy = {.dates = HAC_DATES_DMY},
                            ymd = {.dates = HAC_DATES_YMD};
    (void)state;
    check_forms(';', none, "a;b\n1.234,56;x\n-7,00;y\n", "a:decimal(18,2),b:string 2/3/0");
    check_forms(';', none, "a;b\n12;x\n12,5;y\n", "a:f64,b:string 2/0/0");
    check_forms(';', none, "a;b\n12,5;1.234\n0,5;2.500\n", "a:f64,b:string b?4 2/0/0");
    check_forms(';', none, "a;b\n1.012,5;1.234\n0,5;2.500\n", "a:f64,b:i64 2/3/0");
    check_forms(';', none, "a;b\n1 012,5;1 234\n0,5;12\n", "a:f64,b:i64 2/4/0");
    check_forms(';', none, "a;b\n1\u202f012,5;x\n", "a:f64,b:string 2/4/0");
    check_forms(';', none, "a;b\n1'012.5;1'234\n", "a:f64,b:i64 0/5/0");
    check_forms(';', none, "a;b\n1.012,5;192.168.100.200\n", "a:f64,b:string 2/3/0");
    check_forms(';', none, "a;b\n1.234.567;555 123 456\n", "a:string,b:string a?2 b?6 0/0/0");
    check_forms(';', comma, "a;b\n1.234;x\n", "a:i64,b:string 2/3/0");
    check_forms(';', comma, "a;b\n1.234.567;x\n", "a:i64,b:string 2/3/0");
    check_forms(';', none, "a;b\n1 234;1 2 3\n", "a:string,b:string a?6 0/0/0");
    check_forms(';', none, "a;b\n12,5;0.5\n", "a:string,b:f64 a?2 0/0/0");
    check_forms(';', none, "a;b\n12,5;x\n1.5;y\n", "a:string,b:string 0/0/0");
    check_forms(';', none, "a;b\n12.5;1\nx;2\n", "a:string,b:i64 0/0/0");
    check_forms(';', none, "a;b\n12,5;1\nx;2\n", "a:string,b:i64 0/0/0");
    check_forms(';', none, "a;b\n12,5;1\n007;2\n", "a:string,b:i64 0/0/0");
    check_forms(';', none, "a;b\n1,234;1\n2,500;2\n", "a:string,b:i64 a?6 0/0/0");
    check_forms(';', comma, "a;b\n1,234;1.234\n2,500;2.5\n", "a:decimal(18,3),b:string 2/0/0");
    check_forms(';', point, "a;b\n1,234;1\n2,500;2\n", "a:i64,b:i64 1/2/0");
    check_forms(';', point, "a;b\n12,5;1\n", "a:string,b:i64 a?2 1/0/0");
    check_forms(0, none, "a,b\n\"1,234.5\",x\n\"2,000\",y\n", "a:f64,b:string 0/2/0");
    check_forms(0, none, "a,b\n\"1,234,567\",\"1,000\"\n", "a:i64,b:i64 0/2/0");
    check_forms(0, none, "a,b\n\"1,2\",x\n\"12,5\",y\n", "a:string,b:string a?2 0/0/0"); /* or a list */
    check_forms(0, none, "a,b\n\"1.234,5\",x\n\"12,5\",y\n", "a:f64,b:string 2/3/0");
    check_forms(0, none, "a,b\n\"1,2,3\",\"1,23,456\"\n", "a:string,b:string 0/0/0");
    check_forms(0, none, "a,b\n01/02/2024,1\n31/12/2024 09:30,2\n", "a:timestamp,b:i64 0/0/2");
    check_forms(0, none, "a,b\n1/2/2024,1\n12/31/2024 1:05 PM,2\n", "a:timestamp,b:i64 0/0/3");
    check_forms(0, none, "a,b\n01/02/2024,1\n", "a:string,b:i64 a?8 0/0/0");
    check_forms(0, dmy, "a,b\n01/02/2024,1\n", "a:date,b:i64 0/0/2");
    check_forms(0, ymd, "a,b\n31/12/2024,1\n", "a:string,b:i64 a?8 0/0/1");
    check_forms(0, none, "a,b\n31/12/2024,01/02/2024\n", "a:date,b:date 0/0/2");
    check_forms(0, none, "a,b\n31/12/2024,01.02.2024\n", "a:date,b:string b?8 0/0/2");
    check_forms(0, none, "a,b\n31/12/2024,12/31/2024\n", "a:string,b:string a?8 b?8 0/0/0");
    check_forms(0, none, "a,b\n31/12/2024,1\n12/31/2024,1\n", "a:string,b:i64 0/0/0");
    check_forms(0, none, "a,b\n30.02.2024,31.12.24\n", "a:string,b:string 0/0/0");
    check_forms(0, none, "a,b\n2024/12/31,2024-1-5\n2024-12-31,2024-01-05\n", "a:date,b:date 0/0/0");
    check_forms(0, none, "a,b\n2024.1.5,1.2.3\n", "a:string,b:string 0/0/0");
    check_forms(0, none, "a,b\n2024-01-05,1\n31.12.2024,2\n", "a:date,b:i64 0/0/2");
    check_forms(0, none, "a,b\n31.12.2024,1\n2024-01-05,2\n", "a:date,b:i64 0/0/2");
    check_forms(0, none, "a,b\n2024-01-05 10:00,1\n12/31/2024,2\n", "a:timestamp,b:i64 0/0/3");
    check_forms(0, none, "a,b\n2024-01-05,1\n2024/1/6,2\n01/02/2024,3\n", "a:string,b:i64 a?8 0/0/0");
    check_forms(0, none, "a,b\n2024-01-05,1\nx,2\n31.12.2024,3\n", "a:string,b:i64 0/0/0");
}

/* The value for which column a is text, and what most of its values are. */
static void check_odd(hac_input_format format, const char *text, hac_odd_kind among, const char *odd)
{
    hac_schema schema = {0};
    assert_int_equal(infer(format, true, false, text, strlen(text), &schema, NULL), HAC_OK);
    if (schema.fields[0].odd.among != among || strcmp(schema.fields[0].odd.text, odd) != 0)
        fail_msg("%s: '%s' among %u", text, schema.fields[0].odd.text, schema.fields[0].odd.among);
    hac_schema_clear(&schema);
}

/* Whether the odd value is one that --null can name. */
static void check_word(hac_input_format format, const char *text, bool word)
{
    hac_schema schema = {0};
    assert_int_equal(infer(format, true, false, text, strlen(text), &schema, NULL), HAC_OK);
    if ((schema.fields[0].odd.word != 0) != word)
        fail_msg("%s: '%s' is %sa word", text, schema.fields[0].odd.text, word ? "not " : "");
    hac_schema_clear(&schema);
}

static void test_odd_words(void **state)
{
    (void)state;
    check_word(HAC_INPUT_CSV, "a,b\n1,x\nNA,x\n", true);
    check_word(HAC_INPUT_CSV, "a,b\n1,x\nnot there,x\n", true);
    check_word(HAC_INPUT_CSV, "a,b\n1,x\nnothing of the values,x\n", true);   /* 21 bytes */
    check_word(HAC_INPUT_CSV, "a,b\n1,x\nnothing of the values!,x\n", false); /* cut */
    check_word(HAC_INPUT_CSV, "a,b\n1,x\nnothing of the valu\u00e9,x\n", true);
    check_word(HAC_INPUT_CSV, "a,b\n1,x\nnothing of the value\u00e9,x\n", false);
    check_word(HAC_INPUT_CSV, "a,b\n1,x\n\"NA\",x\n", false);
    check_word(HAC_INPUT_CSV, "a,b\n1,x\n\"\",x\n", false);
    check_word(HAC_INPUT_CSV, "a,b\n1,x\n NA,x\n", false);
    check_word(HAC_INPUT_CSV, "a,b\n1,x\ndon't,x\n", false);
    check_word(HAC_INPUT_CSV, "a,b\n1,x\nN\x1b[A,x\n", false);
    check_word(HAC_INPUT_CSV, "a,b\n1,x\nN\xff,x\n", false);
    check_word(HAC_INPUT_TSV, "a\tb\n1\tx\nN,A\tx\n", false);
    check_word(HAC_INPUT_TSV, "a\tb\n1\tx\nN\\\\A\tx\n", false);
    check_word(HAC_INPUT_TSV, "a\tb\n1\tx\nNA\tx\n", true);
}

static void test_odd(void **state)
{
    (void)state;
    check_odd(HAC_INPUT_CSV, "a,b\n1,x\nNA,x\n3,x\n", HAC_ODD_NUMBERS, "NA");
    check_odd(HAC_INPUT_CSV, "a,b\nNA,x\n,x\n2,x\n3.5,x\n", HAC_ODD_NUMBERS, "NA");
    check_odd(HAC_INPUT_CSV, "a,b\n1,x\nNA,x\n", HAC_ODD_NUMBERS, "NA"); /* half of them */
    check_odd(HAC_INPUT_CSV, "a,b\n1,x\nNA,x\ny,x\n", HAC_ODD_NONE, "NA");
    check_odd(HAC_INPUT_CSV, "a,b\nx,x\ny,x\n1,x\n", HAC_ODD_NONE, "x");
    check_odd(HAC_INPUT_CSV, "a,b\n2024-01-01,x\n2024-02-30,x\n", HAC_ODD_TIMES, "2024-02-30");
    check_odd(HAC_INPUT_CSV, "a,b\ntrue,x\nfalse,x\n1,x\n", HAC_ODD_BOOLS, "1");
    check_odd(HAC_INPUT_CSV, "a,b\n1,x\ntrue,x\nfalse,x\n", HAC_ODD_BOOLS, "1");
    check_odd(HAC_INPUT_CSV, "a,b\n13/02/2024,x\n02/13/2024,x\n", HAC_ODD_TIMES, "13/02/2024");
    check_odd(HAC_INPUT_CSV, "a,b\n9007199254740993,x\n1.5,x\n", HAC_ODD_NUMBERS, "9007199254740993");
    check_odd(HAC_INPUT_CSV, "a,b\n1.5,x\n9007199254740993,x\n", HAC_ODD_NUMBERS, "9007199254740993");
    check_odd(HAC_INPUT_CSV, "a,b\n1,x\n9007199254740993,x\n", HAC_ODD_NUMBERS, "9007199254740993"); /* i64 */
    check_odd(HAC_INPUT_CSV, "a,b\n1,x\n007,x\n", HAC_ODD_NONE, ""); /* codes are text on purpose */
    check_odd(HAC_INPUT_CSV, "a,b\n1,x\n2,x\n", HAC_ODD_NONE, "");
    check_odd(HAC_INPUT_CSV, "a,b\n1,x\n2,x\n\"one\ntwo \x1b\",x\n", HAC_ODD_NUMBERS, "one two  ");
    check_odd(HAC_INPUT_CSV, "a,b\n1,x\n2,x\nfour and twenty blackbirds,x\n", HAC_ODD_NUMBERS,
              "four and twenty black");
    check_odd(HAC_INPUT_JSONL, "{\"a\":1}\n{\"a\":\"2\"}\n{\"a\":3}\n", HAC_ODD_NUMBERS, "2");
    hac_text text = HAC_TEXT_NONE; /* values far behind are not looked at */
    hac_text_add(&text, "a,b\nNA,x\n");
    for (int i = 0; i < 3000; i++)
        hac_text_add(&text, i < 600 || i >= 1000 ? "7,x\n" : "y,x\n");
    check_odd(HAC_INPUT_CSV, text.data, HAC_ODD_NUMBERS, "NA");
    hac_text_clear(&text);
}

static void test_csv(void **state)
{
    (void)state;
    check(HAC_INPUT_CSV, true, "a,\"two words\",c\n1,x,2.5\n", "a:i64,\"two words\":string,c:f64");
    check(HAC_INPUT_CSV, true, "a,b\n", "a:string,b:string");
    check(HAC_INPUT_CSV, true,
          "\xef\xbb\xbf"
          "a,b\r\n1,2\r\n",
          "a:i64,b:i64");
    check(HAC_INPUT_CSV, false, "1,x\n2,y\n", "c1:i64,c2:string");
    check(HAC_INPUT_CSV, true, "a\n\"1\n2\"\n", "a:string");
    check_fails(HAC_INPUT_CSV, true, "", HAC_FAILED, "the input is empty");
    check_fails(HAC_INPUT_CSV, false, "", HAC_FAILED, "no first record");
    check(HAC_INPUT_CSV, true, "a,a\n1,x\n", "a:i64,a_1:string");
    check(HAC_INPUT_CSV, true, ",a\n1,x\n", "column1:i64,a:string");
    check_fails(HAC_INPUT_CSV, true, "a,b\n1,2\n1,2,3\n", HAC_FAILED, "line 3: 3 fields instead of 2");
    check_fails(HAC_INPUT_LINES, false, "a\n", HAC_INVALID, "--schema");
    hac_schema schema = {0};
    static const char bad[] = "a,b\n1,2\n1,2,3\n4,5.5\n";
    assert_int_equal(infer(HAC_INPUT_CSV, true, true, bad, sizeof bad - 1, &schema, NULL), HAC_OK);
    assert_int_equal(schema.fields[1].type.kind, HAC_KIND_F64);
    hac_schema_clear(&schema);
}

static void test_tsv(void **state)
{
    (void)state;
    check(HAC_INPUT_TSV, true, "a\tb\tc\n1\t\\N\t\n\t2020-01-01\t\n", "a:i64,b:date,c:string");
    check(HAC_INPUT_TSV, true, "a\tb\n\\t\t1\n", "a:string,b:i64");
}

static void test_jsonl(void **state)
{
    (void)state;
    check(HAC_INPUT_JSONL, false,
          "{\"a\":1,\"b\":\"1\",\"c\":true,\"d\":\"2020-01-01\",\"e\":1.5}\n"
          "{\"f\":null,\"e\":2,\"g h\":\"true\"}\n\n{\"a\":null,\"b\":\"x\"}\n",
          "a:i64,b:string,c:bool,d:date,e:f64,f:string,\"g h\":string");
    check(HAC_INPUT_JSONL, false, "{\"a\":\"2020-01-01\"}\n{\"a\":1}\n", "a:string");
    check(HAC_INPUT_JSONL, false, "{\"a\":NaN}\n{\"a\": 1}\n", "a:f64");
    check(HAC_INPUT_JSONL, false, "{\"\\u0061\":\"\"}\n{\"a\":1}\n", "a:string");
    check(HAC_INPUT_JSONL, false,
          "{\"a\":{\"b\":1,\"c\":{\"d\":\"x\"}}}\n{\"e\":{},\"a\":{\"c\":{\"d\":\"y\",\"f\":0.50}}}\n",
          "\"a.b\":i64,\"a.c.d\":string,e:string,\"a.c.f\":decimal(18,2)");
    hac_schema schema = {0};
    static const char arrays[] = "{\"a\":1,\"b\":[1,{\"c\":2}],\"d\":[]}\n{\"d\":[5]}\n";
    assert_int_equal(infer(HAC_INPUT_JSONL, false, false, arrays, sizeof arrays - 1, &schema, NULL), HAC_OK);
    assert_int_equal(schema.n_fields, 3);
    assert_int_equal(schema.fields[0].type.kind, HAC_KIND_I64);
    assert_int_equal(schema.fields[1].type.kind, HAC_KIND_STRING);
    assert_int_equal(schema.fields[2].type.kind, HAC_KIND_STRING);
    hac_schema_clear(&schema);
    check_fails(HAC_INPUT_JSONL, false, "{\"a\":1}\n{\"b\"}\n", HAC_FAILED, "line 2: ");
    check_fails(HAC_INPUT_JSONL, false, "{\"\":1}\n", HAC_FAILED, "a name that cannot be a column's");
    check(HAC_INPUT_JSONL, false, "\n{}\n", "");
    check(HAC_INPUT_JSONL, false, "", "");
}

/* Only the first records are examined; a later one that does not fit is an error that says what to do. */
static void test_sample(void **state)
{
    (void)state;
    for (unsigned at = HAC_INFER_RECORDS - 1; at <= HAC_INFER_RECORDS; at++) {
        hac_text text = HAC_TEXT_NONE;
        hac_text_add(&text, "a\n");
        for (unsigned i = 0; i < HAC_INFER_RECORDS + 5; i++)
            hac_text_add(&text, i == at ? "x\n" : "1\n");
        check_bytes(HAC_INPUT_CSV, true, text.data, text.bytes,
                    at < HAC_INFER_RECORDS ? "a:string" : "a:i64");
        hac_text_clear(&text);
    }
    test_query q;
    test_query_make(&q, HAC_INPUT_CSV, true, "a:i64");
    q.query.columns.fields[0].inferred = true;
    hac_autofree char *read = test_read_text(&q.query, "a\n1\nx\n");
    hac_test_assert_says(read,
                         "line 3, column a: 'x' is not a whole number (i64), the type that its first values "
                         "have; say --schema 'a:string'");
    hac_autofree char *fraction = test_read_text(&q.query, "a\n1\n2.5\n");
    hac_test_assert_says(fraction, "say --schema 'a:f64'");
}

static void test_many_columns(void **state)
{
    (void)state;
    hac_text csv = HAC_TEXT_NONE, json = HAC_TEXT_NONE;
    hac_text_add(&json, "{");
    for (int i = 0; i < HAC_COLUMNS_MAX + 1; i++) {
        hac_text_addf(&csv, "%sn%d", i > 0 ? "," : "", i);
        hac_text_addf(&json, "%s\"n%d\":1", i > 0 ? "," : "", i);
    }
    hac_text_add(&csv, "\n");
    hac_text_add(&json, "}\n");
    for (int i = 0; i < HAC_COLUMNS_MAX + 1; i++)
        hac_text_addf(&csv, "%s%s", i > 0 ? "," : "", i % 2 != 0 ? "x" : "7");
    hac_schema schema = {0};
    assert_int_equal(infer(HAC_INPUT_CSV, true, false, csv.data, csv.bytes, &schema, NULL), HAC_OK);
    assert_int_equal(schema.n_fields, HAC_COLUMNS_MAX + 1);
    for (size_t i = 0; i < schema.n_fields; i++)
        assert_int_equal(schema.fields[i].type.kind, i % 2 != 0 ? HAC_KIND_STRING : HAC_KIND_I64);
    hac_schema_clear(&schema);
    check_fails(HAC_INPUT_JSONL, false, json.data, HAC_FAILED, "more than 256 names");
    hac_text_clear(&csv);
    hac_text_clear(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_odd),
        cmocka_unit_test(test_separators_of_dates),
        cmocka_unit_test(test_odd_words),
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_tsv),
        cmocka_unit_test(test_jsonl),
        cmocka_unit_test(test_sample),
        cmocka_unit_test(test_many_columns),
    };
    return cmocka_run_group_tests(tests, hac_test_fds_setup, hac_test_fds_teardown);
}
