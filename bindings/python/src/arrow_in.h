/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of other libraries, from capsules of Arrow's PyCapsule interface. */
#ifndef HACPY_ARROW_IN_H
#define HACPY_ARROW_IN_H

#include "link.h"
#include "support.h"

/* The structures of a pair of capsules, which keep them. False: an exception is pending. */
bool hacpy_array_of(PyObject *schema_capsule, PyObject *array_capsule, const struct ArrowSchema **ret_schema,
                    const struct ArrowArray **ret_array);

/* Moves the stream out of its capsule, because a stream can be read once. False: an exception is pending. */
bool hacpy_take_stream(PyObject *capsule, struct ArrowArrayStream *ret);

/* All arrays of a stream. */
typedef struct hacpy_batches {
    struct ArrowSchema schema; /* release NULL: none */
    struct ArrowArray *arrays; /* malloc'ed; those whose release is NULL were taken */
    size_t n;
} hacpy_batches;

/* Reads the stream of a capsule to its end. False: an exception is pending. In both cases
 * hacpy_batches_clear releases what was read. */
bool hacpy_read_stream(const hacpy_state *state, PyObject *capsule, hacpy_batches *ret);
void hacpy_batches_clear(hacpy_batches *batches);

/* Copies columns of one fixed-width type, one after the other, into one new buffer, whose view as one column
 * is *ret. Not with the GIL: `client` is locked. */
hac_status hacpy_join_keys(hac_client *client, const hacpy_batches *batches, hac_buffer **ret_buffer,
                           struct ArrowArray *ret, const void *ret_buffers[2], hac_error *err);

#endif
