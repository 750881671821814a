/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "base/cleanup.h"
#include "base/text.h"

#define LINE_MAX_BYTES 2048 /* below PIPE_BUF: a line is written whole or not at all */

/* The log is the process's: the one place with state of its own. */
static struct {
    char component[64];
    bool journal;
    atomic_int level;
    atomic_ulong dropped;
} state = {.component = "hac", .level = HAC_LOG_INFO};

static const struct {
    const char *name;
    int priority; /* as in syslog(3) */
} levels[] = {
    [HAC_LOG_ERROR] = {"error", 3},
    [HAC_LOG_WARNING] = {"warning", 4},
    [HAC_LOG_INFO] = {"info", 6},
    [HAC_LOG_DEBUG] = {"debug", 7},
};

/* sd-daemon(3): the service manager names the journal's stream as DEVICE:INODE. */
static bool is_journal(void)
{
    const char *stream = getenv("JOURNAL_STREAM");
    unsigned long long device, inode;
    struct stat st;
    return stream != NULL && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
           fstat(STDERR_FILENO, &st) == 0 && st.st_dev == device && st.st_ino == inode;
}

void hac_log_init(const char *component, hac_log_level level)
{
    hac_utf8_copy_line(state.component, sizeof state.component, component);
    state.journal = is_journal();
    hac_log_set_level(level);
}

void hac_log_set_level(hac_log_level level)
{
    atomic_store_explicit(&state.level, (int)level, memory_order_relaxed);
}

/* Standard error is shared with other processes: O_NONBLOCK there would be theirs, too. */
static bool write_at_once(const char *line, size_t bytes)
{
    struct stat st;
    if (fstat(STDERR_FILENO, &st) < 0)
        return false;
    if (S_ISSOCK(st.st_mode))
        return send(STDERR_FILENO, line, bytes, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)bytes;
    struct pollfd ready = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (poll(&ready, 1, 0) != 1 || (ready.revents & POLLOUT) == 0 || (ready.revents & POLLERR) != 0)
        return false;
    if (S_ISFIFO(st.st_mode)) {
        /* Another writer may fill the pipe after poll. Kernels before 6.4 refuse this for pipes. */
        struct iovec part = {.iov_base = (void *)(uintptr_t)line, .iov_len = bytes};
        ssize_t n = pwritev2(STDERR_FILENO, &part, 1, -1, RWF_NOWAIT);
        if (n >= 0 || errno == EAGAIN || errno == EPIPE)
            return n == (ssize_t)bytes;
    }
    return write(STDERR_FILENO, line, bytes) == (ssize_t)bytes;
}

static bool write_record(hac_log_level level, const char *message)
{
    char line[LINE_MAX_BYTES];
    size_t used = 0;
    if (state.journal)
        used = (size_t)snprintf(line, sizeof line, "<%d>", levels[level].priority);
    int n = snprintf(line + used, sizeof line - used, "%s %s: %s\n", levels[level].name, state.component,
                     message);
    used += (size_t)n;
    return write_at_once(line, used);
}

static void report_dropped(void)
{
    unsigned long dropped = atomic_exchange(&state.dropped, 0);
    if (dropped == 0)
        return;
    char message[96];
    snprintf(message, sizeof message, "%lu lines of this log could not be written and are missing", dropped);
    if (!write_record(HAC_LOG_WARNING, message))
        atomic_fetch_add(&state.dropped, dropped);
}

void hac_log(hac_log_level level, const char *fmt, ...)
{
    if ((unsigned)level > HAC_LOG_DEBUG ||
        (int)level > atomic_load_explicit(&state.level, memory_order_relaxed))
        return;
    int saved = errno;
    char message[LINE_MAX_BYTES - 128]; /* room for the prefix and the component */
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    hac_utf8_copy_line(message, sizeof message, message);
    report_dropped();
    if (!write_record(level, message))
        atomic_fetch_add(&state.dropped, 1);
    errno = saved;
}
