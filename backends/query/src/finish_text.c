/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "finish_internal.h"
#include "query/output.h"
#include "query/pool.h"

#define SLICE_ROWS (8u * HAC_BATCH_ROWS)

/* A run of rows as text. */
typedef struct slice {
    uint8_t *text;
    uint64_t bytes;
} slice;

/* A worker's batch. */
typedef struct scratch {
    uint8_t *memory;  /* 16 · HAC_BATCH_ROWS of values, HAC_BATCH_ROWS of states a column */
    uint8_t *strings; /* of the batch */
    uint64_t room;
} scratch;

typedef struct formatting {
    const hac_ordered_rows *rows;
    size_t n_visible;
    slice *slices;
    scratch *scratch; /* one a worker */
    uint8_t *result;  /* where all of it goes, when it fits */
    const uint64_t *starts;
} formatting;

static hac_status add_string(scratch *s, uint64_t *used, const uint64_t words[2], hac_string_ref *ret,
                             hac_error *err)
{
    if (words[1] > UINT32_MAX - *used)
        return hac_fail(err, HAC_NO_MEMORY, "a batch of rows has more than 4 GiB of strings");
    if (*used + words[1] > s->room) {
        uint64_t room = (*used + words[1]) * 2;
        uint8_t *strings = realloc(s->strings, room);
        if (strings == NULL)
            return hac_fail_no_memory(err);
        s->strings = strings;
        s->room = room;
    }
    if (words[1] != 0)
        memcpy(s->strings + *used, (const void *)(uintptr_t)words[0], words[1]);
    *ret = (hac_string_ref){.offset = (uint32_t)*used, .length = (uint32_t)words[1]};
    *used += words[1];
    return HAC_OK;
}

static hac_status gather(const formatting *f, scratch *s, uint64_t first, size_t n, hac_vector *columns,
                         hac_error *err)
{
    uint64_t used = 0, words[2];
    hac_status status = HAC_OK;
    for (size_t c = 0; c < f->n_visible; c++) {
        hac_repr repr = f->rows->rows->repr[c];
        size_t size = hac_repr_size(repr);
        uint8_t *values = s->memory + c * 17 * HAC_BATCH_ROWS;
        columns[c] = (hac_vector){.type = f->rows->query->outputs.fields[c].type,
                                  .values = values,
                                  .states = values + 16 * HAC_BATCH_ROWS};
        for (size_t i = 0; status == HAC_OK && i < n; i++) {
            columns[c].states[i] = hac_ordered_value(f->rows, first + i, c, words);
            if (repr == HAC_REPR_STRING)
                status = add_string(s, &used, words, (hac_string_ref *)(void *)values + i, err);
            else
                memcpy(values + i * size, words, size);
        }
    }
    for (size_t c = 0; c < f->n_visible; c++)
        columns[c].bytes = s->strings;
    return status;
}

/* Appends a batch to a slice, whose text grows until it fits. */
static hac_status print_batch(const formatting *f, slice *to, uint64_t *room, const hac_vector *columns,
                              size_t n, hac_error *err)
{
    const hac_query *query = f->rows->query;
    for (;;) {
        hac_output output = {.data = to->text + to->bytes, .room = *room - to->bytes};
        hac_output_rows(&output, query->output, &query->outputs, f->n_visible, columns, n);
        if (output.bytes <= output.room) {
            to->bytes += output.bytes;
            return HAC_OK;
        }
        uint64_t wanted = to->bytes + output.bytes * (SLICE_ROWS / HAC_BATCH_ROWS) + 4096;
        uint8_t *text = realloc(to->text, wanted);
        if (text == NULL)
            return hac_fail_no_memory(err);
        to->text = text;
        *room = wanted;
    }
}

static hac_status format_slice(void *context, uint64_t item, unsigned worker, hac_error *err)
{
    const formatting *f = context;
    scratch *s = &f->scratch[worker];
    hac_vector columns[HAC_PROGRAM_OUTPUTS_MAX];
    uint64_t first = item * SLICE_ROWS, end = first + SLICE_ROWS, room = 64;
    end = end < f->rows->n ? end : f->rows->n;
    slice *to = &f->slices[item];
    hac_status status = HAC_OK;
    if (s->memory == NULL)
        s->memory = aligned_alloc(64, (f->n_visible + 1) * 17 * HAC_BATCH_ROWS);
    to->text = malloc(room);
    if (s->memory == NULL || to->text == NULL)
        return hac_fail_no_memory(err);
    for (uint64_t i = first; status == HAC_OK && i < end; i += HAC_BATCH_ROWS) {
        size_t n = end - i < HAC_BATCH_ROWS ? (size_t)(end - i) : HAC_BATCH_ROWS;
        status = gather(f, s, i, n, columns, err);
        if (status == HAC_OK)
            status = print_batch(f, to, &room, columns, n, err);
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

static uint64_t header_bytes(const hac_query *query, uint8_t *result, uint64_t room)
{
    hac_output output = {.data = result, .room = room};
    hac_output_header(&output, query->output, &query->outputs, query->n_visible);
    return output.bytes;
}

static hac_status format_all(formatting *f, uint64_t n_slices, uint64_t *starts, uint64_t room,
                             uint64_t *ret_bytes, hac_error *err)
{
    uint64_t at = header_bytes(f->rows->query, f->result, room);
    hac_status status = hac_pool_run(n_slices, format_slice, f, err);
    if (status != HAC_OK)
        return status;
    for (uint64_t i = 0; i < n_slices; i++) {
        starts[i] = at;
        at += f->slices[i].bytes;
    }
    *ret_bytes = at;
    f->starts = starts;
    return at <= room ? hac_pool_run(n_slices, copy_slice, f, err) : HAC_OK;
}

hac_status hac_finish_text(const hac_ordered_rows *rows, uint8_t *result, uint64_t room, uint64_t *ret_bytes,
                           hac_error *err)
{
    uint64_t n_slices = (rows->n + SLICE_ROWS - 1) / SLICE_ROWS;
    unsigned threads = hac_pool_threads();
    hac_autofree uint64_t *starts = malloc((n_slices + 1) * sizeof *starts);
    hac_autofree slice *slices = calloc(n_slices + 1, sizeof *slices);
    hac_autofree scratch *workers = calloc(threads, sizeof *workers);
    if (starts == NULL || slices == NULL || workers == NULL)
        return hac_fail_no_memory(err);
    formatting f = {.rows = rows,
                    .n_visible = rows->query->n_visible,
                    .slices = slices,
                    .scratch = workers,
                    .result = result};
    hac_status status = format_all(&f, n_slices, starts, room, ret_bytes, err);
    for (uint64_t i = 0; i < n_slices; i++)
        free(slices[i].text);
    for (unsigned i = 0; i < threads; i++) {
        free(workers[i].memory);
        free(workers[i].strings);
    }
    return status;
}
