/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tune: a job that searches for better settings of devices.
 *
 * It goes through the devices, and for each through the subjects (tune_settings.h): threads and placement,
 * kernel style, block or work-group size. For each subject it holds a contest (tune_contest.h) between the
 * present settings and those that differ in that subject, over several workloads: sorts of several types and
 * sizes with both algorithms, and queries with kernels and with host codelets. The winner is what the next
 * subject starts from. A visit to a candidate restarts the executor once, if the settings differ from those
 * of the visit before, then runs each workload a few times without looking at the clock, and then a few times
 * with it; the fastest of these counts.
 *
 * A device's new settings are stored when its last contest is over (device_tuning.h). A job that ends before
 * that restores the settings of the device that it works on.
 */
#ifndef SERVER_JOB_TUNE_H
#define SERVER_JOB_TUNE_H

#include "submission.h"

/* HAC_REFUSED: a search has not ended yet. There is at most one, as each changes the settings of devices. */
HAC_MUST_USE hac_status hacd_job_tune_check_none(const hac_jobs *jobs, hac_error *err);

HAC_MUST_USE hac_status hacd_job_tune_submit(hac_submission *from, hac_error *err);

#endif
