/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A column of a record batch that somebody else has made: checked, measured, and copied into a table
 * (base/table.h). The interface does not say how long buffers are: what a column's own members say about them
 * is believed, and everything that can be compared with that is checked.
 */
#ifndef CLIENT_ARROW_COLUMN_H
#define CLIENT_ARROW_COLUMN_H

#include "arrow_type.h"

/* Rows of an array: of a column, or the values of its dictionary. */
typedef struct hac_arrow_rows {
    const struct ArrowArray *array;
    uint64_t first, n; /* row 0 is row `first` of the array's buffers */
    uint8_t layout;    /* of the array's own values */
    uint32_t width;
    bool nulls; /* the array has a validity bitmap, and may have nulls */
} hac_arrow_rows;

typedef struct hac_arrow_column {
    const char *name; /* borrowed */
    hac_arrow_type type;
    hac_arrow_rows rows;
    hac_arrow_rows dictionary; /* type.index_width > 0: rows are indices into these values */
    uint64_t row;              /* number of the rows in batches before this one */
    bool nulls;                /* a row may be null */
    uint64_t n_bytes;          /* text: size of the characters */
} hac_arrow_column;

/* Where a column goes: parts of a table's memory. The bits of `validity` and of bool values are 0 before. */
typedef struct hac_arrow_target {
    uint8_t *validity; /* NULL: no column of the table has nulls */
    uint8_t *values;
    uint8_t *bytes;
    bool large;    /* text: offsets of 64 bits */
    uint64_t used; /* text: size of the characters that lie in `bytes` already */
} hac_arrow_target;

/* Checks rows [first, first + rows) of an array that has the type, and measures them. `row` is the number of
 * the rows in batches before. HAC_INVALID: the array is not a valid array of this type; the message
 * names the column. */
HAC_MUST_USE hac_status hac_arrow_column_read(const char *name, const hac_arrow_type *type,
                                              const struct ArrowArray *array, uint64_t first, uint64_t rows,
                                              uint64_t row, hac_arrow_column *ret, hac_error *err);

/* Rows of a column whose values nobody reads: nulls of HAC_ARROW_NULLS. */
hac_arrow_column hac_arrow_column_of_nulls(const char *name, const hac_arrow_type *type, uint64_t rows,
                                           uint64_t row);

/* Copies the rows to rows [c->row, …) of the target, and of texts also the offset behind the last row. A
 * value of a null row is what the array has there, or 0 or empty if values are converted. HAC_INVALID: a
 * value does not fit the type, or an index or a text is outside of its buffers; the message names column and
 * row. */
HAC_MUST_USE hac_status hac_arrow_column_copy(const hac_arrow_column *c, hac_arrow_target *target,
                                              hac_error *err);

/* True if the values lie in the array as they do in a table, if the rows are the table's first ones. */
bool hac_arrow_column_is_table(const hac_arrow_column *c);

/* True if a row is null. Not for dictionaries. */
bool hac_arrow_column_has_nulls(const hac_arrow_column *c);

/* Offset `row` of a column of HAC_ARROW_OFFSETS; 0 if it has no offsets or a negative one. */
uint64_t hac_arrow_offset(const hac_arrow_rows *rows, uint64_t row);

#endif
