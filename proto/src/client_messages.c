/* SPDX-License-Identifier: Apache-2.0 */
#include "base/folder_keys.h"
#include "base/format.h"
#include "base/input_options.h"
#include "base/limits.h"
#include "base/op_layout.h"
#include "base/query_layout.h"
#include "base/split_layout.h"
#include "base/text.h"
#include "base/value.h"
#include "proto/frame.h"
#include "validate.h"
#include "wire.h"

#include <hac/query.h>
#include <hac/sort.h>
#include <hac/type.h>

#define CAPABILITIES_MAX 32
/* A message over a limit of this table ends the connection. libhac checks the limits before it sends, so only
 * a broken peer sends such a message. */
/* clang-format off */
const hac_message_limits hac_client_limits[] = {
    HAC_LIMITS(hac__client__buffer_alloc, false,
        {"bytes", .flags = HAC_FIELD_NEEDED, .max = HAC_WIRE_BYTES_MAX}),
    HAC_LIMITS(hac__client__buffer_grow, false,
        {"bytes", .flags = HAC_FIELD_NEEDED, .max = HAC_WIRE_BYTES_MAX}),
    HAC_LIMITS(hac__client__input, false,
        {"descriptor", .max = HAC_DESCRIPTORS_MAX - 1},
        {"offset", .max = HAC_WIRE_BYTES_MAX},
        {"bytes", .max = HAC_WIRE_BYTES_MAX},
        {"path", .bytes = HAC_FOLDER_KEYS_BYTES}),
    HAC_LIMITS(hac__client__sort_spec, false,
        {"type", .flags = HAC_FIELD_NEEDED, .max = HAC_TYPE_COUNT - 1},
        {"algorithm", .max = HAC_SORT_END - 1},
        {"scheme", .max = HAC_SCHEME_END - 1},
        {"fold", .max = HAC_FOLD_END - 1},
        {"fold_steps", .count = HAC_FOLD_STEPS_MAX},
        {"payload_bytes", .max = HAC_PAYLOAD_MAX}),
    HAC_LIMITS(hac__client__job_options, false,
        {"devices", .count = HAC_DEVICES_MAX},
        {"priority", .max = HAC_PRIORITY_MAX},
        {"determinism", .max = 1}),
    HAC_LIMITS(hac__client__submit_sort, false,
        {"spec", .flags = HAC_FIELD_NEEDED},
        {"input", .flags = HAC_FIELD_NEEDED},
        {"options", .flags = HAC_FIELD_NEEDED}),
    HAC_LIMITS(hac__client__simulated_device, false,
        {"name", .flags = HAC_FIELD_NEEDED},
        {"capability", .count = CAPABILITIES_MAX}),
    HAC_LIMITS(hac__client__capability, false,
        {"key", .flags = HAC_FIELD_NEEDED}),
    HAC_LIMITS(hac__client__plan_sort, false,
        {"spec", .flags = HAC_FIELD_NEEDED},
        {"options", .flags = HAC_FIELD_NEEDED},
        {"devices", .count = HAC_DEVICES_MAX}),
    HAC_LIMITS(hac__client__query_source, false,
        {"format", .flags = HAC_FIELD_NEEDED, .max = HAC_INPUT_END - 1},
        {"options", .bytes = HAC_INPUT_OPTIONS_BYTES_MAX},
        {"detect", .max = HAC_DETECT_MAX}),
    HAC_LIMITS(hac__client__compiled_query, false,
        {"query", .flags = HAC_FIELD_NEEDED, .bytes = HAC_QUERY_BYTES_MAX}),
    HAC_LIMITS(hac__client__query_method, false,
        {"hot_keys", .max = HAC_HOT_KEYS_END - 1},
        {"sample", .max = HAC_PER_MILLE},
        {"hot_share", .max = HAC_PER_MILLE},
        {"work_groups", .max = HAC_WORK_ITEMS_MAX},
        {"work_items", .max = HAC_WORK_ITEMS_MAX},
        {"engine", .max = HAC_ENGINE_END - 1}),
    HAC_LIMITS(hac__client__query_spec, false,
        {"source", .flags = HAC_FIELD_NEEDED},
        {"output_format", .max = HAC_RESULT_END - 1},
        {"rows", .max = HAC_WIRE_BYTES_MAX}),
    HAC_LIMITS(hac__client__submit_query, false,
        {"spec", .flags = HAC_FIELD_NEEDED},
        {"inputs", .count = HAC_DESCRIPTORS_MAX},
        {"options", .flags = HAC_FIELD_NEEDED}),
    HAC_LIMITS(hac__client__append_split, false,
        {"job", .flags = HAC_FIELD_NEEDED},
        {"bytes", .max = HAC_WIRE_BYTES_MAX},
        {"sets", .max = HAC_SPLIT_SETS_MAX},
        {"set_bytes", .max = HAC_WIRE_BYTES_MAX},
        {"input_bytes", .max = HAC_WIRE_BYTES_MAX},
        {"offset", .max = HAC_WIRE_BYTES_MAX},
        {"bytes_before", .max = HAC_WIRE_BYTES_MAX},
        {"reading_ns", .max = HAC_WIRE_BYTES_MAX},
        {"input_wait_ns", .max = HAC_WIRE_BYTES_MAX},
        {"device_wait_ns", .max = HAC_WIRE_BYTES_MAX},
        {"writing_ns", .max = HAC_WIRE_BYTES_MAX},
        {"path", .bytes = HAC_FOLDER_KEYS_BYTES}),
    HAC_LIMITS(hac__client__op_span, false,
        {"buffer", .max = HAC_OPS_BUFFERS_MAX - 1},
        {"offset", .max = HAC_WIRE_BYTES_MAX},
        {"bytes", .max = HAC_WIRE_BYTES_MAX},
        {"touch_first", .max = HAC_WIRE_BYTES_MAX},
        {"touch_bytes", .max = HAC_WIRE_BYTES_MAX}),
    HAC_LIMITS(hac__client__op_task, false,
        {"codelet", .flags = HAC_FIELD_NEEDED, .bytes = HAC_OPS_CODELET_MAX},
        {"type", .max = HAC_TYPE_COUNT - 1},
        {"first", .max = HAC_WIRE_BYTES_MAX},
        {"count", .max = HAC_WIRE_BYTES_MAX},
        {"grain", .max = HAC_WIRE_BYTES_MAX},
        {"spans", .count = HAC_SPANS_MAX},
        {"call", .flags = HAC_FIELD_NEEDED, .bytes = HAC_OP_CALL_MAX},
        {"after", .count = HAC_OPS_AFTER_MAX},
        {"memory", .max = HAC_WIRE_BYTES_MAX}),
    HAC_LIMITS(hac__client__submit_ops, false,
        {"buffers", .count = HAC_OPS_BUFFERS_MAX},
        {"tasks", .count = HAC_OPS_TASKS_MAX},
        {"options", .flags = HAC_FIELD_NEEDED},
        {"threshold", .max = HAC_WIRE_BYTES_MAX}),
    HAC_LIMITS(hac__client__output, false,
        {"job", .flags = HAC_FIELD_NEEDED}),
    HAC_LIMITS(hac__client__append_graph, false,
        {"job", .flags = HAC_FIELD_NEEDED},
        {"log", .bytes = HAC_OPS_LOG_MAX}),
    HAC_LIMITS(hac__client__plan_ops, false,
        {"ops", .flags = HAC_FIELD_NEEDED},
        {"sizes", .max = HAC_WIRE_BYTES_MAX, .count = HAC_OPS_BUFFERS_MAX},
        {"devices", .count = HAC_DEVICES_MAX}),
    HAC_LIMITS(hac__client__plan_query, false,
        {"spec", .flags = HAC_FIELD_NEEDED},
        {"sources", .max = HAC_WIRE_BYTES_MAX, .count = HAC_DESCRIPTORS_MAX},
        {"options", .flags = HAC_FIELD_NEEDED},
        {"devices", .count = HAC_DEVICES_MAX},
        {"footers", .count = HAC_DESCRIPTORS_MAX * HAC_FOOTER_N_VALUES}),
    HAC_LIMITS(hac__client__submit_calibrate, false,
        {"devices", .count = HAC_DEVICES_MAX},
        {"options", .flags = HAC_FIELD_NEEDED},
        {"query", .flags = HAC_FIELD_NEEDED}),
    HAC_LIMITS(hac__client__revert_tuning, false,
        {"devices", .count = HAC_DEVICES_MAX}),
    HAC_LIMITS(hac__client__more_text, false,
        {"text", .flags = HAC_FIELD_NEEDED},
        {"offset", .flags = HAC_FIELD_NEEDED, .max = HAC_TEXT_MAX}),
    HAC_LIMITS(hac__client__build_kernels, false,
        {"device", .flags = HAC_FIELD_NEEDED}),
    HAC_LIMITS(hac__client__request, false,
        {"serial", .flags = HAC_FIELD_NEEDED}),
    HAC_LIMITS(hac__client__failure, false,
        {"code", .flags = HAC_FIELD_NEEDED, .max = HAC_INTERNAL},
        {"message", .bytes = HAC_WIRE_MESSAGE_MAX}),
    HAC_LIMITS(hac__client__buffer, false,
        {"bytes", .flags = HAC_FIELD_NEEDED, .max = HAC_WIRE_BYTES_MAX}),
    HAC_LIMITS(hac__client__job_event, false,
        {"eta_seconds", .flags = HAC_FIELD_NEGATIVE},
        {"note", .bytes = HAC_WIRE_MESSAGE_MAX}),
    HAC_LIMITS(hac__client__job_done, true,
        {"result_bytes", .max = HAC_WIRE_BYTES_MAX},
        {"text", .bytes = HAC_INLINE_MAX}),
    HAC_LIMITS(hac__client__split_done, true,
        {"result_bytes", .max = HAC_WIRE_BYTES_MAX}),
    HAC_LIMITS(hac__client__graph_done, true,
        {"values", .bytes = HAC_INLINE_MAX}),
    HAC_LIMITS(hac__client__text, false,
        {"bytes", .max = HAC_TEXT_MAX}),
    {NULL, false, NULL, 0},
};
/* clang-format on */

/* The descriptors that the inputs of a request refer to. Each must be referred to once. */
typedef struct named_descriptors {
    bool named[HAC_DESCRIPTORS_MAX];
    size_t n;
} named_descriptors;

/* n descriptors came with the request. A reference to a higher number counts as a missing descriptor. */
static hac_status check_all_named(const named_descriptors *fds, size_t n, hac_error *err)
{
    bool all = fds->n == n;
    for (size_t i = 0; i < n && all; i++)
        all = fds->named[i];
    return all ? HAC_OK
               : hac_fail(err, HAC_PROTOCOL, "its inputs do not name each of the %zu descriptors", n);
}

static hac_status validate_input(const Hac__Client__Input *input, named_descriptors *fds, hac_error *err)
{
    switch (input->where_case) {
    case HAC__CLIENT__INPUT__WHERE_DATA:
        if (input->offset != 0 || input->bytes != input->data.len)
            return hac_fail(err, HAC_PROTOCOL, "%llu bytes from byte %llu on, but it has %zu inline",
                            (unsigned long long)input->bytes, (unsigned long long)input->offset,
                            input->data.len);
        return HAC_OK;
    case HAC__CLIENT__INPUT__WHERE_BUFFER:
        return hac_validate_aligned_range(input->offset, input->bytes, err);
    case HAC__CLIENT__INPUT__WHERE_DESCRIPTOR:
        if (fds->named[input->descriptor])
            return hac_fail(err, HAC_PROTOCOL, "descriptor: %u is named twice", input->descriptor);
        fds->named[input->descriptor] = true;
        fds->n++;
        return hac_validate_range(input->offset, input->bytes, err);
    default:
        return hac_fail(err, HAC_PROTOCOL, "is empty");
    }
}

static hac_status validate_submit_sort(const Hac__Client__SubmitSort *sort, size_t n_fds, hac_error *err)
{
    named_descriptors fds = {.n = 0};
    hac_status status = validate_input(sort->input, &fds, err);
    if (status != HAC_OK) {
        (void)hac_error_prefix(err, "input");
        return status;
    }
    if ((sort->payload != NULL) != (sort->spec->payload_bytes > 0))
        return hac_fail(err, HAC_PROTOCOL, "payload: is %s, but its width is %u",
                        sort->payload ? "there" : "missing", sort->spec->payload_bytes);
    if (sort->payload != NULL)
        status = validate_input(sort->payload, &fds, err);
    if (status != HAC_OK) {
        (void)hac_error_prefix(err, "payload");
        return status;
    }
    return check_all_named(&fds, n_fds, err);
}

/* A description of columns or of a file comes before the query is compiled, one of footers after it. */
static hac_status validate_description(const Hac__Client__QuerySpec *spec, hac_error *err)
{
    bool footers = spec->describe == HAC__CLIENT__DESCRIPTION__DESCRIBE_FOOTERS;
    bool compiled = footers || spec->describe == HAC__CLIENT__DESCRIPTION__DESCRIBE_NOTHING;
    if (compiled != (spec->compiled != NULL))
        return hac_fail(err, HAC_PROTOCOL, "spec: compiled: is %s",
                        compiled ? "missing" : "there, but it is no query");
    if (footers && spec->source->format != HAC_INPUT_PARQUET)
        return hac_fail(err, HAC_PROTOCOL, "spec: describe: footers are those of Parquet files");
    return HAC_OK;
}

static hac_status validate_query_spec(const Hac__Client__QuerySpec *spec, hac_error *err)
{
    const Hac__Client__QuerySource *source = spec->source;
    hac_input_options options;
    hac_error why = HAC_ERROR_NONE;
    if (hac_input_options_read(source->options.data, source->options.len, (hac_input_format)source->format,
                               &options, &why) != HAC_OK)
        return hac_fail(err, HAC_PROTOCOL, "spec: source: options: %s", why.message);
    hac_status status = validate_description(spec, err);
    if (status != HAC_OK)
        return status;
    if (spec->rows != 0 && spec->source->format != HAC_INPUT_TABLE)
        return hac_fail(err, HAC_PROTOCOL, "spec: rows: are there, but the source is no table");
    if (spec->limit != 0 && !spec->has_limit)
        return hac_fail(err, HAC_PROTOCOL, "spec: limit: is there, but there is none");
    return HAC_OK;
}

/* A query reads any number of descriptors, or one input of another kind. A table must be in a buffer. */
static hac_status validate_query_inputs(const Hac__Client__SubmitQuery *query, named_descriptors *fds,
                                        hac_error *err)
{
    for (size_t i = 0; i < query->n_inputs; i++) {
        const Hac__Client__Input *input = query->inputs[i];
        bool descriptor = input->where_case == HAC__CLIENT__INPUT__WHERE_DESCRIPTOR;
        hac_status status = validate_input(input, fds, err);
        if (status == HAC_OK && !descriptor && query->n_inputs > 1)
            status = hac_fail(err, HAC_PROTOCOL, "is no descriptor, but one of %zu", query->n_inputs);
        if (status == HAC_OK && query->spec->source->format == HAC_INPUT_TABLE &&
            input->where_case != HAC__CLIENT__INPUT__WHERE_BUFFER)
            status = hac_fail(err, HAC_PROTOCOL, "is no buffer, but a table");
        if (status == HAC_OK && input->where_case == HAC__CLIENT__INPUT__WHERE_DATA &&
            input->data.len > HAC_QUERY_DATA_MAX)
            status = hac_fail(err, HAC_PROTOCOL, "data: has %zu bytes, at most %d are allowed",
                              input->data.len, HAC_QUERY_DATA_MAX);
        if (status != HAC_OK) {
            (void)hac_error_prefix(err, "inputs[%zu]", i);
            return status;
        }
    }
    return HAC_OK;
}

/* Splits are text that the client has cut into records. */
static hac_status validate_split_spec(const Hac__Client__QuerySpec *spec, hac_error *err)
{
    uint32_t format = spec->source->format;
    if (hac_formats[format].records == HAC_RECORDS_NONE || spec->compiled == NULL)
        return hac_fail(err, HAC_PROTOCOL, "splits: of %s", spec->compiled == NULL ? "no query" : "no text");
    return HAC_OK;
}

static hac_status validate_splits(const Hac__Client__SubmitQuery *query, size_t n_fds, hac_error *err)
{
    if (query->n_inputs > 0)
        return hac_fail(err, HAC_PROTOCOL, "inputs: are there, but they come in splits");
    hac_status status = validate_split_spec(query->spec, err);
    return status == HAC_OK ? hac_validate_fd_count(n_fds, 0, err) : status;
}

static hac_status validate_submit_query(const Hac__Client__SubmitQuery *query, size_t n_fds, hac_error *err)
{
    named_descriptors fds = {.n = 0};
    hac_status status = validate_query_spec(query->spec, err);
    if (status == HAC_OK && query->splits)
        return validate_splits(query, n_fds, err);
    if (status == HAC_OK && query->name[0] != '\0')
        status = hac_fail(err, HAC_PROTOCOL, "name: is there, but there are no splits");
    if (status == HAC_OK && query->n_inputs == 0)
        status = hac_fail(err, HAC_PROTOCOL, "inputs: there are none");
    if (status == HAC_OK)
        status = validate_query_inputs(query, &fds, err);
    return status == HAC_OK ? check_all_named(&fds, n_fds, err) : status;
}

/* A split without a buffer only says that no split follows. */
static hac_status validate_range(const Hac__Client__AppendSplit *split, hac_error *err)
{
    if (split->buffer != 0)
        return hac_fail(err, HAC_PROTOCOL, "buffer: is %u, of a split in a file", split->buffer);
    if (split->bytes == 0 || split->bytes > HAC_WIRE_BYTES_MAX - split->offset)
        return hac_fail(err, HAC_PROTOCOL, "bytes: is %llu, from byte %llu on",
                        (unsigned long long)split->bytes, (unsigned long long)split->offset);
    if (split->set_bytes > HAC_SPLIT_SET_BYTES) /* one task gets the whole data set, and cannot be divided */
        return hac_fail(err, HAC_PROTOCOL, "set_bytes: is %llu, of a split in a file",
                        (unsigned long long)split->set_bytes);
    if (split->set_bytes == 0 || split->sets != (split->bytes - 1) / split->set_bytes + 1)
        return hac_fail(err, HAC_PROTOCOL, "sets: is %u, of %llu bytes in sets of %llu", split->sets,
                        (unsigned long long)split->bytes, (unsigned long long)split->set_bytes);
    return HAC_OK;
}

static hac_status validate_append_split(const Hac__Client__AppendSplit *split, size_t n_fds, hac_error *err)
{
    bool data = split->buffer != 0 || split->in_file;
    hac_status status = split->in_file ? validate_range(split, err) : HAC_OK;
    if (status != HAC_OK)
        return status;
    if (!split->in_file && (split->offset != 0 || split->bytes_before != 0))
        return hac_fail(err, HAC_PROTOCOL, "offset: is of a split that is in no file");
    if (!data && (!split->last || split->bytes != 0 || split->sets != 0))
        return hac_fail(err, HAC_PROTOCOL, "buffer: is missing");
    if (split->buffer != 0 && split->bytes < sizeof(hac_split_header))
        return hac_fail(err, HAC_PROTOCOL, "bytes: is %llu, the header alone has %zu",
                        (unsigned long long)split->bytes, sizeof(hac_split_header));
    if (split->set_bytes > split->bytes || (split->set_bytes == 0) != (split->sets == 0))
        return hac_fail(err, HAC_PROTOCOL, "set_bytes: is %llu, of %u data sets in %llu bytes",
                        (unsigned long long)split->set_bytes, split->sets, (unsigned long long)split->bytes);
    if (split->input_bytes > split->bytes)
        return hac_fail(err, HAC_PROTOCOL, "input_bytes: is %llu, of a split of %llu bytes",
                        (unsigned long long)split->input_bytes, (unsigned long long)split->bytes);
    return hac_validate_fd_count(n_fds, split->in_file ? 1 : 0, err);
}

static hac_status validate_plan_query(const Hac__Client__PlanQuery *plan, size_t n_fds, hac_error *err)
{
    hac_status status = validate_query_spec(plan->spec, err);
    if (status == HAC_OK && plan->spec->describe != HAC__CLIENT__DESCRIPTION__DESCRIBE_NOTHING)
        status = hac_fail(err, HAC_PROTOCOL, "spec: describe: is there, but a query is planned");
    if (status == HAC_OK && plan->n_sources == 0)
        status = hac_fail(err, HAC_PROTOCOL, "sources: there are none");
    if (status == HAC_OK && plan->n_footers != 0 &&
        (plan->spec->source->format != HAC_INPUT_PARQUET ||
         plan->n_footers != plan->n_sources * HAC_FOOTER_N_VALUES))
        status = hac_fail(err, HAC_PROTOCOL, "footers: has %zu figures of %zu sources", plan->n_footers,
                          plan->n_sources);
    if (status == HAC_OK && plan->splits)
        status = validate_split_spec(plan->spec, err);
    return status == HAC_OK ? hac_validate_fd_count(n_fds, 0, err) : status;
}

static hac_status validate_output(const Hac__Client__Output *output, size_t n_fds, hac_error *err)
{
    if (output->failure != NULL && !output->ended)
        return hac_fail(err, HAC_PROTOCOL, "failure: is there, but the output has not ended");
    return hac_validate_fd_count(n_fds, 0, err);
}

hac_status hac_request_validate(const Hac__Client__Request *request, size_t n_fds, hac_error *err)
{
    hac_status status = n_fds <= HAC_DESCRIPTORS_MAX ? HAC_OK : hac_validate_fd_count(n_fds, 0, err);
    if (status == HAC_OK && request->what_case == HAC__CLIENT__REQUEST__WHAT_SUBMIT_SORT)
        status = validate_submit_sort(request->submit_sort, n_fds, err);
    else if (status == HAC_OK && request->what_case == HAC__CLIENT__REQUEST__WHAT_SUBMIT_QUERY)
        status = validate_submit_query(request->submit_query, n_fds, err);
    else if (status == HAC_OK && request->what_case == HAC__CLIENT__REQUEST__WHAT_APPEND_SPLIT)
        status = validate_append_split(request->append_split, n_fds, err);
    else if (status == HAC_OK && request->what_case == HAC__CLIENT__REQUEST__WHAT_SUBMIT_OPS)
        status = hac_submit_ops_validate(request->submit_ops, n_fds, err);
    else if (status == HAC_OK && request->what_case == HAC__CLIENT__REQUEST__WHAT_APPEND_GRAPH)
        status = hac_append_graph_validate(request->append_graph, n_fds, err);
    else if (status == HAC_OK && request->what_case == HAC__CLIENT__REQUEST__WHAT_OUTPUT)
        status = validate_output(request->output, n_fds, err);
    else if (status == HAC_OK && request->what_case == HAC__CLIENT__REQUEST__WHAT_PLAN_OPS)
        status = hac_plan_ops_validate(request->plan_ops, n_fds, err);
    else if (status == HAC_OK && request->what_case == HAC__CLIENT__REQUEST__WHAT_PLAN_QUERY)
        status = validate_plan_query(request->plan_query, n_fds, err);
    else if (status == HAC_OK)
        status = hac_validate_fd_count(
            n_fds, request->what_case == HAC__CLIENT__REQUEST__WHAT_BUILD_KERNELS ? 1 : 0, err);
    if (status != HAC_OK)
        (void)hac_error_prefix(err, "Request");
    return status;
}

static hac_status validate_job_done(const Hac__Client__JobDone *done, size_t *ret_fds, hac_error *err)
{
    bool succeeded = done->state == HAC__CLIENT__JOB_STATE__JOB_DONE;
    if (done->state < HAC__CLIENT__JOB_STATE__JOB_DONE)
        return hac_fail(err, HAC_PROTOCOL, "state: the job has not ended");
    if (succeeded && done->failure != NULL)
        return hac_fail(err, HAC_PROTOCOL, "failure: is there, but the job is done");
    if (done->state == HAC__CLIENT__JOB_STATE__JOB_FAILED && done->failure == NULL)
        return hac_fail(err, HAC_PROTOCOL, "failure: is missing");
    if (done->result_case == HAC__CLIENT__JOB_DONE__RESULT__NOT_SET)
        return HAC_OK;
    if (!succeeded)
        return hac_fail(err, HAC_PROTOCOL, "there is a result, but the job is not done");
    if (done->result_case == HAC__CLIENT__JOB_DONE__RESULT_DATA) {
        if (done->result_bytes != done->data.len)
            return hac_fail(err, HAC_PROTOCOL, "result_bytes: is %llu, but there are %zu",
                            (unsigned long long)done->result_bytes, done->data.len);
        return HAC_OK;
    }
    if (done->result_bytes > done->buffer->bytes)
        return hac_fail(err, HAC_PROTOCOL, "result_bytes: is %llu, but the buffer has %llu",
                        (unsigned long long)done->result_bytes, (unsigned long long)done->buffer->bytes);
    *ret_fds = done->buffer->attached ? 1 : 0;
    return HAC_OK;
}

static hac_status validate_split_done(const Hac__Client__SplitDone *done, size_t *ret_fds, hac_error *err)
{
    bool buffer = done->result_case == HAC__CLIENT__SPLIT_DONE__RESULT_BUFFER;
    bool data = done->result_case == HAC__CLIENT__SPLIT_DONE__RESULT_DATA;
    uint64_t capacity = buffer ? done->buffer->bytes : data ? done->data.len : 0;
    if (done->result_bytes > capacity || (data && done->result_bytes != capacity))
        return hac_fail(err, HAC_PROTOCOL, "result_bytes: is %llu, but there are %llu",
                        (unsigned long long)done->result_bytes, (unsigned long long)capacity);
    *ret_fds = buffer && done->buffer->attached ? 1 : 0;
    return HAC_OK;
}

static hac_status validate_text(const Hac__Client__Text *text, hac_error *err)
{
    if (text->text.len > text->bytes || (text->text.len == 0 && text->bytes != 0))
        return hac_fail(err, HAC_PROTOCOL, "bytes: is %llu, but there are %zu",
                        (unsigned long long)text->bytes, text->text.len);
    return HAC_OK;
}

/* Checks the answer. *ret_fds is the number of descriptors that must come with it; the caller sets it to 0.
 */
static hac_status validate_answer(const Hac__Client__Response *response, size_t *ret_fds, hac_error *err)
{
    switch (response->what_case) {
    case HAC__CLIENT__RESPONSE__WHAT_BUFFER:
        *ret_fds = response->buffer->attached ? 1 : 0;
        return HAC_OK;
    case HAC__CLIENT__RESPONSE__WHAT_EVENT:
        if (response->event->fraction > 1)
            return hac_fail(err, HAC_PROTOCOL, "fraction: is above 1");
        return HAC_OK;
    case HAC__CLIENT__RESPONSE__WHAT_DONE:
        return validate_job_done(response->done, ret_fds, err);
    case HAC__CLIENT__RESPONSE__WHAT_SPLIT_DONE:
        return validate_split_done(response->split_done, ret_fds, err);
    case HAC__CLIENT__RESPONSE__WHAT_TEXT:
        return validate_text(response->text, err);
    default:
        return HAC_OK;
    }
}

hac_status hac_response_validate(const Hac__Client__Response *response, size_t n_fds, hac_error *err)
{
    bool event = response->what_case == HAC__CLIENT__RESPONSE__WHAT_EVENT;
    bool failure = response->what_case == HAC__CLIENT__RESPONSE__WHAT_FAILURE;
    size_t expected_fds = 0;
    hac_status status = validate_answer(response, &expected_fds, err);
    if (status == HAC_OK)
        status = hac_validate_fd_count(n_fds, expected_fds, err);
    /* A failure without a serial is about the connection. */
    if (status == HAC_OK && !failure && event != (response->serial == 0))
        status = hac_fail(err, HAC_PROTOCOL, "serial: %s", event ? "an event has none" : "is missing");
    if (status != HAC_OK)
        (void)hac_error_prefix(err, "Response");
    return status;
}
