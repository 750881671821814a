/* SPDX-License-Identifier: Apache-2.0 */
/* The private definition of vectors. vector.c fills vectors, and vector_iter.c walks vectors. */
#ifndef CLIENT_VECTOR_H
#define CLIENT_VECTOR_H

#include <stdbool.h>

#include <hac/vector.h>

#include "base/error.h"

/* An element that is emitted, but not laid out yet. */
typedef struct hac_vector_staged {
    uint64_t row, column;
    uint64_t number; /* number of elements emitted before this element */
    /* The value. For a string, the offset in `texts` of the string's length (8 bytes), which its bytes
     * follow. */
    uint64_t bits;
} hac_vector_staged;

struct hac_vector {
    hac_vector_shape shape;
    /* while the vector is filled */
    hac_vector_staged *staged;
    uint64_t n_staged, staged_capacity;
    uint8_t *texts;
    uint64_t texts_bytes, texts_capacity;
    uint64_t rows, columns; /* highest emitted row and column, plus 1 */
    bool in_order;          /* the keys came in ascending order of (row, column), without duplicates */
    /* after the layout */
    const uint8_t *data; /* NULL: the vector is not laid out */
    hac_buffer *buffer;  /* NULL: the vector is a view */
    hac_op_operand operand;
    uint64_t rows_capacity, entries_capacity;
};

#endif
