/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scouting for `order by … limit`: finds the rows of a task that may be in the result by the columns of the
 * order and the filter alone, so that the other columns are read only where such a row is. Worth while if
 * there are other columns, and fewer such rows than row groups or so: one row unpacks a page of every
 * column.
 */
#ifndef QUERY_SCOUT_H
#define QUERY_SCOUT_H

#include "chunk_rows.h"

/* Zero-initialised: nothing was scouted. */
typedef struct hac_scout {
    uint64_t *numbers; /* of the rows (hac_source_numbers), ascending */
    /* Chunk i of the task has the rows numbers[firsts[i] … firsts[i + 1]); NULL: nothing was scouted. */
    uint64_t *firsts;
    uint64_t read, kept; /* rows that were read, and passed the filter */
    hac_source_counters counters;
    hac_splice_counters splice;
} hac_scout;

/* Scouts `count` chunks from chunk `first` of the task's source on, with all threads; *ret is left as it is
 * where that does not pay, or there is no memory for the rows. Fails like reading. */
HAC_MUST_USE hac_status hac_scout_run(const hac_query_task *task, uint64_t first, uint64_t count,
                                      hac_scout *ret, hac_error *err);
void hac_scout_clear(hac_scout *scout);

#endif
