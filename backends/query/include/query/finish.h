/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a query: writes all output rows to the result, in order (nulls come last in both directions,
 * NaN sorts above all numbers, equal rows keep their order), from the offset up to the limit and with the
 * visible columns only, as text or as a table (hac_result_table in base/query_layout.h). Uses all CPUs that
 * the process may run on. */
#ifndef QUERY_FINISH_H
#define QUERY_FINISH_H

#include "query/rows.h"

typedef struct hac_finished {
    uint64_t rows;
    uint64_t passed; /* with those that the offset leaves out */
    uint64_t bytes;  /* if above the capacity: the size that is needed, and the result holds nothing */
} hac_finished;

/* HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_finish_rows(const hac_query *query, const hac_rows_reader *rows, uint8_t *result,
                                        uint64_t capacity, hac_finished *ret, hac_error *err);

/* The result's rows in order: *ret_n numbers, each block · HAC_BATCH_ROWS + row. *ret_passed are these and
 * the rows that the offset leaves out. */
HAC_MUST_USE hac_status hac_finish_order(const hac_query *query, const hac_rows_reader *rows, uint64_t **ret,
                                         uint64_t *ret_n, uint64_t *ret_passed, hac_error *err);

#endif
