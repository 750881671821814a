/* SPDX-License-Identifier: Apache-2.0 */
/* The second half of validation (wire.h is the first): what the fields of a message say about each other, and
 * the number of descriptors that it calls for. HAC_PROTOCOL with "field: what is wrong". */
#ifndef HAC_VALIDATE_H
#define HAC_VALIDATE_H

#include <stddef.h>

#include "proto/messages.h"

HAC_MUST_USE hac_status hac_request_validate(const Hac__Client__Request *request, size_t n_fds,
                                             hac_error *err);
HAC_MUST_USE hac_status hac_response_validate(const Hac__Client__Response *response, size_t n_fds,
                                              hac_error *err);
HAC_MUST_USE hac_status hac_command_validate(const Hac__Executor__Command *command, size_t n_fds,
                                             hac_error *err);
HAC_MUST_USE hac_status hac_report_validate(const Hac__Executor__Report *report, size_t n_fds,
                                            hac_error *err);

/* Graphs of sub-operators (ops_messages.c). */
HAC_MUST_USE hac_status hac_submit_ops_validate(const Hac__Client__SubmitOps *ops, size_t n_fds,
                                                hac_error *err);
HAC_MUST_USE hac_status hac_append_graph_validate(const Hac__Client__AppendGraph *append, size_t n_fds,
                                                  hac_error *err);
HAC_MUST_USE hac_status hac_plan_ops_validate(const Hac__Client__PlanOps *plan, size_t n_fds, hac_error *err);

/* [offset, offset + bytes) lies within what off_t holds. */
HAC_MUST_USE hac_status hac_validate_range(uint64_t offset, uint64_t bytes, hac_error *err);

/* The same in shared memory, where offsets are multiples of 64 bytes. */
HAC_MUST_USE hac_status hac_validate_aligned_range(uint64_t offset, uint64_t bytes, hac_error *err);

/* The decoder's memory, empty again: at most HAC_DECODE_MAX bytes, then its alloc returns NULL. */
ProtobufCAllocator *hac_decoder_allocator(hac_decoder *decoder);

HAC_MUST_USE hac_status hac_validate_fd_count(size_t n_fds, size_t expected, hac_error *err);

#endif
