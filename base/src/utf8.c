/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

#include <stdint.h>
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

/* The number of bytes at the start, a multiple of the block, that are ASCII. */
static size_t ascii_bytes(const unsigned char *s, size_t bytes)
{
    uint64_t words[4];
    size_t at = 0;
    for (; bytes - at >= sizeof(words); at += sizeof(words)) {
        memcpy(words, s + at, sizeof(words));
        if (((words[0] | words[1] | words[2] | words[3]) & UINT64_C(0x8080808080808080)) != 0)
            break;
    }
    return at;
}

bool hac_utf8_is_valid(const void *string, size_t bytes)
{
    const char *s = string;
    size_t at = 0;
    while (at < bytes) {
        size_t length = hac_utf8_sequence(s + at, bytes - at);
        if (length == 0)
            return false;
        at += length;
        if (length == 1)
            at += ascii_bytes((const unsigned char *)s + at, bytes - at);
    }
    return true;
}

size_t hac_utf8_replace(char *ret, size_t capacity, const char *s)
{
    static const char replacement[] = "\xef\xbf\xbd";
    size_t used = 0;
    for (size_t left = strlen(s); left > 0;) {
        size_t length = hac_utf8_sequence(s, left), step = length > 0 ? length : 1;
        size_t written = length > 0 ? length : sizeof(replacement) - 1;
        if (used + written >= capacity)
            break;
        memcpy(ret + used, length > 0 ? s : replacement, written);
        used += written;
        s += step;
        left -= step;
    }
    ret[used] = '\0';
    return used;
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

/* Whether a terminal takes the character as a command: C0 and C1 controls, line and paragraph separators, and
 * marks that change the direction of the text around them (Unicode, Bidi_Control). */
static bool is_control(const char *sequence, size_t length)
{
    const unsigned char *s = (const unsigned char *)sequence;
    if (length == 1)
        return s[0] < 0x20 || s[0] == 0x7f;
    if (length == 2)
        return (s[0] == 0xc2 && s[1] < 0xa0) || (s[0] == 0xd8 && s[1] == 0x9c);
    if (length != 3 || s[0] != 0xe2)
        return false;
    return (s[1] == 0x80 && ((s[2] >= 0x8e && s[2] <= 0x8f) || (s[2] >= 0xa8 && s[2] <= 0xae))) ||
           (s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9);
}

size_t hac_utf8_copy_line(char *ret, size_t capacity, const char *s)
{
    size_t n = hac_utf8_copy(ret, capacity, s), used = 0;
    for (size_t at = 0, length; at < n; at += length) {
        length = hac_utf8_sequence(ret + at, n - at);
        if (is_control(ret + at, length)) {
            ret[used++] = ' ';
            continue;
        }
        memmove(ret + used, ret + at, length);
        used += length;
    }
    ret[used] = '\0';
    return used;
}
