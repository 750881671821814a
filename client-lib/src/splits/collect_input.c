/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hac_query_splits for queries that return no rows before the last input row is read. The client appends all
 * inputs to one buffer.
 */
#include "collect_input.h"

#include <inttypes.h>
#include <poll.h>
#include <string.h>

#include "base/format.h"
#include "base/split_layout.h"
#include "base/text.h"
#include "input/stream.h"
#include "input_list.h"
#include "jobs/job_input.h"

typedef struct collection {
    hac_input_list *inputs;
    const hac_query_options *options;
    const hac_compiled_query *compiled;
    hac_record_rule rule;
    hac_buffer *buffer;
    uint64_t filled;
    uint64_t header_at, header_bytes; /* header of the first input that has one, without its line end */
    char first[256];                  /* name of that input */
    const char *remark;               /* see hac_input_remark */
} collection;

static uint8_t *bytes_of(const collection *w)
{
    return hac_buffer_data(w->buffer);
}

static hac_status put(collection *w, uint8_t byte, hac_error *err)
{
    if (w->filled == hac_buffer_bytes(w->buffer)) {
        hac_status status = hac_buffer_grow(w->buffer, w->filled + 1, err);
        if (status != HAC_OK)
            return status;
    }
    bytes_of(w)[w->filled++] = byte;
    return HAC_OK;
}

static void remove_bytes(collection *w, uint64_t at, uint64_t bytes)
{
    memmove(bytes_of(w) + at, bytes_of(w) + at + bytes, (size_t)(w->filled - at - bytes));
    w->filled -= bytes;
}

static bool is_delimited(const collection *w)
{
    return hac_formats[w->rule.format].header;
}

static void drop_mark(collection *w, uint64_t at)
{
    static const uint8_t mark[] = {0xef, 0xbb, 0xbf};
    if (hac_formats[w->rule.format].text && w->filled - at >= sizeof(mark) &&
        memcmp(bytes_of(w) + at, mark, sizeof(mark)) == 0)
        remove_bytes(w, at, sizeof(mark));
}

/* Scans the records from `at` on. *ret_ragged: the last record is not whole. */
static hac_status look_at_records(const collection *w, uint64_t at, bool *ret_ragged, hac_error *err)
{
    hac_record_cut cut;
    uint64_t end;
    hac_record_view view = {bytes_of(w) + at, 0, w->filled - at, true};
    hac_status status;
    hac_record_cut_begin(&cut, &w->rule);
    do
        status = hac_record_cut_next(&cut, &view, &end, err);
    while (status == HAC_OK);
    *ret_ragged = cut.ragged;
    return status == HAC_NOT_FOUND ? HAC_OK : hac_error_prefix(err, "%s", hac_input_name(w->inputs->input));
}

/* Ends the last record of an input before another input follows. */
static hac_status end_records(collection *w, uint64_t at, hac_error *err)
{
    const char *name = hac_input_name(w->inputs->input);
    bool ragged = false;
    hac_status status = look_at_records(w, at, &ragged, err);
    if (status == HAC_OK && ragged && w->rule.format == HAC_INPUT_FIXED)
        return hac_fail_ragged(name, w->filled - at, &w->rule, err);
    if (status == HAC_OK && ragged)
        return hac_fail(err, HAC_FAILED, "%s ends within a record, and another input follows", name);
    bool text = hac_formats[w->rule.format].text;
    if (status == HAC_OK && text && w->filled > at && bytes_of(w)[w->filled - 1] != '\n')
        status = put(w, '\n', err);
    return status;
}

/* The reader of a header line returns the bytes of the names, NAME_END between two names, and LINE_END after
 * the last name. The reader skips quotes around a name. */
enum { NAME_END = 256, LINE_END = 257 };

typedef struct header_reader {
    const uint8_t *at, *end;
    uint8_t delimiter;
    /* The format has quotes; the position is inside quotes; the current name has begun. */
    bool quotes, inside, begun;
} header_reader;

static int next_of_header(header_reader *r)
{
    if (r->quotes && !r->begun && r->at < r->end && *r->at == '"') {
        r->inside = true;
        r->at++;
    }
    r->begun = true;
    if (r->inside && r->at < r->end && *r->at == '"') {
        r->at++;
        r->inside = r->at < r->end && *r->at == '"'; /* a doubled quote is part of the name */
    }
    if (r->at == r->end)
        return LINE_END;
    if (r->inside || *r->at != r->delimiter)
        return *r->at++;
    r->at++;
    r->begun = false;
    return NAME_END;
}

static bool same_header(const collection *w, const uint8_t *line, uint64_t bytes)
{
    const uint8_t *first = bytes_of(w) + w->header_at;
    bool quotes = hac_format_has_quotes(w->rule.format);
    uint8_t delimiter = hac_format_delimiter(w->rule.format, w->options->input_options.delimiter);
    header_reader a = {.at = first, .end = first + w->header_bytes, .delimiter = delimiter, .quotes = quotes};
    header_reader b = {.at = line, .end = line + bytes, .delimiter = delimiter, .quotes = quotes};
    int x, y;
    do {
        x = next_of_header(&a);
        y = next_of_header(&b);
    } while (x == y && x != LINE_END);
    return x == y;
}

/* Keeps the header of the first input. The headers of the other inputs must name the same columns, and are
 * removed. */
static hac_status take_header(collection *w, uint64_t at, hac_error *err)
{
    hac_record_cut cut;
    hac_record_rule rule = w->rule;
    hac_record_view view = {bytes_of(w) + at, 0, w->filled - at, true};
    uint64_t end = 0;
    rule.set_bytes = 0;
    hac_record_cut_begin(&cut, &rule);
    hac_status status = hac_record_cut_next(&cut, &view, &end, err);
    if (status == HAC_NOT_FOUND) /* the input is empty */
        return HAC_OK;
    if (status != HAC_OK)
        return hac_error_prefix(err, "%s", hac_input_name(w->inputs->input));
    uint64_t bytes = end - (view.data[end - 1] == '\n');
    bytes -= bytes > 0 && view.data[bytes - 1] == '\r';
    if (w->first[0] == '\0') {
        w->header_at = at;
        w->header_bytes = bytes;
        strcpy(w->first, hac_input_name(w->inputs->input));
        return HAC_OK;
    }
    if (!same_header(w, view.data, bytes))
        return hac_fail(
            err, HAC_FAILED,
            "%s: its header is not the one of %s; rows that are ordered, or given as columns, can "
            "come from several inputs only if these have the same header",
            hac_input_name(w->inputs->input), w->first);
    remove_bytes(w, at, end);
    return HAC_OK;
}

static hac_status read_one(collection *w, hac_error *err)
{
    uint64_t max = w->options->job.memory_limit, at = w->filled;
    bool bounded = max != 0 && max < UINT64_MAX;
    hac_status status = hac_stream_append(w->inputs->input, w->buffer, &w->filled,
                                          bounded ? max + 1 : UINT64_MAX, w->inputs->splits->stop_fd, err);
    if (status == HAC_OK && bounded && w->filled > max)
        status =
            hac_fail(err, HAC_REFUSED,
                     "%s: rows that are ordered, or given as columns, need the whole input in memory; it has "
                     "more than the %" PRIu64 " bytes that the query may use",
                     hac_input_name(w->inputs->input), max);
    if (status != HAC_OK)
        return status;
    if (w->remark == NULL)
        w->remark = hac_input_remark(w->inputs->input);
    drop_mark(w, at);
    if (is_delimited(w) && w->options->input_options.no_header == 0)
        status = take_header(w, at, err);
    return status == HAC_OK && !hac_input_list_is_last(w->inputs) ? end_records(w, at, err) : status;
}

static hac_status submit(hac_client *client, collection *w, hac_job **ret_job, hac_error *err)
{
    char line[256];
    const char *name = w->inputs->splits->name;
    Hac__Client__Input input, *list[] = {&input};
    hac_query_call call = {.options = w->options, .compiled = w->compiled, .inputs = list, .n_inputs = 1};
    if (w->filled <= HAC_QUERY_DATA_MAX) {
        hac_job_input_inline(bytes_of(w), w->filled, &input);
    } else {
        call.owned = hac_buffer_take(hac_steal_ptr(w->buffer));
        hac_job_input_buffer(call.owned, 0, w->filled, &input);
    }
    hac_utf8_copy_line(line, sizeof(line), name != NULL ? name : "the input");
    if (w->remark != NULL)
        strncat(line, w->remark, sizeof(line) - strlen(line) - 1);
    input.name = line;
    input.path = (ProtobufCBinaryData){w->inputs->keys.bytes, (uint8_t *)w->inputs->keys.text};
    return hac_query_submit(client, &call, ret_job, err);
}

/* Waits for the end of the job. Cancels the job if stop_fd becomes readable. */
static hac_status wait_for(hac_client *client, hac_job *job, int stop_fd, hac_error *err)
{
    hac_status status = HAC_OK;
    while (status == HAC_OK && job->flying) {
        struct pollfd p[] = {{client->socket, POLLIN, 0}, {stop_fd, POLLIN, 0}};
        if (poll(p, 2, -1) < 0 && errno != EINTR)
            return hac_fail_errno(err, HAC_IO, errno, "cannot wait for hacd");
        if (p[1].revents != 0) {
            hac_status cancelled = hac_job_cancel(job, err);
            if (cancelled != HAC_OK)
                return cancelled;
            stop_fd = -1;
        }
        status = hac_client_receive(client, 0, err);
        status = status == HAC_AGAIN ? HAC_OK : status;
    }
    return status == HAC_OK ? hac_job_wait(job, 0, err) : status;
}

hac_status hac_collect_input(hac_client *client, hac_input_list *inputs, const hac_query_options *options,
                             const hac_compiled_query *compiled, hac_job **ret_job, hac_error *err)
{
    collection w = {.inputs = inputs, .options = options, .compiled = compiled};
    hac_job *job = NULL;
    if (options->path_columns != NULL && inputs->splits->n_inputs > 1)
        return hac_fail(
            err, HAC_UNSUPPORTED,
            "rows that are ordered, or given as columns, come from up to %d files of names with keys, none "
            "of them compressed or a JSON document; convert the files to Parquet, or select a folder",
            HAC_QUERY_FILES_MAX);
    hac_status status = hac_input_list_rule(options, HAC_SPLIT_SET_BYTES, &w.rule, err);
    if (status == HAC_OK)
        status = hac_stream_buffer(client, &w.buffer, err);
    while (status == HAC_OK) {
        status = hac_input_list_next(inputs, err);
        if (status == HAC_OK)
            status = read_one(&w, err);
    }
    if (status == HAC_NOT_FOUND)
        status = submit(client, &w, &job, err);
    hac_buffer_free(w.buffer);
    if (job == NULL)
        return status;
    hac_job_ref(job); /* the job's callbacks may free the job */
    status = wait_for(client, job, inputs->splits->stop_fd, err);
    hac_job_unref(job);
    *ret_job = job;
    return status;
}
