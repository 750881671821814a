/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rounds of a `while` as one task, op.while (base/op_while.h): one round is added as usual, its tasks become
 * the calls of a round, and what it leaves is carried on to where the next one reads it. The executor looks
 * at the condition. That is for rounds that take less time than to tell others of them.
 *
 * Like graphs, two may be on their way. While one is, the run is as if all of its rounds had been done.
 */
#ifndef OPSPLIT_RUN_ROUNDS_H
#define OPSPLIT_RUN_ROUNDS_H

#include "run_moment.h"

#define HAC_RUN_ROUNDS_MOST 100 /* a task */

typedef struct hac_run_rounds hac_run_rounds;

/* What came of them. */
typedef struct hac_run_rounds_result {
    uint64_t first,
        each;      /* the run's number of the first one when it is through; so much more of each next */
    uint64_t done; /* rounds that are through */
    bool on;       /* the condition is true behind the last one */
    bool failed;   /* one behind them fails: to be run by itself, it says why */
    size_t n_vars; /* that the condition reads, … */
    const uint64_t *bits; /* … and their bits behind each of those rounds; as long as the rounds are there */
} hac_run_rounds_result;

/*
 * Sends at most `most` rounds (1 … HAC_RUN_ROUNDS_MOST), which take about `seconds` each, as long as the
 * step's condition is true behind each, and if it is behind all of `behind` (NULL: nothing is on its way).
 * Nothing is to be added to the graph yet. HAC_UNSUPPORTED: they cannot be one task, and nothing has changed:
 * they read a value between their tasks, change shapes, or are too large for a task. To be freed.
 */
HAC_MUST_USE hac_status hac_run_rounds_send(hac_logic_run *run, const hac_logic_step *step,
                                            const hac_run_changed *changed, uint64_t most, double seconds,
                                            const hac_run_rounds *behind, hac_run_rounds **ret,
                                            hac_error *err);
/* Waits for what was sent first. */
HAC_MUST_USE hac_status hac_run_rounds_await(hac_run_rounds *rounds, hac_run_rounds_result *ret,
                                             hac_error *err);
/* The run is as those that are through have left it; nothing is on its way. */
void hac_run_rounds_settle(hac_run_rounds *rounds);
void hac_run_rounds_free(hac_run_rounds *rounds);

#endif
