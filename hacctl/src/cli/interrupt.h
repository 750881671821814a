/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ctrl-C, SIGTERM and SIGHUP. hacctl takes them in one of two ways:
 *
 * - Normally the process leaves at once: its temporary files are removed, "hacctl: cancelled" goes to
 *   standard error, the exit code is 130. hacd cancels the job when the connection closes. Blocking reads and
 *   writes need not know of signals.
 * - While signals are deferred (hacctl waits for a job), the first one is only counted and makes a descriptor
 *   readable, so that hacctl can cancel the job. A second signal makes the process leave at once.
 *
 * A signal that was ignored when hacctl started (nohup, a shell's background job) stays ignored. SIGPIPE and
 * SIGXFSZ are ignored, so that a write fails with EPIPE or EFBIG. EPIPE of standard output ends the process
 * without a message.
 *
 * The state is static because a signal handler has no other access to it.
 */
#ifndef HACCTL_INTERRUPT_H
#define HACCTL_INTERRUPT_H

#include <signal.h>

#include "base/error.h"

enum { HAC_INTERRUPT_FILES = 4 }; /* temporary files at the same time */

/* Call this once, at start. */
HAC_MUST_USE hac_status hac_interrupt_install(hac_error *err);

/* The reader of standard output has gone: leaves at once as SIGPIPE would, but removes the temporary
 * files. Prints nothing; the exit code is 141. */
_Noreturn void hac_interrupt_broken_pipe(void);

/* A descriptor that is readable once a signal arrived while signals were deferred. */
int hac_interrupt_fd(void);
/* The number of signals that arrived while signals were deferred. */
int hac_interrupt_count(void);
void hac_interrupt_defer(int on);

/*
 * Registers a file that is removed if the process leaves: `name` (at most NAME_MAX bytes) in the directory
 * `dirfd`, which must stay open until the file is dropped. Create, rename or remove a file and register or
 * drop it with the signals blocked, so that no signal arrives in between. Returns a slot, or -1 if all slots
 * are in use.
 */
int hac_interrupt_keep(int dirfd, const char *name);
void hac_interrupt_drop(int slot); /* -1 is allowed */

void hac_interrupt_block(sigset_t *ret_before);
void hac_interrupt_unblock(const sigset_t *before);

#endif
