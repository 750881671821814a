/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the four message targets share. Input: one byte, the number of descriptors, then the body. Oracle
 * besides the sanitizers: a message that is taken packs to bytes that are taken, and those pack to
 * themselves; the number of descriptors is the only one it is taken with.
 */
#ifndef HAC_FUZZ_MESSAGE_H
#define HAC_FUZZ_MESSAGE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/frame.h"
#include "proto/messages.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HAC_FUZZ_MESSAGE(type, decode)                                                                       \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)                                             \
    {                                                                                                        \
        static hac_decoder *decoder;                                                                         \
        static uint8_t first[HAC_FRAME_BODY_MAX], second[HAC_FRAME_BODY_MAX];                                \
        size_t first_bytes, second_bytes;                                                                    \
        type *message = NULL;                                                                                \
        hac_error err = HAC_ERROR_NONE;                                                                      \
        if (decoder == NULL && hac_decoder_new(&decoder, NULL) != HAC_OK)                                    \
            abort();                                                                                         \
        if (size == 0)                                                                                       \
            return 0;                                                                                        \
        size_t n_fds = data[0];                                                                              \
        if (decode(decoder, data + 1, size - 1, n_fds, &message, &err) != HAC_OK) {                          \
            if (message != NULL || err.code != HAC_PROTOCOL || err.message[0] == '\0')                       \
                abort();                                                                                     \
            return 0;                                                                                        \
        }                                                                                                    \
        if (hac_encode(&message->base, first, &first_bytes, NULL) != HAC_OK ||                               \
            decode(decoder, first, first_bytes, n_fds, &message, NULL) != HAC_OK ||                          \
            hac_encode(&message->base, second, &second_bytes, NULL) != HAC_OK ||                             \
            first_bytes != second_bytes || memcmp(first, second, first_bytes) != 0 ||                        \
            decode(decoder, first, first_bytes, n_fds + 1, &message, NULL) == HAC_OK)                        \
            abort();                                                                                         \
        return 0;                                                                                            \
    }

#endif
