/* SPDX-License-Identifier: Apache-2.0 */
#include "service_manager.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"

#define PINGS_PER_WATCHDOG 4   /* with two, a slow turn of the loop would already trip the watchdog */
#define RETRY_MS           100 /* for a state or status that the manager did not accept */
#define STATUS_SECONDS     1.0
#define MESSAGE_MAX        256

typedef enum manager_state { STARTING, READY, RELOADING, STOPPING } manager_state;

struct hac_service_manager {
    int socket; /* -1: there is no service manager */
    struct sockaddr_un address;
    socklen_t address_bytes;
    manager_state state;
    bool told; /* the manager has accepted the state */
    uint64_t reload_ns;
    double stop_seconds;
    char status[MESSAGE_MAX];
    bool status_told;
    uint64_t status_ns;
    uv_timer_t watchdog, retry;
};

/* ---- messages ----------------------------------------------------------------------------------------- */

static bool send_message(hac_service_manager *n, const char *text)
{
    return sendto(n->socket, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL,
                  (const struct sockaddr *)&n->address, n->address_bytes) >= 0;
}

static bool send_state(hac_service_manager *n)
{
    char text[MESSAGE_MAX];
    switch (n->state) {
    case STARTING:
        return true;
    case READY:
        return send_message(n, "READY=1");
    case RELOADING:
        snprintf(text, sizeof text, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, n->reload_ns / 1000);
        return send_message(n, text);
    case STOPPING:
        snprintf(text, sizeof text, "STOPPING=1\nEXTEND_TIMEOUT_USEC=%.0f", n->stop_seconds * 1e6);
        return send_message(n, text);
    }
    return true;
}

static void send_pending(hac_service_manager *n)
{
    if (!n->told)
        n->told = send_state(n);
    if (!n->status_told && hac_seconds_since(n->status_ns) >= STATUS_SECONDS) {
        char text[MESSAGE_MAX + 8];
        snprintf(text, sizeof text, "STATUS=%s", n->status);
        n->status_told = send_message(n, text);
        if (n->status_told)
            n->status_ns = hac_now_ns();
    }
}

static void on_retry(uv_timer_t *timer)
{
    hac_service_manager *n = timer->data;
    send_pending(n);
    if (n->told && n->status_told)
        uv_timer_stop(timer);
}

/* Sends what has changed, and retries what the manager does not accept now. */
static void tell(hac_service_manager *n)
{
    send_pending(n);
    if ((!n->told || !n->status_told) && !uv_is_active((uv_handle_t *)&n->retry) &&
        !uv_is_closing((uv_handle_t *)&n->retry))
        uv_timer_start(&n->retry, on_retry, RETRY_MS, RETRY_MS);
}

static void on_watchdog(uv_timer_t *timer)
{
    send_message(timer->data, "WATCHDOG=1");
}

/* ---- the environment ---------------------------------------------------------------------------------- */

/* A path, or @NAME for an abstract socket. */
static bool parse_address(const char *text, struct sockaddr_un *ret, socklen_t *ret_bytes)
{
    size_t length = strlen(text);
    if ((text[0] != '/' && text[0] != '@') || length < 2 || length >= sizeof ret->sun_path)
        return false;
    *ret = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(ret->sun_path, text, length);
    *ret_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + 1);
    if (text[0] == '@') {
        ret->sun_path[0] = '\0';
        (*ret_bytes)--; /* abstract names are not NUL-terminated */
    }
    return true;
}

/* Microseconds; 0: no watchdog, or one that is meant for another process. */
static uint64_t parse_watchdog(void)
{
    const char *interval = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
    char *end = NULL;
    if (interval == NULL || (pid != NULL && strtol(pid, NULL, 10) != (long)getpid()))
        return 0;
    errno = 0;
    uint64_t value = strtoull(interval, &end, 10);
    if (errno != 0 || end == interval || *end != '\0' || interval[0] == '-') {
        hac_log(HAC_LOG_WARNING, "WATCHDOG_USEC=%s is not a number: no watchdog", interval);
        return 0;
    }
    return value;
}

static hac_status open_socket(hac_service_manager *n, hac_error *err)
{
    const char *path = getenv("NOTIFY_SOCKET");
    if (path == NULL)
        return HAC_OK;
    if (!parse_address(path, &n->address, &n->address_bytes)) {
        hac_log(HAC_LOG_WARNING, "NOTIFY_SOCKET=%s is not a Unix socket: the service manager is told nothing",
                path);
        return HAC_OK;
    }
    n->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    return n->socket >= 0 ? HAC_OK : hac_fail_errno(err, HAC_IO, errno, "cannot make a socket");
}

hac_status hac_service_manager_new(uv_loop_t *loop, hac_service_manager **ret, hac_error *err)
{
    hac_service_manager *n = calloc(1, sizeof *n);
    if (n == NULL)
        return hac_fail_no_memory(err);
    n->socket = -1;
    n->told = n->status_told = true;
    hac_status status = open_socket(n, err);
    if (status != HAC_OK) {
        free(n);
        return status;
    }
    uint64_t interval = parse_watchdog(), pause_ms = interval / PINGS_PER_WATCHDOG / 1000;
    /* children must neither notify in hacd's name nor be expected to send pings */
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
    uv_timer_init(loop, &n->watchdog);
    uv_timer_init(loop, &n->retry);
    uv_unref((uv_handle_t *)&n->watchdog);
    uv_unref((uv_handle_t *)&n->retry);
    n->watchdog.data = n->retry.data = n;
    if (n->socket >= 0 && interval > 0)
        uv_timer_start(&n->watchdog, on_watchdog, 0, pause_ms > 0 ? pause_ms : 1);
    *ret = n;
    return HAC_OK;
}

void hac_service_manager_free(hac_service_manager *notify)
{
    if (notify == NULL)
        return;
    hac_close(notify->socket);
    free(notify);
}

/* ---- states ------------------------------------------------------------------------------------------- */

static void enter(hac_service_manager *n, manager_state state)
{
    if (n->socket < 0 || n->state == state || n->state == STOPPING)
        return;
    n->state = state;
    n->told = false;
    tell(n);
}

void hac_service_manager_ready(hac_service_manager *notify)
{
    enter(notify, READY);
}

void hac_service_manager_reloading(hac_service_manager *notify)
{
    if (notify->state != READY)
        return;
    notify->reload_ns = hac_now_ns();
    enter(notify, RELOADING);
}

void hac_service_manager_stopping(hac_service_manager *notify, double seconds)
{
    notify->stop_seconds = seconds;
    enter(notify, STOPPING);
}

void hac_service_manager_status(hac_service_manager *notify, const char *fmt, ...)
{
    char text[MESSAGE_MAX];
    va_list args;
    if (notify->socket < 0)
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (strcmp(text, notify->status) == 0)
        return;
    memcpy(notify->status, text, sizeof text);
    notify->status_told = false;
    tell(notify);
}
