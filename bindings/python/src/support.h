/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files of hac._hac: the state of the module, errors as Python exceptions, and signals.
 *
 * hac._hac is the layer below the package's Python files, which are its only users. It keeps libhac's rules
 * for them: one thread at a time on a connection, nothing used after it was freed, nothing used in a process
 * that was forked. It uses Python's limited API only, so one file serves all versions from 3.11 on.
 */
#ifndef HACPY_SUPPORT_H
#define HACPY_SUPPORT_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

#include <hac/hac.h>

/* What the functions and types of the module need of each other. */
typedef struct hacpy_state {
    PyObject *error_of; /* hac._errors.error_of(status, message): an exception */
    PyTypeObject *connection_type, *memory_type, *job_type, *progress_type, *sql_type;
} hacpy_state;

hacpy_state *hacpy_state_of(PyObject *module);

/* The state of the module that the type of `self` belongs to. NULL: an exception is pending. */
hacpy_state *hacpy_state_of_object(PyObject *self);

/* Raises the exception that stands for the error's code. Returns NULL. */
PyObject *hacpy_raise(const hacpy_state *state, const hac_error *err);

/* A str of libhac's text, which may repeat bytes of files that are not UTF-8: U+FFFD stands for those. NULL:
 * an exception is pending. */
PyObject *hacpy_text(const char *text);

/* Frees an instance of one of the module's types, which have no cycles to collect. */
void hacpy_free_object(PyObject *self);

/* Makes the types of the module and adds them to it. -1: an exception is pending. */
int hacpy_add_connection_type(PyObject *module, hacpy_state *state);
int hacpy_add_memory_type(PyObject *module, hacpy_state *state);
int hacpy_add_job_type(PyObject *module, hacpy_state *state);
int hacpy_add_progress_type(PyObject *module, hacpy_state *state);
int hacpy_add_sql_type(PyObject *module, hacpy_state *state);

/* Makes a type of the module from its description. NULL: an exception is pending. */
PyTypeObject *hacpy_add_type(PyObject *module, PyType_Spec *spec);

#endif
