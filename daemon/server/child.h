/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A child process of hacd: hac-executor in one of its modes, with a channel on its descriptor 3. `gone` comes
 * once, after the child has been *reaped*: only then may memory it had mapped be used by others. What it
 * writes on standard output and error goes to hacd's log (child_output.h).
 */
#ifndef SERVER_CHILD_H
#define SERVER_CHILD_H

#include <stdbool.h>
#include <sys/types.h>
#include <uv.h>

#include "base/error.h"
#include "closer.h"
#include "proto/messages.h"

typedef struct hac_child hac_child;

typedef struct hac_child_events {
    /* A valid report has come. One that breaks the protocol kills the child. */
    void (*report)(void *context, const Hac__Executor__Report *report);
    /* It is dead and reaped. `signal` 0: it exited with `status`. `asked`: hacd had killed it or closed its
     * channel, not for breaking the protocol. The child object is freed after this call. */
    void (*gone)(void *context, int64_t status, int signal, bool asked);
} hac_child_events;

typedef struct hac_child_options {
    const char *program;      /* path of hac-executor */
    const char *mode;         /* "--probe", "--build" or NULL */
    const char *label;        /* device name: shown by ps, used in logs; may be NULL */
    uint32_t uid;             /* the user it works for; HAC_LOG_NOBODY: hacd itself */
    char *const *environment; /* "NAME=value", NULL-terminated */
    hac_closer *closer;
} hac_child_options;

/* Starts it. hac_child_events are called with `context`. The decoder is shared by all children of the loop.
 */
HAC_MUST_USE hac_status hac_child_start(uv_loop_t *loop, const hac_child_options *options,
                                        hac_decoder *decoder, const hac_child_events *events, void *context,
                                        hac_child **ret, hac_error *err);

void hac_child_send(hac_child *child, const Hac__Executor__Command *command, const int *fds, size_t n_fds);

/* Of `runs` alone: they go with the next command, or with a flush. */
void hac_child_send_later(hac_child *child, const Hac__Executor__Command *command);
void hac_child_flush(hac_child *child);

/* SIGKILL; `gone` follows. Harmless when it is dying already. */
void hac_child_kill(hac_child *child);

/* Asks it to leave by closing its channel; `gone` follows (or hac_child_kill helps). */
void hac_child_leave(hac_child *child);

pid_t hac_child_pid(const hac_child *child);

/* In `gone`, why it has ended by itself: `fatal`, its own report, if it exited and there is one; else what
 * it, or a driver in it, wrote on standard error right before it exited or called abort(). "": nothing is
 * known. */
const char *hac_child_last_words(const hac_child *child, const char *fatal);

#endif
