/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_escape.h"

#include <stdbool.h>

#include "base/value_text.h"

/* The value of four hexadecimal digits; -1: they are not. */
static int32_t hex_unit(const uint8_t *at, const uint8_t *end)
{
    int32_t unit = 0;
    if (end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = hac_hex_digit((char)at[i]);
        if (digit < 0)
            return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

int32_t hac_json_unicode(const uint8_t **at, const uint8_t *end)
{
    int32_t unit = hex_unit(*at, end);
    if (unit < 0)
        return HAC_JSON_NOT_HEX;
    *at += 4;
    if (unit < 0xd800 || unit >= 0xe000)
        return unit;
    bool pair = unit < 0xdc00 && end - *at >= 6 && (*at)[0] == '\\' && (*at)[1] == 'u';
    int32_t low = pair ? hex_unit(*at + 2, end) : -1;
    if (low < 0xdc00 || low >= 0xe000)
        return HAC_JSON_HALF_PAIR;
    *at += 6;
    return 0x10000 + ((unit & 0x3ff) << 10) + (low & 0x3ff);
}

size_t hac_json_put_utf8(int32_t code, uint8_t ret[4])
{
    if (code < 0x80) {
        ret[0] = (uint8_t)code;
        return 1;
    }
    size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; code >>= 6)
        ret[i] = (uint8_t)(0x80 | (code & 0x3f));
    static const uint8_t fronts[] = {0, 0, 0xc0, 0xe0, 0xf0};
    ret[0] = (uint8_t)(fronts[n] | code);
    return n;
}
