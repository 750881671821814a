/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle is cJSON, whose values are compared with those that paths and elements lead to. */
#include "base/json_value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <cjson/cJSON.h>

#include "base/json_grammar.h"

static bool read_text(const char *text, hac_json_value *ret)
{
    return hac_json_read((const uint8_t *)text, strlen(text), ret);
}

static void test_valid(void **state)
{
    static const char *const good[] = {"0",
                                       "-0.5e+3",
                                       " [ ] ",
                                       "{}",
                                       "\"\"",
                                       "null",
                                       "true",
                                       "[[]]",
                                       "{\"a\":{}}",
                                       "NaN",
                                       "[1,2 , 3]",
                                       "{\"a\" : 1 , \"b\":[{}]}",
                                       "\"\\ud83d\\ude00\\u0000\""};
    static const char *const bad[] = {
        "",    " ",         "[",           "]",   "[1,]",        "{\"a\"}",   "{a:1}",
        "01",  "1.",        "-",           "\"",  "\"\\x\"",     "\"\\u12\"", "tru",
        "1 2", "[1 2]",     "{\"a\":}",    "{,}", "\"\\ud800\"", "nul",       "1e",
        "[1}", "{\"a\":1]", "\"\\ude00\"", "'a'", "{\"a\":1,}"};
    hac_json_value value;
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!read_text(good[i], &value))
            fail_msg("%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (read_text(bad[i], &value))
            fail_msg("%s", bad[i]);
}

static void test_deep(void **state)
{
    char text[2 * HAC_JSON_DEPTH_MAX + 8];
    hac_json_value value;
    (void)state;
    for (size_t depth = HAC_JSON_DEPTH_MAX - 1; depth <= HAC_JSON_DEPTH_MAX + 1; depth++) {
        memset(text, '[', depth);
        text[depth] = '1';
        memset(text + depth + 1, ']', depth);
        assert_int_equal(hac_json_read((const uint8_t *)text, 2 * depth + 1, &value),
                         depth <= HAC_JSON_DEPTH_MAX);
    }
}

/* Each beginning of a text ends where its memory does. */
static void test_truncated(void **state)
{
    static const char text[] =
        "{\"a\\u00e9\": [1, -2.5e3, \"x\\ud83d\\ude00\", null, {\"b\": true}], \"c\": {}}";
    (void)state;
    for (size_t n = 0; n < sizeof text; n++) {
        uint8_t *copy = malloc(n + 1);
        hac_json_value value;
        assert_non_null(copy);
        memcpy(copy, text, n);
        assert_int_equal(hac_json_read(copy, n, &value), n + 1 == sizeof text);
        free(copy);
    }
}

static void check_value(const hac_json_value *value, const cJSON *wanted)
{
    char *printed = cJSON_PrintUnformatted(wanted);
    uint8_t *text = malloc(value->bytes * 6 + 16);
    assert_non_null(printed);
    assert_non_null(text);
    size_t n = hac_json_compact(value, text, value->bytes * 6 + 16);
    assert_int_equal(n, strlen(printed));
    assert_memory_equal(text, printed, n);
    for (size_t capacity = 0; capacity < n; capacity++)
        assert_true(hac_json_compact(value, text, capacity) == SIZE_MAX);
    if (cJSON_IsString(wanted)) {
        n = hac_json_text(value, text);
        assert_int_equal(n, strlen(wanted->valuestring));
        assert_memory_equal(text, wanted->valuestring, n);
        assert_true(hac_json_text_is(value, text, n));
        assert_false(hac_json_text_is(value, (const uint8_t *)"?", 1));
    }
    cJSON_free(printed);
    free(text);
}

static void check_items(const hac_json_value *value, const cJSON *wanted)
{
    hac_json_items items = hac_json_items_of(value);
    hac_json_value name, item;
    const cJSON *child = wanted->child;
    check_value(value, wanted);
    for (int i = 1; hac_json_next(&items, &name, &item); i++, child = child->next) {
        assert_non_null(child);
        if (cJSON_IsObject(wanted))
            assert_true(hac_json_text_is(&name, (const uint8_t *)child->string, strlen(child->string)));
        hac_json_value same;
        if (cJSON_IsArray(wanted)) {
            assert_true(hac_json_element(value, i, &same));
            assert_ptr_equal(same.at, item.at);
            assert_true(hac_json_element(value, i - cJSON_GetArraySize(wanted) - 1, &same));
            assert_ptr_equal(same.at, item.at);
        }
        check_items(&item, child);
    }
    assert_null(child);
    assert_int_equal(hac_json_count(value), cJSON_GetArraySize(wanted));
}

static void test_values(void **state)
{
    static const char *const texts[] = {
        "[1,-2,\"a\\\"b\\\\c\\n\\u0001\",null,true,false,[],{},[[2]]]",
        "{ \"a\" : [ 1 , { \"b\" : \"\\u00e9\\ud83d\\ude00 / \" } ] , \"\" : { \"x y\" : [ ] } }",
        "\"plain\"", "{\"k\\u00e9y\":\"\\t\"}"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        hac_json_value value;
        cJSON *wanted = cJSON_Parse(texts[i]);
        assert_non_null(wanted);
        assert_true(read_text(texts[i], &value));
        check_items(&value, wanted);
        cJSON_Delete(wanted);
    }
}

static void test_paths(void **state)
{
    static const char text[] =
        "{\"a\": {\"b\": [10, {\"c\": \"x\"}]}, \"d e\": 1, \"a.b\": 2, \"0\": 3, \"~/\": 4, "
        "\"k\": 5, \"k\": 6, \"\\u0061\\u0062\": 7, \"*\": 8}";
    static const struct {
        const char *path, *found;
    } cases[] = {{"$.a.b[0]", "10"},
                 {"$.a.b[1].c", "\"x\""},
                 {"$.a.b[-1].c", "\"x\""},
                 {"$.a.b[#-2]", "10"},
                 {"$.\"d e\"", "1"},
                 {"a.b", "2"},
                 {"$.\"a.b\"", "2"},
                 {"/a/b/1/c", "\"x\""},
                 {"/a/b/0", "10"},
                 {"0", "3"},
                 {"/0", "3"},
                 {"/~0~1", "4"},
                 {"$.k", "6"},
                 {"ab", "7"},
                 {"$.\"*\"", "8"},
                 {"*", "8"},
                 {"$.a.b[2]", NULL},
                 {"$.a.b[-3]", NULL},
                 {"$.a[0]", NULL},
                 {"$.a.b.c", NULL},
                 {"$.x", NULL},
                 {"/a/b/x", NULL},
                 {"x", NULL},
                 {"$.a.b[9999999999999999]", NULL}};
    static const char *const wrong[] = {"$.",    "$x",   "$.a[",  "$.a[x]",
                                        "$[*]",  "$.*",  "$.\"a", "$[99999999999999999999]",
                                        "$[#1]", "$..a", "$.a[0", "/a.b/\xff$"};
    hac_json_value value, found;
    (void)state;
    assert_true(read_text(text, &value));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint8_t *path = (const uint8_t *)cases[i].path;
        assert_null(hac_json_path_problem(path, strlen(cases[i].path)));
        bool there = hac_json_find(&value, path, strlen(cases[i].path), &found);
        if (there != (cases[i].found != NULL))
            fail_msg("%s", cases[i].path);
        if (there) {
            assert_int_equal(found.bytes, strlen(cases[i].found));
            assert_memory_equal(found.at, cases[i].found, found.bytes);
        }
    }
    assert_true(hac_json_find(&value, (const uint8_t *)"$", 1, &found) && found.at == value.at);
    assert_true(hac_json_find(&value, (const uint8_t *)"", 0, &found) && found.at == value.at);
    for (size_t i = 0; i + 1 < sizeof wrong / sizeof *wrong; i++) {
        if (hac_json_path_problem((const uint8_t *)wrong[i], strlen(wrong[i])) == NULL)
            fail_msg("%s", wrong[i]);
        assert_false(hac_json_find(&value, (const uint8_t *)wrong[i], strlen(wrong[i]), &found));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_valid), cmocka_unit_test(test_deep),
                                       cmocka_unit_test(test_truncated), cmocka_unit_test(test_values),
                                       cmocka_unit_test(test_paths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
