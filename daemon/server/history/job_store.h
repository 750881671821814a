/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remembers ended jobs beyond hacd's end, in the state directory (job_files.h). The loop makes the records of
 * a few ended jobs at each tick; the thread pool writes them. So a record is on disk a fraction of a second
 * after its job's end, or later if many jobs end at once. What is not yet there when hacd exits is written
 * then.
 */
#ifndef SERVER_JOB_STORE_H
#define SERVER_JOB_STORE_H

#include "job_files.h"
#include "jobs/job.h"

struct hac_server;
typedef struct hac_job_store hac_job_store;

/* At the start: takes the lock, and goes on with the job numbers where the last hacd stopped. */
void hac_job_store_open(struct hac_server *server);

/* Saves what is new. Called a few times a second. */
void hac_job_store_save(struct hac_server *server);

/* Saves all that is new, once the loop has stopped, and frees the store. */
void hac_job_store_close(struct hac_server *server);

hac_job_account hac_job_store_account(const hac_user *user);

#endif
