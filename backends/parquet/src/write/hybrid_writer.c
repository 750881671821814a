/* SPDX-License-Identifier: Apache-2.0 */
#include "hybrid_writer.h"

#define ONES 0x0101010101010101ull

static uint64_t load8(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* Packs eight bytes of 0 or 1 to eight bits: the product collects byte i at bit 56 + i. */
static uint8_t pack8_bools(const uint8_t *at)
{
    return (uint8_t)((load8(at) * 0x0102040810204080ull) >> 56);
}

/* Packs n of them to (n + 7) / 8 bytes; surplus bits are 0. */
static void pack_bools(const uint8_t *values, size_t n, uint8_t *ret)
{
    uint8_t tail[8] = {0};
    size_t whole = n / 8;
    for (size_t g = 0; g < whole; g++)
        ret[g] = pack8_bools(values + g * 8);
    if (n % 8 != 0) {
        memcpy(tail, values + whole * 8, n % 8);
        ret[whole] = pack8_bools(tail);
    }
}

/* Packs `groups` groups of eight codes. `width` is a constant in each case of the caller's switch, so that
 * the loops are unrolled. */
static inline __attribute__((always_inline)) void pack(const uint32_t *codes, size_t groups, unsigned width,
                                                       uint8_t *ret)
{
    for (size_t g = 0; g < groups; g++, codes += 8) {
        uint64_t word = 0;
        unsigned bits = 0;
#pragma GCC unroll 8
        for (unsigned i = 0; i < 8; i++) {
            word |= (uint64_t)codes[i] << bits;
            bits += width;
            if (bits >= 32) {
                memcpy(ret, &word, 4);
                ret += 4;
                word >>= 32;
                bits -= 32;
            }
        }
        /* 8 × width bits are whole bytes; 0 to 3 of them are left */
        for (; bits > 0; bits -= 8, word >>= 8)
            *ret++ = (uint8_t)word;
    }
}

#define PACK_CASE(w)                                                                                         \
    case w:                                                                                                  \
        pack(codes, groups, w, ret);                                                                         \
        break;
#define PACK_CASES(w) PACK_CASE(w) PACK_CASE(w + 1) PACK_CASE(w + 2) PACK_CASE(w + 3)

static void pack_groups(const uint32_t *codes, size_t groups, unsigned width, uint8_t *ret)
{
    switch (width) {
        PACK_CASES(1)
        PACK_CASES(5)
        PACK_CASES(9)
        PACK_CASES(13)
        PACK_CASES(17)
    default: /* dictionaries with more than a million entries */
        pack(codes, groups, width, ret);
    }
}

/* A run header has at most 5 bytes, because a page has fewer than 2^31 values. */
static bool add_run(hac_bytes *out, uint32_t value, size_t n, unsigned width)
{
    if (!hac_bytes_reserve(out, 10 + 4))
        return false;
    out->n += hac_varint((uint64_t)n << 1, out->data + out->n);
    for (unsigned bits = 0; bits < width; bits += 8)
        out->data[out->n++] = (uint8_t)(value >> bits);
    return true;
}

static bool add_packed_header(hac_bytes *out, size_t groups, unsigned width)
{
    if (!hac_bytes_reserve(out, 10 + groups * width))
        return false;
    out->n += hac_varint((uint64_t)groups << 1 | 1, out->data + out->n);
    return true;
}

static bool add_packed_codes(hac_bytes *out, const uint32_t *codes, size_t n, unsigned width)
{
    size_t groups = (n + 7) / 8;
    if (n == 0)
        return true;
    if (!add_packed_header(out, groups, width))
        return false;
    pack_groups(codes, groups, width, out->data + out->n);
    out->n += groups * width;
    return true;
}

bool hac_hybrid_codes(hac_bytes *out, uint32_t *codes, size_t n, unsigned width)
{
    size_t packed = 0, i = 0; /* codes [packed, i) are not packed yet: a multiple of eight */
    while (i < n) {
        size_t run = 1;
        while (i + run < n && codes[i + run] == codes[i])
            run++;
        if (run < 8) {
            i += 8;
            continue;
        }
        if (!add_packed_codes(out, codes + packed, i - packed, width) || !add_run(out, codes[i], run, width))
            return false;
        i += run;
        packed = i;
    }
    if (packed >= n)
        return true;
    for (size_t k = n; k < packed + (n - packed + 7) / 8 * 8; k++)
        codes[k] = 0;
    return add_packed_codes(out, codes + packed, n - packed, width);
}

static bool add_packed_levels(hac_bytes *out, const uint8_t *levels, size_t n)
{
    size_t groups = (n + 7) / 8;
    if (n == 0)
        return true;
    if (!add_packed_header(out, groups, 1))
        return false;
    pack_bools(levels, n, out->data + out->n);
    out->n += groups;
    return true;
}

bool hac_hybrid_levels(hac_bytes *out, const uint8_t *levels, size_t n)
{
    size_t packed = 0, i = 0;
    while (i < n) {
        uint64_t same = levels[i] * ONES;
        size_t run = 0;
        while (i + run + 8 <= n && load8(levels + i + run) == same)
            run += 8;
        while (run > 0 && i + run < n && levels[i + run] == levels[i])
            run++;
        if (run == 0) {
            i += 8;
            continue;
        }
        if (!add_packed_levels(out, levels + packed, i - packed) || !add_run(out, levels[i], run, 1))
            return false;
        i += run;
        packed = i;
    }
    return packed >= n || add_packed_levels(out, levels + packed, n - packed);
}

bool hac_pack_bools(hac_bytes *out, const uint8_t *values, size_t n)
{
    if (!hac_bytes_reserve(out, (n + 7) / 8))
        return false;
    pack_bools(values, n, out->data + out->n);
    out->n += (n + 7) / 8;
    return true;
}
