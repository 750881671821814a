/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds of stored values as values of the leaf's type, from statistics and column indexes. If one bound is
 * not a value of the type, both are ignored: either the writer was wrong about the column, or the bounded
 * values include some that the type does not have. */
#ifndef PARQUET_INTERVAL_H
#define PARQUET_INTERVAL_H

#include "expr/conjuncts.h"
#include "parquet/file.h"

/* Used according to the representation: integers and bools, floats, strings. */
typedef struct hac_parquet_scalar {
    __int128 integer;
    double number;
    hac_parquet_slice bytes;
} hac_parquet_scalar;

typedef struct hac_parquet_interval {
    uint8_t repr; /* hac_repr of the leaf's type */
    bool has_min, has_max;
    hac_parquet_scalar min, max;
} hac_parquet_interval;

/* Counts of a chunk or a page. Rows are only valid if nothing is repeated. */
typedef struct hac_parquet_counts {
    uint64_t rows, nulls, nans; /* nulls, nans: UINT64_MAX if unknown */
} hac_parquet_counts;

/* False: the bounds cannot be trusted, and the interval has none. Either bound may be absent. */
bool hac_parquet_interval_of(const hac_parquet_leaf *leaf, hac_parquet_slice min, hac_parquet_slice max,
                             hac_parquet_interval *ret);

/* Compares as expressions do: bytes are unsigned, -0 equals 0. -1, 0 or 1. */
int hac_parquet_scalar_compare(uint8_t repr, const hac_parquet_scalar *a, const hac_parquet_scalar *b);

/* The value in the form of constants. A string is (*ret_bytes)[low … low + high). False: there is no such
 * constant. */
bool hac_parquet_scalar_constant(uint8_t repr, const hac_parquet_scalar *value, hac_constant *ret,
                                 const uint8_t **ret_bytes);

/* Whether no value and no null of the interval fulfils the bound, which is on the same leaf. Unless
 * `nulls_too`, a conclusion from the values is only drawn if there are no nulls: see expr/conjuncts.h. */
bool hac_parquet_excludes(const hac_parquet_interval *interval, const hac_parquet_counts *counts,
                          const hac_bound *bound, bool nulls_too);

#endif
