/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rounds of a `while` as graphs. Rounds that follow are added to the same graph, as if the condition stayed
 * true. When the graph has run, the client evaluates the condition as each round has left it, and drops the
 * rounds after the first one that ends the loop. Nothing has seen them, because vectors are values. The tasks
 * of such rounds may fail (hac_ops.n_tentative): if such a round counts after all, it is run again.
 *
 * Two graphs are in flight: while one runs, the next one is made and sent, as if all rounds of the first
 * counted.
 */
#ifndef OPSPLIT_RUN_ROUNDS_AHEAD_H
#define OPSPLIT_RUN_ROUNDS_AHEAD_H

#include "loop_policy.h"

/* Can run any loop: a graph may have one round. */
extern const hac_loop_engine hac_rounds_ahead;

#endif
