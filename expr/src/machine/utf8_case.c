/* SPDX-License-Identifier: Apache-2.0 */
#include "utf8_case.h"

#include <string.h>
#include <utf8proc.h>

#define EACH(byte) ((byte)*UINT64_C(0x0101010101010101))

/* Eight bytes in the other case; those above 0x7f make *ret_ascii false. `first` is a or A. No sum carries
 * into the next byte if all are ASCII. */
static inline uint64_t change_eight(uint64_t bytes, uint8_t first, bool *ret_ascii)
{
    uint64_t from = bytes + EACH(UINT64_C(0x80) - first), behind = bytes + EACH(UINT64_C(0x80) - 26 - first);
    *ret_ascii &= (bytes & EACH(UINT64_C(0x80))) == 0;
    return bytes ^ (from & ~behind & EACH(UINT64_C(0x80))) >> 2;
}

/* False: the text is not ASCII. The last words overlap, so that short texts need no loop over bytes. */
static bool change_ascii(const uint8_t *text, size_t bytes, uint8_t first, uint8_t *to)
{
    bool ascii = true;
    uint64_t word = 0;
    uint32_t half, end;
    size_t at = 0;
    for (; at + 8 <= bytes || (bytes > 8 && at < bytes); at += 8) {
        size_t from = at + 8 <= bytes ? at : bytes - 8;
        memcpy(&word, text + from, 8);
        word = change_eight(word, first, &ascii);
        memcpy(to + from, &word, 8);
    }
    if (bytes >= 8)
        return ascii;
    if (bytes >= 4) {
        memcpy(&half, text, 4);
        memcpy(&end, text + bytes - 4, 4);
        word = change_eight(half | (uint64_t)end << 32, first, &ascii);
        half = (uint32_t)word;
        end = (uint32_t)(word >> 32);
        memcpy(to, &half, 4);
        memcpy(to + bytes - 4, &end, 4);
        return ascii;
    }
    for (size_t i = 0; i < bytes; i++)
        to[i] = (uint8_t)change_eight(text[i], first, &ascii);
    return ascii;
}

/* The character at `text` in the other case, as UTF-8; a byte that is none, as it is. Sets how many bytes
 * were read, and returns how many were written. */
static size_t change(const uint8_t *text, size_t bytes, bool upper, uint8_t ret[4], size_t *ret_read)
{
    utf8proc_int32_t code = 0;
    utf8proc_ssize_t read = utf8proc_iterate(text, (utf8proc_ssize_t)bytes, &code);
    ret[0] = text[0];
    *ret_read = read > 0 ? (size_t)read : 1;
    if (read <= 0)
        return 1;
    code = upper ? utf8proc_toupper(code) : utf8proc_tolower(code);
    return (size_t)utf8proc_encode_char(code, ret);
}

size_t hac_utf8_case(const uint8_t *text, size_t bytes, bool upper, uint8_t *to, size_t capacity)
{
    size_t used = 0;
    if (bytes <= capacity && change_ascii(text, bytes, upper ? 'a' : 'A', to))
        return bytes;
    for (size_t at = 0; at < bytes;) {
        uint8_t character[4];
        size_t read, written = change(text + at, bytes - at, upper, character, &read);
        if (written > capacity - used)
            return SIZE_MAX;
        memcpy(to + used, character, written);
        used += written;
        at += read;
    }
    return used;
}
