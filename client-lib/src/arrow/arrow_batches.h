/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Record batches of one schema, as the rows of one table: one batch that the caller keeps, or all batches of
 * an ArrowArrayStream (https://arrow.apache.org/docs/format/CStreamInterface.html).
 */
#ifndef CLIENT_ARROW_BATCHES_H
#define CLIENT_ARROW_BATCHES_H

#include "arrow_column.h"

enum { HAC_ARROW_COLUMNS_MAX = 256, HAC_ARROW_NAME_MAX = 127 };

typedef struct hac_arrow_batch {
    struct ArrowArray *array; /* owned, with its content; NULL: the caller keeps the array */
    uint64_t rows;
    hac_arrow_column *columns; /* owned */
} hac_arrow_batch;

typedef struct hac_arrow_batches {
    struct ArrowSchema schema; /* owned if its release is not NULL */
    bool bare;                 /* the schema is that of the only column, not one of columns */
    size_t n_columns;
    hac_arrow_type *types; /* owned */
    const char **names;    /* owned; the names are the schema's */
    /* Owned, with its texts: why queries do not take a column, which then has nulls in place of its values;
     * NULL: they do. Only the columns that a query uses count. */
    char **refused;
    bool needs_all; /* a column that queries do not take is an error */
    uint64_t rows;  /* of all batches */
    uint64_t bytes; /* lower bound of the memory that they take in a table */
    size_t n_batches, capacity;
    hac_arrow_batch *batches; /* owned; none is without rows */
} hac_arrow_batches;

/* Frees the batches, and calls the release functions of the arrays that they own. */
void hac_arrow_batches_clear(hac_arrow_batches *batches);

/* Takes in one batch, which the caller keeps as long as `ret`. HAC_UNSUPPORTED, HAC_INVALID: as
 * hac_arrow_type_read and hac_arrow_column_read say. */
HAC_MUST_USE hac_status hac_arrow_batches_one(const struct ArrowSchema *schema,
                                              const struct ArrowArray *array, hac_arrow_batches *ret,
                                              hac_error *err);

/*
 * Takes in all batches of a stream, and releases the stream, also on failure. HAC_FAILED: the stream returned
 * an error; the first line of its text is in the message. HAC_CANCELLED: this error was ECANCELED.
 * HAC_REFUSED: the batches take more than `limit` bytes (0: no limit).
 */
HAC_MUST_USE hac_status hac_arrow_batches_read(struct ArrowArrayStream *stream, uint64_t limit,
                                               hac_arrow_batches *ret, hac_error *err);

/* The same of a stream of one column, whose batches have the column or are the column. HAC_INVALID: it has
 * another number of columns. */
HAC_MUST_USE hac_status hac_arrow_batches_read_column(struct ArrowArrayStream *stream, uint64_t limit,
                                                      hac_arrow_batches *ret, hac_error *err);

/* Releases a stream that may be NULL or released. */
void hac_arrow_stream_release(struct ArrowArrayStream *stream);

#endif
