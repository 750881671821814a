/* SPDX-License-Identifier: Apache-2.0 */
/* Counts jobs that have ended (resources/metrics.h). */
#ifndef SERVER_JOB_METRICS_H
#define SERVER_JOB_METRICS_H

#include "job.h"

/* A job has ended; its plan, records and result are still there. */
void hacd_job_metrics_ended(const hacd_job *job);
/* The job has ended for everybody: its output is written, too. Counts the state that it ended with. */
void hacd_job_metrics_ended_for_all(const hacd_job *job);

#endif
