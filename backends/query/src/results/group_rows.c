/* SPDX-License-Identifier: Apache-2.0 */
#include "group_rows.h"

#include <stdlib.h>
#include <string.h>

#include "codelet/progress.h"
#include "expr/distinct_query.h"
#include "sources/query_machine.h"

/* Of an output: 16 bytes for each value and 1 for its state. */
#define KEPT_BYTES ((size_t)17 * HAC_BATCH_ROWS)

static bool chooses(const hac_query *query)
{
    return query->having != HAC_QUERY_NO_OUTPUT;
}

static bool has_memory(const hac_group_rows *e)
{
    return e->results != NULL && e->outputs != NULL && (!e->distinct || e->given != NULL) &&
           (!chooses(e->query) || (e->kept != NULL && e->memory != NULL));
}

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
    if (chooses(query)) {
        e.kept = calloc(query->finals->n_outputs + 1, sizeof *e.kept);
        e.memory = aligned_alloc(64, (query->finals->n_outputs + 1) * KEPT_BYTES);
    }
    if (status == HAC_OK && !has_memory(&e))
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
    free(group_rows->kept);
    free(group_rows->memory);
    *group_rows = (hac_group_rows){0};
}

/* A batch of groups, and the rows that they give. */
typedef struct groups_batch {
    hac_batch results; /* of all groups */
    hac_column *rows;  /* the outputs of the groups that are kept */
    size_t n;
    uint16_t group[HAC_BATCH_ROWS]; /* of each row */
} groups_batch;

static hac_status fail_output(const hac_group_rows *e, const groups_batch *b, size_t output, size_t row,
                              hac_error *err)
{
    const hac_query *query = e->query;
    bool visible = output < query->n_visible;
    uint8_t state = b->rows[output].states[row];
    char value[96];
    bool known =
        hac_machine_c_failed_value(e->machine, &b->results, b->group[row], state, value, sizeof value);
    const char *option = visible ? "--select: " : output == query->having ? "--having" : "--order-by";
    return hac_fail(err, HAC_FAILED, "%s%s: %s%s%s", option,
                    visible ? query->outputs.fields[output].name : "", value, known ? ": " : "",
                    hac_row_state_text(state));
}

static hac_status check_outputs(const hac_group_rows *e, const groups_batch *b, hac_error *err)
{
    for (size_t c = 0; c < e->query->finals->n_outputs; c++) {
        size_t bad = hac_query_bad_row(&b->rows[c], b->n);
        if (bad != SIZE_MAX)
            return fail_output(e, b, c, bad, err);
    }
    return HAC_OK;
}

static void keep_values(const groups_batch *b, const hac_column *from, uint8_t *memory, hac_column *ret)
{
    size_t size = hac_repr_size(hac_repr_of(from->type));
    const uint8_t *values = from->values;
    *ret = (hac_column){
        .type = from->type, .values = memory, .states = memory + 16 * HAC_BATCH_ROWS, .bytes = from->bytes};
    for (size_t i = 0; i < b->n; i++) {
        memcpy(memory + i * size, values + b->group[i] * size, size);
        ret->states[i] = from->states != NULL ? from->states[b->group[i]] : HAC_ROW_OK;
    }
}

/* Keeps the groups for which `having` is true, neither false nor null. */
static hac_status choose_groups(const hac_group_rows *e, groups_batch *b, hac_error *err)
{
    const hac_column *having = &e->outputs[e->query->having];
    const uint8_t *is_true = having->values;
    size_t bad = hac_query_bad_row(having, b->n), n = 0;
    if (bad != SIZE_MAX)
        return fail_output(e, b, e->query->having, bad, err);
    for (size_t i = 0; i < b->n; i++)
        if (is_true[i] != 0 && (having->states == NULL || having->states[i] == HAC_ROW_OK))
            b->group[n++] = (uint16_t)i;
    b->n = n;
    for (size_t c = 0; c < e->query->finals->n_outputs; c++)
        keep_values(b, &e->outputs[c], e->memory + c * KEPT_BYTES, &e->kept[c]);
    b->rows = e->kept;
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

/* Adds the rows of groups [first, first + n), at most `max`. */
static hac_status add_batch(hac_group_rows *e, hac_group_table *table, uint64_t first, size_t n, uint64_t max,
                            hac_rows_writer *writer, hac_error *err)
{
    groups_batch b = {.rows = e->outputs, .n = n};
    hac_status status = take_results(e, table, first, n, err);
    if (status != HAC_OK)
        return status;
    b.results =
        (hac_batch){.rows = n, .n_columns = e->query->n_keys + e->query->n_aggregates, .columns = e->results};
    for (size_t i = 0; i < n; i++)
        b.group[i] = (uint16_t)i;
    hac_machine_c_run(e->machine, &b.results, e->outputs);
    if (chooses(e->query))
        status = choose_groups(e, &b, err);
    b.n = b.n < max ? b.n : (size_t)max;
    if (status == HAC_OK)
        status = check_outputs(e, &b, err);
    if (status == HAC_OK && b.n > 0)
        hac_rows_add(writer, b.rows, e->query->outputs.n_fields, b.n);
    return status;
}

hac_status hac_group_rows_add(hac_group_rows *e, hac_group_table *table, hac_rows_writer *writer,
                              hac_error *err)
{
    uint64_t groups = hac_group_table_groups(table);
    uint64_t max = e->query->n_order == 0 ? e->query->limit : UINT64_MAX;
    hac_status status = HAC_OK;
    for (uint64_t first = 0; status == HAC_OK && first < groups && writer->rows < max;
         first += HAC_BATCH_ROWS) {
        size_t n = groups - first < HAC_BATCH_ROWS ? (size_t)(groups - first) : HAC_BATCH_ROWS;
        status = add_batch(e, table, first, n, max - writer->rows, writer, err);
        hac_progress_step();
    }
    return status;
}
