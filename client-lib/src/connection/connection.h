/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One connection to hacd: sends requests, receives responses, and matches each response to its request.
 *
 * Every request has a serial and gets one final response. There are four kinds of requests:
 *   - hac_client_call blocks until the response arrives, and processes other responses meanwhile;
 *   - hac_client_ask returns at once; the response arrives during a later call;
 *   - hac_client_tell ignores the response: the serial carries TELL, and the client drops the response;
 *   - jobs (jobs.h) are in a table with the serial of their request as key.
 * Only hac_client_receive processes responses, one frame at a time. It finishes with a message before it runs
 * a callback of the caller, because a callback may call the library, which then receives again. A send to a
 * full socket also processes responses while it waits, so that client and hacd never wait for each other.
 *
 * An error of the connection is final. The client keeps the error, shuts the socket down, and fails all
 * waiting requests. The socket stays open, so that an event loop sees it as readable. In a forked child of
 * the process that connected, all requests fail, and the socket is not shut down.
 */
#ifndef CLIENT_CONNECTION_H
#define CLIENT_CONNECTION_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include <hac/hac.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "id_table.h"
#include "mappings.h"
#include "proto/frame.h"
#include "proto/messages.h"

/* The result of hac_client_call. The kind of the request decides which members are set. */
typedef struct hac_reply {
    hac_mapping *mapping; /* Buffer, SplitDone with a buffer: the reply counts as a user of the mapping */
    char *text;           /* Text, GraphDone, SplitDone with data: malloc'ed, NUL-terminated */
    size_t text_bytes;
    uint64_t bytes; /* SplitDone: size of the rows in `mapping` or `text`; GraphDone, Text: size of `text` */
    uint64_t job, split; /* SplitDone */
    bool enough;         /* SplitDone */
    uint32_t version;    /* Hello */
    char software[64];   /* Hello */
} hac_reply;

/* A request that waits for its response. The caller of the request owns the structure. */
typedef struct hac_call {
    LIST_ENTRY(hac_call) waiting;
    uint64_t serial;
    Hac__Client__Response__WhatCase expected;
    hac_mapping *growing; /* the buffer that a BufferGrow grows, else NULL */
    bool answered;
    bool dropped; /* no caller waits for the response: the client frees the call when the response arrives */
    hac_status status;
    hac_error *err;
    hac_reply reply;
} hac_call;

TAILQ_HEAD(hac_job_list, hac_job);

/* Callbacks of the module that manages the jobs (jobs/jobs.c). The connection does not depend on that module.
 * */
typedef struct hac_client_handler {
    /* Processes a response about a job, that is, a response to no call. HAC_PROTOCOL ends the connection.
     * Runs callbacks. */
    hac_status (*take)(hac_client *client, const Hac__Client__Response *response, hac_frame *frame,
                       hac_error *err);
    /* Ends all jobs because the connection has ended. Runs callbacks. */
    void (*broken)(hac_client *client, const hac_error *why);
    /* Frees the spare handles and the job tables. */
    void (*clear)(hac_client *client);
} hac_client_handler;

struct hac_client {
    const hac_client_handler *handler;
    unsigned references; /* one for the caller, and one for every buffer and job handle */
    int socket;
    char *path;
    uint64_t serial; /* the last serial used */
    hac_status broken;
    hac_error broken_error;
    hac_decoder *decoder;
    uint8_t *send_frame; /* HAC_FRAME_MAX bytes; NULL while a waiting send owns the frame */
    uint8_t *receive_frame;
    double retry_after; /* seconds after which the last refused request may succeed; 0: never */
    bool soon;          /* the last awaited response came quickly: the next wait spins before it sleeps */
    LIST_HEAD(, hac_call) calls;
    hac_mappings mappings;
    /* jobs/jobs.c */
    hac_id_table jobs_by_serial, jobs_by_id;
    struct hac_job_list flying; /* jobs that have not ended */
    struct hac_job_list spare;  /* freed handles, for reuse by the next jobs */
    size_t n_spare;
    uint64_t quick_bytes; /* total size of the outstanding results of small jobs */
    pid_t process;        /* that connected */
    /* connection/release.c */
    pthread_mutex_t release_lock; /* of the members below, which any thread may use */
    size_t n_exports;             /* exported arrays that have not been released */
    struct hac_release *released; /* what has still to be ended */
    bool freed;                   /* hac_client_free was called */
    bool owned;                   /* a thread is ending what was made from a freed client */
    bool closed;                  /* the connection of a freed client has ended */
};

/* Creates a client on a connected, non-blocking socket. The function takes ownership of the socket, also on
 * failure. */
HAC_MUST_USE hac_status hac_client_new(int socket, const char *path, const hac_client_handler *handler,
                                       hac_client **ret, hac_error *err);

hac_client *hac_client_ref(hac_client *client);
void hac_client_unref(hac_client *client);
HAC_DEFINE_CLEANUP(hac_client *, hac_client_unref)

/* True if this process is a forked child of the one that connected. */
bool hac_client_is_inherited(const hac_client *client);

/* Returns HAC_OK, or the error that ended the connection. */
HAC_MUST_USE hac_status hac_client_check(const hac_client *client, hac_error *err);

/* Ends the connection with this error, and fails all waiting requests. */
void hac_client_break(hac_client *client, hac_status status, const char *message);

uint64_t hac_client_next_serial(hac_client *client);

/* Sends a request whose serial is set. Waits while the socket is full. The caller keeps the descriptors. */
HAC_MUST_USE hac_status hac_client_send(hac_client *client, const Hac__Client__Request *request,
                                        const int *fds, size_t n_fds, hac_error *err);

/*
 * Waits for one frame until `deadline_ns` and processes it. `deadline_ns` is on the clock of hac_now_ns; 0
 * does not wait, and UINT64_MAX waits without limit. HAC_AGAIN: no frame has arrived.
 */
HAC_MUST_USE hac_status hac_client_receive(hac_client *client, uint64_t deadline_ns, hac_error *err);

/* Sends a request and waits for a response of kind `expected`. `ret` may be NULL for a response without
 * content. */
HAC_MUST_USE hac_status hac_client_call(hac_client *client, Hac__Client__Request *request,
                                        Hac__Client__Response__WhatCase expected, uint64_t deadline_ns,
                                        hac_reply *ret, hac_error *err);

/* hac_client_call of a request with a descriptor. The caller keeps the descriptor. */
HAC_MUST_USE hac_status hac_client_call_fd(hac_client *client, Hac__Client__Request *request, int fd,
                                           Hac__Client__Response__WhatCase expected, hac_reply *ret,
                                           hac_error *err);

/* hac_client_call of a BufferGrow. */
HAC_MUST_USE hac_status hac_client_call_grow(hac_client *client, Hac__Client__Request *request,
                                             hac_mapping *mapping, hac_error *err);

/*
 * Sends a request without waiting for the response. The caller sets the members of `call` from `expected` to
 * `err`, and must not move `call` until `answered` is true. Then call->status and call->err contain the
 * result, and the caller owns call->reply. `fd` is sent with the request (-1: none); the caller keeps it.
 */
HAC_MUST_USE hac_status hac_client_ask(hac_client *client, hac_call *call, Hac__Client__Request *request,
                                       int fd, hac_error *err);
/* Stops waiting for the response to `call`, if it has not arrived, and frees the reply. */
void hac_client_forget(hac_client *client, hac_call *call);

/* Does the same as hac_client_forget for a malloc'ed call, and takes ownership of `call`. The client frees an
 * unanswered call when the response arrives. */
void hac_client_drop(hac_client *client, hac_call *call);

/* Sends a request and ignores the response. */
void hac_client_tell(hac_client *client, Hac__Client__Request *request);

/* Gives memory back to hacd, and keeps it mapped. `mapping` may be NULL. */
void hac_client_give_back(hac_client *client, hac_mapping *mapping);

/* Fills in the error from a Failure message and returns its status. */
hac_status hac_failure(const Hac__Client__Failure *failure, hac_error *err);

/* True if `name` is a valid name in the protocol: 1 to 255 bytes of UTF-8. */
bool hac_is_name(const char *name);

/* Removes the const. Fields of protobuf-c are not const, but packing only reads them. */
static inline char *hac_wire_text(const char *text)
{
    return (char *)(uintptr_t)(text == NULL ? "" : text);
}

#endif
