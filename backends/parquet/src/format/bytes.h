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
