/* SPDX-License-Identifier: Apache-2.0 */
/* The options of libhac's functions, read from a dict whose keys are the names of their members. */
#ifndef HACPY_OPTIONS_H
#define HACPY_OPTIONS_H

#include "support.h"

/* Texts in the options belong to the dict, which must not change while they are used.
 * Its Progress is the context of the job's callback: hacpy_held_keep_progress. */
typedef struct hacpy_names {
    const char **names;
} hacpy_names;

/* Reads the options. `names` holds the array of the devices' names: hacpy_names_clear frees it, also after a
 * failure. False: an exception is pending. */
bool hacpy_read_sort_options(const hacpy_state *state, PyObject *dict, hac_sort_options *ret,
                             hacpy_names *names);
bool hacpy_read_query_options(const hacpy_state *state, PyObject *dict, hac_query_options *ret,
                              hacpy_names *names);
void hacpy_names_clear(hacpy_names *names);

#endif
