/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memfd.h"
#include "loop/channel.h"
#include "peer.h"
#include "unread.h"

#define SESSION_QUEUE_MAX         (256u * 1024) /* bytes that a client may leave unread */
#define SESSION_BATCH             4
#define ADMINISTRATOR_CONNECTIONS 16   /* for administrators whose limit is 0 */
#define UNREAD_SECONDS_MAX        10.0 /* how long a message may wait for a client that reads nothing */
/* how long hacd works for one user before it is the others' turn, if there are others */
#define TURN_NS          2000000u
#define SHARE_TURN_NS    250000u
#define TEXTS_MAX        4  /* unfinished texts of a connection */
#define TEXTS_OVER_MAX   4  /* unfinished texts of a user that are not charged in full */
#define SILENT_TICKS_MAX 20 /* five seconds for a client to send its hello */

/* One user's requests must not take the loop from the others. After a time of work for a user, the user's
 * other sessions wait for the next turn. Then the sessions that were served the longest time ago go first. */
static bool may_serve(void *context)
{
    hac_session *session = context;
    hac_user *user = session->user;
    uint64_t turn = session->sessions->turn;
    if (user->loop.turn != turn) {
        user->loop.gate = user->loop.turn + 1 == turn ? user->loop.oldest_waiting : UINT64_MAX;
        user->loop.turn = turn;
        user->loop.oldest_waiting = UINT64_MAX;
        user->loop.spent_ns = 0;
        user->loop.limit_ns = hac_user_has_others(user, hac_now_ns()) ? SHARE_TURN_NS : TURN_NS;
    }
    if (user->loop.spent_ns <= user->loop.limit_ns && session->served_turn <= user->loop.gate) {
        session->served_turn = turn;
        return true;
    }
    if (session->served_turn < user->loop.oldest_waiting)
        user->loop.oldest_waiting = session->served_turn;
    return false;
}

static hac_status check_pending(const hac_session *session, const hac_frame *frame, hac_error *err)
{
    size_t pending =
        frame->n_fds > 0 ? hac_deferred_close_pending(session->sessions->closer, session->user->number) : 0;
    if (pending <= HAC_DEFERRED_CLOSE_MAX)
        return HAC_OK;
    return hac_fail(err, HAC_REFUSED,
                    "%zu descriptors that you passed before cannot be closed: their file systems or peers do "
                    "not answer",
                    pending);
}

static void handle_frame(hac_session *session, hac_frame *frame)
{
    hac_error err = HAC_ERROR_NONE;
    Hac__Client__Request *request = NULL;
    if (session->closing)
        return;
    hac_status status = check_pending(session, frame, &err);
    if (status == HAC_OK)
        status = hac_decode_request(session->sessions->decoder, frame->body, frame->body_bytes, frame->n_fds,
                                    &request, &err);
    if (status != HAC_OK) {
        hac_session_send_failure(session, 0, &err, 0);
        hac_session_close(session, err.message);
        return;
    }
    session->sessions->handle(session, request, frame);
}

static void on_frame(void *context, hac_frame *frame)
{
    hac_session *session = context;
    hac_user *user = session->user; /* the session may end; the user lives at least until the next tick */
    uint64_t began = hac_now_ns();
    uint32_t plans = user->plans_waiting;
    handle_frame(session, frame);
    uint64_t end = hac_now_ns();
    user->loop.spent_ns += end - began;
    if (user->plans_waiting == plans) /* it was no question for a plan */
        user->loop.worked_ns = end;
}

static void on_lost(void *context, const char *reason)
{
    hac_session_close(context, reason);
}

/* Names of cgroups are for the log: they are the machine's, and no business of a container. */
static hac_user_place place_of(const hac_sessions *sessions, int socket, const struct ucred *peer,
                               bool administers)
{
    hac_error err = HAC_ERROR_NONE;
    hac_user_place place = HAC_PLACE_ANYWHERE;
    if (sessions->places.proc == NULL || administers ||
        hac_peer_place(&sessions->places, socket, peer->pid, &place, &err) == HAC_OK)
        return place;
    const hac_log_subject about = {peer->uid, 0, NULL};
    hac_log_record(HAC_LOG_WARNING, HAC_EVENT_CONNECTION_REFUSED, &about, "%s", err.message);
    return HAC_PLACE_UNKNOWN;
}

/* The account of the user that connects, with the limits that the configuration sets for the user and their
 * groups. */
static hac_status find_user(hac_sessions *sessions, int socket, const struct ucred *peer, bool administers,
                            hac_user **ret, hac_error *err)
{
    size_t n_groups = 0;
    hac_user_key key = {peer->uid, place_of(sessions, socket, peer, administers), administers};
    hac_status status = hac_user_get(sessions->users, key, ret, err);
    if (status != HAC_OK)
        return status;
    gid_t *groups = hac_peer_groups(socket, peer->gid, &n_groups);
    hac_user_set_groups(*ret, groups, n_groups);
    (*ret)->limits = hac_daemon_config_limits(sessions->config, peer->uid, groups, n_groups);
    return HAC_OK;
}

static hac_status session_new(hac_sessions *sessions, int socket, bool administers, hac_session **ret,
                              hac_error *err)
{
    static const hac_channel_events events = {on_frame, on_lost, may_serve};
    hac_autoclose int owned = socket;
    struct ucred peer;
    hac_status status = hac_peer_identify(owned, &peer, err);
    if (status != HAC_OK)
        return status;
    hac_session *session = calloc(1, sizeof *session);
    if (session == NULL)
        return hac_fail_no_memory(err);
    session->sessions = sessions;
    hac_list_init(&session->texts);
    session->pid = peer.pid;
    session->number = ++sessions->n_accepted;
    status = find_user(sessions, owned, &peer, administers, &session->user, err);
    if (status == HAC_OK)
        status = hac_channel_open(sessions->loop, hac_steal_fd(&owned), SESSION_QUEUE_MAX, SESSION_BATCH,
                                  &events, session, (hac_fd_owner){sessions->closer, session->user->number},
                                  &session->channel, err);
    if (status != HAC_OK) {
        if (session->user != NULL)
            hac_user_unref(session->user);
        free(session);
        return status;
    }
    hac_list_append(&sessions->list, &session->link);
    sessions->count++;
    sessions->metrics->accepted++;
    *ret = session;
    return HAC_OK;
}

/* Administrators and the service's own user have access, whatever the limits say about their jobs. */
static bool has_access(const hac_session *session)
{
    const hac_user *user = session->user;
    if (user->uid == session->sessions->foreign_uid || hac_user_place_equal(user->place, HAC_PLACE_UNKNOWN))
        return false;
    return hac_user_has_access(user) || hac_user_is_administrator(user);
}

/* Accounts that no attacker has: what administrators and hacd itself run comes from nobody else. */
static bool is_exempt(const hac_user *user)
{
    return user->administers || user->of_daemon;
}

/* Without Landlock, an executor that was taken over reaches the files of hacd's user, whom all executors run
 * as. So no two users have executors at a time, unless the configuration accepts that. */
static hac_status check_walls(const hac_session *session, hac_error *err)
{
    const hac_sessions *sessions = session->sessions;
    const hac_user *other = NULL;
    if (sessions->has_landlock || sessions->config->share_without_landlock || session->user->administers)
        return HAC_OK;
    hac_list_for_each (other, &sessions->users->list, hac_user, link)
        if (other != session->user && other->references > other->ended_jobs && !is_exempt(other))
            return hac_fail(
                err, HAC_REFUSED,
                "this kernel has no Landlock, which keeps users apart, so hacd serves one user at a "
                "time, and another one is there; `share_without_landlock: true` in hacd.yaml lets "
                "users share the devices all the same");
    return HAC_OK;
}

/* Counts the connection. An administrator is let in even with a limit of 0. */
static hac_status admit(hac_session *session, hac_error *err)
{
    hac_user *user = session->user;
    if (user->uid == session->sessions->foreign_uid)
        return hac_fail(err, HAC_REFUSED,
                        "hacd runs in a user namespace, where uid %u stands for all users from outside: they "
                        "cannot be told apart",
                        user->uid);
    if (hac_user_place_equal(user->place, HAC_PLACE_UNKNOWN))
        return hac_fail(err, HAC_REFUSED,
                        "hacd.yaml says `identity: cgroup`, and hacd cannot tell the pod or container that "
                        "you run in; hacd's log says why");
    if (!has_access(session))
        return hac_fail(err, HAC_REFUSED,
                        "uid %u has no access to this machine's devices; its administrator gives it in "
                        "hacd.yaml (max_jobs, max_connections, users)",
                        user->uid);
    if (user->limits.connections == 0)
        user->limits.connections = ADMINISTRATOR_CONNECTIONS;
    hac_status status = check_walls(session, err);
    if (status == HAC_OK)
        status = hac_user_charge(user, HAC_SLOT_CONNECTIONS, 1, err);
    session->counted = status == HAC_OK;
    return status;
}

/* ---- texts that do not fit into a message ------------------------------------------------------------ */

/* A text that the client has got a part of. */
typedef struct unfinished_text {
    hac_link link;
    uint64_t serial; /* of the request that it answers */
    size_t bytes;
    uint64_t charged; /* of them; fewer: counted in hac_user.texts_over */
    char text[];
} unfinished_text;

static void drop_text(hac_session *session, unfinished_text *text)
{
    hac_user_release(session->user, HAC_SLOT_MEMORY, text->charged);
    session->user->texts_over -= text->charged < text->bytes;
    hac_list_remove(&text->link);
    session->n_texts--;
    free(text);
}

static void drop_texts(hac_session *session)
{
    unfinished_text *text = NULL;
    hac_list_for_each (text, &session->texts, unfinished_text, link)
        drop_text(session, text);
}

/* At the limit, a user must still see what to release: a few texts are charged only as far as the limit goes.
 */
static hac_status charge_text(hac_user *user, unfinished_text *text, hac_error *err)
{
    uint64_t available = hac_pool_available(user);
    bool over = text->bytes > available && user->texts_over < TEXTS_OVER_MAX;
    uint64_t bytes = over ? available : text->bytes;
    hac_status status = hac_pool_charge(user, HAC_SLOT_MEMORY, bytes, err);
    if (status != HAC_OK)
        return status;
    text->charged = bytes;
    user->texts_over += over;
    return HAC_OK;
}

static hac_status keep_text(hac_session *session, uint64_t serial, const char *text, size_t bytes,
                            hac_error *err)
{
    if (session->n_texts == TEXTS_MAX)
        drop_text(session, hac_container_of(session->texts.next, unfinished_text, link));
    hac_autofree unfinished_text *kept = malloc(sizeof *kept + bytes);
    if (kept == NULL)
        return hac_fail_no_memory(err);
    kept->serial = serial;
    kept->bytes = bytes;
    hac_status status = charge_text(session->user, kept, err);
    if (status != HAC_OK)
        return status;
    memcpy(kept->text, text, bytes);
    session->n_texts++;
    hac_list_append(&session->texts, &hac_steal_ptr(kept)->link);
    return HAC_OK;
}

/* ---- life -------------------------------------------------------------------------------------------- */

void hac_session_accept(hac_sessions *sessions, int socket, bool administers)
{
    hac_session *session = NULL;
    hac_error err = HAC_ERROR_NONE;
    if (session_new(sessions, socket, administers, &session, &err) != HAC_OK) {
        sessions->metrics->refused_connections[HAC_REFUSAL_ERROR]++;
        hac_log_record(HAC_LOG_WARNING, HAC_EVENT_CONNECTION_REFUSED, NULL, "%s", err.message);
        return;
    }
    hac_status status = admit(session, &err);
    if (status != HAC_OK) {
        sessions->metrics->refused_connections[HAC_REFUSAL_LIMIT]++;
        hac_session_send_failure(session, 0, &err, status == HAC_REFUSED && has_access(session) ? 1.0 : 0);
        const hac_log_subject about = {session->user->uid, 0, NULL};
        hac_log_record(HAC_LOG_INFO, HAC_EVENT_CONNECTION_REFUSED, &about,
                       "connection of uid %u, pid %d is refused: %s", session->user->uid, (int)session->pid,
                       err.message);
        hac_session_close(session, NULL);
    }
}

void hac_session_close(hac_session *session, const char *why)
{
    if (session->closing)
        return;
    session->closing = true;
    hac_sessions *sessions = session->sessions;
    if (why != NULL) {
        sessions->metrics->cut++;
        hac_log_subject about = {session->user->uid, 0, NULL};
        hac_log_record(HAC_LOG_INFO, HAC_EVENT_CONNECTION, &about, "connection of uid %u, pid %d ends: %s",
                       session->user->uid, (int)session->pid, why);
    }
    hac_unread_close_channel(session);
    sessions->closed(session);
    for (size_t i = 0; i < session->n_handles; i++)
        hac_pool_release(session->handles[i].buffer);
    drop_texts(session);
    free(session->handles);
    free(session->known);
    if (session->counted)
        hac_user_release(session->user, HAC_SLOT_CONNECTIONS, 1);
    hac_user_unref(session->user);
    hac_list_remove(&session->link);
    sessions->count--;
    sessions->idle_since_ns = uv_hrtime();
    free(session);
}

void hac_sessions_check(hac_sessions *sessions)
{
    hac_session *session = NULL;
    hac_unread_settle(sessions);
    hac_list_for_each (session, &sessions->list, hac_session, link)
        if (!session->greeted && ++session->silent_ticks > SILENT_TICKS_MAX)
            hac_session_close(session, "it did not greet in time");
        else if (hac_channel_stalled_seconds(session->channel) > UNREAD_SECONDS_MAX)
            hac_session_close(session, "it does not read its messages");
}

/* ---- what the client has mapped ----------------------------------------------------------------------- */

static size_t position(const hac_session *session, uint32_t id)
{
    size_t low = 0, high = session->n_known;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (session->known[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool knows(const hac_session *session, uint32_t id)
{
    size_t at = position(session, id);
    return at < session->n_known && session->known[at] == id;
}

/* If this fails, the memfd is merely sent again. */
static void learn(hac_session *session, uint32_t id)
{
    if (session->n_known == session->known_capacity) {
        size_t capacity = session->known_capacity == 0 ? 16 : session->known_capacity * 2;
        uint32_t *known = reallocarray(session->known, capacity, sizeof *known);
        if (known == NULL)
            return;
        session->known = known;
        session->known_capacity = capacity;
    }
    size_t at = position(session, id);
    memmove(session->known + at + 1, session->known + at, (session->n_known - at) * sizeof *session->known);
    session->known[at] = id;
    session->n_known++;
}

void hac_sessions_forget_buffer(hac_sessions *sessions, const hac_pool_buffer *buffer)
{
    hac_session *session = NULL;
    hac_list_for_each (session, &sessions->list, hac_session, link) {
        size_t at = position(session, buffer->id);
        if (at < session->n_known && session->known[at] == buffer->id) {
            session->n_known--;
            memmove(session->known + at, session->known + at + 1,
                    (session->n_known - at) * sizeof *session->known);
        }
    }
}

/* ---- what the client holds ---------------------------------------------------------------------------- */

static hac_session_handle *find_handle(const hac_session *session, uint32_t id)
{
    for (size_t i = 0; i < session->n_handles; i++)
        if (session->handles[i].buffer->id == id)
            return &session->handles[i];
    return NULL;
}

hac_pool_buffer *hac_session_buffer(const hac_session *session, uint32_t id)
{
    const hac_session_handle *handle = find_handle(session, id);
    return handle != NULL ? handle->buffer : NULL;
}

hac_status hac_session_hold(hac_session *session, hac_pool_buffer *buffer, hac_error *err)
{
    hac_session_handle *handle = find_handle(session, buffer->id);
    if (handle != NULL) { /* it costs nothing, however often it is asked for */
        handle->times++;
        hac_pool_release(buffer);
        return HAC_OK;
    }
    if (session->n_handles == session->handles_capacity) {
        size_t capacity = session->handles_capacity == 0 ? 8 : session->handles_capacity * 2;
        hac_session_handle *handles = reallocarray(session->handles, capacity, sizeof *handles);
        if (handles == NULL)
            return hac_fail_no_memory(err);
        session->handles = handles;
        session->handles_capacity = capacity;
    }
    session->handles[session->n_handles++] = (hac_session_handle){buffer, 1};
    return HAC_OK;
}

bool hac_session_drop(hac_session *session, uint32_t id)
{
    hac_session_handle *handle = find_handle(session, id);
    if (handle == NULL)
        return false;
    if (--handle->times == 0) {
        hac_pool_release(handle->buffer);
        *handle = session->handles[--session->n_handles];
    }
    return true;
}

/* ---- answers ------------------------------------------------------------------------------------------ */

void hac_session_send(hac_session *session, const Hac__Client__Response *response, const int *fds,
                      size_t n_fds)
{
    if (!session->closing && (n_fds == 0 || hac_unread_charge(session, n_fds)))
        hac_channel_send(session->channel, &response->base, fds, n_fds);
}

void hac_session_send_ok(hac_session *session, uint64_t serial)
{
    Hac__Client__Empty empty = HAC__CLIENT__EMPTY__INIT;
    Hac__Client__Response response = HAC__CLIENT__RESPONSE__INIT;
    response.serial = serial;
    response.what_case = HAC__CLIENT__RESPONSE__WHAT_OK;
    response.ok = &empty;
    hac_session_send(session, &response, NULL, 0);
}

void hac_session_send_failure(hac_session *session, uint64_t serial, const hac_error *err, double retry_after)
{
    Hac__Client__Failure failure = HAC__CLIENT__FAILURE__INIT;
    failure.code = (uint32_t)err->code;
    failure.message = (char *)(uintptr_t)err->message;
    failure.retry_after_seconds = retry_after;
    Hac__Client__Response response = HAC__CLIENT__RESPONSE__INIT;
    response.serial = serial;
    response.what_case = HAC__CLIENT__RESPONSE__WHAT_FAILURE;
    response.failure = &failure;
    hac_session_send(session, &response, NULL, 0);
}

static void send_piece(hac_session *session, uint64_t serial, const char *text, size_t bytes, size_t offset)
{
    size_t left = bytes - offset;
    Hac__Client__Text body = HAC__CLIENT__TEXT__INIT;
    body.bytes = bytes;
    body.text.data = (uint8_t *)(uintptr_t)text + offset;
    body.text.len = left < HAC_INLINE_MAX ? left : HAC_INLINE_MAX;
    Hac__Client__Response response = HAC__CLIENT__RESPONSE__INIT;
    response.serial = serial;
    response.what_case = HAC__CLIENT__RESPONSE__WHAT_TEXT;
    response.text = &body;
    hac_session_send(session, &response, NULL, 0);
}

void hac_session_send_text(hac_session *session, uint64_t serial, const char *text, size_t bytes)
{
    hac_error err = HAC_ERROR_NONE;
    if (!session->closing && bytes > HAC_INLINE_MAX &&
        keep_text(session, serial, text, bytes, &err) != HAC_OK)
        hac_session_send_failure(session, serial, &err, 1.0);
    else
        send_piece(session, serial, text, bytes, 0);
}

hac_status hac_session_send_more_text(hac_session *session, uint64_t serial, uint64_t text, uint64_t offset,
                                      hac_error *err)
{
    unfinished_text *found = NULL;
    hac_list_for_each (found, &session->texts, unfinished_text, link) {
        if (found->serial != text)
            continue;
        if (offset >= found->bytes)
            return hac_fail(err, HAC_INVALID, "byte %llu of a text of %zu bytes", (unsigned long long)offset,
                            found->bytes);
        send_piece(session, serial, found->text, found->bytes, (size_t)offset);
        if (found->bytes - offset <= HAC_INLINE_MAX)
            drop_text(session, found);
        return HAC_OK;
    }
    return hac_fail(err, HAC_NOT_FOUND, "the rest of that text is not kept any more");
}

size_t hac_session_describe_buffer(hac_session *session, hac_pool_buffer *buffer, Hac__Client__Buffer *ret)
{
    bool known = knows(session, buffer->id);
    hac__client__buffer__init(ret);
    ret->buffer = buffer->id;
    ret->bytes = buffer->bytes;
    ret->attached = !known;
    if (!known)
        learn(session, buffer->id);
    return known ? 0 : 1;
}

void hac_session_send_buffer(hac_session *session, uint64_t serial, hac_pool_buffer *buffer)
{
    Hac__Client__Buffer body;
    size_t n_fds = hac_session_describe_buffer(session, buffer, &body);
    Hac__Client__Response response = HAC__CLIENT__RESPONSE__INIT;
    response.serial = serial;
    response.what_case = HAC__CLIENT__RESPONSE__WHAT_BUFFER;
    response.buffer = &body;
    hac_session_send(session, &response, &buffer->fd, n_fds);
}

void hac_session_send_split_done(hac_session *session, uint64_t serial, const Hac__Client__SplitDone *done,
                                 hac_pool_buffer *buffer)
{
    Hac__Client__SplitDone answer = *done;
    Hac__Client__Buffer body;
    size_t n_fds = 0;
    if (buffer != NULL) {
        n_fds = hac_session_describe_buffer(session, buffer, &body);
        answer.result_case = HAC__CLIENT__SPLIT_DONE__RESULT_BUFFER;
        answer.buffer = &body;
    }
    Hac__Client__Response response = HAC__CLIENT__RESPONSE__INIT;
    response.serial = serial;
    response.what_case = HAC__CLIENT__RESPONSE__WHAT_SPLIT_DONE;
    response.split_done = &answer;
    hac_session_send(session, &response, buffer != NULL ? &buffer->fd : NULL, n_fds);
}

void hac_session_send_graph_done(hac_session *session, uint64_t serial, uint64_t job, uint64_t graph,
                                 uint8_t *values, size_t bytes)
{
    Hac__Client__GraphDone done = HAC__CLIENT__GRAPH_DONE__INIT;
    done.job = job;
    done.graph = graph;
    done.values = (ProtobufCBinaryData){bytes, values};
    Hac__Client__Response response = HAC__CLIENT__RESPONSE__INIT;
    response.serial = serial;
    response.what_case = HAC__CLIENT__RESPONSE__WHAT_GRAPH_DONE;
    response.graph_done = &done;
    hac_session_send(session, &response, NULL, 0);
}
