/* SPDX-License-Identifier: Apache-2.0 */
/* What sort's front ends (memory, buffers, files, Arrow) and plans have in common. */
#ifndef CLIENT_SORT_H
#define CLIENT_SORT_H

#include "jobs.h"

#define HAC_PAYLOAD_MAX 256 /* bytes of an item */

/* The caller's options, whatever the version of its header; NULL: none. */
HAC_MUST_USE hac_status hac_sort_options_read(const hac_sort_options *options, hac_sort_options *ret,
                                              hac_error *err);

/* The wire form of what to sort, checked; borrows from `options`. */
HAC_MUST_USE hac_status hac_sort_spec_encode(const hac_sort_options *options, uint32_t payload_bytes,
                                             Hac__Client__SortSpec *ret, hac_error *err);

/* A sort that is about to be submitted. */
typedef struct hac_sort_call {
    const hac_sort_options *options; /* read by hac_sort_options_read */
    uint64_t items;
    Hac__Client__Input keys;
    Hac__Client__Input payload; /* used if payload_bytes > 0 */
    uint32_t payload_bytes;
    const char *payload_format; /* Arrow's, or NULL */
    int fd;                     /* of keys, if they lie in a descriptor; else -1 */
    bool acknowledge;           /* a refusal is told by the submission also where the keys are inline */
    hac_mapping *owned;         /* memory to give back when the job has ended; given back on failure, too */
} hac_sort_call;

HAC_MUST_USE hac_status hac_sort_submit(hac_client *client, const hac_sort_call *call, hac_job **ret_job,
                                        hac_error *err);

/* Bytes of `items` keys of the options' type; HAC_INVALID when there is no type, or more than 2^63 bytes. */
HAC_MUST_USE hac_status hac_sort_key_bytes(const hac_sort_options *options, uint64_t items, uint64_t *ret,
                                           hac_error *err);

/* Whether a file's keys are sent in the message: there are few, and nobody asks for a way to sort them. */
bool hac_sort_file_inline(const hac_sort_options *options, uint64_t bytes);

/* Keys of foreign memory: inline, or in pool memory that the call owns. Fills keys, owned. */
HAC_MUST_USE hac_status hac_sort_copy_in(hac_client *client, const void *data, uint64_t bytes,
                                         hac_sort_call *call, hac_error *err);

/* Keys in the message; the memory is borrowed until it is sent. */
void hac_sort_input_inline(const void *data, uint64_t bytes, Hac__Client__Input *ret);

/* That `bytes` from `offset` on lie in a buffer of this client; `what` is a plural, for messages. */
HAC_MUST_USE hac_status hac_sort_check_buffer(const hac_client *client, const hac_buffer *buffer,
                                              uint64_t offset, uint64_t bytes, const char *what,
                                              hac_error *err);

/* Keys in a pool buffer. */
void hac_sort_input_buffer(const hac_mapping *mapping, uint64_t offset, uint64_t bytes,
                           Hac__Client__Input *ret);

#endif
