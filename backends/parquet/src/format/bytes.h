/* SPDX-License-Identifier: Apache-2.0 */
/* A growing buffer. A failed allocation sets `broken` permanently, so that callers write straight through and
 * check once at the end. */
#ifndef PARQUET_BYTES_H
#define PARQUET_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct hac_bytes {
    uint8_t *data;
    size_t n, capacity;
    bool broken;
} hac_bytes;

void hac_bytes_clear(hac_bytes *bytes);

/* Makes room for `more` bytes at the end; false: out of memory, now or earlier. */
bool hac_bytes_reserve(hac_bytes *bytes, size_t more);

bool hac_bytes_add(hac_bytes *bytes, const void *data, size_t n);

typedef enum hac_varint_end { HAC_VARINT_WHOLE, HAC_VARINT_SHORT, HAC_VARINT_LONG } hac_varint_end;

/* Reads a varint and moves *at. HAC_VARINT_SHORT: `end` comes first; HAC_VARINT_LONG: it has more than
 * `max_bytes` bytes. A tenth byte gives only its lowest bit. */
static inline hac_varint_end hac_varint_read(const uint8_t **at, const uint8_t *end, unsigned max_bytes,
                                             uint64_t *ret)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < max_bytes; i++) {
        if (*at == end)
            return HAC_VARINT_SHORT;
        uint8_t byte = *(*at)++;
        v |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            *ret = v;
            return HAC_VARINT_WHOLE;
        }
    }
    return HAC_VARINT_LONG;
}

/* Writes a varint of thrift's compact protocol, also used by run headers: at most 10 bytes at `ret`; returns
 * their number. */
static inline size_t hac_varint(uint64_t value, uint8_t *ret)
{
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        ret[n++] = (uint8_t)(value | 0x80);
    ret[n++] = (uint8_t)value;
    return n;
}

#endif
