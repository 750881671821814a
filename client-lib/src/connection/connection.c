/* SPDX-License-Identifier: Apache-2.0 */
#include "connection.h"

#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memfd.h"
#include "base/text.h"

#define AWAKE_NS UINT64_C(300000) /* a response within this time sets client->soon */

/* Set in the serials of requests whose response the client ignores. */
#define TELL (UINT64_C(1) << 63)

/* The kernel takes no more descriptors from this user (ETOOMANYREFS): other programs of the user have sent
 * some that nobody has read yet. Sending is tried again for 5 s. */
#define REFUSALS_MAX 500
#define REFUSAL_MS   10

enum { NAME_BYTES_MAX = 255 };

/* ---- life ---- */

hac_status hac_client_new(int socket, const char *path, const hac_client_handler *handler, hac_client **ret,
                          hac_error *err)
{
    hac_client *client = calloc(1, sizeof(*client));
    if (client == NULL) {
        hac_close(socket);
        return hac_fail_no_memory(err);
    }
    client->references = 1;
    client->handler = handler;
    client->process = getpid();
    (void)pthread_mutex_init(&client->release_lock, NULL); /* of the default kind it cannot fail */
    client->socket = socket;
    LIST_INIT(&client->calls);
    hac_mappings_init(&client->mappings);
    TAILQ_INIT(&client->flying);
    TAILQ_INIT(&client->spare);
    client->path = strdup(path);
    client->send_frame = malloc(HAC_FRAME_MAX);
    client->receive_frame = malloc(HAC_FRAME_MAX);
    hac_status status = hac_decoder_new(&client->decoder, err);
    if (status == HAC_OK &&
        (client->path == NULL || client->send_frame == NULL || client->receive_frame == NULL))
        status = hac_fail_no_memory(err);
    if (status != HAC_OK) {
        hac_client_unref(client);
        return status;
    }
    *ret = client;
    return HAC_OK;
}

hac_client *hac_client_ref(hac_client *client)
{
    client->references++;
    return client;
}

/* Ends the wait of a call: the response has arrived, or will never arrive. */
static void end_call(hac_call *call)
{
    LIST_REMOVE(call, waiting);
    call->answered = true;
    if (!call->dropped)
        return;
    free(call->reply.text);
    free(call);
}

void hac_client_unref(hac_client *client)
{
    if (client == NULL || --client->references > 0)
        return;
    hac_close(client->socket);
    for (hac_call *call; (call = LIST_FIRST(&client->calls)) != NULL;)
        end_call(call); /* only dropped calls remain */
    client->handler->clear(client);
    hac_mappings_clear(&client->mappings);
    hac_decoder_free(client->decoder);
    free(client->send_frame);
    free(client->receive_frame);
    free(client->path);
    (void)pthread_mutex_destroy(&client->release_lock);
    free(client);
}

hac_status hac_client_check(const hac_client *client, hac_error *err)
{
    if (client->broken == HAC_OK)
        return HAC_OK;
    return hac_fail(err, client->broken, "%s", client->broken_error.message);
}

bool hac_client_is_inherited(const hac_client *client)
{
    return client->process != getpid();
}

/* Fails in a forked child: its requests and those of its parent would mix. */
static hac_status check_process(const hac_client *client, hac_error *err)
{
    if (!hac_client_is_inherited(client))
        return HAC_OK;
    return hac_fail(err, HAC_INVALID,
                    "the connection belongs to process %d, of which this process is a fork; connect anew",
                    (int)client->process);
}

void hac_client_break(hac_client *client, hac_status status, const char *message)
{
    if (client->broken != HAC_OK)
        return;
    client->broken = hac_fail(&client->broken_error, status, "%s", message);
    if (!hac_client_is_inherited(client))
        shutdown(client->socket, SHUT_RDWR);
    hac_call *call;
    while ((call = LIST_FIRST(&client->calls)) != NULL) {
        call->status = hac_client_check(client, call->err);
        end_call(call);
    }
    hac_client_ref(client); /* a callback may free the last reference */
    client->handler->broken(client, &client->broken_error);
    hac_client_unref(client);
}

/* Ends the connection because of `err`, an error of the system or of the peer. */
static hac_status fail_connection(hac_client *client, hac_error *err)
{
    if (err->code == HAC_NOT_FOUND)
        (void)hac_fail(err, HAC_NO_DAEMON, "hacd at %s has gone away", client->path);
    else
        (void)hac_error_prefix(err, "hacd at %s", client->path);
    if (err->code == HAC_INVALID) /* hacd sent a bad memfd, so the caller is not to blame */
        err->code = HAC_PROTOCOL;
    hac_client_break(client, err->code, err->message);
    return client->broken;
}

/* ---- sending ---- */

/* Waits for `events` or until the socket is readable, at most `milliseconds` (-1: no limit), and processes
 * responses that arrive. */
static hac_status wait_for(hac_client *client, short events, int milliseconds, hac_error *err)
{
    struct pollfd p = {client->socket, (short)(POLLIN | events), 0};
    while (poll(&p, 1, milliseconds) < 0)
        if (errno != EINTR)
            return hac_fail_errno(err, HAC_IO, errno, "cannot wait for hacd");
    if ((p.revents & ~POLLOUT) == 0)
        return HAC_OK;
    hac_status status = hac_client_receive(client, 0, err);
    return status == HAC_AGAIN ? HAC_OK : status;
}

static hac_status send_waiting(hac_client *client, uint8_t *frame, size_t bytes, const int *fds, size_t n_fds,
                               hac_error *err)
{
    for (int refusals = 0;;) {
        hac_error local = HAC_ERROR_NONE;
        hac_status status = hac_client_check(client, err);
        if (status != HAC_OK)
            return status;
        status = hac_frame_send(client->socket, frame, bytes, fds, n_fds, &local);
        if (status == HAC_OK)
            return HAC_OK;
        bool again = status == HAC_REFUSED && refusals++ < REFUSALS_MAX;
        if (!again && (status == HAC_REFUSED || status == HAC_NO_MEMORY)) /* the connection is unchanged */
            return hac_fail(err, status, "%s", local.message);
        if (status == HAC_NOT_FOUND && hac_client_receive(client, 0, NULL) == HAC_OK)
            continue; /* hacd closed the socket; earlier responses may tell why */
        if (status != HAC_AGAIN && !again) {
            (void)fail_connection(client, &local);
            return hac_client_check(client, err);
        }
        status = again ? wait_for(client, 0, REFUSAL_MS, err) : wait_for(client, POLLOUT, -1, err);
        if (status != HAC_OK)
            return status;
    }
}

hac_status hac_client_send(hac_client *client, const Hac__Client__Request *request, const int *fds,
                           size_t n_fds, hac_error *err)
{
    hac_status status = hac_client_check(client, err);
    if (status == HAC_OK)
        status = check_process(client, err);
    if (status != HAC_OK)
        return status;
    /* While this send waits, a callback may send another request. Taking the frame makes that send allocate
     * its own frame. */
    uint8_t *frame = hac_steal_ptr(client->send_frame);
    if (frame == NULL)
        frame = malloc(HAC_FRAME_MAX);
    if (frame == NULL)
        return hac_fail_no_memory(err);
    size_t bytes = 0;
    status = hac_encode(&request->base, hac_frame_body(frame), &bytes, err);
    if (status == HAC_OK)
        status = send_waiting(client, frame, bytes, fds, n_fds, err);
    if (client->send_frame == NULL)
        client->send_frame = frame;
    else
        free(frame);
    return status;
}

uint64_t hac_client_next_serial(hac_client *client)
{
    return ++client->serial;
}

void hac_client_tell(hac_client *client, Hac__Client__Request *request)
{
    request->serial = hac_client_next_serial(client) | TELL;
    hac_status ignored =
        hac_client_send(client, request, NULL, 0, NULL); /* a later call reports a broken connection */
    (void)ignored;
}

bool hac_is_name(const char *name)
{
    size_t length = name == NULL ? 0 : strlen(name), at = 0, step = 1;
    while (at < length && step > 0) {
        step = hac_utf8_sequence(name + at, length - at);
        at += step;
    }
    return length > 0 && length <= NAME_BYTES_MAX && at == length;
}

/* ---- receiving ---- */

hac_status hac_failure(const Hac__Client__Failure *failure, hac_error *err)
{
    hac_status code = (hac_status)failure->code;
    if (code <= HAC_OK || code > HAC_INTERNAL || code == HAC_AGAIN)
        code = HAC_FAILED;
    const char *message = failure->message[0] != '\0' ? failure->message : "hacd gives no reason";
    if (failure->retry_after_seconds > 0)
        return hac_fail(err, code, "%s; try again in %.3g s", message, failure->retry_after_seconds);
    return hac_fail(err, code, "%s", message);
}

static hac_status copy_text(hac_call *call, const ProtobufCBinaryData *text, hac_error *err)
{
    call->reply.text = malloc(text->len + 1);
    if (call->reply.text == NULL)
        return hac_fail_no_memory(err);
    if (text->len > 0)
        memcpy(call->reply.text, text->data, text->len);
    call->reply.text[text->len] = '\0';
    call->reply.text_bytes = text->len;
    return HAC_OK;
}

static hac_status take_text(hac_call *call, const Hac__Client__Text *text, hac_error *err)
{
    call->reply.bytes = text->bytes;
    return copy_text(call, &text->text, err);
}

static hac_status take_split(hac_client *client, hac_call *call, const Hac__Client__SplitDone *done,
                             hac_frame *frame, hac_error *err)
{
    call->reply.job = done->job;
    call->reply.split = done->split;
    call->reply.bytes = done->result_bytes;
    call->reply.enough = done->enough != 0;
    if (done->result_case == HAC__CLIENT__SPLIT_DONE__RESULT_DATA)
        return copy_text(call, &done->data, err);
    if (done->result_case != HAC__CLIENT__SPLIT_DONE__RESULT_BUFFER)
        return HAC_OK;
    hac_status status =
        hac_mappings_take(&client->mappings, done->buffer, frame, true, &call->reply.mapping, err);
    if (status == HAC_OK && call->reply.mapping->bytes < done->result_bytes)
        status = hac_fail(err, HAC_PROTOCOL, "a buffer is smaller than the rows that lie in it");
    return status;
}

static hac_status take_reply(hac_client *client, hac_call *call, const Hac__Client__Response *response,
                             hac_frame *frame, hac_error *err)
{
    switch (response->what_case) {
    case HAC__CLIENT__RESPONSE__WHAT_HELLO:
        call->reply.version = response->hello->version;
        hac_utf8_copy_line(call->reply.software, sizeof(call->reply.software), response->hello->software);
        return HAC_OK;
    case HAC__CLIENT__RESPONSE__WHAT_BUFFER:
        if (call->growing == NULL)
            return hac_mappings_take(&client->mappings, response->buffer, frame, true, &call->reply.mapping,
                                     err);
        if (response->buffer->buffer != hac_mapping_id(call->growing))
            return hac_fail(err, HAC_PROTOCOL, "hacd grew another buffer than it was asked to");
        return hac_mappings_grown(&client->mappings, response->buffer, frame, err);
    case HAC__CLIENT__RESPONSE__WHAT_TEXT:
        return take_text(call, response->text, err);
    case HAC__CLIENT__RESPONSE__WHAT_SPLIT_DONE:
        return take_split(client, call, response->split_done, frame, err);
    case HAC__CLIENT__RESPONSE__WHAT_GRAPH_DONE:
        call->reply.bytes = response->graph_done->values.len;
        return copy_text(call, &response->graph_done->values, err);
    default:
        return HAC_OK;
    }
}

static hac_status answer_call(hac_client *client, hac_call *call, const Hac__Client__Response *response,
                              hac_frame *frame, hac_error *err)
{
    if (response->what_case == HAC__CLIENT__RESPONSE__WHAT_FAILURE) {
        call->status = hac_failure(response->failure, call->err);
        client->retry_after = response->failure->retry_after_seconds;
    } else {
        if (response->what_case != call->expected)
            return hac_fail(err, HAC_PROTOCOL, "hacd's answer is of another kind than the question");
        hac_status status = take_reply(client, call, response, frame, err);
        if (status != HAC_OK)
            return status;
    }
    end_call(call);
    return HAC_OK;
}

static hac_call *find_call(hac_client *client, uint64_t serial)
{
    hac_call *call;
    LIST_FOREACH(call, &client->calls, waiting)
    if (call->serial == serial)
        return call;
    return NULL;
}

static hac_status take_told(const hac_client *client, const Hac__Client__Response *response, hac_error *err)
{
    bool plain = response->what_case == HAC__CLIENT__RESPONSE__WHAT_OK ||
                 response->what_case == HAC__CLIENT__RESPONSE__WHAT_FAILURE;
    if (!plain || (response->serial & ~TELL) > client->serial)
        return hac_fail(err, HAC_PROTOCOL, "hacd answered what was not asked");
    return HAC_OK;
}

/* Processes one response. An error ends the connection. */
static hac_status take(hac_client *client, const Hac__Client__Response *response, hac_frame *frame,
                       hac_error *err)
{
    if (response->serial == 0 && response->what_case == HAC__CLIENT__RESPONSE__WHAT_FAILURE)
        return hac_failure(response->failure, err);
    if ((response->serial & TELL) != 0)
        return take_told(client, response, err);
    hac_call *call = response->serial == 0 ? NULL : find_call(client, response->serial);
    if (call != NULL)
        return answer_call(client, call, response, frame, err);
    return client->handler->take(client, response, frame, err);
}

/* Polls without sleeping for a response that is likely to come soon, and yields the CPU meanwhile. In a quick
 * sequence of requests and responses, for example the rounds of a logic file, waking the processes would take
 * most of the time. */
static bool comes_soon(const hac_client *client, struct pollfd *p, uint64_t now, uint64_t deadline_ns)
{
    uint64_t end = client->soon ? now + AWAKE_NS : 0;
    if (end > deadline_ns)
        end = deadline_ns;
    while (hac_now_ns() < end) {
        if (poll(p, 1, 0) > 0)
            return true;
        sched_yield();
    }
    return false;
}

static hac_status wait_asleep(struct pollfd *p, uint64_t deadline_ns, hac_error *err)
{
    for (;;) {
        int timeout_ms = -1;
        if (deadline_ns != UINT64_MAX) {
            uint64_t now = hac_now_ns();
            uint64_t left = deadline_ns > now ? (deadline_ns - now + 999999) / 1000000 : 0;
            timeout_ms = left > INT32_MAX ? INT32_MAX : (int)left;
        }
        int n = poll(p, 1, timeout_ms);
        if (n > 0)
            return HAC_OK;
        if (n == 0 && timeout_ms < INT32_MAX)
            return hac_fail(err, HAC_AGAIN, "hacd has not answered yet");
        if (n < 0 && errno != EINTR)
            return hac_fail_errno(err, HAC_IO, errno, "cannot wait for hacd");
    }
}

static hac_status wait_readable(hac_client *client, uint64_t deadline_ns, hac_error *err)
{
    struct pollfd p = {client->socket, POLLIN, 0};
    uint64_t start = hac_now_ns();
    hac_status status =
        comes_soon(client, &p, start, deadline_ns) ? HAC_OK : wait_asleep(&p, deadline_ns, err);
    client->soon = status == HAC_OK && hac_now_ns() - start < AWAKE_NS;
    return status;
}

hac_status hac_client_receive(hac_client *client, uint64_t deadline_ns, hac_error *err)
{
    hac_status status = hac_client_check(client, err);
    if (status == HAC_OK)
        status = check_process(client, err);
    if (status == HAC_OK && deadline_ns != 0)
        status = wait_readable(client, deadline_ns, err);
    if (status != HAC_OK)
        return status;
    hac_error local = HAC_ERROR_NONE;
    hac_frame frame = {0};
    status = hac_frame_receive(client->socket, client->receive_frame, &frame, &local);
    if (status == HAC_AGAIN)
        return hac_fail(err, HAC_AGAIN, "nothing has come from hacd");
    Hac__Client__Response *response = NULL;
    if (status == HAC_OK)
        status = hac_decode_response(client->decoder, frame.body, frame.body_bytes, frame.n_fds, &response,
                                     &local);
    hac_client_ref(client); /* callbacks may free the last reference */
    if (status == HAC_OK)
        status = take(client, response, &frame, &local);
    hac_frame_clear(&frame);
    if (status != HAC_OK) {
        (void)fail_connection(client, &local);
        status = hac_client_check(client, err);
    }
    hac_client_unref(client);
    return status;
}

/* ---- asking and waiting ---- */

static hac_status run_call(hac_client *client, hac_call *call, Hac__Client__Request *request, const int *fds,
                           size_t n_fds, uint64_t deadline_ns, hac_error *err)
{
    request->serial = call->serial = hac_client_next_serial(client);
    call->err = err;
    LIST_INSERT_HEAD(&client->calls, call, waiting);
    hac_status status = hac_client_send(client, request, fds, n_fds, err);
    while (status == HAC_OK && !call->answered)
        status = hac_client_receive(client, deadline_ns, err);
    if (call->answered)
        return call->status;
    LIST_REMOVE(call, waiting);
    return status;
}

/* Asks for the next piece of a text and adds it. */
static hac_status add_piece(hac_client *client, uint64_t serial, hac_reply *text, hac_error *err)
{
    Hac__Client__MoreText more = HAC__CLIENT__MORE_TEXT__INIT;
    Hac__Client__Request request = HAC__CLIENT__REQUEST__INIT;
    hac_call call = {.expected = HAC__CLIENT__RESPONSE__WHAT_TEXT};
    more.text = serial;
    more.offset = text->text_bytes;
    request.what_case = HAC__CLIENT__REQUEST__WHAT_MORE_TEXT;
    request.more_text = &more;
    hac_status status = run_call(client, &call, &request, NULL, 0, UINT64_MAX, err);
    hac_autofree char *piece = call.reply.text;
    if (status != HAC_OK)
        return status;
    if (call.reply.bytes != text->bytes || call.reply.text_bytes > text->bytes - text->text_bytes) {
        hac_client_break(client, HAC_PROTOCOL, "a text has changed between its pieces");
        return hac_client_check(client, err);
    }
    memcpy(text->text + text->text_bytes, piece, call.reply.text_bytes);
    text->text_bytes += call.reply.text_bytes;
    text->text[text->text_bytes] = '\0';
    return HAC_OK;
}

/* The rest of a text that does not fit into one message. */
static hac_status complete_text(hac_client *client, uint64_t serial, hac_reply *text, hac_error *err)
{
    if (text->text_bytes == text->bytes)
        return HAC_OK;
    char *whole = realloc(text->text, (size_t)text->bytes + 1);
    if (whole == NULL)
        return hac_fail_no_memory(err);
    text->text = whole;
    hac_status status = HAC_OK;
    while (status == HAC_OK && text->text_bytes < text->bytes)
        status = add_piece(client, serial, text, err);
    return status;
}

static hac_status call_with(hac_client *client, Hac__Client__Request *request, const int *fds, size_t n_fds,
                            Hac__Client__Response__WhatCase expected, uint64_t deadline_ns, hac_reply *ret,
                            hac_error *err)
{
    hac_call call = {.expected = expected};
    hac_status status = run_call(client, &call, request, fds, n_fds, deadline_ns, err);
    if (status == HAC_OK && expected == HAC__CLIENT__RESPONSE__WHAT_TEXT)
        status = complete_text(client, call.serial, &call.reply, err);
    if (status != HAC_OK) {
        free(call.reply.text);
        hac_mappings_drop(&client->mappings, call.reply.mapping);
        return status;
    }
    if (ret != NULL)
        *ret = call.reply;
    return HAC_OK;
}

hac_status hac_client_call(hac_client *client, Hac__Client__Request *request,
                           Hac__Client__Response__WhatCase expected, uint64_t deadline_ns, hac_reply *ret,
                           hac_error *err)
{
    return call_with(client, request, NULL, 0, expected, deadline_ns, ret, err);
}

hac_status hac_client_call_fd(hac_client *client, Hac__Client__Request *request, int fd,
                              Hac__Client__Response__WhatCase expected, hac_reply *ret, hac_error *err)
{
    return call_with(client, request, &fd, 1, expected, UINT64_MAX, ret, err);
}

hac_status hac_client_call_grow(hac_client *client, Hac__Client__Request *request, hac_mapping *mapping,
                                hac_error *err)
{
    hac_call call = {.expected = HAC__CLIENT__RESPONSE__WHAT_BUFFER, .growing = mapping};
    return run_call(client, &call, request, NULL, 0, UINT64_MAX, err);
}

hac_status hac_client_ask(hac_client *client, hac_call *call, Hac__Client__Request *request, int fd,
                          hac_error *err)
{
    request->serial = call->serial = hac_client_next_serial(client);
    LIST_INSERT_HEAD(&client->calls, call, waiting);
    hac_status status = hac_client_send(client, request, &fd, fd >= 0 ? 1 : 0, err);
    if (status != HAC_OK && !call->answered)
        LIST_REMOVE(call, waiting);
    return status;
}

void hac_client_forget(hac_client *client, hac_call *call)
{
    if (!call->answered)
        LIST_REMOVE(call, waiting);
    free(call->reply.text);
    hac_client_give_back(client, call->reply.mapping);
    call->reply = (hac_reply){0};
}

void hac_client_drop(hac_client *client, hac_call *call)
{
    call->dropped = true;
    if (!call->answered)
        return;
    hac_client_forget(client, call);
    free(call);
}

void hac_client_give_back(hac_client *client, hac_mapping *mapping)
{
    if (mapping == NULL)
        return;
    Hac__Client__BufferRelease ask = HAC__CLIENT__BUFFER_RELEASE__INIT;
    ask.buffer = hac_mapping_id(mapping);
    Hac__Client__Request request = HAC__CLIENT__REQUEST__INIT;
    request.what_case = HAC__CLIENT__REQUEST__WHAT_BUFFER_RELEASE;
    request.buffer_release = &ask;
    /* Drop the mapping before telling hacd. The send may process a response that reuses this buffer id. */
    hac_mappings_drop(&client->mappings, mapping);
    hac_client_tell(client, &request);
}
