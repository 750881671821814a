/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divides the rows of vectors among the ranks of hac-mpi, and moves rows between ranks. A vector is either
 * *divided* (each rank has one part, a range of rows) or complete on every rank. Parts have equal size unless
 * a partition of the logic file sets their boundaries.
 */
#ifndef OPSPLIT_RUN_EXCHANGE_H
#define OPSPLIT_RUN_EXCHANGE_H

#include "run_types.h"

/* Whether the current partition sets the ranges of a vector with `rows` rows. */
bool hac_run_cuts_ranges(const hac_logic_run_state *run, uint64_t rows);
/* Parts begin at multiples of this number of rows. It is the same for sub-operators of different grain if
 * there are enough rows, so that a sub-operator finds on its own rank the rows that its predecessor wrote. */
uint64_t hac_run_rank_grain(const hac_logic_run_state *run, uint64_t rows, uint64_t grain);
/* Whether so many rows are divided. Fewer rows are computed on every rank, which is faster than exchanging
 * them. */
bool hac_run_is_divided(const hac_logic_run_state *run, uint64_t rows, uint64_t grain);
/* The number of the partition that sets the parts of the ranks; 0: the parts are equal. */
uint64_t hac_run_cut_by(const hac_logic_run_state *run, uint64_t rows);
/* This rank's part [first, end) of `rows`, split at multiples of `grain`. False: every rank has all rows. */
bool hac_run_part(const hac_logic_run_state *run, uint64_t rows, uint64_t grain, uint64_t *ret_first,
                  uint64_t *ret_end);

/* The functions below are collective: all ranks call them. */

/* Shares one number of each rank with all ranks. all[rank] is this rank's number before the call. */
HAC_MUST_USE hac_status hac_run_share_numbers(const hac_logic_run_state *run, uint64_t *all, hac_error *err);
/* Gives every rank all rows of a vector. Flushes the graph if need be. */
HAC_MUST_USE hac_status hac_run_gather(hac_logic_run_state *run, hac_run_vector *vector, hac_error *err);
/* Gives rank 0 all rows. The vector stays divided on the other ranks, and counts as divided on rank 0. */
HAC_MUST_USE hac_status hac_run_collect(hac_logic_run_state *run, hac_run_vector *vector, hac_error *err);
/* Divides a divided vector anew, into the parts that sub-operators of this grain have
 * (hac_run_rank_grain). */
HAC_MUST_USE hac_status hac_run_recut(hac_logic_run_state *run, hac_run_vector *vector, uint64_t grain,
                                      hac_error *err);
/*
 * Before the call, rank r has the rows [firsts[r], firsts[r + 1]) of a dense vector that has the same size on
 * all ranks. Afterwards each rank has the part that sub-operators on it expect: an equal part, or all rows if
 * they are too few to be divided.
 */
HAC_MUST_USE hac_status hac_run_spread(hac_logic_run_state *run, hac_run_vector *vector,
                                       const uint64_t *firsts, hac_error *err);

#endif
