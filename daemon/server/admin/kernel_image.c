/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel_image.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "executors/child_setup.h"
#include "executors/executor.h"
#include "loop/child.h"
#include "loop/foreign_file.h"
#include "loop/scratch.h"
#include "state.h"

#define RETRY_SECONDS 5.0
#define TURN_SECONDS  30.0 /* for how long the next image is kept for a user who was refused */

struct hac_kernel_image_build {
    hac_server *server;
    hac_user *user;
    uint64_t began_ns;
    hac_session *session; /* NULL: it has ended, or has its answer */
    uint64_t serial;
    hac_child *child;
    hac_scratch_path scratch;
    char device[64];
    char fatal[256]; /* its last report before it exited */
    uint64_t heard_ns;
    bool overdue;
};

/* ---- answers ------------------------------------------------------------------------------------------ */

static void answer_failure(hac_kernel_image_build *build, hac_status code, const char *message)
{
    hac_error err = HAC_ERROR_NONE;
    if (build->session == NULL)
        return;
    hac_fail(&err, code, "%s", message);
    hac_session_send_failure(build->session, build->serial, &err, 0);
    build->session->pending--;
    build->session = NULL;
}

static void answer(hac_kernel_image_build *build, const Hac__Executor__Image *image)
{
    hac_text json = HAC_TEXT_NONE;
    hac_autofree char *text = NULL;
    size_t bytes = 0;
    char left_out[256];
    if (build->session == NULL)
        return;
    if (image->code != HAC_OK) {
        answer_failure(build, HAC_FAILED, image->message);
        return;
    }
    hac_utf8_copy_line(left_out, sizeof left_out, image->message);
    hac_json_open(&json, NULL, '{');
    hac_json_string(&json, "device", build->device);
    hac_json_unsigned(&json, "bytes", image->bytes);
    hac_json_unsigned(&json, "programs", image->programs);
    if (left_out[0] != '\0')
        hac_json_string(&json, "left_out", left_out);
    else
        hac_json_null(&json, "left_out");
    hac_json_close(&json, '}');
    if (hac_text_finish(&json, &text, &bytes, NULL) != HAC_OK) {
        answer_failure(build, HAC_NO_MEMORY, "no memory");
        return;
    }
    hac_session_send_text(build->session, build->serial, text, bytes);
    build->session->pending--;
    build->session = NULL;
}

/* ---- the builder -------------------------------------------------------------------------------------- */

static void on_report(void *context, const Hac__Executor__Report *report)
{
    hac_kernel_image_build *build = context;
    build->heard_ns = hac_now_ns();
    switch (report->what_case) {
    case HAC__EXECUTOR__REPORT__WHAT_IMAGE:
        answer(build, report->image);
        break;
    case HAC__EXECUTOR__REPORT__WHAT_BUILD_END:
        hac_child_leave(build->child);
        break;
    case HAC__EXECUTOR__REPORT__WHAT_FATAL:
        hac_utf8_copy_line(build->fatal, sizeof build->fatal, report->fatal);
        break;
    default:
        break;
    }
}

static void on_gone(void *context, int64_t status, int signal, bool asked)
{
    hac_kernel_image_build *build = context;
    char reason[512];
    if (build->overdue)
        snprintf(reason, sizeof reason,
                 "building its kernels took too long and was stopped (build_deadline in hacd.yaml)");
    else if (signal != 0 && !asked)
        snprintf(reason, sizeof reason, "building its kernels was ended by signal %d (%s)", signal,
                 strsignal(signal));
    else if (signal != 0)
        snprintf(reason, sizeof reason, "building its kernels was stopped");
    else
        snprintf(reason, sizeof reason, "building its kernels ended with status %d%s%s", (int)status,
                 build->fatal[0] != '\0' ? ": " : "", build->fatal);
    answer_failure(build, HAC_FAILED, reason);
    build->server->image = NULL;
    build->server->image_turn.since_ns = hac_now_ns();
    hac_scratch_remove(&build->server->loop, build->scratch);
    hac_user_spend(build->user, hac_seconds_since(build->began_ns));
    hac_user_unref(build->user);
    free(build);
}

static void send_build(hac_kernel_image_build *build, const hac_server_device *device, int fd)
{
    Hac__Executor__Build message = HAC__EXECUTOR__BUILD__INIT;
    Hac__Executor__Command command = HAC__EXECUTOR__COMMAND__INIT;
    hac_child_setup_send(build->child, device, build->server->builders.program_directory, build->scratch, -1);
    message.image = true;
    command.what_case = HAC__EXECUTOR__COMMAND__WHAT_BUILD;
    command.build = &message;
    hac_child_send(build->child, &command, &fd, 1);
}

static hac_status start(hac_kernel_image_build *build, const hac_server_device *device, int fd,
                        hac_error *err)
{
    static const hac_child_events events = {on_report, on_gone};
    hac_builders *builders = &build->server->builders;
    hac_autofree char **environment = NULL;
    hac_status status = hac_child_setup_environment(&device->config, &environment, err);
    if (status == HAC_OK)
        status = hac_scratch_make(builders->scratch_directory, build->scratch, err);
    if (status != HAC_OK)
        return status;
    hac_child_options options = {builders->program, "--build",   device->config.name,
                                 HAC_LOG_NOBODY,    environment, {builders->closer, 0}};
    status = hac_child_start(builders->loop, &options, builders->decoder, &events, build, &build->child, err);
    if (status == HAC_OK)
        send_build(build, device, fd);
    return status;
}

/* The builder must not block on what it writes to: only regular files and memfds are allowed. */
static hac_status check_descriptor(int fd, hac_error *err)
{
    uint32_t mode = 0;
    uint64_t size = 0;
    if (!hac_foreign_stat(fd, &mode, &size) || !S_ISREG(mode))
        return hac_fail(err, HAC_INVALID, "an image is written to a regular file or to memory");
    return HAC_OK;
}

static hac_status find_device(hac_server *server, const char *name, hac_server_device **ret, hac_error *err)
{
    char *names[1] = {(char *)(uintptr_t)name};
    uint32_t mask = 0;
    hac_status status = hac_devices_mask(&server->devices, names, 1, &mask, err);
    if (status != HAC_OK)
        return status;
    *ret = server->devices.items[__builtin_ctz(mask)];
    if ((*ret)->config.program_binary != NULL)
        return hac_fail(err, HAC_INVALID,
                        "device %s runs from an image already (%s); an image is built by a device whose "
                        "profile says `program: source`",
                        name, (*ret)->config.program_binary);
    return HAC_OK;
}

/* Whether the user goes before the one who waits: has used less time. */
static bool goes_before(const hac_user *user, const hac_kernel_image_turn *turn)
{
    return !turn->waits || (turn->user != user->number && user->virtual_time < turn->virtual_time);
}

/* Whether it is the user's turn. If not, and nobody who has used less time waits, the user's turn is
 * next. */
static hac_status take_turn(hac_server *server, hac_session *session, hac_error *err)
{
    hac_kernel_image_turn *turn = &server->image_turn;
    const hac_user *user = session->user;
    if (turn->waits && server->image == NULL && hac_seconds_since(turn->since_ns) > TURN_SECONDS)
        turn->waits = false;
    session->retry_seconds = RETRY_SECONDS;
    if (server->image != NULL || server->builders.closed) {
        if (server->image != NULL && server->image->user != user && goes_before(user, turn))
            *turn = (hac_kernel_image_turn){true, user->number, user->virtual_time, hac_now_ns()};
        return hac_fail(err, HAC_REFUSED, "kernels are being built for another client; try again later");
    }
    if (turn->waits && turn->user != user->number && !goes_before(user, turn))
        return hac_fail(err, HAC_REFUSED, "another user waits to build kernels; try again later");
    if (turn->user == user->number)
        turn->waits = false;
    return HAC_OK;
}

hac_status hac_kernel_image_begin(hac_server *server, hac_session *session, uint64_t serial,
                                  const char *device, int fd, hac_error *err)
{
    hac_server_device *found = NULL;
    hac_status status = check_descriptor(fd, err);
    if (status == HAC_OK)
        status = find_device(server, device, &found, err);
    if (status == HAC_OK)
        status = take_turn(server, session, err);
    if (status != HAC_OK)
        return status;
    if (session->pending >= HAC_SESSION_PENDING_MAX)
        return hac_fail(err, HAC_REFUSED, "this connection already waits for %u answers", session->pending);
    hac_autofree hac_kernel_image_build *build = calloc(1, sizeof *build);
    if (build == NULL)
        return hac_fail_no_memory(err);
    build->server = server;
    build->serial = serial;
    build->heard_ns = build->began_ns = hac_now_ns();
    build->user = session->user;
    snprintf(build->device, sizeof build->device, "%s", device);
    status = start(build, found, fd, err);
    if (status != HAC_OK)
        return status;
    build->session = session;
    hac_user_ref(build->user);
    session->pending++;
    server->image = hac_steal_ptr(build);
    return HAC_OK;
}

void hac_kernel_image_forget_session(hac_server *server, const hac_session *session)
{
    hac_kernel_image_build *build = server->image;
    if (build == NULL || build->session != session)
        return;
    build->session = NULL;
    hac_child_kill(build->child);
}

void hac_kernel_image_check(hac_server *server)
{
    hac_kernel_image_build *build = server->image;
    if (build == NULL || build->overdue ||
        hac_seconds_since(build->heard_ns) <= server->builders.deadline_seconds)
        return;
    build->overdue = true;
    hac_child_kill(build->child);
}

void hac_kernel_image_kill(hac_server *server)
{
    if (server->image != NULL)
        hac_child_kill(server->image->child);
}
