/* SPDX-License-Identifier: Apache-2.0 */
#include "chunk_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codelet/progress.h"
#include "expr/group_layout.h"
#include "expr/query_facts.h"
#include "query/codelets.h"
#include "sources/query_machine.h"

hac_status hac_chunk_rows_init(const hac_query_task *task, hac_chunk_rows *ret, hac_error *err)
{
    hac_chunk_rows r = {.query = task->query};
    const hac_table *table = task->table.n_columns != 0 ? &task->table : NULL;
    hac_status status = hac_source_open(task->query, &task->place, table, &r.source, err);
    if (status == HAC_OK && task->query->filter != NULL)
        status = hac_query_machine(task->query->filter, &r.filter, err);
    if (status == HAC_OK) {
        hac_source_reads(r.source, task->query->rows);
        status = hac_query_machine(task->query->rows, &r.rows, err);
    }
    for (size_t i = 0; i < task->query->columns.n_fields; i++)
        r.row_bytes += hac_repr_size(hac_repr_of(task->query->columns.fields[i].type)) + 1;
    r.columns = calloc(task->query->rows->n_outputs + 1, sizeof *r.columns);
    if (status == HAC_OK && r.columns == NULL)
        status = hac_fail_no_memory(err);
    if (status != HAC_OK)
        hac_chunk_rows_clear(&r);
    else
        *ret = r;
    return status;
}

hac_status hac_chunk_rows_let_answer(hac_chunk_rows *rows, hac_error *err)
{
    uint8_t wants[HAC_COLUMNS_MAX];
    rows->answers = hac_query_statistics_answer(rows->query, wants);
    return rows->answers ? hac_source_answer(rows->source, wants, err) : HAC_OK;
}

void hac_chunk_rows_clear(hac_chunk_rows *rows)
{
    hac_source_free(rows->source);
    hac_machine_c_free(rows->filter);
    hac_machine_c_free(rows->rows);
    free(rows->columns);
    *rows = (hac_chunk_rows){0};
}

/* ---- stages ---- */

/* Ends the map's time; the source works from now on. Returns the current time. */
static uint64_t leave_map(hac_chunk_rows *r)
{
    uint64_t now = hac_now_ns();
    if (r->since != 0)
        hac_stage_add(&r->map, r->since, now, 0);
    r->since = 0;
    return now;
}

/* Adds the source's time since `from` to the stages: its reading beyond `before` is stage read, the rest
 * preprocess. */
static void enter_map(hac_chunk_rows *r, uint64_t from, uint64_t before)
{
    r->since = hac_now_ns();
    hac_stage_add(&r->preprocess, from, r->since, hac_source_reading(r->source).busy - before);
}

hac_status hac_chunk_rows_begin(hac_chunk_rows *r, const hac_query_task *task, const hac_span *quotes,
                                uint64_t chunk, hac_error *err)
{
    uint64_t first, end, from = leave_map(r), before = hac_source_reading(r->source).busy;
    hac_query_task_chunk(task, chunk, &first, &end);
    hac_status status = hac_source_begin(r->source, first, end,
                                         hac_query_inside_quotes(quotes, task->first_chunk, chunk), err);
    enter_map(r, from, before);
    return status;
}

void hac_chunk_rows_end(hac_chunk_rows *r)
{
    (void)leave_map(r);
}

void hac_chunk_rows_count(const hac_chunk_rows *r, hac_splice_counters *counters)
{
    hac_splice_counters own = {0};
    hac_stage reads = hac_source_reading(r->source);
    hac_stage_merge(&own.stages[HAC_STAGE_READ], &reads);
    hac_stage_merge(&own.stages[HAC_STAGE_PREPROCESS], &r->preprocess);
    hac_stage_merge(&own.stages[HAC_STAGE_MAP], &r->map);
    own.values[HAC_SPLICE_BLOCKS] = own.values[HAC_SPLICE_SPLICED] = own.values[HAC_SPLICE_TRIGGERS] =
        r->batches;
    own.values[HAC_SPLICE_SPLICED_RECORDS] = r->read;
    own.values[HAC_SPLICE_BLOCK_BYTES] = r->read * r->row_bytes;
    own.values[HAC_SPLICE_BLOCK_LARGEST] = own.values[HAC_SPLICE_FILL] = r->largest * r->row_bytes;
    own.values[HAC_SPLICE_CAPACITY] = HAC_BATCH_ROWS * r->row_bytes;
    own.values[HAC_SPLICE_ELEMENTS] = 1;
    own.values[HAC_SPLICE_BLOCKS_MAX] = own.values[HAC_SPLICE_THREADS] =
        counters->values[HAC_SPLICE_THREADS] + 1;
    hac_splice_merge(counters, &own);
}

/* ---- errors ---- */

/* Names an output of query->rows for messages: "--select: sum(a*b)". */
static void name_output(const hac_query *query, size_t output, char *ret, size_t capacity)
{
    char name[HAC_AGGREGATE_NAME_MAX];
    if (!query->aggregates) {
        bool visible = output < query->n_visible && output < query->outputs.n_fields;
        snprintf(ret, capacity, visible ? "--select: %s" : "--order-by%s",
                 visible ? query->outputs.fields[output].name : "");
        return;
    }
    for (size_t i = 0; output >= query->n_keys && i < query->n_aggregates; i++) {
        const hac_aggregate *a = &query->aggregate[i];
        bool second = hac_aggregate_info_of(a->function)->second != HAC_SECOND_NONE;
        if (a->argument == (int)output || (second && a->second == (int)output)) {
            snprintf(ret, capacity, "--select: %s", hac_aggregate_name(query, i, name));
            return;
        }
    }
    bool named = output < query->n_visible && output < query->outputs.n_fields;
    snprintf(ret, capacity, "--group-by: %s", named ? query->outputs.fields[output].name : "key");
}

/* The column whose stored value is the error; NULL: an expression makes it. */
static const char *bad_column(const hac_chunk_rows *r, const hac_batch *batch, size_t row, unsigned state)
{
    for (size_t c = 0; c < batch->n_columns && c < r->query->columns.n_fields; c++) {
        const uint8_t *states = batch->columns[c].states;
        if (states != NULL && states[row] == state)
            return r->query->columns.fields[c].name;
    }
    return NULL;
}

/* `row` is row `own` of the batch, which may have fewer rows than were read; `machine` found the error. */
static hac_status fail_row(hac_chunk_rows *r, hac_machine_c *machine, const hac_batch *batch, size_t own,
                           size_t row, uint8_t state, const char *what, hac_error *err)
{
    char where[32], value[96];
    hac_source_where(r->source, row, where);
    const char *column = bad_column(r, batch, own, state);
    if (column == NULL) {
        bool known = hac_machine_c_failed_value(machine, batch, own, state, value, sizeof value);
        return hac_fail(err, HAC_FAILED, "%s, %s: %s%s%s", where, what, value, known ? ": " : "",
                        hac_row_state_text(state));
    }
    return hac_fail(err, HAC_FAILED, "%s, %s, column %s: %s", where, what, column, hac_row_state_text(state));
}

/* ---- plain rows ---- */

/* The table's column if output `output` is just that column; NULL: it is not. */
static const hac_table_column *plain_column(const hac_query_task *task, size_t output)
{
    const hac_program *rows = task->query->rows;
    int input = hac_program_output_input(rows, output);
    if (input < 0 || task->query->positions[input] >= task->table.n_columns)
        return NULL;
    const hac_table_column *c = &task->table.columns[task->query->positions[input]];
    if (c->type.kind == HAC_KIND_DECIMAL) /* the source checks the number of digits */
        return NULL;
    return hac_value_type_equal(c->type, rows->outputs[output].type) ? c : NULL;
}

/* Whether rows [first, end) have no nulls; compares whole bytes of the bitmap where possible. */
static bool all_valid(const uint8_t *bits, uint64_t first, uint64_t end)
{
    uint8_t all = 1;
    for (; first < end && first % 8 != 0; first++)
        all &= (uint8_t)(bits[first / 8] >> first % 8);
    uint8_t whole = UINT8_MAX;
    for (; end - first >= 8; first += 8)
        whole &= bits[first / 8];
    for (; first < end; first++)
        all &= (uint8_t)(bits[first / 8] >> first % 8);
    return (all & 1) != 0 && whole == UINT8_MAX;
}

bool hac_chunk_rows_fixed(hac_chunk_rows *r, const hac_query_task *task, uint64_t first, uint64_t end,
                          const uint8_t **values, size_t n_columns)
{
    if (task->table.n_columns == 0 || task->query->filter != NULL || end > task->table.rows || first > end)
        return false;
    for (size_t c = 0; c < n_columns; c++) {
        const hac_table_column *column = plain_column(task, c);
        if (column == NULL)
            return false;
        if (column->validity != HAC_TABLE_NONE &&
            !all_valid(task->place.memory + column->validity, first, end))
            return false;
        values[c] = task->place.memory + column->values + first * hac_value_size(column->type);
    }
    r->read += end - first;
    r->kept += end - first;
    return true;
}

/* ---- rows ---- */

/* The row in the batch as read, for row `row` of the kept rows. */
static size_t original_row(const uint8_t *kept, size_t row)
{
    if (kept == NULL)
        return row;
    for (size_t i = 0; i < HAC_BATCH_ROWS; i++)
        if (kept[i] != 0 && row-- == 0)
            return i;
    return 0;
}

/* `kept` gets one byte a row; the filter's own column may be one of the columns that are overwritten. */
static hac_status apply_filter(hac_chunk_rows *r, hac_batch *batch, uint8_t *kept, hac_error *err)
{
    hac_column keep;
    hac_machine_c_run(r->filter, batch, &keep);
    size_t bad = hac_query_bad_row(&keep, batch->rows);
    if (bad != SIZE_MAX)
        return fail_row(r, r->filter, batch, bad, bad, keep.states[bad], "--where", err);
    const uint8_t *values = keep.values;
    for (size_t i = 0; i < batch->rows; i++)
        kept[i] = values[i] != 0 && (keep.states == NULL || keep.states[i] == HAC_ROW_OK);
    memset(kept + batch->rows, 0, HAC_BATCH_ROWS - batch->rows);
    hac_column mask = {.type = {.kind = HAC_KIND_BOOL}, .values = kept};
    hac_batch_keep(batch, &mask);
    return HAC_OK;
}

static hac_status check_outputs(hac_chunk_rows *r, const hac_batch *batch, const uint8_t *kept,
                                hac_error *err)
{
    size_t first = SIZE_MAX, output = 0;
    for (size_t c = 0; c < r->query->rows->n_outputs; c++) {
        size_t bad = hac_query_bad_row(&r->columns[c], batch->rows);
        if (bad < first) {
            first = bad;
            output = c;
        }
    }
    if (first == SIZE_MAX)
        return HAC_OK;
    char what[HAC_AGGREGATE_NAME_MAX + 32];
    name_output(r->query, output, what, sizeof what);
    return fail_row(r, r->rows, batch, first, original_row(kept, first), r->columns[output].states[first],
                    what, err);
}

bool hac_chunk_rows_all(hac_chunk_rows *r, uint64_t *ret_n)
{
    const hac_query *query = r->query;
    if (!query->aggregates || query->rows->n_outputs > 0 || !hac_source_take_rows(r->source, ret_n))
        return false;
    r->read += *ret_n;
    r->kept += *ret_n;
    return true;
}

hac_status hac_chunk_rows_answer(hac_chunk_rows *r, uint64_t *ret_rows, uint64_t *ret_nulls)
{
    const hac_query *query = r->query;
    uint64_t nulls[HAC_COLUMNS_MAX];
    hac_batch batch;
    if (!r->answers)
        return HAC_NOT_FOUND;
    hac_status status = hac_source_next_answer(r->source, &batch, ret_rows, nulls);
    if (status != HAC_OK)
        return status;
    r->kept += *ret_rows;
    hac_machine_c_run(r->rows, &batch, r->columns);
    *ret_rows -= batch.rows;
    for (size_t c = 0; c < query->rows->n_outputs; c++) {
        const uint8_t *states = r->columns[c].states;
        int input = hac_program_output_input(query->rows, c);
        ret_nulls[c] = input < 0 ? 0 : nulls[input]; /* < 0: no aggregate uses this output */
        for (size_t i = 0; states != NULL && i < batch.rows; i++)
            ret_nulls[c] -= states[i] != HAC_ROW_OK;
    }
    return HAC_OK;
}

hac_status hac_chunk_rows_next(hac_chunk_rows *r, size_t *ret_n, hac_error *err)
{
    _Alignas(64) uint8_t kept[HAC_BATCH_ROWS];
    hac_batch batch;
    bool filtered;
    do {
        uint64_t from = leave_map(r), before = hac_source_reading(r->source).busy;
        hac_status status = hac_source_next(r->source, &batch, err);
        enter_map(r, from, before);
        if (status != HAC_OK)
            return status;
        r->read += batch.rows;
        r->batches++;
        hac_progress_step();
        r->largest = batch.rows > r->largest ? batch.rows : r->largest;
        filtered = r->filter != NULL && !hac_source_filtered(r->source);
        if (filtered)
            status = apply_filter(r, &batch, kept, err);
        if (status != HAC_OK)
            return status;
    } while (batch.rows == 0);
    r->kept += batch.rows;
    hac_machine_c_run(r->rows, &batch, r->columns);
    if (r->numbered)
        r->columns[r->query->rows->n_outputs] =
            (hac_column){.type = {.kind = HAC_KIND_U64}, .values = hac_source_numbers(r->source)};
    *ret_n = batch.rows;
    return check_outputs(r, &batch, filtered ? kept : NULL, err);
}
