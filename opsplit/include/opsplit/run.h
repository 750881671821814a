/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a logic file: inputs are loaded into vectors in pool memory, steps become graphs of tasks, and results
 * are written as the outputs that the file names.
 *
 * Under MPI every rank runs the same file with the daemon of its own machine. Each rank reads its part of the
 * inputs and works on its part of the rows. Before a sub-operator that needs a whole vector, the ranks
 * exchange their parts of that vector. Results do not depend on the number of ranks.
 */
#ifndef OPSPLIT_RUN_H
#define OPSPLIT_RUN_H

#include "opsplit/run_options.h"

/* HAC_INVALID: an input is missing or has other columns; the message names it. Messages about
 * sub-operators name the file and the line. */
HAC_MUST_USE hac_status hac_run_logic(hac_client *client, const hac_logic *logic,
                                      const hac_run_options *options, hac_run_report *ret, hac_error *err);

/* Finds where the sub-operators would run (opsplit/placement.h). Inputs may be missing: sub-operators that
 * need them stay open. A failure that a run would have is reported at its sub-operator. The call itself
 * fails if an input cannot be loaded, if memory is short, or if hacd does not answer. `options->output`,
 * `ranks`, `log` and `stop_fd` are not used. */
HAC_MUST_USE hac_status hac_run_placement(hac_client *client, const hac_logic *logic,
                                          const hac_run_options *options, hac_plan_reader *read_plan,
                                          hac_placement **ret, hac_error *err);

#endif
