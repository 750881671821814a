/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: acts as hacd towards one hac-executor. Every failure fails the test. */
#ifndef EXECUTOR_TEST_CHILD_H
#define EXECUTOR_TEST_CHILD_H

#include <sys/types.h>

#include "base/test_support.h"
#include "parent.h"

typedef struct test_child {
    pid_t pid;
    int socket;
    hac_decoder *decoder;
    uint8_t in[HAC_FRAME_MAX], out[HAC_FRAME_MAX];
} test_child;

/* A fresh directory below TMPDIR. test_remove_directory removes it with everything in it. */
char *test_make_directory(void);
void test_remove_directory(const char *path);

/* Starts hac-executor with one argument or none. */
test_child *test_start(const char *mode);

/* Closes the socket and waits; returns the wait status. */
int test_end(test_child *child);

/* Waits up to 10 s for the child to exit by itself; returns the wait status. */
int test_wait(test_child *child);
void test_child_free(test_child *child);

void test_send(test_child *child, const Hac__Executor__Command *command, const int *fds, size_t n_fds);

/* The next report, within 60 s; it must be `what`. The text of a fatal report is printed. */
Hac__Executor__Report *test_expect(test_child *child, Hac__Executor__Report__WhatCase what);

/* PoCL's platform, or the one that HAC_TEST_PLATFORM names. */
const char *test_platform(void);

/* Sends Setup for the first device of test_platform() (or of the platform named), with these directories. */
typedef struct test_setup {
    const char *program_directory, *scratch_directory, *platform;
    bool copy_memory, jit, simt;
    double slowdown;
    uint32_t max_loop_iterations;
    uint32_t affinity[4];
    size_t n_affinity;
    uint32_t threads;
} test_setup;
void test_send_setup(test_child *child, const test_setup *setup);

/* Setup and teardown of a cmocka group: fresh directories. */
extern test_setup test_defaults;
int test_make_directories(void **state);
int test_remove_directories(void **state);

/* Asks a builder for these programs (none named: all). */
void test_send_build(test_child *child, const char *const *programs, size_t n_programs);

/* Has the programs built (none named: all) and checks that the self-test passed. Returns seconds. */
double test_build(const test_setup *setup, const char *const *programs, size_t n_programs);

/* A memfd of `bytes`, sealed as hacd does it, sent as buffer `number` and mapped here. */
void *test_add_buffer(test_child *child, uint32_t number, uint64_t bytes);

#endif
