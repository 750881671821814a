/* SPDX-License-Identifier: Apache-2.0 */
#include "snappy.h"

#include <string.h>

#include "format/bytes.h"

#define LITERAL 0 /* the lowest two bits of a tag; copies: 1, 2 and 4 bytes of offset */
#define COPY_4  3
#define AT_ONCE 64 /* maximum size of a copy */

static inline uint64_t load(const uint8_t *from)
{
    uint64_t v;
    memcpy(&v, from, sizeof v);
    return v;
}

/* Copies up to 64 bytes from at least 16 bytes away. */
static inline void move_64(uint8_t *to, const uint8_t *from, size_t n)
{
    memcpy(to, from, 16);
    if (n > 16) {
        memcpy(to + 16, from + 16, 16);
        memcpy(to + 32, from + 32, 16);
        memcpy(to + 48, from + 48, 16);
    }
}

/* Copies from less than 8 bytes away: repeats the bytes in between. */
static inline void repeat(uint8_t *to, size_t offset, size_t n)
{
    if (offset == 1) {
        memset(to, to[-1], AT_ONCE);
        return;
    }
    const uint8_t *from = to - offset;
    for (size_t i = 0; i < 8; i++)
        to[i] = from[i];
    size_t period = (8 + offset - 1) / offset * offset;
    for (size_t i = 8; i < n; i += 8)
        memcpy(to + i, to + i - period, 8);
}

/* Copies n (1 to 64) earlier bytes of the output. Short copies are read in the same units as they were
 * written: a load that needs bytes of two stores waits for both, and in columns of numbers copies follow each
 * other closely. */
static inline void copy(uint8_t *to, size_t offset, size_t n)
{
    const uint8_t *from = to - offset;
    if (n >= 4 && n <= 8 && offset >= 8) {
        uint32_t head, tail;
        memcpy(&head, from, sizeof head);
        memcpy(&tail, from + n - 4, sizeof tail);
        memcpy(to, &head, sizeof head);
        memcpy(to + n - 4, &tail, sizeof tail);
    } else if (offset >= 16) {
        move_64(to, from, n);
    } else if (offset >= 8) {
        for (size_t i = 0; i < n; i += 8)
            memcpy(to + i, from + i, 8);
    } else {
        repeat(to, offset, n);
    }
}

/* Reads the length bytes of a literal longer than 60. */
static bool long_literal(const uint8_t **at, const uint8_t *end, uint64_t word, size_t *length)
{
    size_t more = *length - 60;
    if ((size_t)(end - *at) < more)
        return false;
    *length = (size_t)(word >> 8 & ((UINT64_C(1) << 8 * more) - 1)) + 1;
    *at += more;
    return true;
}

bool hac_parquet_snappy(const uint8_t *from, size_t bytes, uint8_t *ret, size_t ret_bytes)
{
    const uint8_t *at = from, *end = from + bytes;
    uint8_t *to = ret, *to_end = ret + ret_bytes;
    uint64_t wanted = 0;
    if (hac_varint_read(&at, end, 5, &wanted) != HAC_VARINT_WHOLE || wanted != ret_bytes ||
        wanted > UINT32_MAX)
        return false;
    while (at < end) {
        uint64_t word = load(at);
        unsigned tag = word & 0xff;
        if ((tag & 3) == LITERAL) {
            size_t length = (tag >> 2) + 1;
            at++;
            if (length > 60 && !long_literal(&at, end, word, &length))
                return false;
            if (length > (size_t)(to_end - to) || length > (size_t)(end - at))
                return false;
            if (length <= AT_ONCE)
                move_64(to, at, length);
            else
                memcpy(to, at, length);
            to += length;
            at += length;
            /* The tag after a short literal is in the same word, so it is known without waiting. (A literal
             * whose length has bytes of its own may be short as well.) */
            if (length > 4 || tag >= 60 << 2 || at == end)
                continue;
            word >>= 8 * (length + 1);
            tag = word & 0xff;
            if ((tag & 3) == LITERAL || (tag & 3) == COPY_4)
                continue;
        }
        size_t length = (tag >> 2) + 1, offset;
        if ((tag & 3) == 1) {
            length = (tag >> 2 & 7) + 4;
            offset = (size_t)(tag >> 5) << 8 | (word >> 8 & 0xff);
            at += 2;
        } else if ((tag & 3) == 2) {
            offset = word >> 8 & 0xffff;
            at += 3;
        } else {
            offset = word >> 8 & UINT32_MAX;
            at += 5;
        }
        if (offset - 1 >= (size_t)(to - ret) || length > (size_t)(to_end - to) || at > end)
            return false;
        copy(to, offset, length);
        to += length;
    }
    return to == to_end;
}
