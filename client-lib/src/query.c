/* SPDX-License-Identifier: Apache-2.0 */
#include "query.h"

#include <inttypes.h>
#include <string.h>

#include "base/byte_order_mark.h"
#include "base/text.h"
#include "options.h"
#include "sort.h"
#include "stream.h"

enum {
    TEXT_BYTES_MAX = 30720, /* the protocol's limits */
    NULL_BYTES_MAX = 31,
    FORMAT_TABLE = 1,
    WORK_MOST = 65536,
    PER_MILLE = 1000
};

/* ---- options ---- */

hac_status hac_query_options_read(const hac_query_options *options, hac_query_options *ret, hac_error *err)
{
    hac_query_options known = HAC_QUERY_OPTIONS_INIT;
    hac_status status =
        hac_options_read(options, "query", "HAC_QUERY_OPTIONS_INIT", &known, sizeof(known), err);
    if (status == HAC_OK)
        *ret = known;
    return status;
}

static hac_status check_text(const char *name, const char *text, size_t most, hac_error *err)
{
    size_t bytes = text == NULL ? 0 : strlen(text);
    if (bytes > most)
        return hac_fail(err, HAC_INVALID, "%s: %zu bytes are too many; %zu are possible", name, bytes, most);
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
        size_t most;
    } texts[] = {
        {"--schema", options->schema, TEXT_BYTES_MAX},     {"--where", options->where, TEXT_BYTES_MAX},
        {"--group-by", options->group_by, TEXT_BYTES_MAX}, {"--select", options->select, TEXT_BYTES_MAX},
        {"--order-by", options->order_by, TEXT_BYTES_MAX}, {"--null", options->null_text, NULL_BYTES_MAX}};
    hac_status status = HAC_OK;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]) && status == HAC_OK; i++)
        status = check_text(texts[i].name, texts[i].text, texts[i].most, err);
    return status;
}

static hac_status check_options(const hac_query_options *options, bool table, hac_error *err)
{
    if (!table && (options->input_format < HAC_INPUT_CSV || options->input_format > HAC_INPUT_TYPEDBYTES))
        return hac_fail(err, HAC_INVALID, "the query's input format is not set");
    if ((unsigned)options->result_format > HAC_RESULT_TYPEDBYTES ||
        (unsigned)options->hot_keys > HAC_HOT_KEYS_OFF)
        return hac_fail(err, HAC_INVALID, "result format %d or hot keys %d does not exist",
                        (int)options->result_format, (int)options->hot_keys);
    if (options->delimiter < 0 || options->delimiter > UINT8_MAX || options->delimiter == '\n' ||
        options->delimiter == '\r' || options->delimiter == '"')
        return hac_fail(err, HAC_INVALID, "a delimiter is one byte, and no quote or line feed");
    if ((unsigned)options->parquet.compression > HAC_COMPRESSION_LZ4)
        return hac_fail(err, HAC_INVALID, "compression %d does not exist", (int)options->parquet.compression);
    if ((options->first_row_group != 0 || options->row_groups != 0) &&
        options->input_format != HAC_INPUT_PARQUET)
        return hac_fail(err, HAC_INVALID, "row groups can be chosen of Parquet files only");
    if ((unsigned)options->way > HAC_QUERY_WAY_FLOW_C)
        return hac_fail(err, HAC_INVALID, "way %d of a query does not exist", (int)options->way);
    if (options->sample > PER_MILLE || options->hot_share > PER_MILLE)
        return hac_fail(err, HAC_INVALID, "sample and hot share are at most %d per mille", PER_MILLE);
    if (options->work_groups > WORK_MOST || options->work_items > WORK_MOST)
        return hac_fail(err, HAC_INVALID, "at most %d work-groups and work-items are possible", WORK_MOST);
    return check_texts(options, err);
}

static void fill_parquet(const hac_parquet_output *parquet, hac_query_wire *ret)
{
    hac__client__parquet_output__init(&ret->parquet);
    ret->parquet.compression = (uint32_t)parquet->compression;
    ret->parquet.group_bytes = parquet->group_bytes;
    ret->parquet.group_rows = parquet->group_rows;
    ret->parquet.block_bytes = parquet->block_bytes;
    ret->spec.parquet = &ret->parquet;
}

static void fill_wire(const hac_query_options *options, Hac__Client__QueryTable *table, hac_query_wire *ret)
{
    Hac__Client__QuerySpec *spec = &ret->spec;
    hac__client__query_spec__init(spec);
    hac__client__query_source__init(&ret->source);
    hac__client__query_method__init(&ret->method);
    spec->schema = hac_field(options->schema);
    spec->where = hac_field(options->where);
    spec->group_by = hac_field(options->group_by);
    spec->select = hac_field(options->select);
    spec->order_by = hac_field(options->order_by);
    spec->has_limit = options->limit != UINT64_MAX;
    spec->limit = spec->has_limit ? options->limit : 0;
    spec->output_format = (uint32_t)options->result_format;
    spec->sort = options->sort_rows != 0;
    spec->source = &ret->source;
    spec->table = table;
    spec->method = &ret->method;
    ret->source.format = table != NULL ? FORMAT_TABLE : (uint32_t)options->input_format;
    ret->source.delimiter = (uint32_t)options->delimiter;
    ret->source.header = table == NULL && options->no_header == 0;
    ret->source.skip_errors = options->skip_errors != 0;
    ret->source.null_text = hac_field(options->null_text);
    ret->source.first_group = options->first_row_group;
    ret->source.groups = options->row_groups;
    ret->source.infer = options->infer_schema != 0;
    ret->source.big_endian = options->big_endian != 0;
    if (options->result_format == HAC_RESULT_PARQUET)
        fill_parquet(&options->parquet, ret);
    ret->method.hot_keys = (uint32_t)options->hot_keys;
    ret->method.sample = options->sample;
    ret->method.hot_share = options->hot_share;
    ret->method.work_groups = options->work_groups;
    ret->method.work_items = options->work_items;
    ret->method.way = (uint32_t)options->way;
}

hac_status hac_query_encode(const hac_query_options *options, Hac__Client__QueryTable *table,
                            hac_query_wire *ret, hac_error *err)
{
    hac_status status = check_options(options, table != NULL, err);
    if (status == HAC_OK)
        status = hac_job_options_encode(&options->job, &ret->options, err);
    if (status != HAC_OK)
        return status;
    fill_wire(options, table, ret);
    size_t bytes = protobuf_c_message_get_packed_size(&ret->spec.base);
    if (bytes > HAC_INLINE_MAX)
        return hac_fail(err, HAC_INVALID, "the query's texts and columns take %zu bytes; %d are possible",
                        bytes, HAC_INLINE_MAX);
    return HAC_OK;
}

/* ---- submission ---- */

static hac_status submit(const hac_query_call *call, hac_job *job, hac_error *err)
{
    hac_query_wire wire;
    hac_status status = hac_query_encode(call->options, call->table, &wire, err);
    if (status != HAC_OK)
        return status;
    wire.spec.describe = call->describe;
    wire.options.acknowledge = true; /* what is wrong with the submission is this call's error */
    Hac__Client__SubmitQuery query = HAC__CLIENT__SUBMIT_QUERY__INIT;
    query.spec = &wire.spec;
    query.inputs = call->inputs;
    query.n_inputs = call->n_inputs;
    query.options = &wire.options;
    query.splits = call->splits;
    query.name = hac_field(call->name);
    Hac__Client__Request request = HAC__CLIENT__REQUEST__INIT;
    request.what_case = HAC__CLIENT__REQUEST__WHAT_SUBMIT_QUERY;
    request.submit_query = &query;
    return hac_job_submit(job, &request, call->fds, call->n_fds, true, err);
}

hac_status hac_query_submit(hac_client *client, const hac_query_call *call, hac_job **ret_job, hac_error *err)
{
    hac_cleanup(hac_job_unref_cleanup) hac_job *job = NULL;
    hac_status status = hac_job_new(client, &call->options->job, &job, err);
    if (status != HAC_OK) {
        hac_buffer_give_back(client, call->owned);
        return status;
    }
    job->input = call->owned; /* also when it fails */
    status = submit(call, job, err);
    if (status == HAC_OK)
        *ret_job = hac_steal_ptr(job);
    return status;
}

/* ---- files ---- */

#define NAME_BYTES  256   /* of a file's name, with its zero */
#define NAMES_BYTES 24576 /* of all of them, which are one message with the query's texts */

typedef struct file_inputs {
    Hac__Client__Input input[HAC_QUERY_FILES_MAX];
    Hac__Client__Input *list[HAC_QUERY_FILES_MAX];
    char name[HAC_QUERY_FILES_MAX][NAME_BYTES];
    size_t name_room; /* bytes of a name, with its zero */
} file_inputs;

static size_t name_room(size_t n_files)
{
    return n_files <= NAMES_BYTES / NAME_BYTES ? NAME_BYTES : NAMES_BYTES / n_files;
}

/* Of a long path the end: that of others in its folder begins alike. */
static const char *end_of(const char *name, size_t room)
{
    size_t bytes = strlen(name);
    if (bytes < room)
        return name;
    name += bytes - (room - 1);
    for (int i = 0; i < 3 && ((uint8_t)*name & 0xc0) == 0x80; i++) /* not within a character */
        name++;
    return name;
}

static hac_status fill_file(file_inputs *files, size_t index, int fd, const char *name,
                            hac_input_format format, hac_error *err)
{
    Hac__Client__Input *input = &files->input[index];
    uint64_t bytes = 0;
    bool is_stream = false;
    hac_stream file = {.fd = fd, .name = files->name[index]};
    hac_utf8_copy_line(files->name[index], sizeof(files->name[index]),
                       name != NULL ? end_of(name, files->name_room) : "the input");
    hac_status status = hac_stream_look(&file, &is_stream, &bytes, err);
    if (status != HAC_OK)
        return status;
    if (is_stream)
        return hac_fail(err, HAC_FAILED, "%s is no file with a size; save it first, or read it as a stream",
                        file.name);
    if ((format == HAC_INPUT_CSV || format == HAC_INPUT_TSV) && hac_is_mark_alone(fd, bytes))
        bytes = 0; /* it has no header */
    hac__client__input__init(input);
    input->where_case = HAC__CLIENT__INPUT__WHERE_DESCRIPTOR;
    input->descriptor = (uint32_t)index;
    input->bytes = bytes;
    input->name = files->name[index];
    files->list[index] = input;
    return HAC_OK;
}

hac_status hac_query_files(hac_client *client, const int *fds, const char *const *names, size_t n_files,
                           const hac_query_options *options, hac_job **ret_job, hac_error *err)
{
    hac_query_options known;
    hac_status status = hac_query_options_read(options, &known, err);
    if (status == HAC_OK && (n_files == 0 || n_files > HAC_QUERY_FILES_MAX))
        status =
            hac_fail(err, HAC_INVALID, "%zu files are given, 1 to %d can be", n_files, HAC_QUERY_FILES_MAX);
    if (status != HAC_OK)
        return status;
    hac_autofree file_inputs *files = calloc(1, sizeof(*files));
    if (files == NULL)
        return hac_fail_no_memory(err);
    files->name_room = name_room(n_files);
    for (size_t i = 0; i < n_files && status == HAC_OK; i++)
        status = fill_file(files, i, fds[i], names != NULL ? names[i] : NULL, known.input_format, err);
    if (status != HAC_OK)
        return status;
    hac_query_call call = {
        .options = &known, .inputs = files->list, .n_inputs = n_files, .fds = fds, .n_fds = n_files};
    return hac_query_submit(client, &call, ret_job, err);
}

hac_status hac_describe_parquet(hac_client *client, int fd, const char *name, const hac_job_options *options,
                                hac_job **ret_job, hac_error *err)
{
    hac_query_options query = HAC_QUERY_OPTIONS_INIT;
    query.input_format = HAC_INPUT_PARQUET;
    if (options != NULL)
        query.job = *options;
    hac_autofree file_inputs *file = calloc(1, sizeof(*file));
    if (file == NULL)
        return hac_fail_no_memory(err);
    file->name_room = name_room(1);
    hac_status status = fill_file(file, 0, fd, name, HAC_INPUT_PARQUET, err);
    if (status != HAC_OK)
        return status;
    hac_query_call call = {
        .options = &query, .describe = true, .inputs = file->list, .n_inputs = 1, .fds = &fd, .n_fds = 1};
    return hac_query_submit(client, &call, ret_job, err);
}

/* ---- memory ---- */

hac_status hac_query_memory(hac_client *client, const void *text, uint64_t bytes,
                            const hac_query_options *options, hac_job **ret_job, hac_error *err)
{
    hac_query_options known;
    hac_status status = hac_query_options_read(options, &known, err);
    if (status != HAC_OK)
        return status;
    Hac__Client__Input input, *list[] = {&input};
    hac_query_call call = {.options = &known, .inputs = list, .n_inputs = 1};
    if (bytes <= HAC_QUERY_DATA_MAX) {
        hac_sort_input_inline(text, bytes, &input);
        return hac_query_submit(client, &call, ret_job, err);
    }
    hac_buffer *buffer = NULL;
    status = hac_buffer_alloc(client, bytes, &buffer, err);
    if (status != HAC_OK)
        return status;
    memcpy(hac_buffer_data(buffer), text, (size_t)bytes);
    call.owned = hac_buffer_take(buffer);
    hac_sort_input_buffer(call.owned, 0, bytes, &input);
    return hac_query_submit(client, &call, ret_job, err);
}

hac_status hac_query_buffer(hac_client *client, hac_buffer *buffer, uint64_t offset, uint64_t bytes,
                            const hac_query_options *options, hac_job **ret_job, hac_error *err)
{
    hac_query_options known;
    hac_status status = hac_query_options_read(options, &known, err);
    if (status == HAC_OK)
        status = hac_sort_check_buffer(client, buffer, offset, bytes, "lines", err);
    if (status != HAC_OK)
        return status;
    Hac__Client__Input input, *list[] = {&input};
    hac_query_call call = {.options = &known, .inputs = list, .n_inputs = 1};
    hac_sort_input_buffer(buffer->mapping, offset, bytes, &input);
    return hac_query_submit(client, &call, ret_job, err);
}

/* ---- streams ---- */

static hac_status read_stream(hac_client *client, const hac_stream *stream, uint64_t most,
                              hac_buffer **ret_buffer, uint64_t *ret_bytes, hac_error *err)
{
    hac_cleanup(hac_buffer_free_cleanup) hac_buffer *buffer = NULL;
    uint64_t bytes = 0;
    bool bounded = most != 0 && most < UINT64_MAX;
    hac_status status =
        hac_stream_read(client, stream, 0, bounded ? most + 1 : UINT64_MAX, &buffer, &bytes, err);
    if (status != HAC_OK)
        return status;
    if (bounded && bytes > most)
        return hac_fail(err, HAC_REFUSED,
                        "%s has more than the %" PRIu64 " bytes of memory that the query may use",
                        stream->name, most);
    *ret_buffer = hac_steal_ptr(buffer);
    *ret_bytes = bytes;
    return HAC_OK;
}

hac_status hac_query_stream(hac_client *client, int fd, const char *name, const hac_query_options *options,
                            hac_job **ret_job, hac_error *err)
{
    hac_cleanup(hac_buffer_free_cleanup) hac_buffer *buffer = NULL;
    hac_query_options known;
    char line[256];
    uint64_t bytes = 0;
    bool is_stream;
    hac_utf8_copy_line(line, sizeof(line), name != NULL ? name : "the input");
    hac_stream stream = {.fd = fd, .name = line};
    hac_status status = hac_query_options_read(options, &known, err);
    if (status == HAC_OK)
        status = hac_stream_look(&stream, &is_stream, &bytes, err);
    if (status == HAC_OK)
        status = read_stream(client, &stream, known.job.memory_limit, &buffer, &bytes, err);
    if (status != HAC_OK)
        return status;
    Hac__Client__Input input, *list[] = {&input};
    hac_query_call call = {.options = &known, .inputs = list, .n_inputs = 1};
    if (bytes <= HAC_QUERY_DATA_MAX) {
        hac_sort_input_inline(hac_buffer_data(buffer), bytes, &input);
    } else {
        call.owned = hac_buffer_take(hac_steal_ptr(buffer));
        hac_sort_input_buffer(call.owned, 0, bytes, &input);
    }
    input.name = line;
    return hac_query_submit(client, &call, ret_job, err);
}
