/* SPDX-License-Identifier: Apache-2.0 */
/* Predictions at admission: when a job would be done, and when a refused user should come back. They follow
 * from the models and the present queue. The machine counts as one device that users share by their shares,
 * and a user's jobs by priority. Jobs without a plan are priced by the rate of the fastest device. A machine
 * without models predicts nothing and refuses nobody. */
#ifndef SERVER_ADMISSION_H
#define SERVER_ADMISSION_H

#include "jobs/job.h"

typedef struct hac_forecast {
    double wait;    /* seconds until its turn, and while others have theirs */
    double run;     /* seconds of its own; 0: nothing is known about such jobs */
    unsigned ahead; /* jobs of all users that have not ended */
} hac_forecast;

hac_forecast hac_admission_forecast(const hacd_job *job);

/* HAC_REFUSED: the job's deadline cannot be met as things are; the message has the prediction. *ret_retry: in
 * how many seconds it could be met; 0: the job takes too long even alone. */
HAC_MUST_USE hac_status hac_admission_check(const hacd_job *job, double *ret_retry, hac_error *err);

/* In how many seconds something of what the user was refused is freed, because one of their jobs ends or a
 * result expires: 0.1 to 3600. 0: there will never be enough. */
double hac_admission_retry(const hac_jobs *jobs, const hac_user *user);

#endif
