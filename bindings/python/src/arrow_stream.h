/* SPDX-License-Identifier: Apache-2.0 */
/* The standard's own structure (https://arrow.apache.org/docs/format/CStreamInterface.html), with its guard.
 */
#ifndef HACPY_ARROW_STREAM_H
#define HACPY_ARROW_STREAM_H

#include <hac/hac.h>

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE
struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *ret);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *ret);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};
#endif

#endif
