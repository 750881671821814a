/* SPDX-License-Identifier: Apache-2.0 */
#include "listener.h"

#include <errno.h>
#include <sys/socket.h>

#include "base/failpoint.h"

#define ACCEPTS_PER_WAKEUP 16

hac_status hac_listener_init(hac_listener *listener, uv_loop_t *loop, int fd, bool administers,
                             hac_sessions *sessions, hac_error *err)
{
    listener->fd = fd;
    listener->administers = administers;
    listener->sessions = sessions;
    if (fd < 0)
        return HAC_OK;
    int r = uv_poll_init(loop, &listener->poll, fd);
    if (r != 0)
        return hac_fail(err, HAC_IO, "cannot listen: %s", uv_strerror(r));
    listener->poll.data = listener;
    return HAC_OK;
}

void hac_listener_accept(hac_listener *listener)
{
    for (int i = 0; i < ACCEPTS_PER_WAKEUP && listener->fd >= 0; i++) {
        int fd = HAC_FAILPOINT("server.accept", -1,
                               accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (fd < 0) {
            if (errno == EMFILE || errno == ENFILE) {
                /* Out of descriptors: stop polling until the next tick, or this would spin. */
                listener->sessions->metrics->refused_connections[HAC_REFUSAL_DESCRIPTORS]++;
                uv_poll_stop(&listener->poll);
            }
            return;
        }
        hac_session_accept(listener->sessions, fd, listener->administers);
    }
}

static void on_connection(uv_poll_t *handle, int status, int events)
{
    (void)events;
    if (status >= 0)
        hac_listener_accept(handle->data);
}

static bool is_open(const hac_listener *listener)
{
    return listener->fd >= 0 && !uv_is_closing((const uv_handle_t *)&listener->poll);
}

void hac_listener_start(hac_listener *listener)
{
    if (is_open(listener) && !listener->paused && !listener->closed)
        uv_poll_start(&listener->poll, UV_READABLE, on_connection);
}

void hac_listener_pause(hac_listener *listener)
{
    listener->paused = true;
    if (is_open(listener))
        uv_poll_stop(&listener->poll);
}

void hac_listener_resume(hac_listener *listener)
{
    listener->paused = false;
    hac_listener_start(listener);
}

void hac_listener_close(hac_listener *listener)
{
    listener->closed = true;
    if (is_open(listener))
        uv_poll_stop(&listener->poll);
}

void hac_listener_deinit(hac_listener *listener)
{
    hac_listener_close(listener);
    if (is_open(listener))
        uv_close((uv_handle_t *)&listener->poll, NULL);
}
