/* SPDX-License-Identifier: Apache-2.0 */
/* The location of a job's input bytes: in the job's message, or in a pool buffer. */
#ifndef CLIENT_JOB_INPUT_H
#define CLIENT_JOB_INPUT_H

#include "buffers.h"

/* Puts the bytes into the message. The caller keeps the memory, which must stay valid until the message is
 * sent. */
void hac_job_input_inline(const void *data, uint64_t bytes, Hac__Client__Input *ret);

/* Refers to bytes in a pool buffer. */
void hac_job_input_buffer(const hac_mapping *mapping, uint64_t offset, uint64_t bytes,
                          Hac__Client__Input *ret);

/* Checks that the buffer belongs to this client and contains `bytes` bytes at `offset`. `what` is a plural
 * noun for error messages. */
HAC_MUST_USE hac_status hac_job_input_check(const hac_client *client, const hac_buffer *buffer,
                                            uint64_t offset, uint64_t bytes, const char *what,
                                            hac_error *err);

#endif
