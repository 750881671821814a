/* SPDX-License-Identifier: Apache-2.0 */
/* Single values that the client computes. */
#ifndef OPSPLIT_RUN_SCALAR_H
#define OPSPLIT_RUN_SCALAR_H

#include "run/state/run_types.h"

/* The bits of the value of an expression over Vars, in the expression's kind. Flushes the graph if need be.
 */
HAC_MUST_USE hac_status hac_run_scalar(hac_logic_run_state *run, const hac_logic_expression *expression,
                                       uint64_t *ret, hac_error *err);
/* The value of the condition of a `while` or `if`. */
HAC_MUST_USE hac_status hac_run_look(hac_logic_run_state *run, const hac_logic_step *step, bool *ret,
                                     hac_error *err);

#endif
