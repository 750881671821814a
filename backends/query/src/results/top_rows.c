/* SPDX-License-Identifier: Apache-2.0 */
#include "top_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "expr/machine.h"
#include "finish_internal.h"
#include "row_runs.h"

#define FIRST_CAPACITY (UINT64_C(64) << 10)
#define WAITING_MIN    64 /* rows beyond the limit that are worth sorting */
#define COLUMN_BYTES   ((16 + 1) * HAC_BATCH_ROWS)

static hac_status make_memory(hac_top_rows *top, hac_error *err)
{
    top->region = aligned_alloc(64, FIRST_CAPACITY);
    top->spare = aligned_alloc(64, FIRST_CAPACITY);
    top->batch = aligned_alloc(64, (top->query->outputs.n_fields + 1) * COLUMN_BYTES);
    if (top->region == NULL || top->spare == NULL || top->batch == NULL)
        return hac_fail_no_memory(err);
    top->capacity = top->spare_capacity = FIRST_CAPACITY;
    top->all = *top->query;
    top->all.n_visible = top->query->outputs.n_fields;
    hac_row_keys_init(top->query, NULL, &top->keys);
    return HAC_OK;
}

hac_status hac_top_rows_begin(hac_top_rows *top, uint64_t chunk, hac_error *err)
{
    hac_status status = top->batch == NULL ? make_memory(top, err) : HAC_OK;
    if (status != HAC_OK)
        return status;
    hac_rows_begin(&top->writer, top->region, top->capacity, 0, chunk);
    top->end.known = false;
    return HAC_OK;
}

void hac_top_rows_clear(hac_top_rows *top)
{
    free(top->region);
    free(top->spare);
    free(top->batch);
    *top = (hac_top_rows){.query = NULL};
}

/* ---- keeping the first rows ---- */

/* Adds rows to the region, which is enlarged if they do not fit. */
static hac_status add_rows(hac_rows_writer *w, uint8_t **region, uint64_t *capacity,
                           const hac_column *columns, size_t n_columns, size_t rows, hac_error *err)
{
    hac_rows_writer before = *w;
    hac_rows_add(w, columns, n_columns, rows);
    if (w->bytes <= w->capacity)
        return HAC_OK;
    uint64_t needed = w->bytes;
    uint8_t *larger = needed > INT64_MAX / 4 ? NULL : realloc(*region, 2 * needed);
    if (larger == NULL)
        return hac_fail_no_memory(err);
    *region = larger;
    *capacity = 2 * needed;
    *w = before;
    w->region = larger;
    w->capacity = *capacity;
    hac_rows_add(w, columns, n_columns, rows);
    return HAC_OK;
}

/* Where rows in order are put. */
typedef struct moving {
    hac_rows_writer *writer;
    uint8_t **region; /* NULL: of fixed size */
    uint64_t *capacity;
    size_t n_columns;
} moving;

static hac_status move_batch(void *context, const hac_column *columns, size_t rows, hac_error *err)
{
    moving *m = context;
    if (m->region != NULL)
        return add_rows(m->writer, m->region, m->capacity, columns, m->n_columns, rows, err);
    hac_rows_add(m->writer, columns, m->n_columns, rows);
    return HAC_OK;
}

/* Notes the value of the first item in the row at `at`. */
static void note_end(hac_top_rows *top, const hac_rows_reader *reader, uint64_t at)
{
    size_t column = top->query->order[0].column;
    hac_top_end end = {.chunk = top->writer.number};
    end.known = hac_rows_value(reader, at / HAC_BATCH_ROWS, (uint32_t)(at % HAC_BATCH_ROWS), column,
                               end.words) == HAC_ROW_OK;
    if (end.known && reader->repr[column] == HAC_REPR_STRING) {
        end.known = end.words[1] <= HAC_TOP_TEXT_MAX;
        if (end.known && end.words[1] > 0)
            memcpy(end.text, (const void *)(uintptr_t)end.words[0], end.words[1]);
        end.words[0] = 0;
    }
    top->end = end;
}

/* Gives the first rows to `to`, in their order. */
static hac_status take_first(hac_top_rows *top, moving *to, hac_error *err)
{
    hac_rows_reader reader;
    hac_row_keys keys;
    hac_autofree hac_row_entry *entries = NULL;
    uint64_t n = 0;
    (void)hac_rows_end(&top->writer);
    hac_rows_reader_init(&reader, top->query);
    hac_status status = hac_rows_reader_add(&reader, top->region, top->capacity, 0, top->writer.number, err);
    hac_row_keys_init(top->query, &reader, &keys);
    if (status == HAC_OK)
        status = hac_row_run_make(&keys, 0, reader.n_blocks, top->query->limit, &entries, &n, err);
    hac_autofree uint64_t *order = malloc((n + 1) * sizeof *order);
    if (status == HAC_OK && order == NULL)
        status = hac_fail_no_memory(err);
    for (uint64_t i = 0; status == HAC_OK && i < n; i++)
        order[i] = entries[i].at;
    if (status == HAC_OK && n == top->query->limit) {
        top->last = entries[n - 1];
        note_end(top, &reader, top->last.at);
    }
    hac_ordered_rows rows = {.query = &top->all, .rows = &reader, .order = order, .n = n};
    if (status == HAC_OK)
        status = hac_ordered_for_batches(&rows, move_batch, to, err);
    hac_rows_reader_clear(&reader);
    return status;
}

static hac_status drop_others(hac_top_rows *top, hac_error *err)
{
    hac_rows_writer writer;
    moving to = {.writer = &writer,
                 .region = &top->spare,
                 .capacity = &top->spare_capacity,
                 .n_columns = top->query->outputs.n_fields};
    hac_rows_begin(&writer, top->spare, top->spare_capacity, 0, top->writer.number);
    hac_status status = take_first(top, &to, err);
    if (status != HAC_OK)
        return status;
    uint8_t *region = top->region;
    uint64_t capacity = top->capacity;
    top->region = top->spare;
    top->capacity = top->spare_capacity;
    top->spare = region;
    top->spare_capacity = capacity;
    top->writer = writer;
    return HAC_OK;
}

/* ---- rows ---- */

/* Copies n rows of the batch to the memory for them, as outputs may share their arrays. */
static void copy_kept(const hac_top_rows *top, const hac_column *columns, size_t rows, const uint16_t *kept,
                      size_t n, hac_column *ret)
{
    for (size_t c = 0; c < top->query->outputs.n_fields; c++) {
        size_t size = hac_repr_size(hac_repr_of(columns[c].type));
        uint8_t *values = top->batch + c * COLUMN_BYTES;
        uint8_t *states = columns[c].states == NULL ? NULL : values + 16 * HAC_BATCH_ROWS;
        ret[c] = (hac_column){
            .type = columns[c].type, .values = values, .states = states, .bytes = columns[c].bytes};
        memcpy(values, columns[c].values, rows * size);
        if (states != NULL)
            memcpy(states, columns[c].states, rows);
        hac_batch_gather(&(hac_batch){.rows = rows, .n_columns = 1, .columns = &ret[c]}, kept, n);
    }
}

hac_status hac_top_rows_add(hac_top_rows *top, const hac_column *columns, size_t rows, hac_error *err)
{
    hac_column gathered[HAC_PROGRAM_OUTPUTS_MAX];
    uint16_t kept[HAC_BATCH_ROWS];
    uint64_t limit = top->query->limit;
    size_t n = rows;
    bool full = top->writer.rows >= limit; /* then these were sorted before: `last` is known */
    if (full)
        n = hac_row_keys_before(&top->keys, &columns[top->query->order[0].column], rows, &top->last, kept);
    if (n == 0)
        return HAC_OK;
    if (n < rows) {
        copy_kept(top, columns, rows, kept, n, gathered);
        columns = gathered;
    }
    hac_status status =
        add_rows(&top->writer, &top->region, &top->capacity, columns, top->query->outputs.n_fields, n, err);
    uint64_t waiting = !full ? 0 : limit < WAITING_MIN ? WAITING_MIN : limit;
    if (status == HAC_OK && top->writer.rows >= limit + waiting)
        status = drop_others(top, err);
    return status;
}

hac_status hac_top_rows_end(hac_top_rows *top, hac_rows_writer *writer, hac_error *err)
{
    moving to = {.writer = writer, .n_columns = top->query->outputs.n_fields};
    return take_first(top, &to, err);
}

bool hac_top_end_before(const hac_query *query, const hac_top_end *a, const hac_top_end *b)
{
    if (!a->known || !b->known)
        return a->known;
    const hac_order_item *item = &query->order[0];
    hac_repr repr = hac_repr_of(query->outputs.fields[item->column].type);
    uint64_t x[2] = {a->words[0], a->words[1]}, y[2] = {b->words[0], b->words[1]};
    if (repr == HAC_REPR_STRING) {
        x[0] = (uint64_t)(uintptr_t)a->text;
        y[0] = (uint64_t)(uintptr_t)b->text;
    }
    int order = hac_row_compare_values(repr, x, y);
    return order == 0 ? a->chunk < b->chunk : (order < 0) != item->descending;
}
