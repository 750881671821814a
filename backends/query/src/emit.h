/* SPDX-License-Identifier: Apache-2.0 */
/* From groups to output rows: the `finals` program over a table's results, into a region of rows. */
#ifndef QUERY_EMIT_H
#define QUERY_EMIT_H

#include "expr/machine.h"
#include "query/group_table.h"
#include "query/rows.h"

typedef struct hac_emitter {
    const hac_query *query; /* borrowed */
    hac_machine_c *machine;
    hac_vector *results, *outputs;
} hac_emitter;

HAC_MUST_USE hac_status hac_emitter_init(const hac_query *query, hac_emitter *ret, hac_error *err);
void hac_emitter_clear(hac_emitter *emitter);
/* All groups; without an order by no more than the limit. HAC_FAILED: a result is in error. */
HAC_MUST_USE hac_status hac_emit_groups(hac_emitter *emitter, hac_group_table *table, hac_rows_writer *writer,
                                        hac_error *err);

#endif
