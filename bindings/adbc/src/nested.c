/* SPDX-License-Identifier: Apache-2.0 */
#include "nested.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

typedef struct bytes {
    uint8_t *data;
    size_t used, capacity;
} bytes;

struct hac_adbc_column {
    const hac_adbc_field *field;
    hac_adbc_column **children;
    struct ArrowArray **child_arrays; /* of the finished array */
    size_t n_children;
    bytes validity; /* a bit a row */
    bytes values;   /* of fixed width; of unions the types */
    bytes offsets;  /* of text, lists and unions */
    bytes text;
    const void *buffers[3];
    int64_t length, null_count;
    bool failed; /* there was no memory */
};

/* ---- the tree ---- */

/* The number of fields that follow `field` and are deeper. */
static size_t below(const hac_adbc_field *field)
{
    size_t n = 0;
    while (field[n + 1].depth > field->depth)
        n++;
    return n;
}

void hac_adbc_column_free(hac_adbc_column *column)
{
    if (column == NULL)
        return;
    for (size_t i = 0; i < column->n_children; i++)
        hac_adbc_column_free(column->children[i]);
    free(column->children);
    free(column->child_arrays);
    free(column->validity.data);
    free(column->values.data);
    free(column->offsets.data);
    free(column->text.data);
    free(column);
}

hac_adbc_column *hac_adbc_column_new(const hac_adbc_field *fields)
{
    size_t n = below(fields);
    hac_adbc_column *column = calloc(1, sizeof(*column));
    if (column == NULL)
        return NULL;
    column->field = fields;
    column->children = calloc(n + 1, sizeof(hac_adbc_column *));
    column->child_arrays = calloc(n + 1, sizeof(struct ArrowArray *));
    bool complete = column->children != NULL && column->child_arrays != NULL;
    for (size_t i = 1; i <= n && complete; i += 1 + below(&fields[i])) {
        hac_adbc_column *child = hac_adbc_column_new(&fields[i]);
        complete = child != NULL;
        if (complete)
            column->children[column->n_children++] = child;
    }
    if (complete)
        return column;
    hac_adbc_column_free(column);
    return NULL;
}

hac_adbc_column *hac_adbc_column_child(hac_adbc_column *column, size_t index)
{
    return column->children[index];
}

/* ---- rows ---- */

static bool is_list(const hac_adbc_column *c)
{
    return strcmp(c->field->format, "+l") == 0 || strcmp(c->field->format, "+m") == 0;
}

static bool is_union(const hac_adbc_column *c)
{
    return strncmp(c->field->format, "+ud:", 4) == 0;
}

static bool is_text(const hac_adbc_column *c)
{
    return c->field->format[0] == 'u';
}

/* Bytes of a value; 0: bits, or no values. */
static size_t width(const hac_adbc_column *c)
{
    static const char formats[] = "sIil";
    static const uint8_t widths[] = {2, 4, 4, 8};
    const char *at = strchr(formats, c->field->format[0]);
    return at != NULL ? widths[at - formats] : 0;
}

static void add(hac_adbc_column *c, bytes *to, const void *data, size_t n)
{
    if (to->capacity - to->used < n) {
        size_t capacity = to->capacity * 2 + n + 64;
        uint8_t *more = realloc(to->data, capacity);
        if (more == NULL) {
            c->failed = true;
            return;
        }
        to->data = more;
        to->capacity = capacity;
    }
    if (n > 0)
        memcpy(to->data + to->used, data, n);
    to->used += n;
}

static void add_bit(hac_adbc_column *c, bytes *to, bool bit)
{
    static const uint8_t zero;
    if (c->length % 8 == 0)
        add(c, to, &zero, 1);
    if (!c->failed && bit)
        to->data[c->length / 8] |= (uint8_t)(1U << (c->length % 8));
}

static void add_offset(hac_adbc_column *c, int64_t at)
{
    const int32_t offset = (int32_t)at;
    c->failed |= at > INT32_MAX;
    add(c, &c->offsets, &offset, sizeof(offset));
}

/* The end of the rows so far, in the characters or in the child. */
static int64_t end_of(const hac_adbc_column *c)
{
    return is_text(c) ? (int64_t)c->text.used : c->children[0]->length;
}

static void end_row(hac_adbc_column *c, bool valid)
{
    if (is_text(c) || is_list(c)) {
        if (c->length == 0)
            add_offset(c, 0);
        add_offset(c, end_of(c));
    }
    add_bit(c, &c->validity, valid);
    c->null_count += !valid;
    c->length++;
}

void hac_adbc_put_null(hac_adbc_column *column)
{
    static const int64_t zero;
    if (column->field->format[0] == 'b')
        add_bit(column, &column->values, false);
    add(column, &column->values, &zero, width(column));
    if (strcmp(column->field->format, "+s") == 0)
        for (size_t i = 0; i < column->n_children; i++)
            hac_adbc_put_null(column->children[i]);
    end_row(column, false);
}

void hac_adbc_put_text(hac_adbc_column *column, const char *text)
{
    if (text != NULL)
        add(column, &column->text, text, strlen(text));
    end_row(column, text != NULL);
}

void hac_adbc_put_int(hac_adbc_column *column, int64_t value)
{
    if (column->field->format[0] == 'b')
        add_bit(column, &column->values, value != 0);
    else /* little-endian, as every machine that hac runs on */
        add(column, &column->values, &value, width(column));
    end_row(column, true);
}

void hac_adbc_put_row(hac_adbc_column *column)
{
    end_row(column, true);
}

void hac_adbc_put_union(hac_adbc_column *column, int8_t child)
{
    add(column, &column->values, &child, 1);
    add_offset(column, column->children[child]->length - 1);
    column->length++;
}

/* ---- the finished array ---- */

static bool has_failed(const hac_adbc_column *c)
{
    bool failed = c->failed;
    for (size_t i = 0; i < c->n_children; i++)
        failed |= has_failed(c->children[i]);
    return failed;
}

/* A child that leaves its parent keeps its own part of the tree. */
static void release_array(struct ArrowArray *array)
{
    hac_adbc_column *c = array->private_data;
    for (size_t i = 0; i < c->n_children; i++) {
        struct ArrowArray *child = c->child_arrays[i];
        if (child != NULL && child->release != NULL)
            child->release(child);
        free(child);
        c->children[i] = NULL;
    }
    hac_adbc_column_free(c);
    array->release = NULL;
}

static int64_t set_buffers(hac_adbc_column *c)
{
    static const int64_t nothing[2]; /* an offset for columns without rows */
    if (is_union(c)) {
        c->buffers[0] = c->values.data;
        c->buffers[1] = c->offsets.data;
        return 2;
    }
    c->buffers[0] = c->null_count > 0 ? c->validity.data : NULL;
    if (strcmp(c->field->format, "+s") == 0)
        return 1;
    bool offsets = is_text(c) || is_list(c);
    c->buffers[1] = offsets ? c->offsets.data : c->values.data;
    if (c->buffers[1] == NULL)
        c->buffers[1] = nothing;
    c->buffers[2] = c->text.data != NULL ? (const void *)c->text.data : nothing;
    return is_text(c) ? 3 : 2;
}

/* Makes the array of a column, which takes ownership of the column on success. */
static bool make_array(hac_adbc_column *c, struct ArrowArray *ret)
{
    for (size_t i = 0; i < c->n_children; i++)
        if ((c->child_arrays[i] = calloc(1, sizeof(struct ArrowArray))) == NULL)
            return false;
    for (size_t i = 0; i < c->n_children; i++)
        if (!make_array(c->children[i], c->child_arrays[i]))
            return false;
    *ret = (struct ArrowArray){.length = c->length,
                               .null_count = is_union(c) ? 0 : c->null_count,
                               .n_buffers = set_buffers(c),
                               .buffers = c->buffers,
                               .n_children = (int64_t)c->n_children,
                               .children = c->child_arrays,
                               .release = release_array,
                               .private_data = c};
    return true;
}

static void release_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (schema->children[i] != NULL && schema->children[i]->release != NULL)
            schema->children[i]->release(schema->children[i]);
        free(schema->children[i]);
    }
    free(schema->children);
    schema->release = NULL;
}

/* The texts of the schema are those of the table of fields, which is constant. */
static bool make_schema(const hac_adbc_field *field, struct ArrowSchema *ret)
{
    size_t n = below(field), children = 0;
    *ret = (struct ArrowSchema){.format = field->format,
                                .name = field->name,
                                .flags = field->flags,
                                .children = calloc(n + 1, sizeof(struct ArrowSchema *)),
                                .release = release_schema};
    if (ret->children == NULL) {
        ret->release = NULL;
        return false;
    }
    for (size_t i = 1; i <= n; i += 1 + below(&field[i])) {
        struct ArrowSchema *child = calloc(1, sizeof(*child));
        ret->children[children++] = child;
        ret->n_children = (int64_t)children;
        if (child == NULL || !make_schema(&field[i], child)) {
            release_schema(ret);
            return false;
        }
    }
    return true;
}

/* ---- the stream ---- */

typedef struct nested_stream {
    const hac_adbc_field *fields;
    struct ArrowArray array; /* release NULL: it has been taken */
} nested_stream;

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *ret)
{
    const nested_stream *own = stream->private_data;
    return make_schema(own->fields, ret) ? 0 : ENOMEM;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *ret)
{
    nested_stream *own = stream->private_data;
    *ret = own->array;
    own->array.release = NULL;
    return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return "out of memory";
}

static void release_stream(struct ArrowArrayStream *stream)
{
    nested_stream *own = stream->private_data;
    if (own->array.release != NULL)
        own->array.release(&own->array);
    free(own);
    stream->release = NULL;
}

/* Frees the arrays of a tree of which not all could be made. */
static void drop_arrays(hac_adbc_column *c)
{
    for (size_t i = 0; i < c->n_children; i++) {
        drop_arrays(c->children[i]);
        free(c->child_arrays[i]);
        c->child_arrays[i] = NULL;
    }
}

AdbcStatusCode hac_adbc_column_finish(hac_adbc_column *column, struct ArrowArrayStream *ret,
                                      struct AdbcError *error)
{
    nested_stream *own = calloc(1, sizeof(*own));
    if (own == NULL || column == NULL || has_failed(column) || !make_array(column, &own->array)) {
        if (column != NULL)
            drop_arrays(column);
        hac_adbc_column_free(column);
        free(own);
        return hac_adbc_refuse(error, ADBC_STATUS_INTERNAL, "out of memory");
    }
    own->fields = column->field;
    *ret = (struct ArrowArrayStream){.get_schema = get_schema,
                                     .get_next = get_next,
                                     .get_last_error = get_last_error,
                                     .release = release_stream,
                                     .private_data = own};
    return ADBC_STATUS_OK;
}
