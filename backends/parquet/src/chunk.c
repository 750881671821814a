/* SPDX-License-Identifier: Apache-2.0 */
#include "chunk.h"

#include <stdio.h>
#include <string.h>

#include "created_by.h"
#include "interval.h"

#define ENCODINGS 32 /* that a chunk's bits have room for */

/* As they are in the file. */
typedef struct raw_statistics {
    hac_parquet_slice min, max; /* deprecated */
    hac_parquet_slice min_value, max_value;
    int64_t nulls, nans; /* -1: absent */
} raw_statistics;

typedef struct raw_chunk {
    hac_parquet_slice path; /* of another file */
    bool has_metadata, encrypted;
    int32_t type, codec;
    uint32_t encodings;
    int64_t values, uncompressed, compressed, data_page, dictionary_page;
    int64_t bloom, column_index, offset_index;
    int32_t bloom_bytes, column_index_bytes, offset_index_bytes;
    raw_statistics statistics;
} raw_chunk;

/* ---- reading --------------------------------------------------------------------------------------------
 */

static void read_statistics(hac_thrift *t, raw_statistics *ret)
{
    hac_thrift_field field = {0, 0};
    while (hac_thrift_next(t, &field)) {
        if (field.id == 1)
            hac_thrift_binary(t, &field, &ret->max);
        else if (field.id == 2)
            hac_thrift_binary(t, &field, &ret->min);
        else if (field.id == 3)
            hac_thrift_i64(t, &field, &ret->nulls);
        else if (field.id == 5)
            hac_thrift_binary(t, &field, &ret->max_value);
        else if (field.id == 6)
            hac_thrift_binary(t, &field, &ret->min_value);
        else if (field.id == 9)
            hac_thrift_i64(t, &field, &ret->nans);
        else
            hac_thrift_skip(t, &field);
    }
}

static uint32_t read_encodings(hac_thrift *t, const hac_thrift_field *field)
{
    size_t n = 0;
    uint32_t ret = 0;
    hac_thrift_list(t, field, HAC_THRIFT_I32, &n);
    for (size_t i = 0; i < n; i++) {
        int32_t encoding = hac_thrift_i32_element(t);
        ret |= encoding >= 0 && encoding < ENCODINGS ? UINT32_C(1) << encoding : 0;
    }
    return ret;
}

static void read_metadata(hac_thrift *t, raw_chunk *ret)
{
    hac_thrift_field field = {0, 0};
    while (hac_thrift_next(t, &field)) {
        int64_t *numbers[] = {[5] = &ret->values,    [6] = &ret->uncompressed,     [7] = &ret->compressed,
                              [9] = &ret->data_page, [11] = &ret->dictionary_page, [14] = &ret->bloom};
        if (field.id == 1)
            hac_thrift_i32(t, &field, &ret->type);
        else if (field.id == 2)
            ret->encodings = read_encodings(t, &field);
        else if (field.id == 4)
            hac_thrift_i32(t, &field, &ret->codec);
        else if (field.id == 12 && hac_thrift_struct(t, &field))
            read_statistics(t, &ret->statistics);
        else if (field.id == 15)
            hac_thrift_i32(t, &field, &ret->bloom_bytes);
        else if (field.id > 0 && field.id <= 14 && numbers[field.id] != NULL)
            hac_thrift_i64(t, &field, numbers[field.id]);
        else if (field.id != 12)
            hac_thrift_skip(t, &field);
    }
    ret->has_metadata = true;
}

static void read_chunk(hac_thrift *t, raw_chunk *ret)
{
    *ret = (raw_chunk){.type = -1,
                       .codec = -1,
                       .values = -1,
                       .uncompressed = -1,
                       .compressed = -1,
                       .data_page = -1,
                       .statistics = {.nulls = -1, .nans = -1}};
    hac_thrift_field field = {0, 0};
    while (hac_thrift_next(t, &field)) {
        if (field.id == 1)
            hac_thrift_binary(t, &field, &ret->path);
        else if (field.id == 3 && field.type == HAC_THRIFT_STRUCT)
            read_metadata(t, ret);
        else if (field.id == 4)
            hac_thrift_i64(t, &field, &ret->offset_index);
        else if (field.id == 5)
            hac_thrift_i32(t, &field, &ret->offset_index_bytes);
        else if (field.id == 6)
            hac_thrift_i64(t, &field, &ret->column_index);
        else if (field.id == 7)
            hac_thrift_i32(t, &field, &ret->column_index_bytes);
        else {
            ret->encrypted |= field.id == 8 || field.id == 9;
            hac_thrift_skip(t, &field);
        }
    }
}

/* ---- judging --------------------------------------------------------------------------------------------
 */

/* Whether values compare as signed numbers of their physical type do. */
static bool is_signed(const hac_parquet_leaf *leaf)
{
    return leaf->type.kind != HAC_KIND_NONE && leaf->conversion != HAC_PARQUET_UNSIGNED &&
           leaf->physical != HAC_PARQUET_BYTE_ARRAY && leaf->physical != HAC_PARQUET_FIXED &&
           leaf->physical != HAC_PARQUET_INT96;
}

/*
 * min_value and max_value have the order of the column; writers from before that order was settled used the
 * signed one for all. min and max, which are deprecated, are good for what is signed, whoever wrote them.
 */
static void take_bounds(const hac_parquet_chunk_context *context, const raw_statistics *raw,
                        hac_parquet_statistics *ret)
{
    const hac_parquet_leaf *leaf = context->leaf;
    const char *writer = context->file->created_by;
    bool old = hac_parquet_written_before(writer, "parquet-mr", 1, 10, 0) ||
               hac_parquet_written_before(writer, "parquet-cpp", 1, 3, 0);
    hac_parquet_slice least = {NULL, 0}, greatest = {NULL, 0};
    if (leaf->order == HAC_PARQUET_ORDERED && (raw->min_value.data != NULL || raw->max_value.data != NULL)) {
        if (old && !is_signed(leaf))
            return;
        least = raw->min_value;
        greatest = raw->max_value;
    } else if (is_signed(leaf)) {
        least = raw->min;
        greatest = raw->max;
    }
    hac_parquet_interval interval;
    if (!hac_parquet_interval_of(leaf, least, greatest, &interval))
        return;
    ret->least = least;
    ret->greatest = greatest;
}

static void take_statistics(const hac_parquet_chunk_context *context, const raw_statistics *raw,
                            hac_parquet_chunk *ret)
{
    take_bounds(context, raw, &ret->statistics);
    if (raw->nulls >= 0 && (uint64_t)raw->nulls <= ret->values)
        ret->statistics.nulls = (uint64_t)raw->nulls;
    if (context->leaf->max_definition == 0)
        ret->statistics.nulls = 0;
    if (raw->nans >= 0 && (uint64_t)raw->nans <= ret->values)
        ret->statistics.nans = (uint64_t)raw->nans;
}

/* Whether the bytes lie in the file, and there are some. */
static bool lies_within(const hac_parquet_file *file, int64_t offset, int64_t bytes)
{
    return offset > 0 && bytes > 0 && (uint64_t)offset <= file->place.bytes &&
           (uint64_t)bytes <= file->place.bytes - (uint64_t)offset;
}

/* The indexes: without them all is read, so ones that cannot be are none. */
static void take_indexes(const hac_parquet_chunk_context *context, const raw_chunk *raw,
                         hac_parquet_chunk *ret)
{
    if (lies_within(context->file, raw->column_index, raw->column_index_bytes)) {
        ret->column_index = (uint64_t)raw->column_index;
        ret->column_index_bytes = (uint32_t)raw->column_index_bytes;
    }
    if (lies_within(context->file, raw->offset_index, raw->offset_index_bytes)) {
        ret->offset_index = (uint64_t)raw->offset_index;
        ret->offset_index_bytes = (uint32_t)raw->offset_index_bytes;
    }
    if (lies_within(context->file, raw->bloom, raw->bloom_bytes != 0 ? raw->bloom_bytes : 1)) {
        ret->bloom = (uint64_t)raw->bloom;
        ret->bloom_bytes = (uint32_t)raw->bloom_bytes;
    }
}

/* Where the pages begin. A dictionary's offset may be 0, or nonsense: it counts where a dictionary can be. */
static int64_t first_page(const raw_chunk *raw)
{
    bool plausible = raw->dictionary_page > 0 && raw->dictionary_page < raw->data_page;
    return plausible ? raw->dictionary_page : raw->data_page;
}

static const char *find_fault(const hac_parquet_chunk_context *context, const raw_chunk *raw)
{
    if (raw->encrypted)
        return "it is encrypted";
    if (raw->path.data != NULL && raw->path.bytes > 0)
        return "its data is in another file";
    if (raw->type != context->leaf->physical)
        return "its type is not that of the schema";
    if (raw->codec == HAC_PARQUET_LZO)
        return "it is compressed with LZO, which is not read";
    if (raw->codec < 0 || raw->codec > HAC_PARQUET_LZ4_RAW)
        return "it is compressed with a codec that is not known here";
    if (raw->values < 0 || raw->compressed < 0 || raw->uncompressed < 0 || raw->data_page < 0)
        return "its metadata has negative sizes";
    if (context->leaf->max_repetition == 0 && (uint64_t)raw->values != context->rows)
        return "it has another number of values than its row group has rows";
    uint64_t start = (uint64_t)first_page(raw), file_bytes = context->file->place.bytes;
    if (start > file_bytes || (uint64_t)raw->compressed > file_bytes - start)
        return "its pages lie outside of the file";
    return NULL;
}

void hac_parquet_chunk_read(hac_thrift *t, const hac_parquet_chunk_context *context, hac_parquet_chunk *ret)
{
    raw_chunk raw;
    read_chunk(t, &raw);
    if (!raw.has_metadata && !raw.encrypted)
        hac_thrift_break(t, "it has no metadata");
    *ret = (hac_parquet_chunk){.statistics = {.nulls = UINT64_MAX, .nans = UINT64_MAX}};
    if (t->broken != NULL)
        return;
    ret->why = find_fault(context, &raw);
    if (ret->why != NULL)
        return;
    ret->codec = (uint8_t)raw.codec;
    ret->encodings = raw.encodings;
    ret->first_byte = (uint64_t)first_page(&raw);
    ret->bytes = (uint64_t)raw.compressed;
    ret->uncompressed = (uint64_t)raw.uncompressed;
    ret->values = (uint64_t)raw.values;
    ret->short_by_header = hac_parquet_written_before(context->file->created_by, "parquet-mr", 1, 2, 9);
    take_statistics(context, &raw.statistics, ret);
    take_indexes(context, &raw, ret);
}
