/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hybrid of run lengths and bit packing: levels, dictionary indices, booleans. A sequence of runs, each
 * one value repeated or groups of eight packed values; the last run may hold more than there are values.
 * All plain data: a copy remembers a place. Functions return NULL, or what is wrong with the bytes.
 */
#ifndef PARQUET_HYBRID_H
#define PARQUET_HYBRID_H

#include "kernels.h"

typedef struct hac_parquet_hybrid {
    const hac_parquet_kernels *kernels;
    const uint8_t *at, *end; /* of the runs to come; slack behind end */
    unsigned width;
    bool is_packed;
    uint64_t left;         /* values of the run begun */
    uint32_t value;        /* repeated */
    const uint8_t *packed; /* the run's first byte */
    uint64_t next;         /* packed value that comes next */
} hac_parquet_hybrid;

/* Widths above 32 are refused. Of width 0 every value is 0, and no bytes are looked at. */
const char *hac_parquet_hybrid_begin(hac_parquet_hybrid *h, const hac_parquet_kernels *kernels,
                                     unsigned width, const uint8_t *data, size_t bytes);

/* The next n values; ret has room for n rounded up to 32. */
const char *hac_parquet_hybrid_get(hac_parquet_hybrid *h, size_t n, uint32_t *ret);

/* The next n values, for width 1 only, as bytes, each xor `flip` (0 or 1); ret has room for n rounded up to
 * 8. *ret_sum: of those bytes. */
const char *hac_parquet_hybrid_bits(hac_parquet_hybrid *h, uint8_t flip, size_t n, uint8_t *ret,
                                    size_t *ret_sum);

/* The next n values as bytes: 0 where they are `most`, else 1. Values above `most` are damage. */
const char *hac_parquet_hybrid_states(hac_parquet_hybrid *h, uint32_t most, size_t n, uint8_t *ret,
                                      size_t *ret_sum);

const char *hac_parquet_hybrid_skip(hac_parquet_hybrid *h, uint64_t n);

#endif
