/* SPDX-License-Identifier: Apache-2.0 */
/* 128-bit decimals and calendar arithmetic, a value at a time. False: the result does not exist; *ret is 0.
 */
#ifndef EXPR_WIDE_H
#define EXPR_WIDE_H

#include <stdbool.h>
#include <stdint.h>

/* 10^exponent, exponent ≤ 38. */
__int128 hac_power_of_ten(unsigned exponent);

/* More than 38 digits do not exist. */
bool hac_add_i128(__int128 a, __int128 b, __int128 *ret);
bool hac_sub_i128(__int128 a, __int128 b, __int128 *ret);
bool hac_mul_i128(__int128 a, __int128 b, __int128 *ret);

/* a ÷ 10^digits, half away from zero. */
__int128 hac_scale_down_i128(__int128 a, unsigned digits);

/* a ÷ 10^digits, correctly rounded. */
double hac_decimal_to_f64(__int128 a, unsigned digits);
/* value × 10^digits, computed exactly and rounded half away from zero; at most 38 digits. */
bool hac_decimal_from_f64(double value, unsigned digits, __int128 *ret);

/* Dates are days in 32 bits; what lies above is ignored. Units as hac_date_unit. */
int64_t hac_date_part(int64_t days, unsigned unit);
int64_t hac_date_trunc(int64_t days, unsigned unit);
/* The day is cut to the last of the month. False: out of 32 bits. */
bool hac_add_months(int64_t days, int64_t months, int64_t *ret);

#endif
