/* SPDX-License-Identifier: Apache-2.0 */
/* query.describe: what a source is. libhac compiles queries, and asks where only the source knows its
 * columns. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/format.h"
#include "base/input_options.h"
#include "base/text.h"
#include "expr/described_nested.h"
#include "proto/messages.h"
#include "query/codelets.h"
#include "query/detect.h"
#include "query/infer.h"

static void free_request(Hac__Client__DescribeInput **request)
{
    if (*request != NULL)
        hac__client__describe_input__free_unpacked(*request, NULL);
}

static void clear_schema(hac_schema *schema)
{
    hac_schema_clear(schema);
}

hac_status hac_query_check_describe(const hac_device_facts *facts, const hac_task *task, hac_error *err)
{
    (void)facts;
    return hac_query_check_inline(task, err);
}

/* ---- the request ---- */

static hac_status read_options(const Hac__Client__QuerySource *s, hac_source_options *ret, hac_error *err)
{
    if (s == NULL || s->format <= HAC_INPUT_NONE || s->format >= HAC_INPUT_END)
        return hac_fail(err, HAC_INVALID, "the request does not say what format its source has");
    *ret = (hac_source_options){.format = (hac_input_format)s->format, .inferred = s->infer};
    return hac_input_options_read(s->options.data, s->options.len, ret->format, &ret->options, err);
}

/* The front of the inline data is the request, an inline source follows it. */
static size_t request_bytes(const hac_task *task)
{
    uint64_t bytes = HAC_PARAMS(hac_query_params, task)->inline_bytes;
    return bytes != 0 ? (size_t)bytes : task->inline_in_bytes;
}

static hac_source_place place_of(const hac_task *task)
{
    const hac_span *span = task->n_spans > 1 ? &task->spans[1] : NULL;
    size_t front = request_bytes(task);
    hac_source_place place = {.fd = task->fd, .bytes = HAC_PARAMS(hac_query_params, task)->source_bytes};
    uint64_t there = UINT64_MAX;
    if (place.fd < 0 && span != NULL && span->bytes != 0) {
        place.memory = span->data;
        there = span->bytes;
    } else if (place.fd < 0) {
        place.memory = task->inline_in + front;
        there = task->inline_in_bytes - front;
    }
    place.bytes = place.bytes < there ? place.bytes : there;
    return place;
}

/* ---- the answer ---- */

/* The result's bytes, inline where there is no span. What does not fit is asked for again with a larger span.
 * */
static void put_result(const hac_task *task, const void *data, size_t bytes, hac_task_result *result)
{
    bool is_inline = task->spans[0].bytes == 0;
    uint64_t capacity = is_inline ? HAC_INLINE_MAX : task->spans[0].bytes;
    if (bytes <= capacity && bytes > 0)
        memcpy(is_inline ? result->inline_out : task->spans[0].data, data, bytes);
    if (is_inline && bytes <= capacity)
        result->inline_out_bytes = bytes;
    result->values[0] = 0;
    result->values[1] = bytes;
    result->n_values = HAC_WHOLE_N_VALUES;
}

/* The file's columns, those that cannot be read with no type. */
static hac_status read_footer(const hac_parquet_file *file, hac_schema *ret, hac_error *err)
{
    size_t n = file->n_leaves;
    hac_field *fields = calloc(n + 1, sizeof *fields);
    if (fields == NULL)
        return hac_fail_no_memory(err);
    *ret = (hac_schema){.fields = fields};
    for (size_t i = 0; i < n; i++) {
        const hac_parquet_leaf *leaf = &file->leaves[i];
        if (leaf->map_values)
            continue;
        hac_field *field = &fields[ret->n_fields++];
        hac_parquet_leaf_name(leaf, field->name);
        field->type = leaf->type;
        field->nested = leaf->nested;
        field->made = leaf->made;
        field->only_nulls = leaf->only_nulls;
    }
    return HAC_OK;
}

/* Sets the options that were found in the first records. */
static hac_status find_columns(hac_source_options *options, unsigned detect, const hac_query_task *t,
                               hac_schema *ret, hac_error *err)
{
    if (t->parquet != NULL)
        return read_footer(t->parquet, ret, err);
    return options->inferred ? hac_infer_forms(options, detect, &t->place, ret, err)
                             : hac_infer_names(options, &t->place, ret, err);
}

/* The options of csv, tsv, jsonl and logfmt that the answer has. */
static uint64_t found_options(const hac_input_options *options)
{
    return options->delimiter | (options->no_header != 0 ? HAC_DETECTED_NO_HEADER : 0) |
           (uint64_t)options->decimal << HAC_DETECTED_DECIMAL |
           (uint64_t)options->thousands << HAC_DETECTED_THOUSANDS |
           (uint64_t)options->dates << HAC_DETECTED_DATES;
}

static void put_text_facts(const hac_field *field, hac_described_column *ret)
{
    hac_described_text_put(
        (field->member ? HAC_DESCRIBED_MEMBER : 0) | (field->arrays ? HAC_DESCRIBED_ARRAYS : 0) |
            (field->empty ? HAC_DESCRIBED_EMPTY : 0) | (field->wide ? HAC_DESCRIBED_WIDE : 0) |
            (field->point ? HAC_DESCRIBED_POINT : 0) | (field->infinite ? HAC_DESCRIBED_INFINITE : 0) |
            (field->comma ? HAC_DESCRIBED_COMMA : 0),
        ret);
    hac_described_separators_put(field->separators, ret);
    hac_described_odd_put(&field->odd, ret);
    hac_described_elements_put(field->nested, ret);
}

static hac_status put_columns(const hac_task *task, hac_source_options *options, unsigned detect,
                              const hac_query_task *t, hac_task_result *result, hac_error *err)
{
    hac_cleanup(clear_schema) hac_schema schema = {0};
    hac_status status = find_columns(options, detect, t, &schema, err);
    if (status != HAC_OK)
        return status;
    hac_autofree hac_described_column *columns = calloc(schema.n_fields + 1, sizeof *columns);
    if (columns == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < schema.n_fields; i++) {
        hac_value_type type = schema.fields[i].type;
        columns[i] = (hac_described_column){.kind = type.kind,
                                            .precision = type.precision,
                                            .scale = type.scale,
                                            .flags = schema.fields[i].made ? HAC_DESCRIBED_MADE_NAME : 0};
        strcpy(columns[i].name, schema.fields[i].name);
        columns[i].flags |= schema.fields[i].mixed ? HAC_DESCRIBED_MIXED : 0;
        if (t->parquet == NULL)
            put_text_facts(&schema.fields[i], &columns[i]);
        else
            hac_described_nested_put(schema.fields[i].nested, &columns[i]);
        if (schema.fields[i].only_nulls)
            columns[i].flags |= HAC_DESCRIBED_ONLY_NULLS;
        columns[i].flags |= (uint8_t)(schema.fields[i].forms * HAC_DESCRIBED_FORMS);
    }
    uint64_t bytes = schema.n_fields * sizeof *columns;
    const uint64_t last = t->parquet != NULL ? t->parquet->schema_bytes : found_options(&options->options);
    if (t->parquet != NULL || hac_formats[options->format].header ||
        hac_formats[options->format].inferred) { /* there is room for one more column */
        memcpy((uint8_t *)columns + bytes, &last, sizeof last);
        bytes += sizeof last;
    }
    put_result(task, columns, bytes, result);
    return HAC_OK;
}

static hac_status put_file(const hac_task *task, const hac_query_task *t, hac_task_result *result,
                           hac_error *err)
{
    hac_cleanup(hac_text_clear) hac_text text = HAC_TEXT_NONE;
    if (t->parquet == NULL)
        return hac_fail(err, HAC_INVALID, "only Parquet files are described");
    hac_parquet_describe(t->parquet, &text);
    if (text.broken)
        return hac_fail_no_memory(err);
    put_result(task, text.data, text.bytes, result);
    result->values[0] = t->parquet->rows;
    return HAC_OK;
}

hac_status hac_query_run_describe(hac_device *device, const hac_task *task, hac_task_result *result,
                                  hac_error *err)
{
    (void)device;
    hac_cleanup(free_request) Hac__Client__DescribeInput *request =
        hac__client__describe_input__unpack(NULL, request_bytes(task), task->inline_in);
    hac_source_options options;
    if (request == NULL)
        return hac_fail(err, HAC_INVALID, "no request for a description");
    hac_status status = read_options(request->source, &options, err);
    if (status != HAC_OK)
        return status;
    hac_query_task t = {.place = place_of(task)};
    if (options.format == HAC_INPUT_PARQUET)
        status = hac_query_open_parquet(&t.place, &t.parquet, err);
    else
        status = hac_detect_options(request->source->detect, &t.place, &options, err);
    if (status == HAC_OK && request->what == HAC__CLIENT__DESCRIPTION__DESCRIBE_COLUMNS)
        status = put_columns(task, &options, request->source->detect, &t, result, err);
    else if (status == HAC_OK)
        status = put_file(task, &t, result, err);
    status = hac_query_source_read(&t, status, err);
    hac_query_task_clear(&t);
    return status;
}
