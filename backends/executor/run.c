/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/heap.h"
#include "base/log.h"
#include "memory.h"
#include "modes.h"
#include "opencl/codelets.h"
#include "opencl/device_open.h"
#include "sandbox.h"
#include "setup.h"
#include "task.h"

HAC_DEFINE_CLEANUP(hac_device *, hac_device_close)
HAC_DEFINE_CLEANUP(hac_memory *, hac_memory_free)
HAC_DEFINE_CLEANUP(hac_runner *, hac_runner_free)

#define KEPT_BYTES ((size_t)4 << 20)
/* how long an answer waits for others at most, and for one more batched task */
#define HELD_NS UINT64_C(200000)

static void note_missing(const char *missing)
{
    if (missing != NULL)
        hac_log_record(HAC_LOG_WARNING, HAC_EVENT_REMARK, NULL,
                       "this kernel has no %s: executors run without it", missing);
}

/* The driver's threads inherit what is set before the driver starts. The call filter is applied to all of
 * them. */
static hac_status open_confined(const Hac__Executor__Setup *setup, hac_device **ret, hac_error *err)
{
    const char *readable[] = {setup->program_directory, setup->program_binary, NULL};
    const char *writable[] = {setup->scratch_directory, NULL};
    const char *missing = NULL;
    hac_cleanup(hac_device_close_cleanup) hac_device *device = NULL;
    hac_status status = hac_setup_environment(setup, err);
    if (status == HAC_OK)
        status = hac_sandbox_files(readable, writable, &missing, err);
    if (status != HAC_OK)
        return status;
    note_missing(missing);
    status = hac_setup_open(setup, true, &device, err);
    if (status == HAC_OK)
        status = hac_setup_pin(setup, hac_device_get_facts(device), err);
    if (status == HAC_OK && !hac_setup_compute(hac_device_get_facts(device)))
        hac_log_record(HAC_LOG_WARNING, HAC_EVENT_REMARK, NULL,
                       "this executor's scheduling class stays as it is");
    if (status == HAC_OK)
        status = hac_sandbox_calls(setup->jit, &missing, err);
    if (status != HAC_OK)
        return status;
    note_missing(missing);
    *ret = hac_steal_ptr(device);
    return HAC_OK;
}

static hac_status send_ready(hac_parent *parent, hac_device *device, uint32_t index, hac_error *err)
{
    char kernel_hash[17];
    hac_programs_hash(hac_programs(), kernel_hash);
    Hac__Executor__DeviceFacts facts;
    hac_facts_to_message(hac_device_get_facts(device), kernel_hash, &facts);
    facts.index = index;
    Hac__Executor__Ready ready;
    hac__executor__ready__init(&ready);
    ready.facts = &facts;
    Hac__Executor__Report report;
    hac__executor__report__init(&report);
    report.what_case = HAC__EXECUTOR__REPORT__WHAT_READY;
    report.ready = &ready;
    return hac_parent_send(parent, &report, err);
}

static hac_status run_task(hac_parent *parent, hac_runner *runner, const Hac__Executor__Run *run,
                           hac_error *err)
{
    Hac__Executor__Done done;
    Hac__Executor__Report report;
    hac__executor__report__init(&report);
    hac_runner_run(runner, run, &done);
    report.what_case = HAC__EXECUTOR__REPORT__WHAT_DONE;
    report.done = &done;
    return hac_parent_send(parent, &report, err);
}

/* Runs tasks that arrived together. If a batched task is followed by another, its answer waits for the next
 * one's: waking hacd for each of them takes longer than the tasks themselves. */
static hac_status run_tasks(hac_parent *parent, hac_runner *runner, Hac__Executor__Run **runs, size_t n,
                            hac_error *err)
{
    hac_status status = HAC_OK;
    uint64_t since = hac_now_ns();
    for (size_t i = 0; i < n && status == HAC_OK; i++) {
        Hac__Executor__Done done, *list[] = {&done};
        Hac__Executor__Report report;
        hac__executor__report__init(&report);
        hac_runner_run(runner, runs[i], &done);
        report.dones = list;
        report.n_dones = 1;
        status = hac_parent_send_later(parent, &report, err);
        bool waits = i + 1 < n && runs[i]->batched && runs[i + 1]->batched && done.code == HAC_OK &&
                     hac_now_ns() - since < HELD_NS;
        if (waits || status != HAC_OK)
            continue;
        status = hac_parent_flush(parent, err);
        since = hac_now_ns();
    }
    return status;
}

static hac_status send_pong(hac_parent *parent, uint64_t serial, hac_error *err)
{
    Hac__Executor__Pong pong;
    hac__executor__pong__init(&pong);
    pong.serial = serial;
    Hac__Executor__Report report;
    hac__executor__report__init(&report);
    report.what_case = HAC__EXECUTOR__REPORT__WHAT_PONG;
    report.pong = &pong;
    return hac_parent_send(parent, &report, err);
}

/* If registering a buffer fails, the tasks that name the buffer fail and say so. */
static hac_status unless_protocol(hac_status status, const hac_error *err)
{
    if (status == HAC_OK || status == HAC_PROTOCOL)
        return status;
    hac_log_record(HAC_LOG_WARNING, HAC_EVENT_REMARK, NULL, "%s", err->message);
    return HAC_OK;
}

/* HAC_NOT_FOUND ends the loop: hacd has closed the connection. */
static hac_status handle(hac_parent *parent, hac_runner *runner, hac_memory *memory,
                         const Hac__Executor__Command *command, hac_frame *frame, hac_error *err)
{
    if (command->n_runs > 0)
        return run_tasks(parent, runner, command->runs, command->n_runs, err);
    switch (command->what_case) {
    case HAC__EXECUTOR__COMMAND__WHAT_RUN:
        return run_task(parent, runner, command->run, err);
    case HAC__EXECUTOR__COMMAND__WHAT_BUFFER_ADD:
        return unless_protocol(hac_memory_add_buffer(memory, command->buffer_add->buffer,
                                                     command->buffer_add->bytes, command->buffer_add->whole,
                                                     hac_frame_take_fd(frame, 0), err),
                               err);
    case HAC__EXECUTOR__COMMAND__WHAT_BUFFER_REMOVE:
        hac_memory_remove_buffer(memory, command->buffer_remove->buffer);
        return HAC_OK;
    case HAC__EXECUTOR__COMMAND__WHAT_DESCRIPTOR_ADD:
        return unless_protocol(hac_memory_add_descriptor(memory, command->descriptor_add->descriptor,
                                                         hac_frame_take_fd(frame, 0), err),
                               err);
    case HAC__EXECUTOR__COMMAND__WHAT_DESCRIPTOR_REMOVE:
        hac_memory_remove_descriptor(memory, command->descriptor_remove->descriptor);
        return HAC_OK;
    case HAC__EXECUTOR__COMMAND__WHAT_PING:
        return send_pong(parent, command->ping->serial, err);
    case HAC__EXECUTOR__COMMAND__WHAT_SHUTDOWN:
        return hac_fail(err, HAC_NOT_FOUND, "hacd asked this executor to exit");
    default:
        return hac_fail(err, HAC_PROTOCOL, "a command that executors do not know (%d)",
                        (int)command->what_case);
    }
}

hac_status hac_mode_run(hac_parent *parent, const Hac__Executor__Setup *setup, hac_error *err)
{
    hac_cleanup(hac_device_close_cleanup) hac_device *device = NULL;
    hac_cleanup(hac_memory_free_cleanup) hac_memory *memory = NULL;
    hac_cleanup(hac_runner_free_cleanup) hac_runner *runner = NULL;
    hac_heap_keep(KEPT_BYTES);
    hac_status status = open_confined(setup, &device, err);
    if (status == HAC_OK)
        status = hac_memory_new(device, &memory, err);
    if (status == HAC_OK)
        status = hac_runner_new(device, memory, setup->slowdown != 0 ? setup->slowdown : 1.0, &runner, err);
    if (status == HAC_OK)
        status = send_ready(parent, device, setup->device_index, err);
    while (status == HAC_OK) {
        Hac__Executor__Command *command;
        hac_frame frame;
        status = hac_parent_receive(parent, &command, &frame, err);
        if (status != HAC_OK)
            break;
        status = handle(parent, runner, memory, command, &frame, err);
        hac_frame_clear(&frame);
    }
    return status;
}
