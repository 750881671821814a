/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ctrl-C, SIGTERM and SIGHUP. Two ways to take them:
 *
 * - Normally the process leaves at once with exit code 130, "hacctl: cancelled" on standard error and its
 *   temporary files removed; hacd cancels the job of a connection that has gone. No blocking read or write
 * has to know of signals, and none can miss one.
 * - While deferred (hacctl waits for a job), a signal is only counted and makes a descriptor readable, so
 * that the job can be cancelled properly. A second signal leaves at once after all.
 *
 * A signal that was ignored when hacctl started (nohup, a shell's background job) stays ignored. SIGPIPE and
 * SIGXFSZ are ignored: a write then fails with EPIPE or EFBIG, which becomes a message, and of standard
 * output a quiet end.
 *
 * The state is static: a signal handler has nothing else.
 */
#ifndef HACCTL_INTERRUPT_H
#define HACCTL_INTERRUPT_H

#include <signal.h>

#include "base/error.h"

enum { HAC_INTERRUPT_FILES = 4 }; /* temporary files at a time */

/* Once, at start. */
HAC_MUST_USE hac_status hac_interrupt_install(hac_error *err);

/* Nobody reads what is written any more: leaves at once as SIGPIPE would make it leave, but with the
 * temporary files removed: nothing on standard error, exit code 141. */
_Noreturn void hac_interrupt_broken_pipe(void);

/* Readable once a signal has come while deferred. */
int hac_interrupt_fd(void);
/* Signals that came while deferred. */
int hac_interrupt_count(void);
void hac_interrupt_defer(int on);

/*
 * Files to remove on the way out: `name` (at most NAME_MAX bytes) in the directory `dirfd`, which must stay
 * open until the file is dropped. To leave no gap between making, renaming or removing a file and saying so,
 * do both with the signals blocked. Returns a slot, or -1 when all are in use.
 */
int hac_interrupt_keep(int dirfd, const char *name);
void hac_interrupt_drop(int slot); /* -1 is allowed */

void hac_interrupt_block(sigset_t *ret_before);
void hac_interrupt_unblock(const sigset_t *before);

#endif
