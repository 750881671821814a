/* SPDX-License-Identifier: Apache-2.0 */
/* Zones of the system's database against the C library's localtime, and damaged files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "zone_file.h"

#define SECOND INT64_C(1000000)

static const char *const zones[] = {
    "Europe/Berlin",        "America/New_York", "Asia/Kolkata",       "Europe/Dublin",
    "Africa/Casablanca",    "America/Nuuk",     "Pacific/Apia",       "Australia/Lord_Howe",
    "America/Scoresbysund", "Asia/Gaza",        "Antarctica/Troll",   "Etc/GMT+5",
    "America/Sao_Paulo",    "Asia/Tokyo",       "Pacific/Kiritimati", "UTC"};

static uint64_t dice = 1;

static uint64_t next_random(void)
{
    dice ^= dice << 13;
    dice ^= dice >> 7;
    dice ^= dice << 17;
    return dice;
}

static hac_zone *open_zone(const char *name)
{
    hac_arena arena = {.limit = 1 << 20};
    hac_error err = HAC_ERROR_NONE;
    hac_zone *zone = NULL;
    hac_zone_rules *rules = malloc(sizeof *rules);
    uint8_t *bytes = malloc(HAC_ZONE_BYTES_MAX);
    assert_true(rules != NULL && bytes != NULL);
    if (hac_zone_load(&arena, name, strlen(name), rules, &err) != HAC_OK)
        fail_msg("%s", err.message);
    size_t n = hac_zone_write(rules, bytes);
    assert_true(hac_zone_valid(bytes, n));
    assert_false(hac_zone_valid(bytes, n - 1));
    assert_int_equal(hac_zone_new(bytes, n, &zone, NULL), HAC_OK);
    hac_arena_clear(&arena);
    free(rules);
    free(bytes);
    return zone;
}

static int64_t offset_of(int64_t seconds)
{
    struct tm tm;
    time_t time = seconds;
    assert_non_null(localtime_r(&time, &tm));
    return tm.tm_gmtoff;
}

/* The local time of an instant, and the instant of that local time, which is the later one if there are
 * two. */
static void check(const char *name, const hac_zone *zone, int64_t seconds)
{
    int64_t local = 0, utc = 0, offset = offset_of(seconds);
    assert_true(hac_zone_local(zone, seconds * SECOND, &local));
    if (local != (seconds + offset) * SECOND)
        fail_msg("%s at %ld: %ld seconds ahead, not %ld", name, (long)seconds,
                 (long)(local / SECOND - seconds), (long)offset);
    assert_true(hac_zone_utc(zone, local, &utc));
    if (utc < seconds * SECOND || utc + offset_of(utc / SECOND) * SECOND != local)
        fail_msg("%s: %ld became %ld", name, (long)seconds, (long)(utc / SECOND));
}

static void test_instants(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof zones / sizeof *zones; i++) {
        hac_zone *zone = open_zone(zones[i]);
        setenv("TZ", zones[i], 1);
        tzset();
        for (size_t k = 0; k < 4000; k++) {
            int64_t years = k % 4 == 0 ? 8000 : 200;
            check(zones[i], zone,
                  (int64_t)(next_random() % (uint64_t)(years * 31556952)) - INT64_C(70) * 31556952);
        }
        for (int64_t hour = 0; hour < 8784; hour++) /* all of 2024 */
            check(zones[i], zone, 1704067200 + hour * 3600 + (int64_t)(next_random() % 3600));
        hac_zone_free(zone);
    }
    unsetenv("TZ");
}

/* A local time that clocks leave out is read with the offset from before. */
static void test_left_out(void **state)
{
    (void)state;
    int64_t utc = 0;
    hac_zone *zone = open_zone("Europe/Berlin");
    assert_true(hac_zone_utc(zone, INT64_C(1711852200) * SECOND, &utc)); /* 2024-03-31 02:30 */
    assert_int_equal(utc / SECOND, 1711848600);                          /* 01:30 UTC, 03:30 in Berlin */
    assert_false(hac_zone_utc(zone, INT64_MIN, &utc));
    assert_false(hac_zone_local(zone, INT64_MAX, &utc));
    hac_zone_free(zone);
}

static void test_names(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"Europe/Berln", "did you mean 'Europe/Berlin'?"},
        {"berlin", "did you mean 'Europe/Berlin'?"},
        {"+02:00", "zones have names such as"},
        {"../../../etc/passwd", "unknown time zone '../../../etc/passwd'"},
        {"/etc/passwd", "unknown time zone"},
        {"Europe", "unknown time zone 'Europe'"},
        {"Europe//Berlin", "unknown time zone"},
        {"tzdata.zi", "unknown time zone"},
        {"", "unknown time zone ''"},
    };
    hac_zone_rules *rules = malloc(sizeof *rules);
    assert_non_null(rules);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hac_arena arena = {.limit = 1 << 20};
        hac_error err = HAC_ERROR_NONE;
        assert_int_equal(hac_zone_load(&arena, cases[i][0], strlen(cases[i][0]), rules, &err), HAC_INVALID);
        if (strstr(err.message, cases[i][1]) == NULL)
            fail_msg("'%s': %s", cases[i][0], err.message);
        hac_arena_clear(&arena);
    }
    hac_arena arena = {.limit = 1 << 20};
    assert_int_equal(hac_zone_load(&arena, "europe/BERLIN", 13, rules, NULL), HAC_OK);
    assert_int_equal(rules->yearly[0].offset, 7200);
    hac_arena_clear(&arena);
    free(rules);
}

/* Files that were changed or cut are refused, or give rules that are valid. */
static void test_damaged(void **state)
{
    (void)state;
    static uint8_t file[8192], copy[8192], bytes[HAC_ZONE_BYTES_MAX];
    hac_zone_rules *rules = malloc(sizeof *rules);
    FILE *in = fopen("/usr/share/zoneinfo/Europe/Berlin", "rbe");
    assert_true(rules != NULL && in != NULL);
    size_t n = fread(file, 1, sizeof file, in), refused = 0;
    fclose(in);
    for (size_t i = 0; i < 60000; i++) {
        size_t length = i % 4 == 0 ? next_random() % (n + 1) : n;
        memcpy(copy, file, n);
        for (size_t k = 0; k < 1 + i % 3; k++)
            copy[next_random() % (i % 2 == 0 ? n : 120)] = (uint8_t)next_random();
        if (hac_zone_parse(copy, length, rules, NULL) != HAC_OK) {
            refused++;
            continue;
        }
        hac_zone *zone = NULL;
        int64_t result;
        assert_int_equal(hac_zone_new(bytes, hac_zone_write(rules, bytes), &zone, NULL), HAC_OK);
        (void)hac_zone_local(zone, (int64_t)next_random(), &result);
        (void)hac_zone_utc(zone, (int64_t)next_random(), &result);
        hac_zone_free(zone);
    }
    assert_true(refused > 10000);
    free(rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_instants),
        cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
