/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of the codelets io.read and data.random. */
#ifndef BASE_IO_LAYOUT_H
#define BASE_IO_LAYOUT_H

#include <stdint.h>

typedef struct hac_io_read_params {
    uint64_t offset; /* byte of the descriptor that goes to byte 0 of the span; 0 for a pipe */
    uint64_t end;    /* byte where the whole input ends: for messages */
} hac_io_read_params;

typedef struct hac_data_random_params {
    uint64_t seed;
    uint64_t mask; /* bits of each item that may be set */
} hac_data_random_params;

#endif
