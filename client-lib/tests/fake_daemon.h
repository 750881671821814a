/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hacd for the tests of libhac: one thread a connection, in the test's process. It sorts u32 and i64 keys
 * (qsort is the oracle), keeps a small pool, and does what a test's hook tells it to do instead.
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

enum { FAKE_BUFFERS = 64 /* and none has the number 0 */, FAKE_JOBS = 4096, FAKE_REQUESTS = 32 };

typedef struct fake_daemon fake_daemon;

typedef struct fake_session {
    fake_daemon *daemon;
    int socket;
    bool hang_up; /* set by a hook: close after this request */
    uint8_t send_frame[HAC_FRAME_MAX];
    bool known[FAKE_BUFFERS]; /* buffers that the client has mapped */
} fake_session;

/* Sees each request first; true: it has answered. */
typedef bool fake_hook(fake_session *session, const Hac__Client__Request *request, hac_frame *frame);

typedef struct fake_buffer {
    int fd; /* -1: none */
    uint64_t bytes;
    bool in_use;
} fake_buffer;

typedef struct fake_job {
    uint32_t result; /* buffer */
    uint64_t bytes;
    bool splits, rows, last; /* input in splits; which come back at once; all have come */
    uint64_t n_splits;
    uint64_t waiting; /* serial of a `wait` that is not answered */
    uint8_t *text;    /* what all sets held */
} fake_job;

/* What a split holds; the pointers are into malloc'ed `memory`. */
typedef struct fake_split {
    uint8_t *memory;
    hac_split_header header;
    const uint64_t *starts;
    const uint8_t *text;
} fake_split;

/* Starts one that listens at fake_path. */
fake_daemon *fake_start(fake_hook *hook, void *context);
void fake_stop(fake_daemon *daemon);
const char *fake_path(const fake_daemon *daemon);
void *fake_context(const fake_daemon *daemon);
/* What jobs that are accepted from now on are told of splits: so many bytes, and four times as much where
 * they stay in a file. */
void fake_advise(fake_daemon *daemon, uint64_t split_bytes);

/* Serves the first connection to `listener`, to its end: the life of a child process that a test forks, so
 * that the daemon's allocations are none of the test's. Aborts when libhac breaks the protocol. */
void fake_serve_one(int listener, fake_hook *hook);

/* A client of it; asserts that it connects. */
hac_client *fake_connect(const fake_daemon *daemon);

/* Both for one test, with its descriptors counted: the bodies of a setup and its teardown. */
int fake_setup(void **state, fake_hook *hook, fake_daemon **ret_daemon, hac_client **ret_client);
int fake_teardown(void **state, fake_daemon *daemon, hac_client *client);

/* Requests of a kind that have come so far. */
unsigned fake_count(fake_daemon *daemon, Hac__Client__Request__WhatCase what);

/* Answers. The raw form sends what hac_encode would refuse, too. */
void fake_send(fake_session *session, const Hac__Client__Response *response, const int *fds, size_t n_fds);
void fake_send_ok(fake_session *session, uint64_t serial);
void fake_send_failure(fake_session *session, uint64_t serial, hac_status code, const char *message);
/* With a hint when to try again, in seconds. */
void fake_send_refusal(fake_session *session, uint64_t serial, hac_status code, const char *message,
                       double retry_after);
void fake_send_text(fake_session *session, uint64_t serial, const char *text);
void fake_send_buffer(fake_session *session, uint64_t serial, uint32_t id, uint64_t bytes, int fd);
void fake_send_accepted(fake_session *session, uint64_t serial, uint64_t job);
void fake_send_event(fake_session *session, uint64_t job, double fraction, const char *stage);
/* fd -1: none */
void fake_send_done(fake_session *session, uint64_t serial, Hac__Client__JobDone *done, int fd);
/* `values`: as hac_job_op_values reads them. */
void fake_send_graph_done(fake_session *session, uint64_t serial, uint64_t job, const void *values,
                          size_t bytes);
void fake_send_data(fake_session *session, uint64_t serial, uint64_t job, const void *data, size_t bytes);

/* rows NULL: none. More than 32 KiB of them go in a buffer. */
void fake_send_split_done(fake_session *session, uint64_t serial, uint64_t job, uint64_t split,
                          const void *rows, size_t bytes, bool enough);

/* A split as executors find it; aborts when its layout is wrong. */
fake_split fake_read_split(fake_daemon *daemon, const Hac__Client__AppendSplit *ask);
/* Likewise the bytes of one that lies in a file; to be freed. */
uint8_t *fake_read_range(const Hac__Client__AppendSplit *ask, const hac_frame *frame);
fake_job *fake_find_job(fake_daemon *daemon, uint64_t id);
/* Ends a job of splits: the answer to `wait`, if it has come. failure NULL: it is done. */
void fake_end_job(fake_session *session, uint64_t id, const char *failure);
/* Writes into a pool buffer, as an executor would; aborts when it is not in use. */
void fake_write(fake_daemon *daemon, uint32_t buffer, uint64_t offset, const void *data, size_t bytes);
/* Pool buffers that are not given back. */
unsigned fake_in_use(fake_daemon *daemon);

/* What the daemon does without a hook. */
void fake_default(fake_session *session, const Hac__Client__Request *request, hac_frame *frame);

#endif
