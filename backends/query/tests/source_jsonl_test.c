/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "source_support.h"

static void check(const char *schema, const char *text, const char *wanted)
{
    test_query q;
    test_query_make(&q, HAC_INPUT_JSONL, false, schema);
    test_check_chunks(&q.query, text, strlen(text), wanted);
}

static void test_by_example(void **state)
{
    (void)state;
    const char *s = "a:i64 b:string";
    check(s, "{\"a\":1,\"b\":\"x\"}\n{\"b\":\"\",\"a\":-2}\n", "1|<1:x>|\n-2|<0:>|\n");
    check(s, "{ \"a\" : 1 , \"b\" : \"x\" } \r\n\r\n \t\n{\"a\":2}", "1|<1:x>|\n2|-|\n");
    check(s, "{}\n{\"a\":null,\"b\":null}\n", "-|-|\n-|-|\n");
    check(s, "\xef\xbb\xbf{\"a\":5}\n", "5|-|\n");
    check(s, "", "");
    check(s, "\n\n", "");
    check("", "{\"a\":[1,{\"b\":[]}]}\n{}\n", "\n\n");
}

/* A name that comes twice: the last counts, null too. */
static void test_names(void **state)
{
    (void)state;
    check("a:i64", "{\"a\":1,\"a\":2}\n{\"a\":1,\"a\":null}\n", "2|\n-|\n");
    check("a\"\\\xc3\xa4:i64", "{\"a\\\"\\\\\\u00e4\":1}\n", "1|\n");
    check("b:i64 a:i64", "{\"a\":1,\"b\":2}\n{\"b\":3,\"a\":4}\n{\"ab\":5,\"a\":6}\n{\"a\":7,\"b\":8}\n",
          "2|1|\n3|4|\n-|6|\n8|7|\n");
    check("a:i64", "{\"A\":1,\"\":2,\"aa\":3}\n", "-|\n");
}

static void test_skipped_values(void **state)
{
    (void)state;
    check("z:i64",
          "{\"x\":[],\"y\":{},\"w\":[[],{},[{}]],\"v\":{\"a\":[1,2,{\"b\":\"]}\\\"\"}],\"c\":{}},\"z\":1}\n"
          "{\"z\":2,\"x\":[1.5e-3,-0,true,false,null,\"\\\\\"]}\n",
          "1|\n2|\n");
}

static void test_types(void **state)
{
    (void)state;
    check("a:u8 b:f64 c:bool d:date e:decimal(6,2) f:string",
          "{\"a\":255,\"b\":1e-1,\"c\":true,\"d\":\"1970-01-03\",\"e\":1.5,\"f\":12.50}\n"
          "{\"a\":\"7\",\"b\":\"nan\",\"c\":\"f\",\"d\":null,\"e\":\"-2\",\"f\":true}\n"
          "{\"b\":-Infinity,\"c\":0}\n{\"b\":NaN}\n",
          "255|0.10000000000000001|true|2|150|<5:12.50>|\n7|nan|false|-|-200|<4:true>|\n"
          "-|-inf|false|-|-|-|\n-|nan|-|-|-|-|\n");
}

static void test_bytes(void **state)
{
    (void)state;
    check("a:bytes b:i64",
          "{\"a\":\"6162\",\"b\":1}\n{\"b\":2}\n{\"a\":\"\",\"b\":3}\n{\"a\":\"\\u0034F\",\"b\":4}\n{\"a\":"
          "null}\n",
          "<2:ab>|1|\n-|2|\n<0:>|3|\n<1:O>|4|\n-|-|\n");
    check("a:bytes", "{\"a\":\"616\"}\n",
          "error: line 1, column a: '616' is not hexadecimal digits, two a byte (bytes)");
}

static void test_escapes(void **state)
{
    (void)state;
    check("a:string", "{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"}\n", "<8:\"\\/\b\f\n\r\t>|\n");
    check("a:string", "{\"a\":\"\\u0041\\u00e4\\u20AC\\ud83d\\uDE00.\"}\n",
          "<11:A\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80.>|\n");
    check("a:string", "{\"a\":\"12345678\\n1234567890123456\\t\\\\x\"}\n",
          "<28:12345678\n1234567890123456\t\\x>|\n");
    check("a:string", "{\"a\":\"\xff\xfe\x01\"}\n", "<3:\xff\xfe\x01>|\n"); /* bytes stay as they are */
}

/* A column `a.b` is the member b of the object a, at any depth; arrays are not entered. */
static void test_nested(void **state)
{
    (void)state;
    check("a.b:i64",
          "{\"a\":{\"b\":1}}\n{\"a\":{\"c\":{\"b\":7},\"b\":2,\"d\":[{\"b\":8}]},\"e\":3}\n{\"b\":9}\n",
          "1|\n2|\n-|\n");
    check("a.b.c:string",
          "{\"a\":{\"b\":{\"c\":\"x\\ty\"}}}\n{ \"a\" : { \"b\" : { \"c\" : true } , \"d\" : 1 } }\n",
          "<3:x\ty>|\n<4:true>|\n");
    check("a.b:i64",
          "{\"a\":{}}\n{\"a\":{ }}\n{\"a\":[{\"b\":1}]}\n{\"a\":5}\n{\"a\":null}\n{\"a\":{\"b\":null}}\n"
          "{\"a\":\"b\"}\n{\"a\":[]}\n{\"a\":{\"b\":1}}\n",
          "-|\n-|\n-|\n-|\n-|\n-|\n-|\n-|\n1|\n");
    check("x:i64 a.b.c:i64 a.d:i64 y:i64",
          "{\"x\":1,\"a\":{\"b\":{\"z\":{},\"c\":2},\"d\":3},\"y\":4}\n{\"a\":{\"d\":7,\"b\":{\"c\":6}},"
          "\"y\":8,\"x\":5}\n"
          "{\"a\":{\"b\":{}},\"x\":1}\n",
          "1|2|3|4|\n5|6|7|8|\n1|-|-|-|\n");
    check("a.b:i64 aa.b:i64 a.bb:i64", "{\"aa\":{\"b\":1},\"a\":{\"bb\":2,\"b\":3}}\n", "3|1|2|\n");
    check("a.b:i64",
          "{\"\\u0061\":{\"\\u0062\":1}}\n{\"a\":{\"b\":1,\"b\":2}}\n{\"a\":{\"b\":1},\"a\":{\"b\":3}}\n",
          "1|\n2|\n3|\n");
    check("a:i64 a.b:i64", "{\"a\":1}\n", "1|-|\n");
}

/* A member of exactly the column's name has precedence, wherever it stands, null too; names may have dots. */
static void test_dotted_names(void **state)
{
    (void)state;
    check("a.b:i64 c:i64",
          "{\"a.b\":1,\"a\":{\"b\":2}}\n{\"a\":{\"b\":2},\"a.b\":1}\n{\"a\":{\"b\":3},\"c\":4}\n"
          "{\"a.b\":null,\"a\":{\"b\":5}}\n{\"a\":{\"b\":5},\"a.b\":null}\n{\"a\":{\"b\":6}}\n{\"a.b\":7}\n",
          "1|-|\n1|-|\n3|4|\n-|-|\n-|-|\n6|-|\n7|-|\n");
    check("a.b.c:i64", "{\"a.b\":{\"c\":1}}\n{\"a\":{\"b.c\":2}}\n{\"a\":{\"b\":{\"c\":3}}}\n{\"a.b.c\":4}\n",
          "1|\n2|\n3|\n4|\n");
    check("a..b:i64 .c:i64 d.:i64", "{\"a\":{\"\":{\"b\":1}},\"\":{\"c\":2},\"d\":{\"\":3}}\n", "1|2|3|\n");
}

static void test_json_as_text(void **state)
{
    (void)state;
    check("a:string b:i64", "{\"a\":{\"x\":[1, \"}\"]},\"b\":1}\n{\"a\":[ ],\"b\":2}\n",
          "<14:{\"x\":[1, \"}\"]}>|1|\n<3:[ ]>|2|\n");
}

static void check_error(const char *schema, const char *text, const char *wanted)
{
    test_query q;
    char full[300];
    test_query_make(&q, HAC_INPUT_JSONL, false, schema);
    hac_autofree char *got = test_read_text(&q.query, text);
    snprintf(full, sizeof full, "error: %s", wanted);
    if (strcmp(got, full) != 0)
        fail_msg("'%s' gives '%s', not '%s'", text, got, full);
}

static void test_errors(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int byte;
        const char *what;
    } cases[] = {
        {"[1]", 1, "expected an object"},
        {"nonsense", 1, "expected an object"},
        {"{", 2, "expected a name in quotes"},
        {"{\"a\"}", 5, "expected ':' behind a name"},
        {"{\"a\":}", 6, "expected a value"},
        {"{\"a\":1", 7, "expected ',' or '}'"},
        {"{\"a\":1,}", 8, "expected a name in quotes"},
        {"{\"a\":1 \"b\":2}", 8, "expected ',' or '}'"},
        {"{\"a\":1}x", 8, "something follows the object"},
        {"{\"a\":1}{}", 8, "something follows the object"},
        {"{\"a\":\"x}", 7, "a string has no closing quote"},
        {"{\"a\":{]}", 7, "expected a name in quotes"},
        {"{\"a\":[1,}", 9, "expected a value"},
        {"{\"a\":01}", 8, "a number starts with 0"},
        {"{\"a\":1.}", 8, "a number is incomplete"},
        {"{\"a\":-}", 7, "a number is incomplete"},
        {"{\"a\":1e+}", 9, "a number is incomplete"},
        {"{\"a\":+1}", 6, "expected a value"},
        {"{\"a\":.5}", 6, "expected a value"},
        {"{\"a\":tru}", 6, "expected a value"},
        {"{\"a\":truer}", 10, "expected ',' or '}'"},
        {"{\"a\":\"\\x\"}", 9, "a backslash before a character that has no escape"},
        {"{\"a\":\"\\u12g4\"}", 9, "\\u needs four hexadecimal digits"},
        {"{\"a\":\"\\ud800\"}", 13, "\\u names half of a surrogate pair"},
        {"{\"a\":\"\\udc00\"}", 13, "\\u names half of a surrogate pair"},
        {"{\"a\":\"\\ud800\\u0041\"}", 13, "\\u names half of a surrogate pair"},
        {"{\"b\":[1,}", 9, "expected a value"},
        {"{\"b\":[1}", 8, "expected ',' or ']'"},
        {"{\"b\":{\"x\":1]}", 12, "expected ',' or '}'"},
        {"{\"b\":{\"x\"1}}", 10, "expected ':' behind a name"},
        {"{\"b\":\"\\", 8, "a string has no closing quote"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char wanted[200], text[200];
        snprintf(wanted, sizeof wanted, "line 1: byte %d of the line: %s", cases[i].byte, cases[i].what);
        check_error("a:string", cases[i].text, wanted);
        snprintf(text, sizeof text, "\n\n%s\n{\"a\":\"2\"}\n", cases[i].text);
        wanted[5] = '3';
        check_error("a:string", text, wanted);
    }
    check_error("a:i64", "{\"a\":{}}", "line 1, column a: '{}' is not a whole number (i64)");
    check_error("a:i64", "{\"a\":true}", "line 1, column a: 'true' is not a whole number (i64)");
    check_error("a:u8", "{\"a\":256}", "line 1, column a: '256' is out of the range of u8");
    check_error("a:f64", "{\"a\":\"\"}", "line 1, column a: '' is not a number (f64)");
}

/* Rows before an error come first, and the row in error is not read a second time. */
static void test_rows_before_an_error(void **state)
{
    (void)state;
    test_query q;
    test_query_make(&q, HAC_INPUT_JSONL, false, "a:string b:string");
    hac_autofree char *got = test_read_text(&q.query, "{\"a\":\"1\"}\n{\"a\":\"\\\"x\",\"b\":\"\\q\"}\n{}\n");
    assert_non_null(strstr(got, "<1:1>|-|\nerror: line 2: byte "));
    q.query.source.options.skip_errors = true;
    const char *text = "{\"a\":\"1\"}\nx\n{\"a\":\"2\",\"b\":{]}}\n{\"a\":\"3\"}\n{";
    test_check_chunks(&q.query, text, strlen(text), "<1:1>|-|\n<1:3>|-|\nskipped: 3");
}

static void test_deep_nesting(void **state)
{
    (void)state;
    hac_autofree char *text = malloc(300000), *wanted = NULL;
    for (int depth = 511; depth <= 514; depth++) {
        int n = sprintf(text, "{\"b\":");
        for (int i = 0; i < depth; i++)
            n += sprintf(text + n, "%s", i % 2 ? "[" : "{\"x\":");
        n += sprintf(text + n, "1");
        for (int i = depth; i-- > 0;)
            text[n++] = i % 2 ? ']' : '}';
        sprintf(text + n, ",\"a\":7}\n");
        test_query q;
        test_query_make(&q, HAC_INPUT_JSONL, false, "a:i64");
        hac_autofree char *got = test_read_text(&q.query, text);
        if (depth <= 512)
            assert_string_equal(got, "7|\n");
        else
            assert_non_null(strstr(got, "nested more than 512 deep"));
    }
    memset(text, '[', 299999);
    memcpy(text, "{\"b\":", 5);
    text[299999] = 0;
    check_error("a:i64", text, "line 1: byte 519 of the line: nested more than 512 deep");
    (void)wanted;
}

/* Every prefix of a good text, and every change of a byte: rows or an error, nothing else. */
static void test_damaged_texts(void **state)
{
    (void)state;
    static const char good[] =
        "{\"a\":\"x\\u00e4\\n\",\"b\":-1.5e3,\"c\":[{\"d\":null}],\"e\":true}\n{\"b\":2}\n";
    static const char bytes[] = "\"\\{}[]:,u0-e\n \xff";
    test_query q;
    test_query_make(&q, HAC_INPUT_JSONL, false, "a:string b:f64 e:bool");
    const size_t line = strlen(good) - strlen("{\"b\":2}\n"); /* length of the first line with its newline */
    for (size_t n = 0; n < sizeof good; n++) {
        test_reading reading = {.data = good, .bytes = n, .chunk = n % 3};
        hac_autofree char *got = test_read(&q.query, &reading);
        bool whole = n == 0 || n == line - 1 || n == line || n >= sizeof good - 2;
        assert_int_equal(strstr(got, "error: ") == NULL, whole);
    }
    for (size_t i = 0; i + 1 < sizeof good; i++)
        for (size_t b = 0; b < sizeof bytes; b++) {
            char text[sizeof good];
            memcpy(text, good, sizeof good);
            text[i] = bytes[b];
            test_reading reading = {.data = text, .bytes = sizeof good - 1};
            hac_autofree char *got = test_read(&q.query, &reading);
            reading.chunk = 1 + i % 40;
            hac_autofree char *cut = test_read(&q.query, &reading);
            if (strstr(got, "error: ") == NULL)
                assert_string_equal(cut, got);
            else
                assert_non_null(strstr(cut, "error: "));
        }
}

/* Random strings, written by the rules, are read back; also across blocks and batches. */
static void test_random_strings(void **state)
{
    (void)state;
    static const char *const fixed[] = {"a",          "\"", "\\", "\n", "\t", "\xc3\xa4", "\xf0\x9f\x98\x80",
                                        "longer text"};
    static const char *const written[] = {"a",   "\\\"",    "\\\\",           "\\n",
                                          "\\t", "\\u00e4", "\\ud83d\\ude00", "longer text"};
    uint64_t seed = 31;
    hac_text text = HAC_TEXT_NONE, wanted = HAC_TEXT_NONE;
    for (int row = 0; row < 30000; row++) {
        hac_text value = HAC_TEXT_NONE;
        hac_text_addf(&text, "{\"x\":[\"\\\"\"],\"a\":\"");
        for (size_t n = hac_random_u64(&seed) % (row % 1000 == 0 ? 30000 : 9); n > 0; n--) {
            size_t piece = hac_random_u64(&seed) % 8;
            hac_text_add(&text, written[piece]);
            hac_text_add(&value, fixed[piece]);
        }
        hac_text_addf(&text, "\",\"n\":%d}\n", row);
        hac_text_addf(&wanted, "<%zu:", value.bytes);
        hac_text_add_bytes(&wanted, value.bytes > 0 ? value.data : "", value.bytes);
        hac_text_addf(&wanted, ">|%d|\n", row);
        hac_text_clear(&value);
    }
    test_query q;
    test_query_make(&q, HAC_INPUT_JSONL, false, "a:string n:i64");
    hac_text_add_bytes(&wanted, "", 1);
    for (int i = 0; i < 4; i++) {
        test_reading reading = {.data = text.data,
                                .bytes = text.bytes,
                                .chunk = i == 0 ? 0 : 1 + hac_random_u64(&seed) % (text.bytes / 4),
                                .file = i % 2 == 1};
        hac_autofree char *got = test_read(&q.query, &reading);
        assert_string_equal(got, wanted.data);
    }
    hac_text_clear(&text);
    hac_text_clear(&wanted);
}

/* The reader expects a line like the previous one: most lines are alike, some have another shape. */
static void test_shapes(void **state)
{
    (void)state;
    /* blanks, escapes in names, long names, one that comes twice, others that are missing */
    static const struct {
        const char *front, *middle, *back; /* text around a number each, for a and b if present */
        bool has_a, has_b;
    } shapes[] = {
        {"{\"a\":", ",\"b two\":", "}", true, true},
        {"{\"a\": ", ", \"b two\": ", "}", true, true},
        {"{ \"a\" : ", " , \"b two\" :\t", " }", true, true},
        {"{\"\\u0061\":", ",\"b\\u0020two\":", "}", true, true},
        {"{\"x\":-1.5e3,\"a\":",
         ",\"more bytes than are kept of the line before, or nearly so ...\":[],\"b two\":", "}", true, true},
        {"{\"a\":12345678901,\"a\":", ",\"b two\":", ",\"y\":\"\"}", true, true},
        {"{\"a\":", ",\"b three\":", "}", true, false},
        {"{\"ab\":{\"a\":9},\"a\":", ",\"b\":", "}", true, false},
        {"{\"aa\":", ",\"b two\":", "}", false, true},
        {"{\"A\":", ",\"b_two\":", "}", false, false},
    };
    uint64_t seed = 77;
    size_t shape = 0;
    hac_text text = HAC_TEXT_NONE, wanted = HAC_TEXT_NONE;
    for (int row = 0; row < 20000; row++) {
        if (hac_random_u64(&seed) % 4 == 0)
            shape = hac_random_u64(&seed) % (sizeof shapes / sizeof *shapes);
        int a = (int)(hac_random_u64(&seed) >> hac_random_u64(&seed) % 32 >> 33), b = row - 10000;
        hac_text_addf(&text, "%s%d%s%d%s\n", shapes[shape].front, a, shapes[shape].middle, b,
                      shapes[shape].back);
        char fields[2][16] = {"-", "-"};
        if (shapes[shape].has_a)
            snprintf(fields[0], sizeof fields[0], "%d", a);
        if (shapes[shape].has_b)
            snprintf(fields[1], sizeof fields[1], "%d", b);
        hac_text_addf(&wanted, "%s|%s|\n", fields[0], fields[1]);
    }
    hac_text_add_bytes(&wanted, "", 1);
    test_query q;
    test_query_make(&q, HAC_INPUT_JSONL, false, "a:i64 b:i64");
    strcpy(q.fields[1].name, "b two");
    for (int i = 0; i < 4; i++) {
        test_reading reading = {.data = text.data,
                                .bytes = text.bytes,
                                .chunk = i == 0 ? 0 : 1 + hac_random_u64(&seed) % (text.bytes / 4),
                                .file = i % 2 == 1};
        hac_autofree char *got = test_read(&q.query, &reading);
        assert_string_equal(got, wanted.data);
    }
    hac_text_clear(&text);
    hac_text_clear(&wanted);
}

/* Values of a line in error are not taken over by the next line. */
static void test_skipped_lines(void **state)
{
    (void)state;
    test_query q;
    test_query_make(&q, HAC_INPUT_JSONL, false, "a:i64 b:string");
    q.query.source.options.skip_errors = true;
    const char *text = "{\"a\":1,\"b\":\"x\"}\n{\"a\":2,\"b\":\"y\",}\n{\"c\":3}\n{\"a\":4,\"b\":\"z\"\n"
                       "{\"b\":\"w\"}\n{\"a\":-,\"b\":\"v\"}\n{\"a\":6}\n{\"b\":\"u\",\"a\":\"x\"}\n{}\n";
    test_check_chunks(&q.query, text, strlen(text), "1|<1:x>|\n-|-|\n-|<1:w>|\n6|-|\n-|-|\nskipped: 4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_example),     cmocka_unit_test(test_names),
        cmocka_unit_test(test_nested),         cmocka_unit_test(test_dotted_names),
        cmocka_unit_test(test_skipped_values), cmocka_unit_test(test_types),
        cmocka_unit_test(test_bytes),          cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_json_as_text),   cmocka_unit_test(test_rows_before_an_error),
        cmocka_unit_test(test_deep_nesting),   cmocka_unit_test(test_damaged_texts),
        cmocka_unit_test(test_random_strings), cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_skipped_lines),  cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, hac_test_fds_setup, hac_test_fds_teardown);
}
