/* SPDX-License-Identifier: Apache-2.0 */
#include "query.h"

#include <stdio.h>
#include <string.h>

#include <hac/files.h>

#include "base/format.h"
#include "base/input_options.h"
#include "base/limits.h"
#include "base/query_layout.h"
#include "base/text.h"
#include "connection/options.h"

/* ---- options ---- */

hac_status hac_query_options_read(const hac_query_options *options, hac_query_options *ret, hac_error *err)
{
    hac_query_options known = HAC_QUERY_OPTIONS_INIT;
    hac_status status =
        hac_options_read(options, "query", "HAC_QUERY_OPTIONS_INIT", &known, sizeof(known), err);
    if (status == HAC_OK && (unsigned)known.input_format >= HAC_INPUT_END)
        return hac_fail(err, HAC_INVALID, "input format %d does not exist", (int)known.input_format);
    if (status == HAC_OK && known.summary == HAC_SUMMARY_COLUMNS)
        known.limit = 0; /* ends the reading of a stream */
    if (status == HAC_OK)
        *ret = known;
    return status;
}

hac_status hac_query_set_option(hac_query_options *options, const char *name, const char *value,
                                hac_error *err)
{
    hac_input_option_id id = hac_input_option_find(name);
    char known[256] = "";
    if (id < HAC_INPUT_OPTIONS) {
        hac_status status = hac_input_option_parse(id, value, &options->input_options, err);
        if (status != HAC_OK)
            hac_error_prefix(err, "%s", name);
        return status;
    }
    for (unsigned i = 0; i < HAC_INPUT_OPTIONS; i++) {
        size_t at = strlen(known);
        snprintf(known + at, sizeof(known) - at, "%s%s", at > 0 ? ", " : "", hac_input_option_rows[i].key);
    }
    return hac_fail(err, HAC_INVALID, "input formats have no option '%.64s'; there are: %s", name, known);
}

hac_input_format hac_input_format_of(const char *path)
{
    return hac_format_of_path(path);
}

const char *hac_input_format_name(hac_input_format format)
{
    bool of_files = format > HAC_INPUT_NONE && format < HAC_INPUT_END && format != HAC_INPUT_TABLE;
    return of_files ? hac_formats[format].name : NULL;
}

const char *hac_engine_name(hac_engine engine)
{
    static const char *const names[HAC_ENGINE_END] = {"auto", "host", "device"};
    return engine < HAC_ENGINE_END ? names[engine] : NULL;
}

static hac_status check_text(const char *name, const char *text, size_t max, hac_error *err)
{
    size_t bytes = text == NULL ? 0 : strlen(text);
    if (bytes > max)
        return hac_fail(err, HAC_INVALID, "%s: %zu bytes are too many; %zu are possible", name, bytes, max);
    for (size_t at = 0; at < bytes;) {
        size_t length = hac_utf8_sequence(text + at, bytes - at);
        if (length == 0)
            return hac_fail(err, HAC_INVALID, "%s: byte %zu is not valid UTF-8", name, at + 1);
        at += length;
    }
    return HAC_OK;
}

static hac_status check_texts(const hac_query_options *options, hac_error *err)
{
    const struct {
        const char *name, *text;
        size_t max;
    } texts[] = {{"--schema", options->schema, HAC_EXPRESSION_MAX},
                 {"--where", options->where, HAC_EXPRESSION_MAX},
                 {"--group-by", options->group_by, HAC_EXPRESSION_MAX},
                 {"--having", options->having, HAC_EXPRESSION_MAX},
                 {"--select", options->select, HAC_EXPRESSION_MAX},
                 {"--order-by", options->order_by, HAC_EXPRESSION_MAX},
                 {"--limit-by", options->limit_by, HAC_EXPRESSION_MAX},
                 {"--with-select", options->with_select, HAC_EXPRESSION_MAX},
                 {"--with-where", options->with_where, HAC_EXPRESSION_MAX}};
    hac_status status = HAC_OK;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]) && status == HAC_OK; i++)
        status = check_text(texts[i].name, texts[i].text, texts[i].max, err);
    return status;
}

static bool is_given(const char *text)
{
    return text != NULL && text[0] != '\0';
}

/* Whether the query says what a summary says itself. */
static bool shapes_rows(const hac_query_options *options)
{
    return is_given(options->group_by) || is_given(options->having) || is_given(options->order_by) ||
           is_given(options->limit_by) || options->offset != 0;
}

static hac_status check_options(const hac_query_options *options, bool table, hac_error *err)
{
    if (!table && options->input_format < HAC_INPUT_CSV)
        return hac_fail(err, HAC_INVALID, "the query's input format is not set");
    if ((unsigned)options->result_format >= HAC_RESULT_END || options->result_format == HAC_RESULT_TEXT ||
        (unsigned)options->hot_keys > HAC_HOT_KEYS_OFF)
        return hac_fail(err, HAC_INVALID, "result format %d or hot keys %d does not exist",
                        (int)options->result_format, (int)options->hot_keys);
    if ((unsigned)options->parquet.compression > HAC_COMPRESSION_LZ4)
        return hac_fail(err, HAC_INVALID, "compression %d does not exist", (int)options->parquet.compression);
    if (((unsigned)options->find & ~(unsigned)(HAC_FIND_DELIMITER | HAC_FIND_HEADER | HAC_FIND_FORMS)) != 0)
        return hac_fail(err, HAC_INVALID, "what to find, %d, does not exist", options->find);
    if ((unsigned)options->summary > HAC_SUMMARY_VALUES)
        return hac_fail(err, HAC_INVALID, "summary %d does not exist", options->summary);
    if (options->summary != HAC_SUMMARY_NONE && shapes_rows(options))
        return hac_fail(err, HAC_INVALID,
                        "a summary has no group_by, having, order_by, limit_by and offset; clear them");
    if ((unsigned)options->engine >= HAC_ENGINE_END)
        return hac_fail(err, HAC_INVALID, "engine %d of a query does not exist", (int)options->engine);
    if (options->sample > HAC_PER_MILLE || options->hot_share > HAC_PER_MILLE)
        return hac_fail(err, HAC_INVALID, "sample and hot share are at most %d per mille", HAC_PER_MILLE);
    if (options->work_groups > HAC_WORK_ITEMS_MAX || options->work_items > HAC_WORK_ITEMS_MAX)
        return hac_fail(err, HAC_INVALID, "at most %d work-groups and work-items are possible",
                        HAC_WORK_ITEMS_MAX);
    hac_status status =
        table ? HAC_OK : hac_input_options_check(options->input_format, &options->input_options, err);
    return status == HAC_OK ? check_texts(options, err) : status;
}

static hac_status fill_source(const hac_query_options *options, bool table, hac_query_wire *wire,
                              hac_error *err)
{
    Hac__Client__QuerySource *source = &wire->source;
    hac_cleanup(hac_text_clear) hac_text bytes = HAC_TEXT_NONE;
    hac__client__query_source__init(source);
    source->format = table ? HAC_INPUT_TABLE : (uint32_t)options->input_format;
    source->infer = options->infer_schema != 0;
    _Static_assert((int)HAC_FIND_DELIMITER == (int)HAC_DETECT_DELIMITER &&
                       (int)HAC_FIND_HEADER == (int)HAC_DETECT_HEADER &&
                       (int)HAC_FIND_FORMS == (int)HAC_DETECT_FORMS,
                   "the bits are those of the protocol");
    source->detect = table ? 0 : hac_query_finds(options) | hac_query_finds_forms(options);
    hac_input_options plain = options->input_options;
    hac_input_options_plain(&plain);
    if (!table)
        hac_input_options_write(&plain, &bytes);
    if (bytes.broken)
        return hac_fail_no_memory(err);
    if (bytes.bytes > 0)
        memcpy(wire->input_options, bytes.data, bytes.bytes);
    source->options = (ProtobufCBinaryData){bytes.bytes, wire->input_options};
    return HAC_OK;
}

static void fill_method(const hac_query_options *options, Hac__Client__QueryMethod *ret)
{
    hac__client__query_method__init(ret);
    ret->hot_keys = (uint32_t)options->hot_keys;
    ret->sample = options->sample;
    ret->hot_share = options->hot_share;
    ret->work_groups = options->work_groups;
    ret->work_items = options->work_items;
    ret->engine = (uint32_t)options->engine;
}

hac_status hac_query_encode(const hac_query_options *options, const hac_source_columns *columns,
                            hac_query_wire *ret, hac_error *err)
{
    hac_status status = check_options(options, columns != NULL, err);
    if (status == HAC_OK)
        status = hac_job_options_encode(&options->job, &ret->options, err);
    if (status == HAC_OK)
        status = fill_source(options, columns != NULL, ret, err);
    if (status != HAC_OK)
        return status;
    Hac__Client__QuerySpec *spec = &ret->spec;
    hac__client__query_spec__init(spec);
    fill_method(options, &ret->method);
    spec->source = &ret->source;
    spec->method = &ret->method;
    spec->output_format = (uint32_t)options->result_format;
    uint64_t last; /* hacd counts the rows that the offset leaves out, too */
    spec->has_limit = !__builtin_add_overflow(options->limit, options->offset, &last) && last != UINT64_MAX;
    spec->limit = spec->has_limit ? last : 0;
    spec->ordered = hac_query_needs_all_rows(options);
    spec->sort = options->sort_rows != 0;
    spec->rows = columns != NULL ? columns->table.rows : 0;
    return HAC_OK;
}

hac_status hac_query_encode_found(const hac_query_options *options, const hac_source_columns *columns,
                                  const hac_compiled_query *compiled, hac_query_options *found,
                                  hac_query_wire *ret, hac_error *err)
{
    if (columns != NULL ||
        memcmp(&compiled->input_options, &options->input_options, sizeof(options->input_options)) == 0)
        return HAC_OK;
    *found = *options;
    found->input_options = compiled->input_options;
    found->find = 0;
    return hac_query_encode(found, NULL, ret, err);
}

/* ---- submission ---- */

/* Gives the job what the compiler found out about the query. */
static hac_status note_compiled(hac_job *job, const hac_compiled_query *compiled, hac_error *err)
{
    if (compiled->note[0] != '\0' && (job->text = strdup(compiled->note)) == NULL)
        return hac_fail_no_memory(err);
    if (compiled->assumed[0] != '\0' && (job->assumed = strdup(compiled->assumed)) == NULL)
        return hac_fail_no_memory(err);
    job->columns = calloc(compiled->n_columns + 1, sizeof(*job->columns));
    if (job->columns == NULL)
        return hac_fail_no_memory(err);
    job->n_columns = compiled->n_columns;
    if (compiled->n_columns > 0)
        memcpy(job->columns, compiled->columns, compiled->n_columns * sizeof(*job->columns));
    return HAC_OK;
}

/* Sends the query, or the request for a description. */
static hac_status send_query(const hac_query_call *call, const hac_compiled_query *compiled,
                             hac_query_wire *wire, hac_job *job, hac_error *err)
{
    wire->spec.describe = call->describe;
    wire->spec.compiled =
        compiled != NULL ? (Hac__Client__CompiledQuery *)(uintptr_t)&compiled->message : NULL;
    /* An acknowledgement makes this call report the errors of the submission. A description that is short
     * needs none, because its first response is its result. */
    wire->options.acknowledge = call->describe == HAC__CLIENT__DESCRIPTION__DESCRIBE_NOTHING ||
                                call->describe == HAC__CLIENT__DESCRIPTION__DESCRIBE_FILE;
    Hac__Client__SubmitQuery query = HAC__CLIENT__SUBMIT_QUERY__INIT;
    query.spec = &wire->spec;
    query.inputs = call->inputs;
    query.n_inputs = call->n_inputs;
    query.options = &wire->options;
    query.splits = call->splits;
    query.files_left_out = call->options->files_left_out;
    query.name = hac_wire_text(call->name);
    Hac__Client__Request request = HAC__CLIENT__REQUEST__INIT;
    request.what_case = HAC__CLIENT__REQUEST__WHAT_SUBMIT_QUERY;
    request.submit_query = &query;
    return hac_job_submit(job, &request, call->fds, call->n_fds, true, err);
}

hac_status hac_query_send(hac_client *client, const hac_query_call *call, const hac_compiled_query *compiled,
                          hac_query_wire *wire, hac_job **ret_job, hac_error *err)
{
    hac_cleanup(hac_job_unref_cleanup) hac_job *job = NULL;
    hac_status status = hac_job_new(client, &call->options->job, &job, err);
    if (status != HAC_OK) {
        hac_client_give_back(client, call->owned);
        return status;
    }
    job->input = call->owned; /* also on failure */
    if (call->borrowed != NULL) {
        job->columns_in = *call->borrowed;
        call->borrowed->release = NULL;
    }
    if (compiled != NULL)
        status = note_compiled(job, compiled, err);
    if (status == HAC_OK)
        status = send_query(call, compiled, wire, job, err);
    if (status == HAC_OK)
        *ret_job = hac_steal_ptr(job);
    return status;
}
