/* SPDX-License-Identifier: Apache-2.0 */
#include "page_header.h"

#include "thrift.h"

/* Fields of parquet.thrift's structs in order; -1: absent. */
typedef struct raw_header {
    int32_t type, uncompressed, compressed, checksum;
    bool has_checksum;
    int32_t values, encoding, definition_encoding, repetition_encoding, definition_bytes, repetition_bytes;
    bool values_compressed;
    bool has_data, has_dictionary, has_v2;
} raw_header;

/* DataPageHeader and DictionaryPageHeader have the same first fields. */
static void read_data(hac_thrift *t, raw_header *raw)
{
    hac_thrift_field field = {0, 0};
    while (hac_thrift_next(t, &field)) {
        int32_t *numbers[] = {NULL, &raw->values, &raw->encoding, &raw->definition_encoding,
                              &raw->repetition_encoding};
        if (field.id >= 1 && field.id <= 4 && field.type == HAC_THRIFT_I32)
            hac_thrift_i32(t, &field, numbers[field.id]);
        else
            hac_thrift_skip(t, &field);
    }
}

static void read_v2(hac_thrift *t, raw_header *raw)
{
    hac_thrift_field field = {0, 0};
    while (hac_thrift_next(t, &field)) {
        int32_t *numbers[] = {
            NULL, &raw->values, NULL, NULL, &raw->encoding, &raw->definition_bytes, &raw->repetition_bytes};
        if (field.id >= 1 && field.id <= 6 && numbers[field.id] != NULL)
            hac_thrift_i32(t, &field, numbers[field.id]);
        else if (field.id == 7)
            hac_thrift_bool(t, &field, &raw->values_compressed);
        else
            hac_thrift_skip(t, &field);
    }
}

static void read_header(hac_thrift *t, raw_header *raw)
{
    hac_thrift_field field = {0, 0};
    while (hac_thrift_next(t, &field)) {
        int32_t *numbers[] = {NULL, &raw->type, &raw->uncompressed, &raw->compressed};
        bool *parts[] = {&raw->has_data, NULL, &raw->has_dictionary, &raw->has_v2};
        if (field.id >= 1 && field.id <= 3) {
            hac_thrift_i32(t, &field, numbers[field.id]);
        } else if (field.id == 4) {
            raw->has_checksum = hac_thrift_i32(t, &field, &raw->checksum);
        } else if (field.id >= 5 && field.id <= 8 && field.id != 6) {
            if (!hac_thrift_struct(t, &field))
                continue;
            *parts[field.id - 5] = true;
            if (field.id == 8)
                read_v2(t, raw);
            else
                read_data(t, raw);
        } else {
            hac_thrift_skip(t, &field);
        }
    }
}

static const char *check(const raw_header *raw)
{
    const bool has[] = {raw->has_data, true, raw->has_dictionary, raw->has_v2};
    if (raw->type < 0 || raw->compressed < 0 || raw->uncompressed < 0)
        return "its header lacks a type or a size, or has one below 0";
    if (raw->type > HAC_PAGE_DATA_V2 || raw->type == HAC_PAGE_INDEX)
        return NULL;
    if (!has[raw->type] || raw->values < 0 || raw->encoding < 0)
        return "its header lacks a number of values or an encoding, or has one below 0";
    if (raw->type == HAC_PAGE_DATA_V2) {
        int64_t levels = (int64_t)raw->definition_bytes + raw->repetition_bytes;
        if (raw->definition_bytes < 0 || raw->repetition_bytes < 0 || levels > raw->compressed ||
            levels > raw->uncompressed)
            return "its levels take more bytes than the page has";
    }
    return NULL;
}

const char *hac_parquet_page_header_read(const uint8_t *data, size_t bytes, hac_parquet_page_header *ret,
                                         size_t *ret_bytes)
{
    raw_header raw = {.type = -1,
                      .uncompressed = -1,
                      .compressed = -1,
                      .values = -1,
                      .encoding = -1,
                      .definition_encoding = HAC_ENCODING_RLE,
                      .repetition_encoding = HAC_ENCODING_RLE,
                      .definition_bytes = -1,
                      .repetition_bytes = -1,
                      .values_compressed = true};
    hac_thrift thrift;
    hac_thrift_begin(&thrift, data, bytes);
    read_header(&thrift, &raw);
    const char *why = thrift.broken != NULL ? "its header is damaged" : check(&raw);
    if (why != NULL)
        return why;
    bool is_v2 = raw.type == HAC_PAGE_DATA_V2;
    *ret = (hac_parquet_page_header){
        .type = raw.type,
        .compressed = (uint32_t)raw.compressed,
        .uncompressed = (uint32_t)raw.uncompressed,
        .has_checksum = raw.has_checksum,
        .checksum = (uint32_t)raw.checksum,
        .values = (uint32_t)raw.values,
        .encoding = raw.encoding,
        .definition_encoding = is_v2 ? HAC_ENCODING_RLE : raw.definition_encoding,
        .repetition_encoding = is_v2 ? HAC_ENCODING_RLE : raw.repetition_encoding,
        .definition_bytes = is_v2 ? (uint32_t)raw.definition_bytes : 0,
        .repetition_bytes = is_v2 ? (uint32_t)raw.repetition_bytes : 0,
        /* Old writers compress pages but say they do not: the sizes tell. */
        .values_compressed = raw.values_compressed || raw.compressed != raw.uncompressed};
    *ret_bytes = (size_t)(thrift.at - data);
    return NULL;
}
