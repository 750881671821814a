/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

#include <string.h>

/* RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF. */
size_t hac_utf8_sequence(const char *string, size_t bytes)
{
    const unsigned char *s = (const unsigned char *)string;
    if (bytes == 0)
        return 0;
    if (s[0] < 0x80)
        return 1;
    size_t length = s[0] >= 0xc2 && s[0] <= 0xdf   ? 2
                    : (s[0] & 0xf0) == 0xe0        ? 3
                    : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4
                                                   : 0;
    if (length == 0 || length > bytes)
        return 0;
    unsigned char min = s[0] == 0xe0 ? 0xa0 : s[0] == 0xf0 ? 0x90 : 0x80;
    unsigned char max = s[0] == 0xed ? 0x9f : s[0] == 0xf4 ? 0x8f : 0xbf;
    if (s[1] < min || s[1] > max)
        return 0;
    for (size_t i = 2; i < length; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

size_t hac_utf8_copy(char *ret, size_t capacity, const char *s)
{
    size_t used = 0;
    for (size_t left = s == NULL ? 0 : strlen(s); left > 0;) {
        size_t length = hac_utf8_sequence(s, left);
        size_t step = length > 0 ? length : 1;
        if (used + step >= capacity)
            break;
        if (length == 0)
            ret[used] = '?';
        else
            memmove(ret + used, s, length);
        used += step;
        s += step;
        left -= step;
    }
    ret[used] = '\0';
    return used;
}

size_t hac_utf8_copy_line(char *ret, size_t capacity, const char *s)
{
    size_t n = hac_utf8_copy(ret, capacity, s);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)ret[i] < 0x20 || ret[i] == 0x7f)
            ret[i] = ' ';
    return n;
}
