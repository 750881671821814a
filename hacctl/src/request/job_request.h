/* SPDX-License-Identifier: Apache-2.0 */
/* The options of every job on the command line, and parsers of values that several jobs share. */
#ifndef HACCTL_JOB_REQUEST_H
#define HACCTL_JOB_REQUEST_H

#include "cli/cli.h"

enum { HAC_REQUEST_DEVICES_MAX = 64 };

/* --devices, --detach, --priority, --deadline, --memory, --determinism. */
typedef struct hac_job_request {
    char *names; /* owned; `devices` points into it */
    const char *devices[HAC_REQUEST_DEVICES_MAX];
} hac_job_request;

/* Fills *options, which points into *request. HAC_INVALID: a value that makes no sense. */
HAC_MUST_USE hac_status hac_job_request_parse(hac_job_request *request, const hac_args *args,
                                              hac_job_options *options, hac_error *err);
void hac_job_request_clear(hac_job_request *request);

/* HAC_INVALID if a device is named twice, which is probably a typing error for another device. */
HAC_MUST_USE hac_status hac_check_devices(const char *const *names, size_t n, hac_error *err);

/* Parses a number of items: "16777216", "16M" (10^6), "16Mi" (2^20), "2^24". HAC_INVALID otherwise. */
HAC_MUST_USE hac_status hac_parse_count(const char *text, uint64_t *ret, hac_error *err);

/* Parses the option's size in bytes: "1048576", "128MiB", "4GB". *ret stays unchanged if the option was
 * not given. HAC_INVALID if the value is 0 or not a size. */
HAC_MUST_USE hac_status hac_parse_bytes(const hac_args *args, hac_option_id id, uint64_t *ret,
                                        hac_error *err);

#endif
