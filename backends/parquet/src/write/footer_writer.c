/* SPDX-License-Identifier: Apache-2.0 */
#include "footer_writer.h"

#include "format/page_header.h"
#include "thrift_writer.h"

#define CREATED_BY "hac version " HAC_VERSION

void hac_footer_writer_clear(hac_footer_writer *footer)
{
    hac_bytes_clear(&footer->group_rows);
    hac_bytes_clear(&footer->chunks);
    hac_bytes_clear(&footer->column_indexes);
    hac_bytes_clear(&footer->offset_indexes);
}

/* ---- page indexes -------------------------------------------------------------------------------------- */

static bool is_null(const hac_written_page *page)
{
    return page->nulls == page->rows;
}

/* A page with only NaNs has no bounds, and then no page of the chunk may have bounds. */
static bool has_bounds(const hac_written_page *pages, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!is_null(&pages[i]) && (!pages[i].min_max.any || pages[i].min_max.max.none))
            return false;
    }
    return true;
}

/* parquet.thrift's BoundaryOrder: 0 unordered, 1 ascending, 2 descending; null pages do not count. */
static int boundary_order(hac_stored stored, const hac_written_page *pages, size_t n)
{
    bool ascending = true, descending = true;
    const hac_min_max *before = NULL;
    for (size_t i = 0; i < n; i++) {
        const hac_min_max *e = &pages[i].min_max;
        if (is_null(&pages[i]))
            continue;
        if (before != NULL) {
            int min = hac_bound_value_compare(stored, &e->min, &before->min);
            int max = hac_bound_value_compare(stored, &e->max, &before->max);
            ascending = ascending && min >= 0 && max >= 0;
            descending = descending && min <= 0 && max <= 0;
        }
        before = e;
    }
    return ascending ? 1 : descending ? 2 : 0;
}

static void put_bound(hac_thrift_writer *w, const hac_written_page *page, const hac_bound_value *bound)
{
    hac_thrift_put_binary(w, 0, bound->data, is_null(page) ? 0 : bound->bytes);
}

static void put_column_index(hac_bytes *out, const hac_chunk_facts *facts)
{
    size_t n = facts->n_pages;
    const hac_written_page *pages = facts->pages;
    hac_stored stored = facts->stored;
    hac_thrift_writer w = HAC_THRIFT_WRITER(out);
    hac_thrift_put_list(&w, 1, HAC_THRIFT_TRUE, n);
    for (size_t i = 0; i < n; i++)
        hac_thrift_put_bool(&w, 0, is_null(&pages[i]));
    hac_thrift_put_list(&w, 2, HAC_THRIFT_BINARY, n);
    for (size_t i = 0; i < n; i++)
        put_bound(&w, &pages[i], &pages[i].min_max.min);
    hac_thrift_put_list(&w, 3, HAC_THRIFT_BINARY, n);
    for (size_t i = 0; i < n; i++)
        put_bound(&w, &pages[i], &pages[i].min_max.max);
    hac_thrift_put_i32(&w, 4, boundary_order(stored, pages, n));
    hac_thrift_put_list(&w, 5, HAC_THRIFT_I64, n);
    for (size_t i = 0; i < n; i++)
        hac_thrift_put_i64(&w, 0, pages[i].nulls);
    if (stored == HAC_STORED_F32 || stored == HAC_STORED_F64) {
        hac_thrift_put_list(&w, 8, HAC_THRIFT_I64, n);
        for (size_t i = 0; i < n; i++)
            hac_thrift_put_i64(&w, 0, (int64_t)pages[i].min_max.nans);
    }
    hac_thrift_put_close(&w);
}

static void put_offset_index(hac_bytes *out, const hac_chunk_facts *facts, uint64_t first_data_page)
{
    size_t n = facts->n_pages;
    const hac_written_page *pages = facts->pages;
    hac_thrift_writer w = HAC_THRIFT_WRITER(out);
    hac_thrift_put_list(&w, 1, HAC_THRIFT_STRUCT, n);
    for (size_t i = 0; i < n; i++) {
        hac_thrift_put_open(&w, 0);
        hac_thrift_put_i64(&w, 1, (int64_t)(first_data_page + pages[i].offset));
        hac_thrift_put_i32(&w, 2, (int32_t)pages[i].bytes);
        hac_thrift_put_i64(&w, 3, (int64_t)pages[i].first_row);
        hac_thrift_put_close(&w);
    }
    hac_thrift_put_close(&w);
}

hac_chunk_facts hac_chunk_facts_of(const hac_column_writer *column)
{
    hac_chunk_facts facts = {.stored = column->pending.stored,
                             .bytes = hac_column_bytes(column),
                             .uncompressed = column->kept.uncompressed};
    facts.pages = hac_column_pages(column, &facts.n_pages);
    if (column->dictionary.n > 0) {
        facts.dictionary_bytes = column->dictionary_page.n;
        facts.uncompressed += column->dictionary_uncompressed;
    }
    return facts;
}

hac_status hac_footer_add_chunk(hac_footer_writer *footer, const hac_chunk_facts *facts, uint64_t first_byte,
                                hac_error *err)
{
    size_t n = facts->n_pages;
    const hac_written_page *pages = facts->pages;
    hac_written_chunk chunk = {.first_byte = first_byte,
                               .first_data_page = first_byte + facts->dictionary_bytes,
                               .bytes = facts->bytes,
                               .uncompressed = facts->uncompressed,
                               .dictionary = facts->dictionary_bytes > 0,
                               .column_index = footer->column_indexes.n,
                               .offset_index = footer->offset_indexes.n};
    for (size_t i = 0; i < n; i++) {
        chunk.nulls += pages[i].nulls;
        chunk.dictionary_pages += pages[i].dictionary;
        chunk.plain_pages += !pages[i].dictionary;
        hac_min_max_join(facts->stored, &chunk.min_max, &pages[i].min_max);
    }
    if (has_bounds(pages, n))
        put_column_index(&footer->column_indexes, facts);
    put_offset_index(&footer->offset_indexes, facts, chunk.first_data_page);
    chunk.column_index_bytes = (uint32_t)(footer->column_indexes.n - chunk.column_index);
    chunk.offset_index_bytes = (uint32_t)(footer->offset_indexes.n - chunk.offset_index);
    if (footer->column_indexes.broken || footer->offset_indexes.broken ||
        !hac_bytes_add(&footer->chunks, &chunk, sizeof chunk))
        return hac_fail_no_memory(err);
    return HAC_OK;
}

hac_status hac_footer_add_group(hac_footer_writer *footer, uint64_t rows, hac_error *err)
{
    return hac_bytes_add(&footer->group_rows, &rows, sizeof rows) ? HAC_OK : hac_fail_no_memory(err);
}

/* ---- schema -------------------------------------------------------------------------------------------- */

/* The field of parquet.thrift's LogicalType. */
static void put_logical_type(hac_thrift_writer *w, hac_value_type type)
{
    enum { STRING = 1, DECIMAL = 5, DATE = 6, TIMESTAMP = 8, INTEGER = 10, MICROS = 2 };
    bool is_signed = hac_kinds[type.kind].is_signed;
    hac_thrift_put_open(w, 10);
    if (type.kind == HAC_KIND_STRING) {
        hac_thrift_put_empty(w, STRING);
    } else if (type.kind == HAC_KIND_DATE) {
        hac_thrift_put_empty(w, DATE);
    } else if (type.kind == HAC_KIND_DECIMAL) {
        hac_thrift_put_open(w, DECIMAL);
        hac_thrift_put_i32(w, 1, type.scale);
        hac_thrift_put_i32(w, 2, type.precision);
        hac_thrift_put_close(w);
    } else if (type.kind == HAC_KIND_TIMESTAMP) {
        hac_thrift_put_open(w, TIMESTAMP);
        hac_thrift_put_bool(w, 1, hac_value_type_has_zone(type));
        hac_thrift_put_open(w, 2);
        hac_thrift_put_empty(w, MICROS);
        hac_thrift_put_close(w);
        hac_thrift_put_close(w);
    } else {
        hac_thrift_put_open(w, INTEGER);
        hac_thrift_put_i8(w, 1, (int8_t)(8 << (type.kind - (is_signed ? HAC_KIND_I8 : HAC_KIND_U8))));
        hac_thrift_put_bool(w, 2, is_signed);
        hac_thrift_put_close(w);
    }
    hac_thrift_put_close(w);
}

static void put_column(hac_thrift_writer *w, const hac_field *field, const hac_column_writer *column)
{
    enum { OPTIONAL = 1 };
    hac_value_type type = field->type;
    hac_parquet_physical physical = hac_physical_of(type);
    int converted =
        column->not_utf8 && type.kind == HAC_KIND_STRING ? -1 : hac_kinds[type.kind].parquet_converted;
    hac_thrift_put_open(w, 0);
    hac_thrift_put_i32(w, 1, (int32_t)physical);
    if (physical == HAC_PARQUET_FIXED)
        hac_thrift_put_i32(w, 2, (int32_t)column->pending.width);
    hac_thrift_put_i32(w, 3, OPTIONAL);
    hac_thrift_put_binary(w, 4, field->name, strlen(field->name));
    if (converted >= 0) {
        hac_thrift_put_i32(w, 6, converted);
        if (type.kind == HAC_KIND_DECIMAL) {
            hac_thrift_put_i32(w, 7, type.scale);
            hac_thrift_put_i32(w, 8, type.precision);
        }
        put_logical_type(w, type);
    }
    hac_thrift_put_close(w);
}

static void put_schema(hac_thrift_writer *w, const hac_schema *schema, const hac_column_writer *columns)
{
    static const char root[] = "schema";
    hac_thrift_put_list(w, 2, HAC_THRIFT_STRUCT, schema->n_fields + 1);
    hac_thrift_put_open(w, 0);
    hac_thrift_put_binary(w, 4, root, sizeof root - 1);
    hac_thrift_put_i32(w, 5, (int32_t)schema->n_fields);
    hac_thrift_put_close(w);
    for (size_t i = 0; i < schema->n_fields; i++)
        put_column(w, &schema->fields[i], &columns[i]);
}

/* ---- row groups ---------------------------------------------------------------------------------------- */

static void put_statistics(hac_thrift_writer *w, hac_stored stored, const hac_written_chunk *chunk)
{
    const hac_min_max *e = &chunk->min_max;
    hac_thrift_put_open(w, 12);
    hac_thrift_put_i64(w, 3, (int64_t)chunk->nulls);
    if (e->any) {
        if (!e->max.none)
            hac_thrift_put_binary(w, 5, e->max.data, e->max.bytes);
        hac_thrift_put_binary(w, 6, e->min.data, e->min.bytes);
        if (!e->max.none)
            hac_thrift_put_bool(w, 7, e->max.exact);
        hac_thrift_put_bool(w, 8, e->min.exact);
    }
    if (stored == HAC_STORED_F32 || stored == HAC_STORED_F64)
        hac_thrift_put_i64(w, 9, (int64_t)e->nans);
    hac_thrift_put_close(w);
}

static void put_page_count(hac_thrift_writer *w, int type, hac_parquet_encoding encoding, uint32_t count)
{
    hac_thrift_put_open(w, 0);
    hac_thrift_put_i32(w, 1, (int32_t)type);
    hac_thrift_put_i32(w, 2, (int32_t)encoding);
    hac_thrift_put_i32(w, 3, (int32_t)count);
    hac_thrift_put_close(w);
}

static void put_encodings(hac_thrift_writer *w, const hac_written_chunk *chunk)
{
    hac_thrift_put_list(w, 2, HAC_THRIFT_I32, chunk->dictionary ? 3 : 2);
    hac_thrift_put_i32(w, 0, HAC_ENCODING_PLAIN); /* also the dictionary */
    hac_thrift_put_i32(w, 0, HAC_ENCODING_RLE);   /* levels */
    if (chunk->dictionary)
        hac_thrift_put_i32(w, 0, HAC_ENCODING_RLE_DICTIONARY);
}

static void put_encoding_counts(hac_thrift_writer *w, const hac_written_chunk *chunk)
{
    size_t n = (chunk->dictionary ? 1u : 0u) + (chunk->dictionary_pages > 0 ? 1u : 0u) +
               (chunk->plain_pages > 0 ? 1u : 0u);
    hac_thrift_put_list(w, 13, HAC_THRIFT_STRUCT, n);
    if (chunk->dictionary)
        put_page_count(w, HAC_PAGE_DICTIONARY, HAC_ENCODING_PLAIN, 1);
    if (chunk->dictionary_pages > 0)
        put_page_count(w, HAC_PAGE_DATA, HAC_ENCODING_RLE_DICTIONARY, chunk->dictionary_pages);
    if (chunk->plain_pages > 0)
        put_page_count(w, HAC_PAGE_DATA, HAC_ENCODING_PLAIN, chunk->plain_pages);
}

typedef struct place {
    const hac_footer_writer *footer;
    hac_parquet_codec codec;
    uint64_t indexes;
} place;

static void put_chunk(hac_thrift_writer *w, const place *p, const hac_field *field,
                      const hac_written_chunk *chunk, uint64_t rows)
{
    hac_thrift_put_open(w, 0);
    hac_thrift_put_i64(w, 2, 0); /* file_offset: deprecated, must be 0 */
    hac_thrift_put_open(w, 3);
    hac_thrift_put_i32(w, 1, (int32_t)hac_physical_of(field->type));
    put_encodings(w, chunk);
    hac_thrift_put_list(w, 3, HAC_THRIFT_BINARY, 1);
    hac_thrift_put_binary(w, 0, field->name, strlen(field->name));
    hac_thrift_put_i32(w, 4, (int32_t)p->codec);
    hac_thrift_put_i64(w, 5, (int64_t)rows);
    hac_thrift_put_i64(w, 6, (int64_t)chunk->uncompressed);
    hac_thrift_put_i64(w, 7, (int64_t)chunk->bytes);
    hac_thrift_put_i64(w, 9, (int64_t)chunk->first_data_page);
    if (chunk->dictionary)
        hac_thrift_put_i64(w, 11, (int64_t)chunk->first_byte);
    put_statistics(w, hac_stored_of(field->type), chunk);
    put_encoding_counts(w, chunk);
    hac_thrift_put_close(w);
    hac_thrift_put_i64(w, 4, (int64_t)(p->indexes + p->footer->column_indexes.n + chunk->offset_index));
    hac_thrift_put_i32(w, 5, (int32_t)chunk->offset_index_bytes);
    if (chunk->column_index_bytes > 0) {
        hac_thrift_put_i64(w, 6, (int64_t)(p->indexes + chunk->column_index));
        hac_thrift_put_i32(w, 7, (int32_t)chunk->column_index_bytes);
    }
    hac_thrift_put_close(w);
}

static void put_group(hac_thrift_writer *w, const place *p, const hac_schema *schema,
                      const hac_written_chunk *chunks, uint64_t rows, size_t number)
{
    uint64_t bytes = 0, uncompressed = 0;
    hac_thrift_put_open(w, 0);
    hac_thrift_put_list(w, 1, HAC_THRIFT_STRUCT, schema->n_fields);
    for (size_t i = 0; i < schema->n_fields; i++) {
        put_chunk(w, p, &schema->fields[i], &chunks[i], rows);
        bytes += chunks[i].bytes;
        uncompressed += chunks[i].uncompressed;
    }
    hac_thrift_put_i64(w, 2, (int64_t)uncompressed);
    hac_thrift_put_i64(w, 3, (int64_t)rows);
    hac_thrift_put_i64(w, 5, (int64_t)chunks[0].first_byte);
    hac_thrift_put_i64(w, 6, (int64_t)bytes);
    if (number <= INT16_MAX)
        hac_thrift_put_i16(w, 7, (int16_t)number);
    hac_thrift_put_close(w);
}

static void put_groups(hac_thrift_writer *w, const place *p, const hac_schema *schema)
{
    const uint64_t *rows = (const uint64_t *)(const void *)p->footer->group_rows.data;
    const hac_written_chunk *chunks = (const hac_written_chunk *)(const void *)p->footer->chunks.data;
    size_t n = p->footer->group_rows.n / sizeof *rows;
    int64_t all = 0;
    for (size_t i = 0; i < n; i++)
        all += (int64_t)rows[i];
    hac_thrift_put_i64(w, 3, all);
    hac_thrift_put_list(w, 4, HAC_THRIFT_STRUCT, n);
    for (size_t i = 0; i < n; i++)
        put_group(w, p, schema, chunks + i * schema->n_fields, rows[i], i);
}

hac_status hac_footer_write(const hac_footer_writer *footer, const hac_schema *schema,
                            const hac_column_writer *columns, hac_parquet_codec codec, uint64_t indexes,
                            hac_bytes *ret, hac_error *err)
{
    place p = {.footer = footer, .codec = codec, .indexes = indexes};
    hac_thrift_writer w = HAC_THRIFT_WRITER(ret);
    size_t start = ret->n;
    hac_thrift_put_i32(&w, 1, 1); /* version */
    put_schema(&w, schema, columns);
    put_groups(&w, &p, schema);
    hac_thrift_put_binary(&w, 6, CREATED_BY, sizeof CREATED_BY - 1);
    hac_thrift_put_list(&w, 7, HAC_THRIFT_STRUCT, schema->n_fields);
    for (size_t i = 0; i < schema->n_fields; i++) {
        hac_thrift_put_open(&w, 0);
        hac_thrift_put_empty(&w, 1); /* the order defined by the type */
        hac_thrift_put_close(&w);
    }
    hac_thrift_put_close(&w);
    if (ret->n - start > INT32_MAX)
        return hac_fail(err, HAC_FAILED, "too many row groups: the footer would be above 2 GiB");
    uint32_t bytes = (uint32_t)(ret->n - start);
    hac_bytes_add(ret, &bytes, sizeof bytes);
    return hac_bytes_add(ret, "PAR1", 4) ? HAC_OK : hac_fail_no_memory(err);
}
