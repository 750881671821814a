/* SPDX-License-Identifier: Apache-2.0 */
/* The methods of hac._hac.Connection that submit queries, and hac._hac.Sql. */
#ifndef HACPY_QUERY_H
#define HACPY_QUERY_H

#include "support.h"

PyObject *hacpy_query_arrow(PyObject *object, PyObject *args);
PyObject *hacpy_query_stream(PyObject *object, PyObject *args);
PyObject *hacpy_query_columns(PyObject *object, PyObject *args);
PyObject *hacpy_query_files(PyObject *object, PyObject *args);
PyObject *hacpy_query_file_list(PyObject *object, PyObject *args);
PyObject *hacpy_query_splits(PyObject *object, PyObject *args);

#endif
