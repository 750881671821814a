/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is promised at admission: when a job would be done, by the models and the queue as it is, and when to
 * come back for one who is refused. Both are predictions. The machine is taken as one device that users
 * share by their shares and a user's own jobs by priority; jobs that were not planned yet are priced by the
 * rate of the fastest device. A machine without models predicts nothing, and then nobody is refused.
 */
#ifndef SERVER_ADMISSION_H
#define SERVER_ADMISSION_H

#include "job.h"

typedef struct hac_forecast {
    double wait;    /* seconds until its turn, and while others have theirs */
    double run;     /* seconds of its own; 0: nothing is known of jobs like this */
    unsigned ahead; /* jobs of all users that have not ended */
} hac_forecast;

hac_forecast hac_admission_forecast(const hac_job *job);

/* HAC_REFUSED for a job with a deadline that will not be met as things are, with the prediction in the
 * message; *ret_retry is in how many seconds it would be, 0: it takes too long alone. */
HAC_MUST_USE hac_status hac_admission_check(const hac_job *job, double *ret_retry, hac_error *err);

/* In how many seconds something of what the user was refused comes free: a job of theirs ends, or a result
 * expires; from 0.1 to 3600. 0: never enough of it. */
double hac_admission_retry(const struct hac_server *server, const hac_user *user);

#endif
