/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fake hacd for the tests of libhac. The fake daemon runs in the test's process, with one thread for each
 * connection. It sorts u32 and i64 keys (qsort is the oracle) and has a small pool. A test's hook can handle
 * any request in place of the default.
 */
#ifndef TESTS_FAKE_DAEMON_H
#define TESTS_FAKE_DAEMON_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <hac/hac.h>

#include "base/split_layout.h"
#include "base/test_support.h"
#include "proto/frame.h"
#include "proto/messages.h"

enum { FAKE_BUFFERS = 64 /* the number 0 is not used */, FAKE_JOBS = 4096, FAKE_REQUESTS = 32 };

typedef struct fake_daemon fake_daemon;

typedef struct fake_session {
    fake_daemon *daemon;
    int socket;
    bool hang_up; /* a hook sets this to close the connection after the request */
    uint8_t send_frame[HAC_FRAME_MAX];
    char *text; /* the last one sent, and the serial of its request */
    uint64_t text_serial;
    bool known[FAKE_BUFFERS]; /* buffers that the client has mapped */
} fake_session;

/* A hook sees each request first. It returns true if it has handled the request. */
typedef bool fake_hook(fake_session *session, const Hac__Client__Request *request, hac_frame *frame);

typedef struct fake_buffer {
    int fd; /* -1: no memfd */
    uint64_t bytes;
    bool in_use;
} fake_buffer;

typedef struct fake_job {
    uint32_t result; /* number of the result's buffer */
    uint64_t bytes;
    bool splits, rows, last; /* input in splits; rows are returned with each split; the last has come */
    uint64_t n_splits;
    uint64_t waiting; /* serial of an unanswered `wait` */
    uint8_t *text;    /* bytes of all sets */
} fake_job;

/* The content of a split. The pointers point into `memory`, which is malloc'ed. */
typedef struct fake_split {
    uint8_t *memory;
    hac_split_header header;
    const uint64_t *starts;
    const uint8_t *text;
} fake_split;

/* Starts a fake daemon that listens at fake_path. */
fake_daemon *fake_start(fake_hook *hook, void *context);
void fake_stop(fake_daemon *daemon);
const char *fake_path(const fake_daemon *daemon);
void *fake_context(const fake_daemon *daemon);
/* Sets the preferred split size for jobs that are accepted later. Splits that stay in a file get four times
 * the size. */
void fake_advise(fake_daemon *daemon, uint64_t split_bytes);

/* Serves the first connection to `listener` until it ends. A test calls this in a forked child process, so
 * that the daemon's allocations do not count as the test's. Aborts if libhac breaks the protocol. */
void fake_serve_one(int listener, fake_hook *hook);

/* Returns a client of the daemon, and asserts that the client connects. */
hac_client *fake_connect(const fake_daemon *daemon);

/* The bodies of a test's setup and teardown. They start and stop a daemon with a client, and check for leaked
 * descriptors. */
int fake_setup(void **state, fake_hook *hook, fake_daemon **ret_daemon, hac_client **ret_client);
int fake_teardown(void **state, fake_daemon *daemon, hac_client *client);

/* Returns the number of requests of a kind so far. */
unsigned fake_count(fake_daemon *daemon, Hac__Client__Request__WhatCase what);

/* Functions that send responses. The raw form can send messages that hac_encode refuses. */
void fake_send(fake_session *session, const Hac__Client__Response *response, const int *fds, size_t n_fds);
void fake_send_ok(fake_session *session, uint64_t serial);
void fake_send_failure(fake_session *session, uint64_t serial, hac_status code, const char *message);
/* Sends a refusal with the number of seconds after which to retry. */
void fake_send_refusal(fake_session *session, uint64_t serial, hac_status code, const char *message,
                       double retry_after);
void fake_send_text(fake_session *session, uint64_t serial, const char *text);
void fake_send_buffer(fake_session *session, uint64_t serial, uint32_t id, uint64_t bytes, int fd);
void fake_send_accepted(fake_session *session, uint64_t serial, uint64_t job);
void fake_send_event(fake_session *session, uint64_t job, double fraction, const char *stage);
/* `fd` -1: no descriptor */
void fake_send_done(fake_session *session, uint64_t serial, Hac__Client__JobDone *done, int fd);
/* `values`: in the form that hac_job_op_values reads. */
void fake_send_graph_done(fake_session *session, uint64_t serial, uint64_t job, const void *values,
                          size_t bytes);
void fake_send_data(fake_session *session, uint64_t serial, uint64_t job, const void *data, size_t bytes);

/* `rows` NULL: no rows. More than 32 KiB of rows are sent in a buffer. */
void fake_send_split_done(fake_session *session, uint64_t serial, uint64_t job, uint64_t split,
                          const void *rows, size_t bytes, bool enough);

/* Reads a split as an executor does. Aborts if the layout is wrong. */
fake_split fake_read_split(fake_daemon *daemon, const Hac__Client__AppendSplit *ask);
/* Reads the bytes of a split that stays in a file. The caller frees the result. */
uint8_t *fake_read_range(const Hac__Client__AppendSplit *ask, const hac_frame *frame);
fake_job *fake_find_job(fake_daemon *daemon, uint64_t id);
/* Ends a job of splits, and answers an outstanding `wait`. `failure` NULL: the job succeeds. */
void fake_end_job(fake_session *session, uint64_t id, const char *failure);
/* Writes into a pool buffer as an executor does. Aborts if the buffer is not in use. */
void fake_write(fake_daemon *daemon, uint32_t buffer, uint64_t offset, const void *data, size_t bytes);
/* Returns the number of pool buffers that the client has not given back. */
unsigned fake_in_use(fake_daemon *daemon);

/* Handles a request as the daemon does without a hook. */
void fake_default(fake_session *session, const Hac__Client__Request *request, hac_frame *frame);

#endif
