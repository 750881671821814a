/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: a text, read as every kind of value; floats must be what strtod says, and what is read
 * must come back when it is printed and read again.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/short_number.h"
#include "base/value_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void must(bool condition)
{
    if (!condition)
        abort();
}

static void check_f64(const char *text, size_t bytes, const char *terminated)
{
    double value = 0, again = 0;
    hac_text_status status = hac_parse_f64(text, bytes, &value);
    if (status == HAC_TEXT_MALFORMED)
        return;
    double wanted = strtod(terminated, NULL);
    if (status == HAC_TEXT_RANGE) {
        must(isinf(wanted));
        return;
    }
    must((isnan(value) && isnan(wanted)) || memcmp(&value, &wanted, sizeof value) == 0);
    char printed[HAC_PRINT_MAX];
    size_t length = hac_print_f64(value, printed);
    must(length <= HAC_PRINT_MAX && hac_parse_f64(printed, length, &again) == HAC_TEXT_OK);
    must((isnan(value) && isnan(again)) || memcmp(&value, &again, sizeof value) == 0);
}

static void check_f32(const char *text, size_t bytes, const char *terminated)
{
    float value = 0, again = 0, wanted = strtof(terminated, NULL);
    hac_text_status status = hac_parse_f32(text, bytes, &value);
    if (status == HAC_TEXT_MALFORMED)
        return;
    must(status == HAC_TEXT_RANGE
             ? isinf(wanted)
             : (isnan(value) && isnan(wanted)) || memcmp(&value, &wanted, sizeof value) == 0);
    char printed[HAC_PRINT_MAX];
    if (status == HAC_TEXT_RANGE)
        return;
    must(hac_parse_f32(printed, hac_print_f32(value, printed), &again) == HAC_TEXT_OK);
    must((isnan(value) && isnan(again)) || memcmp(&value, &again, sizeof value) == 0);
}

static void check_times(const char *text, size_t bytes)
{
    char printed[HAC_PRINT_MAX];
    int32_t days = 0, days_again = 0;
    int64_t time = 0, time_again = 0;
    if (hac_parse_date(text, bytes, &days) == HAC_TEXT_OK)
        must(hac_parse_date(printed, hac_print_date(days, printed), &days_again) == HAC_TEXT_OK &&
             days == days_again);
    /* a zone may move it out of the years that are read */
    if (hac_parse_timestamp(text, bytes, &time) == HAC_TEXT_OK && time > INT64_C(-62135596800000000) &&
        time < INT64_C(253402300800000000))
        must(hac_parse_timestamp(printed, hac_print_timestamp(time, printed), &time_again) == HAC_TEXT_OK &&
             time == time_again);
}

static void check_decimal(const char *text, size_t bytes, unsigned scale)
{
    char printed[HAC_PRINT_MAX];
    __int128 value = 0, again = 0;
    if (hac_parse_decimal(text, bytes, 38, scale, &value) != HAC_TEXT_OK)
        return;
    size_t length = hac_print_decimal(value, scale, printed);
    must(length <= HAC_PRINT_MAX && hac_parse_decimal(printed, length, 38, scale, &again) == HAC_TEXT_OK);
    must(value == again);
}

/* Where the short way says true, it says what the long one says. */
static void check_short(const char *text, size_t bytes)
{
    char *copy = malloc(bytes + HAC_SHORT_NUMBER);
    int64_t short_i64, short_decimal, i64;
    double short_f64, f64;
    float short_f32, f32;
    __int128 decimal;
    must(copy != NULL);
    memset(copy, '5', bytes + HAC_SHORT_NUMBER);
    if (bytes > 0)
        memcpy(copy, text, bytes);
    if (hac_short_i64(copy, bytes, &short_i64))
        must(hac_parse_i64(text, bytes, &i64) == HAC_TEXT_OK && i64 == short_i64);
    if (hac_short_f64(copy, bytes, &short_f64))
        must(hac_parse_f64(text, bytes, &f64) == HAC_TEXT_OK && memcmp(&f64, &short_f64, sizeof f64) == 0);
    if (hac_short_f32(copy, bytes, &short_f32))
        must(hac_parse_f32(text, bytes, &f32) == HAC_TEXT_OK && memcmp(&f32, &short_f32, sizeof f32) == 0);
    for (unsigned scale = 0; scale <= 18; scale += 6)
        if (hac_short_decimal(copy, bytes, 18, scale, &short_decimal))
            must(hac_parse_decimal(text, bytes, 18, scale, &decimal) == HAC_TEXT_OK &&
                 decimal == short_decimal);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const char *text = (const char *)data;
    int64_t i;
    uint64_t u;
    bool b;
    char *terminated = malloc(bytes + 1);
    must(terminated != NULL);
    if (bytes > 0)
        memcpy(terminated, data, bytes);
    terminated[bytes] = '\0';
    check_f64(text, bytes, terminated);
    check_f32(text, bytes, terminated);
    check_times(text, bytes);
    for (unsigned scale = 0; scale <= 38; scale += 19)
        check_decimal(text, bytes, scale);
    if (hac_parse_i64(text, bytes, &i) == HAC_TEXT_OK)
        must((long double)i == strtold(terminated, NULL)); /* whole numbers of 64 bits are exact in it */
    if (hac_parse_u64(text, bytes, &u) == HAC_TEXT_OK && *text != '-')
        must((long double)u == strtold(terminated, NULL));
    (void)!hac_parse_bool(text, bytes, &b);
    check_short(text, bytes);
    free(terminated);
    return 0;
}
