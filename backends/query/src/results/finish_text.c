/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/value_text.h"
#include "codelet/threads.h"
#include "finish_internal.h"
#include "query/output.h"

#define SLICE_ROWS (8u * HAC_BATCH_ROWS)

/* Consecutive rows as text. */
typedef struct slice {
    uint8_t *text;
    uint64_t bytes;
} slice;

typedef struct formatting {
    const hac_ordered_rows *rows;
    size_t n_visible;
    slice *slices;
    hac_ordered_batch *scratch; /* one for each worker */
    uint8_t *result;            /* destination of all text, if it fits */
    const uint64_t *starts;
} formatting;

static bool has_text(const hac_column *c, size_t row)
{
    int64_t value = ((const int64_t *)c->values)[row];
    if (c->states != NULL && c->states[row] != HAC_ROW_OK)
        return true;
    return c->type.kind == HAC_KIND_DATE ? hac_date_has_text(value) : hac_timestamp_has_text(value);
}

hac_status hac_finish_check_times(const hac_query *query, const hac_column *columns, size_t n, hac_error *err)
{
    for (size_t c = 0; c < query->n_visible; c++) {
        char text[HAC_PRINT_MAX];
        size_t row = 0;
        if (hac_kinds[columns[c].type.kind].class != HAC_CLASS_TIME)
            continue;
        while (row < n && has_text(&columns[c], row))
            row++;
        if (row == n)
            continue;
        size_t bytes = hac_print_value(columns[c].type, columns[c].values, row, text);
        return hac_fail(
            err, HAC_FAILED,
            "--select: %s: %.*s is outside of the years 0001 to 9999, so text cannot hold it; leave "
            "such rows out (--where), or write Parquet (--output-format parquet)",
            query->outputs.fields[c].name, (int)bytes, text);
    }
    return HAC_OK;
}

/* Appends a batch to a slice, whose buffer grows until it fits. */
static hac_status print_batch(const formatting *f, slice *to, uint64_t *capacity, const hac_column *columns,
                              size_t n, hac_error *err)
{
    const hac_query *query = f->rows->query;
    hac_status status = hac_finish_check_times(query, columns, n, err);
    if (status != HAC_OK)
        return status;
    for (;;) {
        hac_output_buffer output = {.data = to->text + to->bytes, .capacity = *capacity - to->bytes};
        hac_output_rows(&output, query->output, &query->outputs, f->n_visible, columns, n);
        if (output.bytes <= output.capacity) {
            to->bytes += output.bytes;
            return HAC_OK;
        }
        uint64_t wanted = to->bytes + output.bytes * (SLICE_ROWS / HAC_BATCH_ROWS) + 4096;
        uint8_t *text = realloc(to->text, wanted);
        if (text == NULL)
            return hac_fail_no_memory(err);
        to->text = text;
        *capacity = wanted;
    }
}

static hac_status format_slice(void *context, uint64_t item, unsigned worker, hac_error *err)
{
    const formatting *f = context;
    hac_ordered_batch *batch = &f->scratch[worker];
    uint64_t first = item * SLICE_ROWS, end = first + SLICE_ROWS, capacity = 64;
    end = end < f->rows->n ? end : f->rows->n;
    slice *to = &f->slices[item];
    hac_status status = HAC_OK;
    to->text = malloc(capacity);
    if (to->text == NULL)
        return hac_fail_no_memory(err);
    for (uint64_t i = first; status == HAC_OK && i < end; i += HAC_BATCH_ROWS) {
        size_t n = end - i < HAC_BATCH_ROWS ? (size_t)(end - i) : HAC_BATCH_ROWS;
        status = hac_ordered_batch_fill(f->rows, i, n, batch, err);
        if (status == HAC_OK)
            status = print_batch(f, to, &capacity, batch->columns, n, err);
    }
    return status;
}

static hac_status copy_slice(void *context, uint64_t item, unsigned worker, hac_error *err)
{
    const formatting *f = context;
    (void)worker;
    (void)err;
    memcpy(f->result + f->starts[item], f->slices[item].text, f->slices[item].bytes);
    return HAC_OK;
}

static uint64_t header_bytes(const hac_query *query, uint8_t *result, uint64_t capacity)
{
    hac_output_buffer output = {.data = result, .capacity = capacity};
    if (query->headless)
        return 0;
    hac_output_header(&output, query->output, &query->outputs, query->n_visible);
    return output.bytes;
}

static hac_status format_all(formatting *f, uint64_t n_slices, uint64_t *starts, uint64_t capacity,
                             uint64_t *ret_bytes, hac_error *err)
{
    uint64_t at = header_bytes(f->rows->query, f->result, capacity);
    hac_status status = hac_pool_run(n_slices, format_slice, f, err);
    if (status != HAC_OK)
        return status;
    for (uint64_t i = 0; i < n_slices; i++) {
        starts[i] = at;
        at += f->slices[i].bytes;
    }
    *ret_bytes = at;
    f->starts = starts;
    return at <= capacity ? hac_pool_run(n_slices, copy_slice, f, err) : HAC_OK;
}

hac_status hac_finish_text(const hac_ordered_rows *rows, uint8_t *result, uint64_t capacity,
                           uint64_t *ret_bytes, hac_error *err)
{
    uint64_t n_slices = (rows->n + SLICE_ROWS - 1) / SLICE_ROWS;
    unsigned threads = hac_pool_threads();
    hac_autofree uint64_t *starts = malloc((n_slices + 1) * sizeof *starts);
    hac_autofree slice *slices = calloc(n_slices + 1, sizeof *slices);
    hac_autofree hac_ordered_batch *workers = calloc(threads, sizeof *workers);
    if (starts == NULL || slices == NULL || workers == NULL)
        return hac_fail_no_memory(err);
    formatting f = {.rows = rows,
                    .n_visible = rows->query->n_visible,
                    .slices = slices,
                    .scratch = workers,
                    .result = result};
    hac_status status = format_all(&f, n_slices, starts, capacity, ret_bytes, err);
    for (uint64_t i = 0; i < n_slices; i++)
        free(slices[i].text);
    for (unsigned i = 0; i < threads; i++)
        hac_ordered_batch_clear(&workers[i]);
    return status;
}
