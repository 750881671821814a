/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --detach for commands that read their input, or write their result, while the job runs (splice, parquet
 * convert, opsplit run). The command goes on in a new process; the process that the user started prints the
 * job's id and leaves. Errors before there is a job are reported as usual, with the usual exit code. Later
 * errors become the job's: the job ends when its output is written, and fails if the output cannot be
 * written; `hacctl wait` and `hacctl log` tell. Outputs appear when they are complete, or never.
 */
#ifndef HACCTL_DETACH_H
#define HACCTL_DETACH_H

#include "cli/cli.h"

/* Returns in the new process, or with an error. Call it before hac_cli_connect and before outputs are
 * opened. The old process ends in here: with 0 if it printed the id, else with the exit code of the new
 * process. `args` says where outputs go; with `result`, --output is one of them and not a folder. */
HAC_MUST_USE hac_status hac_detach_enter(hac_cli *cli, const hac_args *args, bool result, hac_error *err);

/* Call this when there is a job: leaves the terminal and the session. Standard input stays open, since it
 * may be the job's. Does nothing without hac_detach_enter, and when it is called again. */
void hac_detach_leave(hac_cli *cli, uint64_t job);

/* Reports how writing the output of a detached job ended, which is what `hacctl wait` tells. Does nothing
 * without a job. */
void hac_detach_end(hac_cli *cli, hac_status status, const hac_error *err);

#endif
