/* SPDX-License-Identifier: Apache-2.0 */
/* The shim around RE2: what it refuses, what it finds, and that a search stays linear. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "regexp/regexp.h"

static hac_regexp *compile(const char *pattern, unsigned flags)
{
    char problem[HAC_REGEXP_PROBLEM_MAX] = "";
    hac_regexp *regexp = hac_regexp_new(pattern, strlen(pattern), flags, problem);
    if (regexp == NULL)
        fail_msg("%s: %s", pattern, problem);
    return regexp;
}

static void test_refused(void **state)
{
    static const char *const bad[][2] = {
        {"a(b", "missing )"},          {"a)", "unexpected )"},
        {"[a", "missing ]"},           {"*a", "no argument for"},
        {"a{2,1}", "invalid repe"},    {"(?=a)", "there are no lookarounds"},
        {"(a)\\1", "references back"}, {"((a{999}){999}){99}", "repetition"},
        {"\xff", "invalid UTF-8"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char problem[HAC_REGEXP_PROBLEM_MAX] = "";
        assert_null(hac_regexp_new(bad[i][0], strlen(bad[i][0]), 0, problem));
        if (strstr(problem, bad[i][1]) == NULL)
            fail_msg("%s: '%s' and not '%s'", bad[i][0], problem, bad[i][1]);
    }
    hac_regexp_free(NULL);
}

static void test_matches(void **state)
{
    static const struct {
        const char *pattern, *text;
        unsigned flags;
        hac_regexp_found found;
    } cases[] = {
        {"", "", 0, HAC_REGEXP_FOUND},
        {"b+", "abc", 0, HAC_REGEXP_FOUND},
        {"^b", "abc", 0, HAC_REGEXP_NOT_FOUND},
        {"B", "abc", 0, HAC_REGEXP_NOT_FOUND},
        {"B", "abc", HAC_REGEXP_IGNORE_CASE, HAC_REGEXP_FOUND},
        {"\xc3\x89", "\xc3\xa9", HAC_REGEXP_IGNORE_CASE, HAC_REGEXP_FOUND},
        {"a.b", "a\nb", 0, HAC_REGEXP_NOT_FOUND},
        {"a.b", "a\nb", HAC_REGEXP_DOT_NEWLINE, HAC_REGEXP_FOUND},
        {"^.$", "\xff", 0, HAC_REGEXP_NOT_FOUND},
        {"^.$", "\xe2\x82\xac", 0, HAC_REGEXP_FOUND},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hac_regexp *regexp = compile(cases[i].pattern, cases[i].flags);
        assert_int_equal(hac_regexp_matches(regexp, cases[i].text, strlen(cases[i].text)), cases[i].found);
        hac_regexp_free(regexp);
    }
}

static void test_extract(void **state)
{
    (void)state;
    size_t first, bytes;
    hac_regexp *regexp = compile("(\\w+)@(\\w+)(x)?", 0);
    const char *text = "to me@home now";
    assert_int_equal(hac_regexp_groups(regexp), 3);
    assert_int_equal(hac_regexp_extract(regexp, text, strlen(text), 0, &first, &bytes), HAC_REGEXP_FOUND);
    assert_true(first == 3 && bytes == 7);
    assert_int_equal(hac_regexp_extract(regexp, text, strlen(text), 2, &first, &bytes), HAC_REGEXP_FOUND);
    assert_true(first == 6 && bytes == 4);
    assert_int_equal(hac_regexp_extract(regexp, text, strlen(text), 3, &first, &bytes), HAC_REGEXP_FOUND);
    assert_int_equal(bytes, 0);
    assert_int_equal(hac_regexp_extract(regexp, text, strlen(text), 4, &first, &bytes), HAC_REGEXP_NOT_FOUND);
    assert_int_equal(hac_regexp_extract(regexp, "", 0, 0, &first, &bytes), HAC_REGEXP_NOT_FOUND);
    hac_regexp_free(regexp);
}

static void test_replace(void **state)
{
    static const struct {
        const char *pattern, *text, *by;
        bool all;
        const char *wanted;
    } cases[] = {
        {"a", "banana", "o", false, "bonana"},
        {"a", "banana", "o", true, "bonono"},
        {"(a)(n)", "banana", "\\2\\1", true, "bnanaa"},
        {"", "h\xc3\xa9\xff", "-", true, "-h-\xc3\xa9-\xff-"},
        {"b*", "abc", "-", true, "-a-c-"},
        {"x", "abc", "y", true, "abc"},
        {"b", "abc", "\\\\\\0", true, "a\\bc"},
        {"(z)?b", "abc", "[\\1]", true, "a[]c"},
        {"^", "", "x", true, "x"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char to[32];
        size_t made = 0, n = strlen(cases[i].wanted);
        hac_regexp *regexp = compile(cases[i].pattern, 0);
        assert_null(hac_regexp_replacement_problem(regexp, cases[i].by, strlen(cases[i].by)));
        for (size_t capacity = 0; capacity <= sizeof to; capacity++) {
            hac_regexp_found found =
                hac_regexp_replace(regexp, cases[i].text, strlen(cases[i].text), cases[i].by,
                                   strlen(cases[i].by), cases[i].all, to, capacity, &made);
            assert_int_equal(found, capacity < n ? HAC_REGEXP_NO_MEMORY : HAC_REGEXP_FOUND);
            assert_true(made <= capacity);
        }
        if (made != n || memcmp(to, cases[i].wanted, n) != 0)
            fail_msg("%s in %s: %.*s", cases[i].pattern, cases[i].text, (int)made, to);
        hac_regexp_free(regexp);
    }
}

static void test_replacements(void **state)
{
    (void)state;
    hac_regexp *regexp = compile("(a)", 0);
    assert_non_null(hac_regexp_replacement_problem(regexp, "\\2", 2));
    assert_non_null(hac_regexp_replacement_problem(regexp, "\\", 1));
    assert_non_null(hac_regexp_replacement_problem(regexp, "\\x", 2));
    assert_null(hac_regexp_replacement_problem(regexp, "\\1\\0\\\\", 6));
    hac_regexp_free(regexp);
}

/* What takes a backtracking matcher 2^n steps. */
static void test_linear(void **state)
{
    (void)state;
    size_t n = 1 << 20;
    char *text = malloc(n);
    assert_non_null(text);
    memset(text, 'a', n);
    hac_regexp *regexp = compile("(a*)*(a|a?)+b$", 0);
    clock_t start = clock();
    assert_int_equal(hac_regexp_matches(regexp, text, n), HAC_REGEXP_NOT_FOUND);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 10);
    hac_regexp_free(regexp);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused), cmocka_unit_test(test_matches),      cmocka_unit_test(test_extract),
        cmocka_unit_test(test_replace), cmocka_unit_test(test_replacements), cmocka_unit_test(test_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
