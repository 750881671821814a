/* SPDX-License-Identifier: Apache-2.0 */
/* What the texts of floats and of decimals share. */
#ifndef BASE_EXPONENT_H
#define BASE_EXPONENT_H

#include <stdbool.h>
#include <stdint.h>

static inline bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

/* [+-]digits from p up to `end`, which is behind the e. Held at 10^11 or a little more: far out of any range,
 * and nothing added to it overflows. */
static inline bool take_exponent(const char *p, const char *end, int64_t *ret)
{
    const int64_t cap = INT64_C(100000000000);
    bool negative = false;
    if (p < end && (*p == '+' || *p == '-'))
        negative = *p++ == '-';
    if (p == end)
        return false;
    int64_t value = 0;
    for (; p < end; p++) {
        if (!is_digit(*p))
            return false;
        if (value < cap)
            value = value * 10 + (*p - '0');
    }
    *ret = negative ? -value : value;
    return true;
}

#endif
