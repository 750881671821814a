/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rounds of a `while` as one task, op.while (base/op_while.h). One round is added as usual. Its tasks become
 * the calls of a round, and what the round leaves is copied to where the next round reads it. The executor
 * evaluates the condition. This is for rounds that take less time than telling other processes about them.
 *
 * Two such tasks may be in flight. Meanwhile the run is as if all of their rounds had run.
 */
#ifndef OPSPLIT_RUN_FUSED_ROUNDS_H
#define OPSPLIT_RUN_FUSED_ROUNDS_H

#include "loop_policy.h"

/* Cannot run loops whose rounds need a value on the client, change shapes, or are too large. */
extern const hac_loop_engine hac_fused_rounds;

#endif
