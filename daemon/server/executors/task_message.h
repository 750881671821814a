/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes a plan's task as the message that an executor gets (hac.executor.Run). */
#ifndef SERVER_TASK_MESSAGE_H
#define SERVER_TASK_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "planner/plan.h"
#include "proto/messages.h"
#include "resources/pool.h"

/* The message and what it points to. It borrows from the task and contains pointers to itself, so it must not
 * be copied. */
typedef struct hac_task_message {
    Hac__Executor__Run run;
    Hac__Executor__Span spans[HAC_SPANS_MAX], *list[HAC_SPANS_MAX];
    hac_pool_buffer *buffers[HAC_SPANS_MAX]; /* the executor must have them mapped */
    size_t n_buffers;
    int descriptor_fd;    /* of run.descriptor */
    bool send_descriptor; /* the executor does not have it yet */
} hac_task_message;

/* Fills in what all pieces of the task have in common. `buffers` and `offsets` are indexed like the plan's
 * buffers. */
void hac_task_message_encode(hac_task_message *message, const hac_plan_task *task,
                             hac_pool_buffer *const buffers[], const uint64_t offsets[]);

#endif
