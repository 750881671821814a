/* SPDX-License-Identifier: Apache-2.0 */
#include "chunk_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/codelets.h"
#include "query/layout.h"

#define STRING_BYTES ((size_t)64 << 20)

hac_status hac_query_machine(const hac_program *program, hac_machine_c **ret, hac_error *err)
{
    return hac_machine_c_new(program, STRING_BYTES, ret, err);
}

size_t hac_query_bad_row(const hac_vector *v, size_t rows)
{
    uint8_t worst = 0;
    for (size_t i = 0; v->states != NULL && i < rows; i++)
        worst = v->states[i] > worst ? v->states[i] : worst;
    for (size_t i = 0; worst > HAC_ROW_NULL && i < rows; i++)
        if (v->states[i] > HAC_ROW_NULL)
            return i;
    return SIZE_MAX;
}

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

void hac_chunk_rows_clear(hac_chunk_rows *rows)
{
    hac_source_free(rows->source);
    hac_machine_c_free(rows->filter);
    hac_machine_c_free(rows->rows);
    free(rows->columns);
    *rows = (hac_chunk_rows){0};
}

/* ---- stages ---- */

/* The map ends, what follows is the source's. Returns now. */
static uint64_t leave_map(hac_chunk_rows *r)
{
    uint64_t now = hac_now_ns();
    if (r->since != 0)
        hac_stage_add(&r->map, r->since, now, 0);
    r->since = 0;
    return now;
}

/* The source has worked since `from`; of that reading was what it did beyond `before`. */
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
    own.values[HAC_SPLICE_BLOCKS_MOST] = own.values[HAC_SPLICE_THREADS] =
        counters->values[HAC_SPLICE_THREADS] + 1;
    hac_splice_merge(counters, &own);
}

/* ---- errors ---- */

/* "--select: sum(a*b)" of an output of query->rows. */
static void name_output(const hac_query *query, size_t output, char *ret, size_t room)
{
    char name[HAC_AGGREGATE_NAME_MAX];
    if (!query->aggregates) {
        bool visible = output < query->n_visible && output < query->outputs.n_fields;
        snprintf(ret, room, visible ? "--select: %s" : "--order-by%s",
                 visible ? query->outputs.fields[output].name : "");
        return;
    }
    for (size_t i = 0; output >= query->n_keys && i < query->n_aggregates; i++) {
        if (query->aggregate[i].argument >= 0 && (size_t)query->aggregate[i].argument == output) {
            snprintf(ret, room, "--select: %s", hac_aggregate_name(query, i, name));
            return;
        }
    }
    bool named = output < query->n_visible && output < query->outputs.n_fields;
    snprintf(ret, room, "--group-by: %s", named ? query->outputs.fields[output].name : "key");
}

static hac_status fail_row(hac_chunk_rows *r, size_t row, unsigned state, const char *what, hac_error *err)
{
    char where[32];
    hac_source_where(r->source, row, where);
    return hac_fail(err, HAC_FAILED, "%s, %s: %s", where, what, hac_row_state_text(state));
}

/* ---- plain rows ---- */

/* The column of the table that output `output` is, as it is there; NULL: it is none. */
static const hac_table_column *plain_column(const hac_query_task *task, size_t output)
{
    const hac_program *rows = task->query->rows;
    int input = hac_program_output_input(rows, output);
    if (input < 0 || task->query->positions[input] >= task->table.n_columns)
        return NULL;
    const hac_table_column *c = &task->table.columns[task->query->positions[input]];
    if (c->type.kind == HAC_KIND_DECIMAL) /* the source looks at how many digits there are */
        return NULL;
    return hac_value_type_equal(c->type, rows->outputs[output].type) ? c : NULL;
}

/* Whether rows [first, end) have no null: a byte of the bitmap at a time where it is whole. */
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

bool hac_chunk_rows_plain(hac_chunk_rows *r, const hac_query_task *task, uint64_t first, uint64_t end,
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

/* The row of the batch as it was read of row `row` of what was kept. */
static size_t original_row(const uint8_t *kept, size_t row)
{
    if (kept == NULL)
        return row;
    for (size_t i = 0; i < HAC_BATCH_ROWS; i++)
        if (kept[i] != 0 && row-- == 0)
            return i;
    return 0;
}

/* `kept` gets a byte a row; the filter's own vector may be one of the columns that keeping overwrites. */
static hac_status apply_filter(hac_chunk_rows *r, hac_batch *batch, uint8_t *kept, hac_error *err)
{
    hac_vector keep;
    hac_machine_c_run(r->filter, batch, &keep);
    size_t bad = hac_query_bad_row(&keep, batch->rows);
    if (bad != SIZE_MAX)
        return fail_row(r, bad, keep.states[bad], "--where", err);
    const uint8_t *values = keep.values;
    for (size_t i = 0; i < batch->rows; i++)
        kept[i] = values[i] != 0 && (keep.states == NULL || keep.states[i] == HAC_ROW_OK);
    memset(kept + batch->rows, 0, HAC_BATCH_ROWS - batch->rows);
    hac_vector mask = {.type = {.kind = HAC_KIND_BOOL}, .values = kept};
    hac_batch_keep(batch, &mask);
    return HAC_OK;
}

static hac_status check_outputs(hac_chunk_rows *r, size_t n, const uint8_t *kept, hac_error *err)
{
    size_t first = SIZE_MAX, output = 0;
    for (size_t c = 0; c < r->query->rows->n_outputs; c++) {
        size_t bad = hac_query_bad_row(&r->columns[c], n);
        if (bad < first) {
            first = bad;
            output = c;
        }
    }
    if (first == SIZE_MAX)
        return HAC_OK;
    char what[HAC_AGGREGATE_NAME_MAX + 32];
    name_output(r->query, output, what, sizeof what);
    return fail_row(r, original_row(kept, first), r->columns[output].states[first], what, err);
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
        r->largest = batch.rows > r->largest ? batch.rows : r->largest;
        filtered = r->filter != NULL && !hac_source_filtered(r->source);
        if (filtered)
            status = apply_filter(r, &batch, kept, err);
        if (status != HAC_OK)
            return status;
    } while (batch.rows == 0);
    r->kept += batch.rows;
    hac_machine_c_run(r->rows, &batch, r->columns);
    *ret_n = batch.rows;
    return check_outputs(r, batch.rows, filtered ? kept : NULL, err);
}
