/* SPDX-License-Identifier: Apache-2.0 */
#include "utf8_case.h"

#include <string.h>
#include <utf8proc.h>

static bool is_ascii(const uint8_t *text, size_t bytes)
{
    uint8_t any = 0;
    for (size_t i = 0; i < bytes; i++)
        any |= text[i];
    return any < 0x80;
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
    if (bytes <= capacity && is_ascii(text, bytes)) {
        uint8_t first = upper ? 'a' : 'A';
        for (size_t i = 0; i < bytes; i++)
            to[i] = (uint8_t)(text[i] ^ ((uint8_t)(text[i] - first) < 26 ? 0x20 : 0));
        return bytes;
    }
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
