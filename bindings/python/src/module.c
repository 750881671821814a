/* SPDX-License-Identifier: Apache-2.0 */
/* The module hac._hac: its state and its functions. */
#include "files.h"
#include "support.h"

/* ---- functions ---- */

static PyObject *input_format_of(PyObject *module, PyObject *args)
{
    hac_error err = HAC_ERROR_NONE;
    const char *text;
    int stop_fd;
    hac_status status;
    if (!PyArg_ParseTuple(args, "si:input_format_of", &text, &stop_fd))
        return NULL;
    hac_input_format format = hac_input_format_of(text);
    if (format != HAC_INPUT_NONE)
        return Py_BuildValue("(iO)", (int)format, Py_False);
    Py_BEGIN_ALLOW_THREADS /* a pipe may stay silent */
    status = hac_files_find_format(text, -1, stop_fd, &format, &err);
    Py_END_ALLOW_THREADS
    if (status != HAC_OK && status != HAC_INVALID)
        return hacpy_raise(hacpy_state_of(module), &err);
    bool assumed = status == HAC_OK && format != HAC_INPUT_PARQUET;
    return Py_BuildValue("(iO)", status == HAC_OK ? (int)format : 0, assumed ? Py_True : Py_False);
}

static PyObject *is_compressed(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *path = NULL;
    int format;
    if (!PyArg_ParseTuple(args, "O&i", PyUnicode_FSConverter, &path, &format))
        return NULL;
    bool compressed = hac_files_is_compressed(PyBytes_AsString(path), -1, (hac_input_format)format) != 0;
    Py_DECREF(path);
    return PyBool_FromLong(compressed);
}

static PyMethodDef functions[] = {
    {"input_format_of", input_format_of, METH_VARARGS,
     "input_format_of(path, stop_fd, /)\n--\n\nThe number of a file's input format: by its suffix, else by "
     "its "
     "first bytes, for which a pipe is waited for until stop_fd is readable; 0: not known. And whether it is "
     "assumed."},
    {"is_compressed", is_compressed, METH_VARARGS,
     "is_compressed(path, format, /)\n--\n\nWhether a file is compressed, so that this process has to read "
     "it."},
    {"find_files", hacpy_find_files, METH_O,
     "find_files(name, /)\n--\n\nThe files that a file's name, a folder or a pattern stands for."},
    {"apply_files", hacpy_apply_files, METH_VARARGS,
     "apply_files(names, options, sql, /)\n--\n\n(The files that the query has to read, the columns in names "
     "of "
     "folders or None, the number of files left out)."},
    {"find_dialect", hacpy_find_dialect, METH_VARARGS,
     "find_dialect(name, options, /)\n--\n\n(Options of csv and tsv that the first bytes of a file show, "
     "what "
     "to say about them, whether this process has to read the files)."},
    {NULL, NULL, 0, NULL},
};

/* ---- lists of libhac ---- */

/* Adds a word and its number; without a word nothing. */
static bool add_word(PyObject *dict, const char *word, int number)
{
    PyObject *value = PyLong_FromLong(number);
    bool added = value != NULL && (word == NULL || PyDict_SetItemString(dict, word, value) == 0);
    Py_XDECREF(value);
    return added;
}

/* FORMATS, ENGINES and FILES_MAX. */
static int add_lists(PyObject *module)
{
    PyObject *formats = PyDict_New(), *engines = PyDict_New();
    bool added = formats != NULL && engines != NULL;
    for (int i = 0; added && i < HAC_INPUT_END; i++)
        added = add_word(formats, hac_input_format_name((hac_input_format)i), i);
    for (int i = 0; added && i < HAC_ENGINE_END; i++)
        added = add_word(engines, hac_engine_name((hac_engine)i), i);
    added = added && PyModule_AddObjectRef(module, "FORMATS", formats) == 0 &&
            PyModule_AddObjectRef(module, "ENGINES", engines) == 0 &&
            PyModule_AddIntConstant(module, "FILES_MAX", HAC_QUERY_FILES_MAX) == 0;
    Py_XDECREF(formats);
    Py_XDECREF(engines);
    return added ? 0 : -1;
}

/* ---- the module ---- */

static int set_up(PyObject *module)
{
    hacpy_state *state = hacpy_state_of(module);
    PyObject *errors = PyImport_ImportModule("hac._errors");
    if (errors == NULL)
        return -1;
    state->error_of = PyObject_GetAttrString(errors, "error_of");
    Py_DECREF(errors);
    if (state->error_of == NULL || hacpy_add_connection_type(module, state) < 0 ||
        hacpy_add_memory_type(module, state) < 0 || hacpy_add_job_type(module, state) < 0 ||
        hacpy_add_progress_type(module, state) < 0 || hacpy_add_sql_type(module, state) < 0 ||
        add_lists(module) < 0)
        return -1;
    return PyModule_AddStringConstant(module, "version", hac_version());
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
    const hacpy_state *state = hacpy_state_of(module);
    Py_VISIT(state->error_of);
    Py_VISIT(state->connection_type);
    Py_VISIT(state->memory_type);
    Py_VISIT(state->job_type);
    Py_VISIT(state->progress_type);
    Py_VISIT(state->sql_type);
    return 0;
}

static int clear(PyObject *module)
{
    hacpy_state *state = hacpy_state_of(module);
    Py_CLEAR(state->error_of);
    Py_CLEAR(state->connection_type);
    Py_CLEAR(state->memory_type);
    Py_CLEAR(state->job_type);
    Py_CLEAR(state->progress_type);
    Py_CLEAR(state->sql_type);
    return 0;
}

static struct PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, (void *)set_up},
    {0, NULL},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "hac._hac",
    .m_doc = "The part of the package hac that calls libhac. Programs use the package.",
    .m_size = sizeof(hacpy_state),
    .m_methods = functions,
    .m_slots = module_slots,
    .m_traverse = traverse,
    .m_clear = clear,
};

PyMODINIT_FUNC PyInit__hac(void);

PyMODINIT_FUNC PyInit__hac(void)
{
    return PyModuleDef_Init(&definition);
}
