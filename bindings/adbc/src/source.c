/* SPDX-License-Identifier: Apache-2.0 */
/* What a name in FROM stands for: files, folders and patterns, as `hacctl query` reads them. */
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "driver.h"

enum { DEPTH_MAX = 32 };

static hac_status fail(hac_error *err, hac_status code, const char *path, const char *why)
{
    err->code = code;
    snprintf(err->message, sizeof(err->message), "%.300s: %s", path, why);
    return code;
}

static hac_status fail_no_memory(hac_error *err)
{
    err->code = HAC_NO_MEMORY;
    snprintf(err->message, sizeof(err->message), "out of memory");
    return HAC_NO_MEMORY;
}

/* Takes ownership of `path`; NULL: no memory. */
static hac_status add_path(hac_adbc_source *source, char *path, hac_error *err)
{
    if (path != NULL && source->n_paths == source->capacity) {
        size_t capacity = source->capacity * 2 + 16;
        char **paths = reallocarray(source->paths, capacity, sizeof(*paths));
        if (paths != NULL) {
            source->paths = paths;
            source->capacity = capacity;
        }
    }
    if (path == NULL || source->n_paths == source->capacity) {
        free(path);
        return fail_no_memory(err);
    }
    source->paths[source->n_paths++] = path;
    return HAC_OK;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void drop_paths(hac_adbc_source *source, size_t first)
{
    while (source->n_paths > first)
        free(source->paths[--source->n_paths]);
}

void hac_adbc_source_clear(hac_adbc_source *source)
{
    drop_paths(source, 0);
    free(source->paths);
    *source = (hac_adbc_source){.n_paths = 0};
}

/* ---- folders ---- */

static hac_status look_in(hac_adbc_source *source, const char *folder, unsigned depth, hac_error *err);

/* Takes ownership of `path`. Links to folders are left out: they may form circles. */
static hac_status look_at(hac_adbc_source *source, char *path, unsigned depth, hac_error *err)
{
    struct stat st;
    hac_status status = HAC_OK;
    if (path == NULL)
        return fail_no_memory(err);
    if (lstat(path, &st) < 0)
        status = errno == ENOENT ? HAC_OK : fail(err, HAC_FAILED, path, strerror(errno));
    else if (S_ISDIR(st.st_mode))
        status = look_in(source, path, depth + 1, err);
    else if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
        return add_path(source, path, err);
    free(path);
    return status;
}

static hac_status look_in(hac_adbc_source *source, const char *folder, unsigned depth, hac_error *err)
{
    if (depth > DEPTH_MAX)
        return fail(err, HAC_FAILED, folder, "folders are nested too deep");
    DIR *directory = opendir(folder);
    if (directory == NULL)
        return fail(err, HAC_FAILED, folder, strerror(errno));
    const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
    hac_status status = HAC_OK;
    while (status == HAC_OK) {
        char *path = NULL;
        errno = 0;
        const struct dirent *entry = readdir(directory);
        if (entry == NULL) {
            status = errno == 0 ? HAC_OK : fail(err, HAC_FAILED, folder, strerror(errno));
            break;
        }
        if (entry->d_name[0] == '.' || entry->d_name[0] == '_')
            continue;
        if (asprintf(&path, "%s%s%s", folder, slash, entry->d_name) < 0)
            path = NULL;
        status = look_at(source, path, depth, err);
    }
    closedir(directory);
    return status;
}

hac_status hac_adbc_list_folder(hac_adbc_source *source, const char *folder, hac_error *err)
{
    size_t first = source->n_paths;
    hac_status status = look_in(source, folder, 0, err);
    if (status == HAC_OK && source->n_paths > first)
        qsort(source->paths + first, source->n_paths - first, sizeof(*source->paths), by_path);
    return status;
}

/* A folder stands for its Parquet files, or, if there are none, for its other files. */
static hac_status add_folder(hac_adbc_source *source, const char *folder, hac_error *err)
{
    size_t first = source->n_paths, kept = first;
    hac_status status = hac_adbc_list_folder(source, folder, err);
    if (status != HAC_OK)
        return status;
    for (size_t i = first; i < source->n_paths; i++)
        if (hac_input_format_of(source->paths[i]) == HAC_INPUT_PARQUET) {
            char *path = source->paths[i];
            source->paths[i] = source->paths[kept];
            source->paths[kept++] = path;
        }
    if (kept > first)
        drop_paths(source, kept);
    return source->n_paths > first ? HAC_OK : fail(err, HAC_FAILED, folder, "the folder has no files");
}

/* ---- names ---- */

static hac_status add_matches(hac_adbc_source *source, const char *pattern, hac_error *err)
{
    glob_t found = {.gl_pathc = 0};
    int failed = glob(pattern, GLOB_ERR, NULL, &found);
    hac_status status = HAC_OK;
    if (failed != 0)
        status = fail(err, failed == GLOB_NOMATCH ? HAC_NOT_FOUND : HAC_FAILED, pattern,
                      failed == GLOB_NOMATCH ? "no file matches" : "a folder cannot be read");
    for (size_t i = 0; i < found.gl_pathc && status == HAC_OK; i++) {
        struct stat st;
        const char *path = found.gl_pathv[i];
        bool folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
        status = folder ? add_folder(source, path, err) : add_path(source, strdup(path), err);
    }
    globfree(&found);
    return status;
}

hac_status hac_adbc_source_add(hac_adbc_source *source, const char *folder, const char *name, hac_error *err)
{
    char *path = NULL;
    struct stat st;
    bool whole = name[0] == '/' || folder[0] == '\0';
    if (asprintf(&path, "%s%s%s", whole ? "" : folder, whole ? "" : "/", name) < 0)
        return fail_no_memory(err);
    hac_status status;
    if (stat(path, &st) == 0)
        status = S_ISDIR(st.st_mode) ? add_folder(source, path, err) : add_path(source, strdup(path), err);
    else if (strpbrk(name, "*?[") != NULL)
        status = add_matches(source, path, err);
    else
        status = fail(err, errno == ENOENT ? HAC_NOT_FOUND : HAC_FAILED, path, strerror(errno));
    free(path);
    return status;
}

bool hac_adbc_is_packed(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot != NULL && (strcmp(dot, ".gz") == 0 || strcmp(dot, ".zst") == 0);
}
