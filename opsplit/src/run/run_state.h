/* SPDX-License-Identifier: Apache-2.0 */
/* The begin and the end of a run, or of a dry run. */
#ifndef OPSPLIT_RUN_STATE_H
#define OPSPLIT_RUN_STATE_H

#include "run/state/run_types.h"

/* Fails if inputs are given that the file does not have. */
HAC_MUST_USE hac_status hac_run_check_names(const hac_logic *logic, const hac_run_options *options,
                                            hac_error *err);
/* Allocates what depends on the size of the file. hac_run_clear has to be called even if it fails. */
HAC_MUST_USE hac_status hac_run_open(hac_logic_run_state *run, hac_error *err);
void hac_run_clear(hac_logic_run_state *run);

#endif
