/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hybrid of run-length encoding and bit packing, for levels, dictionary indices and booleans: a sequence
 * of runs, each with one repeated value or with groups of eight packed values. The last run may have surplus
 * values. The struct is plain data: a copy saves the position. Functions return NULL, or what is wrong with
 * the bytes.
 */
#ifndef PARQUET_RLE_HYBRID_H
#define PARQUET_RLE_HYBRID_H

#include "kernels.h"

typedef struct hac_parquet_hybrid {
    const hac_parquet_kernels *kernels;
    const uint8_t *at, *end; /* the following runs; slack follows */
    unsigned width;
    bool is_packed;
    uint64_t left;         /* remaining values of the current run */
    uint32_t value;        /* repeated */
    const uint8_t *packed; /* the run's first byte */
    uint64_t next;         /* the next packed value */
} hac_parquet_hybrid;

/* Refuses widths above 32. With width 0 and no bytes, the values (all 0) never end. */
const char *hac_parquet_hybrid_begin(hac_parquet_hybrid *h, const hac_parquet_kernels *kernels,
                                     unsigned width, const uint8_t *data, size_t bytes);

/* Begins with a packed run of n values of 1 to 32 bits, and nothing behind it. Slack follows the data. */
void hac_parquet_hybrid_packed(hac_parquet_hybrid *h, const hac_parquet_kernels *kernels, unsigned width,
                               const uint8_t *data, uint64_t n);

/* Reads the next n values; ret has room for n rounded up to 32. */
const char *hac_parquet_hybrid_get(hac_parquet_hybrid *h, size_t n, uint32_t *ret);

/* Reads the next n values of width 1 as bytes, each xor `flip` (0 or 1); ret has room for n rounded up to 8.
 * *ret_sum: the sum of those bytes. */
const char *hac_parquet_hybrid_bits(hac_parquet_hybrid *h, uint8_t flip, size_t n, uint8_t *ret,
                                    size_t *ret_sum);

/* Reads the next n values as bytes: 0 if they equal `max`, else 1. Values above `max` are an error. */
const char *hac_parquet_hybrid_states(hac_parquet_hybrid *h, uint32_t max, size_t n, uint8_t *ret,
                                      size_t *ret_sum);

const char *hac_parquet_hybrid_skip(hac_parquet_hybrid *h, uint64_t n);

#endif
