/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/cleanup.h"
#include "base/json_find.h"
#include "base/packing.h"
#include "base/test_support.h"

/* Finishes `text`, which must be `wanted`. */
static void check(hac_text *text, const char *wanted)
{
    hac_autofree char *got = NULL;
    size_t bytes;
    assert_int_equal(hac_text_finish(text, &got, &bytes, NULL), HAC_OK);
    assert_string_equal(got, wanted);
    assert_int_equal(bytes, strlen(wanted));
    assert_null(text->data);
}

static void test_growing_text(void **state)
{
    (void)state;
    hac_text text = HAC_TEXT_NONE;
    check(&text, "");
    hac_text_add(&text, "a");
    hac_text_addf(&text, "%s-%d", "b", 7);
    hac_text_add_bytes(&text, "cdef", 2);
    check(&text, "ab-7cd");
    for (int i = 0; i < 5000; i++)
        hac_text_addf(&text, "%04d", i);
    assert_int_equal(text.bytes, 20000);
    assert_memory_equal(text.data + 4 * 4321, "4321", 4);
    hac_text_clear(&text);
    hac_text_clear(&text);
}

static void test_names(void **state)
{
    static const char *const names[][2] = {{"a b", "\"a b\""}, {"a\"b\"", "\"a\"\"b\"\"\""}, {"", "\"\""}};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        hac_text text = HAC_TEXT_NONE;
        hac_autofree char *got = NULL;
        hac_text_add_name(&text, names[i][0]);
        assert_int_equal(hac_text_finish(&text, &got, NULL, NULL), HAC_OK);
        assert_string_equal(got, names[i][1]);
    }
}

static void test_cap_sticks(void **state)
{
    (void)state;
    hac_text text = HAC_TEXT_NONE;
    hac_autofree char *block = calloc(1, HAC_TEXT_MAX);
    assert_non_null(block);
    hac_text_add_bytes(&text, block, HAC_TEXT_MAX);
    assert_false(text.broken);
    hac_text_add(&text, "x");
    assert_true(text.broken);
    hac_text_add(&text, "");
    char *got = NULL;
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(hac_text_finish(&text, &got, NULL, &err), HAC_NO_MEMORY);
    assert_null(got);
    check(&text, ""); /* usable again */
}

static void test_json_structure(void **state)
{
    (void)state;
    hac_text text = HAC_TEXT_NONE;
    hac_json_open(&text, NULL, '{');
    hac_json_string(&text, "name", "cpu.0");
    hac_json_string(&text, "group", NULL);
    hac_json_open(&text, "empty", '[');
    hac_json_close(&text, ']');
    hac_json_open(&text, "list", '[');
    hac_json_integer(&text, NULL, INT64_MIN);
    hac_json_unsigned(&text, NULL, UINT64_MAX);
    hac_json_open(&text, NULL, '{');
    hac_json_bool(&text, "yes", true);
    hac_json_bool(&text, "no", false);
    hac_json_close(&text, '}');
    hac_json_null(&text, NULL);
    hac_json_close(&text, ']');
    hac_json_raw(&text, "raw", "{\"a\":[1]}");
    hac_json_close(&text, '}');
    check(&text, "{\"name\":\"cpu.0\",\"group\":null,\"empty\":[],\"list\":[-9223372036854775808,"
                 "18446744073709551615,{\"yes\":true,\"no\":false},null],\"raw\":{\"a\":[1]}}");
    /* several values in one text: no commas at the top */
    hac_json_integer(&text, NULL, 1);
    hac_text_add(&text, "\n");
    hac_json_integer(&text, NULL, 2);
    check(&text, "1\n2");
}

static void test_json_misuse(void **state)
{
    (void)state;
    hac_text text = HAC_TEXT_NONE;
    char *got = NULL;
    hac_json_open(&text, NULL, '[');
    assert_int_equal(hac_text_finish(&text, &got, NULL, NULL), HAC_INTERNAL);
    hac_json_close(&text, ']');
    assert_int_equal(hac_text_finish(&text, &got, NULL, NULL), HAC_NO_MEMORY);
    for (int i = 0; i < 64; i++)
        hac_json_open(&text, NULL, '[');
    hac_json_integer(&text, NULL, 1);
    hac_json_integer(&text, NULL, 2);
    for (int i = 0; i < 64; i++)
        hac_json_close(&text, ']');
    assert_int_equal(hac_text_finish(&text, &got, NULL, NULL), HAC_OK);
    assert_non_null(strstr(got, "[1,2]"));
    free(got);
    for (int i = 0; i < 65; i++)
        hac_json_open(&text, NULL, '[');
    assert_int_equal(hac_text_finish(&text, &got, NULL, NULL), HAC_NO_MEMORY);
    assert_null(text.data);
}

static void test_json_escapes(void **state)
{
    (void)state;
#define BAD "\xef\xbf\xbd"
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"", "\"\""},
        {"a\"b\\c/d", "\"a\\\"b\\\\c/d\""},
        {"\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\""},
        {"\x01\x1f\x7f", "\"\\u0001\\u001f\x7f\""},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
        {"\x80", "\"" BAD "\""},
        {"\xff"
         "a",
         "\"" BAD "a\""},
        {"a\xc3", "\"a" BAD "\""},                       /* cut off */
        {"\xc0\x80", "\"" BAD BAD "\""},                 /* overlong NUL */
        {"\xe0\x80\xaf", "\"" BAD BAD BAD "\""},         /* overlong slash */
        {"\xed\xa0\x80", "\"" BAD BAD BAD "\""},         /* surrogate */
        {"\xf4\x90\x80\x80", "\"" BAD BAD BAD BAD "\""}, /* above U+10FFFF */
        {"\xf4\x8f\xbf\xbf\xed\x9f\xbf", "\"\xf4\x8f\xbf\xbf\xed\x9f\xbf\""},
        {"\xe2\x28\xa1", "\"" BAD "(" BAD "\""},
    };
    hac_text text = HAC_TEXT_NONE;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hac_json_string(&text, NULL, cases[i].in);
        check(&text, cases[i].out);
    }
    hac_json_open(&text, NULL, '{');
    hac_json_bool(&text, "a\"\n", true);
    hac_json_close(&text, '}');
    check(&text, "{\"a\\\"\\n\":true}");
}

/* Random bytes, read back by another JSON implementation. */
static void test_json_strings_read_back(void **state)
{
    (void)state;
    unsigned seed = 5;
    for (int round = 0; round < 3000; round++) {
        char in[40];
        size_t bytes = (size_t)rand_r(&seed) % (sizeof in - 1);
        for (size_t i = 0; i < bytes; i++)
            in[i] = (char)(1 + rand_r(&seed) % (round % 2 ? 127 : 255));
        in[bytes] = '\0';
        hac_text text = HAC_TEXT_NONE;
        hac_json_string(&text, NULL, in);
        hac_autofree char *json = NULL;
        assert_int_equal(hac_text_finish(&text, &json, NULL, NULL), HAC_OK);
        cJSON *read = cJSON_ParseWithOpts(json, NULL, 1);
        assert_non_null(read);
        if (round % 2)
            assert_string_equal(cJSON_GetStringValue(read), in);
        cJSON_Delete(read);
    }
}

static void check_number(double value, const char *wanted)
{
    hac_text text = HAC_TEXT_NONE;
    hac_json_number(&text, NULL, value);
    if (wanted != NULL) {
        check(&text, wanted);
        return;
    }
    hac_autofree char *got = NULL;
    assert_int_equal(hac_text_finish(&text, &got, NULL, NULL), HAC_OK);
    char *end;
    double back = strtod(got, &end);
    assert_int_equal(*end, 0);
    assert_memory_equal(&back, &value, sizeof value);
}

static void test_json_numbers(void **state)
{
    (void)state;
    check_number(0, "0");
    check_number(-0.0, "-0");
    check_number(0.1, "0.1");
    check_number(1e22, "1e+22");
    check_number(123456789012, "123456789012");
    check_number(0.30000000000000004, "0.30000000000000004");
    check_number(NAN, "null");
    check_number(INFINITY, "null");
    check_number(-INFINITY, "null");
    static const double edges[] = {DBL_MAX,     DBL_MIN, DBL_TRUE_MIN,      -DBL_MAX,
                                   DBL_EPSILON, 5e-324,  9007199254740992.0};
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
        check_number(edges[i], NULL);
    unsigned seed = 9;
    for (int i = 0; i < 20000; i++) {
        uint64_t bits =
            (uint64_t)rand_r(&seed) << 42 ^ (uint64_t)rand_r(&seed) << 21 ^ (uint64_t)rand_r(&seed);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value))
            check_number(value, NULL);
    }
}

static void test_numbers_ignore_the_locale(void **state)
{
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    bool found = false;
    for (size_t i = 0; i < sizeof names / sizeof *names && !found; i++)
        found = setlocale(LC_NUMERIC, names[i]) != NULL;
    if (!found)
        skip();
    check_number(1.5, "1.5");
    check_number(1.25e300, "1.25e+300");
    setlocale(LC_NUMERIC, "C");
}

static void test_copy_line(void **state)
{
    (void)state;
    char out[8];
    assert_int_equal(hac_utf8_copy_line(out, sizeof out, "abc"), 3);
    assert_string_equal(out, "abc");
    assert_int_equal(hac_utf8_copy_line(out, sizeof out, "abcdefghi"), 7);
    assert_string_equal(out, "abcdefg");
    assert_int_equal(hac_utf8_copy_line(out, sizeof out, "abcdef\xc3\xa9"), 6); /* not half a character */
    assert_string_equal(out, "abcdef");
    assert_int_equal(hac_utf8_copy_line(out, sizeof out, "a\nb\x7f\xff"), 5);
    assert_string_equal(out, "a b ?");
    assert_int_equal(hac_utf8_copy(out, sizeof out, "a\nb\x7f\xff"), 5);
    assert_string_equal(out, "a\nb\x7f?");
    assert_int_equal(hac_utf8_copy_line(out, sizeof out, NULL), 0);
    assert_string_equal(out, "");
    /* what a terminal obeys: C1, U+061C, U+200E, U+2028, U+202E, U+2066, U+2069 */
    static const uint8_t controls[][3] = {{0xc2, 0x9b},       {0xd8, 0x9c},       {0xe2, 0x80, 0x8e},
                                          {0xe2, 0x80, 0xa8}, {0xe2, 0x80, 0xae}, {0xe2, 0x81, 0xa6},
                                          {0xe2, 0x81, 0xa9}};
    for (size_t i = 0; i < sizeof controls / sizeof *controls; i++) {
        char in[16];
        snprintf(in, sizeof in, "a%.3sb", (const char *)controls[i]);
        assert_int_equal(hac_utf8_copy_line(out, sizeof out, in), 3);
        assert_string_equal(out, "a b");
    }
    assert_int_equal(hac_utf8_copy_line(out, sizeof out, "\xc2\xa0\xe2\x80\x93"),
                     5); /* and neighbours stay */
    assert_int_equal(hac_utf8_replace(out, sizeof out, "a\xff"), 4);
    assert_string_equal(out, "a\xef\xbf\xbd");
    assert_int_equal(hac_utf8_replace(out, sizeof out, "abcde\xff\xe9"), 5); /* as much as fits */
    assert_int_equal(hac_utf8_replace(out, sizeof out, "\xe2\x82\xac\xe2\x82"), 6);
    assert_string_equal(out, "\xe2\x82\xac\xef\xbf\xbd");
    assert_int_equal(hac_utf8_copy_line(out, 1, "abc"), 0);
    assert_string_equal(out, "");
    assert_int_equal(hac_utf8_sequence("", 0), 0);
    assert_int_equal(hac_utf8_sequence("\xe2\x82\xac", 2), 0);
    assert_int_equal(hac_utf8_sequence("\xe2\x82\xac", 3), 3);
}

static void test_packed_names(void **state)
{
    (void)state;
    static const char *const yes[] = {"a.gz", "a.csv.GZ", "b/a.zst", ".b/.a.gz"};
    static const char *const no[] = {"", "gz", ".gz", "a.gz/b", "a/.gz", "a.gz.csv", "a.zs", "a.gzip"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        assert_true(hac_is_packed_name(yes[i]));
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        assert_false(hac_is_packed_name(no[i]));
}

static void assert_found(const char *json, const char *path, const char *value)
{
    const char *found = NULL;
    size_t bytes = 0;
    bool is_there = hac_json_find_string(json, path, &found, &bytes);
    bool same = is_there == (value != NULL);
    if (found != NULL && value != NULL)
        same = same && bytes == strlen(value) && memcmp(found, value, bytes) == 0;
    if (!same)
        fail_msg("%s of %s: \"%.*s\"", path, json, (int)bytes, is_there ? found : "");
}

static void test_json_find(void **state)
{
    (void)state;
    static const char text[] =
        "{\"log\":\"\\\"state\\\":\\\"done\\\",}\", \"a\" : [1, {\"state\":\"no\"}, \"]\"],"
        "\"receipt\":{\"n\":-1e5,\"query\":{\"form\":\"csv\"}},\"state\":\"queued\"}";
    assert_found(text, "state", "queued"); /* and not the one in `log` or in `a` */
    assert_found(text, "receipt.query.form", "csv");
    assert_found(text, "receipt.form", NULL);
    assert_found(text, "receipt.n", NULL);
    assert_found(text, "a", NULL);
    assert_found(text, "state.x", NULL);
    assert_found("{}", "a", NULL);
    assert_found("", "a", NULL);
    assert_found("[]", "a", NULL);
    assert_found("{\"a\":", "a", NULL);
    assert_found("{\"a\":\"x", "a", NULL);
    assert_found("{\"b\":[1,", "a", NULL);
    assert_found("{\"b\":\"\\", "a", NULL);
    assert_found("{\"b\":1]\"a\":\"x\"}", "a", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_growing_text), cmocka_unit_test(test_names),
        cmocka_unit_test(test_cap_sticks),   cmocka_unit_test(test_json_structure),
        cmocka_unit_test(test_json_misuse),  cmocka_unit_test(test_json_find),
        cmocka_unit_test(test_json_escapes), cmocka_unit_test(test_json_strings_read_back),
        cmocka_unit_test(test_json_numbers), cmocka_unit_test(test_numbers_ignore_the_locale),
        cmocka_unit_test(test_copy_line),    cmocka_unit_test(test_packed_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
