/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics_http.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "metrics_text.h"
#include "state.h"

#define CONNECTIONS_MAX 8
#define BACKLOG         16
#define IDLE_SECONDS    2u  /* without a byte */
#define WHOLE_SECONDS   5.0 /* for a whole connection, however slow it is */
#define REQUEST_BYTES   ((size_t)16 * 1024)
#define PACE_MS         20  /* between two turns of work */
#define IDLE_PACE_MS    250 /* the same while connections are idle, to check their time limits */
#define FRESH_SECONDS   0.25

typedef struct connection {
    struct MHD_Connection *handle; /* NULL: free */
    uint64_t since_ns;
    bool late;
} connection;

typedef struct hac_metrics_http {
    struct hac_server *server;
    hac_loopback where;
    struct MHD_Daemon *daemon;
    uv_poll_t poll;
    uv_timer_t timer;
    unsigned open_handles;
    connection connections[CONNECTIONS_MAX];
    struct MHD_Response *text; /* the last one made */
    uint64_t text_ns;
    char problem[256];
} hac_metrics_http;

/* ---- requests ----------------------------------------------------------------------------------------- */

static enum MHD_Result answer(struct MHD_Connection *handle, unsigned status, struct MHD_Response *response)
{
    return MHD_queue_response(handle, status, response);
}

static enum MHD_Result refuse(hac_metrics_http *http, struct MHD_Connection *handle, unsigned status,
                              const char *text)
{
    http->server->metrics.http[HAC_HTTP_REFUSED]++;
    struct MHD_Response *response =
        MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);
    if (response == NULL)
        return MHD_NO;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain; charset=utf-8");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET");
    enum MHD_Result result = answer(handle, status, response);
    MHD_destroy_response(response);
    return result;
}

/* Renews the text if it is old. Returns false if memory is lacking. */
static bool refresh(hac_metrics_http *http)
{
    char *text = NULL;
    size_t bytes = 0;
    if (http->text != NULL && hac_seconds_since(http->text_ns) < FRESH_SECONDS)
        return true;
    if (hac_metrics_text(http->server, NULL, &text, &bytes, NULL) != HAC_OK)
        return false;
    struct MHD_Response *response = MHD_create_response_from_buffer(bytes, text, MHD_RESPMEM_MUST_FREE);
    if (response == NULL) {
        free(text);
        return false;
    }
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
                            "application/openmetrics-text; version=1.0.0; charset=utf-8");
    if (http->text != NULL)
        MHD_destroy_response(http->text);
    http->text = response;
    http->text_ns = hac_now_ns();
    return true;
}

/* A web page may make a browser send requests here under another host name (DNS rebinding). Only names of
 * this machine are answered. */
static bool is_for_this_machine(struct MHD_Connection *handle)
{
    static const char *const names[] = {"127.", "localhost", "[::1]"};
    const char *host = MHD_lookup_connection_value(handle, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
    bool known = host == NULL;
    for (size_t i = 0; !known && i < sizeof names / sizeof *names; i++)
        known = strncmp(host, names[i], strlen(names[i])) == 0;
    return known;
}

/* Called once when the request's head is complete, and again with each piece of the body or at its end. */
static enum MHD_Result on_request(void *context, struct MHD_Connection *handle, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_bytes, void **request)
{
    hac_metrics_http *http = context;
    (void)version;
    (void)upload;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0)
        return refuse(http, handle, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET\n");
    if (strcmp(url, "/metrics") != 0)
        return refuse(http, handle, MHD_HTTP_NOT_FOUND, "only /metrics\n");
    if (!is_for_this_machine(handle))
        return refuse(http, handle, MHD_HTTP_FORBIDDEN, "only for clients on this machine\n");
    if (*request == NULL) {
        *request = http; /* marks that the head was complete */
        return MHD_YES;
    }
    if (*upload_bytes > 0)
        return MHD_NO; /* a body: the connection ends */
    if (!refresh(http))
        return refuse(http, handle, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory\n");
    http->server->metrics.http[HAC_HTTP_SERVED]++;
    return answer(handle, MHD_HTTP_OK, http->text);
}

/* ---- connections -------------------------------------------------------------------------------------- */

static void on_connection(void *context, struct MHD_Connection *handle, void **socket_context,
                          enum MHD_ConnectionNotificationCode code)
{
    hac_metrics_http *http = context;
    struct MHD_Connection *wanted = code == MHD_CONNECTION_NOTIFY_STARTED ? NULL : handle;
    (void)socket_context;
    for (unsigned i = 0; i < CONNECTIONS_MAX; i++) {
        if (http->connections[i].handle != wanted)
            continue;
        http->connections[i] = (connection){wanted == NULL ? handle : NULL, hac_now_ns(), false};
        return;
    }
}

/* Shuts down connections that were open for too long. libmicrohttpd notices and ends them. */
static unsigned cut_late(hac_metrics_http *http)
{
    unsigned n = 0;
    for (unsigned i = 0; i < CONNECTIONS_MAX; i++) {
        connection *c = &http->connections[i];
        if (c->handle == NULL)
            continue;
        n++;
        if (c->late || hac_seconds_since(c->since_ns) < WHOLE_SECONDS)
            continue;
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(c->handle, MHD_CONNECTION_INFO_CONNECTION_FD);
        c->late = true;
        http->server->metrics.http[HAC_HTTP_LATE]++;
        if (info != NULL)
            shutdown(info->connect_fd, SHUT_RDWR);
    }
    return n;
}

/* ---- the loop ----------------------------------------------------------------------------------------- */

static void on_timer(uv_timer_t *timer);

/* One turn of work, then a pause, even if there is more to do. */
static void turn(hac_metrics_http *http)
{
    MHD_run(http->daemon);
    cut_late(http);
    uv_poll_stop(&http->poll);
    uv_timer_start(&http->timer, on_timer, PACE_MS, 0);
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    turn(poll->data);
}

/* The pause is over: watches the descriptor again. While there are connections, also checks their time
 * limits; libmicrohttpd may have work that its descriptor does not show. */
static void on_timer(uv_timer_t *timer)
{
    hac_metrics_http *http = timer->data;
    MHD_UNSIGNED_LONG_LONG wait = IDLE_PACE_MS;
    bool watched = uv_is_active((uv_handle_t *)&http->poll);
    if (watched) { /* nothing came meanwhile */
        turn(http);
        return;
    }
    uv_poll_start(&http->poll, UV_READABLE, on_ready);
    if (cut_late(http) == 0)
        return;
    if (MHD_get_timeout(http->daemon, &wait) != MHD_YES || wait > IDLE_PACE_MS)
        wait = IDLE_PACE_MS;
    uv_timer_start(&http->timer, on_timer, wait, 0);
}

/* ---- life --------------------------------------------------------------------------------------------- */

static int listen_at(const hac_loopback *where)
{
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(where->port)};
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(where->port)};
    bool is_v6 = inet_pton(AF_INET6, where->address, &v6.sin6_addr) == 1;
    const struct sockaddr *address = is_v6 ? (const struct sockaddr *)&v6 : (const struct sockaddr *)&v4;
    socklen_t bytes = is_v6 ? sizeof v6 : sizeof v4;
    int on = 1;
    if (!is_v6 && inet_pton(AF_INET, where->address, &v4.sin_addr) != 1) {
        errno = EINVAL;
        return -1;
    }
    hac_autoclose int fd = socket(is_v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        bind(fd, address, bytes) != 0 || listen(fd, BACKLOG) != 0)
        return -1;
    return hac_steal_fd(&fd);
}

/* libmicrohttpd owns the socket, even if it does not start. */
static bool start_daemon(hac_metrics_http *http, int listener)
{
    http->daemon =
        MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, on_request, http, MHD_OPTION_LISTEN_SOCKET, listener,
                         MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
                         MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                         REQUEST_BYTES, MHD_OPTION_NOTIFY_CONNECTION, on_connection, http, MHD_OPTION_END);
    if (http->daemon == NULL) {
        close(listener);
        return false;
    }
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info != NULL && uv_poll_init(&http->server->loop, &http->poll, info->epoll_fd) == 0;
}

static void on_closed(uv_handle_t *handle)
{
    hac_metrics_http *http = handle->data;
    if (--http->open_handles == 0)
        free(http);
}

void hac_metrics_http_stop(hac_server *server)
{
    hac_metrics_http *http = server->http;
    if (http == NULL)
        return;
    server->http = NULL;
    if (http->open_handles == 0) { /* it never came to listen */
        free(http);
        return;
    }
    uv_poll_stop(&http->poll);
    uv_close((uv_handle_t *)&http->poll, on_closed);
    uv_close((uv_handle_t *)&http->timer, on_closed);
    MHD_stop_daemon(http->daemon);
    if (http->text != NULL)
        MHD_destroy_response(http->text);
}

static void start(hac_metrics_http *http)
{
    const char *why = "libmicrohttpd does not start";
    int listener = listen_at(&http->where);
    if (listener < 0)
        why = strerror(errno);
    if (listener < 0 || !start_daemon(http, listener)) {
        if (http->daemon != NULL)
            MHD_stop_daemon(http->daemon);
        snprintf(http->problem, sizeof http->problem, "no metrics over HTTP at %s, port %u: %s",
                 http->where.address, http->where.port, why);
        hac_log_record(HAC_LOG_WARNING, HAC_EVENT_HTTP, NULL, "%s", http->problem);
        return;
    }
    uv_timer_init(&http->server->loop, &http->timer);
    http->open_handles = 2;
    http->poll.data = http->timer.data = http;
    uv_poll_start(&http->poll, UV_READABLE, on_ready);
    hac_log_record(HAC_LOG_INFO, HAC_EVENT_HTTP, NULL, "metrics over HTTP at %s, port %u",
                   http->where.address, http->where.port);
}

void hac_metrics_http_configure(hac_server *server)
{
    const hac_loopback *where = &server->config.metrics_http;
    if (server->http != NULL && server->http->problem[0] == '\0' && server->http->where.port == where->port &&
        strcmp(server->http->where.address, where->address) == 0)
        return;
    hac_metrics_http_stop(server);
    if (where->port == 0)
        return;
    server->http = calloc(1, sizeof *server->http);
    if (server->http == NULL)
        return;
    server->http->server = server;
    server->http->where = *where;
    start(server->http);
}

const char *hac_metrics_http_problem(const hac_server *server)
{
    return server->http != NULL && server->http->problem[0] != '\0' ? server->http->problem : NULL;
}
