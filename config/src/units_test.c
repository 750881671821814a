/* SPDX-License-Identifier: Apache-2.0 */
#include "units.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "config/profile.h"

static void test_sizes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes;
    } cases[] = {
        {"0", 0},
        {"1", 1},
        {"0B", 0},
        {"512B", 512},
        {"1kB", 1000},
        {"1KiB", 1024},
        {"3MB", 3000000},
        {"3MiB", 3145728},
        {"2GB", 2000000000},
        {"4GiB", 4294967296},
        {"4 GiB", 4294967296},
        {"1TB", 1000000000000},
        {"1TiB", 1099511627776},
        {"1.5GiB", 1610612736},
        {"0.5KiB", 512},
        {"1.9B", 1}, /* rounded down */
        {"1e3", 1000},
        {"1e3kB", 1000000},
        {"2.5e-1KiB", 256},
        {"1E+2MB", 100000000},
        {"9007199254740993", 9007199254740993}, /* 2^53 + 1: not through a double */
        {"18446744073709551615", UINT64_MAX},
        {"16777215TiB", UINT64_C(16777215) << 40},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t bytes = 99;
        hac_error err = HAC_ERROR_NONE;
        if (hac_parse_size(cases[i].text, &bytes, &err) != HAC_OK || bytes != cases[i].bytes)
            fail_msg("%s: %llu, %s", cases[i].text, (unsigned long long)bytes, err.message);
    }
}

static void assert_bad_size(const char *text, const char *message)
{
    uint64_t bytes = 99;
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(hac_parse_size(text, &bytes, &err), HAC_INVALID);
    assert_int_equal(bytes, 99);
    if (strncmp(err.message, message, strlen(message)) != 0)
        fail_msg("got \"%s\", expected \"%s\"", err.message, message);
    assert_non_null(
        strstr(err.message, "; allowed: a number and one of B, kB, MB, GB, TB, KiB, MiB, GiB, TiB"));
    assert_int_equal(hac_parse_size(text, &bytes, NULL), HAC_INVALID);
}

static void test_bad_sizes(void **state)
{
    (void)state;
    static const char *const no_numbers[] = {"",    " ",    "GiB",  "-1GiB", "+1GiB", " 1GiB", "nan",
                                             "inf", "-inf", ".5GB", "010",   "00",    "١GiB"};
    static const char *const no_units[] = {
        "4 parsecs", "4G",   "4K", "4gib", "4GIB",   "4Kib",    "4KB",  "4GiB ", "4  GiB", "4 ",   "4GiB/s",
        "1.",        "1.GB", "1e", "1eGB", "1,5GiB", "4GiBGiB", "4PiB", "1e-",   "0x10",   "1_000"};
    for (size_t i = 0; i < sizeof no_numbers / sizeof *no_numbers; i++)
        assert_bad_size(no_numbers[i], "`");
    for (size_t i = 0; i < sizeof no_units / sizeof *no_units; i++)
        assert_bad_size(no_units[i], "`");
    assert_bad_size("4 parsecs", "`4 parsecs` has an unknown unit; allowed");
    assert_bad_size("0x10", "`0x10` has an unknown unit");
    assert_bad_size("GiB", "`GiB` is not a size; allowed");
    assert_bad_size("010", "`010` is not a size");
    assert_bad_size("-1GiB", "`-1GiB` is not a size");
    assert_bad_size("18446744073709551616", "`18446744073709551616` is too large");
    assert_bad_size("16777216TiB", "`16777216TiB` is too large");
    assert_bad_size("1e20GB", "`1e20GB` is too large");
    assert_bad_size("1e999", "`1e999` is too large");
    char digits[80];
    memset(digits, '1', sizeof digits - 1);
    digits[79] = '\0';
    assert_bad_size(digits, "`1111111111111111111111111111111111111111...` has too many digits");
}

static void test_rates(void **state)
{
    (void)state;
    double rate = -1;
    assert_int_equal(hac_parse_rate("25GB/s", &rate, NULL), HAC_OK);
    assert_true(rate == 25e9);
    assert_int_equal(hac_parse_rate("1.5 GiB/s", &rate, NULL), HAC_OK);
    assert_true(rate == 1.5 * 1024 * 1024 * 1024);
    assert_int_equal(hac_parse_rate("7B/s", &rate, NULL), HAC_OK);
    assert_true(rate == 7);
    static const char *const bad[] = {"25",  "25GB",   "25GB/ s", "25GB/h", "25/s",   "-1GB/s",
                                      "nan", "infB/s", "25GB/s ", "GB/s",   "25Gb/s", "1e308TB/s"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        hac_error err = HAC_ERROR_NONE;
        assert_int_equal(hac_parse_rate(bad[i], &rate, &err), HAC_INVALID);
        assert_true(rate == 7);
        assert_non_null(strstr(err.message, "; allowed: a number and one of B/s, kB/s, "));
    }
}

static void test_durations(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double seconds;
    } cases[] = {{"10us", 10e-6}, {"1ns", 1e-9}, {"7ms", 7e-3}, {"30s", 30},        {"10min", 600},
                 {"2h", 7200},    {"0s", 0},     {"1.5s", 1.5}, {"2.5e1 ms", 25e-3}};
    double seconds = -1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(hac_parse_duration(cases[i].text, &seconds, NULL), HAC_OK);
        assert_true(seconds == cases[i].seconds); /* to the last bit: as a C compiler reads it */
    }
    static const char *const bad[] = {"10",   "",   "10sec", "-1s", "1m",    "infs",
                                      "nans", "1S", "1 0s",  "s",   "1e308h"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        hac_error err = HAC_ERROR_NONE;
        assert_int_equal(hac_parse_duration(bad[i], &seconds, &err), HAC_INVALID);
        assert_non_null(strstr(err.message, "allowed: a number and one of ns, us, ms, s, min, h"));
    }
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(hac_parse_duration("10", &seconds, &err), HAC_INVALID);
    assert_string_equal(err.message, "`10` has no unit; allowed: a number and one of ns, us, ms, s, min, h");
}

static void test_numbers(void **state)
{
    (void)state;
    double number = -1;
    assert_int_equal(hac_units_number("1.2e8", &number, NULL), HAC_OK);
    assert_true(number == 1.2e8);
    assert_int_equal(hac_units_number("1.0", &number, NULL), HAC_OK);
    assert_true(number == 1.0);
    static const char *const bad[] = {"nan", ".nan", ".inf", "-.inf", "inf",   "1e999", "-1",  "+1",
                                      "1 ",  "1.",   "",     "1s",    "0x1p3", "01",    "1e+", "1..2"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(hac_units_number(bad[i], &number, NULL), HAC_INVALID);
    assert_true(number == 1.0);
}

static void test_integers(void **state)
{
    (void)state;
    uint64_t integer = 99;
    assert_int_equal(hac_units_integer("65535", &integer, NULL), HAC_OK);
    assert_int_equal(integer, 65535);
    assert_int_equal(hac_units_integer("0", &integer, NULL), HAC_OK);
    assert_int_equal(integer, 0);
    assert_int_equal(hac_units_integer("1e6", &integer, NULL), HAC_OK);
    assert_int_equal(integer, 1000000);
    assert_int_equal(hac_units_integer("18446744073709551615", &integer, NULL), HAC_OK);
    assert_true(integer == UINT64_MAX);
    static const char *const bad[] = {"1.5", "1e-1", "18446744073709551616", "1e16", "-1", "3x", "",
                                      "0x3", "1e400"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(hac_units_integer(bad[i], &integer, NULL), HAC_INVALID);
}

/* Where the decimal point is a comma, files still mean the same. */
static void test_locale(void **state)
{
    (void)state;
    static const char *const locales[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
    double number = -1;
    for (size_t i = 0; i < sizeof locales / sizeof *locales; i++)
        if (setlocale(LC_ALL, locales[i]) != NULL)
            break;
    assert_int_equal(hac_units_number("1.5", &number, NULL), HAC_OK);
    assert_true(number == 1.5);
    assert_int_equal(hac_units_number("1,5", &number, NULL), HAC_INVALID);
    setlocale(LC_ALL, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),     cmocka_unit_test(test_bad_sizes), cmocka_unit_test(test_rates),
        cmocka_unit_test(test_durations), cmocka_unit_test(test_numbers),   cmocka_unit_test(test_integers),
        cmocka_unit_test(test_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
