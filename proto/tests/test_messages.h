/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of messages share. */
#ifndef HAC_TEST_MESSAGES_H
#define HAC_TEST_MESSAGES_H

#include <string.h>

#include "base/test_support.h"
#include "samples.h"

/* Decodes as `kind`; *ret points at the message. */
static inline hac_status decode_kind(hac_sample_kind kind, hac_decoder *decoder, const uint8_t *body,
                                     size_t bytes, size_t n_fds, const ProtobufCMessage **ret, hac_error *err)
{
    Hac__Client__Request *request = NULL;
    Hac__Client__Response *response = NULL;
    Hac__Executor__Command *command = NULL;
    Hac__Executor__Report *report = NULL;
    hac_status status = HAC_INTERNAL;
    switch (kind) {
    case HAC_SAMPLE_REQUEST:
        status = hac_decode_request(decoder, body, bytes, n_fds, &request, err);
        *ret = request != NULL ? &request->base : NULL;
        break;
    case HAC_SAMPLE_RESPONSE:
        status = hac_decode_response(decoder, body, bytes, n_fds, &response, err);
        *ret = response != NULL ? &response->base : NULL;
        break;
    case HAC_SAMPLE_COMMAND:
        status = hac_decode_command(decoder, body, bytes, n_fds, &command, err);
        *ret = command != NULL ? &command->base : NULL;
        break;
    default:
        status = hac_decode_report(decoder, body, bytes, n_fds, &report, err);
        *ret = report != NULL ? &report->base : NULL;
        break;
    }
    return status;
}

/* The body is refused, with `wanted` somewhere in the message. */
static inline void refuse_body(hac_decoder *decoder, hac_sample_kind kind, const uint8_t *body, size_t bytes,
                               size_t n_fds, const char *wanted)
{
    const ProtobufCMessage *message = NULL;
    hac_error err = HAC_ERROR_NONE;
    hac_status status = decode_kind(kind, decoder, body, bytes, n_fds, &message, &err);
    if (status != HAC_PROTOCOL || err.code != status || message != NULL ||
        strstr(err.message, wanted) == NULL)
        fail_msg("wanted \"%s\", got %s: \"%s\"", wanted, hac_status_name(status), err.message);
    assert_int_equal(decode_kind(kind, decoder, body, bytes, n_fds, &message, NULL), HAC_PROTOCOL);
}

/* The same, of a message that is packed here without hac_encode's checks. */
static inline void refuse(hac_decoder *decoder, hac_sample_kind kind, const ProtobufCMessage *message,
                          size_t n_fds, const char *wanted)
{
    static uint8_t body[4 * HAC_FRAME_MAX];
    size_t bytes = protobuf_c_message_get_packed_size(message);
    assert_true(bytes <= sizeof body);
    protobuf_c_message_pack(message, body);
    refuse_body(decoder, kind, body, bytes, n_fds, wanted);
}

/* The message is taken, and comes back as it was: packed again it has the same bytes. */
static inline void accept(hac_decoder *decoder, hac_sample_kind kind, const ProtobufCMessage *message,
                          size_t n_fds)
{
    static uint8_t body[HAC_FRAME_BODY_MAX], again[HAC_FRAME_BODY_MAX];
    size_t bytes = 0;
    hac_error err = HAC_ERROR_NONE;
    const ProtobufCMessage *back = NULL;
    if (hac_encode(message, body, &bytes, &err) != HAC_OK ||
        decode_kind(kind, decoder, body, bytes, n_fds, &back, &err) != HAC_OK)
        fail_msg("%s", err.message);
    assert_int_equal(back->n_unknown_fields, 0);
    assert_int_equal(protobuf_c_message_get_packed_size(back), bytes);
    protobuf_c_message_pack(back, again);
    assert_memory_equal(body, again, bytes);
}

#endif
