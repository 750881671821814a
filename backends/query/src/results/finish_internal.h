/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by finish_order.c, finish_text.c, finish_table.c and finish_parquet.c. */
#ifndef QUERY_FINISH_INTERNAL_H
#define QUERY_FINISH_INTERNAL_H

#include "parquet/file.h"
#include "query/finish.h"

/* Rows in the result's order. */
typedef struct hac_ordered_rows {
    const hac_query *query;
    const hac_rows_reader *rows;
    const uint64_t *order;
    uint64_t n;
} hac_ordered_rows;

HAC_MUST_USE hac_status hac_finish_text(const hac_ordered_rows *rows, uint8_t *result, uint64_t capacity,
                                        uint64_t *ret_bytes, hac_error *err);
HAC_MUST_USE hac_status hac_finish_table(const hac_ordered_rows *rows, uint8_t *result, uint64_t capacity,
                                         uint64_t *ret_bytes, hac_error *err);

/* Rows of the visible columns; zero-initialised. */
typedef struct hac_ordered_batch {
    hac_column columns[HAC_PROGRAM_OUTPUTS_MAX];
    uint8_t *memory;  /* for each column, 16 · HAC_BATCH_ROWS bytes of values and HAC_BATCH_ROWS states */
    uint8_t *strings; /* of the batch */
    uint64_t capacity;
} hac_ordered_batch;

/* Reads rows [first, first + n), at most HAC_BATCH_ROWS; valid until the next call. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_ordered_batch_fill(const hac_ordered_rows *rows, uint64_t first, size_t n,
                                               hac_ordered_batch *batch, hac_error *err);
void hac_ordered_batch_clear(hac_ordered_batch *batch);

typedef hac_status (*hac_batch_work)(void *context, const hac_column *columns, size_t rows, hac_error *err);
/* Calls work for the rows, batch by batch, until it fails. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_ordered_for_batches(const hac_ordered_rows *rows, hac_batch_work work,
                                                void *context, hac_error *err);

/* Takes a Parquet writer's bytes into the hac_output_buffer `context`, which counts those that do not fit. */
hac_status hac_finish_put(void *context, const uint8_t *data, size_t bytes, hac_error *err);
/* A hac_batch_work that adds the rows to the hac_parquet_writer `context`. */
hac_status hac_finish_add(void *context, const hac_column *columns, size_t rows, hac_error *err);

/* Refuses dates and times of n rows whose text could not be read again. */
HAC_MUST_USE hac_status hac_finish_check_times(const hac_query *query, const hac_column *columns, size_t n,
                                               hac_error *err);

HAC_MUST_USE hac_status hac_finish_parquet(const hac_ordered_rows *rows, uint8_t *result, uint64_t capacity,
                                           uint64_t *ret_bytes, hac_error *err);

/* The codec that the settings name. */
hac_parquet_codec hac_finish_codec(const hac_parquet_settings *settings);

static inline uint8_t hac_ordered_value(const hac_ordered_rows *r, uint64_t index, size_t column,
                                        uint64_t ret[2])
{
    uint64_t at = r->order[index];
    return hac_rows_value(r->rows, at / HAC_BATCH_ROWS, (uint32_t)(at % HAC_BATCH_ROWS), column, ret);
}

#endif
