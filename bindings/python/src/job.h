/* SPDX-License-Identifier: Apache-2.0 */
/* hac._hac.Job: a job and its result. */
#ifndef HACPY_JOB_H
#define HACPY_JOB_H

#include "link.h"
#include "support.h"

/* What a job keeps until it has ended: the memory that devices read. */
typedef struct hacpy_source {
    Py_buffer buffer; /* obj NULL: none */
    PyObject *object; /* NULL: none */
} hacpy_source;

void hacpy_source_clear(hacpy_source *source);

/* Makes an object that takes over the job of `held`, and *source, also on failure. `is_sort`: the result is
 * one column, else a table. NULL: an exception is pending. */
PyObject *hacpy_job_new(const hacpy_state *state, hacpy_held *held, hacpy_source *source, bool is_sort);

#endif
