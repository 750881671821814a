/* SPDX-License-Identifier: Apache-2.0 */
/* The states of a job. Their numbers are part of the protocol and of libhac's ABI: values are only ever
 * added.
 */
#ifndef HAC_JOB_H
#define HAC_JOB_H

#ifdef __cplusplus
extern "C" {
#endif

/* What has become of a job. */
typedef enum hac_job_state {
    HAC_JOB_QUEUED = 0,
    HAC_JOB_PLANNED = 1,
    HAC_JOB_RUNNING = 2,
    HAC_JOB_DONE = 3,
    HAC_JOB_FAILED = 4,
    HAC_JOB_CANCELLED = 5
} hac_job_state;

#ifdef __cplusplus
}
#endif
#endif
