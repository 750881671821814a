/* SPDX-License-Identifier: Apache-2.0 */
#include "child.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/failpoint.h"
#include "base/log.h"
#include "channel.h"
#include "child_output.h"

/* Bytes that may wait for a child: all commands of a deep window of small tasks with inline data. */
#define CHILD_QUEUE_MAX (4u * 1024 * 1024)
#define CHILD_BATCH     32

struct hac_child {
    uv_process_t process;
    hac_channel *channel;
    hac_child_output *output;
    char last_words[HAC_CHILD_LINE_MAX];
    hac_decoder *decoder; /* borrowed */
    hac_child_events events;
    void *context;
    bool asked; /* hacd ended the child */
    bool exited;
    int64_t status;
    int signal;
};

static void close_channel(hac_child *child)
{
    hac_channel_close(child->channel);
    child->channel = NULL;
}

static void on_closed(uv_handle_t *handle)
{
    hac_child *child = handle->data;
    if (child->events.gone != NULL)
        child->events.gone(child->context, child->status, child->signal, child->asked);
    free(child);
}

static void on_process_exit(uv_process_t *process, int64_t status, int signal)
{
    hac_child *child = process->data;
    child->exited = true;
    child->status = status;
    child->signal = signal;
    if (child->channel != NULL)
        hac_channel_drain(child->channel); /* what the child reported before it died still counts */
    close_channel(child);
    hac_child_output_close(child->output, child->last_words);
    uv_close((uv_handle_t *)process, on_closed);
}

static void on_frame(void *context, hac_frame *frame)
{
    hac_child *child = context;
    hac_error err = HAC_ERROR_NONE;
    Hac__Executor__Report *report = NULL;
    if (hac_decode_report(child->decoder, frame->body, frame->body_bytes, frame->n_fds, &report, &err) !=
        HAC_OK) {
        hac_log_record(HAC_LOG_ERROR, HAC_EVENT_NONSENSE, NULL,
                       "child %d broke the protocol and is killed: %s", (int)hac_child_pid(child),
                       err.message);
        if (!child->exited) /* not `asked`, which would look like hacd's own decision */
            uv_process_kill(&child->process, SIGKILL);
        return;
    }
    child->events.report(child->context, report);
}

/* The socket is closed: the child has died, is about to, or does not read. Reaping tells which. */
static void on_lost(void *context, const char *reason)
{
    hac_child *child = context;
    close_channel(child);
    if (reason != NULL)
        hac_log_record(HAC_LOG_WARNING, HAC_EVENT_NONSENSE, NULL, "lost child %d: %s",
                       (int)hac_child_pid(child), reason);
    /* A child that closes its socket without exiting would never be reaped, so hacd kills it. The kill is not
     * `asked`: a crash must be reported as a crash. */
    if (!child->exited)
        uv_process_kill(&child->process, SIGKILL);
}

static hac_status spawn(uv_loop_t *loop, hac_child *child, const hac_child_options *options, int socket,
                        int output, hac_error *err)
{
    char *args[4] = {(char *)(uintptr_t) "hac-executor", NULL, NULL, NULL};
    int n = 1;
    if (options->mode != NULL)
        args[n++] = (char *)(uintptr_t)options->mode;
    if (options->label != NULL)
        args[n++] = (char *)(uintptr_t)options->label;
    uv_stdio_container_t stdio[4] = {
        {.flags = UV_IGNORE},
        {.flags = UV_INHERIT_FD, .data.fd = output},
        {.flags = UV_INHERIT_FD, .data.fd = output},
        {.flags = UV_INHERIT_FD, .data.fd = socket},
    };
    uv_process_options_t process = {
        .file = HAC_FAILPOINT("child.spawn", "/dev/null", options->program),
        .args = args,
        .env = (char **)(uintptr_t)options->environment,
        .stdio = stdio,
        .stdio_count = 4,
        .exit_cb = on_process_exit,
    };
    int r = uv_spawn(loop, &child->process, &process);
    if (r == UV_EAGAIN)
        return hac_fail(err, HAC_AGAIN, "cannot start %s: the limit of processes and threads is reached",
                        options->program);
    if (r != 0)
        return hac_fail(err, HAC_IO, "cannot start %s: %s", options->program, uv_strerror(r));
    return HAC_OK;
}

static hac_status open_output(uv_loop_t *loop, const hac_child_options *options, hac_child *child,
                              int *ret_theirs, hac_error *err)
{
    hac_log_subject about = {options->uid, 0, options->label};
    char label[96];
    snprintf(label, sizeof label, "hac-executor%s%s", options->label != NULL ? " " : "",
             options->label != NULL ? options->label : "");
    return hac_child_output_open(loop, &about, label, &child->output, ret_theirs, err);
}

static void free_unstarted(uv_handle_t *handle)
{
    hac_child *child = handle->data;
    free(child);
}

hac_status hac_child_start(uv_loop_t *loop, const hac_child_options *options, hac_decoder *decoder,
                           const hac_child_events *events, void *context, hac_child **ret, hac_error *err)
{
    static const hac_channel_events channel_events = {on_frame, on_lost, NULL};
    int pair[2];
    if (HAC_FAILPOINT("child.socketpair", -1, socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) !=
        0)
        return hac_fail_errno(err, HAC_IO, errno, "cannot make a socket pair");
    hac_autoclose int ours = pair[0], theirs = pair[1];
    int bytes = 1 << 20; /* several whole frames; the kernel caps the value */
    setsockopt(ours, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    setsockopt(theirs, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    hac_child *child = calloc(1, sizeof *child);
    if (child == NULL)
        return hac_fail_no_memory(err);
    child->decoder = decoder;
    child->events = *events;
    child->context = context;
    child->process.data = child;
    hac_autoclose int output = -1;
    hac_status status = open_output(loop, options, child, &output, err);
    if (status != HAC_OK) {
        free(child);
        return status;
    }
    status = spawn(loop, child, options, theirs, output, err);
    if (status != HAC_OK) {
        /* libuv initialises the handle even if spawning failed */
        hac_child_output_close(child->output, NULL);
        uv_close((uv_handle_t *)&child->process, free_unstarted);
        return status;
    }
    status = hac_channel_open(loop, hac_steal_fd(&ours), CHILD_QUEUE_MAX, CHILD_BATCH, &channel_events, child,
                              options->owner, &child->channel, err);
    if (status != HAC_OK) {
        child->events.gone = NULL;
        hac_child_kill(child);
        return status;
    }
    *ret = child;
    return HAC_OK;
}

void hac_child_send(hac_child *child, const Hac__Executor__Command *command, const int *fds, size_t n_fds)
{
    if (child->channel != NULL)
        hac_channel_send(child->channel, &command->base, fds, n_fds);
}

void hac_child_send_later(hac_child *child, const Hac__Executor__Command *command)
{
    if (child->channel != NULL)
        hac_channel_send_later(child->channel, &command->base);
}

void hac_child_flush(hac_child *child)
{
    if (child->channel != NULL)
        hac_channel_flush(child->channel);
}

void hac_child_kill(hac_child *child)
{
    child->asked = true;
    if (!child->exited)
        uv_process_kill(&child->process, SIGKILL);
}

void hac_child_leave(hac_child *child)
{
    child->asked = true;
    close_channel(child);
}

pid_t hac_child_pid(const hac_child *child)
{
    return child->process.pid;
}

const char *hac_child_last_words(const hac_child *child, const char *fatal)
{
    if (child->signal == 0 && fatal[0] != '\0')
        return fatal;
    return child->signal == 0 || child->signal == SIGABRT ? child->last_words : "";
}
