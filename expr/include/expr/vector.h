/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vectors: one column of a batch of at most HAC_BATCH_ROWS rows, as the column machine and all that feeds it
 * or takes from it see it. Values are widened: a machine knows seven representations, not sixteen types.
 *
 * Every row has a state. An operation that cannot give a value (an overflow, a cast that does not fit) marks
 * the row instead of failing: `if(b != 0, a / b, 0)` must not fail for rows that take the other branch. A
 * strict operation gives the highest of its operands' states. Only a state that reaches a result of a row
 * that counts fails the job.
 */
#ifndef EXPR_VECTOR_H
#define EXPR_VECTOR_H

#include "base/value.h"

#define HAC_BATCH_ROWS 1024

typedef enum hac_repr {
    HAC_REPR_NONE = 0,
    HAC_REPR_BOOL, /* uint8_t, 0 or 1 */
    HAC_REPR_I64,  /* i8 … i64, date, timestamp, decimal up to 18 digits */
    HAC_REPR_U64,  /* u8 … u64 */
    HAC_REPR_F32,
    HAC_REPR_F64,
    HAC_REPR_I128,   /* decimal of more digits */
    HAC_REPR_STRING, /* hac_string_ref into the vector's `bytes` */
    HAC_REPR_END
} hac_repr;

typedef enum hac_row_state {
    HAC_ROW_OK = 0,
    HAC_ROW_NULL = 1,
    /* from here on: errors, the job's when they reach a result */
    HAC_ROW_OVERFLOW = 2, /* arithmetic */
    HAC_ROW_RANGE = 3,    /* a cast whose value the type does not have */
    HAC_ROW_MALFORMED = 4 /* a cast from text that is no such value */
} hac_row_state;

/* What to say of a row in that state: "the result overflows", "the value does not fit the type" … */
const char *hac_row_state_text(unsigned state);

typedef struct hac_string_ref {
    uint32_t offset, length;
} hac_string_ref;

typedef struct hac_vector {
    hac_value_type type;
    void *values;    /* HAC_BATCH_ROWS of the representation, 64-byte aligned; what lies behind `rows` and at
                      * rows that are not HAC_ROW_OK is undefined but readable (string refs: length 0) */
    uint8_t *states; /* a hac_row_state a row; NULL: all HAC_ROW_OK */
    const uint8_t *bytes; /* HAC_REPR_STRING: what the refs point into */
} hac_vector;

typedef struct hac_batch {
    size_t rows; /* ≤ HAC_BATCH_ROWS */
    size_t n_columns;
    hac_vector *columns;
} hac_batch;

/* The representation of a type; HAC_REPR_NONE for none. */
hac_repr hac_repr_of(hac_value_type type);
/* Bytes of one value of it: 1, 8, 8, 4, 8, 16, 8. */
size_t hac_repr_size(hac_repr repr);
/* Bytes of the strings in the first `rows` that are HAC_ROW_OK. */
uint64_t hac_vector_string_bytes(const hac_vector *v, size_t rows);

#endif
