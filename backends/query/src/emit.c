/* SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

#include <stdlib.h>

#include "chunk_rows.h"

hac_status hac_emitter_init(const hac_query *query, hac_emitter *ret, hac_error *err)
{
    hac_emitter e = {.query = query};
    if (query->finals == NULL)
        return hac_fail(err, HAC_INVALID, "the query has no aggregation");
    hac_status status = hac_query_machine(query->finals, &e.machine, err);
    e.results = calloc(query->n_keys + query->n_aggregates + 1, sizeof *e.results);
    e.outputs = calloc(query->finals->n_outputs + 1, sizeof *e.outputs);
    if (status == HAC_OK && (e.results == NULL || e.outputs == NULL))
        status = hac_fail_no_memory(err);
    if (status != HAC_OK)
        hac_emitter_clear(&e);
    else
        *ret = e;
    return status;
}

void hac_emitter_clear(hac_emitter *emitter)
{
    hac_machine_c_free(emitter->machine);
    free(emitter->results);
    free(emitter->outputs);
    *emitter = (hac_emitter){0};
}

static hac_status check_outputs(const hac_emitter *e, size_t n, hac_error *err)
{
    for (size_t c = 0; c < e->query->finals->n_outputs; c++) {
        size_t bad = hac_query_bad_row(&e->outputs[c], n);
        if (bad == SIZE_MAX)
            continue;
        bool visible = c < e->query->n_visible;
        return hac_fail(err, HAC_FAILED, "%s%s: %s", visible ? "--select: " : "--order-by",
                        visible ? e->query->outputs.fields[c].name : "",
                        hac_row_state_text(e->outputs[c].states[bad]));
    }
    return HAC_OK;
}

hac_status hac_emit_groups(hac_emitter *e, hac_group_table *table, hac_rows_writer *writer, hac_error *err)
{
    uint64_t groups = hac_group_table_groups(table);
    if (e->query->n_order == 0 && groups > e->query->limit)
        groups = e->query->limit;
    hac_status status = HAC_OK;
    for (uint64_t first = 0; status == HAC_OK && first < groups; first += HAC_BATCH_ROWS) {
        size_t n = groups - first < HAC_BATCH_ROWS ? (size_t)(groups - first) : HAC_BATCH_ROWS;
        status = hac_group_table_results(table, first, n, e->results, err);
        if (status != HAC_OK)
            break;
        hac_batch batch = {
            .rows = n, .n_columns = e->query->n_keys + e->query->n_aggregates, .columns = e->results};
        hac_machine_c_run(e->machine, &batch, e->outputs);
        status = check_outputs(e, n, err);
        if (status == HAC_OK)
            hac_rows_add(writer, e->outputs, e->query->outputs.n_fields, n);
    }
    return status;
}
