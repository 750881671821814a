/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic on 128-bit decimals and on dates, one value at a time. Functions that return false have no
 * result and set *ret to 0. */
#ifndef EXPR_DECIMAL128_H
#define EXPR_DECIMAL128_H

#include <stdbool.h>
#include <stdint.h>

/* 10^exponent, exponent ≤ 38. */
__int128 hac_power_of_ten(unsigned exponent);

/* False: the result has more than 38 digits. */
bool hac_add_i128(__int128 a, __int128 b, __int128 *ret);
bool hac_sub_i128(__int128 a, __int128 b, __int128 *ret);
bool hac_mul_i128(__int128 a, __int128 b, __int128 *ret);

/* a ÷ 10^digits, rounded half away from zero. */
__int128 hac_scale_down_i128(__int128 a, unsigned digits);

/* a ÷ 10^digits, correctly rounded. */
double hac_decimal_to_f64(__int128 a, unsigned digits);
/* value × 10^digits, computed exactly and rounded half away from zero. False: the result has more than 38
 * digits. */
bool hac_decimal_from_f64(double value, unsigned digits, __int128 *ret);

/* Dates are days in 32 bits; higher bits are ignored. `unit` is a hac_date_unit. */
int64_t hac_date_part(int64_t days, unsigned unit);
int64_t hac_date_trunc(int64_t days, unsigned unit);
/* A day that the new month does not have becomes its last day. False: the result needs more than 32 bits. */
bool hac_add_months(int64_t days, int64_t months, int64_t *ret);

#endif
