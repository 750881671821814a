/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that runs one function at a time while its owner does something else. */
#ifndef CODELET_BACKGROUND_TASK_H
#define CODELET_BACKGROUND_TASK_H

typedef struct hac_background_task hac_background_task;

/* NULL: out of memory, or no thread can be created. */
hac_background_task *hac_background_task_new(void);
/* Waits for the function that runs, if any. */
void hac_background_task_free(hac_background_task *task);

/* Starts `work`. The caller must have waited for the previous one. */
void hac_background_task_begin(hac_background_task *task, void (*work)(void *context), void *context);
/* Returns when the function has ended; at once if none was started. */
void hac_background_task_wait(hac_background_task *task);

#endif
