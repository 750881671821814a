/* SPDX-License-Identifier: Apache-2.0 */
/* Options on the command line → what libhac takes. */
#ifndef HACCTL_SORT_REQUEST_H
#define HACCTL_SORT_REQUEST_H

#include "job_request.h"

enum { HAC_FOLD_STEPS_MAX = 64 };

typedef struct hac_sort_request {
    hac_sort_options options;
    hac_job_request job;
    uint32_t fold_steps[HAC_FOLD_STEPS_MAX];
} hac_sort_request;

/* All of sort's options. `command` is named in messages. */
HAC_MUST_USE hac_status hac_sort_request_parse(hac_sort_request *request, const char *command,
                                               const hac_args *args, hac_error *err);
void hac_sort_request_clear(hac_sort_request *request);

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
