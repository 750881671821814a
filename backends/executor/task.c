/* SPDX-License-Identifier: Apache-2.0 */
#include "task.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/folder_keys.h"
#include "base/query_layout.h"
#include "base/type.h"
#include "codelets.h"
#include "opencl/device_open.h"

#define MAX_CODELETS 128
#define SPIN_NS      UINT64_C(100000) /* a sleep overshoots by about this much, so shorter waits spin */

/* Whether a codelet may be used for a type; found out at its first task. */
typedef enum usability { UNKNOWN = 0, USABLE, FAILED } usability;

struct hac_runner {
    hac_device *device;
    hac_memory *memory;
    double slowdown;
    usability known[MAX_CODELETS][HAC_TYPE_COUNT];
    hac_task task;
    hac_task_result result;
    hac_error err;
    uint64_t failed; /* the last task that failed or was skipped; tasks are numbered in order */
    char *needs[HAC_RUN_THEN_MAX + 1]; /* names in the program table */
    /* aligned, so that kernels may work on it in place */
    _Alignas(64) uint8_t inline_in[HAC_QUERY_INLINE_MAX];
    char path[HAC_FOLDER_KEYS_BYTES];
    _Alignas(64) uint8_t inline_out[HAC_INLINE_MAX];
};

hac_status hac_runner_new(hac_device *device, hac_memory *memory, double slowdown, hac_runner **ret,
                          hac_error *err)
{
    if (!(slowdown >= 1.0) || !isfinite(slowdown))
        return hac_fail(err, HAC_INVALID, "testing.slowdown is %g; it must be 1 or more", slowdown);
    size_t bytes = (sizeof(hac_runner) + 63) / 64 * 64;
    hac_runner *runner = aligned_alloc(64, bytes);
    if (runner == NULL)
        return hac_fail_no_memory(err);
    memset(runner, 0, bytes);
    runner->device = device;
    runner->memory = memory;
    runner->slowdown = slowdown;
    *ret = runner;
    return HAC_OK;
}

void hac_runner_free(hac_runner *runner)
{
    free(runner);
}

static hac_status check_counts(const hac_codelet *c, const Hac__Executor__Run *run, hac_error *err)
{
    if (run->n_spans < c->min_spans || run->n_spans > c->max_spans || run->n_spans > HAC_SPANS_MAX)
        return hac_fail(err, HAC_INVALID, "%zu spans; %u to %u are needed", run->n_spans, c->min_spans,
                        c->max_spans);
    if (run->n_params != c->params)
        return hac_fail(err, HAC_INVALID, "%zu params; %u are needed", run->n_params, c->params);
    if (run->data.len > HAC_QUERY_INLINE_MAX)
        return hac_fail(err, HAC_INVALID, "%zu bytes of inline data; %d are possible", run->data.len,
                        HAC_QUERY_INLINE_MAX);
    if (run->path.len > HAC_FOLDER_KEYS_BYTES)
        return hac_fail(err, HAC_INVALID, "%zu bytes of names of folders; %d are possible", run->path.len,
                        HAC_FOLDER_KEYS_BYTES);
    if (run->type >= HAC_TYPE_COUNT)
        return hac_fail(err, HAC_INVALID, "type %u is not known", run->type);
    return HAC_OK;
}

static hac_status add_references(hac_memory *memory, const Hac__Executor__Run *run, hac_task *task,
                                 hac_error *err)
{
    for (size_t i = 0; i < run->n_spans; i++) {
        const Hac__Executor__Span *span = run->spans[i];
        if (span->buffer == 0 && span->bytes == 0) { /* a parameter that this task does not use */
            task->spans[i] = (hac_span){0};
            continue;
        }
        hac_status status =
            hac_memory_span(memory, span->buffer, span->offset, span->bytes, &task->spans[i], err);
        if (status != HAC_OK) {
            hac_error_prefix(err, "span %zu", i);
            return status;
        }
    }
    task->n_spans = run->n_spans;
    for (size_t i = 0; i < run->n_params; i++)
        task->params[i] = run->params[i];
    task->n_params = run->n_params;
    task->fd = -1;
    return run->descriptor == 0 ? HAC_OK : hac_memory_descriptor(memory, run->descriptor, &task->fd, err);
}

hac_status hac_task_from_command(const hac_device_facts *facts, hac_memory *memory,
                                 const Hac__Executor__Run *run, const hac_codelet **ret_codelet,
                                 hac_task *ret, hac_error *err)
{
    const hac_codelet *codelet = hac_codelet_find(run->codelet);
    if (codelet == NULL)
        return hac_fail(err, HAC_UNSUPPORTED, "no codelet is named \"%.64s\"", run->codelet);
    memset(ret, 0, sizeof *ret);
    ret->first = run->first;
    ret->count = run->count;
    ret->descending = run->descending;
    ret->inline_in = run->data.data;
    ret->inline_in_bytes = run->data.len;
    ret->path = (const char *)run->path.data;
    ret->path_bytes = run->path.len;
    hac_status status = check_counts(codelet, run, err);
    if (status == HAC_OK) {
        ret->type = (hac_type)run->type;
        status = add_references(memory, run, ret, err);
    }
    if (status == HAC_OK && codelet->check != NULL)
        status = codelet->check(facts, ret, err);
    if (status != HAC_OK)
        hac_error_prefix(err, "%s", codelet->name);
    else
        *ret_codelet = codelet;
    return status;
}

/* NULL: it has no program on this device. */
static const char *program_of(const hac_runner *r, const hac_codelet *codelet, uint32_t type)
{
    return codelet == NULL || codelet->program == NULL
               ? NULL
               : codelet->program(hac_device_get_facts(r->device), (hac_type)type);
}

/*
 * Loads the codelet's program at its first task and looks up the result of its known-answer test. A codelet
 * that gave a wrong answer is never run.
 */
static hac_status check_own_program(hac_runner *r, const hac_codelet *codelet, hac_type type, hac_error *err)
{
    if (codelet->program == NULL)
        return HAC_OK;
    size_t index = hac_codelet_index(codelet), bytes = 0;
    usability *known = index < MAX_CODELETS ? &r->known[index][type] : NULL;
    if (known != NULL && *known == USABLE)
        return HAC_OK;
    const char *program = program_of(r, codelet, type);
    if (program == NULL)
        return HAC_OK;
    if (!hac_program_is_ready(r->device, program))
        return hac_fail(err, HAC_NOT_FOUND, "program %s has not been built for this device yet", program);
    const char *failure = hac_program_failure(r->device, program, codelet->name, type, &bytes);
    if (known != NULL)
        *known = failure == NULL ? USABLE : FAILED;
    if (failure == NULL)
        return HAC_OK;
    return hac_fail(err, HAC_DEVICE, "not used on this device, it failed its test: %.*s", (int)bytes,
                    failure);
}

static hac_status check_usable(hac_runner *r, const hac_codelet *codelet, hac_type type, hac_error *err)
{
    hac_status status = check_own_program(r, codelet, type, err);
    for (size_t i = 0; status == HAC_OK && codelet->parts[i] != NULL; i++)
        status = check_own_program(r, hac_codelet_find(codelet->parts[i]), type, err);
    return status;
}

static void wait_until(uint64_t end_ns)
{
    uint64_t now = hac_now_ns();
    if (now + SPIN_NS < end_ns) {
        uint64_t wake = end_ns - SPIN_NS / 2;
        struct timespec t = {.tv_sec = (time_t)(wake / 1000000000u), .tv_nsec = (long)(wake % 1000000000u)};
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
            ;
    }
    while (hac_now_ns() < end_ns)
        ;
}

static double finish_timing(const hac_runner *r, uint64_t start)
{
    if (r->slowdown > 1.0) {
        double wanted = (double)(hac_now_ns() - start) * r->slowdown;
        wait_until(start + (wanted < 1e18 ? (uint64_t)wanted : UINT64_C(1000000000000000000)));
    }
    return hac_seconds_since(start);
}

static hac_status run_task(hac_runner *r, const Hac__Executor__Run *run, const hac_codelet **codelet,
                           Hac__Executor__Done *done)
{
    if (run->predecessor != 0 && r->failed >= run->predecessor)
        return hac_fail(&r->err, HAC_CANCELLED, "left out: task %llu, which it waits for, has failed",
                        (unsigned long long)r->failed);
    hac_status status =
        hac_task_from_command(hac_device_get_facts(r->device), r->memory, run, codelet, &r->task, &r->err);
    if (status != HAC_OK)
        return status;
    status = check_usable(r, *codelet, r->task.type, &r->err);
    if (status != HAC_OK)
        return status;
    if (r->task.inline_in_bytes > 0) {
        memcpy(r->inline_in, r->task.inline_in, r->task.inline_in_bytes);
        r->task.inline_in = r->inline_in;
    }
    if (r->task.path_bytes > 0)
        r->task.path = memcpy(r->path, r->task.path, r->task.path_bytes);
    uint64_t start = hac_now_ns(), launches = hac_device_launches(r->device);
    hac_device_begin_task(r->device);
    status = (*codelet)->run(r->device, &r->task, &r->result, &r->err);
    done->seconds = finish_timing(r, start);
    done->kernels = hac_device_launches(r->device) - launches;
    return status;
}

static bool is_needed(const Hac__Executor__Done *done, const char *program)
{
    for (size_t i = 0; i < done->n_needs_programs; i++)
        if (strcmp(done->needs_programs[i], program) == 0)
            return true;
    return false;
}

static void add_needed(hac_runner *r, const hac_codelet *codelet, uint32_t type, bool though_ready,
                       Hac__Executor__Done *done)
{
    const char *program = program_of(r, codelet, type);
    if (program == NULL || done->n_needs_programs == sizeof r->needs / sizeof *r->needs ||
        is_needed(done, program) || (!though_ready && hac_program_is_ready(r->device, program)))
        return;
    r->needs[done->n_needs_programs++] = (char *)(uintptr_t)program;
    done->needs_programs = r->needs;
}

static void add_needed_by(hac_runner *r, const hac_codelet *codelet, uint32_t type, bool though_ready,
                          Hac__Executor__Done *done)
{
    add_needed(r, codelet, type, though_ready, done);
    for (size_t i = 0; codelet != NULL && codelet->parts[i] != NULL; i++)
        add_needed(r, hac_codelet_find(codelet->parts[i]), type, though_ready, done);
}

/* Names the missing program, which must be built first, and those that the job needs later, which can be
 * built in parallel. */
static void add_needed_programs(hac_runner *r, const hac_codelet *codelet, const Hac__Executor__Run *run,
                                Hac__Executor__Done *done)
{
    add_needed_by(r, codelet, run->type, false, done);
    if (done->n_needs_programs == 0) /* it was built a moment ago */
        add_needed_by(r, codelet, run->type, true, done);
    for (size_t i = 0; i < run->n_then && done->n_needs_programs > 0; i++)
        add_needed_by(r, hac_codelet_find(run->then[i]), run->type, false, done);
}

void hac_runner_run(hac_runner *r, const Hac__Executor__Run *run, Hac__Executor__Done *ret)
{
    const hac_codelet *codelet = NULL;
    hac__executor__done__init(ret);
    ret->task = run->task;
    r->err.code = HAC_OK;
    r->err.message[0] = '\0';
    r->result.inline_out = r->inline_out;
    r->result.inline_out_bytes = 0;
    r->result.n_values = 0;
    memset(r->result.values, 0, sizeof r->result.values); /* codelets count in them */
    hac_status status = run_task(r, run, &codelet, ret);
    ret->code = (uint32_t)status;
    if (status != HAC_OK) {
        r->failed = run->task;
        ret->message = r->err.message;
        if (status == HAC_NOT_FOUND)
            add_needed_programs(r, codelet, run, ret);
        return;
    }
    size_t capacity = sizeof r->result.values / sizeof *r->result.values;
    ret->values = r->result.values;
    ret->n_values = r->result.n_values < capacity ? r->result.n_values : capacity;
    ret->data.data = r->inline_out;
    ret->data.len = r->result.inline_out_bytes < HAC_INLINE_MAX ? r->result.inline_out_bytes : HAC_INLINE_MAX;
}
