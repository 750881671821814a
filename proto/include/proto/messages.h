/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decoding and encoding of the two protocols. Decoding uses bounded memory and validates every field. A
 * decoded message is in the decoder's arena, which the next message overwrites.
 */
#ifndef PROTO_MESSAGES_H
#define PROTO_MESSAGES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/limits.h"
#include "client.pb-c.h"
#include "executor.pb-c.h"

#define HAC_CLIENT_PROTOCOL_VERSION   13
#define HAC_EXECUTOR_PROTOCOL_VERSION 7

#define HAC_RUN_THEN_MAX 7             /* maximum number of codelets in Run.then */
#define HAC_RUNS_MAX     32            /* maximum number of elements of Command.runs and Report.dones */
#define HAC_DECODE_MAX   (1024 * 1024) /* maximum number of bytes that the decoder uses for one message */

/* Memory for decoding, one message at a time. */
typedef struct hac_decoder hac_decoder;

HAC_MUST_USE hac_status hac_decoder_new(hac_decoder **ret, hac_error *err);
void hac_decoder_free(hac_decoder *decoder);

/*
 * These functions decode and validate `body`. The message is valid until the decoder is used again. n_fds is
 * the number of descriptors that came with the frame; it must be the number that the message refers to.
 * HAC_PROTOCOL: the message of the error names the wrong field and the reason.
 */
HAC_MUST_USE hac_status hac_decode_request(hac_decoder *decoder, const uint8_t *body, size_t bytes,
                                           size_t n_fds, Hac__Client__Request **ret, hac_error *err);
HAC_MUST_USE hac_status hac_decode_response(hac_decoder *decoder, const uint8_t *body, size_t bytes,
                                            size_t n_fds, Hac__Client__Response **ret, hac_error *err);
HAC_MUST_USE hac_status hac_decode_command(hac_decoder *decoder, const uint8_t *body, size_t bytes,
                                           size_t n_fds, Hac__Executor__Command **ret, hac_error *err);
HAC_MUST_USE hac_status hac_decode_report(hac_decoder *decoder, const uint8_t *body, size_t bytes,
                                          size_t n_fds, Hac__Executor__Report **ret, hac_error *err);

/* Packs `message` into at most HAC_FRAME_BODY_MAX bytes at `body`. HAC_INTERNAL: the message does not fit, or
 * exceeds a limit for which the peer would close the connection; the text of the error names the field. The
 * caller must pass foreign names (files, drivers) through hac_utf8_copy_line (base/text.h) first. Messages of
 * hac_error need no conversion. */
HAC_MUST_USE hac_status hac_encode(const ProtobufCMessage *message, uint8_t *body, size_t *ret_bytes,
                                   hac_error *err);

#endif
