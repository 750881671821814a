/* SPDX-License-Identifier: Apache-2.0 */
/* The inner loops of decoding, compiled once for each instruction set (kernels.c); a column selects one
 * table. All functions may read HAC_PARQUET_SLACK bytes behind their input, which buffers of pages have, and
 * need no alignment. `n` is at most HAC_BATCH_ROWS unless stated otherwise. */
#ifndef PARQUET_KERNELS_H
#define PARQUET_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HAC_PARQUET_SLACK 128

/* How stored values of fixed width are converted to a representation. */
typedef enum hac_parquet_rule_kind {
    HAC_RULE_COPY_4 = 0, /* FLOAT → f32 */
    HAC_RULE_COPY_8,     /* INT64 → i64 or u64, DOUBLE → f64 */
    HAC_RULE_I32,        /* → i64 */
    HAC_RULE_U32,        /* → u64 */
    HAC_RULE_RANGE_I32,  /* → i64 within [low, high] */
    HAC_RULE_RANGE_I64,
    HAC_RULE_SMALL_U32,   /* → u64 within [0, high], stored as such or with its highest bit repeated: low */
    HAC_RULE_SMALL_U64,   /* the same of 64 bits, of which the lower 32 count */
    HAC_RULE_MILLIS,      /* within [low, high], × 1000 */
    HAC_RULE_NANOS,       /* ÷ 1000, without a remainder */
    HAC_RULE_INT96,       /* nanoseconds of a day, a Julian day → µs since 1970, without a remainder */
    HAC_RULE_INT96_NANOS, /* the same → ns since 1970 */
    HAC_RULE_HALF,        /* → f32 */
    HAC_RULE_FLOAT_64,    /* FLOAT → f64 */
    HAC_RULE_HALF_64,     /* → f64 */
    HAC_RULE_WIDE_32,     /* → i128, of a decimal of so many digits that every value fits */
    HAC_RULE_WIDE_64,
    HAC_RULE_BIG_64,  /* big-endian two's complement, `width` bytes → i64 within [low, high] */
    HAC_RULE_BIG_128, /* → i128 of up to `digits` digits */
    HAC_RULE_END
} hac_parquet_rule_kind;

typedef struct hac_parquet_rule {
    hac_parquet_rule_kind kind;
    uint32_t width;    /* bytes of a stored value */
    int64_t low, high; /* |high - low| < 2^63 */
    unsigned digits;
} hac_parquet_rule;

/* Converts from[positions[i]], or from[i] without positions. False: some value is not of the type; the others
 * are still converted. */
typedef bool (*hac_parquet_convert)(const hac_parquet_rule *rule, const uint8_t *from,
                                    const uint16_t *positions, size_t n, void *ret);

typedef void (*hac_parquet_look_up)(const void *table, const uint32_t *codes, const uint16_t *positions,
                                    size_t n, void *ret);

typedef struct hac_parquet_kernels {
    const char *name;

    /* Unpacks numbers of `width` bits, the first in the lowest bits of the first byte. `ret` has room for n
     * rounded up to 32. For widths up to 32, and up to 64. Any n. */
    void (*unpack_32)(const uint8_t *from, unsigned width, size_t n, uint32_t *ret);
    void (*unpack_64)(const uint8_t *from, unsigned width, size_t n, uint64_t *ret);

    /* Turns bits into bytes 0 and 1: bit `first` + i of `from`, xor `flip`. `ret` has room for n rounded up
     * to 8; returns the sum of the first n bytes. Any n. */
    size_t (*bits)(const uint8_t *from, size_t first, uint8_t flip, size_t n, uint8_t *ret);

    /* The maximum; 0 if n is 0. Any n. */
    uint32_t (*max)(const uint32_t *codes, size_t n);

    /* Looks up table[codes[i]], or table[codes[positions[i]]], for values of that many bytes. */
    hac_parquet_look_up look_up_1, look_up_4, look_up_8, look_up_16;
    /* The same for bytes and up to 16 entries: a register holds the table, which has 16 bytes. */
    void (*look_up_few)(const uint8_t *table, const uint32_t *codes, size_t n, uint8_t *ret);

    /* Moves consecutive values to the rows whose state is 0; the other rows become 0. One value behind the
     * last one may be read. */
    void (*spread_1)(const void *values, const uint8_t *states, size_t n, void *ret);
    void (*spread_4)(const void *values, const uint8_t *states, size_t n, void *ret);
    void (*spread_8)(const void *values, const uint8_t *states, size_t n, void *ret);
    void (*spread_16)(const void *values, const uint8_t *states, size_t n, void *ret);

    /* Prefix sums: ret[i] = last + (deltas[0] + min) + … + (deltas[i] + min), modulo 2^64; with `cut`, cut to
     * 32 bits and extended again. Returns the last sum. */
    uint64_t (*sum_32)(const uint32_t *deltas, size_t n, uint64_t min, uint64_t last, uint64_t *ret);
    uint64_t (*sum_64)(const uint64_t *deltas, size_t n, uint64_t min, uint64_t last, uint64_t *ret);
    void (*cut_signed)(uint64_t *values, size_t n);
    void (*cut_unsigned)(uint64_t *values, size_t n);

    /* BYTE_STREAM_SPLIT: byte b of value i is from[b * stride + i]. */
    void (*join)(const uint8_t *from, size_t stride, size_t width, size_t n, uint8_t *ret);

    hac_parquet_convert convert[HAC_RULE_END];
} hac_parquet_kernels;

/* The best for this processor. */
const hac_parquet_kernels *hac_parquet_kernels_get(void);
/* All tables that this processor can run, baseline first; returns their number (at most 3). For tests. */
size_t hac_parquet_kernels_all(const hac_parquet_kernels *ret[3]);

extern const hac_parquet_kernels hac_parquet_kernels_baseline;
extern const hac_parquet_kernels hac_parquet_kernels_x86_64_v3;

#endif
