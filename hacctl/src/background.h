/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --detach of commands that read their input, or write their result, while the job runs (splice, parquet
 * convert, opsplit run): the command goes on in a process of its own, and the one that was called prints the
 * job's id and leaves. What goes wrong before there is a job is said as ever, with its exit code; later it is
 * the job's, which has ended when its output is written, or as failed when it cannot be: `hacctl wait` and
 * `hacctl log` tell. Outputs appear when they are whole, or never.
 */
#ifndef HACCTL_BACKGROUND_H
#define HACCTL_BACKGROUND_H

#include "cli.h"

/* Returns in the new process only, or with an error; to be called before hac_cli_connect and before outputs
 * are opened. The old one ends in here: with 0 when the id is printed, else with the exit code of the new
 * one. `args` says where outputs go; `result`: --output is one of them, and no folder. */
HAC_MUST_USE hac_status hac_background_enter(hac_cli *cli, const hac_args *args, bool result, hac_error *err);

/* There is a job: leaves the terminal and the session. The standard input stays, it may be the job's. Nothing
 * happens without hac_background_enter before, and after the first time. */
void hac_background_leave(hac_cli *cli, uint64_t job);

/* What became of the output of such a job: it is what `hacctl wait` tells. Nothing happens without a job. */
void hac_background_end(hac_cli *cli, hac_status status, const hac_error *err);

#endif
