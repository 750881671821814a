/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/value_text.h"
#include "format/interval.h"
#include "format/names.h"
#include "parquet/file.h"

#define SHOWN_BYTES 64 /* shown bytes of a string bound */

/* Writes text unchanged and other bytes as hex, shortened if long. */
static void add_bytes(const hac_parquet_leaf *leaf, hac_parquet_slice slice, char *ret)
{
    bool hex = leaf->type.kind == HAC_KIND_BYTES;
    uint32_t shown = slice.bytes < SHOWN_BYTES ? slice.bytes : SHOWN_BYTES;
    for (uint32_t i = 0; i < shown; i++) {
        uint8_t byte = slice.data[i];
        if (hex) {
            *ret++ = "0123456789abcdef"[byte >> 4];
            *ret++ = "0123456789abcdef"[byte & 0xf];
        } else {
            *ret++ = byte == 0 ? '?' : (char)byte;
        }
    }
    strcpy(ret, shown < slice.bytes ? "…" : "");
}

static void add_bound(hac_text *text, const char *key, const hac_parquet_leaf *leaf, bool has,
                      const hac_parquet_interval *interval, const hac_parquet_scalar *value)
{
    char shown[2 * SHOWN_BYTES + HAC_PRINT_MAX];
    if (!has)
        return;
    if (interval->repr == HAC_REPR_STRING)
        add_bytes(leaf, value->bytes, shown);
    else if (interval->repr == HAC_REPR_F32)
        shown[hac_print_f32((float)value->number, shown)] = '\0';
    else if (interval->repr == HAC_REPR_F64)
        shown[hac_print_f64(value->number, shown)] = '\0';
    else
        shown[hac_print_value(leaf->type, &value->integer, 0, shown)] = '\0'; /* little-endian */
    hac_json_string(text, key, shown);
}

static void add_statistics(hac_text *text, const hac_parquet_leaf *leaf, const hac_parquet_statistics *s)
{
    hac_parquet_interval interval;
    hac_parquet_interval_of(leaf, s->min, s->max, &interval);
    if (s->nulls != UINT64_MAX)
        hac_json_unsigned(text, "nulls", s->nulls);
    if (s->nans != UINT64_MAX)
        hac_json_unsigned(text, "nans", s->nans);
    add_bound(text, "min", leaf, interval.has_min, &interval, &interval.min);
    add_bound(text, "max", leaf, interval.has_max, &interval, &interval.max);
}

static void add_chunk(hac_text *text, const hac_parquet_leaf *leaf, const hac_parquet_chunk *chunk)
{
    hac_json_open(text, NULL, '{');
    hac_json_string(text, "column", leaf->name);
    hac_json_string(text, "codec", hac_parquet_codec_name(chunk->codec));
    if (chunk->why != NULL) {
        hac_json_string(text, "why_not_read", chunk->why);
        hac_json_close(text, '}');
        return;
    }
    hac_json_open(text, "encodings", '[');
    for (unsigned i = 0; i < 32; i++)
        if ((chunk->encodings >> i & 1) != 0)
            hac_json_string(text, NULL, hac_parquet_encoding_name((int32_t)i));
    hac_json_close(text, ']');
    hac_json_unsigned(text, "offset", chunk->first_byte);
    hac_json_unsigned(text, "bytes", chunk->bytes);
    hac_json_unsigned(text, "uncompressed_bytes", chunk->uncompressed);
    hac_json_unsigned(text, "values", chunk->values);
    add_statistics(text, leaf, &chunk->statistics);
    hac_json_bool(text, "column_index", chunk->column_index != 0);
    hac_json_bool(text, "offset_index", chunk->offset_index != 0);
    hac_json_bool(text, "bloom_filter", chunk->bloom != 0);
    hac_json_close(text, '}');
}

static void add_group(hac_text *text, const hac_parquet_file *file, const hac_parquet_group *group)
{
    uint64_t bytes = 0, uncompressed = 0, offset = UINT64_MAX;
    for (size_t i = 0; i < file->n_leaves; i++) {
        const hac_parquet_chunk *chunk = &group->chunks[i];
        if (chunk->why == NULL && chunk->first_byte < offset)
            offset = chunk->first_byte;
        if (__builtin_add_overflow(bytes, chunk->bytes, &bytes))
            bytes = UINT64_MAX;
        if (__builtin_add_overflow(uncompressed, chunk->uncompressed, &uncompressed))
            uncompressed = UINT64_MAX;
    }
    hac_json_open(text, NULL, '{');
    hac_json_unsigned(text, "rows", group->rows);
    if (offset != UINT64_MAX)
        hac_json_unsigned(text, "offset", offset);
    hac_json_unsigned(text, "bytes", bytes);
    hac_json_unsigned(text, "uncompressed_bytes", uncompressed);
    hac_json_open(text, "columns", '[');
    for (size_t i = 0; i < file->n_leaves; i++)
        add_chunk(text, &file->leaves[i], &group->chunks[i]);
    hac_json_close(text, ']');
    hac_json_close(text, '}');
}

static void add_leaf(hac_text *text, const hac_parquet_leaf *leaf)
{
    char type[HAC_NESTED_NAME_MAX];
    hac_json_open(text, NULL, '{');
    hac_json_string(text, "name", leaf->name);
    if (leaf->made)
        hac_json_bool(text, "made_name", true);
    if (leaf->nested.kind != HAC_NESTED_NONE)
        hac_json_string(text, "type", hac_nested_name(leaf->nested, type));
    else if (leaf->why == NULL)
        hac_json_string(text, "type", hac_value_type_name(leaf->type, type));
    else
        hac_json_string(text, "why_not_read", leaf->why);
    hac_json_string(text, "physical", hac_parquet_physical_name(leaf->physical));
    if (leaf->physical == HAC_PARQUET_FIXED)
        hac_json_unsigned(text, "length", leaf->type_length);
    if (leaf->logical != NULL)
        hac_json_string(text, "logical", leaf->logical);
    hac_json_bool(text, "nullable", leaf->max_definition > 0);
    hac_json_close(text, '}');
}

void hac_parquet_describe(const hac_parquet_file *file, hac_text *ret)
{
    hac_json_open(ret, NULL, '{');
    hac_json_unsigned(ret, "rows", file->rows);
    hac_json_unsigned(ret, "bytes", file->place.bytes);
    hac_json_string(ret, "created_by", file->created_by);
    hac_json_open(ret, "columns", '[');
    for (size_t i = 0; i < file->n_leaves; i++)
        add_leaf(ret, &file->leaves[i]);
    hac_json_close(ret, ']');
    hac_json_open(ret, "row_groups", '[');
    for (size_t i = 0; i < file->n_groups; i++)
        add_group(ret, file, &file->groups[i]);
    hac_json_close(ret, ']');
    hac_json_close(ret, '}');
}
