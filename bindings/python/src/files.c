/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include "options.h"
#include "sql.h"

/* A list of the names as Python has names of files. NULL: an exception is pending. */
static PyObject *list_of(const hac_files *files)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < hac_files_count(files); i++) {
        PyObject *name = PyUnicode_DecodeFSDefault(hac_files_name(files, i));
        if (name == NULL || PyList_Append(list, name) < 0)
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

static PyObject *raise(const hacpy_state *state, const hac_error *err)
{
    if (err->code != HAC_FAILED)
        return hacpy_raise(state, err);
    PyErr_SetString(PyExc_FileNotFoundError, err->message);
    return NULL;
}

PyObject *hacpy_find_files(PyObject *module, PyObject *name)
{
    hac_files *files = NULL;
    hac_error err = HAC_ERROR_NONE;
    PyObject *list = NULL;
    const char *text = PyBytes_AsString(name);
    if (text == NULL)
        return NULL;
    hac_status status = hac_files_new(&files, &err);
    if (status == HAC_OK)
        status = hac_files_add(files, text, HAC_FILES_PATTERNS, &err);
    list = status == HAC_OK ? list_of(files) : raise(hacpy_state_of(module), &err);
    hac_files_free(files);
    return list;
}

/* Adds the names of a tuple of bytes. False: an exception is pending. */
static bool add_names(const hacpy_state *state, PyObject *tuple, hac_files *files)
{
    hac_error err = HAC_ERROR_NONE;
    for (Py_ssize_t i = 0; i < PyTuple_Size(tuple); i++) {
        const char *name = PyBytes_AsString(PyTuple_GetItem(tuple, i));
        if (name == NULL)
            return false;
        if (hac_files_add(files, name, 0, &err) != HAC_OK) {
            (void)raise(state, &err);
            return false;
        }
    }
    return true;
}

PyObject *hacpy_apply_files(PyObject *module, PyObject *args)
{
    PyObject *tuple, *dict, *sql_object, *list = NULL, *ret = NULL;
    hac_query_options options;
    hac_sql *sql = NULL;
    hac_files *files = NULL;
    hac_error err = HAC_ERROR_NONE;
    hacpy_names devices = {.names = NULL};
    const hacpy_state *state = hacpy_state_of(module);
    if (!PyArg_ParseTuple(args, "O!OO:apply_files", &PyTuple_Type, &tuple, &dict, &sql_object) ||
        !hacpy_read_query_options(state, dict, &options, &devices) || !hacpy_sql_of(state, sql_object, &sql))
        goto end;
    if (sql != NULL)
        hac_sql_apply(sql, &options);
    hac_status status = hac_files_new(&files, &err);
    if (status == HAC_OK && !add_names(state, tuple, files))
        goto end;
    if (status == HAC_OK)
        status = hac_files_apply(files, &options, &err);
    if (status != HAC_OK)
        (void)hacpy_raise(state, &err);
    else if ((list = list_of(files)) != NULL)
        ret = Py_BuildValue("(OzK)", list, options.path_columns, (unsigned long long)options.files_left_out);
end:
    Py_XDECREF(list);
    hac_files_free(files);
    hacpy_names_clear(&devices);
    return ret;
}

/* Adds an option that was found. False: an exception is pending. */
static bool add_option(PyObject *dict, const char *name, uint8_t told, uint8_t found)
{
    if (told == found)
        return true;
    const char text[2] = {(char)found, '\0'};
    PyObject *value = PyUnicode_FromString(found == '\t' ? "\\t" : text);
    bool added = value != NULL && PyDict_SetItemString(dict, name, value) == 0;
    Py_XDECREF(value);
    return added;
}

PyObject *hacpy_find_dialect(PyObject *module, PyObject *args)
{
    PyObject *name, *dict, *found = NULL, *ret = NULL;
    hac_query_options options;
    hac_error err = HAC_ERROR_NONE;
    hacpy_names devices = {.names = NULL};
    char note[256];
    const hacpy_state *state = hacpy_state_of(module);
    if (!PyArg_ParseTuple(args, "SO:find_dialect", &name, &dict) ||
        !hacpy_read_query_options(state, dict, &options, &devices))
        goto end;
    const hac_input_options told = options.input_options, *own = &options.input_options;
    if (hac_files_find_dialect(PyBytes_AsString(name), -1, &options, note, sizeof(note), &err) != HAC_OK) {
        (void)hacpy_raise(state, &err);
        goto end;
    }
    found = PyDict_New();
    if (found != NULL && add_option(found, "delimiter", told.delimiter, own->delimiter) &&
        add_option(found, "quote", told.quote, own->quote) &&
        add_option(found, "escape", told.escape, own->escape) &&
        add_option(found, "comment", told.comment, own->comment))
        ret = Py_BuildValue("(OsO)", found, note, hac_files_is_dialect(&options) != 0 ? Py_True : Py_False);
end:
    Py_XDECREF(found);
    hacpy_names_clear(&devices);
    return ret;
}
