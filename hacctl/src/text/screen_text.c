/* SPDX-License-Identifier: Apache-2.0 */
#include "screen_text.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

typedef struct character_range {
    uint32_t first, last;
} character_range;

/* Of Unicode's East Asian Width W and F: scripts and emoji in use, by blocks. */
static const character_range wide[] = {
    {0x1100, 0x115f}, {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},   {0x4e00, 0xa4cf},
    {0xa960, 0xa97c}, {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},
    {0xffe0, 0xffe6}, {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};

/* Combining marks, joiners and variation selectors. */
static const character_range narrow[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a},
    {0x064b, 0x065f}, {0x0900, 0x0902}, {0x0e31, 0x0e31}, {0x0e34, 0x0e3a},
    {0x0e47, 0x0e4e}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200c, 0x200d},
    {0x20d0, 0x20ff}, {0x302a, 0x302d}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}};

/* What a terminal obeys, what changes the direction of text, and what hides text. */
static const character_range escaped[] = {{0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},
                                          {0x061c, 0x061c}, {0x180e, 0x180e}, {0x200b, 0x200b},
                                          {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},
                                          {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff}};

static bool is_in(const character_range *ranges, size_t n, uint32_t c)
{
    for (size_t i = 0; i < n && ranges[i].first <= c; i++)
        if (c <= ranges[i].last)
            return true;
    return false;
}

#define IS_IN(ranges, c) is_in(ranges, sizeof(ranges) / sizeof *(ranges), c)

/* The character of a sequence of `bytes` that is valid UTF-8. */
static uint32_t decode(const char *text, size_t bytes)
{
    static const uint8_t first[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t c = (uint8_t)text[0] & first[bytes];
    for (size_t i = 1; i < bytes; i++)
        c = c << 6 | ((uint8_t)text[i] & 0x3f);
    return c;
}

static size_t width_of(uint32_t c)
{
    return IS_IN(narrow, c) ? 0 : IS_IN(wide, c) ? 2 : 1;
}

size_t hac_screen_width(const char *text)
{
    size_t width = 0, left = strlen(text);
    for (size_t n; left > 0; text += n, left -= n) {
        n = hac_utf8_sequence(text, left);
        n = n > 0 ? n : 1;
        width += (uint8_t)*text < 0x80 ? 1 : width_of(decode(text, n));
    }
    return width;
}

static int escape(uint32_t c, char *ret)
{
    static const char named[] = "\n\r\t", names[] = "nrt";
    const char *found = c != 0 && c < 0x80 ? strchr(named, (int)c) : NULL;
    if (found != NULL)
        return sprintf(ret, "\\%c", names[found - named]);
    return sprintf(ret, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%05x", (unsigned)c);
}

void hac_screen_text(const char *text, size_t bytes, char *ret)
{
    for (size_t n; bytes > 0; text += n, bytes -= n) {
        n = hac_utf8_sequence(text, bytes);
        uint32_t c = n > 0 ? decode(text, n) : (uint8_t)*text;
        if (n == 0 || IS_IN(escaped, c)) {
            n = n > 0 ? n : 1;
            ret += escape(c, ret);
            continue;
        }
        memcpy(ret, text, n);
        ret += n;
    }
    *ret = '\0';
}

void hac_screen_cut(char *text, size_t width)
{
    size_t used = 0, left = strlen(text);
    if (width == 0 || hac_screen_width(text) <= width)
        return;
    for (size_t n; left > 0; text += n, left -= n, used += n == 1 ? 1 : width_of(decode(text - n, n))) {
        n = hac_utf8_sequence(text, left);
        n = n > 0 ? n : 1;
        if (used + (n == 1 ? 1 : width_of(decode(text, n))) > width - 1)
            break;
    }
    strcpy(text, "…");
}
