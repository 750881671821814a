/* SPDX-License-Identifier: Apache-2.0 */
/* hac._hac.Memory: a pool buffer, or a part of a result, as an object with Python's buffer protocol. It
 * lives as long as the arrays that are views of it. */
#ifndef HACPY_MEMORY_H
#define HACPY_MEMORY_H

#include "link.h"
#include "support.h"

/* Makes an object that takes over the buffer that `held` owns, also on failure. NULL: an exception is
 * pending. */
PyObject *hacpy_memory_new(const hacpy_state *state, hacpy_held *held);

/* Makes a read-only object of a part of what `held` owns, and adds a reference to it. NULL: an exception is
 * pending. */
PyObject *hacpy_memory_part(const hacpy_state *state, hacpy_held *held, const void *data, uint64_t bytes);

#endif
