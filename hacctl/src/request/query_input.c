/* SPDX-License-Identifier: Apache-2.0 */
#include "query_input.h"

#include <dirent.h>
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
#include "base/json_document.h"
#include "base/text.h"

HAC_DEFINE_CLEANUP(DIR *, closedir)

/* ---- formats ---- */

const char *hac_query_suffix_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return dot != NULL && dot != name ? dot : "";
}

bool hac_query_may_begin_like_gzip(hac_input_format format)
{
    return format == HAC_INPUT_FIXED || format == HAC_INPUT_LENGTHS;
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Whether the regular file begins as Parquet files do, whatever its name is. */
static bool begins_as_parquet(const char *path)
{
    static const char magic[] = {'P', 'A', 'R', '1'};
    char begin[sizeof magic];
    struct stat st;
    if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
        return false;
    hac_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    return fd >= 0 && pread(fd, begin, sizeof begin, 0) == (ssize_t)sizeof begin &&
           memcmp(begin, magic, sizeof magic) == 0;
}

hac_input_format hac_query_format_of(const char *path)
{
    hac_input_format format = is_folder(path) ? HAC_INPUT_PARQUET : hac_format_of_path(path);
    return format == HAC_INPUT_NONE && begins_as_parquet(path) ? HAC_INPUT_PARQUET : format;
}

static bool is_standard(const char *word)
{
    return strcmp(word, "-") == 0;
}

static hac_status fail_unknown(const char *command, const char *what, const char *why, hac_error *err)
{
    bool sort = strcmp(command, "sort") == 0;
    return hac_fail(err, HAC_INVALID, "%s: how is %.200s to be read? %s; say %s", command, what, why,
                    sort ? "--input-format csv or parquet" : "--parse and one of " HAC_FORMAT_WORDS);
}

hac_status hac_query_format_by_suffixes(const char *command, char *const *words, size_t n_words,
                                        hac_input_format *ret, hac_error *err)
{
    hac_input_format found = HAC_INPUT_NONE;
    const char *first = NULL;
    for (size_t i = 0; i < n_words; i++) {
        if (is_standard(words[i])) /* standard input has no suffix; the other words decide */
            continue;
        hac_input_format format = hac_query_format_of(words[i]);
        if (first == NULL) {
            first = words[i];
            found = format;
        }
        if (found == HAC_INPUT_NONE && access(first, F_OK) < 0)
            return hac_fail_errno(err, HAC_FAILED, errno, "%.200s", first);
        if (found == HAC_INPUT_NONE)
            return fail_unknown(command, first, "Its suffix does not say", err);
        if (format != found)
            return hac_fail(
                err, HAC_INVALID,
                "%s: %.200s and %.200s have different suffixes; say how to read them with --parse", command,
                first, words[i]);
    }
    if (first == NULL)
        return fail_unknown(command, "standard input", "It has no suffix", err);
    *ret = found;
    return HAC_OK;
}

/* ---- folders ---- */

/* Files of a folder: up to HAC_QUERY_FILES_MAX paths, and how many files there are. */
typedef struct found_files {
    char *paths[HAC_QUERY_FILES_MAX + 1];
    size_t n_paths, n_files;
    size_t n_others; /* files that are not Parquet, … */
    char *other;     /* … and one of them */
} found_files;

static void found_files_clear(found_files *found)
{
    for (size_t i = 0; i < found->n_paths; i++)
        free(found->paths[i]);
    free(found->other);
    found->n_paths = 0;
    found->other = NULL;
}

enum { DEPTH_MAX = 32 };

static hac_status fail_many(const char *command, size_t n, hac_input_format format, hac_error *err)
{
    bool parquet = format == HAC_INPUT_PARQUET;
    return hac_fail(err, HAC_INVALID, "%s: %zu files are too many for one query, which reads up to %d; %s",
                    command, n, HAC_QUERY_FILES_MAX,
                    parquet ? "query parts of them with `-o PART.parquet`, and then the parts"
                            : "`hacctl splice FILE…` takes any number of text files");
}

static hac_status look_in(const char *folder, unsigned depth, found_files *found, hac_error *err);

/* Looks at one entry of a folder; takes ownership of `path`. */
static hac_status look_at(char *path, unsigned depth, found_files *found, hac_error *err)
{
    hac_autofree char *own = path;
    struct stat st;
    if (path == NULL)
        return hac_fail_no_memory(err);
    if (lstat(path, &st) < 0) /* it has gone meanwhile, or this user may not look at it */
        return errno == ENOENT ? HAC_OK : hac_fail_errno(err, HAC_FAILED, errno, "%.200s", path);
    if (S_ISDIR(st.st_mode)) /* links to folders are left out: they may form circles */
        return look_in(path, depth + 1, found, err);
    if (hac_query_format_of(path) != HAC_INPUT_PARQUET) {
        bool file = stat(path, &st) == 0 && S_ISREG(st.st_mode);
        found->n_others += file;
        if (file && found->other == NULL)
            found->other = hac_steal_ptr(own);
        return HAC_OK;
    }
    /* A file with the name of a part that cannot be read is an error: without it the other files would
     * look complete. */
    if (S_ISLNK(st.st_mode) && stat(path, &st) < 0)
        return hac_fail_errno(err, HAC_FAILED, errno, "%.200s: is a link to something that cannot be read",
                              path);
    if (S_ISDIR(st.st_mode))
        return HAC_OK;
    if (!S_ISREG(st.st_mode))
        return hac_fail(err, HAC_FAILED, "%.200s: is not a regular file; name the files to read", path);
    found->n_files++;
    if (found->n_paths < HAC_QUERY_FILES_MAX)
        found->paths[found->n_paths++] = hac_steal_ptr(own);
    return HAC_OK;
}

static hac_status look_in(const char *folder, unsigned depth, found_files *found, hac_error *err)
{
    hac_cleanup(closedir_cleanup) DIR *directory = opendir(folder);
    if (directory == NULL)
        return hac_fail_errno(err, HAC_FAILED, errno, "%.200s", folder);
    if (depth > DEPTH_MAX)
        return hac_fail(err, HAC_FAILED, "%.200s: folders are nested more than %d deep", folder, DEPTH_MAX);
    const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
    for (;;) {
        char *path = NULL;
        errno = 0;
        const struct dirent *entry = readdir(directory);
        if (entry == NULL)
            return errno == 0 ? HAC_OK : hac_fail_errno(err, HAC_FAILED, errno, "%.200s", folder);
        if (entry->d_name[0] == '.' || entry->d_name[0] == '_')
            continue;
        if (asprintf(&path, "%s%s%s", folder, slash, entry->d_name) < 0)
            path = NULL;
        hac_status status = look_at(path, depth, found, err);
        if (status != HAC_OK)
            return status;
    }
}

static int by_path(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static hac_status add_folder(hac_query_input *input, const char *command, const char *folder, hac_error *err)
{
    hac_cleanup(found_files_clear) found_files found = {.n_files = 0};
    hac_status status = look_in(folder, 0, &found, err);
    if (status != HAC_OK)
        return status;
    if (found.n_files == 0)
        return hac_fail(err, HAC_FAILED, "%.200s: there is no Parquet file in this folder", folder);
    if (input->n_files + found.n_files > HAC_QUERY_FILES_MAX)
        return fail_many(command, input->n_files + found.n_files, HAC_INPUT_PARQUET, err);
    if (found.n_others > 0)
        snprintf(input->note, sizeof input->note, "%.200s: %zu file%s not Parquet, and left out: %.200s%s",
                 folder, found.n_others, found.n_others > 1 ? "s are" : " is", found.other,
                 found.n_others > 1 ? ", …" : "");
    qsort(found.paths, found.n_paths, sizeof *found.paths, by_path);
    for (size_t i = 0; i < found.n_paths; i++)
        input->names[input->n_files++] = found.paths[i];
    found.n_paths = 0;
    return HAC_OK;
}

/* ---- names ---- */

static hac_status add_name(hac_query_input *input, const char *command, const char *word, hac_error *err)
{
    if (input->format == HAC_INPUT_PARQUET && is_folder(word))
        return add_folder(input, command, word, err);
    if (input->n_files == HAC_QUERY_FILES_MAX)
        return fail_many(command, input->n_files + 1, input->format, err);
    input->standard |= is_standard(word);
    char *name = strdup(is_standard(word) ? "standard input" : word);
    if (name == NULL)
        return hac_fail_no_memory(err);
    input->names[input->n_files++] = name;
    return HAC_OK;
}

hac_status hac_query_input_name(hac_query_input *input, const char *command, char *const *words,
                                size_t n_words, hac_input_format format, hac_error *err)
{
    *input = (hac_query_input){.format = format};
    for (size_t i = 0; i < HAC_QUERY_FILES_MAX; i++)
        input->fds[i] = -1;
    if (n_words == 0)
        return hac_fail(err, HAC_INVALID, "%s: of which files? Name at least one", command);
    if (n_words > HAC_QUERY_FILES_MAX)
        return fail_many(command, n_words, format != HAC_INPUT_NONE ? format : hac_query_format_of(words[0]),
                         err);
    hac_status status = HAC_OK;
    for (size_t i = 0; i < n_words; i++)
        if (is_standard(words[i]) && n_words > 1)
            return hac_fail(err, HAC_INVALID,
                            "%s: standard input cannot be combined with other files; save it first", command);
    if (format == HAC_INPUT_NONE)
        status = hac_query_format_by_suffixes(command, words, n_words, &input->format, err);
    for (size_t i = 0; i < n_words && status == HAC_OK; i++)
        status = add_name(input, command, words[i], err);
    return status;
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

static bool begins_compressed(int fd)
{
    static const unsigned char gzip[] = {0x1f, 0x8b}, zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
    unsigned char begin[4];
    off_t at = lseek(fd, 0, SEEK_CUR);
    ssize_t n = pread(fd, begin, sizeof begin, at < 0 ? 0 : at);
    return (n >= (ssize_t)sizeof gzip && memcmp(begin, gzip, sizeof gzip) == 0) ||
           (n >= (ssize_t)sizeof zstd && memcmp(begin, zstd, sizeof zstd) == 0);
}

/* Binary records may begin like gzip by chance, so the name decides for them. */
bool hac_query_is_compressed(hac_input_format format, const char *name, int fd)
{
    if (format == HAC_INPUT_PARQUET)
        return false;
    return hac_is_packed_name(name) || (!hac_query_may_begin_like_gzip(format) && begins_compressed(fd));
}

static bool is_document(hac_input_format format, int fd)
{
    return format == HAC_INPUT_JSONL && hac_json_is_document_file(fd);
}

bool hac_query_is_for_client(hac_input_format format, const char *name, int fd)
{
    return hac_query_is_compressed(format, name, fd) || is_document(format, fd);
}

/* Whether the descriptor is a regular file that is read from its beginning. A file of /proc is not: it has
 * no size. */
static bool is_whole_file(int fd, const struct stat *st, bool standard)
{
    char byte;
    if (!S_ISREG(st->st_mode) || (standard && lseek(fd, 0, SEEK_CUR) != 0))
        return false;
    return st->st_size > 0 || pread(fd, &byte, sizeof byte, 0) <= 0;
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
    input->compressed |= hac_query_is_compressed(input->format, name, fd);
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
    hac_job_source_clear(&input->of_job);
}
