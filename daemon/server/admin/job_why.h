/* SPDX-License-Identifier: Apache-2.0 */
/* What `hacctl why` prints: the state of a job, why it waits, what ran where, and what was considered. */
#ifndef SERVER_JOB_WHY_H
#define SERVER_JOB_WHY_H

#include "jobs/job.h"

struct hac_server;

/* *ret is a malloc'ed text for people. */
HAC_MUST_USE hac_status hac_job_why(const struct hac_server *server, const hacd_job *job, char **ret,
                                    size_t *ret_bytes, hac_error *err);

#endif
