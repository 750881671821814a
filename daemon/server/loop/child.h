/* SPDX-License-Identifier: Apache-2.0 */
/* A child process of hacd: hac-executor in one of its modes, with a channel on its descriptor 3. `gone` is
 * called once, after the child has been *reaped*: only then may others use memory that the child had mapped.
 * What the child writes to standard output and error goes to hacd's log (child_output.h). */
#ifndef SERVER_CHILD_H
#define SERVER_CHILD_H

#include <stdbool.h>
#include <sys/types.h>
#include <uv.h>

#include "base/error.h"
#include "deferred_close.h"
#include "proto/messages.h"

typedef struct hac_child hac_child;

typedef struct hac_child_events {
    /* A valid report has arrived. hacd kills a child that sends an invalid one. */
    void (*report)(void *context, const Hac__Executor__Report *report);
    /* The child is dead and reaped. `signal` 0: it exited with `status`. `asked`: hacd killed it or closed
     * its channel, for another reason than a broken protocol. The child object is freed after this call. */
    void (*gone)(void *context, int64_t status, int signal, bool asked);
} hac_child_events;

typedef struct hac_child_options {
    const char *program;      /* path of hac-executor */
    const char *mode;         /* "--probe", "--build" or NULL */
    const char *label;        /* device name, for ps and logs; may be NULL */
    uint32_t uid;             /* the user the child works for; HAC_LOG_NOBODY: hacd itself */
    char *const *environment; /* "NAME=value" strings, NULL-terminated */
    hac_fd_owner owner;       /* of descriptors that the child sends */
} hac_child_options;

/* Starts a child. `context` is passed to the events. All children of a loop share one decoder. */
HAC_MUST_USE hac_status hac_child_start(uv_loop_t *loop, const hac_child_options *options,
                                        hac_decoder *decoder, const hac_child_events *events, void *context,
                                        hac_child **ret, hac_error *err);

void hac_child_send(hac_child *child, const Hac__Executor__Command *command, const int *fds, size_t n_fds);

/* For `runs` only: they are sent with the next command, or with hac_child_flush. */
void hac_child_send_later(hac_child *child, const Hac__Executor__Command *command);
void hac_child_flush(hac_child *child);

/* Sends SIGKILL; `gone` follows. Harmless if the child is dying already. */
void hac_child_kill(hac_child *child);

/* Asks the child to exit by closing its channel; `gone` follows, if need be after hac_child_kill. */
void hac_child_leave(hac_child *child);

pid_t hac_child_pid(const hac_child *child);

/* For use in `gone`: why the child ended by itself. That is `fatal`, the child's own report, if the child
 * exited and sent one; else what the child or one of its drivers wrote to standard error right before it
 * exited or called abort(). "": unknown. */
const char *hac_child_last_words(const hac_child *child, const char *fatal);

#endif
