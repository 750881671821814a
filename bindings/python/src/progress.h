/* SPDX-License-Identifier: Apache-2.0 */
/* hac._hac.Progress: what hacd last said about a job that has not ended, for a progress bar. The thread that
 * has the connection writes it, and any thread reads it without waiting for the connection. */
#ifndef HACPY_PROGRESS_H
#define HACPY_PROGRESS_H

#include "support.h"

typedef struct hacpy_progress hacpy_progress;

/* The record of a Progress object, without a reference. NULL: an exception is pending. */
hacpy_progress *hacpy_progress_of(const hacpy_state *state, PyObject *object);

hacpy_progress *hacpy_progress_ref(hacpy_progress *progress);
/* From any thread, with or without the GIL. NULL is allowed. */
void hacpy_progress_unref(hacpy_progress *progress);

/* hac_job_options.progress, with the record as its context. */
void hacpy_progress_note(void *context, hac_job *job, const hac_progress *progress);

#endif
