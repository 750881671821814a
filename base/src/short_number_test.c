/* SPDX-License-Identifier: Apache-2.0 */
/* Short numbers against the parsers that take any: where the short way says true, both say the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "base/short_number.h"
#include "base/value_text.h"

#define LONGEST 20

static uint64_t seed = 11;
static size_t taken; /* texts that went the short way */

/* What lies behind a text must not matter: it ends where the allocation does, but for what may be read, and
 * that is digits, points and signs. */
static char *placed(const char *text, size_t n, char behind)
{
    size_t capacity = n > HAC_SHORT_NUMBER ? n : HAC_SHORT_NUMBER;
    char *copy = malloc(capacity);
    assert_non_null(copy);
    memset(copy, behind, capacity);
    memcpy(copy, text, n);
    return copy;
}

static void check_integer(const char *text, size_t n)
{
    int64_t fast = 0, value = 0;
    if (!hac_short_i64(text, n, &fast))
        return;
    taken++;
    assert_int_equal(hac_parse_i64(text, n, &value), HAC_TEXT_OK);
    assert_true(fast == value);
}

static void check_floats(const char *text, size_t n)
{
    double fast = 0, value = 0;
    float fast_f32 = 0, value_f32 = 0;
    if (hac_short_f64(text, n, &fast)) {
        assert_int_equal(hac_parse_f64(text, n, &value), HAC_TEXT_OK);
        assert_memory_equal(&fast, &value, sizeof value);
    }
    if (hac_short_f32(text, n, &fast_f32)) {
        assert_int_equal(hac_parse_f32(text, n, &value_f32), HAC_TEXT_OK);
        assert_memory_equal(&fast_f32, &value_f32, sizeof value_f32);
    }
}

static void check_decimals(const char *text, size_t n)
{
    static const unsigned types[][2] = {{18, 0}, {18, 2}, {15, 2}, {18, 18}, {5, 5}, {1, 0}, {9, 4}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        int64_t fast = 0;
        __int128 value = 0;
        if (!hac_short_decimal(text, n, types[i][0], types[i][1], &fast))
            continue;
        assert_int_equal(hac_parse_decimal(text, n, types[i][0], types[i][1], &value), HAC_TEXT_OK);
        assert_true(fast == value);
    }
}

static void check(const char *text, size_t n)
{
    static const char behind[] = {'9', '.', '-', 0, ','};
    for (size_t i = 0; i < sizeof behind; i++) {
        char *copy = placed(text, n, behind[i]);
        check_integer(copy, n);
        check_floats(copy, n);
        check_decimals(copy, n);
        free(copy);
    }
}

static void test_edges(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "-",
                                        "--1",
                                        "+1",
                                        "-+1",
                                        ".",
                                        "-.",
                                        "..",
                                        "1.",
                                        ".5",
                                        "-.5",
                                        "-0",
                                        "-0.0",
                                        "0",
                                        "00000000",
                                        "000000000",
                                        "1.2.3",
                                        "12345.67.89",
                                        "1234567.8",
                                        "12345678",
                                        "1.2345678",
                                        "123456789",
                                        "12345678.9",
                                        "123456789.",
                                        ".123456789",
                                        "9007199254740992",
                                        "9007199254740993",
                                        "-9007199254740993",
                                        "9999999999999999",
                                        "-9999999999999999",
                                        "99999999999999999",
                                        "999999999999999.9",
                                        "1e5",
                                        "1E5",
                                        "0x10",
                                        "12345678a",
                                        "a12345678",
                                        "1234567a8",
                                        "16777216",
                                        "16777217",
                                        "1677721.7",
                                        "0.0000000001",
                                        "0.00000000001",
                                        "4.35",
                                        "0.1",
                                        "8.41e21",
                                        " 1",
                                        "1 ",
                                        "1-2",
                                        "12/4",
                                        "12:4",
                                        "\x80\x81",
                                        "1\xff",
                                        "inf",
                                        "nan",
                                        "999.995",
                                        "99999.5",
                                        "-127",
                                        "1,000"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check(texts[i], strlen(texts[i]));
}

/* Digits of every length with a point at every place, and one other byte at every place. */
static void test_every_place(void **state)
{
    (void)state;
    char text[LONGEST];
    size_t before = taken;
    for (size_t n = 1; n <= LONGEST; n++)
        for (size_t point = 0; point <= n; point++)
            for (size_t odd = 0; odd <= n; odd++) {
                for (size_t i = 0; i < n; i++)
                    text[i] = (char)('0' + hac_random_u64(&seed) % 10);
                if (point < n)
                    text[point] = '.';
                if (odd < n && odd % 2 == 0)
                    text[odd] = (char)hac_random_u64(&seed);
                check(text, n);
            }
    assert_true(taken > before);
}

static void test_random(void **state)
{
    (void)state;
    static const char usual[] = "0123456789012345678901234567890123456789.-+e";
    char text[LONGEST];
    for (int round = 0; round < 300000; round++) {
        size_t n = hac_random_u64(&seed) % (LONGEST + 1);
        for (size_t i = 0; i < n; i++)
            text[i] = usual[hac_random_u64(&seed) % (sizeof usual - 1)];
        check(text, n);
    }
}

/* The usual ones do go the short way. */
static void test_taken(void **state)
{
    (void)state;
    int64_t i = 0, d = 0;
    double f = 0;
    float f32 = 0;
    char *text = placed("-1234567.25", 11, '7');
    assert_true(hac_short_f64(text, 11, &f) && f == -1234567.25);
    assert_true(hac_short_i64(text, 8, &i) && i == -1234567);
    assert_true(hac_short_decimal(text, 11, 15, 2, &d) && d == -123456725);
    assert_true(hac_short_f32(text, 7, &f32) && f32 == -123456.0f);
    assert_false(hac_short_i64(text, 11, &i));
    assert_false(hac_short_decimal(text, 11, 15, 1, &d));
    free(text);
    text = placed("9999999999999999", 16, '7');
    assert_true(hac_short_i64(text, 16, &i) && i == INT64_C(9999999999999999));
    assert_false(hac_short_f64(text, 16, &f));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_every_place),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
