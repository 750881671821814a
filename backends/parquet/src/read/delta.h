/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DELTA_BINARY_PACKED: a first value, then blocks of differences. A difference is the block's minimum plus a
 * packed number of the miniblock's width. Arithmetic wraps around. The last miniblock may end after its last
 * value, and widths of unused miniblocks may be anything. Functions return NULL, or what is wrong with the
 * bytes.
 */
#ifndef PARQUET_DELTA_H
#define PARQUET_DELTA_H

#include "kernels.h"

typedef struct hac_parquet_delta {
    const hac_parquet_kernels *kernels;
    const uint8_t *at, *end;     /* followed by slack */
    uint32_t mini_values, minis; /* values of a miniblock; miniblocks of a block */
    bool narrow;                 /* 32 bits */
    bool is_unsigned;            /* how 32-bit values are extended to 64 bits */
    bool first;                  /* the first value has not been read */
    uint64_t left;               /* remaining values */
    uint64_t last, min;
    const uint8_t *widths;    /* of the current block */
    uint32_t mini, mini_left; /* the block's next miniblock; remaining values of the current one */
    unsigned width;           /* of the current miniblock */
    uint64_t ready[32];       /* decoded but not yet returned: the last n_ready of them */
    uint32_t n_ready;
} hac_parquet_delta;

const char *hac_parquet_delta_begin(hac_parquet_delta *d, const hac_parquet_kernels *kernels, bool narrow,
                                    bool is_unsigned, const uint8_t *data, size_t bytes);

/* Reads the next n values, extended to 64 bits; ret has room for n rounded up to 32. */
const char *hac_parquet_delta_get(hac_parquet_delta *d, size_t n, uint64_t *ret);

/* Finds the end of the values without decoding them. */
const char *hac_parquet_delta_end(const hac_parquet_delta *d, const uint8_t **ret);

#endif
