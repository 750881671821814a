/* SPDX-License-Identifier: Apache-2.0 */
/* What hacd says of itself, its devices and jobs: JSON and text, built in memory. */
#ifndef SERVER_ANSWERS_H
#define SERVER_ANSWERS_H

#include "job.h"

struct hac_server;

/* Keys a second of whole sorts that the models (or the profile) promise for 2^22 of them; 0: nothing is
 * known. */
double hac_answer_sort_rate(const struct hac_server *server, const hac_server_device *device, hac_type type);
/* Likewise bytes of a table of 16 MiB a second. */
double hac_answer_table_rate(const struct hac_server *server, const hac_server_device *device,
                             const char *codelet);

/* Each hands over a malloc'ed text. `user` is who asks: it is this user's memory that is told. */
HAC_MUST_USE hac_status hac_answer_status(const struct hac_server *server, const hac_user *user, char **ret,
                                          size_t *ret_bytes, hac_error *err);
/* `uid`: what runs on them is told of this user's jobs; root sees all. */
HAC_MUST_USE hac_status hac_answer_devices(const struct hac_server *server, uid_t uid, char **ret,
                                           size_t *ret_bytes, hac_error *err);
/* `uid`: only this user's jobs; root sees all. */
HAC_MUST_USE hac_status hac_answer_jobs(const struct hac_server *server, uid_t uid, char **ret,
                                        size_t *ret_bytes, hac_error *err);
HAC_MUST_USE hac_status hac_answer_show(const hac_job *job, char **ret, size_t *ret_bytes, hac_error *err);
HAC_MUST_USE hac_status hac_answer_why(const hac_job *job, char **ret, size_t *ret_bytes, hac_error *err);
HAC_MUST_USE hac_status hac_answer_receipt(const hac_job *job, char **ret, size_t *ret_bytes, hac_error *err);
HAC_MUST_USE hac_status hac_answer_models(const struct hac_server *server, char **ret, size_t *ret_bytes,
                                          hac_error *err);
HAC_MUST_USE hac_status hac_answer_problems(const struct hac_server *server, char **ret, size_t *ret_bytes,
                                            hac_error *err);

#endif
