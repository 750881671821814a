/* SPDX-License-Identifier: Apache-2.0 */
#include "split_queue.h"

#include <inttypes.h>
#include <poll.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"

enum { PAUSE_MS = 5, PAUSE_LONGEST_MS = 200 }; /* min and max pause between two requests for memory */

/* Adds the time since the mark to *to. */
static void count_time(hac_split_queue *queue, uint64_t *to)
{
    uint64_t now = hac_now_ns();
    *to += now - queue->times.mark;
    queue->times.mark = now;
}

/* ---- responses ---- */

/* Handles a split that hacd refused. The usual reason is the end of the job, and then the job's error tells
 * why. */
static hac_status split_failed(hac_split_queue *queue, const hac_split_slot *slot, hac_error *err)
{
    hac_job *job = queue->job;
    hac_status status = hac_client_check(queue->client, err);
    if (status != HAC_OK)
        return status;
    status = job->flying ? hac_job_cancel(job, NULL) : HAC_OK;
    while (status == HAC_OK && job->flying)
        status = hac_client_receive(queue->client, UINT64_MAX, NULL);
    if (!job->flying && job->error.code != HAC_OK && job->error.code != HAC_CANCELLED)
        return hac_fail(err, job->error.code, "%s", job->error.message);
    return hac_fail(err, slot->err.code, "%s", slot->err.message);
}

static hac_status protocol_error(hac_split_queue *queue, const char *what, hac_error *err)
{
    hac_client_break(queue->client, HAC_PROTOCOL, what);
    return hac_client_check(queue->client, err);
}

static hac_status write_rows(hac_split_queue *queue, const hac_reply *reply, hac_error *err)
{
    const void *rows = reply->mapping != NULL ? (const void *)reply->mapping->address : reply->text;
    if (reply->bytes == 0)
        return HAC_OK;
    if (queue->write == NULL)
        return protocol_error(queue, "hacd gives rows where none were asked for", err);
    hac_error local = HAC_ERROR_NONE; /* *err may contain an old message */
    count_time(queue, &queue->times.reading);
    hac_status status = queue->write(queue->context, rows, (size_t)reply->bytes, &local);
    count_time(queue, &queue->times.writing);
    if (status == HAC_OK)
        return HAC_OK;
    return hac_fail(err, status, "%s",
                    local.message[0] != '\0' ? local.message : "the result cannot be written");
}

static hac_status take_answer(hac_split_queue *queue, hac_split_slot *slot, hac_error *err)
{
    const hac_reply *reply = &slot->call.reply;
    hac_status status;
    if (slot->call.status != HAC_OK)
        status = split_failed(queue, slot, err);
    else if (reply->job != queue->job->id || reply->split != slot->number)
        status = protocol_error(queue, "hacd answers for another split than it was given", err);
    else
        status = write_rows(queue, reply, err);
    queue->enough |= reply->enough;
    hac_client_forget(queue->client, &slot->call);
    return status;
}

/* Processes the responses that have arrived, in the order of the splits. */
static hac_status take_answers(hac_split_queue *queue, hac_error *err)
{
    hac_status status = HAC_OK;
    while (status == HAC_OK && queue->n_in_flight > 0 && queue->in_flight[0]->call.answered) {
        hac_split_slot *slot = queue->in_flight[0];
        memmove(queue->in_flight, queue->in_flight + 1, --queue->n_in_flight * sizeof(slot));
        slot->flying = false;
        status = take_answer(queue, slot, err);
    }
    return status;
}

/* Checks whether the job has ended. A job that has ended needs no more input, and has usually failed. */
static hac_status look_at_job(hac_split_queue *queue, hac_error *err)
{
    const hac_job *job = queue->job;
    if (job->flying)
        return HAC_OK;
    queue->enough = true;
    return job->error.code == HAC_OK ? HAC_OK : hac_fail(err, job->error.code, "%s", job->error.message);
}

static hac_status receive_all(hac_split_queue *queue, hac_error *err)
{
    hac_status status;
    do
        status = hac_client_receive(queue->client, 0, err);
    while (status == HAC_OK);
    return status == HAC_AGAIN ? HAC_OK : status;
}

/* True if a response arrived during another wait. */
static bool has_news(const hac_split_queue *queue)
{
    return !queue->job->flying || (queue->n_in_flight > 0 && queue->in_flight[0]->call.answered);
}

hac_status hac_split_queue_wait(hac_split_queue *queue, int input, int timeout_ms, hac_split_queue_event *ret,
                                hac_error *err)
{
    struct pollfd p[] = {{queue->client->socket, POLLIN, 0}, {queue->stop_fd, POLLIN, 0}, {input, POLLIN, 0}};
    bool news = has_news(queue);
    count_time(queue, &queue->times.reading);
    int n = poll(p, sizeof(p) / sizeof(p[0]), news ? 0 : timeout_ms);
    count_time(queue, input >= 0 ? &queue->times.input_wait : &queue->times.device_wait);
    if (n < 0 && errno != EINTR)
        return hac_fail_errno(err, HAC_IO, errno, "cannot wait for the input");
    if (n <= 0)
        p[0].revents = p[1].revents = p[2].revents = 0;
    if (p[1].revents != 0)
        return hac_fail(err, HAC_CANCELLED, "cancelled");
    hac_status status = p[0].revents != 0 ? receive_all(queue, err) : hac_client_check(queue->client, err);
    if (status == HAC_OK)
        status = take_answers(queue, err);
    if (status == HAC_OK)
        status = look_at_job(queue, err);
    *ret = (hac_split_queue_event){.readable = p[2].revents != 0, .quiet = n == 0 && !news};
    return status;
}

static hac_status wait_for_answer(hac_split_queue *queue, hac_error *err)
{
    size_t before = queue->n_in_flight;
    hac_split_queue_event event;
    hac_status status = take_answers(queue, err);
    while (status == HAC_OK && queue->n_in_flight == before && before > 0)
        status = hac_split_queue_wait(queue, -1, -1, &event, err);
    return status;
}

/* ---- buffers ---- */

static void drop_buffer(hac_split_slot *slot)
{
    hac_buffer_free(hac_steal_ptr(slot->buffer));
}

/* Waits before the next request for memory. The pause grows with every request. The job may end during the
 * pause, and stop_fd may become readable. */
static hac_status wait_for_memory(hac_split_queue *queue, int *pause_ms, hac_error *err)
{
    uint64_t until = hac_now_ns() + (uint64_t)*pause_ms * 1000000;
    hac_status status = HAC_OK;
    for (uint64_t now = hac_now_ns(); status == HAC_OK && now < until; now = hac_now_ns()) {
        hac_split_queue_event event;
        status = hac_split_queue_wait(queue, -1, (int)((until - now + 999999) / 1000000), &event, err);
        if (status == HAC_OK && queue->enough)
            return hac_fail(err, HAC_FAILED, "the job has ended");
    }
    *pause_ms = 2 * *pause_ms < PAUSE_LONGEST_MS ? 2 * *pause_ms : PAUSE_LONGEST_MS;
    return status;
}

static uint64_t bytes_of(const hac_split_slot *slot)
{
    return slot->buffer == NULL ? 0 : hac_buffer_bytes(slot->buffer);
}

/* Returns a slot that is not in flight, if possible with a buffer that is large enough. The slot that was
 * filled last is still read, so it may be returned, but its buffer must not be replaced. NULL: no slot is
 * free until a response arrives. */
static hac_split_slot *free_slot(hac_split_queue *queue, uint64_t bytes)
{
    hac_split_slot *small = NULL, *empty = NULL, *last = queue->filling;
    for (size_t i = 0; i < HAC_SPLIT_SLOTS; i++) {
        hac_split_slot *slot = &queue->slots[i];
        if (slot->flying || slot == last)
            continue;
        if (bytes_of(slot) >= bytes)
            return slot;
        *(slot->buffer == NULL ? &empty : &small) = slot;
    }
    if (small != NULL)
        return small;
    if (empty != NULL && !queue->scarce)
        return empty;
    if (!last->flying && bytes_of(last) >= bytes)
        return last;
    return queue->n_in_flight == 0 ? empty : NULL; /* no response will free a slot, so try the pool again */
}

/* Replaces the slot's buffer if the buffer is too small, or more than twice as large as preferred. */
static hac_status fit_slot(hac_split_queue *queue, hac_split_slot *slot, uint64_t bytes, double *ret_retry,
                           hac_error *err)
{
    bool wasteful = bytes_of(slot) > 2 * queue->usual && bytes <= queue->usual;
    if (bytes_of(slot) >= bytes && (!wasteful || slot == queue->filling))
        return HAC_OK;
    drop_buffer(slot);
    bytes = bytes > queue->usual ? bytes : queue->usual;
    return hac_buffer_alloc_split(queue->client, queue->job->id, bytes, &slot->buffer, ret_retry, err);
}

hac_status hac_split_queue_buffer(hac_split_queue *queue, uint64_t bytes, hac_error *err)
{
    hac_error local = HAC_ERROR_NONE;
    int pause_ms = PAUSE_MS;
    for (;;) {
        double retry = 0;
        hac_split_slot *slot = free_slot(queue, bytes);
        hac_status status = slot == NULL ? HAC_REFUSED : fit_slot(queue, slot, bytes, &retry, &local);
        if (status == HAC_OK) {
            queue->filling = slot;
            return HAC_OK;
        }
        bool refused = status == HAC_REFUSED || status == HAC_NO_MEMORY;
        if (refused && slot != NULL && !queue->scarce) {
            queue->scarce = true;
            continue;
        }
        if (!refused || (queue->n_in_flight == 0 && retry <= 0))
            return hac_fail(err, status, "%s", local.message);
        status =
            queue->n_in_flight > 0 ? wait_for_answer(queue, err) : wait_for_memory(queue, &pause_ms, err);
        if (status != HAC_OK)
            return status;
    }
}

hac_status hac_split_queue_first(hac_split_queue *queue, uint64_t min, hac_error *err)
{
    hac_split_slot *slot = queue->filling = &queue->slots[0];
    hac_error local = HAC_ERROR_NONE;
    int pause_ms = PAUSE_MS;
    for (;;) {
        double retry = 0;
        hac_status status = hac_buffer_alloc_split(queue->client, queue->job->id, queue->usual, &slot->buffer,
                                                   &retry, &local);
        if (status != HAC_REFUSED && status != HAC_NO_MEMORY)
            return status == HAC_OK ? HAC_OK : hac_fail(err, status, "%s", local.message);
        if (retry <= 0 && queue->usual / 2 < min)
            return hac_fail(err, status, "%s", local.message);
        if (retry <= 0)
            queue->usual /= 2;
        else if ((status = wait_for_memory(queue, &pause_ms, err)) != HAC_OK)
            return status;
    }
}

/* ---- sending ---- */

hac_status hac_split_queue_send(hac_split_queue *queue, const hac_split_sizes *split,
                                const hac_split_range *range, const char *name, bool last, hac_error *err)
{
    hac_status status = HAC_OK;
    while (status == HAC_OK && hac_split_queue_full(queue))
        status = wait_for_answer(queue, err);
    if (status != HAC_OK || (queue->enough && split != NULL))
        return status;
    bool filled = split != NULL && range == NULL;
    hac_split_slot *slot = filled ? queue->filling : free_slot(queue, 0);
    char line[256];
    hac_utf8_copy_line(line, sizeof(line), name);
    Hac__Client__AppendSplit ask;
    hac__client__append_split__init(&ask);
    ask.job = queue->job->id;
    ask.last = last;
    count_time(queue, &queue->times.reading);
    ask.reading_ns = queue->times.reading;
    ask.input_wait_ns = queue->times.input_wait;
    ask.device_wait_ns = queue->times.device_wait;
    ask.writing_ns = queue->times.writing;
    if (range != NULL) {
        ask.in_file = true;
        ask.offset = range->offset;
        ask.bytes_before = range->bytes_before;
    }
    if (filled)
        ask.buffer = hac_mapping_id(slot->buffer->mapping);
    if (split != NULL) {
        ask.bytes = split->bytes;
        ask.sets = split->sets;
        ask.set_bytes = split->largest;
        ask.input_bytes = split->input_bytes;
        ask.name = line;
        if (queue->path != NULL)
            ask.path = (ProtobufCBinaryData){queue->path->bytes, (uint8_t *)(uintptr_t)queue->path->text};
    }
    Hac__Client__Request request = HAC__CLIENT__REQUEST__INIT;
    request.what_case = HAC__CLIENT__REQUEST__WHAT_APPEND_SPLIT;
    request.append_split = &ask;
    slot->err = (hac_error)HAC_ERROR_NONE;
    slot->call = (hac_call){.expected = HAC__CLIENT__RESPONSE__WHAT_SPLIT_DONE, .err = &slot->err};
    slot->number = queue->sent;
    status = hac_client_ask(queue->client, &slot->call, &request, range != NULL ? range->fd : -1, err);
    if (status != HAC_OK)
        return status;
    slot->flying = true;
    queue->in_flight[queue->n_in_flight++] = slot;
    queue->sent++;
    queue->last_sent = last;
    return HAC_OK;
}

/* ---- the end ---- */

hac_status hac_split_queue_finish(hac_split_queue *queue, hac_error *err)
{
    hac_split_queue_event event;
    hac_status status = HAC_OK;
    while (status == HAC_OK && (queue->n_in_flight > 0 || queue->job->flying))
        status = hac_split_queue_wait(queue, -1, -1, &event, err);
    return status != HAC_OK ? status : hac_job_wait(queue->job, 0, err);
}

static bool all_answered(const hac_split_queue *queue)
{
    for (size_t i = 0; i < queue->n_in_flight; i++)
        if (!queue->in_flight[i]->call.answered)
            return false;
    return true;
}

void hac_split_queue_abandon(hac_split_queue *queue)
{
    hac_status status = hac_client_check(queue->client, NULL);
    if (status == HAC_OK && queue->job->flying)
        status = hac_job_cancel(queue->job, NULL);
    while (status == HAC_OK && (queue->job->flying || !all_answered(queue)))
        status = hac_client_receive(queue->client, UINT64_MAX, NULL);
    while (queue->n_in_flight > 0) {
        hac_split_slot *slot = queue->in_flight[--queue->n_in_flight];
        hac_client_forget(queue->client, &slot->call);
        slot->flying = false;
    }
}

void hac_split_queue_clear(hac_split_queue *queue)
{
    for (size_t i = 0; i < HAC_SPLIT_SLOTS; i++)
        drop_buffer(&queue->slots[i]);
}
