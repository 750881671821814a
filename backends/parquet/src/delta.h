/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DELTA_BINARY_PACKED: a first value, then blocks of differences, each the block's least plus a packed number
 * whose width is the miniblock's. Arithmetic wraps. The last miniblock may be cut where its values end, and
 * widths of miniblocks behind it may be anything. Functions return NULL, or what is wrong with the bytes.
 */
#ifndef PARQUET_DELTA_H
#define PARQUET_DELTA_H

#include "kernels.h"

typedef struct hac_parquet_delta {
    const hac_parquet_kernels *kernels;
    const uint8_t *at, *end;     /* slack behind end */
    uint32_t mini_values, minis; /* of a miniblock; of a block */
    bool narrow;                 /* 32 bits */
    bool is_unsigned;            /* how they are extended to 64 */
    bool first;                  /* the first value is still to come */
    uint64_t left;               /* values still to come */
    uint64_t last, least;
    const uint8_t *widths;    /* of the block begun */
    uint32_t mini, mini_left; /* the next of the block; values of the one begun */
    unsigned width;           /* of the one begun */
    uint64_t ready[32];       /* decoded, not yet given: the last n_ready of them */
    uint32_t n_ready;
} hac_parquet_delta;

const char *hac_parquet_delta_begin(hac_parquet_delta *d, const hac_parquet_kernels *kernels, bool narrow,
                                    bool is_unsigned, const uint8_t *data, size_t bytes);

/* The next n values, extended to 64 bits; ret has room for n rounded up to 32. */
const char *hac_parquet_delta_get(hac_parquet_delta *d, size_t n, uint64_t *ret);

/* Where the values end, without decoding them. */
const char *hac_parquet_delta_end(const hac_parquet_delta *d, const uint8_t **ret);

#endif
