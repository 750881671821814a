/* SPDX-License-Identifier: Apache-2.0 */
#include "unread.h"

#include <stdlib.h>

#include "loop/channel.h"

/* The socket of an ended session. */
typedef struct lingering_socket {
    hac_link link;
    int socket;
    hac_user *user;
    size_t unread;
} lingering_socket;

static void settle_session(hac_session *session)
{
    size_t unread = session->unread > 0 ? hac_channel_unread(session->channel) : 0;
    if (unread >= session->unread)
        return;
    hac_user_release(session->user, HAC_SLOT_UNREAD, session->unread - unread);
    session->unread = unread;
}

static void let_go(hac_sessions *sessions, lingering_socket *socket)
{
    hac_user_release(socket->user, HAC_SLOT_UNREAD, socket->unread);
    hac_deferred_close_socket((hac_fd_owner){sessions->closer, socket->user->number}, socket->socket);
    hac_user_unref(socket->user);
    hac_list_remove(&socket->link);
    free(socket);
}

void hac_unread_settle(hac_sessions *sessions)
{
    hac_session *session = NULL;
    lingering_socket *socket = NULL;
    hac_list_for_each (session, &sessions->list, hac_session, link)
        settle_session(session);
    hac_list_for_each (socket, &sessions->lingering, lingering_socket, link)
        if (hac_socket_is_read(socket->socket))
            let_go(sessions, socket);
}

bool hac_unread_charge(hac_session *session, size_t n)
{
    hac_error err = HAC_ERROR_NONE;
    settle_session(session);
    hac_status status = hac_user_charge(session->user, HAC_SLOT_UNREAD, n, &err);
    if (status != HAC_OK) {
        hac_unread_settle(session->sessions);
        status = hac_user_charge(session->user, HAC_SLOT_UNREAD, n, &err);
    }
    if (status == HAC_OK)
        session->unread += n;
    else
        hac_channel_give_up(session->channel, err.message);
    return status == HAC_OK;
}

void hac_unread_close_channel(hac_session *session)
{
    hac_sessions *sessions = session->sessions;
    settle_session(session);
    lingering_socket *socket = session->unread > 0 ? calloc(1, sizeof *socket) : NULL;
    if (socket == NULL) {
        hac_user_release(session->user, HAC_SLOT_UNREAD, session->unread);
        hac_channel_close(session->channel);
    } else {
        hac_user_ref(session->user);
        socket->user = session->user;
        socket->unread = session->unread;
        socket->socket = hac_channel_close_unread(session->channel);
        hac_list_append(&sessions->lingering, &socket->link);
    }
    session->unread = 0;
}

void hac_unread_deinit(hac_sessions *sessions)
{
    lingering_socket *socket = NULL;
    hac_list_for_each (socket, &sessions->lingering, lingering_socket, link)
        let_go(sessions, socket);
}
