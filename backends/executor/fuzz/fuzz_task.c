/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: a Run command, decoded as in an executor, against every check between it and a codelet. A
 * task that passes must lie within the registered buffers, byte for byte.
 *
 * The input is two bytes for the device's facts, and the body of a Command.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memfd.h"
#include "task.h"

#define BUFFERS      3
#define BUFFER_BYTES (UINT64_C(1) << 16)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

typedef struct task_world {
    hac_memory *memory;
    hac_decoder *decoder;
    hac_span buffers[BUFFERS];
} task_world;

static void must(hac_status status, const hac_error *err)
{
    if (status != HAC_OK) {
        fprintf(stderr, "%s\n", err->message);
        abort();
    }
}

static task_world make_world(void)
{
    task_world w = {0};
    hac_error err = HAC_ERROR_NONE;
    must(hac_memory_new(NULL, &w.memory, &err), &err);
    must(hac_decoder_new(&w.decoder, &err), &err);
    for (uint32_t i = 0; i < BUFFERS; i++) {
        int fd = -1;
        must(hac_memfd_create("fuzz", BUFFER_BYTES, false, &fd, &err), &err);
        must(hac_memory_add_buffer(w.memory, i + 1, BUFFER_BYTES, false, fd, &err), &err);
        must(hac_memory_span(w.memory, i + 1, 0, BUFFER_BYTES, &w.buffers[i], &err), &err);
    }
    must(hac_memory_add_descriptor(w.memory, 1, dup(0), &err), &err);
    return w;
}

static void check_within(const task_world *w, const hac_span *span)
{
    for (int i = 0; i < BUFFERS; i++)
        if (span->data >= w->buffers[i].data && span->bytes <= BUFFER_BYTES &&
            (uint64_t)(span->data - w->buffers[i].data) <= BUFFER_BYTES - span->bytes)
            return;
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static task_world w;
    if (w.memory == NULL)
        w = make_world();
    if (bytes < 3)
        return 0;
    hac_device_facts facts = {.style = data[0] & 1 ? HAC_STYLE_SIMT : HAC_STYLE_BLOCK,
                              .compute_units = 2,
                              .max_work_group = 256,
                              .block_items = 1u << (8 + data[1] % 12),
                              .max_loop_iterations = data[0] & 2 ? 65535 : 0,
                              .local_memory = 1u << 15,
                              .max_allocation = UINT64_C(1) << (10 + data[1] / 16),
                              .global_memory = UINT64_C(1) << 30,
                              .host_memory = (data[0] & 4) != 0,
                              .fp64 = true};
    Hac__Executor__Command *command;
    const hac_codelet *codelet;
    hac_task task;
    if (hac_decode_command(w.decoder, data + 2, bytes - 2, 0, &command, NULL) != HAC_OK ||
        command->what_case != HAC__EXECUTOR__COMMAND__WHAT_RUN ||
        hac_task_from_command(&facts, w.memory, command->run, &codelet, &task, NULL) != HAC_OK)
        return 0;
    for (size_t i = 0; i < task.n_spans; i++)
        check_within(&w, &task.spans[i]);
    return 0;
}
