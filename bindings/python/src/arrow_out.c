/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow_out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

/* ---- the columns ---- */

hac_status hacpy_result_export(hacpy_held *held, hacpy_result *ret, hac_error *err)
{
    hacpy_held *columns = hacpy_held_new(held->link);
    if (columns == NULL) {
        *err = (hac_error){HAC_NO_MEMORY, "no memory for the columns of the result"};
        return HAC_NO_MEMORY;
    }
    struct ArrowSchema schema;
    (void)hacpy_link_lock(held->link);
    hac_status status = hac_job_export_arrow(held->job, &schema, &columns->array, err);
    hacpy_link_unlock(held->link);
    if (status == HAC_OK)
        *ret = (hacpy_result){schema, columns};
    else
        hacpy_held_unref(columns);
    return status;
}

void hacpy_result_clear(hacpy_result *result)
{
    if (result->columns != NULL)
        result->schema.release(&result->schema);
    hacpy_held_unref(result->columns);
    result->columns = NULL;
}

/* ---- arrays that any thread may release ---- */

/* Any thread may release libhac's arrays, but no process that was forked: the connection is its parent's. A
 * wrapped array hands out the buffers of libhac's own one, which `held` keeps, and releases only in the
 * process that made it. Each child is wrapped by itself, because readers may move children out of their
 * parent. */
typedef struct wrapped_array {
    hacpy_held *held;
    struct ArrowArray **children; /* the dictionary is behind them, if there is one */
    struct ArrowArray *space;
} wrapped_array;

static void release_wrapped(struct ArrowArray *array)
{
    wrapped_array *own = array->private_data;
    for (int64_t i = 0; i < array->n_children; i++)
        if (own->children[i]->release != NULL)
            own->children[i]->release(own->children[i]);
    if (array->dictionary != NULL && array->dictionary->release != NULL)
        array->dictionary->release(array->dictionary);
    hacpy_held_unref(own->held);
    free((void *)own->children);
    free(own->space);
    free(own);
    array->private_data = NULL;
    array->release = NULL;
}

/* Allocates all that wrapping `n` children takes. */
static wrapped_array *new_wrapped(hacpy_held *columns, size_t n)
{
    wrapped_array *own = calloc(1, sizeof(*own));
    if (own == NULL)
        return NULL;
    own->children = calloc(n + 1, sizeof(struct ArrowArray *));
    own->space = calloc(n + 1, sizeof(struct ArrowArray));
    if (own->children == NULL || own->space == NULL) {
        free((void *)own->children);
        free(own->space);
        free(own);
        return NULL;
    }
    own->held = hacpy_held_ref(columns);
    for (size_t i = 0; i < n; i++)
        own->children[i] = &own->space[i];
    return own;
}

/* Makes a wrapped array of one that `columns` keeps. False: there is no memory. */
static bool wrap(hacpy_held *columns, const struct ArrowArray *inner, struct ArrowArray *ret)
{
    size_t n = (size_t)inner->n_children, all = n + (inner->dictionary != NULL);
    wrapped_array *own = new_wrapped(columns, all);
    if (own == NULL)
        return false;
    bool good = true;
    for (size_t i = 0; i < all && good; i++)
        good = wrap(columns, i < n ? inner->children[i] : inner->dictionary, own->children[i]);
    *ret = *inner;
    ret->children = own->children;
    ret->dictionary = all > n ? own->children[n] : NULL;
    ret->private_data = own;
    ret->release = release_wrapped;
    if (!good)
        ret->release(ret);
    return good;
}

/* ---- capsules ---- */

static void free_schema(PyObject *capsule)
{
    struct ArrowSchema *schema = PyCapsule_GetPointer(capsule, "arrow_schema");
    if (schema->release != NULL)
        schema->release(schema);
    free(schema);
}

static void free_array(PyObject *capsule)
{
    struct ArrowArray *array = PyCapsule_GetPointer(capsule, "arrow_array");
    if (array->release != NULL)
        array->release(array);
    free(array);
}

static void free_stream(PyObject *capsule)
{
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (stream->release != NULL)
        stream->release(stream);
    free(stream);
}

/* Makes a capsule of a zeroed structure. NULL: an exception is pending. */
static PyObject *new_capsule(size_t bytes, const char *name, PyCapsule_Destructor destructor, void **ret)
{
    void *memory = calloc(1, bytes);
    if (memory == NULL)
        return PyErr_NoMemory();
    PyObject *capsule = PyCapsule_New(memory, name, destructor);
    if (capsule == NULL)
        free(memory);
    *ret = memory;
    return capsule;
}

/* ---- copies of schemas ---- */

typedef struct copied_schema {
    struct ArrowSchema **children; /* the dictionary is behind them, if there is one */
    struct ArrowSchema *space;
    char texts[]; /* the format and the name */
} copied_schema;

static void release_copied(struct ArrowSchema *schema)
{
    copied_schema *own = schema->private_data;
    for (int64_t i = 0; i < schema->n_children; i++)
        if (own->children[i]->release != NULL)
            own->children[i]->release(own->children[i]);
    if (schema->dictionary != NULL && schema->dictionary->release != NULL)
        schema->dictionary->release(schema->dictionary);
    free((void *)own->children);
    free(own->space);
    free(own);
    schema->private_data = NULL;
    schema->release = NULL;
}

/* Copies a schema of libhac, which has no metadata. False: there is no memory. */
static bool copy_schema(const struct ArrowSchema *from, struct ArrowSchema *ret)
{
    size_t n = (size_t)from->n_children, all = n + (from->dictionary != NULL);
    const char *name = from->name != NULL ? from->name : "";
    size_t format_size = strlen(from->format) + 1, name_size = strlen(name) + 1;
    copied_schema *own = calloc(1, sizeof(*own) + format_size + name_size);
    if (own == NULL)
        return false;
    own->children = calloc(all + 1, sizeof(struct ArrowSchema *));
    own->space = calloc(all + 1, sizeof(struct ArrowSchema));
    bool good = own->children != NULL && own->space != NULL;
    for (size_t i = 0; i < all && good; i++) {
        own->children[i] = &own->space[i];
        good = copy_schema(i < n ? from->children[i] : from->dictionary, own->children[i]);
    }
    if (!good) {
        for (size_t i = 0; own->children != NULL && own->space != NULL && i < all; i++)
            if (own->space[i].release != NULL)
                own->space[i].release(&own->space[i]);
        free((void *)own->children);
        free(own->space);
        free(own);
        return false;
    }
    memcpy(own->texts, from->format, format_size);
    memcpy(own->texts + format_size, name, name_size);
    *ret = (struct ArrowSchema){.format = own->texts,
                                .name = own->texts + format_size,
                                .flags = from->flags,
                                .n_children = (int64_t)n,
                                .children = own->children,
                                .dictionary = all > n ? own->children[n] : NULL,
                                .release = release_copied,
                                .private_data = own};
    return true;
}

/* False: an exception is pending. */
static bool export_result(const hacpy_result *result, struct ArrowSchema *ret_schema,
                          struct ArrowArray *ret_array)
{
    if (copy_schema(&result->schema, ret_schema)) {
        if (wrap(result->columns, &result->columns->array, ret_array))
            return true;
        ret_schema->release(ret_schema);
    }
    PyErr_NoMemory();
    return false;
}

PyObject *hacpy_export_array(const hacpy_result *result)
{
    void *schema = NULL, *array = NULL;
    PyObject *first = new_capsule(sizeof(struct ArrowSchema), "arrow_schema", free_schema, &schema);
    PyObject *second = new_capsule(sizeof(struct ArrowArray), "arrow_array", free_array, &array);
    PyObject *pair = first != NULL && second != NULL ? PyTuple_Pack(2, first, second) : NULL;
    Py_XDECREF(first);
    Py_XDECREF(second);
    if (pair != NULL && !export_result(result, schema, array))
        Py_CLEAR(pair);
    return pair;
}

/* ---- streams ---- */

typedef struct result_stream {
    struct ArrowSchema schema;
    struct ArrowArray batch; /* release NULL: it was taken */
} result_stream;

static int stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *ret)
{
    const result_stream *own = stream->private_data;
    return copy_schema(&own->schema, ret) ? 0 : ENOMEM;
}

static int stream_next(struct ArrowArrayStream *stream, struct ArrowArray *ret)
{
    result_stream *own = stream->private_data;
    *ret = own->batch;
    memset(&own->batch, 0, sizeof(own->batch));
    return 0;
}

static const char *stream_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return NULL;
}

static void stream_release(struct ArrowArrayStream *stream)
{
    result_stream *own = stream->private_data;
    if (own->batch.release != NULL)
        own->batch.release(&own->batch);
    own->schema.release(&own->schema);
    free(own);
    stream->private_data = NULL;
    stream->release = NULL;
}

PyObject *hacpy_export_stream(const hacpy_result *result)
{
    void *stream = NULL;
    PyObject *capsule =
        new_capsule(sizeof(struct ArrowArrayStream), "arrow_array_stream", free_stream, &stream);
    if (capsule == NULL)
        return NULL;
    result_stream *own = calloc(1, sizeof(*own));
    if (own == NULL) {
        Py_DECREF(capsule);
        return PyErr_NoMemory();
    }
    if (!export_result(result, &own->schema, &own->batch)) {
        free(own);
        Py_DECREF(capsule);
        return NULL;
    }
    *(struct ArrowArrayStream *)stream = (struct ArrowArrayStream){.get_schema = stream_schema,
                                                                   .get_next = stream_next,
                                                                   .get_last_error = stream_error,
                                                                   .release = stream_release,
                                                                   .private_data = own};
    return capsule;
}

/* ---- buffers, for code that knows no Arrow ---- */

/* Size of the values of a format; 0: bits, or strings. Results have no others. */
static uint64_t value_bytes(const char *format)
{
    static const struct {
        const char *prefix;
        uint64_t bytes;
    } sizes[] = {{"tdD", 4}, {"ts", 8}, {"d:", 16}, {"c", 1}, {"C", 1}, {"s", 2}, {"S", 2},
                 {"i", 4},   {"I", 4},  {"l", 8},   {"L", 8}, {"f", 4}, {"g", 8}};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
        if (strncmp(format, sizes[i].prefix, strlen(sizes[i].prefix)) == 0)
            return sizes[i].bytes;
    return 0;
}

/* Sizes of the buffers of a column of `rows` rows. False: the format is one that results do not have. */
static bool buffer_sizes(const char *format, const struct ArrowArray *array, uint64_t ret[3])
{
    uint64_t rows = (uint64_t)array->length, bits = (rows + 7) / 8, size = value_bytes(format);
    ret[0] = bits;
    ret[1] = size > 0 ? rows * size : bits;
    ret[2] = 0;
    if (array->offset != 0 || array->n_buffers > 3 || strchr("uUzZ", format[0]) == NULL)
        return array->offset == 0 && array->n_buffers == 2 && (size > 0 || strcmp(format, "b") == 0);
    bool large = format[0] == 'U' || format[0] == 'Z';
    ret[1] = (rows + 1) * (large ? 8 : 4);
    if (large)
        ret[2] = (uint64_t)((const int64_t *)array->buffers[1])[rows];
    else
        ret[2] = (uint64_t)((const int32_t *)array->buffers[1])[rows];
    return true;
}

static PyObject *column_parts(const hacpy_state *state, hacpy_held *held, const struct ArrowSchema *schema,
                              const struct ArrowArray *array)
{
    uint64_t sizes[3];
    if (!buffer_sizes(schema->format, array, sizes)) {
        PyErr_Format(PyExc_NotImplementedError, "column %s has Arrow format %s", schema->name,
                     schema->format);
        return NULL;
    }
    PyObject *buffers = PyTuple_New((Py_ssize_t)array->n_buffers);
    for (int64_t i = 0; buffers != NULL && i < array->n_buffers; i++) {
        const void *data = array->buffers[i];
        PyObject *part = data != NULL ? hacpy_memory_part(state, held, data, sizes[i]) : Py_NewRef(Py_None);
        if (part == NULL || PyTuple_SetItem(buffers, (Py_ssize_t)i, part) < 0)
            Py_CLEAR(buffers);
    }
    PyObject *name = buffers != NULL ? hacpy_text(schema->name) : NULL;
    if (name == NULL) {
        Py_XDECREF(buffers);
        return NULL;
    }
    return Py_BuildValue("NsLN", name, schema->format, (long long)array->length, buffers);
}

PyObject *hacpy_export_parts(const hacpy_state *state, const hacpy_result *result)
{
    const struct ArrowSchema *schema = &result->schema;
    const struct ArrowArray *array = &result->columns->array;
    PyObject *list = PyList_New((Py_ssize_t)schema->n_children);
    for (int64_t i = 0; list != NULL && i < schema->n_children; i++) {
        PyObject *parts = column_parts(state, result->columns, schema->children[i], array->children[i]);
        if (parts == NULL || PyList_SetItem(list, (Py_ssize_t)i, parts) < 0)
            Py_CLEAR(list);
    }
    return list;
}
