/* SPDX-License-Identifier: Apache-2.0 */
/* What hacd reports about itself, its devices and jobs, as JSON. */
#ifndef SERVER_STATUS_JSON_H
#define SERVER_STATUS_JSON_H

#include "jobs/job.h"

struct hac_server;

/* Each function returns a malloc'ed text. `user` is who asks: the memory in the report is this user's. */
HAC_MUST_USE hac_status hac_status_json_status(const struct hac_server *server, const hac_user *user,
                                               char **ret, size_t *ret_bytes, hac_error *err);
/* `viewer`: running jobs are shown only if they are this user's; administrators see all. */
HAC_MUST_USE hac_status hac_status_json_devices(const struct hac_server *server, const hac_user *viewer,
                                                char **ret, size_t *ret_bytes, hac_error *err);
/* `viewer`: only this user's jobs are shown; administrators see all. */
HAC_MUST_USE hac_status hac_status_json_jobs(const struct hac_server *server, const hac_user *viewer,
                                             char **ret, size_t *ret_bytes, hac_error *err);
/* Adds a job as it stands in the list of jobs. */
void hac_status_json_add_job(hac_text *text, const hacd_job *job);
/* The same of a job that has ended, to be remembered when it holds nothing any more. */
HAC_MUST_USE hac_status hac_status_json_line(const hacd_job *job, char **ret, size_t *ret_bytes,
                                             hac_error *err);
HAC_MUST_USE hac_status hac_status_json_show(const hacd_job *job, char **ret, size_t *ret_bytes,
                                             hac_error *err);
HAC_MUST_USE hac_status hac_status_json_receipt(const hacd_job *job, char **ret, size_t *ret_bytes,
                                                hac_error *err);
HAC_MUST_USE hac_status hac_status_json_models(const struct hac_server *server, const hac_user *viewer,
                                               char **ret, size_t *ret_bytes, hac_error *err);
/* Settings of the devices, and where each comes from: {"devices": [...]}. */
HAC_MUST_USE hac_status hac_status_json_tuning(const struct hac_server *server, char **ret, size_t *ret_bytes,
                                               hac_error *err);
HAC_MUST_USE hac_status hac_status_json_problems(const struct hac_server *server, const hac_user *viewer,
                                                 char **ret, size_t *ret_bytes, hac_error *err);

#endif
