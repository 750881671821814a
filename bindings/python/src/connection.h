/* SPDX-License-Identifier: Apache-2.0 */
/* hac._hac.Connection: a connection to hacd, with the calls that make memory and jobs. */
#ifndef HACPY_CONNECTION_H
#define HACPY_CONNECTION_H

#include "link.h"
#include "support.h"

typedef struct hacpy_connection {
    PyObject_HEAD hacpy_link *link;
} hacpy_connection;

static inline hacpy_link *hacpy_connection_link(PyObject *object)
{
    return ((hacpy_connection *)object)->link;
}

/* Returns the state of the module, if the connection may be used. NULL: an exception is pending. */
static inline hacpy_state *hacpy_connection_state(PyObject *object)
{
    hacpy_state *state = hacpy_state_of_object(object);
    if (state == NULL || hacpy_link_is_ours(hacpy_connection_link(object)))
        return state;
    const hac_error err = {HAC_INVALID, "this connection belongs to the process that was forked, and cannot "
                                        "be used in the new one"};
    hacpy_raise(state, &err);
    return NULL;
}

#endif
