/* SPDX-License-Identifier: Apache-2.0 */
#include "chunk.h"

#include <stdio.h>
#include <string.h>

#include "created_by.h"
#include "interval.h"
#include "page_header.h"

#define ENCODINGS 32 /* encodings that fit the chunk's bits */

/* Whether a bound is a value of the chunk, or was shortened. */
typedef enum hac_parquet_exactness { EXACT_UNKNOWN = 0, EXACT, INEXACT } hac_parquet_exactness;

/* Statistics as the file has them. */
typedef struct raw_statistics {
    hac_parquet_slice min, max; /* deprecated */
    hac_parquet_slice min_value, max_value;
    int64_t nulls, nans; /* -1: absent */
    hac_parquet_exactness min_exact, max_exact;
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

static hac_parquet_exactness read_exactness(hac_thrift *t, const hac_thrift_field *field)
{
    hac_thrift_skip(t, field); /* the value of a bool field is its type */
    return field->type == HAC_THRIFT_TRUE ? EXACT : field->type == HAC_THRIFT_FALSE ? INEXACT : EXACT_UNKNOWN;
}

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
        else if (field.id == 7)
            ret->max_exact = read_exactness(t, &field);
        else if (field.id == 8)
            ret->min_exact = read_exactness(t, &field);
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

/* Writers shorten strings and bytes, and few say so; they do not shorten values of a fixed size. -0.0 and 0.0
 * may stand for each other. */
static bool is_exact(const hac_parquet_leaf *leaf, hac_parquet_slice bound, hac_parquet_exactness exactness)
{
    static const uint8_t zeros[16];
    if (bound.data == NULL || exactness == INEXACT)
        return false;
    bool is_float = leaf->physical == HAC_PARQUET_FLOAT || leaf->physical == HAC_PARQUET_DOUBLE ||
                    leaf->conversion == HAC_PARQUET_HALF;
    if (!is_float && (leaf->physical == HAC_PARQUET_BYTE_ARRAY || leaf->physical == HAC_PARQUET_FIXED))
        return exactness == EXACT || leaf->conversion == HAC_PARQUET_BIG_ENDIAN;
    return !is_float ||
           (bound.bytes > 1 && bound.bytes <= sizeof zeros &&
            (memcmp(bound.data, zeros, bound.bytes - 1) != 0 || (bound.data[bound.bytes - 1] & 0x7f) != 0));
}

/* min_value and max_value have the order of the column. The deprecated min and max are valid for signed
 * types, for every writer that is not doubted. */
static void take_bounds(const hac_parquet_chunk_context *context, const raw_statistics *raw,
                        hac_parquet_statistics *ret)
{
    const hac_parquet_leaf *leaf = context->leaf;
    hac_parquet_slice min = {NULL, 0}, max = {NULL, 0};
    bool deprecated = false;
    if (leaf->order == HAC_PARQUET_ORDERED && (raw->min_value.data != NULL || raw->max_value.data != NULL)) {
        min = raw->min_value;
        max = raw->max_value;
    } else if (leaf->order != HAC_PARQUET_DOUBTFUL && hac_parquet_is_signed(leaf)) {
        min = raw->min;
        max = raw->max;
        deprecated = true;
    }
    hac_parquet_interval interval;
    if (!hac_parquet_interval_of(leaf, min, max, &interval))
        return;
    ret->min = min;
    ret->max = max;
    ret->min_exact = !deprecated && is_exact(leaf, min, raw->min_exact);
    ret->max_exact = !deprecated && is_exact(leaf, max, raw->max_exact);
}

static void take_statistics(const hac_parquet_chunk_context *context, const raw_statistics *raw,
                            hac_parquet_chunk *ret)
{
    const uint32_t dictionary =
        UINT32_C(1) << HAC_ENCODING_PLAIN_DICTIONARY | UINT32_C(1) << HAC_ENCODING_RLE_DICTIONARY;
    bool doubtful = (context->file->doubts & HAC_PARQUET_DOUBT_DICTIONARY_NULLS) != 0 &&
                    (ret->encodings & dictionary) != 0;
    if (context->leaf->max_repetition == 0) /* the bounds of elements say nothing about lists */
        take_bounds(context, raw, &ret->statistics);
    if (raw->nulls >= 0 && !doubtful && (uint64_t)raw->nulls <= ret->values)
        ret->statistics.nulls = (uint64_t)raw->nulls;
    if (context->leaf->max_definition == 0)
        ret->statistics.nulls = 0;
    if (raw->nans >= 0 && (uint64_t)raw->nans <= ret->values)
        ret->statistics.nans = (uint64_t)raw->nans;
}

/* Whether the bytes lie in the file and are not empty. */
static bool lies_within(const hac_parquet_file *file, int64_t offset, int64_t bytes)
{
    return offset > 0 && bytes > 0 && (uint64_t)offset <= file->place.bytes &&
           (uint64_t)bytes <= file->place.bytes - (uint64_t)offset;
}

/* The indexes: if they are invalid, they are ignored, and everything is read. */
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

/* Where the pages begin. A dictionary's offset may be 0 or wrong: it is used only if it is plausible. */
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
    if (raw->values < 0 || raw->compressed < 0 || raw->data_page < 0)
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
    ret->codec = raw.codec >= 0 && raw.codec <= HAC_PARQUET_LZ4_RAW ? (uint8_t)raw.codec : UINT8_MAX;
    ret->why = find_fault(context, &raw);
    if (ret->why != NULL)
        return;
    ret->encodings = raw.encodings;
    ret->first_byte = (uint64_t)first_page(&raw);
    ret->bytes = (uint64_t)raw.compressed;
    ret->uncompressed = raw.uncompressed > 0 ? (uint64_t)raw.uncompressed : 0;
    ret->values = (uint64_t)raw.values;
    ret->short_by_header = (context->file->doubts & HAC_PARQUET_DOUBT_CHUNK_BYTES) != 0;
    take_statistics(context, &raw.statistics, ret);
    take_indexes(context, &raw, ret);
}
