/* SPDX-License-Identifier: Apache-2.0 */
#include "group_rows.h"

#include <stdlib.h>

#include "expr/distinct_query.h"
#include "sources/query_machine.h"

hac_status hac_group_rows_init(const hac_query *query, hac_group_rows *ret, hac_error *err)
{
    hac_group_rows e = {.query = query, .distinct = hac_query_counts_distinct(query)};
    if (query->finals == NULL)
        return hac_fail(err, HAC_INVALID, "the query has no aggregation");
    hac_status status = hac_query_machine(query->finals, &e.machine, err);
    e.results = calloc(query->n_keys + query->n_aggregates + 1, sizeof *e.results);
    e.outputs = calloc(query->finals->n_outputs + 1, sizeof *e.outputs);
    if (e.distinct)
        e.given = calloc(query->n_keys + HAC_DISTINCT_SUMS, sizeof *e.given);
    if (status == HAC_OK && (e.results == NULL || e.outputs == NULL || (e.distinct && e.given == NULL)))
        status = hac_fail_no_memory(err);
    if (status != HAC_OK)
        hac_group_rows_clear(&e);
    else
        *ret = e;
    return status;
}

void hac_group_rows_clear(hac_group_rows *group_rows)
{
    hac_machine_c_free(group_rows->machine);
    free(group_rows->results);
    free(group_rows->outputs);
    free(group_rows->given);
    *group_rows = (hac_group_rows){0};
}

static hac_status check_outputs(const hac_group_rows *e, const hac_batch *batch, hac_error *err)
{
    size_t n = batch->rows;
    char value[96];
    for (size_t c = 0; c < e->query->finals->n_outputs; c++) {
        size_t bad = hac_query_bad_row(&e->outputs[c], n);
        if (bad == SIZE_MAX)
            continue;
        bool visible = c < e->query->n_visible;
        uint8_t state = e->outputs[c].states[bad];
        bool known = hac_machine_c_failed_value(e->machine, batch, bad, state, value, sizeof value);
        return hac_fail(err, HAC_FAILED, "%s%s: %s%s%s", visible ? "--select: " : "--order-by",
                        visible ? e->query->outputs.fields[c].name : "", value, known ? ": " : "",
                        hac_row_state_text(state));
    }
    return HAC_OK;
}

static hac_status take_results(hac_group_rows *e, hac_group_table *table, uint64_t first, size_t n,
                               hac_error *err)
{
    size_t n_keys = e->query->n_keys;
    if (!e->distinct)
        return hac_group_table_results(table, first, n, e->results, err);
    hac_status status = hac_group_table_results(table, first, n, e->given, err);
    for (size_t k = 0; k < n_keys; k++)
        e->results[k] = e->given[k];
    for (size_t i = 0; i < e->query->n_aggregates; i++)
        e->results[n_keys + i] = e->given[n_keys + hac_distinct_sum_index(e->query, i)];
    return status;
}

hac_status hac_group_rows_add(hac_group_rows *e, hac_group_table *table, hac_rows_writer *writer,
                              hac_error *err)
{
    uint64_t groups = hac_group_table_groups(table);
    if (e->query->n_order == 0 && groups > e->query->limit)
        groups = e->query->limit;
    hac_status status = HAC_OK;
    for (uint64_t first = 0; status == HAC_OK && first < groups; first += HAC_BATCH_ROWS) {
        size_t n = groups - first < HAC_BATCH_ROWS ? (size_t)(groups - first) : HAC_BATCH_ROWS;
        status = take_results(e, table, first, n, err);
        if (status != HAC_OK)
            break;
        hac_batch batch = {
            .rows = n, .n_columns = e->query->n_keys + e->query->n_aggregates, .columns = e->results};
        hac_machine_c_run(e->machine, &batch, e->outputs);
        status = check_outputs(e, &batch, err);
        if (status == HAC_OK)
            hac_rows_add(writer, e->outputs, e->query->outputs.n_fields, n);
    }
    return status;
}
