/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: plays hacd to one hac-executor. Whatever goes wrong fails the test. */
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

/* A fresh directory of ours below TMPDIR; it and all in it go with test_remove_directory. */
char *test_make_directory(void);
void test_remove_directory(const char *path);

/* Starts hac-executor with one argument or none. */
test_child *test_start(const char *mode);

/* Closes the socket and waits; returns the wait status. */
int test_end(test_child *child);

/* Waits for the child to die by itself (10 s); returns the wait status. */
int test_wait(test_child *child);
void test_child_free(test_child *child);

void test_send(test_child *child, const Hac__Executor__Command *command, const int *fds, size_t n_fds);

/* The next report (60 s), which must be `what`. A fatal report's text is printed. */
Hac__Executor__Report *test_expect(test_child *child, Hac__Executor__Report__WhatCase what);

/* PoCL's, or what HAC_TEST_PLATFORM says. */
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

/* cmocka's signatures, of a group: a setup with fresh directories. */
extern test_setup test_usual;
int test_make_directories(void **state);
int test_remove_directories(void **state);

/* Asks a builder for these programs (none named: all). */
void test_send_build(test_child *child, const char *const *programs, size_t n_programs);

/* Has the programs built (none named: all); checks that the self-test passed. Returns seconds. */
double test_build(const test_setup *setup, const char *const *programs, size_t n_programs);

/* A memfd of `bytes` sealed as hacd does it, sent as buffer `number` and mapped here. */
void *test_add_buffer(test_child *child, uint32_t number, uint64_t bytes);

#endif
