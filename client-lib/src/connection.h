/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One connection to hacd: requests out, responses in, and who waits for which.
 *
 * Every request has a serial and one final answer. Four ways to ask:
 *   - hac_client_call: blocks until the answer is there (and takes in whatever else arrives meanwhile);
 *   - hac_client_ask: the answer comes while something else is waited for;
 *   - hac_client_tell: nobody waits; the serial carries TELL, and its answer is dropped;
 *   - jobs (jobs.h) lie in a table by their request's serial.
 * What arrives is taken in by hac_client_receive alone, one frame at a time. A message is used up before any
 * callback of the caller's runs, because a callback may call back into the library, which then receives
 * again. The same goes for sending: while a full socket is waited for, responses are taken in, so that
 * neither side waits for the other.
 *
 * An error of the connection is final: it is kept, the socket is shut down (but stays open, so that an event
 * loop sees it readable), and all that wait are told.
 */
#ifndef CLIENT_CONNECTION_H
#define CLIENT_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <hac/hac.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "buffers.h"
#include "proto/frame.h"
#include "proto/messages.h"
#include "table.h"

/* What hac_client_call brings back; which member counts follows from the request. */
typedef struct hac_reply {
    hac_mapping *mapping; /* Buffer, SplitDone with one: a user of it */
    char *text;           /* Text, GraphDone, SplitDone with data: malloc'ed, NUL-terminated */
    uint64_t bytes;       /* SplitDone: of the rows, in `mapping` or `text`; GraphDone: of `text` */
    uint64_t job, split;  /* SplitDone */
    bool enough;          /* SplitDone */
    uint32_t version;     /* Hello */
    char software[64];    /* Hello */
} hac_reply;

/* A request that waits for its answer; lives with who asked. */
typedef struct hac_call {
    LIST_ENTRY(hac_call) waiting;
    uint64_t serial;
    Hac__Client__Response__WhatCase expected;
    hac_mapping *growing; /* the buffer that a BufferGrow is about, else NULL */
    bool answered;
    bool dropped; /* nobody waits for it: it is freed when it is answered */
    hac_status status;
    hac_error *err;
    hac_reply reply;
} hac_call;

TAILQ_HEAD(hac_job_list, hac_job);

struct hac_client {
    unsigned references; /* the caller's, and one of every buffer and job handle */
    int socket;
    char *path;
    uint64_t serial; /* the last one used */
    hac_status broken;
    hac_error broken_error;
    hac_decoder *decoder;
    uint8_t *send_frame; /* HAC_FRAME_MAX bytes; NULL while a send waits, which then owns it */
    uint8_t *receive_frame;
    double retry_after; /* of the last refusal, in seconds: asking again may help; 0: it would not */
    bool soon;          /* what was waited for last came soon: the next one is waited for awake */
    LIST_HEAD(, hac_call) calls;
    hac_mappings mappings;
    /* jobs.c */
    hac_table jobs_by_serial, jobs_by_id;
    struct hac_job_list flying; /* not ended */
    struct hac_job_list spare;  /* freed handles, for the next job */
    size_t n_spare;
    uint64_t quick_bytes; /* of small jobs' answers that are under way */
};

/* A client on a connected, non-blocking socket, which it owns from here on (also on failure). */
HAC_MUST_USE hac_status hac_client_new(int socket, const char *path, hac_client **ret, hac_error *err);

hac_client *hac_client_ref(hac_client *client);
void hac_client_unref(hac_client *client);
HAC_DEFINE_CLEANUP(hac_client *, hac_client_unref)

/* HAC_OK, or the error that ended the connection. */
HAC_MUST_USE hac_status hac_client_check(const hac_client *client, hac_error *err);

/* Ends the connection with this error, and all that waits on it. */
void hac_client_break(hac_client *client, hac_status status, const char *message);

uint64_t hac_client_next_serial(hac_client *client);

/* Sends a request whose serial is set; waits while the socket is full. Descriptors are borrowed. */
HAC_MUST_USE hac_status hac_client_send(hac_client *client, const Hac__Client__Request *request,
                                        const int *fds, size_t n_fds, hac_error *err);

/*
 * Waits for one frame, until `deadline_ns` (hac_now_ns; 0: does not wait, UINT64_MAX: without limit), and
 * takes it in. HAC_AGAIN: none has come.
 */
HAC_MUST_USE hac_status hac_client_receive(hac_client *client, uint64_t deadline_ns, hac_error *err);

/* Asks and waits for an answer of kind `expected`. ret NULL: an answer without content. */
HAC_MUST_USE hac_status hac_client_call(hac_client *client, Hac__Client__Request *request,
                                        Hac__Client__Response__WhatCase expected, uint64_t deadline_ns,
                                        hac_reply *ret, hac_error *err);

/* The same with a descriptor, which is borrowed. */
HAC_MUST_USE hac_status hac_client_call_fd(hac_client *client, Hac__Client__Request *request, int fd,
                                           Hac__Client__Response__WhatCase expected, hac_reply *ret,
                                           hac_error *err);

/* hac_client_call of a BufferGrow. */
HAC_MUST_USE hac_status hac_client_call_grow(hac_client *client, Hac__Client__Request *request,
                                             hac_mapping *mapping, hac_error *err);

/*
 * Asks without waiting: `call`, with its members from `expected` to `err` set, must stay where it is until
 * its `answered` is true. Then its status counts (its message is in call->err), and its reply is the
 * caller's. `fd` (-1: none) goes with it, borrowed.
 */
HAC_MUST_USE hac_status hac_client_ask(hac_client *client, hac_call *call, Hac__Client__Request *request,
                                       int fd, hac_error *err);
/* Nobody waits for this one any more, or it is answered: frees its reply. */
void hac_client_forget(hac_client *client, hac_call *call);

/* The same for a call that is malloc'ed, which may be unanswered: it is the client's to free. */
void hac_client_drop(hac_client *client, hac_call *call);

/* Asks without caring for the answer. */
void hac_client_tell(hac_client *client, Hac__Client__Request *request);

/* The error that a Failure says. */
hac_status hac_failure(const Hac__Client__Failure *failure, hac_error *err);

/* Whether the protocol takes `name`: 1 to 255 bytes of UTF-8. */
bool hac_is_name(const char *name);

/* protobuf-c's fields are not const, but packing only reads. */
static inline char *hac_field(const char *text)
{
    return (char *)(uintptr_t)(text == NULL ? "" : text);
}

#endif
