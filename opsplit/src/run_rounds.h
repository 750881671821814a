/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rounds of a `while` as one task, op.while (base/op_while.h): one round is added as usual, its tasks become
 * the calls of a round, and what it leaves is carried on to where the next one reads it. The executor looks
 * at the condition. That is for rounds that take less time than to tell others of them.
 */
#ifndef OPSPLIT_RUN_ROUNDS_H
#define OPSPLIT_RUN_ROUNDS_H

#include "run_moment.h"

#define HAC_RUN_ROUNDS_MOST 100 /* a task: their lines fit into the job's log */

typedef struct hac_run_rounds {
    uint64_t done;  /* rounds that are through */
    bool failed;    /* the one behind them fails: to be run by itself, it says why */
    size_t n_vars;  /* that the condition reads, … */
    uint64_t *bits; /* … and their bits behind each of those rounds, owned */
} hac_run_rounds;

/*
 * At most `most` rounds (1 … HAC_RUN_ROUNDS_MOST), which take about `seconds` each, as long as the step's
 * condition is true behind each; nothing is to be added to the graph yet. HAC_UNSUPPORTED: they cannot be one
 * task, and nothing has changed: they read a value between their tasks, change shapes, or are too large for a
 * task.
 */
HAC_MUST_USE hac_status hac_run_rounds_as_one(hac_logic_run *run, const hac_logic_step *step,
                                              const hac_run_changed *changed, uint64_t most, double seconds,
                                              hac_run_rounds *ret, hac_error *err);
void hac_run_rounds_clear(hac_run_rounds *rounds);

#endif
