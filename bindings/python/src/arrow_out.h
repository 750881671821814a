/* SPDX-License-Identifier: Apache-2.0 */
/* Results as capsules of Arrow's PyCapsule interface
 * (https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html). Nothing is copied: the
 * columns keep the job's memory, and may be released by any thread. */
#ifndef HACPY_ARROW_OUT_H
#define HACPY_ARROW_OUT_H

#include "link.h"
#include "support.h"

/* The columns of a result, exported once: who reads them needs no lock. */
typedef struct hacpy_result {
    struct ArrowSchema schema;
    hacpy_held *columns; /* has the array; NULL: not exported */
} hacpy_result;

/* Exports the result of the job of `held`, which is done. Waits for the lock of the link, so not with the GIL
 * held. */
hac_status hacpy_result_export(hacpy_held *held, hacpy_result *ret, hac_error *err);
void hacpy_result_clear(hacpy_result *result);

/* Returns a pair of capsules, "arrow_schema" and "arrow_array". NULL: an exception is pending. */
PyObject *hacpy_export_array(const hacpy_result *result);

/* Returns a capsule "arrow_array_stream", whose stream has the result as its only batch. NULL: an exception
 * is pending. */
PyObject *hacpy_export_stream(const hacpy_result *result);

/* Returns a list with a tuple for each column of the result: its name, its Arrow format, the number of rows,
 * and a tuple of its buffers, read-only memory objects or None. NULL: an exception is pending. */
PyObject *hacpy_export_parts(const hacpy_state *state, const hacpy_result *result);

#endif
