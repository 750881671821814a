/* SPDX-License-Identifier: Apache-2.0 */
/* Shifts by any number of bits. False: the number is negative, or bits are lost on the left; *ret is 0. */
#ifndef EXPR_SHIFTS_H
#define EXPR_SHIFTS_H

#include <stdbool.h>
#include <stdint.h>

/* a × 2^n */
static inline bool hac_shift_left_i64(int64_t a, int64_t n, int64_t *ret)
{
    *ret = n < 0 || n > 63 ? 0 : (int64_t)((uint64_t)a << n);
    if (n >= 0 && (n > 63 ? a == 0 : *ret >> n == a))
        return true;
    *ret = 0;
    return false;
}

static inline bool hac_shift_left_u64(uint64_t a, int64_t n, uint64_t *ret)
{
    *ret = n < 0 || n > 63 ? 0 : a << n;
    if (n >= 0 && (n > 63 ? a == 0 : *ret >> n == a))
        return true;
    *ret = 0;
    return false;
}

/* a ÷ 2^n, rounded down. */
static inline bool hac_shift_right_i64(int64_t a, int64_t n, int64_t *ret)
{
    *ret = n < 0 ? 0 : a >> (n > 63 ? 63 : n);
    return n >= 0;
}

static inline bool hac_shift_right_u64(uint64_t a, int64_t n, uint64_t *ret)
{
    *ret = n < 0 || n > 63 ? 0 : a >> n;
    return n >= 0;
}

#endif
