/* SPDX-License-Identifier: Apache-2.0 */
/* Submits queries on files, memory, buffers and streams. */
#include <inttypes.h>
#include <string.h>

#include <hac/files.h>

#include "base/byte_order_mark.h"
#include "base/format.h"
#include "base/input_options.h"
#include "base/json_document.h"
#include "base/limits.h"
#include "base/text.h"
#include "files/path_columns.h"
#include "input/stream.h"
#include "input/text_begin.h"
#include "jobs/job_input.h"
#include "query.h"

hac_status hac_query_submit(hac_client *client, const hac_query_call *call, hac_job **ret_job, hac_error *err)
{
    hac_autofree hac_compiled_query *own = NULL;
    const hac_compiled_query *compiled = call->compiled;
    hac_query_wire wire;
    hac_query_options found;
    hac_status status = hac_query_encode(call->options, call->table, &wire, err);
    if (status == HAC_OK && compiled == NULL &&
        call->describe == HAC__CLIENT__DESCRIPTION__DESCRIBE_NOTHING) {
        status = hac_query_call_compile(client, call, &own, err);
        compiled = own;
    }
    if (status == HAC_OK && compiled != NULL)
        status = hac_query_encode_found(call->options, call->table, compiled, &found, &wire, err);
    if (status != HAC_OK) {
        hac_client_give_back(client, call->owned);
        return status;
    }
    return hac_query_send(client, call, compiled, &wire, ret_job, err);
}

/* ---- files ---- */

#define NAME_BYTES 256 /* maximum size of a file's name with its NUL */
#define NAMES_BYTES                                                                                          \
    24576           /* maximum size of all names and paths, which share a message with the query's text */
#define NAME_MIN 24 /* minimum size of a name with its NUL */

typedef struct file_inputs {
    Hac__Client__Input input[HAC_QUERY_FILES_MAX];
    Hac__Client__Input *list[HAC_QUERY_FILES_MAX];
    char name[HAC_QUERY_FILES_MAX][NAME_BYTES];
    size_t name_capacity; /* maximum size of a name with its NUL */
    hac_text paths;       /* folders with keys, of all files */
} file_inputs;

static void free_inputs(file_inputs **files)
{
    if (*files != NULL)
        hac_text_clear(&(*files)->paths);
    free(*files);
}

/* Sizes the names: what the paths leave. */
static size_t name_capacity(size_t n_files, size_t paths)
{
    size_t bytes = NAMES_BYTES - paths;
    return n_files <= bytes / NAME_BYTES ? NAME_BYTES : bytes / n_files;
}

/* Gathers the folders with keys of all files. */
static hac_status fill_paths(file_inputs *files, const char *const *names, size_t n_files,
                             const hac_query_options *options, hac_error *err)
{
    hac_path_keys_text keys;
    for (size_t i = 0; i < n_files && names != NULL; i++) {
        hac_status status = hac_path_keys(options, names[i], &keys, err);
        if (status != HAC_OK)
            return status;
        hac_text_add_bytes(&files->paths, keys.text, keys.bytes);
        files->input[i].path.len = keys.bytes;
    }
    if (files->paths.broken)
        return hac_fail_no_memory(err);
    if (files->paths.bytes > NAMES_BYTES - n_files * NAME_MIN)
        return hac_fail(
            err, HAC_REFUSED,
            "the names of the folders with keys of %zu files have %zu bytes in all, too many for one "
            "query; query parts of the files",
            n_files, files->paths.bytes);
    files->name_capacity = name_capacity(n_files, files->paths.bytes);
    return HAC_OK;
}

/* Returns the end of a path that is too long, because paths in the same folder differ only at the end. */
static const char *end_of(const char *name, size_t capacity)
{
    size_t bytes = strlen(name);
    if (bytes < capacity)
        return name;
    name += bytes - (capacity - 1);
    for (int i = 0; i < 3 && ((uint8_t)*name & 0xc0) == 0x80; i++) /* start at the boundary of a character */
        name++;
    return name;
}

/* hacd's processes read files and memory themselves, and need lines. */
static hac_status fail_document(const char *name, hac_error *err)
{
    return hac_fail(err, HAC_UNSUPPORTED,
                    "%s: is a JSON document, not one object a line; hac_query_stream and hac_query_splits "
                    "read those",
                    name);
}

/* Refuses what only libhac's readers of streams turn into what executors read. */
static hac_status check_dialect(const hac_query_options *options, const char *name, hac_error *err)
{
    if (!hac_input_is_dialect((hac_input_format)options->input_format, &options->input_options))
        return HAC_OK;
    return hac_fail(err, HAC_UNSUPPORTED,
                    "%s: quote, escape and comment are not for files and memory that executors read; "
                    "hac_query_stream and hac_query_splits take them",
                    name);
}

static hac_status fill_file(file_inputs *files, size_t index, int fd, const char *name,
                            const hac_query_options *options, hac_error *err)
{
    Hac__Client__Input *input = &files->input[index];
    uint64_t bytes = 0;
    bool is_stream = false;
    hac_stream file = {.fd = fd, .name = files->name[index]};
    hac_utf8_copy_line(files->name[index], sizeof(files->name[index]),
                       name != NULL ? end_of(name, files->name_capacity) : "the input");
    hac_status status = hac_stream_look(&file, &is_stream, &bytes, err);
    if (status != HAC_OK)
        return status;
    if (is_stream)
        return hac_fail(err, HAC_FAILED, "%s is no file with a size; save it first, or read it as a stream",
                        file.name);
    status = hac_text_begin_check_file(options, file.name, fd, err);
    if (status == HAC_OK && options->input_format == HAC_INPUT_JSONL && hac_json_is_document_file(fd))
        status = fail_document(file.name, err);
    if (status == HAC_OK)
        status = check_dialect(options, file.name, err);
    if (status != HAC_OK)
        return status;
    if (hac_formats[options->input_format].header && hac_is_mark_alone(fd, bytes))
        bytes = 0; /* the input has no header */
    size_t path_bytes = input->path.len;
    hac__client__input__init(input);
    input->path.len = path_bytes;
    input->where_case = HAC__CLIENT__INPUT__WHERE_DESCRIPTOR;
    input->descriptor = (uint32_t)index;
    input->bytes = bytes;
    input->name = files->name[index];
    files->list[index] = input;
    return HAC_OK;
}

/* Fills in the inputs of a call on files. The call borrows `options` and `fds`. */
static hac_status fill_files(file_inputs *files, const int *fds, const char *const *names, size_t n_files,
                             const hac_query_options *options, hac_query_call *ret, hac_error *err)
{
    hac_status status = fill_paths(files, names, n_files, options, err);
    for (size_t i = 0; i < n_files && status == HAC_OK; i++)
        status = fill_file(files, i, fds[i], names != NULL ? names[i] : NULL, options, err);
    if (status != HAC_OK)
        return status;
    size_t at = 0;
    for (size_t i = 0; i < n_files && files->paths.data != NULL; at += files->input[i++].path.len)
        files->input[i].path.data = (uint8_t *)files->paths.data + at;
    *ret = (hac_query_call){
        .options = options, .inputs = files->list, .n_inputs = n_files, .fds = fds, .n_fds = n_files};
    return HAC_OK;
}

/* Reads the options and the files of a call. `call` uses *ret_known and *ret_files. */
static hac_status read_files(const int *fds, const char *const *names, size_t n_files,
                             const hac_query_options *options, hac_query_options *ret_known,
                             file_inputs **ret_files, hac_query_call *ret, hac_error *err)
{
    hac_status status = hac_query_options_read(options, ret_known, err);
    if (status == HAC_OK && (n_files == 0 || n_files > HAC_QUERY_FILES_MAX))
        status =
            hac_fail(err, HAC_INVALID, "%zu files are given, 1 to %d can be", n_files, HAC_QUERY_FILES_MAX);
    if (status != HAC_OK)
        return status;
    *ret_files = calloc(1, sizeof(**ret_files));
    if (*ret_files == NULL)
        return hac_fail_no_memory(err);
    return fill_files(*ret_files, fds, names, n_files, ret_known, ret, err);
}

hac_status hac_query_files(hac_client *client, const int *fds, const char *const *names, size_t n_files,
                           const hac_query_options *options, hac_job **ret_job, hac_error *err)
{
    hac_query_options known;
    hac_query_call call;
    hac_cleanup(free_inputs) file_inputs *files = NULL;
    hac_status status = read_files(fds, names, n_files, options, &known, &files, &call, err);
    return status == HAC_OK ? hac_query_submit(client, &call, ret_job, err) : status;
}

hac_status hac_query_find_columns(hac_client *client, const int *fds, const char *const *names,
                                  size_t n_files, hac_query_options *options, void **ret_columns,
                                  uint64_t *ret_bytes, hac_error *err)
{
    hac_query_options known;
    hac_query_call call;
    hac_cleanup(free_inputs) file_inputs *files = NULL;
    hac_status status = read_files(fds, names, n_files, options, &known, &files, &call, err);
    if (status == HAC_OK)
        status = hac_query_call_find(client, &call, &known, ret_columns, ret_bytes, err);
    if (status != HAC_OK)
        return status;
    options->input_options = known.input_options;
    options->infer_schema = known.infer_schema;
    options->find = known.find;
    return HAC_OK;
}

/* Runs the job that reads the footers of the call's files. */
static hac_status read_footers(hac_client *client, const hac_query_call *call,
                               const hac_compiled_query *compiled, hac_query_footers *ret, hac_error *err)
{
    hac_cleanup(hac_job_unref_cleanup) hac_job *job = NULL;
    hac_query_options options = *call->options;
    hac_query_call asked = *call;
    hac_query_wire wire;
    options.job.detach = 0;
    options.job.progress = NULL;
    options.job.done = NULL;
    options.job.deadline_seconds = 0; /* it is that of the job which is planned */
    asked.options = &options;
    asked.describe = HAC__CLIENT__DESCRIPTION__DESCRIBE_FOOTERS;
    hac_status status = hac_query_encode(&options, NULL, &wire, err);
    if (status == HAC_OK)
        status = hac_query_send(client, &asked, compiled, &wire, &job, err);
    if (status == HAC_OK)
        status = hac_job_wait(job, -1, err);
    if (status != HAC_OK)
        return status;
    size_t n = call->n_inputs * HAC_FOOTER_N_VALUES;
    if (hac_job_bytes(job) != n * sizeof(ret->values[0]))
        return hac_fail(err, HAC_PROTOCOL, "the figures of the footers are damaged");
    memcpy(ret->values, hac_job_data(job), n * sizeof(ret->values[0]));
    ret->n = n;
    return HAC_OK;
}

hac_status hac_query_compile_files(hac_client *client, const int *fds, const char *const *names,
                                   size_t n_files, const hac_query_options *options, hac_compiled_query **ret,
                                   hac_query_footers *ret_footers, hac_error *err)
{
    hac_query_call call;
    hac_autofree hac_compiled_query *compiled = NULL;
    hac_cleanup(free_inputs) file_inputs *files = calloc(1, sizeof(*files));
    if (files == NULL)
        return hac_fail_no_memory(err);
    ret_footers->n = 0;
    hac_status status = fill_files(files, fds, names, n_files, options, &call, err);
    if (status == HAC_OK)
        status = hac_query_call_compile(client, &call, &compiled, err);
    if (status == HAC_OK && options->input_format == HAC_INPUT_PARQUET)
        status = read_footers(client, &call, compiled, ret_footers, err);
    if (status == HAC_OK)
        *ret = hac_steal_ptr(compiled);
    return status;
}

hac_status hac_describe_parquet(hac_client *client, int fd, const char *name, const hac_job_options *options,
                                hac_job **ret_job, hac_error *err)
{
    hac_query_options query = HAC_QUERY_OPTIONS_INIT;
    query.input_format = HAC_INPUT_PARQUET;
    if (options != NULL)
        query.job = *options;
    hac_cleanup(free_inputs) file_inputs *file = calloc(1, sizeof(*file));
    if (file == NULL)
        return hac_fail_no_memory(err);
    file->name_capacity = name_capacity(1, 0);
    hac_status status = fill_file(file, 0, fd, name, &query, err);
    if (status != HAC_OK)
        return status;
    hac_query_call call = {.options = &query,
                           .describe = HAC__CLIENT__DESCRIPTION__DESCRIBE_FILE,
                           .inputs = file->list,
                           .n_inputs = 1,
                           .fds = &fd,
                           .n_fds = 1};
    return hac_query_submit(client, &call, ret_job, err);
}

/* ---- memory ---- */

static hac_status check_memory(const hac_query_options *options, const void *text, uint64_t bytes,
                               hac_error *err)
{
    bool settled;
    size_t max = HAC_TEXT_BEGIN_BYTES, n = bytes < max ? (size_t)bytes : max;
    hac_status status = hac_text_begin_check(options, "the input", text, n, bytes <= max, &settled, err);
    if (status == HAC_OK && options->input_format == HAC_INPUT_JSONL && hac_json_is_document(text, n))
        return fail_document("the input", err);
    return status == HAC_OK ? check_dialect(options, "the input", err) : status;
}

hac_status hac_query_memory(hac_client *client, const void *text, uint64_t bytes,
                            const hac_query_options *options, hac_job **ret_job, hac_error *err)
{
    hac_query_options known;
    hac_status status = hac_query_options_read(options, &known, err);
    if (status == HAC_OK)
        status = check_memory(&known, text, bytes, err);
    if (status != HAC_OK)
        return status;
    Hac__Client__Input input, *list[] = {&input};
    hac_query_call call = {
        .options = &known, .inputs = list, .n_inputs = 1, .text = text, .text_bytes = bytes};
    if (bytes <= HAC_QUERY_DATA_MAX) {
        hac_job_input_inline(text, bytes, &input);
        return hac_query_submit(client, &call, ret_job, err);
    }
    hac_buffer *buffer = NULL;
    status = hac_buffer_alloc(client, bytes, &buffer, err);
    if (status != HAC_OK)
        return status;
    memcpy(hac_buffer_data(buffer), text, (size_t)bytes);
    call.owned = hac_buffer_take(buffer);
    hac_job_input_buffer(call.owned, 0, bytes, &input);
    return hac_query_submit(client, &call, ret_job, err);
}

hac_status hac_query_buffer(hac_client *client, hac_buffer *buffer, uint64_t offset, uint64_t bytes,
                            const hac_query_options *options, hac_job **ret_job, hac_error *err)
{
    hac_query_options known;
    hac_status status = hac_query_options_read(options, &known, err);
    if (status == HAC_OK)
        status = hac_job_input_check(client, buffer, offset, bytes, "lines", err);
    if (status == HAC_OK)
        status = check_memory(&known, buffer->mapping->address + offset, bytes, err);
    if (status != HAC_OK)
        return status;
    Hac__Client__Input input, *list[] = {&input};
    hac_query_call call = {.options = &known,
                           .inputs = list,
                           .n_inputs = 1,
                           .text = buffer->mapping->address + offset,
                           .text_bytes = bytes};
    hac_job_input_buffer(buffer->mapping, offset, bytes, &input);
    return hac_query_submit(client, &call, ret_job, err);
}

/* ---- streams ---- */

static hac_status read_stream(hac_client *client, hac_stream *stream, uint64_t max, hac_buffer **ret_buffer,
                              uint64_t *ret_bytes, hac_error *err)
{
    hac_cleanup(hac_buffer_free_cleanup) hac_buffer *buffer = NULL;
    uint64_t bytes = 0;
    bool bounded = max != 0 && max < UINT64_MAX;
    hac_status status =
        hac_stream_read(client, stream, 0, bounded ? max + 1 : UINT64_MAX, &buffer, &bytes, err);
    if (status != HAC_OK)
        return status;
    if (bounded && bytes > max)
        return hac_fail(err, HAC_REFUSED,
                        "%s has more than the %" PRIu64 " bytes of memory that the query may use",
                        stream->name, max);
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
    hac_stream stream = {.fd = fd, .name = line, .options = &known};
    hac_status status = hac_query_options_read(options, &known, err);
    stream.stop_fd = known.stop_fd;
    if (status == HAC_OK)
        status = hac_stream_look(&stream, &is_stream, &bytes, err);
    if (status == HAC_OK)
        status = read_stream(client, &stream, known.job.memory_limit, &buffer, &bytes, err);
    if (status != HAC_OK)
        return status;
    Hac__Client__Input input, *list[] = {&input};
    hac_query_call call = {.options = &known,
                           .inputs = list,
                           .n_inputs = 1,
                           .text = hac_buffer_data(buffer),
                           .text_bytes = bytes};
    if (bytes <= HAC_QUERY_DATA_MAX) {
        hac_job_input_inline(hac_buffer_data(buffer), bytes, &input);
    } else {
        call.owned = hac_buffer_take(hac_steal_ptr(buffer));
        hac_job_input_buffer(call.owned, 0, bytes, &input);
    }
    hac_path_keys_text keys;
    status = hac_path_keys(&known, name, &keys, err);
    if (status != HAC_OK) {
        hac_client_give_back(client, call.owned);
        return status;
    }
    input.path = (ProtobufCBinaryData){keys.bytes, (uint8_t *)keys.text};
    if (stream.remark != NULL)
        strncat(line, stream.remark, sizeof(line) - strlen(line) - 1);
    input.name = line;
    return hac_query_submit(client, &call, ret_job, err);
}
