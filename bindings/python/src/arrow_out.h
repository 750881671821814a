/* SPDX-License-Identifier: Apache-2.0 */
/* Results as capsules of Arrow's PyCapsule interface
 * (https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html). Nothing is copied: the
 * columns keep the job's memory, and may be released by any thread. */
#ifndef HACPY_ARROW_OUT_H
#define HACPY_ARROW_OUT_H

#include "link.h"
#include "support.h"

/* Returns a pair of capsules, "arrow_schema" and "arrow_array", with the result of the job of `held`, which
 * is done. NULL: an exception is pending. */
PyObject *hacpy_export_array(const hacpy_state *state, hacpy_held *held);

/* Returns a capsule "arrow_array_stream", whose stream has the result as its only batch. NULL: an exception
 * is pending. */
PyObject *hacpy_export_stream(const hacpy_state *state, hacpy_held *held);

/* Returns a list with a tuple for each column of the result: its name, its Arrow format, the number of rows,
 * and a tuple of its buffers, read-only memory objects or None. NULL: an exception is pending. */
PyObject *hacpy_export_parts(const hacpy_state *state, hacpy_held *held);

#endif
