/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows in order by sorted runs. A run is the sorted entries of consecutive blocks, or the smallest of them.
 * Any stretch of the order, from one rank to another, is found in all runs without the rest of the order: so
 * stretches are made side by side, by threads, or by tasks that know nothing of each other.
 */
#ifndef QUERY_ROW_RUNS_H
#define QUERY_ROW_RUNS_H

#include "row_keys.h"

/* Entries that another process may have written, and may change: they are copied before they are used. */
typedef struct hac_row_run {
    const hac_row_entry *entries; /* at: block · HAC_BATCH_ROWS + row, where block counts from first_block */
    uint64_t n;
    uint64_t first_block, n_blocks; /* of the reader */
} hac_row_run;

typedef struct hac_row_runs {
    const hac_row_keys *keys;
    const hac_row_run *runs;
    size_t n;
} hac_row_runs;

/* Makes a run: the smallest rows, at most `keep`, of blocks [first_block, first_block + n_blocks). The
 * entries are to be freed. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_row_run_make(const hac_row_keys *keys, size_t first_block, size_t n_blocks,
                                         uint64_t keep, hac_row_entry **ret, uint64_t *ret_n, hac_error *err);

/* The number of rows of all runs. */
uint64_t hac_row_runs_rows(const hac_row_runs *runs);

/*
 * Finds the rows of ranks [first, end) in the order: *ret[i] is the place of rank first + i, as block ·
 * HAC_BATCH_ROWS + row of the reader, for i < *ret_n. *ret_n is end - first, unless another process has
 * changed the runs; it is at most the number of all rows. *ret is to be freed. HAC_NO_MEMORY.
 */
HAC_MUST_USE hac_status hac_row_runs_order(const hac_row_runs *runs, uint64_t first, uint64_t end,
                                           uint64_t **ret, uint64_t *ret_n, hac_error *err);

#endif
