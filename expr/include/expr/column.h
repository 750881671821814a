/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The columns of a batch of at most HAC_BATCH_ROWS rows. The column machine, its sources and its
 * users share this form. Values are widened: a machine knows seven representations, not sixteen types.
 *
 * Every row has a state. An operation that cannot give a value (an overflow, a cast that does not fit) marks
 * the row and does not fail: `if(b != 0, a / b, 0)` must not fail for rows that take the other branch. A
 * strict operation gives the highest of its operands' states. An error fails the job only when it reaches a
 * result of a row that the filter keeps.
 */
#ifndef EXPR_COLUMN_H
#define EXPR_COLUMN_H

#include "base/value.h"

#define HAC_BATCH_ROWS 1024

typedef enum hac_repr {
    HAC_REPR_NONE = 0,
    HAC_REPR_BOOL, /* uint8_t, 0 or 1 */
    HAC_REPR_I64,  /* i8 … i64, date, timestamp, decimal up to 18 digits */
    HAC_REPR_U64,  /* u8 … u64 */
    HAC_REPR_F32,
    HAC_REPR_F64,
    HAC_REPR_I128,   /* decimal of more than 18 digits */
    HAC_REPR_STRING, /* hac_string_ref into the column's `bytes` */
    HAC_REPR_END
} hac_repr;

typedef enum hac_row_state {
    HAC_ROW_OK = 0,
    HAC_ROW_NULL = 1,
    /* the rest are errors */
    HAC_ROW_OVERFLOW = 2,  /* arithmetic */
    HAC_ROW_RANGE = 3,     /* a cast of a value that is out of the type's range */
    HAC_ROW_MALFORMED = 4, /* a cast of text that is not a value of the type */
    HAC_ROW_PRECISION = 5, /* a stored time that is no whole number of microseconds */
    HAC_ROW_FORMAT = 6,    /* strptime of text that is not of the format */
    HAC_ROW_JSON = 7       /* text that is not JSON */
} hac_row_state;

/* For messages: "the result overflows", "the value does not fit the type" … */
const char *hac_row_state_text(unsigned state);

typedef struct hac_string_ref {
    uint32_t offset, length;
} hac_string_ref;

typedef struct hac_column {
    hac_value_type type;
    /* HAC_BATCH_ROWS values of the representation, 64-byte aligned. Values behind the batch's rows, and of
     * rows that are not HAC_ROW_OK, are undefined but readable (string refs have length 0). */
    void *values;
    uint8_t *states;      /* a hac_row_state for each row; NULL: all are HAC_ROW_OK */
    const uint8_t *bytes; /* HAC_REPR_STRING: the refs are offsets into these bytes */
    /* HAC_REPR_STRING: the strings are entries of a dictionary. In all batches of the column that have this
     * number, rows with the same offset have the same string. 0: nothing is known. */
    uint64_t dictionary;
    /* The rows' values are entries of a dictionary: row i has entry codes[i], which is below `entries`, also
     * in rows without a value. In all batches of the column that have the same `dictionary`, which is not 0,
     * rows with the same code have the same value. NULL: nothing is known. Filters change the array. */
    uint32_t *codes;
    uint32_t entries;
} hac_column;

typedef struct hac_batch {
    size_t rows; /* ≤ HAC_BATCH_ROWS */
    size_t n_columns;
    hac_column *columns;
} hac_batch;

/* The representation of a type; HAC_REPR_NONE for HAC_KIND_NONE. */
hac_repr hac_repr_of(hac_value_type type);
/* Bytes of one value of a representation. */
size_t hac_repr_size(hac_repr repr);
/* Bytes of all strings in the first `rows` rows that are HAC_ROW_OK. */
uint64_t hac_column_string_bytes(const hac_column *v, size_t rows);

#endif
