/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for a job, shows its progress on a terminal and handles Ctrl-C. */
#ifndef HACCTL_WAIT_H
#define HACCTL_WAIT_H

#include "cli/cli.h"
#include "progress.h"

typedef struct hac_wait {
    hac_cli *cli;
    hac_progress_line line;
} hac_wait;

/* Makes the job that `options` start show its progress, on a terminal only. `wait` must live as long as
 * the job. */
void hac_wait_prepare(hac_wait *wait, hac_cli *cli, hac_job_options *options);

/*
 * Waits until the job has ended. Ctrl-C cancels the job if `cancel`, and this waits for its end; else the job
 * goes on. Both return HAC_CANCELLED.
 */
HAC_MUST_USE hac_status hac_wait_for(hac_wait *wait, hac_job *job, bool cancel, hac_error *err);

#endif
