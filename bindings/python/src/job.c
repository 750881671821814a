/* SPDX-License-Identifier: Apache-2.0 */
#include "job.h"

#include <stdlib.h>
#include <time.h>

#include "arrow_out.h"

/* A small job ends within the first wait, which keeps the lock. Signals and other threads are looked after
 * between the following ones. */
enum { FIRST_WAIT_MS = 1, SLICE_MS = 50 };

typedef struct job_object {
    PyObject_HEAD hacpy_held *held;
    hacpy_source source;
    hacpy_result result;
    bool is_sort, done;
    char format[2];       /* of the items of a sort's result, for the buffer protocol */
    Py_ssize_t item_size; /* bytes */
    Py_ssize_t items;     /* the shape that views point to */
} job_object;

void hacpy_source_clear(hacpy_source *source)
{
    if (source->buffer.obj != NULL)
        PyBuffer_Release(&source->buffer);
    Py_CLEAR(source->object);
}

PyObject *hacpy_job_new(const hacpy_state *state, hacpy_held *held, hacpy_source *source, bool is_sort)
{
    job_object *self = PyObject_New(job_object, state->job_type);
    if (self == NULL) {
        hacpy_held_unref(held);
        hacpy_source_clear(source);
        return NULL;
    }
    self->held = held;
    self->source = *source;
    self->result = (hacpy_result){.columns = NULL};
    *source = (hacpy_source){.object = NULL};
    self->is_sort = is_sort;
    self->done = false;
    self->items = 0;
    self->item_size = 0; /* known at the end, as is the format */
    self->format[0] = '?';
    self->format[1] = '\0';
    return (PyObject *)self;
}

static void job_dealloc(PyObject *object)
{
    job_object *self = (job_object *)object;
    hacpy_result_clear(&self->result);
    hacpy_held_unref(self->held); /* before its source */
    hacpy_source_clear(&self->source);
    hacpy_free_object(object);
}

/* False: an exception is pending. */
static bool check_process(PyObject *object)
{
    const job_object *self = (const job_object *)object;
    if (hacpy_link_is_ours(self->held->link))
        return true;
    hacpy_state *state = hacpy_state_of_object(object);
    const hac_error err = {HAC_INVALID, "this job belongs to the process that was forked, and cannot be used "
                                        "in the new one: submit it there again"};
    if (state != NULL)
        hacpy_raise(state, &err);
    return false;
}

/* ---- waiting ---- */

/* Gives back what only a job that runs needs. The link is locked. */
static void let_input_go(hacpy_held *held)
{
    hac_buffer_free(held->buffer);
    held->buffer = NULL;
    if (held->array.release != NULL)
        held->array.release(&held->array);
    held->array.release = NULL;
}

/* Waits for a part of the time with the lock held, or else for the socket without it. */
static hac_status wait_slice(hacpy_held *held, int locked_ms, int polled_ms, hac_error *err)
{
    (void)hacpy_link_lock(held->link);
    hac_status status = hac_job_wait(held->job, locked_ms, err);
    if (status != HAC_AGAIN)
        let_input_go(held);
    hacpy_link_unlock(held->link);
    if (status == HAC_AGAIN && polled_ms > 0)
        hacpy_link_poll(held->link, polled_ms);
    return status;
}

static hac_status cancel(hacpy_held *held, hac_error *err)
{
    (void)hacpy_link_lock(held->link);
    hac_status status = hac_job_cancel(held->job, err);
    hacpy_link_unlock(held->link);
    return status;
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The Arrow format of a sort's result: keys, or indices. Without the GIL. */
static hac_status result_format(hacpy_held *held, char *ret, hac_error *err)
{
    struct ArrowSchema schema;
    struct ArrowArray array;
    (void)hacpy_link_lock(held->link);
    hac_status status = hac_job_export_arrow(held->job, &schema, &array, err);
    if (status == HAC_OK) {
        *ret = schema.format[0];
        schema.release(&schema);
        array.release(&array);
    }
    hacpy_link_unlock(held->link);
    return status;
}

/* False: an exception is pending. */
static bool note_result(job_object *self)
{
    static const struct {
        char arrow, python;
        Py_ssize_t size;
    } types[] = {{'I', 'I', 4}, {'i', 'i', 4}, {'f', 'f', 4}, {'L', 'Q', 8}, {'l', 'q', 8}, {'g', 'd', 8}};
    hac_error err = HAC_ERROR_NONE;
    hac_status status = HAC_OK;
    char format = 0;
    if (self->is_sort) {
        Py_BEGIN_ALLOW_THREADS
        status = result_format(self->held, &format, &err);
        Py_END_ALLOW_THREADS
    }
    hacpy_state *state = status != HAC_OK ? hacpy_state_of_object((PyObject *)self) : NULL;
    if (status != HAC_OK)
        return state != NULL && hacpy_raise(state, &err) != NULL;
    self->done = true;
    hacpy_source_clear(&self->source);
    for (size_t i = 0; self->is_sort && i < sizeof(types) / sizeof(*types); i++)
        if (types[i].arrow == format) {
            self->format[0] = types[i].python;
            self->item_size = types[i].size;
            self->items = (Py_ssize_t)hac_job_bytes(self->held->job) / types[i].size;
        }
    return true;
}

/* HAC_OK, HAC_AGAIN if the time is up, or the job's error. -1: an exception is pending. */
static hac_status wait_for_end(job_object *self, double seconds, hac_error *err)
{
    const double end = seconds < 0 ? 0 : seconds_now() + seconds;
    for (int locked_ms = FIRST_WAIT_MS;; locked_ms = 0) {
        hac_status status;
        int slice_ms = SLICE_MS;
        if (seconds >= 0) {
            double left = end - seconds_now();
            slice_ms = left <= 0 ? 0 : left < 1e-3 * SLICE_MS ? (int)(left * 1e3) + 1 : SLICE_MS;
        }
        Py_BEGIN_ALLOW_THREADS
        status = wait_slice(self->held, slice_ms > 0 ? locked_ms : 0, slice_ms, err);
        Py_END_ALLOW_THREADS
        if (status != HAC_AGAIN || slice_ms == 0)
            return status;
        if (PyErr_CheckSignals() < 0) {
            Py_BEGIN_ALLOW_THREADS(void)
            cancel(self->held, NULL);
            Py_END_ALLOW_THREADS
            return -1;
        }
    }
}

/* The columns of a job that is done, exported if they are not yet. NULL: an exception is pending. */
static const hacpy_result *result_of(job_object *self, const hacpy_state *state)
{
    hacpy_result found;
    hac_error err = HAC_ERROR_NONE;
    hac_status status;
    if (self->result.columns != NULL)
        return &self->result;
    Py_BEGIN_ALLOW_THREADS
    status = hacpy_result_export(self->held, &found, &err);
    Py_END_ALLOW_THREADS
    if (status != HAC_OK) {
        hacpy_raise(state, &err);
        return NULL;
    }
    if (self->result.columns == NULL)
        self->result = found;
    else /* another thread was faster */
        hacpy_result_clear(&found);
    return &self->result;
}

/* Exports the columns of a query, so that who reads them later does not wait for the lock. An error is raised
 * for those. */
static void export_early(job_object *self)
{
    hacpy_state *state = hacpy_state_of_object((PyObject *)self);
    if (!self->is_sort && (state == NULL || result_of(self, state) == NULL))
        PyErr_Clear();
}

static PyObject *job_wait(PyObject *object, PyObject *args)
{
    job_object *self = (job_object *)object;
    PyObject *timeout = Py_None;
    hac_error err = HAC_ERROR_NONE;
    if (!PyArg_ParseTuple(args, "|O:wait", &timeout) || !check_process(object))
        return NULL;
    double seconds = timeout == Py_None ? -1 : PyFloat_AsDouble(timeout);
    if (PyErr_Occurred())
        return NULL;
    if (timeout != Py_None && !(seconds > 0))
        seconds = 0;
    if (self->done)
        Py_RETURN_TRUE;
    hac_status status = wait_for_end(self, seconds, &err);
    if (status == HAC_OK) {
        if (!note_result(self))
            return NULL;
        export_early(self);
    }
    if (status == HAC_OK || status == HAC_AGAIN)
        return PyBool_FromLong(status == HAC_OK);
    hacpy_state *state = status > 0 ? hacpy_state_of_object(object) : NULL;
    return state != NULL ? hacpy_raise(state, &err) : NULL;
}

static PyObject *job_cancel(PyObject *object, PyObject *ignored)
{
    job_object *self = (job_object *)object;
    hac_error err = HAC_ERROR_NONE;
    hac_status status;
    (void)ignored;
    if (!check_process(object))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    status = cancel(self->held, &err);
    Py_END_ALLOW_THREADS
    if (status == HAC_OK)
        Py_RETURN_NONE;
    hacpy_state *state = hacpy_state_of_object(object);
    return state != NULL ? hacpy_raise(state, &err) : NULL;
}

/* ---- the result ---- */

/* False: an exception is pending. */
static bool check_done(PyObject *object)
{
    const job_object *self = (const job_object *)object;
    if (!self->done)
        PyErr_SetString(PyExc_ValueError, "the job is not known to be done: wait() for it first");
    return self->done;
}

static PyObject *job_arrow_array(PyObject *object, PyObject *ignored)
{
    (void)ignored;
    hacpy_state *state = hacpy_state_of_object(object);
    if (state == NULL || !check_process(object) || !check_done(object))
        return NULL;
    const hacpy_result *result = result_of((job_object *)object, state);
    return result != NULL ? hacpy_export_array(result) : NULL;
}

static PyObject *job_arrow_stream(PyObject *object, PyObject *ignored)
{
    (void)ignored;
    hacpy_state *state = hacpy_state_of_object(object);
    if (state == NULL || !check_process(object) || !check_done(object))
        return NULL;
    const hacpy_result *result = result_of((job_object *)object, state);
    return result != NULL ? hacpy_export_stream(result) : NULL;
}

static PyObject *job_parts(PyObject *object, PyObject *ignored)
{
    (void)ignored;
    hacpy_state *state = hacpy_state_of_object(object);
    if (state == NULL || !check_process(object) || !check_done(object))
        return NULL;
    const hacpy_result *result = result_of((job_object *)object, state);
    return result != NULL ? hacpy_export_parts(state, result) : NULL;
}

static int job_get_buffer(PyObject *object, Py_buffer *view, int flags)
{
    job_object *self = (job_object *)object;
    view->obj = NULL;
    if (!check_done(object))
        return -1;
    if (!self->is_sort) {
        PyErr_SetString(PyExc_BufferError, "only results of sorts are arrays");
        return -1;
    }
    void *data = (void *)(uintptr_t)hac_job_data(self->held->job);
    if (PyBuffer_FillInfo(view, object, data, self->items * self->item_size, 1, flags) < 0)
        return -1;
    view->itemsize = self->item_size;
    if (view->shape != NULL)
        view->shape = &self->items;
    if (view->strides != NULL)
        view->strides = &self->item_size;
    if ((flags & PyBUF_FORMAT) == PyBUF_FORMAT)
        view->format = self->format;
    return 0;
}

/* ---- what the job says of itself ---- */

static PyObject *job_id(PyObject *object, void *ignored)
{
    (void)ignored;
    return PyLong_FromUnsignedLongLong(hac_job_id(((job_object *)object)->held->job));
}

static PyObject *job_text(PyObject *object, void *ignored)
{
    (void)ignored;
    if (!check_process(object) || !check_done(object))
        return NULL;
    return hacpy_text(hac_job_text(((job_object *)object)->held->job));
}

static PyObject *job_assumed(PyObject *object, void *ignored)
{
    (void)ignored;
    if (!check_process(object) || !check_done(object))
        return NULL;
    return hacpy_text(hac_job_assumed(((job_object *)object)->held->job));
}

static PyObject *job_columns(PyObject *object, void *ignored)
{
    (void)ignored;
    PyObject *list = check_process(object) ? PyList_New(0) : NULL;
    const char *name, *type;
    for (size_t i = 0; list != NULL && hac_job_column(((job_object *)object)->held->job, i, &name, &type);
         i++) {
        PyObject *text = hacpy_text(name);
        PyObject *pair = text != NULL ? Py_BuildValue("Ns", text, type) : NULL;
        if (pair == NULL || PyList_Append(list, pair) < 0)
            Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    return list;
}

static PyObject *job_done(PyObject *object, void *ignored)
{
    (void)ignored;
    return PyBool_FromLong(((job_object *)object)->done);
}

static PyMethodDef methods[] = {
    {"wait", job_wait, METH_VARARGS,
     "wait($self, timeout=None, /)\n--\n\nWaits for the end, at most so many seconds. True: the job is done. "
     "False: "
     "the time is up. Ctrl-C cancels the job. Raises the job's own error."},
    {"cancel", job_cancel, METH_NOARGS,
     "cancel($self)\n--\n\nRequests cancellation; a wait() then raises. From any thread."},
    {"arrow_array", job_arrow_array, METH_NOARGS, "arrow_array($self)\n--\n\nThe result: two capsules."},
    {"arrow_stream", job_arrow_stream, METH_NOARGS, "arrow_stream($self)\n--\n\nThe result: one capsule."},
    {"parts", job_parts, METH_NOARGS, "parts($self)\n--\n\nThe columns of a query's result, as buffers."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
    {"id", job_id, NULL, "The number that `hacctl show` takes; 0: not known yet.", NULL},
    {"text", job_text, NULL, "Remarks about the result.", NULL},
    {"assumed", job_assumed, NULL, "The columns whose types were inferred.", NULL},
    {"columns", job_columns, NULL, "Names and types of a query's result.", NULL},
    {"done", job_done, NULL, "Whether wait() has returned True.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

int hacpy_add_job_type(PyObject *module, hacpy_state *state)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc, "A job. The result of a sort is also a read-only buffer of its items."},
        {Py_tp_dealloc, (void *)job_dealloc},
        {Py_tp_methods, methods},
        {Py_tp_getset, members},
        {Py_bf_getbuffer, (void *)job_get_buffer},
        {0, NULL},
    };
    static PyType_Spec spec = {.name = "hac._hac.Job",
                               .basicsize = sizeof(job_object),
                               .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
                                        Py_TPFLAGS_IMMUTABLETYPE,
                               .slots = slots};
    state->job_type = hacpy_add_type(module, &spec);
    return state->job_type != NULL ? 0 : -1;
}
