/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the rows of a row group that need not be read, by the statistics of its chunks, by bloom filters, and
 * by the statistics of its pages (column index and offset index). A skipped row does not fulfil the bounds; a
 * row that is not skipped may or may not. Data that is damaged, unknown or untrusted skips nothing. */
#ifndef PARQUET_PRUNE_H
#define PARQUET_PRUNE_H

#include "expr/conjuncts.h"
#include "parquet/file.h"

typedef struct hac_parquet_range {
    uint64_t first, rows; /* in the row group */
} hac_parquet_range;

/* Rows to be read, in ascending order, with gaps between the ranges. */
typedef struct hac_parquet_ranges {
    hac_parquet_range *ranges; /* owned */
    size_t n;
} hac_parquet_ranges;

typedef struct hac_parquet_pruned {
    /* row groups that are skipped completely */
    uint64_t groups_by_statistics, groups_by_bloom, groups_by_pages;
    uint64_t rows; /* rows that are skipped */
} hac_parquet_pruned;

/* Finds the rows of one row group that a filter may keep. leaves[i] is the leaf of the filter's input i;
 * SIZE_MAX: it has none. No skipped row would be an error: see expr/conjuncts.h. Adds to *pruned.
 * HAC_NO_MEMORY, HAC_IO. */
HAC_MUST_USE hac_status hac_parquet_prune(const hac_parquet_file *file, size_t group,
                                          const hac_conjuncts *conjuncts, const size_t *leaves,
                                          hac_parquet_ranges *ret, hac_parquet_pruned *pruned,
                                          hac_error *err);
/*
 * Finds a bound for `order by leaf limit rows`: a value v such that, by the statistics of the row groups
 * [first, end), at least `rows` values of the leaf are ≤ v (≥ v with `descending`). So no row whose value is
 * > v (< v) is among the first `rows` rows in that order. A string is (*ret_bytes)[low … low + high), in the
 * footer. False: the statistics give no bound.
 */
bool hac_parquet_rank(const hac_parquet_file *file, size_t leaf, size_t first, size_t end, uint64_t rows,
                      bool descending, hac_constant *ret, const uint8_t **ret_bytes);

/* Facts about the values of a leaf in a row group, from the statistics in the footer. */
typedef struct hac_parquet_answer {
    uint64_t nulls;
    bool any; /* some value is not null; min and max are set as far as they were asked for */
    hac_constant min, max;
    const uint8_t *min_bytes, *max_bytes; /* of strings, in the footer */
} hac_parquet_answer;

/* What is asked for in addition to the number of nulls. */
enum { HAC_PARQUET_ASK_MIN = 1, HAC_PARQUET_ASK_MAX = 2 };

/* False: the statistics are missing, or not exact: shortened or deprecated bounds, and bounds of floats,
 * which may hide NaNs or a zero of the other sign. */
bool hac_parquet_answers(const hac_parquet_file *file, size_t group, size_t leaf, unsigned asked,
                         hac_parquet_answer *ret);

void hac_parquet_ranges_clear(hac_parquet_ranges *ranges);

#endif
