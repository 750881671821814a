/* SPDX-License-Identifier: Apache-2.0 */
#include "listener.h"

#include <errno.h>
#include <sys/socket.h>

#include "base/failpoint.h"

#define ACCEPTS_PER_WAKEUP 16

hac_status hac_listener_init(hac_listener *listener, uv_loop_t *loop, int fd, hac_sessions *sessions,
                             hac_error *err)
{
    listener->fd = fd;
    listener->sessions = sessions;
    int r = uv_poll_init(loop, &listener->poll, fd);
    if (r != 0)
        return hac_fail(err, HAC_IO, "cannot listen: %s", uv_strerror(r));
    listener->poll.data = listener;
    return HAC_OK;
}

void hac_listener_accept(hac_listener *listener)
{
    for (int i = 0; i < ACCEPTS_PER_WAKEUP; i++) {
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
        hac_session_accept(listener->sessions, fd);
    }
}

static void on_connection(uv_poll_t *handle, int status, int events)
{
    (void)events;
    if (status >= 0)
        hac_listener_accept(handle->data);
}

void hac_listener_start(hac_listener *listener)
{
    if (!uv_is_closing((uv_handle_t *)&listener->poll) && !listener->paused && !listener->closed)
        uv_poll_start(&listener->poll, UV_READABLE, on_connection);
}

void hac_listener_pause(hac_listener *listener)
{
    listener->paused = true;
    uv_poll_stop(&listener->poll);
}

void hac_listener_close(hac_listener *listener)
{
    listener->closed = true;
    uv_poll_stop(&listener->poll);
}
