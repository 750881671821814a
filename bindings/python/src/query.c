/* SPDX-License-Identifier: Apache-2.0 */
#include "query.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hac/files.h>

#include "arrow_in.h"
#include "columns.h"
#include "connection.h"
#include "job.h"
#include "options.h"
#include "sql.h"

/* A query that is about to be submitted, and how. */
typedef struct query_call {
    hac_query_options options;
    hacpy_names devices;
    hac_sql *sql; /* NULL: there is no statement */
    /* Submits it; the client is locked, and this thread does not have the GIL. */
    hac_status (*submit)(struct query_call *call, hac_client *client, hac_job **ret_job, hac_error *err);
    const struct ArrowSchema *schema;
    const struct ArrowArray *array;
    hacpy_stream stream;
    const int *fds;
    const char *const *names; /* of files; NULL: standard input */
    size_t n_files;
    int stop_fd;
} query_call;

/* Reads the options and applies the statement. False: an exception is pending. In both cases
 * hacpy_names_clear follows. */
static bool read_call(const hacpy_state *state, PyObject *options, PyObject *sql, query_call *call)
{
    if (!hacpy_read_query_options(state, options, &call->options, &call->devices) ||
        !hacpy_sql_of(state, sql, &call->sql))
        return false;
    if (call->sql != NULL)
        hac_sql_apply(call->sql, &call->options);
    return true;
}

/* Submits the query. `source`: what the job reads in place; taken over. NULL: an exception is pending. */
static PyObject *submit(PyObject *object, const hacpy_state *state, query_call *call, hacpy_source *source)
{
    hac_error err = HAC_ERROR_NONE;
    hac_status status;
    hacpy_held *held = hacpy_held_new(hacpy_connection_link(object));
    if (held == NULL) {
        hacpy_source_clear(source);
        return PyErr_NoMemory();
    }
    call->stream.link = held->link;
    hacpy_held_keep_progress(held, &call->options.job);
    Py_BEGIN_ALLOW_THREADS
    hac_client *client = hacpy_link_lock(held->link);
    status = call->submit(call, client, &held->job, &err);
    hacpy_link_unlock(held->link);
    Py_END_ALLOW_THREADS
    if (status == HAC_OK)
        return hacpy_job_new(state, held, source, false);
    if (status == HAC_INVALID && call->sql != NULL)
        hac_sql_reword(call->sql, &err);
    hacpy_held_unref(held);
    hacpy_source_clear(source);
    return PyErr_Occurred() == NULL ? hacpy_raise(state, &err) : NULL;
}

/* ---- columns ---- */

static hac_status submit_array(query_call *call, hac_client *client, hac_job **ret_job, hac_error *err)
{
    return hac_query_arrow(client, call->schema, call->array, &call->options, ret_job, err);
}

PyObject *hacpy_query_arrow(PyObject *object, PyObject *args)
{
    PyObject *first, *second, *options, *sql, *job = NULL;
    query_call call = {.submit = submit_array};
    hacpy_state *state = hacpy_connection_state(object);
    if (state != NULL && PyArg_ParseTuple(args, "OOOO:query_arrow", &first, &second, &options, &sql) &&
        hacpy_array_of(first, second, &call.schema, &call.array) && read_call(state, options, sql, &call)) {
        hacpy_source source = {.object = Py_NewRef(second)};
        job = submit(object, state, &call, &source);
    }
    hacpy_names_clear(&call.devices);
    return job;
}

/* ---- streams ---- */

static hac_status submit_stream(query_call *call, hac_client *client, hac_job **ret_job, hac_error *err)
{
    struct ArrowArrayStream unlocked = hacpy_unlocked_stream(&call->stream);
    return hac_query_arrow_stream(client, &unlocked, &call->options, ret_job, err);
}

PyObject *hacpy_query_stream(PyObject *object, PyObject *args)
{
    PyObject *capsule, *options, *sql, *job = NULL;
    query_call call = {.submit = submit_stream};
    hacpy_state *state = hacpy_connection_state(object);
    if (state != NULL && PyArg_ParseTuple(args, "OOO:query_stream", &capsule, &options, &sql) &&
        read_call(state, options, sql, &call) && hacpy_take_stream(capsule, &call.stream)) {
        hacpy_source source = {.object = NULL};
        job = submit(object, state, &call, &source);
    }
    hacpy_names_clear(&call.devices);
    return job;
}

PyObject *hacpy_query_columns(PyObject *object, PyObject *args)
{
    PyObject *list, *options, *sql, *job = NULL;
    Py_ssize_t rows;
    hacpy_columns columns = {.n = 0};
    query_call call = {.submit = submit_array};
    hacpy_state *state = hacpy_connection_state(object);
    if (state != NULL && PyArg_ParseTuple(args, "OnOO:query_columns", &list, &rows, &options, &sql) &&
        read_call(state, options, sql, &call) && hacpy_columns_read(list, rows, &columns)) {
        hacpy_source source = {.object = Py_NewRef(list)};
        call.schema = &columns.schema;
        call.array = &columns.array;
        job = submit(object, state, &call, &source);
    }
    hacpy_columns_clear(&columns);
    hacpy_names_clear(&call.devices);
    return job;
}

/* ---- files ---- */

static hac_status submit_files(query_call *call, hac_client *client, hac_job **ret_job, hac_error *err)
{
    return hac_query_files(client, call->fds, call->names, call->n_files, &call->options, ret_job, err);
}

/* The names of files from a tuple of bytes, which keeps them; None is NULL. malloc'ed; NULL: an exception is
 * pending. */
static const char **read_names(PyObject *tuple)
{
    Py_ssize_t n = PyTuple_Check(tuple) ? PyTuple_Size(tuple) : -1;
    if (n < 0) {
        PyErr_SetString(PyExc_TypeError, "the files' names are a tuple of bytes");
        return NULL;
    }
    const char **names = calloc((size_t)n + 1, sizeof(*names));
    if (names == NULL)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < n && names != NULL; i++) {
        PyObject *name = PyTuple_GetItem(tuple, i);
        names[i] = name != Py_None ? PyBytes_AsString(name) : NULL;
        if (name != Py_None && names[i] == NULL) {
            free((void *)names);
            names = NULL;
        }
    }
    return names;
}

/* Numbers from a tuple, as many as there are files. malloc'ed; NULL: an exception is pending. */
static int *read_fds(PyObject *tuple, size_t n)
{
    if (!PyTuple_Check(tuple) || (size_t)PyTuple_Size(tuple) != n) {
        PyErr_SetString(PyExc_TypeError, "the descriptors are a tuple, one for each name");
        return NULL;
    }
    int *fds = calloc(n + 1, sizeof(*fds));
    if (fds == NULL)
        PyErr_NoMemory();
    for (size_t i = 0; i < n && fds != NULL; i++) {
        fds[i] = (int)PyLong_AsLong(PyTuple_GetItem(tuple, (Py_ssize_t)i));
        if (PyErr_Occurred()) {
            free(fds);
            fds = NULL;
        }
    }
    return fds;
}

PyObject *hacpy_query_files(PyObject *object, PyObject *args)
{
    PyObject *fd_tuple, *name_tuple, *options, *sql, *job = NULL;
    const char **names = NULL;
    int *fds = NULL;
    query_call call = {.submit = submit_files};
    hacpy_state *state = hacpy_connection_state(object);
    if (state == NULL ||
        !PyArg_ParseTuple(args, "OOOO:query_files", &fd_tuple, &name_tuple, &options, &sql) ||
        !read_call(state, options, sql, &call) || (names = read_names(name_tuple)) == NULL ||
        (fds = read_fds(fd_tuple, (size_t)PyTuple_Size(name_tuple))) == NULL)
        goto end;
    hacpy_source source = {.object = NULL};
    call.n_files = (size_t)PyTuple_Size(name_tuple);
    call.fds = fds;
    call.names = names;
    job = submit(object, state, &call, &source);
end:
    free((void *)names);
    free(fds);
    hacpy_names_clear(&call.devices);
    return job;
}

static hac_status submit_file_list(query_call *call, hac_client *client, hac_job **ret_job, hac_error *err)
{
    hac_files *files = NULL;
    hac_status status = hac_files_new(&files, err);
    for (size_t i = 0; i < call->n_files && status == HAC_OK; i++)
        status = hac_files_add(files, call->names[i], 0, err);
    if (status == HAC_OK)
        status = hac_query_file_list(client, files, &call->options, ret_job, err);
    hac_files_free(files);
    return status;
}

PyObject *hacpy_query_file_list(PyObject *object, PyObject *args)
{
    PyObject *name_tuple, *options, *sql, *job = NULL;
    const char **names = NULL;
    query_call call = {.submit = submit_file_list};
    hacpy_state *state = hacpy_connection_state(object);
    if (state != NULL && PyArg_ParseTuple(args, "OOO:query_file_list", &name_tuple, &options, &sql) &&
        read_call(state, options, sql, &call) && (names = read_names(name_tuple)) != NULL) {
        hacpy_source source = {.object = NULL};
        call.n_files = (size_t)PyTuple_Size(name_tuple);
        call.names = names;
        job = submit(object, state, &call, &source);
    }
    free((void *)names);
    hacpy_names_clear(&call.devices);
    return job;
}

/* ---- files that this process reads ---- */

static hac_status open_file(void *context, size_t index, int *ret_fd, const char **ret_name, hac_error *err)
{
    const query_call *call = context;
    const char *name = call->names[index];
    int fd =
        name != NULL ? open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY) : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    *ret_name = name != NULL ? name : "standard input";
    if (fd >= 0) {
        *ret_fd = fd;
        return HAC_OK;
    }
    snprintf(err->message, sizeof(err->message), "%.200s: %s", *ret_name, strerror(errno));
    return err->code = HAC_FAILED;
}

static hac_status run_splits(query_call *call, hac_client *client, hac_job **ret_job, hac_error *err)
{
    hac_splits splits = HAC_SPLITS_INIT;
    splits.n_inputs = call->n_files;
    splits.open = open_file;
    splits.context = call;
    splits.stop_fd = call->stop_fd;
    return hac_query_splits(client, &splits, &call->options, ret_job, err);
}

PyObject *hacpy_query_splits(PyObject *object, PyObject *args)
{
    PyObject *name_tuple, *options, *sql, *job = NULL;
    const char **names = NULL;
    query_call call = {.submit = run_splits};
    hacpy_state *state = hacpy_connection_state(object);
    if (state != NULL &&
        PyArg_ParseTuple(args, "OiOO:query_splits", &name_tuple, &call.stop_fd, &options, &sql) &&
        read_call(state, options, sql, &call) && (names = read_names(name_tuple)) != NULL) {
        hacpy_source source = {.object = NULL};
        call.n_files = (size_t)PyTuple_Size(name_tuple);
        call.names = names;
        job = submit(object, state, &call, &source);
    }
    free((void *)names);
    hacpy_names_clear(&call.devices);
    return job;
}
