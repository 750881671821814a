/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a query: all output rows to the result: order by (nulls last in both directions, NaN above all
 * numbers; rows that compare equal stay in their order), limit, the visible columns, as text or as a table.
 */
#ifndef QUERY_FINISH_H
#define QUERY_FINISH_H

#include "query/rows.h"

typedef struct hac_finished {
    uint64_t rows;
    uint64_t bytes; /* above the room: that many are needed, and nothing was written that counts */
} hac_finished;

/* Uses all CPUs of the process's affinity. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_finish_rows(const hac_query *query, const hac_rows_reader *rows, uint8_t *result,
                                        uint64_t room, hac_finished *ret, hac_error *err);

/* The order of the result's rows: numbers of rows (over all blocks, in order), `*ret_n` = min(limit, rows) of
 * them. NULL when the query has no order by: the rows as they are. */
HAC_MUST_USE hac_status hac_finish_order(const hac_query *query, const hac_rows_reader *rows, uint32_t **ret,
                                         uint64_t *ret_n, hac_error *err);

#endif
