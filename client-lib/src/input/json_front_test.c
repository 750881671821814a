/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/json_document.h"
#include "front_run.h"
#include "json_front.h"

static char *lines_of(const char *text, size_t piece, size_t capacity)
{
    hac_front *front = NULL;
    assert_int_equal(hac_json_front_new(&front, NULL), HAC_OK);
    return hac_test_front_run(front, text, piece, capacity);
}

static void check(const char *text, const char *right)
{
    static const size_t sizes[] = {1, 2, 3, 7, 100000};
    for (size_t i = 0; i < 5; i++)
        for (size_t k = 0; k < 5; k++) {
            hac_autofree char *got = lines_of(text, sizes[i], sizes[k]);
            assert_string_equal(got, right);
        }
}

static void documents(void **state)
{
    (void)state;
    check("[{\"a\":1},{\"a\":2}]", "{\"a\":1}\n{\"a\":2}#");
    check("[{\"a\":1},\n {\"a\":2}]\n", "{\"a\":1}\n{\"a\":2}\n");
    check("\xef\xbb\xbf\n[\n  {\n    \"a\": 1\n  },\n  {\n    \"a\": [1,\n 2]\n  }\n]\n",
          "\xef\xbb\xbf\n\n{\"a\":1}\n\n\n{\"a\":[1,2]}\n\n\n\n\n");
    check("{\n  \"a\": 1\n}\n{\n\"a\": \"x y\\n\"}{\"a\":3}", "{\"a\":1}\n\n\n{\"a\":\"x y\\n\"}\n{\"a\":3}");
    check("[]", "");
    check("[ ] [1, -2.5e+3,\"x\",null ,true]", "1\n-2.5e+3\n\"x\"\nnull\ntrue#");
    check("[[1],[]]", "[1]\n[]#");
    check("{\r\n\"a\": 1\r\n}\r\n", "{\r\"a\":1}\n\n\n");
    check("[{}, {\"a\": {\"b\": []}, \"c\": -Infinity, \"d\": NaN}]",
          "{}\n{\"a\":{\"b\":[]},\"c\":-Infinity,\"d\":NaN}#");
}

/* jsonl, and what only its reader refuses, is not changed. */
static void lines(void **state)
{
    static const char *const texts[] = {"",
                                        "\n\n",
                                        "{\"a\": 1}\n{\"a\": 2}\n",
                                        " {\"a\": \"\\u00e9\"} \r\n\n{\"a\":\n",
                                        "{\"a\":1\n{\"a\":2}\n",
                                        "{\"a\":1}{\"a\":2}\n{\"a\":3}\n",
                                        "{\"a\":\"x\ny\"}\n",
                                        "{\"a\" 1}\n{}\n",
                                        "{\"a\":01}\n{}\n",
                                        "{\"a\":tru\n}",
                                        "x\n{\n",
                                        "1\n2\n",
                                        "{\"a\":\"\\x\"}\n",
                                        "\xef\xbb\xbf{\"a\":1}\n",
                                        "\xef\xbbx",
                                        "{\"a\":1",
                                        "{\"a\":1,",
                                        "{\"a\":nul",
                                        "{\"a\":\"",
                                        "{} x\n[\n",
                                        "\"a\n\"",
                                        "{\"a\":{\"b\":1}\n{\"a\":2}\n"};
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        check(texts[i], texts[i]);
    check("{\"a\":\n  x", "{\"a\":\nx"); /* blanks at the beginning of a line are left out */
    check("{\"a\":\n\n", "{\"a\":\n\n");
}

static void errors(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"[{\"a\":1}\n {\"a\":2}]",
         "{\"a\":1}\n!line 2, column 2: expected ',' or ']' behind a record of the array"},
        {"[{\"a\":1},]", "{\"a\":1}!line 1, column 10: expected a value"},
        {"[,", "!line 1, column 2: expected a value"},
        {"[{\"a\":1}", "{\"a\":1}!line 1, column 9: the input ends within the array that begins in line 1"},
        {"\n[\n{\"a\"", "\n\n{\"a\"!line 3, column 5: the input ends within the array that begins in line 2"},
        {"{\n\"a\":1", "{\"a\":1!line 2, column 6: the input ends within the object that begins in line 1"},
        {"[{\"a\":1}] x", "{\"a\":1}!line 1, column 11: expected an object, or an array of objects"},
        {"[{\"\xc3\xa9\": \n tru}]", "{\"\xc3\xa9\":tru!line 2, column 5: expected a value"},
        {"[{\"a\":\"x\ny\"}]", "{\"a\":\"x!line 1, column 9: a line ends within a string"},
        {"[{\"a\":\"\\q\"}]",
         "{\"a\":\"\\!line 1, column 9: a backslash before a character that has no escape"},
        {"[{\"a\":\"\\u12g4\"}]", "{\"a\":\"\\u12!line 1, column 12: \\u needs four hexadecimal digits"},
        {"[{\"a\":01}]", "{\"a\":0!line 1, column 8: a number starts with 0"},
        {"[{\"a\":-}]", "{\"a\":-!line 1, column 8: a number is incomplete"},
        {"[{\"a\":1.}]", "{\"a\":1.!line 1, column 9: a number is incomplete"},
        {"[{\"a\":1e}]", "{\"a\":1e!line 1, column 9: a number is incomplete"},
        {"[{\"a\" 1}]", "{\"a\"!line 1, column 7: expected ':' behind a name"},
        {"[{1:1}]", "{!line 1, column 3: expected a name in quotes"},
        {"[{\"a\":1,}]", "{\"a\":1,!line 1, column 9: expected a name in quotes"},
        {"[{\"a\":[1}]", "{\"a\":[1!line 1, column 9: expected ',' or ']'"},
        {"[{\"a\":1 2}]", "{\"a\":1!line 1, column 9: expected ',' or '}'"},
        {"{\n\"a\": 1},\n", "{\"a\":1}\n!line 2, column 8: expected an object, or an array of objects"},
        {"[1]]", "1!line 1, column 4: expected an object, or an array of objects"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        check(cases[i].text, cases[i].says);
    char deep[600] = "[";
    memset(deep + 1, '[', 513);
    hac_autofree char *got = lines_of(deep, 100, 100);
    assert_non_null(strstr(got, "!line 1, column 514: nested more than 512 deep"));
}

static void what_is_a_document(void **state)
{
    static const char *const documents[] = {"[",   "\n [1]",       "\xef\xbb\xbf[",
                                            "{\n", "{\"a\":[1,\n", "{\"}\": {\n"};
    static const char *const others[] = {"",  "{}\n",      "{\"a\":{}}\n{\n", "1\n[",    "{\"a",
                                         "{", "{\"{\"}\n", "{\"\\\"{\"}\n",   "\"[\"\n", "{\"a\n"};
    (void)state;
    for (size_t i = 0; i < sizeof(documents) / sizeof(*documents); i++)
        assert_true(hac_json_is_document((const uint8_t *)documents[i], strlen(documents[i])));
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        assert_false(hac_json_is_document((const uint8_t *)others[i], strlen(others[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents),
        cmocka_unit_test(lines),
        cmocka_unit_test(errors),
        cmocka_unit_test(what_is_a_document),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
