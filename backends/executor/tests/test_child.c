/* SPDX-License-Identifier: Apache-2.0 */
#include "test_child.h"

#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/memfd.h"
#include "opencl/device_open.h"

#define REPORT_MS 60000

char *test_make_directory(void)
{
    const char *parent = getenv("TMPDIR");
    char *path = NULL;
    assert_true(asprintf(&path, "%s/hac-test-XXXXXX", parent != NULL ? parent : "/tmp") > 0);
    assert_non_null(mkdtemp(path));
    return path;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st, (void)flag, (void)ftw;
    return remove(path);
}

void test_remove_directory(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free((char *)(uintptr_t)path);
}

test_setup test_defaults;

int test_make_directories(void **state)
{
    (void)state;
    test_defaults =
        (test_setup){.program_directory = test_make_directory(), .scratch_directory = test_make_directory()};
    return 0;
}

int test_remove_directories(void **state)
{
    (void)state;
    test_remove_directory(test_defaults.program_directory);
    test_remove_directory(test_defaults.scratch_directory);
    return 0;
}

test_child *test_start(const char *mode)
{
    int pair[2];
    test_child *child = calloc(1, sizeof *child);
    assert_non_null(child);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    assert_int_equal(hac_decoder_new(&child->decoder, NULL), HAC_OK);
    child->pid = fork();
    assert_true(child->pid >= 0);
    if (child->pid == 0) {
        if (pair[1] == HAC_PARENT_FD)
            fcntl(HAC_PARENT_FD, F_SETFD, 0);
        else
            dup2(pair[1], HAC_PARENT_FD);
        execl(HAC_EXECUTOR_PATH, "hac-executor", mode, NULL);
        _exit(127);
    }
    close(pair[1]);
    child->socket = pair[0];
    return child;
}

void test_child_free(test_child *child)
{
    hac_close(child->socket);
    hac_decoder_free(child->decoder);
    free(child);
}

int test_wait(test_child *child)
{
    int status = -1;
    for (int i = 0; i < 30000; i++) {
        if (waitpid(child->pid, &status, WNOHANG) == child->pid)
            return status;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    kill(child->pid, SIGKILL);
    waitpid(child->pid, &status, 0);
    fail_msg("the child did not leave within 30 s");
    return status;
}

int test_end(test_child *child)
{
    hac_closep(&child->socket);
    int status = test_wait(child);
    test_child_free(child);
    return status;
}

void test_send(test_child *child, const Hac__Executor__Command *command, const int *fds, size_t n_fds)
{
    size_t bytes = 0;
    hac_error err = HAC_ERROR_NONE;
    if (hac_encode(&command->base, hac_frame_body(child->out), &bytes, &err) != HAC_OK ||
        hac_frame_send(child->socket, child->out, bytes, fds, n_fds, &err) != HAC_OK)
        fail_msg("%s", err.message);
}

Hac__Executor__Report *test_expect(test_child *child, Hac__Executor__Report__WhatCase what)
{
    Hac__Executor__Report *report = NULL;
    hac_frame frame;
    hac_error err = HAC_ERROR_NONE;
    struct pollfd p = {.fd = child->socket, .events = POLLIN};
    if (poll(&p, 1, REPORT_MS) <= 0)
        fail_msg("no report within %d ms", REPORT_MS);
    if (hac_frame_receive(child->socket, child->in, &frame, &err) != HAC_OK ||
        hac_decode_report(child->decoder, frame.body, frame.body_bytes, frame.n_fds, &report, &err) != HAC_OK)
        fail_msg("%s", err.message);
    if (report->what_case != what)
        fail_msg("report %d came, not %d: %s", (int)report->what_case, (int)what,
                 report->what_case == HAC__EXECUTOR__REPORT__WHAT_FATAL ? report->fatal : "");
    return report;
}

static void find_platform(const char *platform, hac_device_listing *ret)
{
    hac_device_listing *list = NULL;
    size_t count = 0;
    hac_error err = HAC_ERROR_NONE;
    if (hac_device_list(&list, &count, &err) != HAC_OK)
        fail_msg("%s", err.message);
    size_t i = 0;
    while (i < count && strcmp(list[i].platform, platform) != 0)
        i++;
    if (i == count)
        fail_msg("no device of platform \"%s\"", platform);
    *ret = list[i];
    free(list);
}

const char *test_platform(void)
{
    const char *name = getenv("HAC_TEST_PLATFORM");
    return name != NULL ? name : "Portable Computing Language";
}

void test_send_setup(test_child *child, const test_setup *setup)
{
    hac_device_listing device;
    find_platform(setup->platform != NULL ? setup->platform : test_platform(), &device);
    Hac__Executor__Setup message;
    hac__executor__setup__init(&message);
    message.version = HAC_EXECUTOR_PROTOCOL_VERSION;
    message.platform = device.platform;
    message.device = device.name;
    message.device_index = device.index;
    message.program_directory = (char *)(uintptr_t)(setup->program_directory ? setup->program_directory : "");
    message.scratch_directory = (char *)(uintptr_t)(setup->scratch_directory ? setup->scratch_directory : "");
    message.copy_memory = setup->copy_memory;
    message.jit = setup->jit;
    message.simt = setup->simt;
    message.slowdown = setup->slowdown;
    message.max_loop_iterations = setup->max_loop_iterations;
    message.threads = setup->threads;
    message.affinity = (uint32_t *)(uintptr_t)setup->affinity;
    message.n_affinity = setup->n_affinity;
    Hac__Executor__Command command;
    hac__executor__command__init(&command);
    command.what_case = HAC__EXECUTOR__COMMAND__WHAT_SETUP;
    command.setup = &message;
    test_send(child, &command, NULL, 0);
}

void test_send_build(test_child *child, const char *const *programs, size_t n_programs)
{
    Hac__Executor__Build build;
    hac__executor__build__init(&build);
    build.programs = (char **)(uintptr_t)programs;
    build.n_programs = n_programs;
    Hac__Executor__Command command;
    hac__executor__command__init(&command);
    command.what_case = HAC__EXECUTOR__COMMAND__WHAT_BUILD;
    command.build = &build;
    test_send(child, &command, NULL, 0);
}

double test_build(const test_setup *setup, const char *const *programs, size_t n_programs)
{
    uint64_t start = hac_now_ns();
    test_child *child = test_start("--build");
    test_send_setup(child, setup);
    test_send_build(child, programs, n_programs);
    for (size_t i = 0; i < n_programs; i++) {
        Hac__Executor__Built *built = test_expect(child, HAC__EXECUTOR__REPORT__WHAT_BUILT)->built;
        assert_string_equal(built->program, programs[i]);
        assert_int_equal(built->done, i + 1);
        assert_int_equal(built->of, n_programs);
        if (built->code != HAC_OK)
            fail_msg("%s", built->message);
        if (built->n_failures > 0)
            fail_msg("%s", built->failures[0]);
    }
    Hac__Executor__Report *end = test_expect(child, HAC__EXECUTOR__REPORT__WHAT_BUILD_END);
    assert_string_equal(end->build_end->self_test, "");
    assert_int_equal(test_end(child), 0);
    return hac_seconds_since(start);
}

void *test_add_buffer(test_child *child, uint32_t number, uint64_t bytes)
{
    hac_autoclose int fd = -1;
    void *data = NULL;
    hac_error err = HAC_ERROR_NONE;
    if (hac_memfd_create("test", bytes, false, &fd, &err) != HAC_OK ||
        hac_memfd_map(fd, bytes, true, &data, &err) != HAC_OK)
        fail_msg("%s", err.message);
    Hac__Executor__BufferAdd add;
    hac__executor__buffer_add__init(&add);
    add.buffer = number;
    add.bytes = bytes;
    Hac__Executor__Command command;
    hac__executor__command__init(&command);
    command.what_case = HAC__EXECUTOR__COMMAND__WHAT_BUFFER_ADD;
    command.buffer_add = &add;
    test_send(child, &command, &fd, 1);
    return data;
}
