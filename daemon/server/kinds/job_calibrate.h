/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calibrate: a job over random keys that measures devices.
 *
 * It sorts every type at several sizes, on each device alone and on all of them together. It groups tables of
 * few to many keys by kernels on each device and by host codelets on each CPU. The models keep the results,
 * and the report (JSON) has the break-even sizes.
 */
#ifndef SERVER_JOB_CALIBRATE_H
#define SERVER_JOB_CALIBRATE_H

#include "submission.h"

/* Submits a calibration, or the search of settings that the request asks for (job_tune.h). */
HAC_MUST_USE hac_status hacd_job_calibrate_submit(hac_submission *from, hac_error *err);

/* Begins a measurement of the device that hacd makes by itself, with what tells how fast the device is at
 * most jobs. It ends after a few seconds, or when a job comes. */
HAC_MUST_USE hac_status hacd_job_calibrate_by_itself(hac_jobs *jobs, hac_user *user, uint32_t device,
                                                     hac_error *err);

#endif
