/* SPDX-License-Identifier: Apache-2.0 */
/* Common code of the front ends of sort (memory, buffers, files, Arrow) and of sort plans. */
#ifndef CLIENT_SORT_H
#define CLIENT_SORT_H

#include "base/limits.h"
#include "jobs/jobs.h"

/* Reads the caller's options, whatever the version of the caller's header. `options` may be NULL. */
HAC_MUST_USE hac_status hac_sort_options_read(const hac_sort_options *options, hac_sort_options *ret,
                                              hac_error *err);

/* Checks the options and fills in the wire form of a sort. `ret` points into `options`. */
HAC_MUST_USE hac_status hac_sort_spec_encode(const hac_sort_options *options, uint32_t payload_bytes,
                                             Hac__Client__SortSpec *ret, hac_error *err);

/* A sort that is about to be submitted. */
typedef struct hac_sort_call {
    const hac_sort_options *options; /* read by hac_sort_options_read */
    uint64_t items;
    Hac__Client__Input keys;
    Hac__Client__Input payload; /* used if payload_bytes > 0 */
    uint32_t payload_bytes;
    const char *payload_format; /* Arrow format of the payload, or NULL */
    int fd;                     /* descriptor of the file with the keys, or -1 */
    bool acknowledge;           /* the submission reports a refusal, even if the keys are inline */
    hac_mapping *owned;         /* memory to give back at the end of the job, or on failure */
} hac_sort_call;

HAC_MUST_USE hac_status hac_sort_submit(hac_client *client, const hac_sort_call *call, hac_job **ret_job,
                                        hac_error *err);

/* Computes the size of `items` keys of the options' type. HAC_INVALID: the type is not set, or the size
 * exceeds 2^63 bytes. */
HAC_MUST_USE hac_status hac_sort_key_bytes(const hac_sort_options *options, uint64_t items, uint64_t *ret,
                                           hac_error *err);

/* True if a file's keys are sent in the message: there are few keys, and the options do not choose a method.
 * */
bool hac_sort_file_inline(const hac_sort_options *options, uint64_t bytes);

/* Copies keys from the caller's memory into the message, or into pool memory that the call owns. Sets
 * call->keys and call->owned. */
HAC_MUST_USE hac_status hac_sort_copy_in(hac_client *client, const void *data, uint64_t bytes,
                                         hac_sort_call *call, hac_error *err);

#endif
