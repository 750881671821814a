/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of a table that Python's files have put together, as one Arrow array of format +s. */
#ifndef HACPY_COLUMNS_H
#define HACPY_COLUMNS_H

#include "support.h"

typedef struct hacpy_columns {
    struct ArrowSchema schema;
    struct ArrowArray array;
    /* private */
    size_t n;
    struct hacpy_column *columns;
    struct ArrowSchema **schemas;
    struct ArrowArray **arrays;
} hacpy_columns;

/* Reads a list of tuples: a name, a format and a tuple of buffers, which may be None; or a name, a schema's
 * capsule and an array's. The structure points into the list's objects. False: an exception is pending.
 * hacpy_columns_clear follows in both cases. */
bool hacpy_columns_read(PyObject *list, Py_ssize_t rows, hacpy_columns *ret);
void hacpy_columns_clear(hacpy_columns *columns);

#endif
