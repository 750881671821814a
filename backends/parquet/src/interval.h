/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds of stored values, in terms of a leaf's type: what statistics and column indexes have. A bound that
 * cannot be a value of the type makes both useless: who wrote it was wrong about the column, or values that
 * the type does not have are among those it bounds.
 */
#ifndef PARQUET_INTERVAL_H
#define PARQUET_INTERVAL_H

#include "expr/conjuncts.h"
#include "parquet/file.h"

/* By representation: integers and bools, floats, strings. */
typedef struct hac_parquet_scalar {
    __int128 integer;
    double number;
    hac_parquet_slice bytes;
} hac_parquet_scalar;

typedef struct hac_parquet_interval {
    uint8_t repr; /* hac_repr of the leaf's type */
    bool has_least, has_greatest;
    hac_parquet_scalar least, greatest;
} hac_parquet_interval;

/* What an interval is of: a chunk, or a page. Of rows where nothing is repeated. */
typedef struct hac_parquet_counts {
    uint64_t rows, nulls, nans; /* the latter UINT64_MAX: not known */
} hac_parquet_counts;

/* false, and an interval without bounds: they cannot be believed. Either may be absent. */
bool hac_parquet_interval_of(const hac_parquet_leaf *leaf, hac_parquet_slice least,
                             hac_parquet_slice greatest, hac_parquet_interval *ret);

/* Whether no value and no null fulfils the bound, which is of the leaf that the interval is of. What says so
 * of values counts with nulls among them only if `nulls_too`: see expr/conjuncts.h. */
bool hac_parquet_excludes(const hac_parquet_interval *interval, const hac_parquet_counts *counts,
                          const hac_bound *bound, bool nulls_too);

#endif
