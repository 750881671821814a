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
#include "base/text.h"

HAC_DEFINE_CLEANUP(DIR *, closedir)

/* ---- formats ---- */

static const struct {
    const char *name;
    hac_input_format format;
} formats[] = {
    {"csv", HAC_INPUT_CSV},        {"tsv", HAC_INPUT_TSV},         {"jsonl", HAC_INPUT_JSONL},
    {"lines", HAC_INPUT_LINES},    {"words", HAC_INPUT_WORDS},     {"kv", HAC_INPUT_KV},
    {"fixed", HAC_INPUT_FIXED},    {"lengths", HAC_INPUT_LENGTHS}, {"typedbytes", HAC_INPUT_TYPEDBYTES},
    {"parquet", HAC_INPUT_PARQUET}};

hac_input_format hac_query_format_of(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, name) == 0)
            return formats[i].format;
    return HAC_INPUT_NONE;
}

const char *hac_query_format_name(hac_input_format format)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i].format == format)
            return formats[i].name;
    return "";
}

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

/* Without the end of the name that says that it is compressed; cut to what a name can be. */
static void strip_compression(const char *path, char ret[NAME_MAX + 1])
{
    const char *slash = strrchr(path, '/');
    snprintf(ret, NAME_MAX + 1, "%s", slash != NULL ? slash + 1 : path);
    if (hac_is_packed_name(ret))
        ret[strlen(ret) - strlen(hac_query_suffix_of(ret))] = '\0';
}

static hac_input_format format_by_suffix(const char *path)
{
    char name[NAME_MAX + 1];
    strip_compression(path, name);
    static const struct {
        const char *suffix;
        hac_input_format format;
    } known[] = {{".csv", HAC_INPUT_CSV},      {".tsv", HAC_INPUT_TSV},   {".jsonl", HAC_INPUT_JSONL},
                 {".ndjson", HAC_INPUT_JSONL}, {".txt", HAC_INPUT_LINES}, {".parquet", HAC_INPUT_PARQUET}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcasecmp(known[i].suffix, hac_query_suffix_of(name)) == 0)
            return known[i].format;
    return HAC_INPUT_NONE;
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool is_standard(const char *word)
{
    return strcmp(word, "-") == 0;
}

static hac_status fail_unknown(const char *command, const char *what, const char *why, hac_error *err)
{
    return hac_fail(err, HAC_INVALID,
                    "%s: how is %.200s to be read? %s; say --parse "
                    "csv|tsv|jsonl|lines|words|kv|fixed|lengths|typedbytes|parquet",
                    command, what, why);
}

hac_status hac_query_format_by_suffixes(const char *command, char *const *words, size_t n_words,
                                        hac_input_format *ret, hac_error *err)
{
    hac_input_format found = HAC_INPUT_NONE;
    const char *first = NULL;
    for (size_t i = 0; i < n_words; i++) {
        if (is_standard(words[i])) /* is as the others are */
            continue;
        hac_input_format format = is_folder(words[i]) ? HAC_INPUT_PARQUET : format_by_suffix(words[i]);
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

/* Files of a folder: the first of them by name, and how many there are. */
typedef struct found_files {
    char *paths[HAC_QUERY_FILES_MAX + 1];
    size_t n_paths, n_files;
} found_files;

static void found_files_clear(found_files *found)
{
    for (size_t i = 0; i < found->n_paths; i++)
        free(found->paths[i]);
    found->n_paths = 0;
}

enum { DEPTH_MAX = 32 };

static hac_status look_in(const char *folder, unsigned depth, found_files *found, hac_error *err);

/* One name of a folder; takes `path` over. */
static hac_status look_at(char *path, unsigned depth, found_files *found, hac_error *err)
{
    hac_autofree char *own = path;
    struct stat st;
    if (path == NULL)
        return hac_fail_no_memory(err);
    if (lstat(path, &st) < 0) /* gone meanwhile, or nobody may tell what it is */
        return errno == ENOENT ? HAC_OK : hac_fail_errno(err, HAC_FAILED, errno, "%.200s", path);
    if (S_ISDIR(st.st_mode)) /* no links to folders, which may lead in circles */
        return look_in(path, depth + 1, found, err);
    if (format_by_suffix(path) != HAC_INPUT_PARQUET)
        return HAC_OK;
    /* What has the name of a part and is none that can be read: without it the others would look like the
     * whole. */
    if (S_ISLNK(st.st_mode) && stat(path, &st) < 0)
        return hac_fail_errno(err, HAC_FAILED, errno, "%.200s: is a link to what cannot be read", path);
    if (S_ISDIR(st.st_mode))
        return HAC_OK;
    if (!S_ISREG(st.st_mode))
        return hac_fail(err, HAC_FAILED, "%.200s: is no regular file; name the files that are to be read",
                        path);
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
        return hac_fail(err, HAC_FAILED, "%.200s: folders in folders, more than %d deep", folder, DEPTH_MAX);
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
        return hac_fail(err, HAC_FAILED, "%.200s: there is no file *.parquet in this folder", folder);
    if (input->n_files + found.n_files > HAC_QUERY_FILES_MAX)
        return hac_fail(err, HAC_INVALID,
                        "%s: %.200s has %zu Parquet files%s; %d are possible in one query: name fewer, or "
                        "folder by folder",
                        command, folder, found.n_files, input->n_files > 0 ? " beside the others" : "",
                        HAC_QUERY_FILES_MAX);
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
        return hac_fail(err, HAC_INVALID, "%s: more than %d files are too many for one query", command,
                        HAC_QUERY_FILES_MAX);
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
        return hac_fail(err, HAC_INVALID, "%s: %zu files are too many; %d are possible in one query", command,
                        n_words, HAC_QUERY_FILES_MAX);
    hac_status status = HAC_OK;
    for (size_t i = 0; i < n_words; i++)
        if (is_standard(words[i]) && n_words > 1)
            return hac_fail(err, HAC_INVALID,
                            "%s: standard input stands alone, without other files; save it first", command);
    if (format == HAC_INPUT_NONE)
        status = hac_query_format_by_suffixes(command, words, n_words, &input->format, err);
    for (size_t i = 0; i < n_words && status == HAC_OK; i++)
        status = add_name(input, command, words[i], err);
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

/* Numbers may begin like gzip, too: of records of bytes the name has to say so. */
bool hac_query_is_compressed(hac_input_format format, const char *name, int fd)
{
    if (format == HAC_INPUT_PARQUET)
        return false;
    return hac_is_packed_name(name) || (!hac_query_may_begin_like_gzip(format) && begins_compressed(fd));
}

/* Whether it is a regular file to be read from its beginning; it may be one of /proc, which has no size. */
static bool is_whole_file(int fd, const struct stat *st, bool standard)
{
    char byte;
    if (!S_ISREG(st->st_mode) || (standard && lseek(fd, 0, SEEK_CUR) != 0))
        return false;
    return st->st_size > 0 || pread(fd, &byte, sizeof byte, 0) <= 0;
}

static hac_status fail_alone(const char *name, hac_error *err)
{
    return hac_fail(err, HAC_FAILED,
                    "%.200s: has no size that is known beforehand, so it is read alone; save it first", name);
}

static hac_status open_one(hac_query_input *input, const char *command, size_t index, hac_error *err)
{
    const char *name = input->names[index];
    struct stat st;
    if (input->n_files > 1 && stat(name, &st) == 0 && S_ISFIFO(st.st_mode)) /* opened, it may wait for ever */
        return fail_alone(name, err);
    int fd = input->fds[index] =
        input->standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : hac_query_open_path(name);
    if (fd < 0 || fstat(fd, &st) < 0)
        return hac_fail_errno(err, HAC_FAILED, errno, "%s", name);
    if (S_ISDIR(st.st_mode))
        return hac_fail(err, HAC_FAILED, "%.200s: is a directory", name);
    bool binary = input->format == HAC_INPUT_FIXED || input->format == HAC_INPUT_PARQUET ||
                  input->format == HAC_INPUT_LENGTHS || input->format == HAC_INPUT_TYPEDBYTES;
    if (binary && isatty(fd) == 1)
        return hac_fail(err, HAC_INVALID, "%s: will not read %s from a terminal; name a file or redirect one",
                        command, hac_query_format_name(input->format));
    input->stream |= !is_whole_file(fd, &st, input->standard);
    if (input->stream && input->n_files > 1)
        return fail_alone(name, err);
    input->compressed |= hac_query_is_compressed(input->format, name, fd);
    input->bytes[index] = (uint64_t)st.st_size;
    if ((input->format == HAC_INPUT_CSV || input->format == HAC_INPUT_TSV) &&
        hac_is_mark_alone(fd, input->bytes[index]))
        input->bytes[index] = 0;
    return HAC_OK;
}

hac_status hac_query_input_open(hac_query_input *input, const char *command, hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; i < input->n_files && status == HAC_OK; i++)
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
}
