/* SPDX-License-Identifier: Apache-2.0 */
/* The type hac._hac.Connection: connecting, memory, sorts, questions. */
#include <stdlib.h>
#include <string.h>

#include "arrow_in.h"
#include "connection.h"
#include "job.h"
#include "memory.h"
#include "opsplit.h"
#include "options.h"
#include "query.h"

/* ---- life ---- */

static PyObject *connection_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"socket", "autostart", NULL};
    hac_connect_options options = HAC_CONNECT_OPTIONS_INIT;
    int autostart = 1;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|zp:Connection", names, &options.socket, &autostart))
        return NULL;
    hacpy_state *state = PyType_GetModuleState(type);
    hac_error err = HAC_ERROR_NONE;
    hac_client *client = NULL;
    hac_status status;
    if (state == NULL)
        return NULL;
    options.flags = autostart ? 0 : HAC_CONNECT_NO_AUTOSTART;
    options.software = "python";
    Py_BEGIN_ALLOW_THREADS
    status = hac_client_connect(&options, &client, &err);
    Py_END_ALLOW_THREADS
    if (status != HAC_OK)
        return hacpy_raise(state, &err);
    hacpy_link *link = hacpy_link_new(client);
    if (link == NULL) {
        hac_client_free(client);
        return PyErr_NoMemory();
    }
    hacpy_connection *self = PyObject_New(hacpy_connection, type);
    if (self == NULL)
        hacpy_link_unref(link);
    else
        self->link = link;
    return (PyObject *)self;
}

static void connection_dealloc(PyObject *object)
{
    hacpy_link_unref(hacpy_connection_link(object));
    hacpy_free_object(object);
}

/* ---- memory ---- */

static PyObject *connection_alloc(PyObject *object, PyObject *args)
{
    unsigned long long bytes;
    hacpy_state *state = hacpy_connection_state(object);
    if (state == NULL || !PyArg_ParseTuple(args, "K:alloc", &bytes))
        return NULL;
    hacpy_held *held = hacpy_held_new(hacpy_connection_link(object));
    hac_error err = HAC_ERROR_NONE;
    hac_status status;
    if (held == NULL)
        return PyErr_NoMemory();
    Py_BEGIN_ALLOW_THREADS
    hac_client *client = hacpy_link_lock(held->link);
    status = hac_buffer_alloc(client, bytes, &held->buffer, &err);
    hacpy_link_unlock(held->link);
    Py_END_ALLOW_THREADS
    if (status == HAC_OK)
        return hacpy_memory_new(state, held);
    hacpy_held_unref(held);
    return hacpy_raise(state, &err);
}

/* ---- sorts ---- */

/* The keys of a sort: one column, or a stream of them. */
typedef struct sort_input {
    const struct ArrowSchema *schema;
    const struct ArrowArray *keys;
    hacpy_stream *stream; /* NULL: the two above */
} sort_input;

/* With the client locked, without the GIL. */
static hac_status submit_keys(const sort_input *input, const hac_sort_options *options, hac_client *client,
                              hac_job **ret_job, hac_error *err)
{
    if (input->stream == NULL)
        return hac_sort_arrow(client, input->schema, input->keys, options, ret_job, err);
    struct ArrowArrayStream unlocked = hacpy_unlocked_stream(input->stream);
    return hac_sort_arrow_stream(client, &unlocked, options, ret_job, err);
}

/* Takes over `source`. */
static PyObject *submit_sort(PyObject *object, const hacpy_state *state, const sort_input *input,
                             const hac_sort_options *options, hacpy_source *source)
{
    hac_error err = HAC_ERROR_NONE;
    hac_status status;
    hacpy_held *held = hacpy_held_new(hacpy_connection_link(object));
    if (held == NULL) {
        hacpy_source_clear(source);
        return PyErr_NoMemory();
    }
    hacpy_held_keep_progress(held, &options->job);
    if (input->stream != NULL)
        input->stream->link = held->link;
    Py_BEGIN_ALLOW_THREADS
    hac_client *client = hacpy_link_lock(held->link);
    status = submit_keys(input, options, client, &held->job, &err);
    hacpy_link_unlock(held->link);
    Py_END_ALLOW_THREADS
    if (status == HAC_OK)
        return hacpy_job_new(state, held, source, true);
    hacpy_held_unref(held);
    hacpy_source_clear(source);
    return hacpy_raise(state, &err);
}

static void keep_schema(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

static void keep_array(struct ArrowArray *array)
{
    array->release = NULL;
}

/* Sorts the items of a contiguous buffer, whose type the options name. */
static PyObject *connection_sort_buffer(PyObject *object, PyObject *args)
{
    PyObject *keys, *dict, *job = NULL;
    hac_sort_options options;
    hacpy_names names = {NULL};
    hacpy_source source = {.object = NULL};
    hacpy_state *state = hacpy_connection_state(object);
    if (state == NULL || !PyArg_ParseTuple(args, "OO:sort_buffer", &keys, &dict) ||
        !hacpy_read_sort_options(state, dict, &options, &names))
        goto end;
    if (options.type <= HAC_TYPE_NONE || options.type >= HAC_TYPE_COUNT) {
        PyErr_SetString(PyExc_ValueError, "the type of the keys is not set");
        goto end;
    }
    if (PyObject_GetBuffer(keys, &source.buffer, PyBUF_SIMPLE) < 0)
        goto end;
    Py_ssize_t size = options.type <= HAC_TYPE_F32 ? 4 : 8; /* hac/type.h: the types of 32 bits come first */
    const void *buffers[2] = {NULL, source.buffer.buf};
    static const char formats[HAC_TYPE_COUNT][2] = {"", "I", "i", "f", "L", "l", "g"};
    const struct ArrowSchema schema = {.format = formats[options.type], .name = "", .release = keep_schema};
    const struct ArrowArray column = {
        .length = source.buffer.len / size, .n_buffers = 2, .buffers = buffers, .release = keep_array};
    const sort_input input = {.schema = &schema, .keys = &column};
    job = submit_sort(object, state, &input, &options, &source);
end:
    hacpy_names_clear(&names);
    return job;
}

static PyObject *connection_sort_arrow(PyObject *object, PyObject *args)
{
    PyObject *first, *second, *dict, *job = NULL;
    hac_sort_options options;
    hacpy_names names = {NULL};
    sort_input input = {.stream = NULL};
    hacpy_state *state = hacpy_connection_state(object);
    if (state != NULL && PyArg_ParseTuple(args, "OOO:sort_arrow", &first, &second, &dict) &&
        hacpy_array_of(first, second, &input.schema, &input.keys) &&
        hacpy_read_sort_options(state, dict, &options, &names)) {
        hacpy_source source = {.object = Py_NewRef(second)};
        job = submit_sort(object, state, &input, &options, &source);
    }
    hacpy_names_clear(&names);
    return job;
}

static PyObject *connection_sort_stream(PyObject *object, PyObject *args)
{
    PyObject *capsule, *dict, *job = NULL;
    hac_sort_options options;
    hacpy_names names = {NULL};
    hacpy_stream stream;
    hacpy_state *state = hacpy_connection_state(object);
    if (state != NULL && PyArg_ParseTuple(args, "OO:sort_stream", &capsule, &dict) &&
        hacpy_read_sort_options(state, dict, &options, &names) && hacpy_take_stream(capsule, &stream)) {
        hacpy_source source = {.object = NULL};
        const sort_input input = {.stream = &stream};
        job = submit_sort(object, state, &input, &options, &source);
    }
    hacpy_names_clear(&names);
    return job;
}

/* ---- questions ---- */

/* Takes over `text`. */
static PyObject *answer(const hacpy_state *state, hac_status status, const hac_error *err, char *text)
{
    if (status != HAC_OK)
        return hacpy_raise(state, err);
    PyObject *object = hacpy_text(text);
    free(text);
    return object;
}

static PyObject *connection_ask(PyObject *object, PyObject *args)
{
    int topic, format = HAC_PLAN_JSON;
    unsigned long long job = 0;
    hacpy_state *state = hacpy_connection_state(object);
    if (state == NULL || !PyArg_ParseTuple(args, "i|Ki:ask", &topic, &job, &format))
        return NULL;
    hacpy_link *link = hacpy_connection_link(object);
    hac_error err = HAC_ERROR_NONE;
    hac_status status;
    char *text = NULL;
    Py_BEGIN_ALLOW_THREADS
    hac_client *client = hacpy_link_lock(link);
    status = hac_client_query(client, (hac_topic)topic, job, (hac_plan_format)format, &text, &err);
    hacpy_link_unlock(link);
    Py_END_ALLOW_THREADS
    return answer(state, status, &err, text);
}

static PyObject *connection_socket(PyObject *object, void *ignored)
{
    (void)ignored;
    if (hacpy_connection_state(object) == NULL)
        return NULL;
    PyObject *path;
    hacpy_link *link = hacpy_connection_link(object);
    hac_client *client;
    Py_BEGIN_ALLOW_THREADS
    client = hacpy_link_lock(link);
    Py_END_ALLOW_THREADS
    path = PyUnicode_DecodeFSDefault(hac_client_socket(client));
    hacpy_link_unlock(link);
    return path;
}

static PyObject *connection_usable(PyObject *object, void *ignored)
{
    (void)ignored;
    const hacpy_link *link = hacpy_connection_link(object);
    return PyBool_FromLong(hacpy_link_is_ours(link) && !hacpy_link_is_broken(link));
}

/* ---- the type ---- */

static PyMethodDef methods[] = {
    {"alloc", connection_alloc, METH_VARARGS, "alloc($self, bytes, /)\n--\n\nMemory of the pool."},
    {"sort_buffer", connection_sort_buffer, METH_VARARGS,
     "sort_buffer($self, keys, options, /)\n--\n\nSubmits a sort of the items of a contiguous buffer."},
    {"sort_arrow", connection_sort_arrow, METH_VARARGS,
     "sort_arrow($self, schema, array, options, /)\n--\n\nSubmits a sort of a column: what __arrow_c_array__ "
     "gives."},
    {"sort_stream", connection_sort_stream, METH_VARARGS,
     "sort_stream($self, stream, options, /)\n--\n\nSubmits a sort of a column: what __arrow_c_stream__ "
     "gives."},
    {"query_arrow", hacpy_query_arrow, METH_VARARGS,
     "query_arrow($self, schema, array, options, sql, /)\n--\n\nSubmits a query of what __arrow_c_array__ "
     "gives."},
    {"query_stream", hacpy_query_stream, METH_VARARGS,
     "query_stream($self, stream, options, sql, /)\n--\n\nSubmits a query of what __arrow_c_stream__ gives."},
    {"query_columns", hacpy_query_columns, METH_VARARGS,
     "query_columns($self, columns, rows, options, sql, /)\n--\n\nSubmits a query of columns: tuples of a "
     "name, an "
     "Arrow "
     "format and a tuple of buffers, or of a name and the two capsules of __arrow_c_array__."},
    {"query_files", hacpy_query_files, METH_VARARGS,
     "query_files($self, fds, names, options, sql, /)\n--\n\nSubmits a query of regular files."},
    {"query_file_list", hacpy_query_file_list, METH_VARARGS,
     "query_file_list($self, names, options, sql, /)\n--\n\nRuns a query of any number of Parquet files, up "
     "to the query of "
     "their parts, which is submitted."},
    {"query_splits", hacpy_query_splits, METH_VARARGS,
     "query_splits($self, paths, stop_fd, options, sql, /)\n--\n\nRuns a query of any files, read by this "
     "process, "
     "until "
     "its end or until stop_fd is readable. A path of None is standard input."},
    {"opsplit", hacpy_opsplit, METH_VARARGS,
     "opsplit($self, path, inputs, results, output, stop_fd, /)\n--\n\nRuns a logic file. Inputs: tuples of "
     "a name "
     "and a path, or of a name, template, type, rows, columns and the buffers of values, rows and columns."},
    {"ask", connection_ask, METH_VARARGS,
     "ask($self, topic, job=0, format=1, /)\n--\n\nThe text of a hac_topic."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
    {"socket", connection_socket, NULL, "The path of hacd's socket.", NULL},
    {"usable", connection_usable, NULL, "Whether this process made it and hacd has not closed it.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

int hacpy_add_connection_type(PyObject *module, hacpy_state *state)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc,
         "Connection(socket=None, autostart=True)\n--\n\nA connection to hacd. Any thread may use it: "
         "submissions wait for each other, waiting for jobs does not keep anybody."},
        {Py_tp_new, (void *)connection_new},
        {Py_tp_dealloc, (void *)connection_dealloc},
        {Py_tp_methods, methods},
        {Py_tp_getset, members},
        {0, NULL},
    };
    static PyType_Spec spec = {.name = "hac._hac.Connection",
                               .basicsize = sizeof(hacpy_connection),
                               .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
                               .slots = slots};
    state->connection_type = hacpy_add_type(module, &spec);
    return state->connection_type != NULL ? 0 : -1;
}
