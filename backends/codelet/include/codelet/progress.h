/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of work that the executor has done. hacd reads their number while a task runs: a task that takes
 * much longer than predicted is not hung as long as the number changes.
 *
 * Every loop that may run for a second calls hac_progress_step in it: after each batch of rows, chunk, page
 * or kernel launch. Items of hac_pool_run are counted there. Steps need no common size; only a change counts.
 */
#ifndef CODELET_PROGRESS_H
#define CODELET_PROGRESS_H

#include <stdint.h>

/* From now on the steps are counted in *counter, which may be shared memory and must stay. */
void hac_progress_count_in(uint64_t *counter);

/* Counts a step; from any thread. */
void hac_progress_step(void);

#endif
