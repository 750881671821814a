/* SPDX-License-Identifier: Apache-2.0 */
#include "columns.h"

#include <stdlib.h>

#include "arrow_in.h"

enum { BUFFERS_MAX = 3 };

typedef struct hacpy_column {
    struct ArrowSchema schema;
    struct ArrowArray array;
    Py_buffer views[BUFFERS_MAX];
    const void *buffers[BUFFERS_MAX];
} hacpy_column;

/* libhac reads what has a release callback, and does not call it. */
static void keep_schema(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

static void keep_array(struct ArrowArray *array)
{
    array->release = NULL;
}

void hacpy_columns_clear(hacpy_columns *columns)
{
    for (size_t i = 0; i < columns->n && columns->columns != NULL; i++)
        for (size_t b = 0; b < BUFFERS_MAX; b++)
            if (columns->columns[i].views[b].obj != NULL)
                PyBuffer_Release(&columns->columns[i].views[b]);
    free(columns->columns);
    free((void *)columns->schemas);
    free((void *)columns->arrays);
    *columns = (hacpy_columns){.n = 0};
}

static bool read_buffers(PyObject *tuple, Py_ssize_t rows, hacpy_column *ret)
{
    Py_ssize_t n = PyTuple_Check(tuple) ? PyTuple_Size(tuple) : -1;
    if (n < 0 || n > BUFFERS_MAX) {
        PyErr_SetString(PyExc_TypeError, "a column's buffers are a tuple of up to three");
        return false;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *buffer = PyTuple_GetItem(tuple, i);
        if (buffer == Py_None)
            continue;
        if (PyObject_GetBuffer(buffer, &ret->views[i], PyBUF_SIMPLE) < 0)
            return false;
        ret->buffers[i] = ret->views[i].buf;
    }
    ret->array = (struct ArrowArray){.length = rows,
                                     .null_count = ret->buffers[0] != NULL ? -1 : 0,
                                     .n_buffers = n,
                                     .buffers = ret->buffers,
                                     .release = keep_array};
    return true;
}

static bool read_column(PyObject *tuple, Py_ssize_t rows, hacpy_column *ret)
{
    const char *name;
    PyObject *form, *data;
    if (!PyArg_ParseTuple(tuple, "sOO:column", &name, &form, &data))
        return false;
    if (PyUnicode_Check(form)) {
        const char *format = PyUnicode_AsUTF8AndSize(form, NULL);
        ret->schema = (struct ArrowSchema){.format = format, .release = keep_schema};
        if (format == NULL || !read_buffers(data, rows, ret))
            return false;
    } else {
        const struct ArrowSchema *schema;
        const struct ArrowArray *array;
        if (!hacpy_array_of(form, data, &schema, &array))
            return false;
        ret->schema = *schema;
        ret->array = *array;
    }
    ret->schema.name = name;
    if (ret->array.length == rows)
        return true;
    PyErr_Format(PyExc_ValueError, "column %s has %lld rows, and the first one has %zd", name,
                 (long long)ret->array.length, rows);
    return false;
}

bool hacpy_columns_read(PyObject *list, Py_ssize_t rows, hacpy_columns *ret)
{
    *ret = (hacpy_columns){.n = 0};
    Py_ssize_t n = PyList_Check(list) ? PyList_Size(list) : -1;
    if (n < 0) {
        PyErr_SetString(PyExc_TypeError, "the columns are a list");
        return false;
    }
    ret->n = (size_t)n;
    ret->columns = calloc(ret->n + 1, sizeof(*ret->columns));
    ret->schemas = calloc(ret->n + 1, sizeof(*ret->schemas));
    ret->arrays = calloc(ret->n + 1, sizeof(*ret->arrays));
    if (ret->columns == NULL || ret->schemas == NULL || ret->arrays == NULL) {
        PyErr_NoMemory();
        return false;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        if (!read_column(PyList_GetItem(list, i), rows, &ret->columns[i]))
            return false;
        ret->schemas[i] = &ret->columns[i].schema;
        ret->arrays[i] = &ret->columns[i].array;
    }
    static const void *no_nulls[1] = {NULL};
    ret->schema = (struct ArrowSchema){
        .format = "+s", .name = "", .n_children = n, .children = ret->schemas, .release = keep_schema};
    ret->array = (struct ArrowArray){.length = rows,
                                     .n_buffers = 1,
                                     .n_children = n,
                                     .buffers = no_nulls,
                                     .children = ret->arrays,
                                     .release = keep_array};
    return true;
}
