/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "progress.h"

typedef enum member_kind {
    MEMBER_TEXT, /* str or None */
    MEMBER_INT,
    MEMBER_U64,
    MEMBER_DOUBLE,
    MEMBER_NAMES,    /* tuple of str: the devices of a hac_job_options */
    MEMBER_INPUT,    /* dict of str: the options of the input's format */
    MEMBER_PROGRESS, /* Progress, which the dict keeps: the callback of a hac_job_options */
} member_kind;

typedef struct member {
    const char *name;
    member_kind kind;
    size_t offset;
} member;

#define JOB_MEMBERS(type)                                                                                    \
    {"devices", MEMBER_NAMES, offsetof(type, job)}, {"priority", MEMBER_INT, offsetof(type, job.priority)},  \
        {"deadline", MEMBER_DOUBLE, offsetof(type, job.deadline_seconds)},                                   \
        {"progress", MEMBER_PROGRESS, offsetof(type, job)},                                                  \
    {                                                                                                        \
        "memory_limit", MEMBER_U64, offsetof(type, job.memory_limit)                                         \
    }

static const member sort_members[] = {
    {"type", MEMBER_INT, offsetof(hac_sort_options, type)},
    {"descending", MEMBER_INT, offsetof(hac_sort_options, descending)},
    {"argsort", MEMBER_INT, offsetof(hac_sort_options, argsort)},
    {"algorithm", MEMBER_INT, offsetof(hac_sort_options, algorithm)},
    JOB_MEMBERS(hac_sort_options),
};

static const member query_members[] = {
    {"schema", MEMBER_TEXT, offsetof(hac_query_options, schema)},
    {"where", MEMBER_TEXT, offsetof(hac_query_options, where)},
    {"group_by", MEMBER_TEXT, offsetof(hac_query_options, group_by)},
    {"select", MEMBER_TEXT, offsetof(hac_query_options, select)},
    {"having", MEMBER_TEXT, offsetof(hac_query_options, having)},
    {"order_by", MEMBER_TEXT, offsetof(hac_query_options, order_by)},
    {"limit", MEMBER_U64, offsetof(hac_query_options, limit)},
    {"offset", MEMBER_U64, offsetof(hac_query_options, offset)},
    {"limit_by", MEMBER_TEXT, offsetof(hac_query_options, limit_by)},
    {"limit_each", MEMBER_U64, offsetof(hac_query_options, limit_each)},
    {"distinct", MEMBER_INT, offsetof(hac_query_options, distinct)},
    {"select_only", MEMBER_INT, offsetof(hac_query_options, select_only)},
    {"engine", MEMBER_INT, offsetof(hac_query_options, engine)},
    {"input_format", MEMBER_INT, offsetof(hac_query_options, input_format)},
    {"input_options", MEMBER_INPUT, 0},
    {"infer_schema", MEMBER_INT, offsetof(hac_query_options, infer_schema)},
    {"find", MEMBER_INT, offsetof(hac_query_options, find)},
    {"path_columns", MEMBER_TEXT, offsetof(hac_query_options, path_columns)},
    {"files_left_out", MEMBER_U64, offsetof(hac_query_options, files_left_out)},
    JOB_MEMBERS(hac_query_options),
};

void hacpy_names_clear(hacpy_names *names)
{
    free((void *)names->names);
    names->names = NULL;
}

/* ---- values ---- */

static bool read_text(PyObject *value, const char **ret)
{
    Py_ssize_t bytes;
    *ret = NULL;
    if (value == Py_None)
        return true;
    const char *text = PyUnicode_AsUTF8AndSize(value, &bytes);
    if (text != NULL && strlen(text) != (size_t)bytes) {
        PyErr_SetString(PyExc_ValueError, "a text may not have a NUL character");
        return false;
    }
    *ret = text;
    return text != NULL;
}

static bool read_names(PyObject *value, hac_job_options *ret, hacpy_names *names)
{
    if (!PyTuple_Check(value)) {
        PyErr_SetString(PyExc_TypeError, "the devices are a tuple of names");
        return false;
    }
    Py_ssize_t n = PyTuple_Size(value);
    hacpy_names_clear(names);
    names->names = calloc((size_t)n + 1, sizeof(*names->names));
    if (names->names == NULL) {
        PyErr_NoMemory();
        return false;
    }
    for (Py_ssize_t i = 0; i < n; i++)
        if (!read_text(PyTuple_GetItem(value, i), &names->names[i]))
            return false;
    ret->devices = names->names;
    ret->n_devices = (size_t)n;
    return true;
}

static bool read_progress(const hacpy_state *state, PyObject *value, hac_job_options *ret)
{
    ret->context = hacpy_progress_of(state, value);
    ret->progress = hacpy_progress_note;
    return ret->context != NULL;
}

static bool read_input_options(const hacpy_state *state, PyObject *value, hac_query_options *ret)
{
    PyObject *name, *text;
    Py_ssize_t at = 0;
    if (!PyDict_Check(value)) {
        PyErr_SetString(PyExc_TypeError, "the options of the input's format are a dict");
        return false;
    }
    while (PyDict_Next(value, &at, &name, &text)) {
        hac_error err = HAC_ERROR_NONE;
        const char *name_text = NULL, *value_text = NULL;
        if (!read_text(name, &name_text) || !read_text(text, &value_text))
            return false;
        if (hac_query_set_option(ret, name_text != NULL ? name_text : "",
                                 value_text != NULL ? value_text : "", &err) != HAC_OK) {
            hacpy_raise(state, &err);
            return false;
        }
    }
    return true;
}

static void store_integer(PyObject *index, const member *m, char *at)
{
    if (m->kind == MEMBER_U64) {
        uint64_t number = PyLong_AsUnsignedLongLong(index);
        memcpy(at, &number, sizeof(number));
        return;
    }
    long number = PyLong_AsLong(index);
    int narrow = (int)number;
    if (narrow != number)
        PyErr_SetNone(PyExc_OverflowError);
    memcpy(at, &narrow, sizeof(narrow));
}

/* Takes all that Python takes for an index, such as NumPy's integers. */
static bool read_integer(const hacpy_state *state, PyObject *value, const member *m, char *at)
{
    PyObject *index = PyNumber_Index(value);
    if (index == NULL) {
        PyErr_Format(PyExc_TypeError, "%s is an integer, not %R", m->name, value);
        return false;
    }
    store_integer(index, m, at);
    Py_DECREF(index);
    if (PyErr_Occurred() == NULL)
        return true;
    hac_error err = {.code = HAC_INVALID};
    snprintf(err.message, sizeof(err.message), "%s is out of range", m->name);
    PyErr_Clear();
    hacpy_raise(state, &err);
    return false;
}

static bool read_double(PyObject *value, char *at)
{
    double number = PyFloat_AsDouble(value);
    memcpy(at, &number, sizeof(number));
    return PyErr_Occurred() == NULL;
}

/* ---- dicts ---- */

static const member *find_member(const member *members, size_t n, PyObject *key)
{
    for (size_t i = 0; i < n; i++)
        if (PyUnicode_Check(key) && PyUnicode_CompareWithASCIIString(key, members[i].name) == 0)
            return &members[i];
    PyErr_Format(PyExc_TypeError, "there is no option %R", key);
    return NULL;
}

/* `query` is the query's options that `options` points to, or NULL. */
static bool read_dict(const hacpy_state *state, PyObject *dict, const member *members, size_t n,
                      void *options, hac_query_options *query, hacpy_names *names)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;
    if (!PyDict_Check(dict)) {
        PyErr_SetString(PyExc_TypeError, "options are a dict");
        return false;
    }
    while (PyDict_Next(dict, &at, &key, &value)) {
        const member *m = find_member(members, n, key);
        if (m == NULL)
            return false;
        char *place = (char *)options + m->offset;
        bool good = m->kind == MEMBER_TEXT     ? read_text(value, (const char **)(void *)place)
                    : m->kind == MEMBER_NAMES  ? read_names(value, (hac_job_options *)(void *)place, names)
                    : m->kind == MEMBER_DOUBLE ? read_double(value, place)
                    : m->kind == MEMBER_PROGRESS
                        ? read_progress(state, value, (hac_job_options *)(void *)place)
                    : m->kind == MEMBER_INPUT ? read_input_options(state, value, query)
                                              : read_integer(state, value, m, place);
        if (!good)
            return false;
    }
    return true;
}

bool hacpy_read_sort_options(const hacpy_state *state, PyObject *dict, hac_sort_options *ret,
                             hacpy_names *names)
{
    const size_t n = sizeof(sort_members) / sizeof(*sort_members);
    *ret = (hac_sort_options)HAC_SORT_OPTIONS_INIT;
    names->names = NULL;
    return read_dict(state, dict, sort_members, n, ret, NULL, names);
}

bool hacpy_read_query_options(const hacpy_state *state, PyObject *dict, hac_query_options *ret,
                              hacpy_names *names)
{
    const size_t n = sizeof(query_members) / sizeof(*query_members);
    *ret = (hac_query_options)HAC_QUERY_OPTIONS_INIT;
    ret->result_format = HAC_RESULT_TABLE;
    names->names = NULL;
    return read_dict(state, dict, query_members, n, ret, ret, names);
}
