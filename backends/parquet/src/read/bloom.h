/* SPDX-License-Identifier: Apache-2.0 */
/* Bloom filters of column chunks: split-block filters over the XXH64 of PLAIN values. */
#ifndef PARQUET_BLOOM_H
#define PARQUET_BLOOM_H

#include "expr/conjuncts.h"
#include "parquet/file.h"

/* Checks a bound with the chunk's filter: *ret is true if no value fulfils it, and false also if there is no
 * filter, it is damaged, or the bound is not an equality. HAC_IO. */
HAC_MUST_USE hac_status hac_parquet_bloom_excludes(const hac_parquet_file *file, const hac_parquet_leaf *leaf,
                                                   const hac_parquet_chunk *chunk, const hac_bound *bound,
                                                   bool *ret, hac_error *err);

#endif
