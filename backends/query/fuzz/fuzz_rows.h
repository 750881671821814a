/* SPDX-License-Identifier: Apache-2.0 */
/* For fuzz targets of sources: reads a source in chunks and reduces its rows to a number. Oracle in addition
 * to the sanitizers: for every division into chunks, the rows are the same, or there is an error. */
#ifndef QUERY_FUZZ_ROWS_H
#define QUERY_FUZZ_ROWS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/source.h"

#define FUZZ_COLUMNS_MAX 8

typedef struct fuzz_query {
    hac_query query;
    hac_field fields[FUZZ_COLUMNS_MAX];
    uint16_t positions[FUZZ_COLUMNS_MAX];
} fuzz_query;

typedef struct fuzz_rows {
    hac_status status;
    uint64_t rows, digest, skipped;
} fuzz_rows;

static inline void fuzz_column(fuzz_query *q, const char *name, hac_kind kind, uint8_t precision,
                               uint8_t scale)
{
    size_t n = q->query.columns.n_fields++;
    snprintf(q->fields[n].name, HAC_FIELD_NAME_MAX, "%s", name);
    q->fields[n].type = (hac_value_type){(uint8_t)kind, precision, scale};
    q->positions[n] = (uint16_t)n;
    q->query.columns.fields = q->fields;
    q->query.positions = q->positions;
    q->query.schema_columns = n + 1;
}

static inline void fuzz_mix(uint64_t *digest, const void *data, size_t bytes)
{
    const uint8_t *at = data;
    for (size_t i = 0; i < bytes; i++)
        *digest = (*digest ^ at[i]) * UINT64_C(0x100000001b3);
    *digest = (*digest ^ bytes) * UINT64_C(0x100000001b3);
}

static inline void fuzz_add(fuzz_rows *rows, const hac_batch *batch)
{
    if (batch->rows < 1 || batch->rows > HAC_BATCH_ROWS)
        abort();
    for (size_t r = 0; r < batch->rows; r++)
        for (size_t c = 0; c < batch->n_columns; c++) {
            const hac_column *v = &batch->columns[c];
            uint8_t state = v->states != NULL ? v->states[r] : 0;
            size_t size = hac_repr_size(hac_repr_of(v->type));
            hac_string_ref ref;
            if (state > HAC_ROW_NULL)
                abort();
            fuzz_mix(&rows->digest, &state, 1);
            memcpy(&ref, (const uint8_t *)v->values + r * size, size < sizeof ref ? size : sizeof ref);
            if (hac_kind_is_text(v->type.kind)) {
                if (state != HAC_ROW_OK && ref.length != 0)
                    abort();
                fuzz_mix(&rows->digest, ref.length > 0 ? v->bytes + ref.offset : NULL, ref.length);
            } else if (state == HAC_ROW_OK) {
                fuzz_mix(&rows->digest, (const uint8_t *)v->values + r * size, size);
            }
        }
    rows->rows += batch->rows;
}

static inline hac_status fuzz_chunk(hac_source *source, const hac_source_place *place, uint64_t first,
                                    uint64_t end, fuzz_rows *ret, hac_error *err)
{
    uint64_t quotes = 0;
    hac_batch batch;
    hac_status status = place != NULL ? hac_source_quotes(place, 0, first, &quotes, err) : HAC_OK;
    if (status == HAC_OK)
        status = hac_source_begin(source, first, end, quotes % 2 == 1, err);
    while (status == HAC_OK)
        if ((status = hac_source_next(source, &batch, err)) == HAC_OK)
            fuzz_add(ret, &batch);
    return status == HAC_NOT_FOUND ? HAC_OK : status;
}

/* Reads all chunks in order, up to the first that fails; chunk 0: one chunk. */
static inline fuzz_rows fuzz_read(const fuzz_query *q, const hac_source_place *place, const hac_table *table,
                                  uint64_t chunk)
{
    fuzz_rows ret = {.digest = UINT64_C(0xcbf29ce484222325)};
    hac_error err = HAC_ERROR_NONE;
    hac_source *source = NULL;
    uint64_t all = table != NULL ? table->rows : place->bytes;
    chunk = chunk > 0 ? chunk : all + 1;
    ret.status = hac_source_open(&q->query, place, table, &source, &err);
    for (uint64_t at = 0; at < all && ret.status == HAC_OK; at += chunk)
        ret.status = fuzz_chunk(source, q->query.source.format == HAC_INPUT_CSV ? place : NULL, at,
                                at + chunk, &ret, &err);
    if (ret.status != HAC_OK && (ret.status != (hac_status)err.code || err.message[0] == 0))
        abort();
    ret.skipped = source != NULL ? hac_source_skipped(source) : 0;
    hac_source_free(source);
    return ret;
}

static inline void fuzz_compare(const fuzz_rows *a, const fuzz_rows *b)
{
    if ((a->status == HAC_OK) != (b->status == HAC_OK))
        abort();
    if (a->status == HAC_OK && (a->rows != b->rows || a->digest != b->digest || a->skipped != b->skipped))
        abort();
}

#endif
