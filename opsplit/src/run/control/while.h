/* SPDX-License-Identifier: Apache-2.0 */
/* `while` loops. */
#ifndef OPSPLIT_RUN_WHILE_H
#define OPSPLIT_RUN_WHILE_H

#include "loop_policy.h"

HAC_MUST_USE hac_status hac_run_while(hac_logic_run_state *run, const hac_logic_step *step,
                                      hac_run_body *run_body, hac_error *err);

#endif
