/* SPDX-License-Identifier: Apache-2.0 */
#include "chunk_top.h"

#include <string.h>

/* What the statistics of the source say of where its first rows end. */
static void note_statistics(const hac_chunk_top *top, hac_top_shared *shared, const hac_chunk_rows *rows)
{
    const hac_query *query = rows->query;
    hac_top_end end = {.known = true, .chunk = UINT64_MAX};
    hac_constant value;
    const uint8_t *bytes = NULL;
    if (!hac_source_rank(rows->source, top->column, query->order[0].descending, query->limit, &value, &bytes))
        return;
    end.words[0] = value.low;
    end.words[1] = value.high;
    if (value.repr == HAC_REPR_STRING) {
        if (value.high > HAC_TOP_TEXT_MAX)
            return;
        memcpy(end.text, bytes + value.low, value.high);
        end.words[0] = 0;
    }
    pthread_mutex_lock(&shared->lock);
    if (hac_top_end_before(query, &end, &shared->end))
        shared->end = end;
    pthread_mutex_unlock(&shared->lock);
}

static void init(hac_chunk_top *top, hac_top_shared *shared, const hac_chunk_rows *rows)
{
    const hac_query *query = rows->query;
    int input = hac_program_output_input(query->rows, query->order[0].column);
    top->rows.query = query;
    top->cuts = input >= 0 && hac_source_may_cut(rows->source, (size_t)input);
    top->column = top->cuts ? (size_t)input : 0;
    if (top->cuts)
        note_statistics(top, shared, rows);
}

/* Exchanges ends with the other threads, and cuts the source at the best one. */
static hac_status cut(hac_chunk_top *top, hac_top_shared *shared, hac_chunk_rows *rows, uint64_t chunk,
                      bool always, hac_error *err)
{
    const hac_query *query = rows->query;
    pthread_mutex_lock(&shared->lock);
    if (hac_top_end_before(query, &top->rows.end, &shared->end))
        shared->end = top->rows.end;
    hac_top_end end = shared->end;
    pthread_mutex_unlock(&shared->lock);
    if (!end.known || (!always && !hac_top_end_before(query, &end, &top->cut)))
        return HAC_OK;
    top->cut = end;
    /* Rows of a single item that are equal are in the order of their chunks. */
    hac_source_cut at = {.column = top->column,
                         .descending = query->order[0].descending,
                         .with_equal = query->n_order > 1 || end.chunk > chunk,
                         .value = {.repr = (uint8_t)hac_repr_of(query->columns.fields[top->column].type),
                                   .low = end.words[0],
                                   .high = end.words[1]},
                         .bytes = end.text};
    return hac_source_set_cut(rows->source, &at, err);
}

hac_status hac_chunk_top_read(hac_chunk_top *top, hac_top_shared *shared, hac_chunk_rows *rows,
                              uint64_t chunk, hac_error *err)
{
    size_t n;
    if (top->rows.query == NULL)
        init(top, shared, rows);
    hac_status status = hac_top_rows_begin(&top->rows, chunk, err);
    if (status == HAC_OK && top->cuts)
        status = cut(top, shared, rows, chunk, true, err);
    while (status == HAC_OK && (status = hac_chunk_rows_next(rows, &n, err)) == HAC_OK) {
        hac_top_end before = top->rows.end;
        status = hac_top_rows_add(&top->rows, rows->columns, n, err);
        if (status == HAC_OK && top->cuts && hac_top_end_before(rows->query, &top->rows.end, &before))
            status = cut(top, shared, rows, chunk, false, err);
    }
    return status == HAC_NOT_FOUND ? HAC_OK : status;
}

void hac_chunk_top_clear(hac_chunk_top *top)
{
    hac_top_rows_clear(&top->rows);
}
