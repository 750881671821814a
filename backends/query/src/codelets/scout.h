/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scouting for `order by … limit`. A scout reads only the columns of the order and of the filter, and finds
 * the rows of a task that may be in the result. The other columns are then read only for these rows. This
 * pays if there are other columns, and about as many such rows as row groups or fewer, because reading one
 * row unpacks a whole page of every column.
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

/* Scouts `count` chunks of the task's source, from chunk `first` on, with all threads. *ret is unchanged if
 * scouting does not pay, or there is no memory for the rows. Returns the errors that reading the rows has. */
HAC_MUST_USE hac_status hac_scout_run(const hac_query_task *task, uint64_t first, uint64_t count,
                                      hac_scout *ret, hac_error *err);
void hac_scout_clear(hac_scout *scout);

#endif
