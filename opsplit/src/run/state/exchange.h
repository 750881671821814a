/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows each rank has, and what ranks exchange. */
#ifndef OPSPLIT_RUN_EXCHANGE_H
#define OPSPLIT_RUN_EXCHANGE_H

#include "run_types.h"

/* Whether the current partition gives ranges of a vector of `rows` rows. */
bool hac_run_cuts_ranges(const hac_logic_run_state *run, uint64_t rows);
/* Where the parts of ranks may begin. Sub-operators of different grain get the same value if there are enough
 * rows, so that a sub-operator finds on its rank what the one before has written. */
uint64_t hac_run_rank_grain(const hac_logic_run_state *run, uint64_t rows, uint64_t grain);
/* False for so few rows that they are one part: every rank computes them, which is faster than an exchange.
 */
bool hac_run_is_divided(const hac_logic_run_state *run, uint64_t rows, uint64_t grain);
/* Number of the partition that gives the parts of ranks; 0: they are equal. */
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
/* Divides a divided vector anew, as sub-operators of that grain (hac_run_rank_grain) are. */
HAC_MUST_USE hac_status hac_run_recut(hac_logic_run_state *run, hac_run_vector *vector, uint64_t grain,
                                      hac_error *err);
/*
 * Rank r has rows [firsts[r], firsts[r + 1]) of a dense vector of the same size on all ranks. Afterwards
 * every rank has its equal part, as sub-operators are divided, or all rows where there are too few to be
 * divided.
 */
HAC_MUST_USE hac_status hac_run_spread(hac_logic_run_state *run, hac_run_vector *vector,
                                       const uint64_t *firsts, hac_error *err);

#endif
