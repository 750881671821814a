/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a query (hac_files). */
#ifndef HACPY_FILES_H
#define HACPY_FILES_H

#include <hac/files.h>

#include "support.h"

/* find_files(name: bytes): the files that a name, folder or pattern stands for, a list of str. */
PyObject *hacpy_find_files(PyObject *module, PyObject *name);

/* apply_files(names, options, sql): (the files that the query has to read, the columns in names of folders
 * or None, the number of files left out). */
PyObject *hacpy_apply_files(PyObject *module, PyObject *args);

/* find_dialect(name: bytes, options): (options of the input that its first bytes show, as texts; a note for
 * people or ""; whether this process has to read the files because of such options). */
PyObject *hacpy_find_dialect(PyObject *module, PyObject *args);

#endif
