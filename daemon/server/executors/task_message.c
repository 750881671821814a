/* SPDX-License-Identifier: Apache-2.0 */
#include "task_message.h"

static void encode_span(hac_task_message *message, size_t index, const hac_plan_span *from,
                        hac_pool_buffer *buffer, uint64_t offset)
{
    Hac__Executor__Span *span = &message->spans[index];
    hac__executor__span__init(span);
    message->list[index] = span;
    if (buffer == NULL) /* a late buffer that the task does not use: an empty span */
        return;
    span->buffer = buffer->id;
    span->offset = offset + from->offset;
    span->bytes = from->bytes;
    message->buffers[message->n_buffers++] = buffer;
}

void hac_task_message_encode(hac_task_message *message, const hac_plan_task *task,
                             hac_pool_buffer *const buffers[], const uint64_t offsets[])
{
    Hac__Executor__Run *run = &message->run;
    hac__executor__run__init(run);
    message->n_buffers = 0;
    message->send_descriptor = false;
    for (size_t i = 0; i < task->n_spans; i++) {
        uint32_t buffer = task->spans[i].buffer;
        encode_span(message, i, &task->spans[i], buffers[buffer], offsets[buffer]);
    }
    run->codelet = (char *)(uintptr_t)task->codelet;
    run->type = task->type;
    run->descending = task->descending;
    run->spans = message->list;
    run->n_spans = task->n_spans;
    run->params = (uint64_t *)(uintptr_t)task->params;
    run->n_params = task->n_params;
    if (task->data != NULL) {
        run->data.data = (uint8_t *)(uintptr_t)task->data;
        run->data.len = task->data_bytes;
    }
}
