/* SPDX-License-Identifier: Apache-2.0 */
/* Turns groups into output rows: runs the `finals` program over a table's results and writes rows to a
 * region. */
#ifndef QUERY_GROUP_ROWS_H
#define QUERY_GROUP_ROWS_H

#include "expr/machine.h"
#include "query/group_table.h"
#include "query/rows.h"

typedef struct hac_group_rows {
    const hac_query *query; /* borrowed */
    hac_machine_c *machine;
    hac_column *results, *outputs;
    bool distinct;     /* the tables are those of hac_distinct_query.counts */
    hac_column *given; /* their results; else NULL */
    /* With `having`: the groups of a batch for which it is true, and memory for their outputs. */
    hac_column *kept;
    uint8_t *memory;
} hac_group_rows;

/* If the query counts distinct values, its tables are those of hac_distinct_query.counts. */
HAC_MUST_USE hac_status hac_group_rows_init(const hac_query *query, hac_group_rows *ret, hac_error *err);
void hac_group_rows_clear(hac_group_rows *group_rows);
/* Adds the groups for which `having` is true; without order by, at most the limit. HAC_FAILED: a result is in
 * error. */
HAC_MUST_USE hac_status hac_group_rows_add(hac_group_rows *group_rows, hac_group_table *table,
                                           hac_rows_writer *writer, hac_error *err);

#endif
