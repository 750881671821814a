/* SPDX-License-Identifier: Apache-2.0 */
/* Floats from and to text, against the C library's strtod, strtof and printf. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/test_support.h"
#include "base/value_text.h"

static uint64_t seed = 20201031;

static double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- reading ------------------------------------------------------------------------------------------- */

/* Both widths of a text that is a finite decimal number. */
static void check_parse(const char *text)
{
    double got = 4711, wanted = strtod(text, NULL);
    float got_f = 4711, wanted_f = strtof(text, NULL);
    size_t bytes = strlen(text);
    char *copy = malloc(bytes); /* no byte behind it may be read */
    assert_non_null(copy);
    memcpy(copy, text, bytes);
    hac_text_status status = hac_parse_f64(copy, bytes, &got), status_f = hac_parse_f32(copy, bytes, &got_f);
    if (status != (isinf(wanted) ? HAC_TEXT_RANGE : HAC_TEXT_OK) ||
        (!isinf(wanted) && memcmp(&got, &wanted, sizeof got) != 0))
        fail_msg("%s: %a instead of %a (status %d)", text, got, wanted, status);
    if (status_f != (isinf(wanted_f) ? HAC_TEXT_RANGE : HAC_TEXT_OK) ||
        (!isinf(wanted_f) && memcmp(&got_f, &wanted_f, sizeof got_f) != 0))
        fail_msg("%s: %a instead of %a (f32, status %d)", text, (double)got_f, (double)wanted_f, status_f);
    free(copy);
}

static void test_known(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "0",
        "-0",
        "0.0",
        "1",
        "-1",
        "+1",
        ".5",
        "5.",
        "-.5e1",
        "1e0",
        "1E5",
        "1e+5",
        "1e-5",
        "000000000000000000000001",
        "0.000000000000000000000000000000000000001",
        "123456789012345678901234567890",
        "1e22",
        "1e23",
        "8.5e22",
        "9e22",
        "8.41e21",
        "9007199254740991",
        "9007199254740992",
        "9007199254740993",
        "9007199254740993.0",
        "9007199254740995",
        "9007199254740993."
        "00000000000000000000000000000000000000000000000000000000000000000000000000000000001",
        "9007199254740992."
        "99999999999999999999999999999999999999999999999999999999999999999999999999999999999",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "1.797693134862315807e308",
        "1797693134862315807937289714053034150799341327100378269361737789804449682927647509466490179775872070"
        "96330286"
        "4166928879109465555478519404026306574886715058206819089020007083836762738548458177115317644757302700"
        "69855571"
        "366959622842914819860834936475292719074168444365510704342711559699508093042880",
        "2.2250738585072014e-308",
        "2.2250738585072011e-308",
        "2.225073858507201136057409796709131975934819546351645648"
        "02342610972482222202107694551652952390813508e-308",
        "4.9e-324",
        "5e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "2.47032822920623272088284396434110686182e-324",
        "2e-324",
        "3e-324",
        "1e-325",
        "1e-400",
        "1e-1000000000000000000000",
        "0e999999999999999999999999",
        "1e308",
        "1e309",
        "1e400",
        "1e999999999999999999999999999",
        "3.4028234663852886e38",
        "3.4028235677973366e38",
        "3.4028235677973367e38",
        "3.40282356779733661637539395458142568447e38",
        "1.401298464324817e-45",
        "7.006492321624085e-46",
        "7.0064923216240853546186479164495806564013097093825788587853e-46",
        "7.1e-46",
        "1.1754943508222875e-38",
        "16777217",
        "16777219",
        "1.00000005960464477539062500",
        "1.000000059604644775390625000000000000000001",
        "6631236846766476e-316",
        "3237883913302901290e-287",
        "104308485241983990666713401708072175773165034278682682111762928e-60",
        "10000000000000000000000000000000000000000000e-43",
        "4.4501477170144023e-308",
        "0.1",
        "0.2",
        "0.3",
        "1.1",
        "2.2",
        "12345.678e-2",
        "18446744073709551615",
        "18446744073709551616",
        "18446744073709551617e-19",
        "1e19",
        "10e18",
        "9999999999999999999",
        "99999999999999999999",
        "0.00000000000000000000000009999999999999999999999"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_parse(texts[i]);
}

static void test_powers(void **state)
{
    (void)state;
    static const char *const digits[] = {"1",
                                         "3",
                                         "9",
                                         "17",
                                         "9007199254740993",
                                         "9999999999999999999",
                                         "18446744073709551615",
                                         "123456789012345678901234567890"};
    char text[64];
    for (int e = -420; e <= 420; e++)
        for (size_t i = 0; i < sizeof digits / sizeof *digits; i++) {
            snprintf(text, sizeof text, "%se%d", digits[i], e);
            check_parse(text);
            snprintf(text, sizeof text, "-0.%se%d", digits[i], e);
            check_parse(text);
        }
}

/* The middle between two neighbours, which needs one bit more than a double, in full length, and the numbers
 * just beside it. x87's long double holds it and printf prints all of it; elsewhere it is only some long
 * number. */
static void check_middle(double value, double next_one)
{
    char text[1300];
    if (!isfinite(value) || !isfinite(next_one) || value == 0)
        return;
    snprintf(text, sizeof text, "%.1100Le", ((long double)value + (long double)next_one) / 2);
    check_parse(text);
    char exponent[16], *e = strchr(text, 'e');
    assert_non_null(e);
    snprintf(exponent, sizeof exponent, "%s", e);
    snprintf(e, 17, "1%s", exponent); /* above, by a digit behind all that count */
    check_parse(text);
    for (char *p = e - 1; p > text; p--) /* below */
        if (*p >= '1') {
            --*p;
            break;
        }
    check_parse(text);
}

static void test_middles(void **state)
{
    (void)state;
    for (int i = 0; i < HAC_TEST_CASES(2000, 400); i++) {
        double value = fabs(double_of(hac_random_u64(&seed)));
        float narrow = fabsf(float_of((uint32_t)hac_random_u64(&seed)));
        double tiny = double_of(hac_random_u64(&seed) >> (12 + hac_random_u64(&seed) % 50)); /* a denormal */
        check_middle(value, nextafter(value, INFINITY));
        check_middle((double)narrow, (double)nextafterf(narrow, INFINITY));
        check_middle(tiny, nextafter(tiny, INFINITY));
    }
}

/* Middles of small exponents as plain integers: (2m + 1) / 2 for 54-bit odd numbers. */
static void test_integer_middles(void **state)
{
    (void)state;
    char text[64];
    for (int i = 0; i < HAC_TEST_CASES(100000, 10000); i++) {
        uint64_t m = (hac_random_u64(&seed) >> 10 | UINT64_C(1) << 53) | 1; /* 54 bits, odd: a tie */
        int shift = (int)(hac_random_u64(&seed) % 10);
        unsigned __int128 big = (unsigned __int128)m << shift;
        if (big > UINT64_MAX)
            continue;
        snprintf(text, sizeof text, "%llu", (unsigned long long)big);
        check_parse(text);
        snprintf(text, sizeof text, "%llu.0000000000000000000000001", (unsigned long long)big);
        check_parse(text);
        snprintf(text, sizeof text, "%llu.000", (unsigned long long)big);
        check_parse(text);
        snprintf(text, sizeof text, "%llu.5", (unsigned long long)(m >> 1));
        check_parse(text);
    }
}

static void test_random_texts(void **state)
{
    (void)state;
    char text[80];
    for (int i = 0; i < HAC_TEST_CASES(300000, 30000); i++) {
        char digits[40];
        size_t n = 1 + hac_random_u64(&seed) % 30;
        for (size_t j = 0; j < n; j++)
            digits[j] = (char)('0' + hac_random_u64(&seed) % 10);
        digits[n] = '\0';
        size_t point = hac_random_u64(&seed) % (n + 1);
        int e = (int)(hac_random_u64(&seed) % 700) - 350;
        if (hac_random_u64(&seed) % 2)
            e = (int)(hac_random_u64(&seed) % 60) - 40;
        snprintf(text, sizeof text, "%s%.*s.%se%d", hac_random_u64(&seed) % 2 ? "-" : "", (int)point, digits,
                 digits + point, e);
        check_parse(text);
    }
}

static void test_words(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",    "+",    "-",      ".",      "-.",    "e5",       ".e5",       "1e",    "1e+",
        "1e-", "1e5.", "1.2.3",  "1,5",    " 1",    "1 ",       "0x10",      "0x1p3", "1e5x",
        "--1", "+-1",  "1_000",  "nan(1)", "infin", "infinit",  "infinityy", "na",    "i",
        "n",   "-",    "1\0002", "1f",     "1d",    "\xc2\xbd", "1e 5",      "NaNs"};
    double value = 4711;
    float narrow = 4711;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        size_t bytes = strcmp(wrong[i], "1") == 0 ? 3 : strlen(wrong[i]); /* the one with a zero in it */
        assert_int_equal(hac_parse_f64(wrong[i], bytes, &value), HAC_TEXT_MALFORMED);
        assert_int_equal(hac_parse_f32(wrong[i], bytes, &narrow), HAC_TEXT_MALFORMED);
    }
    assert_true(value == 4711 && narrow == 4711);
    static const char *const infinities[] = {"inf",  "Inf",  "INFINITY", "infinity",
                                             "+inf", "-inf", "-Infinity"};
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(hac_parse_f64(infinities[i], strlen(infinities[i]), &value), HAC_TEXT_OK);
        assert_true(value == (infinities[i][0] == '-' ? -INFINITY : INFINITY));
        assert_int_equal(hac_parse_f32(infinities[i], strlen(infinities[i]), &narrow), HAC_TEXT_OK);
        assert_true(narrow == (infinities[i][0] == '-' ? -INFINITY : INFINITY));
    }
    static const char *const nans[] = {"nan", "NaN", "NAN", "-nan", "+nan"};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(hac_parse_f64(nans[i], strlen(nans[i]), &value), HAC_TEXT_OK);
        assert_true(isnan(value));
        assert_int_equal(hac_parse_f32(nans[i], strlen(nans[i]), &narrow), HAC_TEXT_OK);
        assert_true(isnan(narrow));
    }
    assert_int_equal(hac_parse_f64("1e400", 5, &value), HAC_TEXT_RANGE);
    assert_true(isnan(value));
}

/* A megabyte of digits, and of zeros. */
static void test_long(void **state)
{
    (void)state;
    size_t n = 1u << 20;
    char *text = malloc(n + 1);
    assert_non_null(text);
    memset(text, '0', n);
    text[n] = '\0';
    check_parse(text);
    text[1] = '.';
    text[n - 1] = '7';
    check_parse(text);
    memset(text, '9', n);
    check_parse(text);
    text[2] = '.';
    check_parse(text);
    memset(text, '0', n);
    memcpy(text, "9007199254740993.", 17);
    check_parse(text);
    text[n - 1] = '1';
    check_parse(text);
    memset(text + 1, '0', n - 1);
    text[0] = '1';
    snprintf(text + n - 9, 10, "e-1048560");
    check_parse(text);
    free(text);
}

/* ---- printing ------------------------------------------------------------------------------------------ */

/* Significant digits of a printed number. */
static int count_digits(const char *text)
{
    int count = 0, zeros = 0;
    for (; *text != '\0' && *text != 'e'; text++)
        if (*text >= '0' && *text <= '9') {
            zeros = *text == '0' ? zeros + 1 : 0;
            count += count > 0 || *text != '0';
        }
    return count - zeros < 1 ? 1 : count - zeros;
}

static void check_print_f64(double value)
{
    char text[HAC_PRINT_MAX + 1], other[64];
    size_t bytes = hac_print_f64(value, text);
    assert_true(bytes <= HAC_PRINT_MAX);
    text[bytes] = '\0';
    double back = strtod(text, NULL), ours = 0;
    if (memcmp(&back, &value, sizeof back) != 0)
        fail_msg("%a was printed as %s", value, text);
    assert_int_equal(hac_parse_f64(text, bytes, &ours), HAC_TEXT_OK);
    assert_memory_equal(&ours, &value, sizeof ours);
    int digits = count_digits(text);
    if (digits > 1) { /* one digit less does not do */
        snprintf(other, sizeof other, "%.*e", digits - 2, value);
        if (strtod(other, NULL) == value)
            fail_msg("%s is longer than %s", text, other);
    }
    snprintf(other, sizeof other, "%.*e", digits - 1,
             value); /* the nearest of that length, if it reads back */
    if (strtod(other, NULL) == value) {
        char again[64];
        snprintf(again, sizeof again, "%.*e", digits - 1, strtod(text, NULL));
        assert_string_equal(other, again);
        long double distance = fabsl(strtold(text, NULL) - (long double)value),
                    best = fabsl(strtold(other, NULL) - (long double)value);
        assert_true(distance <= best * 1.0001L);
    }
}

static void check_print_f32(float value)
{
    char text[HAC_PRINT_MAX + 1], other[64];
    size_t bytes = hac_print_f32(value, text);
    assert_true(bytes <= HAC_PRINT_MAX);
    text[bytes] = '\0';
    float back = strtof(text, NULL), ours = 0;
    if (memcmp(&back, &value, sizeof back) != 0)
        fail_msg("%a was printed as %s", (double)value, text);
    assert_int_equal(hac_parse_f32(text, bytes, &ours), HAC_TEXT_OK);
    assert_memory_equal(&ours, &value, sizeof ours);
    int digits = count_digits(text);
    if (digits > 1) {
        snprintf(other, sizeof other, "%.*e", digits - 2, (double)value);
        if (strtof(other, NULL) == value)
            fail_msg("%s is longer than %s", text, other);
    }
    snprintf(other, sizeof other, "%.*e", digits - 1, (double)value);
    if (strtof(other, NULL) == value) /* exact in doubles */
        assert_true(fabs(strtod(text, NULL) - (double)value) <= fabs(strtod(other, NULL) - (double)value));
}

static void test_layout(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0.0"},
                 {-0.0, "-0.0"},
                 {1, "1.0"},
                 {-1, "-1.0"},
                 {100, "100.0"},
                 {0.1, "0.1"},
                 {1e15, "1000000000000000.0"},
                 {9999999999999998.0, "9999999999999998.0"},
                 {1e16, "1e+16"},
                 {12345678901234567890.0, "1.2345678901234567e+19"},
                 {1e22, "1e+22"},
                 {1e23, "1e+23"},
                 {1e300, "1e+300"},
                 {1.5e300, "1.5e+300"},
                 {0.001, "0.001"},
                 {0.0001, "0.0001"},
                 {0.00012345, "0.00012345"},
                 {0.00001, "1e-05"},
                 {0.000012, "1.2e-05"},
                 {1e-100, "1e-100"},
                 {5e-324, "5e-324"},
                 {-5e-324, "-5e-324"},
                 {DBL_MAX, "1.7976931348623157e+308"},
                 {DBL_MIN, "2.2250738585072014e-308"},
                 {0.30000000000000004, "0.30000000000000004"},
                 {2.5, "2.5"},
                 {123456.789, "123456.789"},
                 {1.0 / 3, "0.3333333333333333"},
                 {9007199254740993.0, "9007199254740992.0"},
                 {2251799813685248.5, "2251799813685248.5"},
                 {INFINITY, "inf"},
                 {-INFINITY, "-inf"},
                 {NAN, "nan"},
                 {-NAN, "nan"},
                 {1e21, "1e+21"},
                 {120000000000000000.0, "1.2e+17"}};
    char text[HAC_PRINT_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t bytes = hac_print_f64(cases[i].value, text);
        assert_int_equal(bytes, strlen(cases[i].text));
        assert_memory_equal(text, cases[i].text, bytes);
    }
    static const struct {
        float value;
        const char *text;
    } narrow[] = {{0.1f, "0.1"},
                  {16777216.0f, "16777216.0"},
                  {3.4028235e38f, "3.4028235e+38"},
                  {1e-45f, "1e-45"},
                  {1.1754944e-38f, "1.1754944e-38"},
                  {1e16f, "1e+16"},
                  {123456792.0f, "123456790.0"},
                  {-2.5f, "-2.5"},
                  {INFINITY, "inf"},
                  {-INFINITY, "-inf"},
                  {NAN, "nan"},
                  {8.5899346e9f, "8589935000.0"}};
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++) {
        size_t bytes = hac_print_f32(narrow[i].value, text);
        if (bytes != strlen(narrow[i].text) || memcmp(text, narrow[i].text, bytes) != 0)
            fail_msg("%.*s instead of %s", (int)bytes, text, narrow[i].text);
    }
}

/* Every exponent with fractions from one end to the other. */
static void test_all_exponents(void **state)
{
    (void)state;
    static const uint64_t fractions[] = {0,
                                         1,
                                         2,
                                         3,
                                         UINT64_C(0x5555555555555),
                                         UINT64_C(0x7ffffffffffff),
                                         UINT64_C(0x8000000000000),
                                         UINT64_C(0xffffffffffffe),
                                         UINT64_C(0xfffffffffffff)};
    for (uint64_t exponent = 0; exponent < 2047; exponent++)
        for (size_t i = 0; i < sizeof fractions / sizeof *fractions; i++) {
            check_print_f64(double_of(exponent << 52 | fractions[i]));
            check_print_f64(double_of(exponent << 52 | (hac_random_u64(&seed) >> 12)));
        }
    for (uint32_t high = 0; high < 65536; high++) { /* all upper halves of f32, two lower ones each */
        if ((high >> 7 & 0xff) == 0xff)
            continue;
        check_print_f32(float_of(high << 16));
        check_print_f32(float_of(high << 16 | ((uint32_t)hac_random_u64(&seed) & 0xffff)));
    }
    for (uint32_t bits = 1; bits < 2000; bits++) { /* the smallest */
        check_print_f32(float_of(bits));
        check_print_f64(double_of(bits));
    }
}

static void test_random_bits(void **state)
{
    (void)state;
    for (int i = 0; i < HAC_TEST_CASES(300000, 30000); i++) {
        double value = double_of(hac_random_u64(&seed));
        if (isfinite(value))
            check_print_f64(value);
        check_print_f64((double)(hac_random_u64(&seed) % 100000000) / 100);
    }
}

/* Only back and forth, but many. */
static void test_round_trips(void **state)
{
    (void)state;
    char text[HAC_PRINT_MAX];
    for (int i = 0; i < HAC_TEST_CASES(5000000, 200000); i++) {
        uint64_t bits = hac_random_u64(&seed);
        double value = double_of(bits), back = 0;
        float narrow = float_of((uint32_t)bits), back_f = 0;
        if (isfinite(value)) {
            assert_int_equal(hac_parse_f64(text, hac_print_f64(value, text), &back), HAC_TEXT_OK);
            assert_memory_equal(&back, &value, sizeof back);
        }
        if (isfinite(narrow)) {
            assert_int_equal(hac_parse_f32(text, hac_print_f32(narrow, text), &back_f), HAC_TEXT_OK);
            assert_memory_equal(&back_f, &narrow, sizeof back_f);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),         cmocka_unit_test(test_powers),
        cmocka_unit_test(test_middles),       cmocka_unit_test(test_integer_middles),
        cmocka_unit_test(test_random_texts),  cmocka_unit_test(test_words),
        cmocka_unit_test(test_long),          cmocka_unit_test(test_layout),
        cmocka_unit_test(test_all_exponents), cmocka_unit_test(test_random_bits),
        cmocka_unit_test(test_round_trips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
