/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for a job, with progress on a terminal and Ctrl-C taken care of. */
#ifndef HACCTL_WAIT_H
#define HACCTL_WAIT_H

#include "cli.h"
#include "progress.h"

typedef struct hac_wait {
    hac_cli *cli;
    hac_progress_line line;
} hac_wait;

/* Has the progress of the job to come shown, on a terminal only. `wait` must live as long as the job. */
void hac_wait_prepare(hac_wait *wait, hac_cli *cli, hac_job_options *options);

/*
 * Waits until the job has ended. Ctrl-C: with `cancel` the job is cancelled, and this waits for its end;
 * without, the job goes on. Both HAC_CANCELLED.
 */
HAC_MUST_USE hac_status hac_wait_for(hac_wait *wait, hac_job *job, bool cancel, hac_error *err);

#endif
