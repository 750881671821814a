/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of other libraries, from capsules of Arrow's PyCapsule interface. */
#ifndef HACPY_ARROW_IN_H
#define HACPY_ARROW_IN_H

#include "link.h"
#include "support.h"

/* The structures of a pair of capsules, which keep them. False: an exception is pending. */
bool hacpy_array_of(PyObject *schema_capsule, PyObject *array_capsule, const struct ArrowSchema **ret_schema,
                    const struct ArrowArray **ret_array);

/* A stream that is read while a link's client is locked. Behind it there may be Python code that uses the
 * same connection, or waits for a thread that does. Therefore the lock is given back while the stream is
 * called; libhac is only reading then. */
typedef struct hacpy_stream {
    struct ArrowArrayStream stream;
    hacpy_link *link;
} hacpy_stream;

/* Moves the stream out of its capsule, because a stream can be read once. False: an exception is pending. */
bool hacpy_take_stream(PyObject *capsule, hacpy_stream *ret);

/* What libhac reads, with own->link locked and without the GIL. It points to `own`. */
struct ArrowArrayStream hacpy_unlocked_stream(hacpy_stream *own);

#endif
