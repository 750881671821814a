/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query.merge and query.finish of a query that counts distinct values (expr/distinct_query.h). The regions
 * of "groups" then hold no output rows but the partial counts of each partition of the pairs, written as
 * partials (query/partial.h) in HAC_DISTINCT_PARTS partitions of the query's own keys. query.finish adds
 * them up, the partitions in parallel.
 */
#ifndef QUERY_DISTINCT_FINISH_H
#define QUERY_DISTINCT_FINISH_H

#include "query/group_table.h"
#include "query/rows.h"
#include "query/task.h"

/* Options of the tables of counts, whose groups come from regions of `bytes` bytes. */
hac_group_options hac_distinct_counts_options(const hac_query_task *task, uint64_t bytes);

/* Adds the output rows of all counts in `regions` regions of the task's size to *reader. The rows are in
 * *ret_parts, of HAC_DISTINCT_PARTS elements, which the caller frees after the reader. HAC_INVALID: a region
 * is damaged. */
#define HAC_DISTINCT_PARTS 64
HAC_MUST_USE hac_status hac_distinct_finish(const hac_query_task *task, const uint8_t *groups,
                                            uint64_t regions, hac_rows_reader *reader,
                                            uint8_t *ret_parts[HAC_DISTINCT_PARTS], hac_error *err);

#endif
