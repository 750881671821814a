/* SPDX-License-Identifier: Apache-2.0 */
#include "first_records.h"

#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/byte_order_mark.h"
#include "base/error.h"
#include "base/split_layout.h"
#include "base/text.h"
#include "jobs/job_input.h"
#include "query/header_names.h"
#include "record_cut.h"
#include "split_writer.h"

enum {
    FIRST_BYTES = 1 << 16,
    INFER_BYTES = 1 << 20, /* types are inferred from at most this many bytes, fewer if the input pauses */
    PAUSE_MS = 10,
    FOUND_RECORDS = 3, /* a delimiter or a header that is to be found needs as many, or the input's end */
};

typedef struct first_records {
    hac_input_list *inputs;
    const hac_query_options *options;
    bool infers; /* whole records must be read, for their types or their delimiter */
    bool names_json;
    bool early;    /* rows are written as they arrive, so a pause ends the reading */
    uint8_t *data; /* owned */
    size_t bytes, capacity;
    bool ended, paused;
    hac_error failure; /* error of the input after these bytes */
} first_records;

/* ---- reading ---- */

/* Waits for the input. HAC_AGAIN: the input has no bytes yet. */
static hac_status wait_for_input(first_records *r, hac_error *err)
{
    int wants = hac_input_wants(r->inputs->input);
    struct pollfd p[] = {{wants, POLLIN, 0}, {r->inputs->splits->stop_fd, POLLIN, 0}};
    int n = poll(p, 2, wants < 0 ? 0 : r->early && r->bytes > 0 ? PAUSE_MS : -1);
    if (n < 0 && errno != EINTR)
        return hac_fail_errno(err, HAC_IO, errno, "cannot wait for the input");
    if (n > 0 && p[1].revents != 0)
        return hac_fail(err, HAC_CANCELLED, "cancelled");
    r->paused = n == 0 && wants >= 0;
    return wants < 0 || (n > 0 && p[0].revents != 0) ? HAC_OK : HAC_AGAIN;
}

static hac_status make_room(first_records *r, hac_error *err)
{
    if (r->bytes < r->capacity)
        return HAC_OK;
    size_t capacity = r->capacity == 0 ? FIRST_BYTES : 2 * r->capacity;
    uint8_t *data = realloc(r->data, capacity);
    if (data == NULL)
        return hac_fail_no_memory(err);
    r->data = data;
    r->capacity = capacity;
    return HAC_OK;
}

static hac_status read_more(first_records *r, hac_error *err)
{
    uint64_t n = 0;
    hac_status status = make_room(r, err);
    if (status == HAC_OK)
        status = wait_for_input(r, err);
    if (status == HAC_OK)
        status = hac_input_read(r->inputs->input, r->data + r->bytes, r->capacity - r->bytes, &n, err);
    r->ended = status == HAC_OK && n == 0;
    r->bytes += (size_t)n;
    return status == HAC_AGAIN ? HAC_OK : status;
}

/* ---- checks whether enough is read ---- */

/* Returns the end of the last whole record. 0: there is no whole record. */
static size_t whole_records(const first_records *r)
{
    const hac_record_rule rule = {.format = r->options->input_format, .set_bytes = HAC_RECORD_MAX};
    const hac_record_view view = {r->data, 0, r->bytes, r->ended};
    uint64_t end = 0, last = 0;
    hac_record_cut cut;
    hac_status status;
    hac_record_cut_begin(&cut, &rule);
    while ((status = hac_record_cut_next(&cut, &view, &end, NULL)) == HAC_OK)
        last = end;
    if (status == HAC_AGAIN && hac_record_cut_early(&cut, &view, &end) == HAC_OK)
        last = end;
    return status == HAC_FAILED ? r->bytes : (size_t)last;
}

/* Whether there are `n` whole records, or what cannot be cut into records. */
static bool has_records(const first_records *r, unsigned n)
{
    const hac_record_rule rule = {.format = r->options->input_format};
    const hac_record_view view = {r->data, 0, r->bytes, r->ended};
    hac_record_cut cut;
    uint64_t end = 0;
    hac_status status = HAC_OK;
    hac_record_cut_begin(&cut, &rule);
    for (unsigned found = 0; found < n && status == HAC_OK;) {
        uint64_t begin = end;
        status = hac_record_cut_next(&cut, &view, &end, NULL);
        found += status == HAC_OK && end - begin > 2; /* empty lines may stand in place of comments */
    }
    return status == HAC_OK || status == HAC_FAILED;
}

/* Whether the records before a pause do. What is found in them must not depend on the writer's pauses. */
static bool pause_ends(const first_records *r)
{
    return r->paused && (hac_query_finds(r->options) == 0 || has_records(r, FOUND_RECORDS));
}

static bool has_enough(first_records *r, hac_schema *header)
{
    if (r->ended || r->bytes >= HAC_RECORD_MAX)
        return true;
    if (r->infers)
        return (r->bytes >= INFER_BYTES || pause_ends(r)) && whole_records(r) > 0;
    if (r->names_json)
        return r->bytes >= HAC_JSON_BEGIN_BYTES || r->paused;
    if (r->bytes <= HAC_SPLIT_HEADER_MAX &&
        hac_header_names(r->options, r->data, r->bytes, false, header, NULL) != HAC_OK)
        return false;
    if (hac_query_finds(r->options) == 0 || hac_query_names_settle(r->options, header))
        return true;
    hac_schema_clear(header);
    r->infers = true;
    return has_enough(r, header);
}

/* Fails if the header cannot be read as a whole. The executor's reader reports errors within the header. */
static hac_status check_header(const first_records *r, hac_error *err)
{
    const hac_record_rule rule = {.format = r->options->input_format};
    const hac_record_view view = {r->data, 0, r->bytes, r->ended};
    uint64_t end = 0;
    hac_record_cut cut;
    if (!hac_query_has_header(r->options) || r->bytes == 0)
        return HAC_OK;
    hac_record_cut_begin(&cut, &rule);
    hac_status status = hac_record_cut_next(&cut, &view, &end, err);
    status = hac_split_header_check(&cut, status, status == HAC_OK ? end : r->bytes, err);
    return status == HAC_OK ? HAC_OK : hac_error_prefix(err, "%s", hac_input_name(r->inputs->input));
}

static bool is_mark_alone(const first_records *r)
{
    return r->bytes > 0 && hac_byte_order_mark(r->data, r->bytes) == r->bytes;
}

/* Reads the needed bytes of the first input that is not empty. HAC_NOT_FOUND: all inputs are empty. */
static hac_status read_first(first_records *r, hac_schema *header, hac_error *err)
{
    for (;;) {
        hac_status status = hac_input_list_next(r->inputs, err);
        if (status != HAC_OK)
            return status;
        r->ended = false;
        r->bytes = 0;
        while (status == HAC_OK && !has_enough(r, header))
            status = read_more(r, &r->failure);
        /* The records before a failure of the input count. The input fails again after them. */
        bool headed = !r->infers && !r->names_json && hac_query_finds(r->options) == 0;
        if (status != HAC_OK && (status == HAC_CANCELLED || headed || whole_records(r) == 0))
            return hac_fail(err, status, "%s", r->failure.message);
        if (r->bytes > 0 && !is_mark_alone(r))
            return HAC_OK;
    }
}

/* ---- compiling ---- */

/* Compiles the query with a description of the whole records that were read. */
static hac_status compile_read(hac_client *client, const first_records *r, const char *name,
                               hac_compiled_query **ret, hac_error *err)
{
    char line[256];
    Hac__Client__Input input, *list[] = {&input};
    size_t bytes = r->infers && !r->ended ? whole_records(r) : r->bytes;
    hac_query_call call = {.options = r->options,
                           .inputs = list,
                           .n_inputs = 1,
                           .text = r->data != NULL ? r->data : (const uint8_t *)"",
                           .text_bytes = bytes,
                           .text_goes_on = !r->ended || !hac_input_list_is_last(r->inputs),
                           .unseen = r->inputs->splits->n_inputs - r->inputs->next};
    hac_buffer *buffer = NULL;
    hac_utf8_copy_line(line, sizeof(line), name);
    if (bytes > HAC_QUERY_DATA_MAX) {
        hac_status status = hac_buffer_alloc(client, bytes, &buffer, err);
        if (status != HAC_OK)
            return status;
        memcpy(hac_buffer_data(buffer), r->data, bytes);
        hac_job_input_buffer(buffer->mapping, 0, bytes, &input);
    } else {
        hac_job_input_inline(call.text, bytes, &input);
    }
    input.name = line;
    hac_status status = hac_query_call_compile(client, &call, ret, err);
    hac_buffer_free(buffer);
    return status;
}

hac_status hac_first_records_compile(hac_client *client, hac_input_list *inputs,
                                     const hac_query_options *options, hac_compiled_query **ret,
                                     hac_error *err)
{
    hac_source_columns columns = {0};
    first_records r = {.inputs = inputs,
                       .options = options,
                       .infers = hac_query_infers(options),
                       .names_json = hac_query_names_json(options),
                       .failure = HAC_ERROR_NONE};
    r.early = !hac_query_asks_aggregates(options);
    if (!hac_query_needs_columns(options, r.infers) && !r.names_json)
        return hac_query_compile_options(options, &columns, ret, err);
    r.infers |= !hac_query_has_header(options) && hac_query_finds(options) != 0; /* no line of names helps */
    hac_status status = read_first(&r, &columns.schema, err);
    bool none = status == HAC_NOT_FOUND;
    if (none) {
        r.bytes = 0;
        r.ended = true;
    }
    bool finds = hac_query_finds(options) != 0 && !none && !hac_query_names_settle(options, &columns.schema);
    bool named = !r.infers && !finds && (columns.schema.n_fields > 0 || r.names_json);
    columns.json = (hac_json_begin){r.data, r.bytes, r.ended && hac_input_list_is_last(inputs)};
    if (status == HAC_OK && !named)
        status = check_header(&r, err);
    if ((status == HAC_OK || none) && named)
        status = hac_query_compile_options(options, &columns, ret, err);
    else if (status == HAC_OK || none)
        status =
            compile_read(client, &r, none ? inputs->splits->name : hac_input_name(inputs->input), ret, err);
    hac_source_columns_clear(&columns);
    if (status == HAC_OK && !none) {
        hac_input_unread(inputs->input, hac_steal_ptr(r.data), r.bytes, &r.failure);
        inputs->ahead = true;
    }
    free(r.data);
    return status;
}
