/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow_batches.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { WIDE = 16, TEXT_MAX = 300 };

void hac_arrow_batches_clear(hac_arrow_batches *batches)
{
    for (size_t i = 0; i < batches->n_batches; i++) {
        hac_arrow_batch *b = &batches->batches[i];
        free(b->columns);
        if (b->array != NULL && b->array->release != NULL)
            b->array->release(b->array);
        free(b->array);
    }
    free(batches->batches);
    free(batches->types);
    free(batches->names);
    for (size_t i = 0; batches->refused != NULL && i < batches->n_columns; i++)
        free(batches->refused[i]);
    free(batches->refused);
    if (batches->schema.release != NULL)
        batches->schema.release(&batches->schema);
    *batches = (hac_arrow_batches){0};
}

/* ---- the schema ---- */

/* Reads the type of a column. One that queries do not take is one of nulls, with the reason. */
static hac_status read_type(const struct ArrowSchema *child, size_t i, hac_arrow_batches *ret, hac_error *err)
{
    hac_error why = HAC_ERROR_NONE;
    hac_status status = hac_arrow_type_read(child, &ret->types[i], &why);
    if (status == HAC_OK)
        return HAC_OK;
    if (status != HAC_UNSUPPORTED || ret->bare || ret->needs_all)
        return hac_fail(err, status, "%s", why.message);
    ret->types[i] = (hac_arrow_type){.type.kind = HAC_KIND_STRING, .layout = HAC_ARROW_NULLS};
    ret->refused[i] = strdup(why.message);
    return ret->refused[i] != NULL ? HAC_OK : hac_fail_no_memory(err);
}

static hac_status read_columns(const struct ArrowSchema *schema, hac_arrow_batches *ret, hac_error *err)
{
    ret->types = calloc(ret->n_columns + 1, sizeof(*ret->types));
    ret->names = calloc(ret->n_columns + 1, sizeof(*ret->names));
    ret->refused = calloc(ret->n_columns + 1, sizeof(*ret->refused));
    if (ret->types == NULL || ret->names == NULL || ret->refused == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < ret->n_columns; i++) {
        const struct ArrowSchema *child = ret->bare ? schema : schema->children[i];
        if (child == NULL || child->release == NULL)
            return hac_fail(err, HAC_INVALID, "the schema of column %zu has been released", i + 1);
        const char *name = child->name != NULL ? child->name : "";
        if (ret->bare) /* most have no name, and messages need one */
            name = "of the stream";
        if (strlen(name) == 0 || strlen(name) > HAC_ARROW_NAME_MAX)
            return hac_fail(err, HAC_INVALID, "a column's name has %zu bytes, 1 to %d can be", strlen(name),
                            HAC_ARROW_NAME_MAX);
        ret->names[i] = name;
        hac_status status = read_type(child, i, ret, err);
        if (status != HAC_OK)
            return status;
    }
    return HAC_OK;
}

static hac_status read_schema(const struct ArrowSchema *schema, hac_arrow_batches *ret, hac_error *err)
{
    if (schema == NULL || schema->release == NULL)
        return hac_fail(err, HAC_INVALID, "the columns have been released");
    bool columns = schema->format != NULL && strcmp(schema->format, "+s") == 0;
    if (ret->bare && columns && schema->n_children != 1)
        return hac_fail(err, HAC_INVALID, "the stream has %" PRId64 " columns, not one", schema->n_children);
    ret->bare &= !columns;
    ret->n_columns = 1;
    if (ret->bare)
        return read_columns(schema, ret, err);
    if (!columns)
        return hac_fail(err, HAC_UNSUPPORTED,
                        "columns come as an Arrow array of format \"+s\", not \"%.40s\"",
                        schema->format != NULL ? schema->format : "");
    if (schema->n_children < 0 || (schema->n_children > 0 && schema->children == NULL))
        return hac_fail(err, HAC_INVALID, "the columns are no valid Arrow array");
    if (schema->n_children > HAC_ARROW_COLUMNS_MAX)
        return hac_fail(err, HAC_INVALID, "%" PRId64 " columns are too many; %d are possible",
                        schema->n_children, HAC_ARROW_COLUMNS_MAX);
    ret->n_columns = (size_t)schema->n_children;
    return read_columns(schema, ret, err);
}

/* ---- batches ---- */

static hac_status check_batch(const struct ArrowArray *array, const hac_arrow_batches *b, hac_error *err)
{
    size_t n_columns = b->n_columns;
    if (array == NULL || array->release == NULL)
        return hac_fail(err, HAC_INVALID, "the columns have been released");
    if (b->bare) /* hac_arrow_column_read checks the rest */
        return array->length >= 0 ? HAC_OK : hac_fail(err, HAC_INVALID, "the column is no valid Arrow array");
    if (array->length < 0 || array->offset < 0 || array->length > INT64_MAX / WIDE / 4 ||
        array->offset > INT64_MAX / WIDE / 4 || array->n_children != (int64_t)n_columns ||
        (n_columns > 0 && array->children == NULL) || (array->n_buffers > 0 && array->buffers == NULL))
        return hac_fail(err, HAC_INVALID, "the columns are no valid Arrow array");
    if (array->null_count > 0 ||
        (array->null_count != 0 && array->n_buffers > 0 && array->buffers[0] != NULL))
        return hac_fail(err, HAC_UNSUPPORTED, "whole rows are null: only columns may have nulls");
    return HAC_OK;
}

/* The memory of a table that the values of a column take at least. */
static uint64_t value_bytes(const hac_arrow_column *c)
{
    hac_kind kind = (hac_kind)c->type.type.kind;
    if (kind == HAC_KIND_BOOL)
        return c->rows.n / 8;
    return hac_kind_is_text(kind) ? c->n_bytes + c->rows.n * sizeof(int32_t)
                                  : c->rows.n * hac_value_size(c->type.type);
}

/* Checks the columns of a batch, and adds them. */
static hac_status add_columns(hac_arrow_batches *b, const struct ArrowArray *array, hac_arrow_batch *batch,
                              hac_error *err)
{
    uint64_t bytes = b->bytes;
    batch->rows = (uint64_t)array->length;
    for (size_t i = 0; i < b->n_columns; i++) {
        const struct ArrowArray *child = b->bare ? array : array->children[i];
        if (child == NULL)
            return hac_fail(err, HAC_INVALID, "column %.64s is no valid Arrow array", b->names[i]);
        hac_status status = HAC_OK;
        if (b->refused[i] != NULL)
            batch->columns[i] = hac_arrow_column_of_nulls(b->names[i], &b->types[i], batch->rows, b->rows);
        else
            status =
                hac_arrow_column_read(b->names[i], &b->types[i], child, b->bare ? 0 : (uint64_t)array->offset,
                                      batch->rows, b->rows, &batch->columns[i], err);
        if (status != HAC_OK)
            return status;
        if (__builtin_add_overflow(bytes, value_bytes(&batch->columns[i]), &bytes) || bytes > INT64_MAX / 2)
            return hac_fail(err, HAC_INVALID, "the columns have more bytes than can be");
    }
    if (__builtin_add_overflow(b->rows, batch->rows, &b->rows) || b->rows > INT64_MAX / WIDE / 4)
        return hac_fail(err, HAC_INVALID, "the columns have more rows than can be");
    b->bytes = bytes;
    return HAC_OK;
}

/* Adds the rows of an array. `owned`: the batches take ownership of the array, on success. */
static hac_status add_batch(hac_arrow_batches *b, const struct ArrowArray *array, bool owned, hac_error *err)
{
    hac_status status = check_batch(array, b, err);
    if (status != HAC_OK)
        return status;
    if (b->n_batches == b->capacity) {
        size_t capacity = b->capacity == 0 ? 4 : b->capacity * 2;
        hac_arrow_batch *more = reallocarray(b->batches, capacity, sizeof(*more));
        if (more == NULL)
            return hac_fail_no_memory(err);
        b->batches = more;
        b->capacity = capacity;
    }
    hac_arrow_batch batch = {.array = owned ? malloc(sizeof(*array)) : NULL, /* columns refer to it */
                             .columns = calloc(b->n_columns + 1, sizeof(*batch.columns))};
    if (batch.columns == NULL || (owned && batch.array == NULL))
        status = hac_fail_no_memory(err);
    if (status == HAC_OK && owned)
        *batch.array = *array;
    if (status == HAC_OK)
        status = add_columns(b, owned ? batch.array : array, &batch, err);
    if (status != HAC_OK) {
        free(batch.array);
        free(batch.columns);
        return status;
    }
    b->batches[b->n_batches++] = batch;
    return HAC_OK;
}

hac_status hac_arrow_batches_one(const struct ArrowSchema *schema, const struct ArrowArray *array,
                                 hac_arrow_batches *ret, hac_error *err)
{
    hac_arrow_batches b = {0};
    hac_status status = read_schema(schema, &b, err);
    if (status == HAC_OK)
        status = add_batch(&b, array, false, err);
    if (status != HAC_OK) {
        hac_arrow_batches_clear(&b);
        return status;
    }
    *ret = b;
    return HAC_OK;
}

/* ---- streams ---- */

void hac_arrow_stream_release(struct ArrowArrayStream *stream)
{
    if (stream == NULL || stream->release == NULL)
        return;
    stream->release(stream);
    stream->release = NULL;
}

/* Of a text of several lines, such as a traceback, the first one is in the message. */
static hac_status stream_failed(struct ArrowArrayStream *stream, int code, hac_error *err)
{
    const char *text = stream->get_last_error != NULL ? stream->get_last_error(stream) : NULL;
    hac_status status = code == ENOMEM ? HAC_NO_MEMORY : code == ECANCELED ? HAC_CANCELLED : HAC_FAILED;
    text = text != NULL ? text + strspn(text, "\r\n") : "";
    size_t line = strcspn(text, "\r\n");
    return hac_fail_errno(err, status, code, "the Arrow stream cannot be read%s%.*s", line > 0 ? ": " : "",
                          (int)(line < TEXT_MAX ? line : TEXT_MAX), text);
}

/* Reads the next batch. *ret_end: there is none. */
static hac_status read_batch(struct ArrowArrayStream *stream, hac_arrow_batches *b, bool *ret_end,
                             hac_error *err)
{
    struct ArrowArray array = {0};
    int code = stream->get_next(stream, &array);
    if (code != 0)
        return stream_failed(stream, code, err);
    *ret_end = array.release == NULL;
    if (*ret_end)
        return HAC_OK;
    bool has_rows = array.length != 0; /* one without rows is checked as well, and not kept */
    hac_status status = has_rows ? add_batch(b, &array, true, err) : check_batch(&array, b, err);
    if (status != HAC_OK || !has_rows)
        array.release(&array);
    return status;
}

static hac_status read_batches(struct ArrowArrayStream *stream, uint64_t limit, hac_arrow_batches *b,
                               hac_error *err)
{
    int code = stream->get_schema(stream, &b->schema);
    if (code != 0) {
        b->schema.release = NULL;
        return stream_failed(stream, code, err);
    }
    bool end = false;
    hac_status status = read_schema(&b->schema, b, err);
    while (status == HAC_OK && !end) {
        status = read_batch(stream, b, &end, err);
        if (status == HAC_OK && limit != 0 && b->bytes > limit)
            status = hac_fail(
                err, HAC_REFUSED,
                "the Arrow stream has more than the %" PRIu64 " bytes of memory that the job may use", limit);
    }
    return status;
}

static hac_status read_stream(struct ArrowArrayStream *stream, uint64_t limit, bool one_column,
                              hac_arrow_batches *ret, hac_error *err)
{
    if (stream == NULL || stream->release == NULL)
        return hac_fail(err, HAC_INVALID, "the Arrow stream has been released");
    hac_arrow_batches b = {.bare = one_column, .needs_all = one_column};
    hac_status status;
    if (stream->get_schema == NULL || stream->get_next == NULL)
        status = hac_fail(err, HAC_INVALID, "the Arrow stream has no functions");
    else
        status = read_batches(stream, limit, &b, err);
    hac_arrow_stream_release(stream);
    if (status != HAC_OK) {
        hac_arrow_batches_clear(&b);
        return status;
    }
    *ret = b;
    return HAC_OK;
}

hac_status hac_arrow_batches_read(struct ArrowArrayStream *stream, uint64_t limit, hac_arrow_batches *ret,
                                  hac_error *err)
{
    return read_stream(stream, limit, false, ret, err);
}

hac_status hac_arrow_batches_read_column(struct ArrowArrayStream *stream, uint64_t limit,
                                         hac_arrow_batches *ret, hac_error *err)
{
    return read_stream(stream, limit, true, ret, err);
}
