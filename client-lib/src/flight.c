/* SPDX-License-Identifier: Apache-2.0 */
#include "flight.h"

#include <inttypes.h>
#include <poll.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"

enum { PAUSE_MS = 5, PAUSE_LONGEST_MS = 200 }; /* between two questions for memory that others have */

/* The time since the mark goes there. */
static void count_time(hac_flight *flight, uint64_t *to)
{
    uint64_t now = hac_now_ns();
    *to += now - flight->times.mark;
    flight->times.mark = now;
}

/* ---- answers ---- */

/* hacd has not taken a split: mostly because the job has ended, which then says why. */
static hac_status split_failed(hac_flight *flight, const hac_slot *slot, hac_error *err)
{
    hac_job *job = flight->job;
    hac_status status = hac_client_check(flight->client, err);
    if (status != HAC_OK)
        return status;
    status = job->flying ? hac_job_cancel(job, NULL) : HAC_OK;
    while (status == HAC_OK && job->flying)
        status = hac_client_receive(flight->client, UINT64_MAX, NULL);
    if (!job->flying && job->error.code != HAC_OK && job->error.code != HAC_CANCELLED)
        return hac_fail(err, job->error.code, "%s", job->error.message);
    return hac_fail(err, slot->err.code, "%s", slot->err.message);
}

static hac_status protocol_error(hac_flight *flight, const char *what, hac_error *err)
{
    hac_client_break(flight->client, HAC_PROTOCOL, what);
    return hac_client_check(flight->client, err);
}

static hac_status write_rows(hac_flight *flight, const hac_reply *reply, hac_error *err)
{
    const void *rows = reply->mapping != NULL ? (const void *)reply->mapping->address : reply->text;
    if (reply->bytes == 0)
        return HAC_OK;
    if (flight->write == NULL)
        return protocol_error(flight, "hacd gives rows where none were asked for", err);
    hac_error local = HAC_ERROR_NONE; /* *err may hold an old message */
    count_time(flight, &flight->times.reading);
    hac_status status = flight->write(flight->context, rows, (size_t)reply->bytes, &local);
    count_time(flight, &flight->times.writing);
    if (status == HAC_OK)
        return HAC_OK;
    return hac_fail(err, status, "%s",
                    local.message[0] != '\0' ? local.message : "the result cannot be written");
}

static hac_status take_answer(hac_flight *flight, hac_slot *slot, hac_error *err)
{
    const hac_reply *reply = &slot->call.reply;
    hac_status status;
    if (slot->call.status != HAC_OK)
        status = split_failed(flight, slot, err);
    else if (reply->job != flight->job->id || reply->split != slot->number)
        status = protocol_error(flight, "hacd answers for another split than it was given", err);
    else
        status = write_rows(flight, reply, err);
    flight->enough |= reply->enough;
    hac_client_forget(flight->client, &slot->call);
    return status;
}

/* Those that have come, in order. */
static hac_status take_answers(hac_flight *flight, hac_error *err)
{
    hac_status status = HAC_OK;
    while (status == HAC_OK && flight->n_flying > 0 && flight->queue[0]->call.answered) {
        hac_slot *slot = flight->queue[0];
        memmove(flight->queue, flight->queue + 1, --flight->n_flying * sizeof(slot));
        slot->flying = false;
        status = take_answer(flight, slot, err);
    }
    return status;
}

/* A job that has ended needs no more input, and has failed, mostly. */
static hac_status look_at_job(hac_flight *flight, hac_error *err)
{
    const hac_job *job = flight->job;
    if (job->flying)
        return HAC_OK;
    flight->enough = true;
    return job->error.code == HAC_OK ? HAC_OK : hac_fail(err, job->error.code, "%s", job->error.message);
}

static hac_status receive_all(hac_flight *flight, hac_error *err)
{
    hac_status status;
    do
        status = hac_client_receive(flight->client, 0, err);
    while (status == HAC_OK);
    return status == HAC_AGAIN ? HAC_OK : status;
}

/* Something has come while another thing was waited for. */
static bool has_news(const hac_flight *flight)
{
    return !flight->job->flying || (flight->n_flying > 0 && flight->queue[0]->call.answered);
}

hac_status hac_flight_wait(hac_flight *flight, int input, int timeout_ms, hac_flight_event *ret,
                           hac_error *err)
{
    struct pollfd p[] = {
        {flight->client->socket, POLLIN, 0}, {flight->stop_fd, POLLIN, 0}, {input, POLLIN, 0}};
    bool news = has_news(flight);
    count_time(flight, &flight->times.reading);
    int n = poll(p, sizeof(p) / sizeof(p[0]), news ? 0 : timeout_ms);
    count_time(flight, input >= 0 ? &flight->times.input_wait : &flight->times.device_wait);
    if (n < 0 && errno != EINTR)
        return hac_fail_errno(err, HAC_IO, errno, "cannot wait for the input");
    if (n <= 0)
        p[0].revents = p[1].revents = p[2].revents = 0;
    if (p[1].revents != 0)
        return hac_fail(err, HAC_CANCELLED, "cancelled");
    hac_status status = p[0].revents != 0 ? receive_all(flight, err) : hac_client_check(flight->client, err);
    if (status == HAC_OK)
        status = take_answers(flight, err);
    if (status == HAC_OK)
        status = look_at_job(flight, err);
    *ret = (hac_flight_event){.readable = p[2].revents != 0, .quiet = n == 0 && !news};
    return status;
}

static hac_status wait_for_answer(hac_flight *flight, hac_error *err)
{
    size_t before = flight->n_flying;
    hac_flight_event event;
    hac_status status = take_answers(flight, err);
    while (status == HAC_OK && flight->n_flying == before && before > 0)
        status = hac_flight_wait(flight, -1, -1, &event, err);
    return status;
}

/* ---- buffers ---- */

static void drop_buffer(hac_slot *slot)
{
    hac_buffer_free(hac_steal_ptr(slot->buffer));
}

/* Until memory is asked for again, which is done the seldomer the longer it takes. The job may end meanwhile,
 * and whoever reads the input may want to stop. */
static hac_status wait_for_memory(hac_flight *flight, int *pause_ms, hac_error *err)
{
    uint64_t until = hac_now_ns() + (uint64_t)*pause_ms * 1000000;
    hac_status status = HAC_OK;
    for (uint64_t now = hac_now_ns(); status == HAC_OK && now < until; now = hac_now_ns()) {
        hac_flight_event event;
        status = hac_flight_wait(flight, -1, (int)((until - now + 999999) / 1000000), &event, err);
        if (status == HAC_OK && flight->enough)
            return hac_fail(err, HAC_FAILED, "the job has ended");
    }
    *pause_ms = 2 * *pause_ms < PAUSE_LONGEST_MS ? 2 * *pause_ms : PAUSE_LONGEST_MS;
    return status;
}

static uint64_t bytes_of(const hac_slot *slot)
{
    return slot->buffer == NULL ? 0 : hac_buffer_bytes(slot->buffer);
}

/* One that does not fly, if possible with a buffer that is large enough. What was filled last is still read
 * from: it can be the next one, but not be replaced. NULL: none until an answer comes. */
static hac_slot *free_slot(hac_flight *flight, uint64_t bytes)
{
    hac_slot *small = NULL, *empty = NULL, *last = flight->filling;
    for (size_t i = 0; i < HAC_FLIGHT_SLOTS; i++) {
        hac_slot *slot = &flight->slots[i];
        if (slot->flying || slot == last)
            continue;
        if (bytes_of(slot) >= bytes)
            return slot;
        *(slot->buffer == NULL ? &empty : &small) = slot;
    }
    if (small != NULL)
        return small;
    if (empty != NULL && !flight->scarce)
        return empty;
    if (!last->flying && bytes_of(last) >= bytes)
        return last;
    return flight->n_flying == 0 ? empty : NULL; /* nothing will come back: the pool may have some again */
}

/* A slot's buffer is replaced unless it has the size. */
static hac_status fit_slot(hac_flight *flight, hac_slot *slot, uint64_t bytes, double *ret_retry,
                           hac_error *err)
{
    bool wasteful = bytes_of(slot) > 2 * flight->usual && bytes <= flight->usual;
    if (bytes_of(slot) >= bytes && (!wasteful || slot == flight->filling))
        return HAC_OK;
    drop_buffer(slot);
    bytes = bytes > flight->usual ? bytes : flight->usual;
    return hac_buffer_alloc_split(flight->client, flight->job->id, bytes, &slot->buffer, ret_retry, err);
}

hac_status hac_flight_buffer(hac_flight *flight, uint64_t bytes, hac_error *err)
{
    hac_error local = HAC_ERROR_NONE;
    int pause_ms = PAUSE_MS;
    for (;;) {
        double retry = 0;
        hac_slot *slot = free_slot(flight, bytes);
        hac_status status = slot == NULL ? HAC_REFUSED : fit_slot(flight, slot, bytes, &retry, &local);
        if (status == HAC_OK) {
            flight->filling = slot;
            return HAC_OK;
        }
        bool refused = status == HAC_REFUSED || status == HAC_NO_MEMORY;
        if (refused && slot != NULL && !flight->scarce) {
            flight->scarce = true;
            continue;
        }
        if (!refused || (flight->n_flying == 0 && retry <= 0))
            return hac_fail(err, status, "%s", local.message);
        status =
            flight->n_flying > 0 ? wait_for_answer(flight, err) : wait_for_memory(flight, &pause_ms, err);
        if (status != HAC_OK)
            return status;
    }
}

hac_status hac_flight_first(hac_flight *flight, uint64_t least, hac_error *err)
{
    hac_slot *slot = flight->filling = &flight->slots[0];
    hac_error local = HAC_ERROR_NONE;
    int pause_ms = PAUSE_MS;
    for (;;) {
        double retry = 0;
        hac_status status = hac_buffer_alloc_split(flight->client, flight->job->id, flight->usual,
                                                   &slot->buffer, &retry, &local);
        if (status != HAC_REFUSED && status != HAC_NO_MEMORY)
            return status == HAC_OK ? HAC_OK : hac_fail(err, status, "%s", local.message);
        if (retry <= 0 && flight->usual / 2 < least)
            return hac_fail(err, status, "%s", local.message);
        if (retry <= 0)
            flight->usual /= 2;
        else if ((status = wait_for_memory(flight, &pause_ms, err)) != HAC_OK)
            return status;
    }
}

/* ---- handing over ---- */

hac_status hac_flight_send(hac_flight *flight, const hac_fill_split *split, const hac_flight_range *range,
                           const char *name, bool last, hac_error *err)
{
    hac_status status = HAC_OK;
    while (status == HAC_OK && hac_flight_full(flight))
        status = wait_for_answer(flight, err);
    if (status != HAC_OK || (flight->enough && split != NULL))
        return status;
    bool filled = split != NULL && range == NULL;
    hac_slot *slot = filled ? flight->filling : free_slot(flight, 0);
    char line[256];
    hac_utf8_copy_line(line, sizeof(line), name);
    Hac__Client__AppendSplit ask;
    hac__client__append_split__init(&ask);
    ask.job = flight->job->id;
    ask.last = last;
    count_time(flight, &flight->times.reading);
    ask.reading_ns = flight->times.reading;
    ask.input_wait_ns = flight->times.input_wait;
    ask.device_wait_ns = flight->times.device_wait;
    ask.writing_ns = flight->times.writing;
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
    }
    Hac__Client__Request request = HAC__CLIENT__REQUEST__INIT;
    request.what_case = HAC__CLIENT__REQUEST__WHAT_APPEND_SPLIT;
    request.append_split = &ask;
    slot->err = (hac_error)HAC_ERROR_NONE;
    slot->call = (hac_call){.expected = HAC__CLIENT__RESPONSE__WHAT_SPLIT_DONE, .err = &slot->err};
    slot->number = flight->sent;
    status = hac_client_ask(flight->client, &slot->call, &request, range != NULL ? range->fd : -1, err);
    if (status != HAC_OK)
        return status;
    slot->flying = true;
    flight->queue[flight->n_flying++] = slot;
    flight->sent++;
    flight->last_sent = last;
    return HAC_OK;
}

/* ---- the end ---- */

hac_status hac_flight_land(hac_flight *flight, hac_error *err)
{
    hac_flight_event event;
    hac_status status = HAC_OK;
    while (status == HAC_OK && (flight->n_flying > 0 || flight->job->flying))
        status = hac_flight_wait(flight, -1, -1, &event, err);
    return status != HAC_OK ? status : hac_job_wait(flight->job, 0, err);
}

static bool all_answered(const hac_flight *flight)
{
    for (size_t i = 0; i < flight->n_flying; i++)
        if (!flight->queue[i]->call.answered)
            return false;
    return true;
}

void hac_flight_abandon(hac_flight *flight)
{
    hac_status status = hac_client_check(flight->client, NULL);
    if (status == HAC_OK && flight->job->flying)
        status = hac_job_cancel(flight->job, NULL);
    while (status == HAC_OK && (flight->job->flying || !all_answered(flight)))
        status = hac_client_receive(flight->client, UINT64_MAX, NULL);
    while (flight->n_flying > 0) {
        hac_slot *slot = flight->queue[--flight->n_flying];
        hac_client_forget(flight->client, &slot->call);
        slot->flying = false;
    }
}

void hac_flight_clear(hac_flight *flight)
{
    for (size_t i = 0; i < HAC_FLIGHT_SLOTS; i++)
        drop_buffer(&flight->slots[i]);
}
