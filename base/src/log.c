/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "log_limit.h"

#define LINE_MAX_BYTES    2048                   /* below PIPE_BUF: a line is written whole or not at all */
#define MESSAGE_MAX_BYTES (LINE_MAX_BYTES - 320) /* room for what stands before and behind it */
#define DEVICE_MAX_BYTES  96
#define JOURNAL_SOCKET    "/run/systemd/journal/socket"

/* The log is the process's: the one place with state of its own. */
static struct {
    char component[64];
    bool journal; /* standard error goes to it */
    int socket;   /* the journal's own protocol; -1: not used */
    struct sockaddr_un address;
    atomic_int level;
    atomic_ulong dropped, lost, left_out, written[HAC_LOG_N_LEVELS];
    pthread_mutex_t mutex; /* of the limit; held for no longer than a look at it takes */
    hac_log_limit limit;
} state = {.component = "hac", .socket = -1, .level = HAC_LOG_INFO, .mutex = PTHREAD_MUTEX_INITIALIZER};

#define HAC_LOG_KIND(constant, name, id, what) [HAC_EVENT_##constant] = {name, id},
static const struct {
    const char *name, *id;
} kinds[] = {HAC_LOG_EVENTS(HAC_LOG_KIND)};
#undef HAC_LOG_KIND

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
    hac_close(state.socket);
    state.socket = -1;
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

/* A record on its way: what is told of it, and its message. */
typedef struct record {
    hac_log_level level;
    hac_log_event event;
    hac_log_subject subject;
    uint64_t left_out; /* records like it before */
    char device[DEVICE_MAX_BYTES];
    char message[MESSAGE_MAX_BYTES];
} record;

/* ---- as a line ---------------------------------------------------------------------------------------- */

/* What the line tells besides the message; nothing of records without a kind. */
static size_t add_fields(const record *r, char *ret, size_t capacity)
{
    if (r->event == HAC_EVENT_OTHER)
        return 0;
    size_t used = (size_t)snprintf(ret, capacity, " [%s", kinds[r->event].name);
    if (r->subject.uid != HAC_LOG_NOBODY)
        used += (size_t)snprintf(ret + used, capacity - used, " user=%u", r->subject.uid);
    if (r->subject.job != 0)
        used +=
            (size_t)snprintf(ret + used, capacity - used, " job=%llu", (unsigned long long)r->subject.job);
    if (r->device[0] != '\0')
        used += (size_t)snprintf(ret + used, capacity - used, " device=%s", r->device);
    return used + (size_t)snprintf(ret + used, capacity - used, "]");
}

static bool write_line(const record *r)
{
    char line[LINE_MAX_BYTES], fields[256];
    size_t used = 0;
    if (state.journal)
        used = (size_t)snprintf(line, sizeof line, "<%d>", levels[r->level].priority);
    fields[add_fields(r, fields, sizeof fields)] = '\0';
    int n = snprintf(line + used, sizeof line - used, "%s %s: %s%s\n", levels[r->level].name, state.component,
                     r->message, fields);
    return write_at_once(line, used + (size_t)n);
}

/* ---- to the journal ----------------------------------------------------------------------------------- */

/* Every value is one line, so that the protocol's simple form holds: NAME=value and a newline. */
static size_t add_journal_fields(const record *r, char *ret, size_t capacity)
{
    size_t used = (size_t)snprintf(ret, capacity,
                                   "MESSAGE=%s\nMESSAGE_ID=%s\nPRIORITY=%d\nSYSLOG_IDENTIFIER=%s\n"
                                   "HAC_EVENT=%s\n",
                                   r->message, kinds[r->event].id, levels[r->level].priority, state.component,
                                   kinds[r->event].name);
    if (r->subject.uid != HAC_LOG_NOBODY)
        used += (size_t)snprintf(ret + used, capacity - used, "HAC_USER=%u\n", r->subject.uid);
    if (r->subject.job != 0)
        used += (size_t)snprintf(ret + used, capacity - used, "HAC_JOB=%llu\n",
                                 (unsigned long long)r->subject.job);
    if (r->device[0] != '\0')
        used += (size_t)snprintf(ret + used, capacity - used, "HAC_DEVICE=%s\n", r->device);
    if (r->left_out != 0)
        used += (size_t)snprintf(ret + used, capacity - used, "HAC_LEFT_OUT=%llu\n",
                                 (unsigned long long)r->left_out);
    return used;
}

/* Its queue is full: the record is lost. libsystemd's sd_journal_send would wait for room. */
static bool is_busy(int error)
{
    return error == EAGAIN || error == ENOBUFS || error == ENOMEM;
}

/* One datagram a record; each names the address, so that a journal that was restarted is found again. */
static bool write_record(const record *r)
{
    char datagram[LINE_MAX_BYTES + 512];
    if (state.socket < 0)
        return write_line(r);
    size_t bytes = add_journal_fields(r, datagram, sizeof datagram);
    ssize_t n = sendto(state.socket, datagram, bytes, MSG_DONTWAIT | MSG_NOSIGNAL,
                       (const struct sockaddr *)&state.address, sizeof state.address);
    if (n == (ssize_t)bytes)
        return true;
    return is_busy(errno) ? false : write_line(r); /* nobody there */
}

void hac_log_to_journal(void)
{
    const char *path = getenv("HAC_JOURNAL_SOCKET");
    if (path == NULL && is_journal())
        path = JOURNAL_SOCKET;
    if (path == NULL || strlen(path) >= sizeof state.address.sun_path)
        return;
    state.address = (struct sockaddr_un){.sun_family = AF_UNIX};
    strcpy(state.address.sun_path, path);
    if (state.socket < 0)
        state.socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/* ---- records ------------------------------------------------------------------------------------------ */

static bool is_shown(hac_log_level level)
{
    return (unsigned)level <= HAC_LOG_DEBUG &&
           (int)level <= atomic_load_explicit(&state.level, memory_order_relaxed);
}

static void report_lost(void)
{
    unsigned long dropped = atomic_exchange(&state.dropped, 0);
    if (dropped == 0)
        return;
    record r = {HAC_LOG_WARNING, HAC_EVENT_LOST, {.uid = HAC_LOG_NOBODY}, 0, "", ""};
    snprintf(r.message, sizeof r.message, "%lu records of this log could not be written and are missing",
             dropped);
    if (!write_record(&r))
        atomic_fetch_add(&state.dropped, dropped);
}

static void put(record *r)
{
    hac_utf8_copy_line(r->message, sizeof r->message, r->message);
    if (r->subject.device != NULL)
        hac_utf8_copy_line(r->device, sizeof r->device, r->subject.device);
    report_lost();
    if (write_record(r)) {
        atomic_fetch_add_explicit(&state.written[r->level], 1, memory_order_relaxed);
        return;
    }
    atomic_fetch_add(&state.dropped, 1);
    atomic_fetch_add(&state.lost, 1);
}

/* Whether its user may cause one more of them now. */
static bool is_within_limit(record *r)
{
    pthread_mutex_lock(&state.mutex);
    bool may = hac_log_limit_take(&state.limit, r->subject.uid, r->event, hac_now_ns(), &r->left_out);
    pthread_mutex_unlock(&state.mutex);
    if (!may)
        atomic_fetch_add_explicit(&state.left_out, 1, memory_order_relaxed);
    return may;
}

void hac_log_record(hac_log_level level, hac_log_event event, const hac_log_subject *subject, const char *fmt,
                    ...)
{
    if (!is_shown(level) || (unsigned)event >= HAC_LOG_N_EVENTS)
        return;
    int saved = errno;
    record r = {.level = level, .event = event, .subject = {.uid = HAC_LOG_NOBODY}};
    if (subject != NULL)
        r.subject = *subject;
    if (is_within_limit(&r)) {
        va_list args;
        va_start(args, fmt);
        int n = vsnprintf(r.message, sizeof r.message, fmt, args);
        va_end(args);
        if (r.left_out > 0 && n >= 0 && (size_t)n < sizeof r.message)
            snprintf(r.message + n, sizeof r.message - (size_t)n, " (%llu more like it were left out)",
                     (unsigned long long)r.left_out);
        put(&r);
    }
    errno = saved;
}

void hac_log(hac_log_level level, const char *fmt, ...)
{
    if (!is_shown(level))
        return;
    int saved = errno;
    record r = {.level = level, .event = HAC_EVENT_OTHER, .subject = {.uid = HAC_LOG_NOBODY}};
    va_list args;
    va_start(args, fmt);
    vsnprintf(r.message, sizeof r.message, fmt, args);
    va_end(args);
    put(&r);
    errno = saved;
}

/* ---- what is missing ---------------------------------------------------------------------------------- */

static void report_left_out(const hac_log_limit_entry *entry)
{
    record r = {.level = HAC_LOG_WARNING,
                .event = HAC_EVENT_LEFT_OUT,
                .subject = {.uid = entry->uid},
                .left_out = entry->left_out};
    if (!is_shown(r.level))
        return;
    snprintf(r.message, sizeof r.message, "%llu more records of kind %s were left out",
             (unsigned long long)entry->left_out,
             entry->event < HAC_LOG_N_EVENTS ? kinds[entry->event].name : "any");
    put(&r);
}

void hac_log_report(bool all)
{
    hac_log_limit_entry entry;
    for (;;) {
        pthread_mutex_lock(&state.mutex);
        bool any = hac_log_limit_collect(&state.limit, hac_now_ns(), all, &entry);
        pthread_mutex_unlock(&state.mutex);
        if (!any)
            break;
        report_left_out(&entry);
    }
    report_lost();
}

void hac_log_count(hac_log_counts *ret)
{
    for (unsigned i = 0; i < HAC_LOG_N_LEVELS; i++)
        ret->written[i] = atomic_load_explicit(&state.written[i], memory_order_relaxed);
    ret->left_out = atomic_load_explicit(&state.left_out, memory_order_relaxed);
    ret->lost = atomic_load_explicit(&state.lost, memory_order_relaxed);
}

const char *hac_log_level_name(hac_log_level level)
{
    return levels[level].name;
}
