/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow_file.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "flat_table.h"

/* Numbers of Message.fbs, Schema.fbs and File.fbs of Arrow's format */
enum { VERSION_5 = 4, HEADER_SCHEMA = 1, HEADER_BATCH = 3, DECIMAL_BITS = 128, BUFFERS_MAX = 3 };
enum {
    TYPE_INT = 2,
    TYPE_FLOAT = 3,
    TYPE_BINARY = 4,
    TYPE_UTF8 = 5,
    TYPE_BOOL = 6,
    TYPE_DECIMAL = 7,
    TYPE_DATE = 8,
    TYPE_TIMESTAMP = 10,
    TYPE_LARGE_BINARY = 19,
    TYPE_LARGE_UTF8 = 20
};

static const char magic[8] = "ARROW1";

/* A type of the C data interface, and what Arrow's metadata says about it. */
typedef struct arrow_type {
    const char *format;
    uint8_t number;
    uint8_t bits; /* of a value; 0: text, which has offsets and bytes */
    bool large, is_signed;
    int8_t unit; /* of times and floats; -1: none */
} arrow_type;

static const arrow_type types[] = {
    {"c", TYPE_INT, 8, false, true, -1},     {"C", TYPE_INT, 8, false, false, -1},
    {"s", TYPE_INT, 16, false, true, -1},    {"S", TYPE_INT, 16, false, false, -1},
    {"i", TYPE_INT, 32, false, true, -1},    {"I", TYPE_INT, 32, false, false, -1},
    {"l", TYPE_INT, 64, false, true, -1},    {"L", TYPE_INT, 64, false, false, -1},
    {"f", TYPE_FLOAT, 32, false, false, 1},  {"g", TYPE_FLOAT, 64, false, false, 2},
    {"b", TYPE_BOOL, 1, false, false, -1},   {"tdD", TYPE_DATE, 32, false, false, 0},
    {"z", TYPE_BINARY, 0, false, false, -1}, {"Z", TYPE_LARGE_BINARY, 0, true, false, -1},
    {"u", TYPE_UTF8, 0, false, false, -1},   {"U", TYPE_LARGE_UTF8, 0, true, false, -1},
};
static const arrow_type timestamps = {"tsu:", TYPE_TIMESTAMP, 64, false, false, 2};
static const arrow_type decimals = {"d:", TYPE_DECIMAL, DECIMAL_BITS, false, false, -1};

static const arrow_type *type_of(const char *format)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].format, format) == 0)
            return &types[i];
    if (strncmp(format, timestamps.format, 4) == 0)
        return &timestamps;
    return strncmp(format, decimals.format, 2) == 0 ? &decimals : NULL;
}

/* ---- the schema ---- */

static size_t put_type(hac_flat *flat, const arrow_type *type, const char *format)
{
    unsigned precision = 0, scale = 0;
    size_t zone = type == &timestamps && format[4] != '\0' ? hac_flat_string(flat, format + 4) : 0;
    hac_flat_begin(flat);
    if (type->number == TYPE_INT) {
        hac_flat_number(flat, 0, 4, type->bits);
        hac_flat_number(flat, 1, 1, type->is_signed);
    } else if (type == &decimals && sscanf(format, "d:%3u,%3u", &precision, &scale) == 2) {
        hac_flat_number(flat, 0, 4, precision);
        hac_flat_number(flat, 1, 4, scale);
        hac_flat_number(flat, 2, 4, DECIMAL_BITS);
    } else if (type->unit >= 0) {
        hac_flat_number(flat, 0, 2, type->unit);
    }
    if (zone != 0)
        hac_flat_ref(flat, 1, zone);
    return hac_flat_end(flat);
}

static size_t put_field(hac_flat *flat, const struct ArrowSchema *field)
{
    const arrow_type *type = type_of(field->format);
    size_t name = hac_flat_string(flat, field->name), children = hac_flat_refs(flat, NULL, 0);
    size_t table = put_type(flat, type, field->format);
    hac_flat_begin(flat);
    hac_flat_ref(flat, 0, name);
    hac_flat_number(flat, 1, 1, 1); /* nullable */
    hac_flat_number(flat, 2, 1, type->number);
    hac_flat_ref(flat, 3, table);
    hac_flat_ref(flat, 5, children);
    return hac_flat_end(flat);
}

static size_t put_schema(hac_flat *flat, const struct ArrowSchema *schema, size_t *places)
{
    size_t n = (size_t)schema->n_children;
    for (size_t i = 0; i < n; i++)
        places[i] = put_field(flat, schema->children[i]);
    size_t fields = hac_flat_refs(flat, places, n);
    hac_flat_begin(flat);
    hac_flat_number(flat, 0, 2, 0); /* little-endian */
    hac_flat_ref(flat, 1, fields);
    return hac_flat_end(flat);
}

static void put_message(hac_flat *flat, int kind, size_t header, int64_t body)
{
    hac_flat_begin(flat);
    hac_flat_number(flat, 3, 8, body);
    hac_flat_ref(flat, 2, header);
    hac_flat_number(flat, 0, 2, VERSION_5);
    hac_flat_number(flat, 1, 1, kind);
    hac_flat_finish(flat, hac_flat_end(flat));
}

/* ---- the record batch ---- */

/* The buffers of all columns, one after the other, each at a multiple of 8 bytes. */
typedef struct arrow_body {
    const void **data; /* owned */
    int64_t *places;   /* owned; offset and length of each */
    int64_t *nodes;    /* owned; rows and nulls of each column */
    size_t n;
    int64_t bytes;
} arrow_body;

static void body_clear(arrow_body *body)
{
    free(body->data);
    free(body->places);
    free(body->nodes);
}

static int64_t padded(int64_t bytes)
{
    return (bytes + 7) & ~(int64_t)7;
}

static void add_buffer(arrow_body *body, const void *data, int64_t bytes)
{
    body->data[body->n] = data;
    body->places[2 * body->n] = body->bytes;
    body->places[2 * body->n + 1] = bytes;
    body->n++;
    body->bytes += padded(bytes);
}

static int64_t text_bytes(const void *offsets, bool large, int64_t rows)
{
    return large ? ((const int64_t *)offsets)[rows] : ((const int32_t *)offsets)[rows];
}

static void add_column(arrow_body *body, const arrow_type *type, const struct ArrowArray *array)
{
    int64_t rows = array->length, bits = (rows + 7) / 8;
    const void *const *buffers = array->buffers;
    add_buffer(body, buffers[0], buffers[0] != NULL ? bits : 0);
    if (type->bits == 1) {
        add_buffer(body, buffers[1], bits);
    } else if (type->bits != 0) {
        add_buffer(body, buffers[1], rows * (type->bits / 8));
    } else {
        add_buffer(body, buffers[1], (rows + 1) * (type->large ? 8 : 4));
        add_buffer(body, buffers[2], text_bytes(buffers[1], type->large, rows));
    }
}

/* The number of nulls. Readers take "unknown", which the C data interface knows, for "none". */
static int64_t count_nulls(const struct ArrowArray *array)
{
    const uint8_t *valid = array->buffers[0];
    int64_t nulls = array->null_count;
    if (nulls >= 0 || valid == NULL)
        return nulls < 0 ? 0 : nulls;
    nulls = array->length;
    for (int64_t i = 0; i < array->length; i++)
        nulls -= valid[i / 8] >> (i % 8) & 1;
    return nulls;
}

static hac_status make_body(const struct ArrowSchema *schema, const struct ArrowArray *array, arrow_body *ret,
                            hac_error *err)
{
    size_t n = (size_t)schema->n_children;
    ret->data = calloc(BUFFERS_MAX * n + 1, sizeof *ret->data);
    ret->places = calloc(2 * BUFFERS_MAX * n + 1, sizeof *ret->places);
    ret->nodes = calloc(2 * n + 1, sizeof *ret->nodes);
    if (ret->data == NULL || ret->places == NULL || ret->nodes == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        const arrow_type *type = type_of(schema->children[i]->format);
        if (type == NULL)
            return hac_fail(err, HAC_UNSUPPORTED,
                            "column '%.128s' cannot be written as Arrow: its type is %.32s",
                            schema->children[i]->name, schema->children[i]->format);
        ret->nodes[2 * i] = array->children[i]->length;
        ret->nodes[2 * i + 1] = count_nulls(array->children[i]);
        add_column(ret, type, array->children[i]);
    }
    return HAC_OK;
}

static void put_batch(hac_flat *flat, const arrow_body *body, int64_t rows, size_t n_columns)
{
    size_t buffers = hac_flat_structs(flat, body->places, 2, body->n);
    size_t nodes = hac_flat_structs(flat, body->nodes, 2, n_columns);
    hac_flat_begin(flat);
    hac_flat_number(flat, 0, 8, rows);
    hac_flat_ref(flat, 1, nodes);
    hac_flat_ref(flat, 2, buffers);
    put_message(flat, HEADER_BATCH, hac_flat_end(flat), body->bytes);
}

/* ---- writing ---- */

typedef struct arrow_writer {
    hac_output_file *output;
    int64_t at; /* bytes written */
} arrow_writer;

static hac_status write_bytes(arrow_writer *w, const void *data, int64_t bytes, hac_error *err)
{
    w->at += bytes;
    return bytes > 0 ? hac_output_write(w->output, data, (uint64_t)bytes, err) : HAC_OK;
}

/* A message is a mark, the size of its metadata, and the metadata. */
static hac_status write_message(arrow_writer *w, const hac_flat *flat, hac_error *err)
{
    uint32_t head[2] = {UINT32_MAX, htole32((uint32_t)flat->used)};
    if (flat->broken)
        return hac_fail_no_memory(err);
    hac_status status = write_bytes(w, head, sizeof head, err);
    return status == HAC_OK ? write_bytes(w, hac_flat_bytes(flat), (int64_t)flat->used, err) : status;
}

static hac_status write_body(arrow_writer *w, const arrow_body *body, hac_error *err)
{
    static const uint8_t zeros[8];
    hac_status status = HAC_OK;
    for (size_t i = 0; i < body->n && status == HAC_OK; i++) {
        int64_t bytes = body->places[2 * i + 1];
        status = write_bytes(w, body->data[i], bytes, err);
        if (status == HAC_OK)
            status = write_bytes(w, zeros, padded(bytes) - bytes, err);
    }
    return status;
}

/* The end of a file: where the record batch is, and the schema again. */
static hac_status write_footer(arrow_writer *w, const struct ArrowSchema *schema, size_t *places,
                               const int64_t block[3], hac_error *err)
{
    hac_cleanup(hac_flat_clear) hac_flat flat = HAC_FLAT_NONE;
    size_t table = put_schema(&flat, schema, places), blocks = hac_flat_structs(&flat, block, 3, 1);
    size_t none = hac_flat_structs(&flat, NULL, 3, 0);
    hac_flat_begin(&flat);
    hac_flat_ref(&flat, 1, table);
    hac_flat_ref(&flat, 2, none);
    hac_flat_ref(&flat, 3, blocks);
    hac_flat_number(&flat, 0, 2, VERSION_5);
    hac_flat_finish(&flat, hac_flat_end(&flat));
    if (flat.broken)
        return hac_fail_no_memory(err);
    uint32_t bytes = htole32((uint32_t)flat.used);
    hac_status status = write_bytes(w, hac_flat_bytes(&flat), (int64_t)flat.used, err);
    if (status == HAC_OK)
        status = write_bytes(w, &bytes, sizeof bytes, err);
    return status == HAC_OK ? write_bytes(w, magic, 6, err) : status;
}

static hac_status write_all(arrow_writer *w, const struct ArrowSchema *schema, const struct ArrowArray *array,
                            bool file, hac_error *err)
{
    static const uint32_t end[2] = {UINT32_MAX, 0};
    hac_cleanup(body_clear) arrow_body body = {.n = 0};
    hac_cleanup(hac_flat_clear) hac_flat head = HAC_FLAT_NONE, batch = HAC_FLAT_NONE;
    hac_autofree size_t *places = calloc((size_t)schema->n_children + 1, sizeof *places);
    hac_status status = places != NULL ? make_body(schema, array, &body, err) : hac_fail_no_memory(err);
    if (status != HAC_OK)
        return status;
    put_message(&head, HEADER_SCHEMA, put_schema(&head, schema, places), 0);
    put_batch(&batch, &body, array->length, (size_t)schema->n_children);
    if (file)
        status = write_bytes(w, magic, sizeof magic, err);
    if (status == HAC_OK)
        status = write_message(w, &head, err);
    const int64_t block[3] = {w->at, (int64_t)batch.used + 8, body.bytes};
    if (status == HAC_OK)
        status = write_message(w, &batch, err);
    if (status == HAC_OK)
        status = write_body(w, &body, err);
    if (status == HAC_OK)
        status = write_bytes(w, end, sizeof end, err);
    return status == HAC_OK && file ? write_footer(w, schema, places, block, err) : status;
}

hac_status hac_arrow_write(hac_output_file *output, hac_job *job, bool file, hac_error *err)
{
    struct ArrowSchema schema;
    struct ArrowArray array;
    arrow_writer writer = {.output = output};
    hac_status status = hac_job_export_arrow(job, &schema, &array, err);
    if (status != HAC_OK)
        return status;
    status = write_all(&writer, &schema, &array, file, err);
    array.release(&array);
    schema.release(&schema);
    return status;
}
