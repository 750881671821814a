/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decoding and encoding of the two protocols: capped memory, and validation of every field before anybody
 * sees it. A decoded message lives in an arena that is reset before the next one is decoded.
 */
#ifndef PROTO_MESSAGES_H
#define PROTO_MESSAGES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "client.pb-c.h"
#include "executor.pb-c.h"

#define HAC_CLIENT_PROTOCOL_VERSION   10
#define HAC_EXECUTOR_PROTOCOL_VERSION 5

#define HAC_INLINE_MAX     32768         /* bytes of input, result or text inside a message */
#define HAC_QUERY_DATA_MAX 16384         /* bytes of a query's input inside a message */
#define HAC_RUN_THEN_MAX   7             /* codelets that Run.then names */
#define HAC_RUNS_MAX       32            /* Command.runs, Report.dones */
#define HAC_DECODE_MAX     (1024 * 1024) /* heap that one message may make the decoder use */

/* Memory for decoding, one message at a time. */
typedef struct hac_decoder hac_decoder;

HAC_MUST_USE hac_status hac_decoder_new(hac_decoder **ret, hac_error *err);
void hac_decoder_free(hac_decoder *decoder);

/*
 * Each decodes and validates `body`; the message is valid until the decoder is used again. n_fds is the
 * number of descriptors that came with the frame: it must be what the message calls for. HAC_PROTOCOL says
 * which field is wrong and why.
 */
HAC_MUST_USE hac_status hac_decode_request(hac_decoder *decoder, const uint8_t *body, size_t bytes,
                                           size_t n_fds, Hac__Client__Request **ret, hac_error *err);
HAC_MUST_USE hac_status hac_decode_response(hac_decoder *decoder, const uint8_t *body, size_t bytes,
                                            size_t n_fds, Hac__Client__Response **ret, hac_error *err);
HAC_MUST_USE hac_status hac_decode_command(hac_decoder *decoder, const uint8_t *body, size_t bytes,
                                           size_t n_fds, Hac__Executor__Command **ret, hac_error *err);
HAC_MUST_USE hac_status hac_decode_report(hac_decoder *decoder, const uint8_t *body, size_t bytes,
                                          size_t n_fds, Hac__Executor__Report **ret, hac_error *err);

/* Packs `message` into at most HAC_FRAME_BODY_MAX bytes at `body`. HAC_INTERNAL if it does not fit, or breaks
 * a limit that the peer would cut the connection for; the message names the field. Foreign names (files,
 * drivers) go through hac_utf8_copy_line (base/text.h) first; hac_error's messages are fit to travel as they
 * are. */
HAC_MUST_USE hac_status hac_encode(const ProtobufCMessage *message, uint8_t *body, size_t *ret_bytes,
                                   hac_error *err);

#endif
