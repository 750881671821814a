/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine that runs many rounds of a `while` loop as one task of the codelet op.while (base/op_while.h).
 * It adds the steps of one round to the graph as usual, and turns the tasks of that round into the calls of
 * op.while. After each round the executor copies the loop's variables to where the next round reads them, and
 * evaluates the condition. This pays when a round takes less time than the messages that would start it.
 *
 * Up to two such tasks are in flight. Meanwhile the state of the run is that after all of their rounds.
 */
#ifndef OPSPLIT_RUN_FUSED_ROUNDS_H
#define OPSPLIT_RUN_FUSED_ROUNDS_H

#include "loop_policy.h"

/* Cannot run loops whose rounds need a value in the client, change the shape of a vector, or are too
 * large. */
extern const hac_loop_engine hac_fused_rounds;

#endif
