/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a query: all output rows to the result: order by (nulls last in both directions, NaN above all
 * numbers; rows that compare equal stay in their order), limit, the visible columns, as text or as a table
 * (base/query_layout.h: hac_result_table). Uses all CPUs of the process's affinity.
 */
#ifndef QUERY_FINISH_H
#define QUERY_FINISH_H

#include "query/rows.h"

typedef struct hac_finished {
    uint64_t rows;
    uint64_t bytes; /* above the room: that many are needed, and nothing was written that counts */
} hac_finished;

/* HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_finish_rows(const hac_query *query, const hac_rows_reader *rows, uint8_t *result,
                                        uint64_t room, hac_finished *ret, hac_error *err);

/* The result's rows, in order: block · HAC_BATCH_ROWS + row of each; *ret_n = min(limit, rows) of them. */
HAC_MUST_USE hac_status hac_finish_order(const hac_query *query, const hac_rows_reader *rows, uint64_t **ret,
                                         uint64_t *ret_n, hac_error *err);

#endif
