/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_child.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/list.h"
#include "loop/scratch.h"
#include "proto/frame.h"

#define TASKS_MAX 64

struct hac_child {
    hac_link link;
    uv_idle_t handle;
    hac_decoder *decoder;
    hac_child_events events;
    void *context;
    enum { PROBE, BUILDER, EXECUTOR } mode;
    bool set_up, build, dying, asked;
    int64_t status;
    int signal;
    uint64_t tasks[TASKS_MAX];
    size_t n_tasks;
};

static hac_link children = {&children, &children};

static hac_child *find(size_t index)
{
    hac_child *child = NULL;
    hac_list_for_each (child, &children, hac_child, link)
        if (index-- == 0)
            return child;
    return NULL;
}

size_t fake_children(void)
{
    size_t n = 0;
    while (find(n) != NULL)
        n++;
    return n;
}

/* ---- life --------------------------------------------------------------------------------------------- */

static void on_closed(uv_handle_t *handle)
{
    hac_child *child = handle->data;
    hac_list_remove(&child->link);
    child->events.gone(child->context, child->status, child->signal, child->asked);
    free(child);
}

static void on_idle(uv_idle_t *handle)
{
    uv_idle_stop(handle);
    uv_close((uv_handle_t *)handle, on_closed);
}

static void die(hac_child *child, int64_t status, int signal)
{
    if (child->dying)
        return;
    child->dying = true;
    child->status = status;
    child->signal = signal;
    uv_idle_start(&child->handle, on_idle);
}

void fake_child_die(size_t index, int64_t status, int signal)
{
    hac_child *child = find(index);
    if (child != NULL)
        die(child, status, signal);
}

hac_status hac_child_start(uv_loop_t *loop, const hac_child_options *options, hac_decoder *decoder,
                           const hac_child_events *events, void *context, hac_child **ret, hac_error *err)
{
    hac_child *child = calloc(1, sizeof *child);
    if (child == NULL)
        return hac_fail_no_memory(err);
    const char *mode = options->mode != NULL ? options->mode : "";
    child->mode = strcmp(mode, "--probe") == 0 ? PROBE : strcmp(mode, "--build") == 0 ? BUILDER : EXECUTOR;
    child->decoder = decoder;
    child->events = *events;
    child->context = context;
    uv_idle_init(loop, &child->handle);
    child->handle.data = child;
    hac_list_append(&children, &child->link);
    *ret = child;
    return HAC_OK;
}

void hac_child_kill(hac_child *child)
{
    child->asked = true;
    die(child, 0, SIGKILL);
}

void hac_child_leave(hac_child *child)
{
    child->asked = true;
    die(child, 0, 0);
}

pid_t hac_child_pid(const hac_child *child)
{
    (void)child;
    return 1;
}

const char *hac_child_last_words(const hac_child *child, const char *fatal)
{
    return child->signal == 0 ? fatal : "";
}

/* ---- what it is told ---------------------------------------------------------------------------------- */

/* hacd must send only commands that a real child accepts. */
void hac_child_send(hac_child *child, const Hac__Executor__Command *command, const int *fds, size_t n_fds)
{
    static uint8_t body[HAC_FRAME_BODY_MAX];
    static hac_decoder *decoder;
    size_t bytes = 0;
    Hac__Executor__Command *taken = NULL;
    (void)fds;
    if (child->dying)
        return;
    if ((decoder == NULL && hac_decoder_new(&decoder, NULL) != HAC_OK) ||
        hac_encode(&command->base, body, &bytes, NULL) != HAC_OK ||
        hac_decode_command(decoder, body, bytes, n_fds, &taken, NULL) != HAC_OK)
        abort();
    if (taken->what_case == HAC__EXECUTOR__COMMAND__WHAT_SETUP)
        child->set_up = true;
    else if (taken->what_case == HAC__EXECUTOR__COMMAND__WHAT_BUILD)
        child->build = true;
    else if (taken->what_case == HAC__EXECUTOR__COMMAND__WHAT_RUN && child->n_tasks < TASKS_MAX)
        child->tasks[child->n_tasks++] = taken->run->task;
    for (size_t i = 0; i < taken->n_runs && child->n_tasks < TASKS_MAX; i++)
        child->tasks[child->n_tasks++] = taken->runs[i]->task;
}

void hac_child_send_later(hac_child *child, const Hac__Executor__Command *command)
{
    hac_child_send(child, command, NULL, 0);
}

void hac_child_flush(hac_child *child)
{
    (void)child;
}

/* ---- what it says ------------------------------------------------------------------------------------- */

void fake_child_report(size_t index, const uint8_t *body, size_t bytes)
{
    hac_child *child = find(index);
    Hac__Executor__Report *report = NULL;
    if (child == NULL || child->dying)
        return;
    if (bytes > HAC_FRAME_BODY_MAX ||
        hac_decode_report(child->decoder, body, bytes, 0, &report, NULL) != HAC_OK)
        die(child, 0, SIGKILL);
    else
        child->events.report(child->context, report);
}

static void say(hac_child *child, const Hac__Executor__Report *report)
{
    static uint8_t body[HAC_FRAME_BODY_MAX];
    size_t bytes = 0, index = 0;
    while (find(index) != child)
        index++;
    if (hac_encode(&report->base, body, &bytes, NULL) == HAC_OK)
        fake_child_report(index, body, bytes);
    else /* the fuzzer made it larger than fits */
        die(child, 1, 0);
}

static void fill_facts(Hac__Executor__DeviceFacts *facts)
{
    static char platform[] = "Fuzz", vendor[] = "none", device[] = "cpu", driver[] = "1", type[] = "cpu",
                hash[] = "0123456789abcdef";
    hac__executor__device_facts__init(facts);
    facts->platform = platform;
    facts->vendor = vendor;
    facts->device = device;
    facts->driver = driver;
    facts->type = type;
    facts->kernel_hash = hash;
    facts->compute_units = 2;
    facts->global_memory = UINT64_C(1) << 34;
    facts->max_allocation = UINT64_C(1) << 32;
    facts->local_memory = 1 << 16;
    facts->max_work_group = 4096;
    facts->fp64 = facts->available = facts->compiler = facts->unified_memory = facts->int64_atomics = true;
}

static void report_devices(hac_child *child)
{
    Hac__Executor__DeviceFacts facts[2], *list[] = {&facts[0], &facts[1]};
    Hac__Executor__ProbeReport probe = HAC__EXECUTOR__PROBE_REPORT__INIT;
    Hac__Executor__Report report = HAC__EXECUTOR__REPORT__INIT;
    fill_facts(&facts[0]);
    fill_facts(&facts[1]);
    facts[1].index = 1;
    probe.n_devices = 2;
    probe.devices = list;
    report.what_case = HAC__EXECUTOR__REPORT__WHAT_PROBE;
    report.probe = &probe;
    say(child, &report);
}

static void report_ready(hac_child *child)
{
    Hac__Executor__DeviceFacts facts;
    Hac__Executor__Ready ready = HAC__EXECUTOR__READY__INIT;
    Hac__Executor__Report report = HAC__EXECUTOR__REPORT__INIT;
    fill_facts(&facts);
    ready.facts = &facts;
    report.what_case = HAC__EXECUTOR__REPORT__WHAT_READY;
    report.ready = &ready;
    say(child, &report);
}

static void report_self_test(hac_child *child)
{
    static char program[] = "selftest";
    Hac__Executor__Built built = HAC__EXECUTOR__BUILT__INIT;
    Hac__Executor__BuildEnd end = HAC__EXECUTOR__BUILD_END__INIT;
    Hac__Executor__Report report = HAC__EXECUTOR__REPORT__INIT;
    built.program = program;
    built.done = built.of = 1;
    report.what_case = HAC__EXECUTOR__REPORT__WHAT_BUILT;
    report.built = &built;
    say(child, &report);
    report.what_case = HAC__EXECUTOR__REPORT__WHAT_BUILD_END;
    report.build_end = &end;
    say(child, &report);
}

static void start_up(hac_child *child)
{
    bool set_up = child->set_up, build = child->build;
    child->set_up = child->build = false;
    if (set_up && child->mode == PROBE) {
        report_devices(child);
        die(child, 0, 0);
    } else if (set_up && child->mode == EXECUTOR) {
        report_ready(child);
    }
    if (build)
        report_self_test(child);
}

void fake_children_start_up(void)
{
    for (size_t i = 0; i < fake_children(); i++)
        start_up(find(i));
}

void fake_child_answer(size_t index, uint32_t code, uint64_t *values, size_t n_values, uint8_t *data,
                       size_t bytes)
{
    static char message[] = "it says that it failed", none[] = "";
    hac_child *child = find(index);
    Hac__Executor__Done done = HAC__EXECUTOR__DONE__INIT;
    Hac__Executor__Report report = HAC__EXECUTOR__REPORT__INIT;
    if (child == NULL || child->dying || child->n_tasks == 0)
        return;
    done.task = child->tasks[0];
    memmove(child->tasks, child->tasks + 1, --child->n_tasks * sizeof *child->tasks);
    done.code = code;
    done.message = code != HAC_OK ? message : none;
    done.seconds = 1e-4;
    done.values = values;
    done.n_values = n_values;
    done.data.data = data;
    done.data.len = bytes;
    report.what_case = HAC__EXECUTOR__REPORT__WHAT_DONE;
    report.done = &done;
    say(child, &report);
}

/* ---- scratch.h ---------------------------------------------------------------------------------------- */

hac_status hac_scratch_make(const char *parent, hac_scratch_path ret, hac_error *err)
{
    (void)err;
    snprintf(ret, sizeof(hac_scratch_path), "%s/fuzz", parent);
    return HAC_OK;
}

void hac_scratch_sweep(uv_loop_t *loop, const char *own)
{
    (void)loop;
    (void)own;
}

void hac_scratch_remove(uv_loop_t *loop, const char *path)
{
    (void)loop;
    (void)path;
}

void hac_scratch_remove_now(const char *path)
{
    (void)path;
}
