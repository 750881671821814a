/* SPDX-License-Identifier: Apache-2.0 */
/* Compares LIKE with a table of which prefix of the text matches which prefix of the pattern. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/test_support.h"
#include "base/text.h"
#include "machine_strings.h"
#include "test_columns.h"

#define TEXT_MAX    300
#define PATTERN_MAX 40

#define LONG_TEXT HAC_TEST_CASES(1 << 20, 1 << 15) /* under a sanitizer there are no vector instructions */

static bool table[TEXT_MAX + 5][PATTERN_MAX + 2];

static bool expected(const uint8_t *text, size_t bytes, const uint8_t *pattern, size_t n)
{
    memset(table, 0, sizeof table);
    table[0][0] = true;
    for (size_t t = 0; t <= bytes; t++) {
        size_t step = t < bytes ? hac_utf8_sequence((const char *)text + t, bytes - t) : 0;
        step = step == 0 ? 1 : step;
        for (size_t p = 0; p < n; p++) {
            if (!table[t][p])
                continue;
            if (pattern[p] == '%') {
                table[t][p + 1] = true;
                table[t + step][p] |= t < bytes;
            } else if (pattern[p] == '_') {
                table[t + step][p + 1] |= t < bytes;
            } else {
                size_t escape = pattern[p] == '\\';
                table[t + 1][p + 1 + escape] |= t < bytes && text[t] == pattern[p + escape];
            }
        }
    }
    return table[bytes][n];
}

static test_random sequence = {1};

/* Few different characters, so that many texts match. */
static size_t fill(uint8_t *ret, size_t max, const char *const *from, size_t n_from)
{
    size_t used = 0;
    for (size_t wanted = test_below(&sequence, max + 1); used < wanted;) {
        const char *next = from[test_below(&sequence, n_from)];
        size_t length = strlen(next);
        if (used + length > max)
            break;
        memcpy(ret + used, next, length);
        used += length;
    }
    return used;
}

static void compare(const uint8_t *text, size_t bytes, const uint8_t *pattern, size_t n)
{
    /* in memory of their exact size, so that a sanitizer sees a read behind them */
    uint8_t *t = malloc(bytes + (bytes == 0)), *p = malloc(n + (n == 0));
    assert_true(t != NULL && p != NULL);
    memcpy(t, text, bytes);
    memcpy(p, pattern, n);
    bool is = hac_like(t, bytes, p, n);
    if (is != expected(text, bytes, pattern, n))
        fail_msg("'%.*s' like '%.*s' is %d", (int)bytes, (const char *)text, (int)n, (const char *)pattern,
                 is);
    free(t);
    free(p);
}

static void random_patterns(void **state)
{
    static const char *const ascii[] = {"a", "a", "a", "a", "a", "b", "%"};
    static const char *const some[] = {
        "a", "a", "b", "\xc3\xa9", "\xe2\x82\xac", "\xc3", "\xa9", "\xf0\x9f\x98\x80"};
    static const char *const elements[] = {"%", "%", "a", "a", "b", "_", "_", "%", "\\%", "\\_", "\\\\"};
    static const char *const all[] = {"a", "b", "_", "_", "%", "\xc3\xa9", "\xe2\x82\xac", "\\%"};
    static const char *const halves[] = {"a", "_", "%", "\xc3", "\xa9", "\xc3\xa9"};
    uint8_t text[TEXT_MAX], pattern[PATTERN_MAX];
    size_t matches = 0;
    (void)state;
    for (size_t i = 0; i < HAC_TEST_CASES(100000, 20000); i++) {
        size_t max = i % 4 == 0 ? TEXT_MAX : 12, longest = i % 3 == 0 ? PATTERN_MAX : 8;
        size_t bytes = i % 2 == 0 ? fill(text, max, ascii, 7) : fill(text, max, some, 8);
        size_t n = i % 2 == 0   ? fill(pattern, longest, elements, 11)
                   : i % 5 != 0 ? fill(pattern, longest, all, 8)
                                : fill(pattern, 5, halves, 6);
        /* an incomplete character in the pattern leaves the search within a character: it must end, but its
         * result is undefined */
        if (i % 2 == 1 && i % 5 == 0 && memchr(pattern, '%', n) != NULL) {
            (void)hac_like(text, bytes, pattern, n);
            continue;
        }
        compare(text, bytes, pattern, n);
        matches += expected(text, bytes, pattern, n);
    }
    assert_true(matches > HAC_TEST_CASES(5000, 1000));
}

/* The character at `text`, by the definition: a byte that is not part of well-formed UTF-8 is one. */
static size_t one_character(const uint8_t *text, size_t bytes)
{
    size_t length = hac_utf8_sequence((const char *)text, bytes);
    return length == 0 ? 1 : length;
}

/* Characters are counted eight bytes at a time where they can be. */
static void test_characters(void **state)
{
    static const char *const some[] = {
        "a", "b", "c", "abcdefgh", "\xc3\xa9", "\xe2\x82\xac", "\xc3", "\xa9", "\xf0\x9f\x98\x80"};
    uint8_t text[TEXT_MAX];
    (void)state;
    for (size_t i = 0; i < HAC_TEST_CASES(20000, 4000); i++) {
        size_t bytes = fill(text, 1 + i % 60, some, i % 3 == 0 ? 4 : 9), count = 0;
        uint8_t *t = malloc(bytes + (bytes == 0)); /* of its exact size */
        assert_true(t != NULL);
        memcpy(t, text, bytes);
        for (size_t at = 0; at < bytes; count++) {
            assert_int_equal(hac_utf8_skip(t, bytes, count), at);
            at += one_character(t + at, bytes - at);
        }
        assert_int_equal(hac_utf8_length(t, bytes), count);
        assert_int_equal(hac_utf8_skip(t, bytes, count), bytes);
        assert_int_equal(hac_utf8_skip(t, bytes, count + 1), bytes);
        free(t);
    }
}

/* Every length around the number of places that are compared at once, with the match at every place. */
static void test_places(void **state)
{
    static const char *const patterns[] = {"%x_y%", "%x_y", "%x_y_%", "%_x_y%z", "%xx_y%"};
    uint8_t text[TEXT_MAX];
    (void)state;
    for (size_t bytes = 0; bytes < 200; bytes++)
        for (size_t at = 0; at + 4 <= bytes; at += HAC_TEST_CASES(1, 3))
            for (size_t i = 0; i < 5; i++) {
                memset(text, 'x', bytes);
                memcpy(text + at, at % 2 == 0 ? "x.yz" : "x\xc3\xa9y", 4);
                compare(text, bytes, (const uint8_t *)patterns[i], strlen(patterns[i]));
            }
}

/* No match takes time in the product of the lengths of text and pattern, unless characters have several
 * bytes. */
static void test_long(void **state)
{
    static uint8_t text[LONG_TEXT], pattern[2048];
    const size_t n = sizeof pattern;
    (void)state;
    memset(text, 'a', sizeof text);
    memset(pattern, 'a', n);
    clock_t start = clock();
    pattern[0] = '%';
    pattern[n / 2] = '_';
    assert_true(hac_like(text, sizeof text, pattern, n)); /* at the end */
    pattern[n - 1] = '%';
    assert_true(hac_like(text, sizeof text, pattern, n));
    pattern[n - 2] = 'b';
    assert_false(hac_like(text, sizeof text, pattern, n)); /* nowhere */
    text[sizeof text - 1] = 'b';
    assert_true(hac_like(text, sizeof text, pattern, n));
    memcpy(text, "\xc3\xa9", 2); /* a longer character elsewhere */
    assert_true(hac_like(text, sizeof text, pattern, n));
    memset(pattern, '_', n);
    pattern[0] = '%';
    assert_true(hac_like(text, sizeof text, pattern, n));
    pattern[n - 1] = 'a';
    assert_false(hac_like(text, sizeof text, pattern, n));
    assert_true(clock() - start < 30 * CLOCKS_PER_SEC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_patterns),
        cmocka_unit_test(test_characters),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
