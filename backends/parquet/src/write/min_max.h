/* SPDX-License-Identifier: Apache-2.0 */
/* Minimum and maximum of values for statistics and page indexes: stored like PLAIN values, without a length.
 * NaN is ignored and counted; a minimum of zero is -0.0, a maximum +0.0. Long text is cut to HAC_BOUND_BYTES
 * such that it is still a bound and, if it was UTF-8, still UTF-8. */
#ifndef PARQUET_MIN_MAX_H
#define PARQUET_MIN_MAX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HAC_BOUND_BYTES 64

/* How values are stored in memory, and their order. */
typedef enum hac_stored {
    HAC_STORED_BOOL, /* one byte each */
    HAC_STORED_I32,
    HAC_STORED_U32,
    HAC_STORED_I64,
    HAC_STORED_U64,
    HAC_STORED_F32,
    HAC_STORED_F64,
    HAC_STORED_WIDE, /* decimals: big-endian two's complement of a fixed width */
    HAC_STORED_TEXT,
} hac_stored;

typedef struct hac_bound_value {
    uint8_t data[HAC_BOUND_BYTES];
    uint8_t bytes;
    bool exact;
    bool none; /* there is no upper bound of that length */
} hac_bound_value;

typedef struct hac_min_max {
    bool any; /* min and max are set */
    uint64_t nans;
    hac_bound_value min, max;
} hac_min_max;

/* The minimum and maximum of n values, not for HAC_STORED_TEXT; width in bytes. */
void hac_min_max_of(hac_stored stored, unsigned width, const void *values, size_t n, hac_min_max *ret);

/* For texts, which are added one by one. */
typedef struct hac_text_min_max {
    const uint8_t *min, *max;
    uint64_t min_prefix, max_prefix; /* their first eight bytes, as numbers in the order of texts */
    uint32_t min_bytes, max_bytes;
    bool any;
} hac_text_min_max;

void hac_text_min_max_add(hac_text_min_max *min_max, const uint8_t *text, uint32_t bytes);
void hac_text_min_max_end(const hac_text_min_max *min_max, hac_min_max *ret);

/* Compares in the type's order: < 0, 0 or > 0. */
int hac_bound_value_compare(hac_stored stored, const hac_bound_value *a, const hac_bound_value *b);

/* Extends *min_max to include *more. */
void hac_min_max_join(hac_stored stored, hac_min_max *min_max, const hac_min_max *more);

#endif
