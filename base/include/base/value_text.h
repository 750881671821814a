/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values from text and to text, fast: the C library's strtod costs 49 ns a value and its printf trial 641.
 * What a parser takes is the whole of `text`, no blanks around it; no locale plays a part. Each returns
 * HAC_TEXT_OK or says why not; *ret is written on success only. Printers return the length and never write a
 * terminating zero; `ret` has room for the maximum that is given.
 */
#ifndef BASE_VALUE_TEXT_H
#define BASE_VALUE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/value.h"

typedef enum hac_text_status {
    HAC_TEXT_OK = 0,
    HAC_TEXT_MALFORMED, /* not a value of this type at all */
    HAC_TEXT_RANGE,     /* a number, but out of the type's range */
    HAC_TEXT_PRECISION, /* a time with a digit below a microsecond that is not 0 */
    HAC_TEXT_DIGITS,    /* a number that its type would round */
    HAC_TEXT_ZONE       /* a time with zone where the others have none */
} hac_text_status;

/* [+-]digits; also with a point or an exponent if the value is a whole number: 1.0, 1e3 */
hac_text_status hac_parse_i64(const char *text, size_t bytes, int64_t *ret);
hac_text_status hac_parse_u64(const char *text, size_t bytes, uint64_t *ret);

/* Decimal or exponent notation, correctly rounded (to nearest, ties to even); inf, infinity, nan with sign,
 * in any case. Too large a number is HAC_TEXT_RANGE, never an infinity. */
hac_text_status hac_parse_f64(const char *text, size_t bytes, double *ret);
hac_text_status hac_parse_f32(const char *text, size_t bytes, float *ret);

/* true false t f 1 0 yes no, in any case */
hac_text_status hac_parse_bool(const char *text, size_t bytes, bool *ret);

/* 2020-01-31, 2020-1-31; years 0001 … 9999 */
hac_text_status hac_parse_date(const char *text, size_t bytes, int32_t *ret);
/* 2020-01-31[( |T)12:34[:56[.123456]]][zone], with T and Z of either case, and a comma for the point. Month,
 * day and hour may have one digit. A zone is Z, UTC, +hh, +hhmm, +hh:mm or +hh:mm:ss (or -), after a blank or
 * not; without one: UTC. Up to nine digits of the second are taken, those below a microsecond have to be 0
 * (else HAC_TEXT_PRECISION). A zone that leads out of the years 0001 … 9999 is HAC_TEXT_RANGE. */
hac_text_status hac_parse_timestamp(const char *text, size_t bytes, int64_t *ret);
/* Whether a text that hac_parse_timestamp takes says its zone. */
bool hac_timestamp_says_zone(const char *text, size_t bytes);

/* value × 10^scale; digits beyond the scale are rounded half away from zero; more than `precision` digits are
 * HAC_TEXT_RANGE. Exponents are taken. */
hac_text_status hac_parse_decimal(const char *text, size_t bytes, unsigned precision, unsigned scale,
                                  __int128 *ret);

/* Whether hac_parse_decimal reads a number of that text without rounding it. */
bool hac_decimal_is_exact(const char *text, size_t bytes, unsigned scale);

#define HAC_PRINT_MAX 48 /* of any value below */
size_t hac_print_i64(int64_t value, char *ret);
size_t hac_print_u64(uint64_t value, char *ret);
/* The shortest text that reads back to the same bits, the nearest to the value among those, laid out as
 * Python's repr() does it: an exponent from 10^16 on and below 10^-4 (1e+16, 1e-05, 5e-324), else digits on
 * both sides of the point (0.1, 100.0, -0.0); nan, inf, -inf. */
size_t hac_print_f64(double value, char *ret);
size_t hac_print_f32(float value, char *ret);
/* 2020-01-31; years have four digits or more, and a sign before the year 0 */
size_t hac_print_date(int32_t days, char *ret);
/* What stands behind a timestamp with zone, whose values are in UTC. */
#define HAC_PRINTED_ZONE "+00"
/* 2020-01-31 12:34:56[.123456]: a fraction only where there is one */
size_t hac_print_timestamp(int64_t microseconds, char *ret);
size_t hac_print_decimal(__int128 value, unsigned scale, char *ret);

/* Whether the text of a date or timestamp can be read again: its year is one of 0001 … 9999. Files may hold
 * others. */
bool hac_date_has_text(int64_t days);
bool hac_timestamp_has_text(int64_t microseconds);

/* values[row] of any type but text, as columns hold it: a bool in one byte, a float in its own size, a
 * decimal of more than 18 digits in 16 bytes, all others in 8 bytes. true and false are printed as words. */
size_t hac_print_value(hac_value_type type, const void *values, size_t row, char *ret);

/* ---- bytes: two hexadecimal digits each ---- */

/* The value of a digit in either case; -1: it is none. */
int hac_hex_digit(char c);
/* An even number of digits; `ret` has room for bytes / 2, and may be `text`. On failure it is untouched. */
hac_text_status hac_parse_hex(const char *text, size_t bytes, uint8_t *ret);
/* In lower case; `ret` has room for 2 × bytes. */
void hac_print_hex(const uint8_t *data, size_t bytes, char *ret);

/* The proleptic Gregorian calendar. */
int64_t hac_days_from_civil(int64_t year, unsigned month, unsigned day);
void hac_civil_from_days(int64_t days, int64_t *ret_year, unsigned *ret_month, unsigned *ret_day);

#endif
