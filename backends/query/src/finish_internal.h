/* SPDX-License-Identifier: Apache-2.0 */
/* What the ends of a query share: finish_order.c, finish_text.c, finish_table.c,
 * finish_parquet.c. */
#ifndef QUERY_FINISH_INTERNAL_H
#define QUERY_FINISH_INTERNAL_H

#include "query/finish.h"

/* Rows in their order. */
typedef struct hac_ordered_rows {
    const hac_query *query;
    const hac_rows_reader *rows;
    const uint64_t *order;
    uint64_t n;
} hac_ordered_rows;

HAC_MUST_USE hac_status hac_finish_text(const hac_ordered_rows *rows, uint8_t *result, uint64_t room,
                                        uint64_t *ret_bytes, hac_error *err);
HAC_MUST_USE hac_status hac_finish_table(const hac_ordered_rows *rows, uint8_t *result, uint64_t room,
                                         uint64_t *ret_bytes, hac_error *err);

/* Rows of them as vectors, the visible columns; all zero before its first use. */
typedef struct hac_ordered_batch {
    hac_vector columns[HAC_PROGRAM_OUTPUTS_MAX];
    uint8_t *memory;  /* 16 · HAC_BATCH_ROWS of values, HAC_BATCH_ROWS of states a column */
    uint8_t *strings; /* of the batch */
    uint64_t room;
} hac_ordered_batch;

/* Rows [first, first + n), at most HAC_BATCH_ROWS; valid until the next call. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_ordered_batch_fill(const hac_ordered_rows *rows, uint64_t first, size_t n,
                                               hac_ordered_batch *batch, hac_error *err);
void hac_ordered_batch_clear(hac_ordered_batch *batch);

HAC_MUST_USE hac_status hac_finish_parquet(const hac_ordered_rows *rows, uint8_t *result, uint64_t room,
                                           uint64_t *ret_bytes, hac_error *err);

static inline uint8_t hac_ordered_value(const hac_ordered_rows *r, uint64_t index, size_t column,
                                        uint64_t ret[2])
{
    uint64_t at = r->order[index];
    return hac_rows_value(r->rows, at / HAC_BATCH_ROWS, (uint32_t)(at % HAC_BATCH_ROWS), column, ret);
}

#endif
