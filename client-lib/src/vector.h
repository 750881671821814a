/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors, as filling (vector.c) and walking (vector_iter.c) know them. */
#ifndef CLIENT_VECTOR_H
#define CLIENT_VECTOR_H

#include <stdbool.h>

#include <hac/vector.h>

#include "base/error.h"

/* An element that waits for the layout. */
typedef struct hac_vector_staged {
    uint64_t row, column;
    uint64_t number; /* how many came before it */
    uint64_t bits;   /* the value; of a text where it begins in `texts`: 8 bytes of length, then itself */
} hac_vector_staged;

struct hac_vector {
    hac_vector_shape shape;
    /* while it is filled */
    hac_vector_staged *staged;
    uint64_t n_staged, staged_room;
    uint8_t *texts;
    uint64_t texts_bytes, texts_room;
    uint64_t rows, columns; /* greatest that was emitted, and 1 */
    bool in_order;          /* of (row, column), none twice */
    /* when it is laid out */
    const uint8_t *data; /* NULL: it is not */
    hac_buffer *buffer;  /* NULL: a view */
    hac_op_operand operand;
    uint64_t rows_room, entries_room;
};

#endif
