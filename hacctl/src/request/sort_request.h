/* SPDX-License-Identifier: Apache-2.0 */
/* The options of sort on the command line → what libhac takes. */
#ifndef HACCTL_SORT_REQUEST_H
#define HACCTL_SORT_REQUEST_H

#include "base/limits.h"
#include "job_request.h"

typedef struct hac_sort_request {
    hac_sort_options options;
    hac_job_request job;
    uint32_t fold_steps[HAC_FOLD_STEPS_MAX];
} hac_sort_request;

/* Parses all options of sort. `command` is for messages. A .npy file names its type itself. */
HAC_MUST_USE hac_status hac_sort_request_parse(hac_sort_request *request, const char *command,
                                               const hac_args *args, hac_error *err);
void hac_sort_request_clear(hac_sort_request *request);

/* The input: a file, or standard input for "-". */
typedef struct hac_sort_source {
    int fd;
    const char *name;
    bool sized;      /* a regular file, so `offset` and `items` are known */
    uint64_t offset; /* where reading begins; part of standard input may have been read before */
    uint64_t items;
    bool npy; /* a .npy file, whose items begin behind its header */
} hac_sort_source;

/* HAC_FAILED says why the input cannot be read. */
HAC_MUST_USE hac_status hac_sort_source_open(const char *path, const hac_sort_options *options,
                                             hac_sort_source *ret, hac_error *err);

#endif
