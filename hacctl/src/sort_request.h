/* SPDX-License-Identifier: Apache-2.0 */
/* Options on the command line → what libhac takes. */
#ifndef HACCTL_SORT_REQUEST_H
#define HACCTL_SORT_REQUEST_H

#include "cli.h"

enum { HAC_FOLD_STEPS_MAX = 64, HAC_REQUEST_DEVICES_MAX = 64 };

/* --devices, --detach, --priority, --deadline, --memory, --determinism. */
typedef struct hac_job_request {
    char *names; /* owned: what `devices` points into */
    const char *devices[HAC_REQUEST_DEVICES_MAX];
} hac_job_request;

/* Fills *options, which points into *request. HAC_INVALID: a value that makes no sense. */
HAC_MUST_USE hac_status hac_job_request_parse(hac_job_request *request, const hac_args *args,
                                              hac_job_options *options, hac_error *err);
void hac_job_request_clear(hac_job_request *request);

typedef struct hac_sort_request {
    hac_sort_options options;
    hac_job_request job;
    uint32_t fold_steps[HAC_FOLD_STEPS_MAX];
} hac_sort_request;

/* All of sort's options. `command` is named in messages. */
HAC_MUST_USE hac_status hac_sort_request_parse(hac_sort_request *request, const char *command,
                                               const hac_args *args, hac_error *err);
void hac_sort_request_clear(hac_sort_request *request);

/* A number of items: "16777216", "16M" (10^6), "16Mi" (2^20), "2^24". HAC_INVALID otherwise. */
HAC_MUST_USE hac_status hac_parse_count(const char *text, uint64_t *ret, hac_error *err);

/* The input: a file, or - for standard input. HAC_FAILED says why it cannot be read. */
typedef struct hac_input {
    int fd;
    const char *name;
    bool sized;      /* a regular file: the two below are known */
    uint64_t offset; /* where reading begins: standard input may have been read from before */
    uint64_t items;
} hac_input;

HAC_MUST_USE hac_status hac_input_open(const char *path, hac_type type, hac_input *ret, hac_error *err);

#endif
