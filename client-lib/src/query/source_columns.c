/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the columns of a query's source before the query is compiled. The client reads a header line itself.
 * For the types of the first records and for the footer of a Parquet file, the client asks hacd for a
 * description, which an executor computes.
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/format.h"
#include "base/io.h"
#include "base/query_layout.h"
#include "base/text.h"
#include "base/utf8.h"
#include "expr/described_nested.h"
#include "file_columns.h"
#include "file_forms.h"
#include "header_names.h"
#include "jobs/job_input.h"
#include "query.h"

/* Maximum number of bytes of a file that the client reads for the header. An executor reads a longer header.
 */
enum { HEADER_BYTES = 65536 };

enum {
    AT_ONCE = 16,  /* descriptions that are asked for at the same time */
    TEXTS_MAX = 32 /* of many files of text, so many and the first one say which types the columns have */
};

/* Whether the file has more than a line of names. */
static bool has_record(int fd)
{
    char head[4096];
    ssize_t n = pread(fd, head, sizeof(head), 0);
    const char *end = n > 0 ? memchr(head, '\n', (size_t)n) : NULL;
    return n == (ssize_t)sizeof(head) || (end != NULL && end + 1 < head + n);
}

/* Returns the index of the first input that has records, because parts of a folder may have a header alone;
 * else of the first one that has bytes. */
static size_t first_input(const hac_query_call *call)
{
    bool header = call->fds != NULL && hac_query_has_header(call->options);
    for (size_t i = 0; header && i < call->n_inputs; i++)
        if (call->inputs[i]->bytes > 0 && has_record(call->fds[i]))
            return i;
    for (size_t i = 0; i < call->n_inputs; i++)
        if (call->inputs[i]->bytes > 0)
            return i;
    return 0;
}

/* ---- a header line ---- */

static hac_status read_file_header(const hac_query_call *call, size_t index, hac_schema *ret, hac_error *err)
{
    uint64_t bytes = call->inputs[index]->bytes;
    size_t wanted = bytes < HEADER_BYTES ? (size_t)bytes : HEADER_BYTES;
    uint64_t there = 0;
    hac_autofree uint8_t *head = malloc(wanted + 1);
    if (head == NULL)
        return hac_fail_no_memory(err);
    if (hac_pread_all(call->fds[index], head, wanted, 0, &there, NULL) != 0 || there < wanted)
        return HAC_NOT_FOUND;
    return hac_header_names(call->options, head, wanted, there == bytes, ret, err);
}

static hac_status read_header(const hac_query_call *call, hac_schema *ret, hac_error *err)
{
    size_t index = first_input(call);
    if (call->fds != NULL)
        return read_file_header(call, index, ret, err);
    return hac_header_names(call->options, call->text, (size_t)call->text_bytes, true, ret, err);
}

/* ---- the first bytes of jsonl ---- */

/* Appends bytes of a file from its beginning on, and the newline that its last line may lack. False: `begin`
 * does not have the whole file. */
static bool add_file_begin(int fd, uint8_t *data, hac_json_begin *begin)
{
    uint64_t wanted = HAC_JSON_BEGIN_BYTES - begin->bytes, there = 0;
    int errnum = hac_pread_all(fd, data + begin->bytes, wanted, 0, &there, NULL);
    begin->bytes += (size_t)there;
    bool whole = errnum == 0 && there < wanted;
    if (whole)
        data[begin->bytes++] = '\n';
    return whole;
}

/* Finds the first bytes of a query's inputs. *ret_data is memory for them, which the caller frees, or NULL.
 * Without memory, and of a file that cannot be read, there are none: they only serve a note. */
static hac_json_begin find_json_begin(const hac_query_call *call, uint8_t **ret_data)
{
    hac_json_begin begin = {.whole = true};
    if (!hac_query_names_json(call->options))
        return begin;
    if (call->fds == NULL)
        return (hac_json_begin){.data = call->text,
                                .bytes = call->text_bytes < HAC_JSON_BEGIN_BYTES ? (size_t)call->text_bytes
                                                                                 : HAC_JSON_BEGIN_BYTES,
                                .whole = !call->text_goes_on && call->text_bytes <= HAC_JSON_BEGIN_BYTES};
    *ret_data = malloc(HAC_JSON_BEGIN_BYTES);
    begin.data = *ret_data;
    for (size_t i = 0; i < call->n_inputs && begin.whole && begin.data != NULL; i++)
        begin.whole = add_file_begin(call->fds[call->inputs[i]->descriptor], *ret_data, &begin);
    return begin;
}

/* ---- a description ---- */

static hac_status damaged(hac_error *err)
{
    return hac_fail(err, HAC_PROTOCOL, "the description of the source is damaged");
}

static hac_status read_columns(const void *data, uint64_t bytes, hac_file_columns *ret, hac_error *err)
{
    size_t n = (size_t)(bytes / sizeof(hac_described_column));
    uint64_t more = bytes % sizeof(hac_described_column), schema_bytes = 0;
    if (more != 0 && more != sizeof(schema_bytes))
        return damaged(err);
    if (more != 0)
        memcpy(&schema_bytes, (const uint8_t *)data + bytes - more, sizeof(schema_bytes));
    hac_autofree hac_described_column *columns = calloc(n + 1, sizeof(*columns));
    if (columns == NULL)
        return hac_fail_no_memory(err);
    if (n > 0)
        memcpy(columns, data, n * sizeof(*columns));
    for (size_t i = 0; i < n; i++) {
        hac_value_type type = {columns[i].kind, columns[i].precision, columns[i].scale};
        if (memchr(columns[i].name, '\0', sizeof(columns[i].name)) == NULL ||
            (type.kind != HAC_KIND_NONE && !hac_value_type_valid(type)))
            return damaged(err);
    }
    *ret = (hac_file_columns){.columns = hac_steal_ptr(columns), .n = n, .schema_bytes = schema_bytes};
    return HAC_OK;
}

static hac_status schema_of(const hac_file_columns *columns, hac_schema *ret, hac_error *err)
{
    hac_schema schema = {.fields = calloc(columns->n + 1, sizeof(hac_field)), .n_fields = columns->n};
    if (schema.fields == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < columns->n; i++) {
        const hac_described_column *c = &columns->columns[i];
        strcpy(schema.fields[i].name, c->name);
        schema.fields[i].type = (hac_value_type){c->kind, c->precision, c->scale};
        schema.fields[i].mixed = (c->flags & HAC_DESCRIBED_MIXED) != 0;
        schema.fields[i].nested = hac_described_nested(c);
        if (schema.fields[i].nested.kind == HAC_NESTED_NONE)
            schema.fields[i].nested = hac_described_elements(c);
        schema.fields[i].member = (hac_described_text(c) & HAC_DESCRIBED_MEMBER) != 0;
        schema.fields[i].arrays = (hac_described_text(c) & HAC_DESCRIBED_ARRAYS) != 0;
        schema.fields[i].forms = c->flags / HAC_DESCRIBED_FORMS;
        schema.fields[i].odd = hac_described_odd(c);
        schema.fields[i].made = (c->flags & HAC_DESCRIBED_MADE_NAME) != 0;
        schema.fields[i].lacking = columns->lacks != NULL && columns->lacks[i] && !columns->json;
    }
    *ret = schema;
    return HAC_OK;
}

/* Asks hacd for the description of one input. The limits of the caller's query apply to the job. */
static hac_status ask(hac_client *client, const hac_query_call *call, size_t index, hac_job **ret,
                      hac_error *err)
{
    hac_query_options options = *call->options;
    options.job.detach = 0;
    options.job.progress = NULL;
    options.job.done = NULL;
    Hac__Client__Input input = *call->inputs[index], *list[] = {&input};
    hac_query_call asked = {.options = &options,
                            .describe = HAC__CLIENT__DESCRIPTION__DESCRIBE_COLUMNS,
                            .inputs = list,
                            .n_inputs = 1};
    if (call->fds != NULL) {
        input.descriptor = 0;
        asked.fds = &call->fds[index];
        asked.n_fds = 1;
    }
    hac_query_wire wire;
    hac_status status = hac_query_encode(&options, NULL, &wire, err);
    if (status == HAC_OK)
        wire.source.detect |= call->separators << HAC_DETECT_SEPARATORS;
    return status == HAC_OK ? hac_query_send(client, &asked, NULL, &wire, ret, err) : status;
}

/* Waits for a description and releases its job. */
static hac_status take_answer(hac_job **job, hac_file_columns *ret, hac_error *err)
{
    hac_status status = hac_job_wait(*job, -1, err);
    if (status == HAC_OK)
        status = read_columns(hac_job_data(*job), hac_job_bytes(*job), ret, err);
    hac_job_unref(*job);
    *job = NULL;
    return status;
}

static hac_status widen(hac_job **job, const char *name, hac_file_columns *first, hac_error *err)
{
    hac_cleanup(hac_file_columns_clear) hac_file_columns other = {0};
    hac_error why = HAC_ERROR_NONE;
    hac_status status = take_answer(job, &other, &why);
    if (status == HAC_FAILED && first->text)
        return HAC_OK; /* reading the file reports what is wrong */
    if (status != HAC_OK)
        return hac_fail(err, status, "%s", why.message);
    other.name = name;
    status = hac_file_columns_widen(first, &other, err);
    if (status == HAC_OK && first->text)
        first->differ |= hac_file_forms_differ(first->schema_bytes, other.schema_bytes);
    return status;
}

/* Whether a file of text, none of which is looked at otherwise, may have other columns than `described`. */
static bool has_other_header(const hac_query_call *call, size_t described, size_t other,
                             const hac_file_columns *columns)
{
    enum { COMPARED = 4096 };
    char a[COMPARED], b[COMPARED];
    if (!columns->by_name || columns->json || call->fds == NULL)
        return false;
    ssize_t n = pread(call->fds[described], a, sizeof(a), 0), m = pread(call->fds[other], b, sizeof(b), 0);
    const char *end = n > 0 ? memchr(a, '\n', (size_t)n) : NULL;
    if (end == NULL) /* a header alone, or a longer one */
        return m > 0 && (n != m || n == COMPARED || memcmp(a, b, (size_t)n) != 0);
    size_t bytes = (size_t)(end - a) + 1; /* with the line feed: the other header may go on */
    return m > 0 && ((size_t)m < bytes || memcmp(a, b, bytes) != 0);
}

/* Describes the other files whose schemas are not that of `described`, some at a time, and widens the columns
 * of that file. */
static hac_status describe_files(hac_client *client, const hac_query_call *call, size_t described,
                                 hac_file_columns *first, size_t *ret_unseen, hac_error *err)
{
    hac_job *jobs[AT_ONCE] = {NULL};
    const char *names[AT_ONCE] = {NULL};
    size_t sent = 0, taken = 0, step = first->text ? (call->n_inputs + TEXTS_MAX - 1) / TEXTS_MAX : 1;
    hac_status status = HAC_OK;
    for (size_t i = 0; i < call->n_inputs && status == HAC_OK; i++) {
        const bool sampled = i % step == (call->n_inputs - 1) % step;
        if (!sampled && !has_other_header(call, described, i, first))
            continue;
        if (i == described || (first->text && call->inputs[i]->bytes == 0))
            continue;
        *ret_unseen -= *ret_unseen > 0;
        if (!first->text && call->fds != NULL &&
            hac_file_columns_same(call->fds[0], call->fds[i], first->schema_bytes))
            continue;
        if (sent - taken == AT_ONCE) {
            status = widen(&jobs[taken % AT_ONCE], names[taken % AT_ONCE], first, err);
            taken++;
        }
        names[sent % AT_ONCE] = call->inputs[i]->name;
        if (status == HAC_OK)
            status = ask(client, call, i, &jobs[sent++ % AT_ONCE], err);
    }
    for (; taken < sent && status == HAC_OK; taken++)
        status = widen(&jobs[taken % AT_ONCE], names[taken % AT_ONCE], first, err);
    for (size_t i = 0; i < AT_ONCE; i++)
        hac_job_unref(jobs[i]);
    return status;
}

/* ---- a description that was made before ---- */

/* What hac_query_options.columns begins with. A byte for each of `n` columns follows, 1: some files lack it;
 * then their hac_described_column, and what was found (query_layout.h). */
typedef struct found_columns {
    uint64_t unseen, json, n;
} found_columns;

static hac_status take_found_columns(const hac_query_options *options, hac_file_columns *ret,
                                     size_t *ret_unseen, hac_error *err)
{
    found_columns head;
    const uint8_t *at = options->columns;
    if (options->columns_bytes < sizeof(head))
        return damaged(err);
    memcpy(&head, at, sizeof(head));
    uint64_t left = options->columns_bytes - sizeof(head);
    if (head.n > left)
        return damaged(err);
    hac_status status = read_columns(at + sizeof(head) + head.n, left - head.n, ret, err);
    if (status == HAC_OK && ret->n != head.n)
        status = damaged(err);
    if (status == HAC_OK && (ret->lacks = calloc(ret->n + 1, sizeof(*ret->lacks))) == NULL)
        status = hac_fail_no_memory(err);
    for (size_t i = 0; status == HAC_OK && i < ret->n; i++)
        ret->lacks[i] = at[sizeof(head) + i] != 0;
    *ret_unseen = (size_t)head.unseen;
    ret->json = head.json != 0;
    return status;
}

static hac_status write_found_columns(const hac_file_columns *columns, size_t unseen, void **ret,
                                      uint64_t *ret_bytes, hac_error *err)
{
    const found_columns head = {unseen, columns->json, columns->n};
    hac_text text = HAC_TEXT_NONE;
    char *found = NULL;
    size_t bytes = 0;
    hac_text_add_bytes(&text, (const char *)&head, sizeof(head));
    for (size_t i = 0; i < columns->n; i++)
        hac_text_add_bytes(&text, columns->lacks != NULL && columns->lacks[i] ? "\1" : "\0", 1);
    if (columns->n > 0)
        hac_text_add_bytes(&text, (const char *)columns->columns, columns->n * sizeof(*columns->columns));
    hac_text_add_bytes(&text, (const char *)&columns->schema_bytes, sizeof(columns->schema_bytes));
    hac_status status = hac_text_finish(&text, &found, &bytes, err);
    *ret = found;
    *ret_bytes = bytes;
    return status;
}

static size_t inputs_with_bytes(const hac_query_call *call)
{
    size_t n = 0;
    for (size_t i = 0; i < call->n_inputs; i++)
        n += call->inputs[i]->bytes > 0;
    return n > 0 ? n : 1;
}

static hac_status settle_by_name(hac_file_columns *columns, size_t unseen, hac_source_columns *ret,
                                 hac_error *err)
{
    hac_file_columns_settle(columns);
    ret->unseen = unseen;
    return columns->n <= HAC_COLUMNS_MAX
               ? HAC_OK
               : hac_fail(err, HAC_FAILED, "the files have more than %d names: choose columns with --schema",
                          HAC_COLUMNS_MAX);
}

/* Describes one text, and the others. If the forms of numbers and dates that all of them show are not those
 * that each of them shows alone, does so again with these forms. */
static hac_status describe_texts(hac_client *client, const hac_query_call *call, size_t described,
                                 hac_file_columns *ret, size_t *ret_unseen, hac_error *err)
{
    const size_t unseen = *ret_unseen;
    const hac_query_options *options = call->options;
    hac_query_options told = *options;
    hac_query_call again = *call;
    hac_input_options forms;
    hac_status status = describe_files(client, call, described, ret, ret_unseen, err);
    if (status != HAC_OK || ret->forms == NULL || hac_query_finds_forms(options) == 0 ||
        !hac_file_forms_settle(ret, &options->input_options, &forms, &again.separators))
        return status;
    told.input_options = forms;
    hac_file_forms_tell(options->input_format, &told.input_options);
    again.options = &told;
    hac_cleanup(hac_file_columns_clear) hac_file_columns columns = {0};
    hac_job *job = NULL;
    status = ask(client, &again, described, &job, err);
    if (status == HAC_OK)
        status = take_answer(&job, &columns, err);
    columns.text = ret->text;
    columns.by_position = ret->by_position;
    columns.by_name = ret->by_name;
    columns.json = ret->json;
    *ret_unseen = unseen;
    if (status == HAC_OK)
        status = describe_files(client, &again, described, &columns, ret_unseen, err);
    if (status != HAC_OK || columns.n != ret->n)
        return status;
    hac_described_column *first = ret->columns;
    ret->columns = columns.columns;
    columns.columns = first; /* `lacks` is that of the same columns */
    ret->schema_bytes = hac_file_forms_write(ret->schema_bytes, &forms);
    return HAC_OK;
}

/* Whether header lines name the columns of texts. */
static bool has_names(const hac_query_options *options, bool texts)
{
    return texts && hac_formats[options->input_format].header && options->input_options.no_header == 0;
}

/* Describes the source: its first input that has bytes, of texts whose types are found others, too, or all
 * Parquet files, whose columns may differ in type unless a schema says which type is wanted. */
static hac_status describe_inputs(hac_client *client, const hac_query_call *call, hac_file_columns *ret,
                                  size_t *ret_unseen, hac_error *err)
{
    hac_job *job = NULL;
    bool parquet = call->options->input_format == HAC_INPUT_PARQUET;
    bool texts = !parquet && call->fds != NULL && call->n_inputs > 1 && hac_query_infers(call->options);
    bool files = parquet && hac_query_names_other(call->options);
    size_t described = files ? 0 : first_input(call);
    hac_status status = ask(client, call, described, &job, err);
    if (status == HAC_OK)
        status = take_answer(&job, ret, err);
    ret->text = texts;
    ret->name = call->inputs[described]->name;
    ret->by_position = call->options->by_position != 0;
    ret->json = texts && hac_formats[call->options->input_format].by_name;
    ret->by_name = ret->json || (!ret->by_position && (files || has_names(call->options, texts)));
    *ret_unseen = inputs_with_bytes(call) - 1;
    if (status == HAC_OK && texts)
        status = describe_texts(client, call, described, ret, ret_unseen, err);
    else if (status == HAC_OK && files)
        status = describe_files(client, call, described, ret, ret_unseen, err);
    return status;
}

/* Describes the source, or takes the description that the options have. */
static hac_status describe(hac_client *client, const hac_query_call *call, hac_source_columns *ret,
                           uint64_t *ret_found, hac_error *err)
{
    hac_cleanup(hac_file_columns_clear) hac_file_columns columns = {0};
    const hac_query_options *options = call->options;
    bool schema = hac_query_has_schema(options);
    size_t unseen = 0;
    hac_status status = options->columns != NULL ? take_found_columns(options, &columns, &unseen, err)
                                                 : describe_inputs(client, call, &columns, &unseen, err);
    if (status == HAC_OK && columns.json)
        status = settle_by_name(&columns, unseen, ret, err);
    *ret_found = columns.schema_bytes;
    if (schema && status == HAC_FAILED && columns.n > 0)
        status = HAC_OK; /* the schema may decide; if not, reading the file reports the error */
    if (status == HAC_OK)
        status = schema_of(&columns, &ret->schema, err);
    if (status == HAC_OK) {
        ret->forms = hac_steal_ptr(columns.forms);
        ret->n_forms = ret->forms != NULL ? columns.n : 0;
    }
    return status;
}

/* ---- compiling ---- */

/* Reads the header in this process, if nothing else must be known. HAC_NOT_FOUND: hacd must be asked. */
static hac_status find_header(const hac_query_call *call, hac_schema *ret, hac_error *err)
{
    if (!hac_query_has_header(call->options))
        return HAC_NOT_FOUND;
    hac_status status = read_header(call, ret, err);
    if (status == HAC_OK && hac_query_finds(call->options) != 0 &&
        !hac_query_names_settle(call->options, ret)) {
        hac_schema_clear(ret);
        status = HAC_NOT_FOUND;
    }
    return status;
}

/* Fails unless the schema lists as many columns as the source has. One that cannot be read is reported later.
 */
static hac_status check_listed(const hac_query_options *options, size_t n, hac_error *err)
{
    hac_schema listed = {0};
    if (hac_schema_parse(options->schema, &listed, NULL) != HAC_OK)
        return HAC_OK;
    bool all = listed.n_fields == n;
    hac_schema_clear(&listed);
    return all ? HAC_OK
               : hac_fail(err, HAC_INVALID,
                          "no header was found; --schema must list all %zu columns, or say --header", n);
}

/* Takes what was found in the first records. A schema lists all columns by position where there is no header.
 */
static hac_status take_found(const hac_query_options *options, uint64_t found, hac_source_columns *ret,
                             hac_error *err)
{
    bool told = options->input_options.no_header != 0, listed = hac_query_has_schema(options);
    bool no_header = told || (found & HAC_DETECTED_NO_HEADER) != 0;
    ret->detected = true;
    ret->input_options = options->input_options;
    ret->input_options.delimiter = (uint8_t)found;
    ret->input_options.no_header = no_header;
    hac_file_forms_read(found, &ret->input_options);
    if (!no_header || !listed)
        return HAC_OK;
    hac_status status = told ? HAC_OK : check_listed(options, ret->schema.n_fields, err);
    hac_schema_clear(&ret->schema);
    ret->inferred = false;
    return status;
}

static hac_status find_columns(hac_client *client, const hac_query_call *call, hac_source_columns *ret,
                               hac_error *err)
{
    const hac_query_options *options = call->options;
    uint64_t found = 0;
    ret->inferred = hac_query_infers(options);
    ret->unseen = ret->inferred && hac_formats[options->input_format].by_name ? call->unseen : 0;
    if (!hac_query_needs_columns(options, ret->inferred))
        return HAC_OK;
    hac_status status = ret->inferred ? HAC_NOT_FOUND : find_header(call, &ret->schema, err);
    if (status != HAC_NOT_FOUND)
        return status;
    status = describe(client, call, ret, &found, err);
    bool finds_forms = ret->inferred && hac_query_finds_forms(options) != 0;
    if (status == HAC_OK && (hac_query_finds(options) != 0 || finds_forms))
        status = take_found(options, found, ret, err);
    bool optional = ret->inferred || (hac_query_finds(options) != 0 && !hac_query_has_header(options));
    if (optional && status == HAC_FAILED && hac_query_has_schema(options)) {
        ret->inferred = false; /* go on with the schema alone; reading reports what is wrong */
        status = hac_query_has_header(options) ? read_header(call, &ret->schema, err) : HAC_OK;
    }
    for (size_t i = 0; status == HAC_OK && i < ret->schema.n_fields; i++)
        ret->schema.fields[i].inferred = ret->inferred;
    return status;
}

/* Describes the inputs for queries of their parts, which may take all columns: of Parquet files what all of
 * them have, as if no schema listed the wanted columns. */
static hac_status describe_for_parts(hac_client *client, const hac_query_call *call, hac_file_columns *ret,
                                     size_t *ret_unseen, hac_error *err)
{
    hac_query_options options = *call->options;
    hac_query_call every = *call;
    every.options = &options;
    if (options.input_format == HAC_INPUT_PARQUET)
        options.schema = NULL;
    return describe_inputs(client, &every, ret, ret_unseen, err);
}

hac_status hac_query_call_find(hac_client *client, const hac_query_call *call, hac_query_options *options,
                               void **ret_columns, uint64_t *ret_bytes, hac_error *err)
{
    hac_cleanup(hac_file_columns_clear) hac_file_columns columns = {0};
    hac_autofree hac_compiled_query *compiled = NULL;
    const bool infers = hac_query_infers(options);
    size_t unseen = 0;
    *ret_columns = NULL;
    *ret_bytes = 0;
    if (!hac_formats[options->input_format].inferred && options->input_format != HAC_INPUT_PARQUET)
        return HAC_OK;
    hac_status status = describe_for_parts(client, call, &columns, &unseen, err);
    if (status == HAC_FAILED && hac_query_has_schema(options)) { /* the schema may decide */
        options->infer_schema = 0;
        options->find = 0;
        return HAC_OK;
    }
    if (status == HAC_OK)
        status = hac_query_call_compile(client, call, &compiled, err); /* refuses what files contradict in */
    if (status == HAC_OK)
        status = write_found_columns(&columns, unseen, ret_columns, ret_bytes, err);
    if (status != HAC_OK)
        return status;
    options->input_options = compiled->input_options;
    options->infer_schema = infers;
    options->find = 0;
    return HAC_OK;
}

/* Adds a note if the first bytes of csv or tsv are not UTF-8: such text is equal to no text of the query. */
static void note_encoding(const hac_query_call *call, char *ret, size_t capacity)
{
    size_t used = strlen(ret),
           bytes = call->text_bytes < HEADER_BYTES ? (size_t)call->text_bytes : HEADER_BYTES;
    const char *text = (const char *)call->text;
    hac_autofree char *head = NULL;
    if (call->fds != NULL) {
        head = malloc(HEADER_BYTES);
        ssize_t n = head != NULL ? pread(call->fds[first_input(call)], head, HEADER_BYTES, 0) : 0;
        text = head;
        bytes = n > 0 ? (size_t)n : 0;
    }
    if (!hac_query_has_header(call->options) || text == NULL)
        return;
    size_t line = 1, end = bytes;
    while (end > 0 && text[end - 1] != '\n') /* a character may be cut */
        end--;
    for (end = end > 0 ? end : bytes; end > 0 && (text[end - 1] & 0x80) != 0;)
        end--;
    if (hac_utf8_is_valid(text, end))
        return;
    for (size_t at = 0, n; at < end && (n = hac_utf8_sequence(text + at, end - at)) > 0; at += n)
        line += text[at] == '\n';
    snprintf(ret + used, capacity - used,
             "%sline %zu is not in UTF-8; convert the text first: iconv -f LATIN1 -t UTF-8 FILE",
             used > 0 ? "; " : "", line);
}

hac_status hac_query_call_compile(hac_client *client, const hac_query_call *call, hac_compiled_query **ret,
                                  hac_error *err)
{
    if (call->table != NULL)
        return hac_query_compile_options(call->options, call->table, ret, err);
    hac_cleanup(hac_source_columns_clear) hac_source_columns columns = {0};
    hac_autofree uint8_t *data = NULL;
    columns.json = find_json_begin(call, &data);
    hac_status status = find_columns(client, call, &columns, err);
    if (status == HAC_OK)
        status = hac_query_compile_options(call->options, &columns, ret, err);
    if (status == HAC_OK && columns.inferred)
        note_encoding(call, (*ret)->note, sizeof((*ret)->note));
    return status;
}

hac_status hac_query_compile_file(hac_client *client, int fd, const hac_query_options *options,
                                  hac_compiled_query **ret, hac_error *err)
{
    struct stat st;
    hac_source_columns none = {0};
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return hac_query_compile_options(options, &none, ret, err);
    Hac__Client__Input input, *list[] = {&input};
    hac__client__input__init(&input);
    input.where_case = HAC__CLIENT__INPUT__WHERE_DESCRIPTOR;
    input.bytes = (uint64_t)st.st_size;
    const hac_query_call call = {.options = options, .inputs = list, .n_inputs = 1, .fds = &fd, .n_fds = 1};
    return hac_query_call_compile(client, &call, ret, err);
}
