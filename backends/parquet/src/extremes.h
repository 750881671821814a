/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The least and the greatest of values, as statistics and page indexes want them: stored like PLAIN values,
 * without a length; NaN left out and counted; a least zero is -0.0, a greatest one +0.0; long text is cut to
 * HAC_BOUND_BYTES, so that it still bounds and, where it was UTF-8, still is.
 */
#ifndef PARQUET_EXTREMES_H
#define PARQUET_EXTREMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HAC_BOUND_BYTES 64

/* How values lie in memory, and their order. */
typedef enum hac_stored {
    HAC_STORED_BOOL, /* a byte each */
    HAC_STORED_I32,
    HAC_STORED_U32,
    HAC_STORED_I64,
    HAC_STORED_U64,
    HAC_STORED_F32,
    HAC_STORED_F64,
    HAC_STORED_WIDE, /* decimals: two's complement, big-endian, of a fixed width */
    HAC_STORED_TEXT,
} hac_stored;

typedef struct hac_extreme {
    uint8_t data[HAC_BOUND_BYTES];
    uint8_t bytes;
    bool exact;
    bool none; /* no text of so few bytes is above */
} hac_extreme;

typedef struct hac_extremes {
    bool any; /* the two below are there */
    uint64_t nans;
    hac_extreme least, greatest;
} hac_extremes;

/* Of n values, not HAC_STORED_TEXT; width in bytes. */
void hac_extremes_of(hac_stored stored, unsigned width, const void *values, size_t n, hac_extremes *ret);

/* Of texts, one after the other. */
typedef struct hac_text_extremes {
    const uint8_t *least, *greatest;
    uint64_t least_prefix, greatest_prefix; /* their first eight bytes, in the order of texts */
    uint32_t least_bytes, greatest_bytes;
    bool any;
} hac_text_extremes;

void hac_text_extremes_add(hac_text_extremes *extremes, const uint8_t *text, uint32_t bytes);
void hac_text_extremes_end(const hac_text_extremes *extremes, hac_extremes *ret);

/* < 0, 0, > 0, as the type's order has it. */
int hac_extreme_compare(hac_stored stored, const hac_extreme *a, const hac_extreme *b);

/* Widens *extremes to hold *more as well. */
void hac_extremes_join(hac_stored stored, hac_extremes *extremes, const hac_extremes *more);

#endif
