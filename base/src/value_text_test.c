/* SPDX-License-Identifier: Apache-2.0 */
/* Integers, truth, decimals, dates and timestamps from and to text, against the C library and plain
 * arithmetic. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/random.h"
#include "base/value_text.h"

static uint64_t seed = 7;

/* ---- integers ------------------------------------------------------------------------------------------ */

static void check_integer(const char *text)
{
    int64_t i = 4711;
    uint64_t u = 4711;
    errno = 0;
    long long wanted = strtoll(text, NULL, 10);
    hac_text_status status = errno == ERANGE ? HAC_TEXT_RANGE : HAC_TEXT_OK;
    assert_int_equal(hac_parse_i64(text, strlen(text), &i), status);
    assert_true(i == (status == HAC_TEXT_OK ? wanted : 4711));
    errno = 0;
    unsigned long long wanted_u = strtoull(text, NULL, 10);
    status = errno == ERANGE || (*text == '-' && wanted_u != 0) ? HAC_TEXT_RANGE : HAC_TEXT_OK;
    assert_int_equal(hac_parse_u64(text, strlen(text), &u), status);
    assert_true(u == (status == HAC_TEXT_OK ? wanted_u : 4711));
}

static void test_integers(void **state)
{
    (void)state;
    static const char *const texts[] = {"0",
                                        "-0",
                                        "+0",
                                        "1",
                                        "-1",
                                        "007",
                                        "9223372036854775807",
                                        "9223372036854775808",
                                        "-9223372036854775808",
                                        "-9223372036854775809",
                                        "18446744073709551615",
                                        "18446744073709551616",
                                        "99999999999999999999",
                                        "100000000000000000000000000",
                                        "00000000000000000000000000000000000000000012",
                                        "+9223372036854775807"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_integer(texts[i]);
    char text[HAC_PRINT_MAX + 1], wanted[32];
    for (int i = 0; i < 200000; i++) {
        uint64_t value = hac_random_u64(&seed) >> hac_random_u64(&seed) % 64;
        text[hac_print_i64((int64_t)value, text)] = '\0';
        snprintf(wanted, sizeof wanted, "%lld", (long long)value);
        assert_string_equal(text, wanted);
        check_integer(text);
        text[hac_print_u64(value, text)] = '\0';
        snprintf(wanted, sizeof wanted, "%llu", (unsigned long long)value);
        assert_string_equal(text, wanted);
        check_integer(text);
    }
    for (uint64_t power = 1, i = 0; i < 20; i++, power *= 10)
        for (uint64_t d = 0; d < 3; d++) {
            text[hac_print_u64(power + d - 1, text)] = '\0';
            snprintf(wanted, sizeof wanted, "%llu", (unsigned long long)(power + d - 1));
            assert_string_equal(text, wanted);
        }
    assert_int_equal(hac_print_i64(INT64_MIN, text), 20);
    assert_memory_equal(text, "-9223372036854775808", 20);
    static const char *const wrong[] = {
        "",    "+",        "-",    " 1",  "1 ",    "--1",   "0x1",  "a",     "99999999999999999999x",
        "1-",  "1.5",      "1e-1", ".",   "1e",    "e1",    "1..0", "1.0.0", "-.e1",
        "1e+", "12.345e2", "1.0x", "0.1", "1e1e1", "100e-3"};
    int64_t value = 4711;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(hac_parse_i64(wrong[i], strlen(wrong[i]), &value), HAC_TEXT_MALFORMED);
        assert_int_equal(hac_parse_u64(wrong[i], strlen(wrong[i]), &(uint64_t){0}), HAC_TEXT_MALFORMED);
    }
    assert_int_equal(value, 4711);
}

/* Whole numbers that are written like floats. */
static void test_whole_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } right[] = {{"1.0", 1},
                 {"1e3", 1000},
                 {"1.5E1", 15},
                 {"-2.50e+2", -250},
                 {"+1.", 1},
                 {".0", 0},
                 {"0e99999999999999", 0},
                 {"-0.0e-5", 0},
                 {"1200e-2", 12},
                 {"0.000012e6", 12},
                 {"9223372036854775807.000", INT64_MAX},
                 {"-9.223372036854775808e18", INT64_MIN},
                 {"100000000000000000000e-20", 1},
                 {"12345678.0", 12345678},
                 {"000000000000000000000000000001.0", 1}};
    static const char *const range[] = {"9223372036854775808.0", "1e19", "-1e19", "1e99999999999999",
                                        "123456789012345678901e0"};
    int64_t value = 0;
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        assert_int_equal(hac_parse_i64(right[i].text, strlen(right[i].text), &value), HAC_TEXT_OK);
        assert_int_equal(value, right[i].value);
    }
    for (size_t i = 0; i < sizeof range / sizeof *range; i++)
        assert_int_equal(hac_parse_i64(range[i], strlen(range[i]), &value), HAC_TEXT_RANGE);
    uint64_t large = 0;
    assert_int_equal(hac_parse_u64("1.8446744073709551615e19", 24, &large), HAC_TEXT_OK);
    assert_true(large == UINT64_MAX);
    assert_int_equal(hac_parse_u64("1.8446744073709551616e19", 24, &large), HAC_TEXT_RANGE);
    assert_int_equal(hac_parse_u64("-1.0", 4, &large), HAC_TEXT_RANGE);
}

static void test_truth(void **state)
{
    (void)state;
    static const char *const yes[] = {"true", "TRUE", "True", "t", "T", "1", "yes", "YES"};
    static const char *const no[] = {"false", "False", "f", "F", "0", "no", "No"};
    static const char *const wrong[] = {"",    "y",     "n",  "on", "off",  "2",     "01",
                                        "tru", "truee", " t", "ye", "\x11", "T\x40", "N/"};
    bool value;
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        value = false;
        assert_int_equal(hac_parse_bool(yes[i], strlen(yes[i]), &value), HAC_TEXT_OK);
        assert_true(value);
    }
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        value = true;
        assert_int_equal(hac_parse_bool(no[i], strlen(no[i]), &value), HAC_TEXT_OK);
        assert_false(value);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(hac_parse_bool(wrong[i], strlen(wrong[i]), &value), HAC_TEXT_MALFORMED);
}

/* ---- decimals ------------------------------------------------------------------------------------------ */

static void check_decimal(const char *text, unsigned precision, unsigned scale, hac_text_status wanted,
                          const char *printed)
{
    __int128 value = 4711;
    char out[HAC_PRINT_MAX + 1];
    hac_text_status status = hac_parse_decimal(text, strlen(text), precision, scale, &value);
    if (status != wanted)
        fail_msg("'%s' as decimal(%u,%u): status %d", text, precision, scale, status);
    if (status != HAC_TEXT_OK) {
        assert_true(value == 4711);
        return;
    }
    size_t bytes = hac_print_decimal(value, scale, out);
    assert_true(bytes <= HAC_PRINT_MAX);
    out[bytes] = '\0';
    if (strcmp(out, printed) != 0)
        fail_msg("'%s' as decimal(%u,%u): %s instead of %s", text, precision, scale, out, printed);
}

static void test_exact_decimals(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned scale;
        bool exact;
    } cases[] = {{"1.25", 2, true}, {"1.25", 1, false},  {"1.250", 2, true},   {"-7", 0, true},
                 {"7.0", 0, true},  {"0.004", 2, false}, {"1e-3", 3, true},    {"1e-3", 2, false},
                 {"12e1", 0, true}, {"x", 2, false},     {"125e-2", 1, false}, {"0e-9", 2, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (hac_decimal_is_exact(cases[i].text, strlen(cases[i].text), cases[i].scale) != cases[i].exact)
            fail_msg("'%s' with %u digits", cases[i].text, cases[i].scale);
}

static void test_decimals(void **state)
{
    (void)state;
    const hac_text_status ok = HAC_TEXT_OK, range = HAC_TEXT_RANGE, bad = HAC_TEXT_MALFORMED;
    check_decimal("0", 1, 0, ok, "0");
    check_decimal("99999999999999999999999999999999999999", 38, 0, ok,
                  "99999999999999999999999999999999999999");
    /* beyond 128 bits */
    check_decimal("340282366920938463463374607431768211457", 38, 0, range, NULL);
    check_decimal("-400000000000000000000000000000000000000", 38, 0, range, NULL);
    check_decimal("34028236692093846346337460743176821146e1", 38, 0, range, NULL);
    check_decimal("0.350e39", 38, 0, range, NULL);
    check_decimal("35e36", 38, 1, range, NULL);
    check_decimal("-0", 5, 2, ok, "0.00");
    check_decimal("12.34", 15, 2, ok, "12.34");
    check_decimal("+12.3", 15, 2, ok, "12.30");
    check_decimal("-12", 15, 2, ok, "-12.00");
    check_decimal(".5", 15, 2, ok, "0.50");
    check_decimal("-.05", 15, 2, ok, "-0.05");
    check_decimal("5.", 15, 2, ok, "5.00");
    check_decimal("1.005", 15, 2, ok, "1.01");
    check_decimal("1.00499999999999999999999999", 15, 2, ok, "1.00");
    check_decimal("-1.005", 15, 2, ok, "-1.01");
    check_decimal("0.5", 1, 0, ok, "1");
    check_decimal("-0.5", 1, 0, ok, "-1");
    check_decimal("0.49999", 1, 0, ok, "0");
    check_decimal("0.004", 5, 2, ok, "0.00");
    check_decimal("0.005", 5, 2, ok, "0.01");
    check_decimal("0.0005", 5, 2, ok, "0.00");
    check_decimal("9.5", 1, 0, range, NULL);
    check_decimal("9.4", 1, 0, ok, "9");
    check_decimal("99.994", 4, 2, ok, "99.99");
    check_decimal("99.995", 4, 2, range, NULL);
    check_decimal("100", 4, 2, range, NULL);
    check_decimal("1e3", 15, 2, ok, "1000.00");
    check_decimal("1.5E-2", 15, 2, ok, "0.02");
    check_decimal("1.5e+2", 15, 2, ok, "150.00");
    check_decimal("5e-3", 15, 2, ok, "0.01");
    check_decimal("5e-4", 15, 2, ok, "0.00");
    check_decimal("123456e-4", 15, 2, ok, "12.35");
    check_decimal("0e99999999999999999999", 15, 2, ok, "0.00");
    check_decimal("1e99999999999999999999", 15, 2, range, NULL);
    check_decimal("1e-99999999999999999999", 15, 2, ok, "0.00");
    check_decimal("0000000000000000000000000000000000000000000000001.5", 2, 1, ok, "1.5");
    check_decimal("99999999999999999999999999999999999999", 38, 0, ok,
                  "99999999999999999999999999999999999999");
    check_decimal("-99999999999999999999999999999999999999", 38, 0, ok,
                  "-99999999999999999999999999999999999999");
    check_decimal("100000000000000000000000000000000000000", 38, 0, range, NULL);
    check_decimal("0.99999999999999999999999999999999999999", 38, 38, ok,
                  "0.99999999999999999999999999999999999999");
    check_decimal("0.999999999999999999999999999999999999995", 38, 38, range, NULL);
    check_decimal("999999999999999999", 18, 0, ok, "999999999999999999");
    check_decimal("18446744073709551616", 38, 0, ok, "18446744073709551616");
    static const char *const wrong[] = {"",    "+",  ".",  "-.",  "e1",  "1e",  "1e+",  "1.2.3",
                                        "1,5", " 1", "1 ", "nan", "inf", "0x1", "1e1.5"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        check_decimal(wrong[i], 15, 2, bad, NULL);
}

/* Random digits with a point anywhere, against integer division. */
static void test_random_decimals(void **state)
{
    (void)state;
    char text[80], wanted[80];
    for (int i = 0; i < 200000; i++) {
        uint64_t value = hac_random_u64(&seed) >> (1 + hac_random_u64(&seed) % 63);
        unsigned digits = (unsigned)(hac_random_u64(&seed) % 19),
                 scale = (unsigned)(hac_random_u64(&seed) % 10);
        uint64_t power = 1, up = 1;
        for (unsigned j = 0; j < digits; j++)
            power *= 10;
        snprintf(text, sizeof text, "%s%llu.%0*llu", i % 2 ? "-" : "", (unsigned long long)(value / power),
                 (int)digits, (unsigned long long)(value % power));
        if (digits == 0)
            snprintf(text, sizeof text, "%s%llu", i % 2 ? "-" : "", (unsigned long long)value);
        __int128 scaled = value;
        for (unsigned j = digits; j < scale; j++)
            scaled *= 10;
        for (unsigned j = scale; j < digits; j++)
            up *= 10;
        if (digits > scale)
            scaled = ((__int128)value + up / 2) / up;
        if (i % 2)
            scaled = -scaled;
        __int128 got = 0;
        assert_int_equal(hac_parse_decimal(text, strlen(text), 38, scale, &got), HAC_TEXT_OK);
        if (got != scaled)
            fail_msg("%s with scale %u", text, scale);
        size_t bytes = hac_print_decimal(got, scale, wanted);
        __int128 again = 0;
        assert_int_equal(hac_parse_decimal(wanted, bytes, 38, scale, &again), HAC_TEXT_OK);
        assert_true(again == got);
    }
    const __int128 min = (__int128)((unsigned __int128)1 << 127);
    wanted[hac_print_decimal(min, 0, wanted)] = '\0';
    assert_string_equal(wanted, "-170141183460469231731687303715884105728");
    wanted[hac_print_decimal(min, 38, wanted)] = '\0';
    assert_string_equal(wanted, "-1.70141183460469231731687303715884105728");
}

/* ---- dates --------------------------------------------------------------------------------------------- */

/* Every day of years 1 to 9999, printed, read and counted by the C library. */
static void test_every_day(void **state)
{
    (void)state;
    char text[HAC_PRINT_MAX + 1], wanted[32];
    for (int32_t days = -719162; days <= 2932896; days++) {
        time_t seconds = (time_t)days * 86400;
        struct tm tm;
        int64_t year;
        unsigned month, day;
        int32_t back = 0;
        gmtime_r(&seconds, &tm);
        hac_civil_from_days(days, &year, &month, &day);
        if (year != tm.tm_year + 1900 || month != (unsigned)tm.tm_mon + 1 || day != (unsigned)tm.tm_mday)
            fail_msg("day %d is %lld-%u-%u", days, (long long)year, month, day);
        assert_true(hac_days_from_civil(year, month, day) == days);
        if (days % 7 != 0 && days > -719000 && days < 2932000)
            continue;
        snprintf(wanted, sizeof wanted, "%04d-%02u-%02u", (int)year, month, day);
        text[hac_print_date(days, text)] = '\0';
        assert_string_equal(text, wanted);
        assert_int_equal(hac_parse_date(text, 10, &back), HAC_TEXT_OK);
        assert_int_equal(back, days);
    }
}

static void test_far_days(void **state)
{
    (void)state;
    char text[HAC_PRINT_MAX + 1];
    for (int i = 0; i < 300000; i++) {
        int32_t days = i == 0 ? INT32_MIN : i == 1 ? INT32_MAX : (int32_t)hac_random_u64(&seed);
        time_t seconds = (time_t)days * 86400;
        struct tm tm;
        int64_t year;
        unsigned month, day;
        gmtime_r(&seconds, &tm);
        hac_civil_from_days(days, &year, &month, &day);
        assert_true(year == tm.tm_year + INT64_C(1900) && month == (unsigned)tm.tm_mon + 1 &&
                    day == (unsigned)tm.tm_mday);
        assert_true(hac_days_from_civil(year, month, day) == days);
        assert_true(hac_print_date(days, text) <= HAC_PRINT_MAX);
    }
    text[hac_print_date(-719528, text)] = '\0';
    assert_string_equal(text, "0000-01-01");
    text[hac_print_date(-719529, text)] = '\0';
    assert_string_equal(text, "-0001-12-31");
    text[hac_print_date(2932897, text)] = '\0';
    assert_string_equal(text, "10000-01-01");
    text[hac_print_timestamp(INT64_MIN, text)] = '\0';
    assert_string_equal(text, "-290308-12-21 19:59:05.224192");
    text[hac_print_timestamp(INT64_MAX, text)] = '\0';
    assert_string_equal(text, "294247-01-10 04:00:54.775807");
}

static void test_wrong_dates(void **state)
{
    (void)state;
    static const char *const range[] = {"2021-02-29", "1900-02-29", "2020-04-31", "2020-00-10",
                                        "2020-13-01", "2020-01-00", "2020-01-32", "0000-01-01"};
    static const char *const wrong[] = {"",
                                        "2020",
                                        "2020-1-",
                                        "2020-01-001",
                                        "20-01-01",
                                        "2020--1-01",
                                        "2020-001-1",
                                        "202-1-1",
                                        "2020-1-1x",
                                        "2020-1-",
                                        "2020-1.1-1",
                                        "2020/01/01",
                                        "2020-01-01 ",
                                        " 2020-01-01",
                                        "02020-01-01",
                                        "-2020-01-01",
                                        "2020-01-0a",
                                        "2020-01-011",
                                        "2021-02-29x",
                                        "2020-01"};
    int32_t days = 4711;
    for (size_t i = 0; i < sizeof range / sizeof *range; i++)
        assert_int_equal(hac_parse_date(range[i], 10, &days), HAC_TEXT_RANGE);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(hac_parse_date(wrong[i], strlen(wrong[i]), &days), HAC_TEXT_MALFORMED);
    assert_int_equal(days, 4711);
    assert_int_equal(hac_parse_date("2000-02-29", 10, &days), HAC_TEXT_OK);
    assert_int_equal(days, 11016);
    static const char *const same[] = {"1970-1-5", "1970-01-5", "1970-1-05"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        assert_int_equal(hac_parse_date(same[i], strlen(same[i]), &days), HAC_TEXT_OK);
        assert_int_equal(days, 4);
    }
    assert_int_equal(hac_parse_date("2021-2-29", 9, &days), HAC_TEXT_RANGE);
    assert_int_equal(hac_parse_date("2020-1-0", 8, &days), HAC_TEXT_RANGE);
}

static void check_timestamp(const char *text, hac_text_status wanted, int64_t value)
{
    int64_t got = 4711;
    hac_text_status status = hac_parse_timestamp(text, strlen(text), &got);
    if (status != wanted || got != (wanted == HAC_TEXT_OK ? value : 4711))
        fail_msg("'%s': status %d, %lld", text, status, (long long)got);
}

static void test_timestamps(void **state)
{
    (void)state;
    const int64_t second = 1000000, hour = 3600 * second;
    check_timestamp("1970-01-01", HAC_TEXT_OK, 0);
    check_timestamp("1970-01-01 00:00", HAC_TEXT_OK, 0);
    check_timestamp("1970-01-01T01:02:03", HAC_TEXT_OK, 3723 * second);
    check_timestamp("1970-01-01 00:00:00.5", HAC_TEXT_OK, 500000);
    check_timestamp("1970-01-01 00:00:00.000001", HAC_TEXT_OK, 1);
    check_timestamp("1970-01-01 00:00:00.123456000", HAC_TEXT_OK, 123456);
    check_timestamp("1970-01-01 00:00:00.123456789", HAC_TEXT_PRECISION, 0);
    check_timestamp("1970-01-01 00:00:00.000000001Z", HAC_TEXT_PRECISION, 0);
    check_timestamp("1970-01-01 24:00:00.000000001Z", HAC_TEXT_RANGE, 0);
    check_timestamp("1970-01-01 00:00:00.000000001X", HAC_TEXT_MALFORMED, 0);
    check_timestamp("1969-12-31 23:59:59.999999", HAC_TEXT_OK, -1);
    check_timestamp("1970-01-01T00:00Z", HAC_TEXT_OK, 0);
    check_timestamp("1970-1-1 1:02", HAC_TEXT_OK, hour + 120 * second);
    check_timestamp("1970-1-01T01:00+1:00", HAC_TEXT_MALFORMED, 0);
    check_timestamp("1970-01-1 00:00-05:30", HAC_TEXT_OK, 5 * hour + hour / 2);
    assert_true(hac_timestamp_says_zone("1970-1-1+01", 11) &&
                hac_timestamp_says_zone("1970-1-1 1:00-05", 16));
    assert_false(hac_timestamp_says_zone("1970-1-1 1:00", 13) || hac_timestamp_says_zone("1970-1-1", 8));
    check_timestamp("1970-01-01T00:00+01", HAC_TEXT_OK, -hour);
    check_timestamp("1970-01-01T00:00:00-05:30", HAC_TEXT_OK, 5 * hour + hour / 2);
    check_timestamp("1970-01-01Z", HAC_TEXT_OK, 0);
    check_timestamp("1970-01-01T01:00:00+0100", HAC_TEXT_OK, 0);
    check_timestamp("1970-01-01T00:00:00-0130", HAC_TEXT_OK, hour + hour / 2);
    check_timestamp("1970-01-01 00:00:01 UTC", HAC_TEXT_OK, second);
    check_timestamp("1970-01-01 00:00:01UTC", HAC_TEXT_OK, second);
    check_timestamp("1970-01-01 01:00:00 +00:00", HAC_TEXT_OK, hour);
    check_timestamp("1970-01-01 01:00:00 +01", HAC_TEXT_OK, 0);
    check_timestamp("1970-01-01 00:53:28+00:53:28", HAC_TEXT_OK, 0); /* Berlin before 1893 */
    check_timestamp("1970-01-01t00:00:01z", HAC_TEXT_OK, second);
    check_timestamp("1970-01-01 00:00:00,130", HAC_TEXT_OK, 130000);
    check_timestamp("0001-01-01 00:01:00+00:01", HAC_TEXT_OK, INT64_C(-62135596800000000));
    check_timestamp("9999-12-31 23:59:59.999999+00:00", HAC_TEXT_OK, INT64_C(253402300799999999));
    check_timestamp("9999-12-31 23:59:59.999999", HAC_TEXT_OK, INT64_C(253402300799999999));
    static const char *const range[] = {"2020-01-31 24:00",          "2020-01-31 23:60",
                                        "2020-01-31 23:59:60",       "2021-02-29 00:00",
                                        "2020-01-31 00:00+24",       "2020-01-31 00:00+01:60",
                                        "2020-01-31 00:00+01:00:60", "2020-01-31 00:00+2400",
                                        "0001-01-01 00:00:00+00:01", "9999-12-31 23:59:59-01:00"};
    static const char *const wrong[] = {"",
                                        "2020-01-31 ",
                                        "2020-01-31 1:0",
                                        "2020-01-31 100:00",
                                        "2020-01-31 10",
                                        "2020-01-31 10:",
                                        "2020-01-31 10:00:",
                                        "2020-01-31 10:00:0",
                                        "2020-01-31 10:00:00.",
                                        "2020-01-31 10:00:00.1234567890",
                                        "2020-01-31 10:00:00  Z",
                                        "2020-01-31 10:00:00 ",
                                        "2020-01-31 10:00utc",
                                        "2020-01-31 10:00UTCx",
                                        "2020-01-31 10:00+010",
                                        "2020-01-31 10:00+01000",
                                        "2020-01-31 10:00+01:00:0",
                                        "2020-01-31 10:00+0100:00",
                                        "2020-01-31 10:00:00,",
                                        "2020-01-31 10:00+1",
                                        "2020-01-31 10:00+01:",
                                        "2020-01-31 10:00+01:0",
                                        "2020-01-31 10:00ZZ",
                                        "2020-01-31  10:00",
                                        "2020-01-31 10:00.5",
                                        "2020-02-30 1"};
    for (size_t i = 0; i < sizeof range / sizeof *range; i++)
        check_timestamp(range[i], HAC_TEXT_RANGE, 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        check_timestamp(wrong[i], HAC_TEXT_MALFORMED, 0);
}

static void test_random_timestamps(void **state)
{
    (void)state;
    char text[HAC_PRINT_MAX + 1], wanted[64];
    for (int i = 0; i < 200000; i++) {
        int64_t value = (int64_t)(hac_random_u64(&seed) % UINT64_C(315537897600000000)) -
                        INT64_C(62135596800000000),
                back = 0;
        if (i % 3 == 0)
            value -= value % 1000000;
        time_t seconds = (time_t)(value / 1000000 - (value % 1000000 < 0));
        int64_t fraction = value - (int64_t)seconds * 1000000;
        struct tm tm;
        gmtime_r(&seconds, &tm);
        int n = snprintf(wanted, sizeof wanted, "%04d-%02d-%02d %02d:%02d:%02d", tm.tm_year + 1900,
                         tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
        if (fraction != 0)
            snprintf(wanted + n, sizeof wanted - (size_t)n, ".%06d", (int)fraction);
        size_t bytes = hac_print_timestamp(value, text);
        text[bytes] = '\0';
        assert_string_equal(text, wanted);
        assert_int_equal(hac_parse_timestamp(text, bytes, &back), HAC_TEXT_OK);
        assert_true(back == value);
    }
}

static void test_hex(void **state)
{
    (void)state;
    char text[512];
    uint8_t data[256];
    for (unsigned i = 0; i < 256; i++)
        data[i] = (uint8_t)i;
    hac_print_hex(data, sizeof data, text);
    for (unsigned i = 0; i < 256; i++) {
        char two[3];
        snprintf(two, sizeof two, "%02x", i);
        assert_memory_equal(text + 2 * i, two, 2);
    }
    assert_int_equal(hac_parse_hex(text, sizeof text, (uint8_t *)text), HAC_TEXT_OK); /* in place */
    assert_memory_equal(text, data, sizeof data);
    assert_int_equal(hac_parse_hex("aAfF09", 6, data), HAC_TEXT_OK);
    assert_memory_equal(data, "\xaa\xff\x09", 3);
    assert_int_equal(hac_parse_hex("", 0, data), HAC_TEXT_OK);
    for (int c = 0; c < 256; c++) {
        char one[2] = {'0', (char)c};
        bool digit = strchr("0123456789abcdefABCDEF", c) != NULL && c != 0;
        assert_int_equal(hac_hex_digit((char)c) >= 0, digit);
        assert_int_equal(hac_parse_hex(one, 2, data), digit ? HAC_TEXT_OK : HAC_TEXT_MALFORMED);
    }
    assert_int_equal(hac_parse_hex("123", 3, data), HAC_TEXT_MALFORMED);
}

static void expect_text_of(hac_value_type type, const void *value, const char *wanted)
{
    char text[HAC_PRINT_MAX + 1];
    text[hac_print_value(type, value, 0, text)] = '\0';
    assert_string_equal(text, wanted);
}

/* Values as columns hold them; decimals change from 8 to 16 bytes behind 18 digits. */
static void test_any_value(void **state)
{
    (void)state;
    const uint8_t truth[] = {1, 0};
    const float f32 = 0.5f;
    const double f64 = -1e300;
    const int64_t low = INT64_MIN, day = 18292, moment = INT64_C(1580473845000001);
    const uint64_t high = UINT64_MAX;
    const __int128 wide = -(((__int128)1 << 100) + 7);
    expect_text_of((hac_value_type){.kind = HAC_KIND_BOOL}, &truth[0], "true");
    expect_text_of((hac_value_type){.kind = HAC_KIND_BOOL}, &truth[1], "false");
    char text[HAC_PRINT_MAX + 1] = "";
    assert_int_equal(hac_print_value((hac_value_type){.kind = HAC_KIND_BOOL}, truth, 1, text), 5);
    assert_string_equal(text, "false");
    expect_text_of((hac_value_type){.kind = HAC_KIND_I8}, &low, "-9223372036854775808");
    expect_text_of((hac_value_type){.kind = HAC_KIND_U64}, &high, "18446744073709551615");
    expect_text_of((hac_value_type){.kind = HAC_KIND_F32}, &f32, "0.5");
    expect_text_of((hac_value_type){.kind = HAC_KIND_F64}, &f64, "-1e+300");
    expect_text_of((hac_value_type){.kind = HAC_KIND_DATE}, &day, "2020-01-31");
    expect_text_of((hac_value_type){.kind = HAC_KIND_TIMESTAMP}, &moment, "2020-01-31 12:30:45.000001");
    expect_text_of((hac_value_type){HAC_KIND_DECIMAL, 18, 3}, &low, "-9223372036854775.808");
    expect_text_of((hac_value_type){HAC_KIND_DECIMAL, 19, 2}, &wide, "-12676506002282294014967032053.83");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_value),         cmocka_unit_test(test_hex),
        cmocka_unit_test(test_integers),          cmocka_unit_test(test_truth),
        cmocka_unit_test(test_decimals),          cmocka_unit_test(test_exact_decimals),
        cmocka_unit_test(test_random_decimals),   cmocka_unit_test(test_every_day),
        cmocka_unit_test(test_far_days),          cmocka_unit_test(test_wrong_dates),
        cmocka_unit_test(test_timestamps),        cmocka_unit_test(test_whole_numbers),
        cmocka_unit_test(test_random_timestamps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
