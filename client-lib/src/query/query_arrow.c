/* SPDX-License-Identifier: Apache-2.0 */
/* Imports record batches of the Arrow C Data Interface into pool memory, in the layout of <base/table.h>. */
#include <inttypes.h>
#include <string.h>

#include "base/value.h"
#include "jobs/job_input.h"
#include "query.h"

enum { ALIGNMENT = 64, COLUMNS_MAX = 256, NAME_MAX_BYTES = 127, WIDE = 16 };

/* A column of the batch. */
typedef struct query_column {
    const struct ArrowArray *array;
    const char *name;
    uint64_t first; /* offset of row 0 in the array's buffers */
    hac_value_type type;
    uint32_t width; /* size of a value in the array; 0: bits or strings */
    bool large, nulls;
} query_column;

typedef struct query_batch {
    uint64_t rows;
    size_t n_columns;
    query_column *columns;     /* owned */
    hac_source_columns source; /* owned; the columns in pool memory */
} query_batch;

static void batch_clear(query_batch *b)
{
    free(b->columns);
    hac_source_columns_clear(&b->source);
}

/* ---- formats ---- */

static bool is_text(const query_column *c)
{
    return hac_kind_is_text(c->type.kind);
}

static bool is_bool(const query_column *c)
{
    return c->type.kind == HAC_KIND_BOOL;
}

/* Reads the formats "d:15,2" and "d:15,2,64". */
static bool read_decimal(const char *format, query_column *c)
{
    unsigned precision, scale, bits = 128;
    int used = 0, more = 0;
    if (sscanf(format, "d:%3u,%3u%n", &precision, &scale, &used) != 2)
        return false;
    if (format[used] == ',' && (sscanf(format + used, ",%4u%n", &bits, &more) != 1))
        return false;
    if (format[used + more] != '\0' || (bits != 128 && bits != 64) || precision > HAC_DECIMAL_DIGITS_MAX ||
        scale > precision)
        return false;
    c->type = (hac_value_type){HAC_KIND_DECIMAL, (uint8_t)precision, (uint8_t)scale};
    c->width = bits / 8;
    return hac_value_type_valid(c->type) && c->width >= hac_value_size(c->type);
}

static bool read_format(const char *format, query_column *c)
{
    if (format[0] == 'd')
        return read_decimal(format, c);
    c->large = format[0] == 'U' || format[0] == 'Z';
    const char *wanted = c->large && format[1] == '\0' ? (format[0] == 'U' ? "u" : "z") : format;
    for (unsigned k = HAC_KIND_NONE + 1; k < HAC_KIND_END; k++) {
        const char *known = hac_kinds[k].arrow;
        bool zone = k == HAC_KIND_TIMESTAMP; /* any zone may follow */
        if (k == HAC_KIND_DECIMAL ||
            (zone ? strncmp(wanted, known, strlen(known)) : strcmp(wanted, known)) != 0)
            continue;
        c->type.kind = (uint8_t)k;
        c->width = k == HAC_KIND_BOOL ? 0 : hac_kinds[k].bytes;
        return true;
    }
    return false;
}

/* ---- string offsets ---- */

/* Reads a string offset. The buffer may be unaligned, for example if it is part of another program's message.
 * */
static uint64_t string_offset(const query_column *c, uint64_t row)
{
    const uint8_t *offsets = c->array->buffers[1];
    int64_t at = 0;
    int32_t narrow = 0;
    if (offsets == NULL)
        return 0;
    if (c->large) {
        memcpy(&at, offsets + (c->first + row) * sizeof(at), sizeof(at));
    } else {
        memcpy(&narrow, offsets + (c->first + row) * sizeof(narrow), sizeof(narrow));
        at = narrow;
    }
    return at > 0 ? (uint64_t)at : 0;
}

static uint64_t string_bytes(const query_column *c, uint64_t rows)
{
    uint64_t begin = string_offset(c, 0), end = string_offset(c, rows);
    return end > begin ? end - begin : 0;
}

/* Checks the character buffer, which may be missing if all strings are empty. */
static hac_status check_characters(const query_column *c, uint64_t rows, hac_error *err)
{
    if (is_text(c) && rows > 0 && string_bytes(c, rows) > 0 && c->array->buffers[2] == NULL)
        return hac_fail(err, HAC_INVALID, "column %.64s has no characters", c->name);
    return HAC_OK;
}

/* ---- a batch, checked ---- */

static hac_status check_child(const struct ArrowSchema *schema, const struct ArrowArray *array, uint64_t rows,
                              uint64_t first, query_column *ret, hac_error *err)
{
    const char *name = schema->name != NULL ? schema->name : "";
    query_column c = {.array = array, .name = name};
    if (strlen(name) == 0 || strlen(name) > NAME_MAX_BYTES)
        return hac_fail(err, HAC_INVALID, "a column's name has %zu bytes, 1 to %d can be", strlen(name),
                        NAME_MAX_BYTES);
    if (schema->format != NULL && strncmp(schema->format, "ts", 2) == 0 && schema->format[2] != 'u')
        return hac_fail(
            err, HAC_UNSUPPORTED,
            "column %.64s has Arrow format \"%.40s\", and queries take timestamps in microseconds "
            "(\"tsu:\"): cast it, or to int64 for whole units",
            name, schema->format);
    if (schema->format == NULL || schema->dictionary != NULL || array->dictionary != NULL ||
        !read_format(schema->format, &c))
        return hac_fail(err, HAC_UNSUPPORTED,
                        "column %.64s has Arrow format \"%.40s\"%s, which queries do not take", name,
                        schema->format != NULL ? schema->format : "",
                        schema->dictionary != NULL ? " with a dictionary" : "");
    int64_t wanted = is_text(&c) ? 3 : 2;
    uint64_t end = (uint64_t)array->length;
    if (array->n_buffers != wanted || array->buffers == NULL || array->offset < 0 || array->length < 0 ||
        end < first || end - first < rows || array->n_children != 0)
        return hac_fail(err, HAC_INVALID, "column %.64s is no valid Arrow array", name);
    c.first = first + (uint64_t)array->offset;
    c.nulls = array->null_count != 0 && array->buffers[0] != NULL;
    if (array->null_count > 0 && array->buffers[0] == NULL)
        return hac_fail(err, HAC_INVALID, "column %.64s has nulls, but does not say where", name);
    if (rows > 0 && array->buffers[1] == NULL)
        return hac_fail(err, HAC_INVALID, "column %.64s has no values", name);
    *ret = c;
    return HAC_OK;
}

static hac_status check_batch(const struct ArrowSchema *schema, const struct ArrowArray *array,
                              hac_error *err)
{
    if (schema == NULL || array == NULL || schema->release == NULL || array->release == NULL)
        return hac_fail(err, HAC_INVALID, "the columns have been released");
    if (schema->format == NULL || strcmp(schema->format, "+s") != 0)
        return hac_fail(err, HAC_UNSUPPORTED,
                        "columns come as an Arrow array of format \"+s\", not \"%.40s\"",
                        schema->format != NULL ? schema->format : "");
    if (array->length < 0 || array->offset < 0 || array->length > INT64_MAX / WIDE / 4 ||
        array->offset > INT64_MAX / WIDE / 4 || array->n_children != schema->n_children ||
        array->n_children < 0)
        return hac_fail(err, HAC_INVALID, "the columns are no valid Arrow array");
    if (array->null_count > 0 ||
        (array->null_count != 0 && array->n_buffers > 0 && array->buffers[0] != NULL))
        return hac_fail(err, HAC_UNSUPPORTED, "whole rows are null: only columns may have nulls");
    if (array->n_children > COLUMNS_MAX)
        return hac_fail(err, HAC_INVALID, "%" PRId64 " columns are too many; %d are possible",
                        array->n_children, COLUMNS_MAX);
    return HAC_OK;
}

static hac_status batch_read(const struct ArrowSchema *schema, const struct ArrowArray *array,
                             query_batch *ret, hac_error *err)
{
    hac_status status = check_batch(schema, array, err);
    if (status != HAC_OK)
        return status;
    size_t n = (size_t)array->n_children;
    ret->rows = (uint64_t)array->length;
    ret->n_columns = n;
    ret->columns = calloc(n + 1, sizeof(*ret->columns));
    hac_table_column *places = ret->source.table.columns = calloc(n + 1, sizeof(*places));
    hac_field *fields = ret->source.schema.fields = calloc(n + 1, sizeof(*fields));
    if (ret->columns == NULL || places == NULL || fields == NULL)
        return hac_fail_no_memory(err);
    ret->source.table.rows = ret->rows;
    ret->source.table.n_columns = ret->source.schema.n_fields = n;
    for (size_t i = 0; i < n && status == HAC_OK; i++) {
        query_column *c = &ret->columns[i];
        status =
            check_child(schema->children[i], array->children[i], ret->rows, (uint64_t)array->offset, c, err);
        if (status == HAC_OK)
            status = check_characters(c, ret->rows, err);
        if (status != HAC_OK)
            return status;
        strcpy(fields[i].name, c->name);
        fields[i].type = places[i].type = c->type;
        places[i].large = c->large;
        places[i].validity = places[i].bytes = HAC_TABLE_NONE;
    }
    return HAC_OK;
}

/* ---- in place ---- */

/* Computes the offset of a part of a column in the mapping. False: the part is not in the mapping. */
static bool part_in_place(const hac_mapping *mapping, const void *part, uint64_t bytes, uint64_t *ret)
{
    const uint8_t *at = part;
    if (bytes == 0) {
        *ret = 0;
        return true;
    }
    if (at < mapping->address || at > mapping->address + mapping->mapped)
        return false;
    uint64_t offset = (uint64_t)(at - mapping->address);
    *ret = offset;
    return offset % ALIGNMENT == 0 && bytes <= mapping->mapped - offset;
}

static bool column_in_place(const hac_mapping *mapping, const query_column *c, uint64_t rows,
                            hac_table_column *place)
{
    uint64_t bits = (rows + 7) / 8, size = hac_value_size(c->type);
    if (c->first != 0 || (c->width != 0 && c->width != size))
        return false;
    if (c->nulls && !part_in_place(mapping, c->array->buffers[0], bits, &place->validity))
        return false;
    if (!is_text(c))
        return part_in_place(mapping, c->array->buffers[1], is_bool(c) ? bits : rows * size, &place->values);
    place->n_bytes = string_offset(c, rows);
    return part_in_place(mapping, c->array->buffers[1], (rows + 1) * (c->large ? 8 : 4), &place->values) &&
           part_in_place(mapping, c->array->buffers[2], place->n_bytes, &place->bytes);
}

/* Returns the buffer that contains all parts in the layout that hacd needs, or NULL. */
static const hac_mapping *batch_in_place(const hac_client *client, query_batch *b)
{
    if (b->rows == 0 || b->n_columns == 0)
        return NULL;
    const hac_mapping *mapping =
        hac_mappings_containing(&client->mappings, b->columns[0].array->buffers[1], 1);
    for (size_t i = 0; i < b->n_columns && mapping != NULL; i++)
        if (!column_in_place(mapping, &b->columns[i], b->rows, &b->source.table.columns[i]))
            mapping = NULL;
    return mapping;
}

/* ---- copies ---- */

static uint64_t take_room(uint64_t *used, uint64_t bytes)
{
    uint64_t at = *used;
    *used = (at + bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return at;
}

/* Sets the offset of every part, and returns the total size. */
static uint64_t place_columns(query_batch *b)
{
    uint64_t used = 0, bits = (b->rows + 7) / 8;
    for (size_t i = 0; i < b->n_columns; i++) {
        const query_column *c = &b->columns[i];
        hac_table_column *place = &b->source.table.columns[i];
        place->validity = c->nulls ? take_room(&used, bits) : HAC_TABLE_NONE;
        place->bytes = HAC_TABLE_NONE;
        if (is_text(c)) {
            place->n_bytes = b->rows > 0 ? string_bytes(c, b->rows) : 0;
            place->values = take_room(&used, (b->rows + 1) * (c->large ? 8 : 4));
            place->bytes = take_room(&used, place->n_bytes);
        } else {
            place->values = take_room(&used, is_bool(c) ? bits : b->rows * hac_value_size(c->type));
        }
    }
    return used;
}

static void copy_bits(uint8_t *to, const uint8_t *from, uint64_t first, uint64_t n)
{
    if (first % 8 == 0) {
        memcpy(to, from + first / 8, (size_t)((n + 7) / 8));
        return;
    }
    memset(to, 0, (size_t)((n + 7) / 8));
    for (uint64_t i = 0; i < n; i++)
        to[i / 8] |= (uint8_t)((from[(first + i) / 8] >> ((first + i) % 8) & 1) << (i % 8));
}

/* Copies the characters of a column, and its offsets rebased to start at 0. */
static void copy_strings(const query_column *c, uint64_t rows, uint8_t *to, uint8_t *to_bytes,
                         uint64_t n_bytes)
{
    uint64_t begin = rows > 0 ? string_offset(c, 0) : 0;
    for (uint64_t i = 0; i <= rows; i++) {
        uint64_t at = rows > 0 ? string_offset(c, i) - begin : 0;
        int64_t wide = (int64_t)at;
        int32_t narrow = (int32_t)at;
        if (c->large)
            memcpy(to + i * sizeof(wide), &wide, sizeof(wide));
        else
            memcpy(to + i * sizeof(narrow), &narrow, sizeof(narrow));
    }
    if (n_bytes > 0)
        memcpy(to_bytes, (const uint8_t *)c->array->buffers[2] + begin, (size_t)n_bytes);
}

static void copy_column(const query_column *c, uint64_t rows, const hac_table_column *place, uint8_t *memory)
{
    uint8_t *to = memory + place->values;
    const uint8_t *from = c->array->buffers[1];
    size_t size = hac_value_size(c->type);
    if (c->nulls && rows > 0)
        copy_bits(memory + place->validity, c->array->buffers[0], c->first, rows);
    if (is_text(c)) {
        copy_strings(c, rows, to, place->n_bytes > 0 ? memory + place->bytes : NULL, place->n_bytes);
    } else if (rows == 0) {
        return;
    } else if (is_bool(c)) {
        copy_bits(to, from, c->first, rows);
    } else if (c->width == size) {
        memcpy(to, from + c->first * size, (size_t)(rows * size));
    } else { /* copy the low half of a 128-bit decimal with few digits */
        for (uint64_t i = 0; i < rows; i++)
            memcpy(to + i * size, from + (c->first + i) * c->width, size);
    }
}

static hac_status copy_batch(hac_client *client, query_batch *b, hac_query_call *call,
                             Hac__Client__Input *input, hac_error *err)
{
    uint64_t bytes = place_columns(b);
    hac_buffer *buffer = NULL;
    hac_status status = hac_buffer_alloc(client, bytes > 0 ? bytes : 1, &buffer, err);
    if (status != HAC_OK)
        return status;
    for (size_t i = 0; i < b->n_columns; i++)
        copy_column(&b->columns[i], b->rows, &b->source.table.columns[i], hac_buffer_data(buffer));
    call->owned = hac_buffer_take(buffer);
    hac_job_input_buffer(call->owned, 0, bytes, input);
    return HAC_OK;
}

hac_status hac_query_arrow(hac_client *client, const struct ArrowSchema *schema,
                           const struct ArrowArray *columns, const hac_query_options *options,
                           hac_job **ret_job, hac_error *err)
{
    hac_query_options known;
    hac_cleanup(batch_clear) query_batch b = {0};
    hac_status status = hac_query_options_read(options, &known, err);
    if (status == HAC_OK)
        status = batch_read(schema, columns, &b, err);
    if (status != HAC_OK)
        return status;
    known.schema = NULL; /* the columns define the schema */
    Hac__Client__Input input, *list[] = {&input};
    hac_query_call call = {.options = &known, .table = &b.source, .inputs = list, .n_inputs = 1};
    const hac_mapping *mapping = batch_in_place(client, &b);
    if (mapping != NULL)
        hac_job_input_buffer(mapping, 0, mapping->bytes, &input);
    else
        status = copy_batch(client, &b, &call, &input, err);
    return status == HAC_OK ? hac_query_submit(client, &call, ret_job, err) : status;
}
