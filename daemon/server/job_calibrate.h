/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calibrate and tune: jobs over random keys, to learn what devices can do.
 *
 * calibrate sorts every type at several sizes on each device alone and on all of them together, and groups
 * tables of few to many keys by flow C's kernels on each device and by host codelets on each CPU; the models
 * keep what was measured, and the report (JSON) tells the break-even sizes. tune tries settings of a device
 * one after another (threads, placement, vector width, block size), keeps the fastest and remembers it.
 */
#ifndef SERVER_JOB_CALIBRATE_H
#define SERVER_JOB_CALIBRATE_H

#include "session.h"

HAC_MUST_USE hac_status hac_job_calibrate_submit(hac_session *session, uint64_t serial,
                                                 const Hac__Client__SubmitCalibrate *request, hac_error *err);

#endif
