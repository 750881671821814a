/* SPDX-License-Identifier: Apache-2.0 */
#include "page_index.h"

#include <stdlib.h>

#include "base/cleanup.h"

#define PLACE_BYTES     7   /* the shortest PageLocation */
#define HEADER_LACK_MAX 100 /* hac_parquet_chunk.short_by_header */

/* An index is small compared with its column; one larger than the limit of a footer is refused. */
static hac_status read_index(const hac_parquet_file *file, uint64_t offset, uint32_t bytes, uint8_t **ret,
                             hac_error *err)
{
    if (offset == 0 || bytes == 0 || bytes > file->limits.footer_bytes)
        return hac_fail(err, HAC_NOT_FOUND, "there is no such index");
    hac_autofree uint8_t *data = malloc(bytes);
    if (data == NULL)
        return hac_fail_no_memory(err);
    hac_status status = hac_parquet_read(file, offset, data, bytes, err);
    if (status == HAC_OK)
        *ret = hac_steal_ptr(data);
    return status == HAC_FAILED ? HAC_NOT_FOUND : status;
}

/* ---- offset index -----------------------------------------------------------------------------------------
 */

static void read_place(hac_thrift *t, hac_parquet_page_place *ret)
{
    hac_thrift_field field = {0, 0};
    int64_t offset = -1, first_row = -1;
    int32_t bytes = -1;
    while (hac_thrift_next(t, &field)) {
        if (field.id == 1)
            hac_thrift_i64(t, &field, &offset);
        else if (field.id == 2)
            hac_thrift_i32(t, &field, &bytes);
        else if (field.id == 3)
            hac_thrift_i64(t, &field, &first_row);
        else
            hac_thrift_skip(t, &field);
    }
    if (offset < 0 || bytes < 0 || first_row < 0)
        hac_thrift_break(t, "a page's place is negative or absent");
    *ret = (hac_parquet_page_place){(uint64_t)offset, (uint64_t)bytes, (uint64_t)first_row};
}

/* Checks that the pages are in order within the chunk, and their rows within the row group. */
static bool places_hold(const hac_parquet_page_place *places, size_t n, const hac_parquet_chunk *chunk,
                        uint64_t rows)
{
    uint64_t at = chunk->first_byte, row = 0;
    uint64_t end = at + chunk->bytes + (chunk->short_by_header ? HEADER_LACK_MAX : 0);
    for (size_t i = 0; i < n; i++) {
        const hac_parquet_page_place *place = &places[i];
        if (place->offset < at || place->offset > end || place->bytes > end - place->offset ||
            place->first_row < row || place->first_row > rows || (i == 0 && place->first_row != 0))
            return false;
        at = place->offset + place->bytes;
        row = place->first_row;
    }
    return true;
}

/* Reads the header of the list that the index begins with; sets t->broken if there is none. */
static size_t find_places(hac_thrift *t)
{
    hac_thrift_field field = {0, 0};
    size_t n = 0;
    while (hac_thrift_next(t, &field)) {
        if (field.id == 1 && hac_thrift_list(t, &field, HAC_THRIFT_STRUCT, &n))
            return n > (size_t)(t->end - t->at) / PLACE_BYTES ? 0 : n;
        if (field.id != 1)
            hac_thrift_skip(t, &field);
    }
    return 0;
}

hac_status hac_parquet_page_places(const hac_parquet_file *file, size_t group, size_t leaf,
                                   hac_parquet_page_place **ret, size_t *ret_n, hac_error *err)
{
    const hac_parquet_group *rows = &file->groups[group];
    const hac_parquet_chunk *chunk = &rows->chunks[leaf];
    hac_autofree uint8_t *data = NULL;
    hac_status status = read_index(file, chunk->offset_index, chunk->offset_index_bytes, &data, err);
    if (status != HAC_OK)
        return status;
    hac_thrift t;
    hac_thrift_begin(&t, data, chunk->offset_index_bytes);
    size_t n = find_places(&t);
    if (n == 0 || file->leaves[leaf].max_repetition > 0)
        return hac_fail(err, HAC_NOT_FOUND, "the offset index is damaged");
    hac_autofree hac_parquet_page_place *places = calloc(n, sizeof *places);
    if (places == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < n; i++)
        read_place(&t, &places[i]);
    if (t.broken != NULL || !places_hold(places, n, chunk, rows->rows))
        return hac_fail(err, HAC_NOT_FOUND, "the offset index is damaged");
    *ret = hac_steal_ptr(places);
    *ret_n = n;
    return HAC_OK;
}

/* ---- column index -----------------------------------------------------------------------------------------
 */

/* Reads the header of a list with one element a page. Its elements are read later, page by page. */
static void note_list(hac_thrift *t, const hac_thrift_field *field, hac_thrift_type element, size_t pages,
                      hac_thrift *ret)
{
    hac_thrift list = *t;
    size_t n;
    if (hac_thrift_list(&list, field, element, &n) && n == pages)
        *ret = list;
    hac_thrift_skip(t, field);
}

hac_status hac_parquet_column_index_read(const hac_parquet_file *file, size_t group, size_t leaf,
                                         size_t pages, hac_parquet_column_index *ret, hac_error *err)
{
    const hac_parquet_chunk *chunk = &file->groups[group].chunks[leaf];
    hac_autofree uint8_t *data = NULL;
    hac_status status = read_index(file, chunk->column_index, chunk->column_index_bytes, &data, err);
    if (status != HAC_OK)
        return status;
    hac_parquet_column_index index = {.pages = pages};
    hac_thrift t;
    hac_thrift_begin(&t, data, chunk->column_index_bytes);
    hac_thrift_field field = {0, 0};
    while (hac_thrift_next(&t, &field)) {
        if (field.id == 1)
            note_list(&t, &field, HAC_THRIFT_TRUE, pages, &index.null_pages);
        else if (field.id == 2)
            note_list(&t, &field, HAC_THRIFT_BINARY, pages, &index.min);
        else if (field.id == 3)
            note_list(&t, &field, HAC_THRIFT_BINARY, pages, &index.max);
        else if (field.id == 5)
            note_list(&t, &field, HAC_THRIFT_I64, pages, &index.nulls);
        else if (field.id == 8)
            note_list(&t, &field, HAC_THRIFT_I64, pages, &index.nans);
        else
            hac_thrift_skip(&t, &field);
    }
    if (t.broken != NULL || index.null_pages.at == NULL || index.min.at == NULL || index.max.at == NULL)
        return hac_fail(err, HAC_NOT_FOUND, "the column index is damaged");
    index.data = hac_steal_ptr(data);
    *ret = index;
    return HAC_OK;
}

void hac_parquet_column_index_clear(hac_parquet_column_index *index)
{
    free(index->data);
    *index = (hac_parquet_column_index){.data = NULL};
}

static uint64_t next_count(hac_thrift *t, uint64_t rows)
{
    if (t->at == NULL)
        return UINT64_MAX;
    int64_t ret = hac_thrift_i64_element(t);
    return ret >= 0 && (uint64_t)ret <= rows ? (uint64_t)ret : UINT64_MAX;
}

bool hac_parquet_column_index_next(hac_parquet_column_index *index, const hac_parquet_leaf *leaf,
                                   uint64_t rows, hac_parquet_interval *ret, hac_parquet_counts *ret_counts)
{
    const hac_parquet_slice none = {NULL, 0};
    bool only_nulls = hac_thrift_bool_element(&index->null_pages);
    hac_parquet_slice min = hac_thrift_binary_element(&index->min);
    hac_parquet_slice max = hac_thrift_binary_element(&index->max);
    *ret_counts = (hac_parquet_counts){rows, next_count(&index->nulls, rows), next_count(&index->nans, rows)};
    bool bounded = !only_nulls && leaf->order == HAC_PARQUET_ORDERED;
    hac_parquet_interval_of(leaf, bounded ? min : none, bounded ? max : none, ret);
    if (only_nulls)
        ret_counts->nulls = rows;
    else if (leaf->max_definition == 0)
        ret_counts->nulls = 0;
    return index->null_pages.broken == NULL && index->min.broken == NULL && index->max.broken == NULL &&
           index->nulls.broken == NULL && index->nans.broken == NULL;
}
