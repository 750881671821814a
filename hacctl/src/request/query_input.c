/* SPDX-License-Identifier: Apache-2.0 */
#include "query_input.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/byte_order_mark.h"
#include "base/format.h"
#include "base/io.h"
#include "base/json_document.h"
#include "base/text.h"

/* ---- formats ---- */

static bool is_standard(const char *word)
{
    return strcmp(word, "-") == 0;
}

/* ---- names ---- */

static hac_status fail_many(const char *command, size_t n, hac_input_format format, hac_error *err)
{
    bool parquet = format == HAC_INPUT_PARQUET;
    return hac_fail(err, HAC_INVALID, "%s: %zu files are too many for one query, which reads up to %d; %s",
                    command, n, HAC_QUERY_FILES_MAX,
                    parquet ? "query parts of them with `-o PART.parquet`, and then the parts"
                            : "`hacctl splice FILE…` takes any number of text files");
}

/* Finds the files of folders. What is not there is found out when it is opened. */
static hac_status add_words(hac_query_source *source, const char *command, char *const *words, size_t n_words,
                            hac_input_format format, hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; i < n_words && status == HAC_OK; i++) {
        if (is_standard(words[i]) && n_words > 1)
            return hac_fail(err, HAC_INVALID,
                            "%s: standard input cannot be combined with other files; save it first", command);
        status = hac_query_source_add(source, command, words[i], hac_query_files_of(format), err);
    }
    return status;
}

/* Takes the names of the files that are left. */
static hac_status take_names(hac_query_input *input, const char *command, hac_error *err)
{
    const hac_query_source *source = &input->source;
    size_t n = source->n_paths;
    input->many = n > HAC_QUERY_FILES_MAX && input->format == HAC_INPUT_PARQUET && source->files != NULL;
    if (n > HAC_QUERY_FILES_MAX && !input->many)
        return fail_many(command, n, input->format, err);
    n = input->many ? 1 : n;
    for (size_t i = 0; i < n; i++) {
        bool standard = is_standard(source->paths[i]);
        input->standard |= standard;
        input->names[i] = strdup(standard ? "standard input" : source->paths[i]);
        if (input->names[i] == NULL)
            return hac_fail_no_memory(err);
        input->n_files++;
    }
    snprintf(input->note, sizeof input->note, "%s", source->note);
    return HAC_OK;
}

hac_status hac_query_input_name(hac_query_input *input, const char *command, char *const *words,
                                size_t n_words, hac_input_format format, hac_query_options *options,
                                hac_error *err)
{
    hac_query_source *source = &input->source;
    *input = (hac_query_input){.format = format};
    for (size_t i = 0; i < HAC_QUERY_FILES_MAX; i++)
        input->fds[i] = -1;
    if (n_words == 0)
        return hac_fail(err, HAC_INVALID, "%s: of which files? Name at least one", command);
    hac_status status = add_words(source, command, words, n_words, format, err);
    if (status == HAC_OK && format == HAC_INPUT_NONE)
        status = hac_query_format_of_words(command, source->paths, source->n_paths, source->assumed,
                                           &input->format, err);
    if (status == HAC_OK && options != NULL) {
        options->input_format = input->format;
        status = hac_query_source_apply(source, options, err);
    }
    return status == HAC_OK ? take_names(input, command, err) : status;
}

/* Raw arrays are fixed-width records; columns have no format of text, so that of csv stands in. */
static hac_status choose_job_format(hac_query_input *input, const char *command, hac_input_format asked,
                                    hac_error *err)
{
    const hac_job_source *job = &input->of_job;
    input->format = job->columns ? HAC_INPUT_CSV : job->format;
    if (job->format == HAC_INPUT_NONE && !job->columns) {
        input->format = HAC_INPUT_FIXED;
        if (asked != HAC_INPUT_FIXED)
            return hac_fail(err, HAC_INVALID,
                            "%s: %s is a raw array; say its type: --parse fixed --schema value:u32 (for "
                            "`parquet convert` --type u32)",
                            command, input->names[0]);
    }
    if (asked == HAC_INPUT_NONE || (asked == input->format && !job->columns))
        return HAC_OK;
    return hac_fail(err, HAC_INVALID, "%s: %s is known to be %s; leave out the format", command,
                    input->names[0], job->columns ? "columns" : hac_formats[input->format].name);
}

hac_status hac_query_input_of_job(hac_query_input *input, const char *command, hac_cli *cli,
                                  char *const *words, size_t n_words, hac_input_format format, hac_error *err)
{
    *input = (hac_query_input){.fds = {-1}};
    if (n_words > 1)
        return hac_fail(err, HAC_INVALID,
                        "%s: the result of a job cannot be combined with other inputs; write it to a file "
                        "with `hacctl result`",
                        command);
    if (cli == NULL)
        return hac_fail(err, HAC_INVALID, "%s: %s cannot be read by ranks", command, words[0]);
    input->names[0] = strdup(words[0]);
    if (input->names[0] == NULL)
        return hac_fail_no_memory(err);
    input->n_files = 1;
    hac_status status = hac_job_source_open(cli, words[0], &input->of_job, err);
    if (status == HAC_OK)
        status = choose_job_format(input, command, format, err);
    input->bytes[0] = input->of_job.bytes;
    return status;
}

/* ---- opening ---- */

int hac_query_open_path(const char *path)
{
    struct stat st;
    bool wait = stat(path, &st) == 0 && S_ISFIFO(st.st_mode);
    return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (wait ? 0 : O_NONBLOCK));
}

static bool is_document(hac_input_format format, int fd)
{
    return format == HAC_INPUT_JSONL && hac_json_is_document_file(fd);
}

bool hac_query_is_for_client(const hac_query_options *options, const char *name, int fd)
{
    hac_input_format format = (hac_input_format)options->input_format;
    return hac_files_is_compressed(name, fd, format) != 0 || is_document(format, fd) ||
           hac_files_is_dialect(options) != 0;
}

/* Whether the descriptor is a regular file that is read from its beginning. A file of /proc is not: it has
 * no size. */
static bool is_whole_file(int fd, const struct stat *st, bool standard)
{
    return hac_size_is_known(fd, st) && (!standard || lseek(fd, 0, SEEK_CUR) == 0);
}

static hac_status fail_alone(const char *name, hac_error *err)
{
    return hac_fail(
        err, HAC_FAILED,
        "%.200s: its size is not known beforehand, so it cannot be combined with other files; save it first",
        name);
}

static hac_status open_one(hac_query_input *input, const char *command, size_t index, hac_error *err)
{
    const char *name = input->names[index];
    struct stat st;
    if (input->n_files > 1 && stat(name, &st) == 0 && S_ISFIFO(st.st_mode)) /* opening waits for a writer */
        return fail_alone(name, err);
    int fd = input->fds[index] =
        input->standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : hac_query_open_path(name);
    if (fd < 0 || fstat(fd, &st) < 0)
        return hac_fail_errno(err, HAC_FAILED, errno, "%s", name);
    if (S_ISDIR(st.st_mode))
        return hac_fail(err, HAC_FAILED, "%.200s: is a directory", name);
    if (!hac_formats[input->format].text && isatty(fd) == 1)
        return hac_fail(err, HAC_INVALID, "%s: will not read %s from a terminal; name a file or redirect one",
                        command, hac_formats[input->format].name);
    input->stream |= !is_whole_file(fd, &st, input->standard);
    if (input->stream && input->n_files > 1)
        return fail_alone(name, err);
    input->compressed |= hac_files_is_compressed(name, fd, input->format) != 0;
    input->document |= is_document(input->format, fd);
    input->bytes[index] = (uint64_t)st.st_size;
    if (hac_formats[input->format].header && hac_is_mark_alone(fd, input->bytes[index]))
        input->bytes[index] = 0;
    return HAC_OK;
}

hac_status hac_query_input_open(hac_query_input *input, const char *command, hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; i < input->n_files && status == HAC_OK && input->of_job.job == NULL; i++)
        status = open_one(input, command, i, err);
    return status;
}

void hac_query_input_clear(hac_query_input *input)
{
    for (size_t i = 0; i < input->n_files; i++) {
        hac_close(input->fds[i]);
        free(input->names[i]);
    }
    input->n_files = 0;
    hac_query_source_clear(&input->source);
    hac_job_source_clear(&input->of_job);
}
