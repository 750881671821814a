/* SPDX-License-Identifier: Apache-2.0 */
#include "opsplit.h"

#include <stdlib.h>
#include <string.h>

#include <hac/opsplit.h>

#include "connection.h"
#include "options.h"
#include "vectors.h"

enum { PARTS = 3 };

/* A run of a logic file: its arrays, as Python gave them and as vectors. */
typedef struct logic_run {
    const char *path;
    size_t n_inputs, n_results;
    hacpy_array *arrays; /* of inputs that are vectors */
    Py_buffer (*views)[PARTS];
    hac_opsplit_input *inputs;
    hac_vector **in, **out;
    hac_opsplit_result *results;
    hacpy_elements *elements;
} logic_run;

static void run_clear(logic_run *run)
{
    for (size_t i = 0; run->views != NULL && i < run->n_inputs; i++)
        for (size_t p = 0; p < PARTS; p++)
            if (run->views[i][p].obj != NULL)
                PyBuffer_Release(&run->views[i][p]);
    for (size_t i = 0; run->elements != NULL && i < run->n_results; i++)
        hacpy_elements_clear(&run->elements[i]);
    free(run->arrays);
    free(run->views);
    free(run->inputs);
    free((void *)run->in);
    free((void *)run->out);
    free(run->results);
    free(run->elements);
}

/* ---- arguments ---- */

/* Reads (name, path) or (name, form, type, rows, columns, (values[, row numbers, column numbers])). */
static bool read_input(logic_run *run, size_t i, PyObject *tuple)
{
    hac_opsplit_input *input = &run->inputs[i];
    hacpy_array *array = &run->arrays[i];
    PyObject *buffers;
    int form, type;
    unsigned long long rows, columns;
    if (PyTuple_Check(tuple) && PyTuple_Size(tuple) == 2)
        return PyArg_ParseTuple(tuple, "sy", &input->name, &input->path);
    if (!PyArg_ParseTuple(tuple, "siiKKO!", &input->name, &form, &type, &rows, &columns, &PyTuple_Type,
                          &buffers))
        return false;
    Py_ssize_t n = PyTuple_Size(buffers);
    for (Py_ssize_t p = 0; p < n && p < PARTS; p++)
        if (PyObject_GetBuffer(PyTuple_GetItem(buffers, p), &run->views[i][p], PyBUF_SIMPLE) < 0)
            return false;
    uint64_t size = hacpy_element_size((hac_vector_type)type), bytes = (uint64_t)run->views[i][0].len;
    uint64_t entries = size > 0 ? bytes / size : 0, dense = 0;
    bool good = size > 0 && (n == 1 || n == PARTS) && !__builtin_mul_overflow(rows, columns, &dense) &&
                (n == 1 ? entries == dense
                        : (uint64_t)run->views[i][1].len == entries * sizeof(uint64_t) &&
                              run->views[i][2].len == run->views[i][1].len);
    if (!good) {
        PyErr_SetString(PyExc_ValueError, "the parts of an array have wrong sizes");
        return false;
    }
    array->shape =
        (hac_vector_shape){(hac_vector_template)form, (hac_vector_type)type, rows, columns, entries};
    array->values = run->views[i][0].buf;
    array->rows = n == PARTS ? run->views[i][1].buf : NULL;
    array->columns = n == PARTS ? run->views[i][2].buf : NULL;
    return true;
}

static bool read_arguments(logic_run *run, PyObject *inputs, PyObject *results)
{
    run->n_inputs = (size_t)PyList_Size(inputs);
    run->n_results = (size_t)PyTuple_Size(results);
    run->arrays = calloc(run->n_inputs + 1, sizeof(*run->arrays));
    run->views = calloc(run->n_inputs + 1, sizeof(*run->views));
    run->inputs = calloc(run->n_inputs + 1, sizeof(*run->inputs));
    run->in = calloc(run->n_inputs + 1, sizeof(*run->in));
    run->out = calloc(run->n_results + 1, sizeof(*run->out));
    run->results = calloc(run->n_results + 1, sizeof(*run->results));
    run->elements = calloc(run->n_results + 1, sizeof(*run->elements));
    if (run->arrays == NULL || run->views == NULL || run->inputs == NULL || run->in == NULL ||
        run->out == NULL || run->results == NULL || run->elements == NULL) {
        PyErr_NoMemory();
        return false;
    }
    for (size_t i = 0; i < run->n_inputs; i++)
        if (!read_input(run, i, PyList_GetItem(inputs, (Py_ssize_t)i)))
            return false;
    for (size_t i = 0; i < run->n_results; i++) {
        run->results[i].name = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(results, (Py_ssize_t)i), NULL);
        run->results[i].ret_vector = &run->out[i];
        if (run->results[i].name == NULL)
            return false;
    }
    return true;
}

/* ---- the run ---- */

/* With the client locked, without the GIL. */
static hac_status run_locked(logic_run *run, hac_client *client, hac_opsplit_options *options, hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; i < run->n_inputs && status == HAC_OK; i++) {
        if (run->inputs[i].path != NULL)
            continue;
        status = hacpy_vector_from(client, &run->arrays[i], &run->in[i], err);
        run->inputs[i].vector = run->in[i];
    }
    options->inputs = run->inputs;
    options->n_inputs = run->n_inputs;
    options->results = run->results;
    options->n_results = run->n_results;
    if (status == HAC_OK)
        status = hac_opsplit_run(client, run->path, options, err);
    for (size_t i = 0; i < run->n_results; i++) {
        if (status == HAC_OK)
            status = hacpy_vector_read(run->out[i], &run->elements[i], err);
        hac_vector_free(run->out[i]);
    }
    for (size_t i = 0; i < run->n_inputs; i++)
        hac_vector_free(run->in[i]);
    return status;
}

/* (form, type, rows, columns, values, row numbers or None, column numbers or None) */
static PyObject *elements_object(const hacpy_elements *e)
{
    const Py_ssize_t n = (Py_ssize_t)e->shape.entries, numbers = n * (Py_ssize_t)sizeof(uint64_t);
    const Py_ssize_t bytes = n * (Py_ssize_t)hacpy_element_size(e->shape.type);
    return Py_BuildValue("iiKKy#y#y#", (int)e->shape.form, (int)e->shape.type,
                         (unsigned long long)e->shape.rows, (unsigned long long)e->shape.columns, e->values,
                         bytes, (const char *)e->rows, e->rows != NULL ? numbers : 0,
                         (const char *)e->columns, e->columns != NULL ? numbers : 0);
}

static PyObject *results_list(const logic_run *run)
{
    PyObject *list = PyList_New((Py_ssize_t)run->n_results);
    for (size_t i = 0; list != NULL && i < run->n_results; i++) {
        PyObject *one = elements_object(&run->elements[i]);
        if (one == NULL || PyList_SetItem(list, (Py_ssize_t)i, one) < 0)
            Py_CLEAR(list);
    }
    return list;
}

PyObject *hacpy_opsplit(PyObject *object, PyObject *args)
{
    PyObject *inputs, *results, *output, *list = NULL;
    logic_run run = {.path = NULL};
    hac_opsplit_options options = HAC_OPSPLIT_OPTIONS_INIT;
    hacpy_state *state = hacpy_connection_state(object);
    if (state == NULL || !PyArg_ParseTuple(args, "yO!O!Oi:opsplit", &run.path, &PyList_Type, &inputs,
                                           &PyTuple_Type, &results, &output, &options.stop_fd))
        return NULL;
    options.output = output != Py_None ? PyBytes_AsString(output) : NULL;
    if (PyErr_Occurred())
        return NULL;
    if (read_arguments(&run, inputs, results)) {
        hacpy_link *link = hacpy_connection_link(object);
        hac_error err = HAC_ERROR_NONE;
        hac_status status;
        Py_BEGIN_ALLOW_THREADS
        hac_client *client = hacpy_link_lock(link);
        status = run_locked(&run, client, &options, &err);
        hacpy_link_unlock(link);
        Py_END_ALLOW_THREADS
        list = status == HAC_OK ? results_list(&run) : hacpy_raise(state, &err);
    }
    run_clear(&run);
    return list;
}
