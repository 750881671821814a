/* SPDX-License-Identifier: Apache-2.0 */
/* Control flow: OPs in order, for, while, if. */
#ifndef OPSPLIT_RUN_STEPS_H
#define OPSPLIT_RUN_STEPS_H

#include "run/state/run_types.h"

/* Runs a list of steps. */
HAC_MUST_USE hac_status hac_run_steps(hac_logic_run_state *run, const hac_logic_step *steps, size_t n,
                                      hac_error *err);
/* How many sub-loops a loop of `iterations` iterations is split into; 1: it is not split. */
unsigned hac_run_sub_loops(const hac_logic_run_state *run, const hac_logic_step *step, uint64_t iterations);
/* Sets the Var of a loop's index. */
HAC_MUST_USE hac_status hac_run_set_index(hac_logic_run_state *run, int vector, int64_t value,
                                          hac_error *err);

#endif
