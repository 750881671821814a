/* SPDX-License-Identifier: Apache-2.0 */
#include "interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static const int caught[] = {SIGINT, SIGTERM, SIGHUP};

static struct {
    int event; /* eventfd */
    volatile sig_atomic_t deferred;
    volatile sig_atomic_t count;
    struct {
        volatile sig_atomic_t active;
        int dirfd;
        char name[NAME_MAX + 1];
    } files[HAC_INTERRUPT_FILES];
} state = {.event = -1};

enum { EXIT_INTERRUPTED = 130, EXIT_BROKEN_PIPE = 128 + SIGPIPE };

/* Calls only what a signal handler may call. */
static void remove_files(void)
{
    for (size_t i = 0; i < HAC_INTERRUPT_FILES; i++)
        if (state.files[i].active)
            unlinkat(state.files[i].dirfd, state.files[i].name, 0);
}

/* Calls only what a signal handler may call; ends the process. */
static void leave(void)
{
    static const char message[] = "hacctl: cancelled\n";
    remove_files();
    if (write(STDERR_FILENO, message, sizeof message - 1) < 0) {
        /* there is no one to report this to */
    }
    _exit(EXIT_INTERRUPTED);
}

void hac_interrupt_broken_pipe(void)
{
    remove_files();
    _exit(EXIT_BROKEN_PIPE);
}

static void on_signal(int signal_number)
{
    (void)signal_number;
    int saved = errno;
    if (!state.deferred || state.count >= 1)
        leave();
    state.count = state.count + 1;
    uint64_t one = 1;
    if (write(state.event, &one, sizeof one) < 0) {
        /* a full eventfd is readable, which is all that matters */
    }
    errno = saved;
}

static void caught_set(sigset_t *set)
{
    sigemptyset(set);
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        sigaddset(set, caught[i]);
}

hac_status hac_interrupt_install(hac_error *err)
{
    state.event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (state.event < 0)
        return hac_fail_errno(err, HAC_IO, errno, "cannot prepare for signals");
    struct sigaction action = {.sa_handler = on_signal};
    caught_set(&action.sa_mask);
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) {
        struct sigaction before;
        if (sigaction(caught[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(caught[i], &action, NULL);
    }
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGXFSZ, &ignore, NULL);
    return HAC_OK;
}

int hac_interrupt_fd(void)
{
    return state.event;
}

int hac_interrupt_count(void)
{
    return state.count;
}

void hac_interrupt_defer(int on)
{
    state.deferred = on;
}

int hac_interrupt_keep(int dirfd, const char *name)
{
    for (int i = 0; i < HAC_INTERRUPT_FILES; i++) {
        if (state.files[i].active)
            continue;
        state.files[i].dirfd = dirfd;
        strncpy(state.files[i].name, name, NAME_MAX);
        state.files[i].active = 1;
        return i;
    }
    return -1;
}

void hac_interrupt_drop(int slot)
{
    if (slot >= 0 && slot < HAC_INTERRUPT_FILES)
        state.files[slot].active = 0;
}

void hac_interrupt_block(sigset_t *ret_before)
{
    sigset_t set;
    caught_set(&set);
    sigprocmask(SIG_BLOCK, &set, ret_before);
}

void hac_interrupt_unblock(const sigset_t *before)
{
    sigprocmask(SIG_SETMASK, before, NULL);
}
