/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow_in.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *pointer_of(PyObject *capsule, const char *name)
{
    if (PyCapsule_CheckExact(capsule) && PyCapsule_IsValid(capsule, name))
        return PyCapsule_GetPointer(capsule, name);
    PyErr_Format(PyExc_TypeError, "a capsule named \"%s\" is wanted, not %R", name, capsule);
    return NULL;
}

static bool check_released(bool there, const char *what)
{
    if (!there)
        PyErr_Format(PyExc_ValueError, "the %s has been released: somebody else has consumed it", what);
    return there;
}

bool hacpy_array_of(PyObject *schema_capsule, PyObject *array_capsule, const struct ArrowSchema **ret_schema,
                    const struct ArrowArray **ret_array)
{
    const struct ArrowSchema *schema = pointer_of(schema_capsule, "arrow_schema");
    const struct ArrowArray *array = schema != NULL ? pointer_of(array_capsule, "arrow_array") : NULL;
    if (array == NULL || !check_released(schema->release != NULL, "Arrow schema") ||
        !check_released(array->release != NULL, "Arrow array"))
        return false;
    *ret_schema = schema;
    *ret_array = array;
    return true;
}

/* ---- streams ---- */

bool hacpy_take_stream(PyObject *capsule, struct ArrowArrayStream *ret)
{
    struct ArrowArrayStream *stream = pointer_of(capsule, "arrow_array_stream");
    if (stream == NULL || !check_released(stream->release != NULL, "Arrow stream"))
        return false;
    *ret = *stream;
    stream->release = NULL;
    return true;
}

void hacpy_batches_clear(hacpy_batches *batches)
{
    for (size_t i = 0; i < batches->n; i++)
        if (batches->arrays[i].release != NULL)
            batches->arrays[i].release(&batches->arrays[i]);
    free(batches->arrays);
    if (batches->schema.release != NULL)
        batches->schema.release(&batches->schema);
    *batches = (hacpy_batches){.n = 0};
}

static hac_status stream_failed(struct ArrowArrayStream *stream, int number, hac_error *err)
{
    const char *why = stream->get_last_error(stream);
    err->code = HAC_FAILED;
    snprintf(err->message, sizeof(err->message), "the Arrow stream cannot be read: %.400s",
             why != NULL ? why : strerror(number));
    return HAC_FAILED;
}

/* Without the GIL, which the stream may want itself. */
static hac_status read_all(struct ArrowArrayStream *stream, hacpy_batches *ret, hac_error *err)
{
    int number = stream->get_schema(stream, &ret->schema);
    if (number != 0) {
        ret->schema.release = NULL;
        return stream_failed(stream, number, err);
    }
    for (;;) {
        struct ArrowArray *more = reallocarray(ret->arrays, ret->n + 1, sizeof(*more));
        if (more == NULL) {
            *err = (hac_error){HAC_NO_MEMORY, "no memory for the batches of an Arrow stream"};
            return HAC_NO_MEMORY;
        }
        ret->arrays = more;
        memset(&more[ret->n], 0, sizeof(*more));
        number = stream->get_next(stream, &more[ret->n]);
        if (number != 0)
            return stream_failed(stream, number, err);
        if (more[ret->n].release == NULL)
            return HAC_OK;
        ret->n++;
    }
}

bool hacpy_read_stream(const hacpy_state *state, PyObject *capsule, hacpy_batches *ret)
{
    *ret = (hacpy_batches){.n = 0};
    struct ArrowArrayStream own;
    hac_error err = HAC_ERROR_NONE;
    hac_status status;
    if (!hacpy_take_stream(capsule, &own))
        return false;
    Py_BEGIN_ALLOW_THREADS
    status = read_all(&own, ret, &err);
    own.release(&own);
    Py_END_ALLOW_THREADS
    if (status != HAC_OK)
        hacpy_raise(state, &err);
    return status == HAC_OK;
}

/* ---- keys in several arrays ---- */

static hac_status refuse(hac_error *err, hac_status code, const char *message)
{
    err->code = code;
    snprintf(err->message, sizeof(err->message), "%s", message);
    return code;
}

/* Size of a key of an Arrow format; 0: keys of this format cannot be sorted. */
static uint64_t key_size(const char *format)
{
    if (format == NULL || format[0] == '\0' || format[1] != '\0')
        return 0;
    return strchr("iIf", format[0]) != NULL ? 4 : strchr("lLg", format[0]) != NULL ? 8 : 0;
}

static bool has_nulls(const struct ArrowArray *array)
{
    if (array->null_count == 0 || array->buffers[0] == NULL)
        return array->null_count > 0;
    const uint8_t *valid = array->buffers[0];
    for (int64_t i = array->offset; i < array->offset + array->length; i++)
        if ((valid[i / 8] >> (i % 8) & 1) == 0)
            return true;
    return false;
}

/* Adds the array's length to *items. */
static hac_status check_part(const struct ArrowArray *array, uint64_t *items, hac_error *err)
{
    if (array->n_buffers != 2 || array->buffers == NULL || array->length < 0 || array->offset < 0 ||
        array->length > INT64_MAX / 8 - array->offset || array->n_children != 0 ||
        (array->length > 0 && array->buffers[1] == NULL) ||
        __builtin_add_overflow(*items, (uint64_t)array->length, items))
        return refuse(err, HAC_INVALID, "the key column is no valid Arrow array");
    if (has_nulls(array))
        return refuse(err, HAC_UNSUPPORTED, "the key column has nulls: sort what is not null");
    return HAC_OK;
}

/* libhac reads columns that have a release callback. */
static void release_nothing(struct ArrowArray *array)
{
    array->release = NULL;
}

hac_status hacpy_join_keys(hac_client *client, const hacpy_batches *batches, hac_buffer **ret_buffer,
                           struct ArrowArray *ret, const void *ret_buffers[2], hac_error *err)
{
    const char *format = batches->schema.format;
    uint64_t size = key_size(format), items = 0, bytes;
    hac_buffer *buffer = NULL;
    if (size == 0 || batches->schema.dictionary != NULL) {
        snprintf(err->message, sizeof(err->message),
                 "keys of Arrow format \"%.40s\" cannot be sorted: one of i I f l L g",
                 format != NULL ? format : "");
        return err->code = HAC_UNSUPPORTED;
    }
    hac_status status = HAC_OK;
    for (size_t i = 0; i < batches->n && status == HAC_OK; i++)
        status = check_part(&batches->arrays[i], &items, err);
    if (status == HAC_OK && __builtin_mul_overflow(items, size, &bytes))
        status = refuse(err, HAC_INVALID, "the key column is too long");
    if (status == HAC_OK)
        status = hac_buffer_alloc(client, bytes > 0 ? bytes : 1, &buffer, err);
    if (status != HAC_OK)
        return status;
    char *to = hac_buffer_data(buffer);
    for (size_t i = 0; i < batches->n; i++) {
        const struct ArrowArray *a = &batches->arrays[i];
        size_t part = (size_t)a->length * size;
        if (part > 0)
            memcpy(to, (const char *)a->buffers[1] + (size_t)a->offset * size, part);
        to += part;
    }
    ret_buffers[0] = NULL;
    ret_buffers[1] = hac_buffer_data(buffer);
    *ret = (struct ArrowArray){
        .length = (int64_t)items, .n_buffers = 2, .buffers = ret_buffers, .release = release_nothing};
    *ret_buffer = buffer;
    return HAC_OK;
}
