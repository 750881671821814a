/* SPDX-License-Identifier: Apache-2.0 */
#include "query_source.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/format.h"
#include "base/text.h"
#include "query_input.h"

HAC_DEFINE_CLEANUP(DIR *, closedir)

enum { DEPTH_MAX = 32 };

bool hac_query_source_is_sql(const char *word)
{
    size_t blanks = strspn(word, " \t\r\n");
    return word[blanks + strcspn(word + blanks, " \t\r\n")] != '\0' && access(word, F_OK) != 0;
}

/* Takes ownership of `path`; NULL: no memory. */
static hac_status add_path(hac_query_source *source, char *path, hac_error *err)
{
    if (path != NULL && source->n_paths == source->capacity) {
        size_t capacity = source->capacity * 2 + 16;
        char **paths = realloc(source->paths, capacity * sizeof *paths);
        if (paths != NULL) {
            source->paths = paths;
            source->capacity = capacity;
        }
    }
    if (path == NULL || source->n_paths == source->capacity) {
        free(path);
        return hac_fail_no_memory(err);
    }
    source->paths[source->n_paths++] = path;
    return HAC_OK;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* ---- folders ---- */

/* The files of a folder. */
typedef struct folder_files {
    hac_query_source *source;
    bool parquet; /* one of them is a Parquet file */
} folder_files;

static hac_status look_in(folder_files *files, const char *folder, unsigned depth, hac_error *err);

static hac_status look_at(folder_files *files, char *path, unsigned depth, hac_error *err)
{
    hac_autofree char *own = path;
    struct stat st;
    if (path == NULL)
        return hac_fail_no_memory(err);
    if (lstat(path, &st) < 0)
        return errno == ENOENT ? HAC_OK : hac_fail_errno(err, HAC_FAILED, errno, "%.200s", path);
    if (S_ISDIR(st.st_mode)) /* links to folders are left out: they may form circles */
        return look_in(files, path, depth + 1, err);
    if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
        return HAC_OK;
    files->parquet |= hac_query_format_of(path) == HAC_INPUT_PARQUET;
    return add_path(files->source, hac_steal_ptr(own), err);
}

static hac_status look_in(folder_files *files, const char *folder, unsigned depth, hac_error *err)
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
        hac_status status = look_at(files, path, depth, err);
        if (status != HAC_OK)
            return status;
    }
}

static void drop_paths(hac_query_source *source, size_t first)
{
    while (source->n_paths > first)
        free(source->paths[--source->n_paths]);
}

/* Adds the files of a folder; a folder with Parquet files stays a folder (query_input.h). */
static hac_status add_folder(hac_query_source *source, const char *folder, hac_error *err)
{
    folder_files files = {.source = source};
    size_t first = source->n_paths;
    hac_status status = look_in(&files, folder, 0, err);
    if (status != HAC_OK)
        return status;
    if (files.parquet || source->n_paths == first) {
        drop_paths(source, first);
        return add_path(source, strdup(folder), err);
    }
    qsort(source->paths + first, source->n_paths - first, sizeof *source->paths, by_path);
    return HAC_OK;
}

/* ---- patterns ---- */

static hac_status add_matches(hac_query_source *source, const char *command, const char *pattern,
                              hac_error *err)
{
    glob_t found = {.gl_pathc = 0};
    int failed = glob(pattern, GLOB_ERR, NULL, &found);
    hac_status status = HAC_OK;
    if (failed == GLOB_NOMATCH)
        status = hac_fail(err, HAC_FAILED, "%s: no file matches %.200s", command, pattern);
    else if (failed != 0)
        status = hac_fail(err, HAC_FAILED, "%s: %.200s: a folder cannot be read", command, pattern);
    for (size_t i = 0; i < found.gl_pathc && status == HAC_OK; i++)
        status = hac_query_source_add(source, command, found.gl_pathv[i], false, err);
    globfree(&found);
    return status;
}

hac_status hac_query_source_add(hac_query_source *source, const char *command, const char *word, bool pattern,
                                hac_error *err)
{
    struct stat st;
    if (hac_job_source_is(word))
        return add_path(source, strdup(word), err);
    bool exists = stat(word, &st) == 0;
    if (exists && S_ISDIR(st.st_mode))
        return add_folder(source, word, err);
    if (!exists && pattern && strpbrk(word, "*?[") != NULL)
        return add_matches(source, command, word, err);
    if (!exists && strcmp(word, "-") != 0)
        return hac_fail_errno(err, HAC_FAILED, errno, "%.200s", word);
    return add_path(source, strdup(word), err);
}

/* ---- how it is read ---- */

static bool is_streamed(const char *path)
{
    struct stat st;
    return strcmp(path, "-") == 0 || hac_is_packed_name(path) ||
           (stat(path, &st) == 0 && !S_ISREG(st.st_mode));
}

hac_status hac_query_source_choose(hac_query_source *source, const char *command, hac_input_format format,
                                   hac_error *err)
{
    source->format = format;
    for (size_t i = 0; i < source->n_paths; i++)
        if (hac_job_source_is(source->paths[i])) /* hacd knows its format */
            return HAC_OK;
    if (format == HAC_INPUT_NONE) {
        hac_status status =
            hac_query_format_by_suffixes(command, source->paths, source->n_paths, &source->format, err);
        if (status != HAC_OK)
            return status;
    }
    source->splits = source->n_paths > HAC_QUERY_FILES_MAX;
    for (size_t i = 0; i < source->n_paths && !source->splits; i++)
        source->splits = is_streamed(source->paths[i]);
    source->splits &= source->format != HAC_INPUT_PARQUET;
    return HAC_OK;
}

void hac_query_source_clear(hac_query_source *source)
{
    drop_paths(source, 0);
    free(source->paths);
    *source = (hac_query_source){.n_paths = 0};
}
