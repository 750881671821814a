/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a row group need not be read: by the statistics of its chunks, by bloom filters, by the statistics
 * of its pages (column index and offset index). A row that is left out does not fulfil the bounds; one that
 * is not left out may or may not. What is damaged, unknown or not to be trusted leaves nothing out.
 */
#ifndef PARQUET_PRUNE_H
#define PARQUET_PRUNE_H

#include "expr/conjuncts.h"
#include "parquet/file.h"

typedef struct hac_parquet_range {
    uint64_t first, rows; /* in the row group */
} hac_parquet_range;

/* Rows to be read, ascending, apart from each other. */
typedef struct hac_parquet_ranges {
    hac_parquet_range *ranges; /* owned */
    size_t n;
} hac_parquet_ranges;

typedef struct hac_parquet_pruned {
    uint64_t groups_by_statistics, groups_by_bloom, groups_by_pages; /* left out whole */
    uint64_t rows;                                                   /* left out */
} hac_parquet_pruned;

/*
 * For the rows of one row group that a filter may keep; leaves[i] is the leaf that is its input i, SIZE_MAX
 * where there is none. What is left out fails no row: see expr/conjuncts.h. Adds to *pruned. HAC_NO_MEMORY,
 * HAC_IO.
 */
HAC_MUST_USE hac_status hac_parquet_prune(const hac_parquet_file *file, size_t group,
                                          const hac_conjuncts *conjuncts, const size_t *leaves,
                                          hac_parquet_ranges *ret, hac_parquet_pruned *pruned,
                                          hac_error *err);
void hac_parquet_ranges_clear(hac_parquet_ranges *ranges);

#endif
