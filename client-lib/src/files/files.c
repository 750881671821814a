/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the files that names stand for: folders and patterns. */
#include "files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/format.h"
#include "base/io.h"
#include "base/packing.h"

HAC_DEFINE_CLEANUP(DIR *, closedir)

enum { DEPTH_MAX = 32 };

hac_status hac_files_new(hac_files **ret, hac_error *err)
{
    hac_files *files = calloc(1, sizeof *files);
    if (files == NULL)
        return hac_fail_no_memory(err);
    *ret = files;
    return HAC_OK;
}

static void drop_names(hac_files *files, size_t first)
{
    while (files->n > first)
        free(files->names[--files->n]);
}

void hac_files_free(hac_files *files)
{
    if (files == NULL)
        return;
    drop_names(files, 0);
    free(files->names);
    free(files->path_columns);
    free(files);
}

size_t hac_files_count(const hac_files *files)
{
    return files->n;
}

const char *hac_files_name(const hac_files *files, size_t index)
{
    return index < files->n ? files->names[index] : NULL;
}

const char *hac_files_note(const hac_files *files)
{
    return files->note;
}

/* Whether the regular file begins as Parquet files do, whatever its name is. */
static bool begins_as_parquet(const char *path)
{
    static const char magic[] = {'P', 'A', 'R', '1'};
    char begin[sizeof magic];
    struct stat st;
    if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
        return false;
    hac_autoclose int fd = hac_open_read(path);
    return fd >= 0 && pread(fd, begin, sizeof begin, 0) == (ssize_t)sizeof begin &&
           memcmp(begin, magic, sizeof magic) == 0;
}

/* By its suffix, else by its first bytes. */
static bool is_parquet(const char *path)
{
    hac_input_format format = hac_format_of_path(path);
    return format != HAC_INPUT_NONE ? format == HAC_INPUT_PARQUET : begins_as_parquet(path);
}

hac_input_format hac_files_format_of(const char *path)
{
    hac_input_format format = hac_format_of_path(path);
    if (format == HAC_INPUT_NONE && hac_files_find_format(path, -1, -1, &format, NULL) != HAC_OK)
        return HAC_INPUT_NONE;
    return format;
}

static bool begins_as_compressed(int fd)
{
    uint8_t begin[HAC_PACKING_MAGIC];
    bool unsure;
    off_t at = lseek(fd, 0, SEEK_CUR);
    ssize_t n = pread(fd, begin, sizeof begin, at < 0 ? 0 : at);
    return n > 0 && hac_packing_of(begin, (size_t)n, &unsure) != HAC_PACKING_NONE;
}

int hac_files_is_compressed(const char *path, int fd, hac_input_format format)
{
    struct stat st;
    if (format == HAC_INPUT_PARQUET)
        return 0;
    if (path != NULL && hac_is_packed_name(path))
        return 1;
    if ((unsigned)format >= HAC_INPUT_END || hac_formats[format].any_bytes)
        return 0;
    if (fd >= 0)
        return begins_as_compressed(fd);
    if (path == NULL || stat(path, &st) < 0 || !S_ISREG(st.st_mode))
        return 0;
    hac_autoclose int opened = hac_open_read(path);
    return opened >= 0 && begins_as_compressed(opened);
}

/* Takes ownership of `name`; NULL: no memory. */
static hac_status add_name(hac_files *files, char *name, hac_error *err)
{
    if (name != NULL && files->n == files->capacity) {
        size_t capacity = files->capacity * 2 + 16;
        char **names = reallocarray(files->names, capacity, sizeof *names);
        if (names != NULL) {
            files->names = names;
            files->capacity = capacity;
        }
    }
    if (name == NULL || files->n == files->capacity) {
        free(name);
        return hac_fail_no_memory(err);
    }
    files->names[files->n++] = name;
    return HAC_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* ---- folders ---- */

/* The files of one folder. Those of the preferred kind, Parquet or else text, come before the others in
 * hac_files.names: the first `n_preferred` from `first` on. */
typedef struct folder_walk {
    hac_files *files;
    bool all;  /* any file is wanted, whatever its format */
    bool text; /* Parquet files are not wanted */
    size_t first, n_preferred;
} folder_walk;

static hac_status look_in(folder_walk *walk, const char *folder, unsigned depth, hac_error *err);

/* A file with the name of a part that cannot be read is an error: without it the other files would look
 * complete. */
static hac_status check_part(const char *path, const struct stat *link, hac_error *err)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return hac_fail_errno(
            err, HAC_FAILED, errno,
            S_ISLNK(link->st_mode) ? "%.200s: is a link to something that cannot be read" : "%.200s", path);
    return S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)
               ? HAC_OK
               : hac_fail(err, HAC_FAILED, "%.200s: is not a regular file; name the files to read", path);
}

/* Looks at one entry of a folder; takes ownership of `path`. */
static hac_status look_at(folder_walk *walk, char *path, unsigned depth, hac_error *err)
{
    hac_autofree char *own = path;
    struct stat link, st;
    if (path == NULL)
        return hac_fail_no_memory(err);
    if (lstat(path, &link) < 0) /* it has gone meanwhile, or this user may not look at it */
        return errno == ENOENT ? HAC_OK : hac_fail_errno(err, HAC_FAILED, errno, "%.200s", path);
    if (S_ISDIR(link.st_mode)) /* links to folders are left out: they may form circles */
        return look_in(walk, path, depth + 1, err);
    bool parquet = !walk->all && is_parquet(path);
    hac_status status = parquet && !walk->text ? check_part(path, &link, err) : HAC_OK;
    if (status != HAC_OK || stat(path, &st) < 0 || !S_ISREG(st.st_mode))
        return status;
    status = add_name(walk->files, hac_steal_ptr(own), err);
    if (status != HAC_OK || parquet == walk->text)
        return status;
    char **at = &walk->files->names[walk->first + walk->n_preferred++],
         *last = walk->files->names[walk->files->n - 1];
    walk->files->names[walk->files->n - 1] = *at;
    *at = last;
    return HAC_OK;
}

static hac_status look_in(folder_walk *walk, const char *folder, unsigned depth, hac_error *err)
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
        hac_status status = look_at(walk, path, depth, err);
        if (status != HAC_OK)
            return status;
    }
}

static void sort_from(hac_files *files, size_t first)
{
    if (files->n > first)
        qsort(files->names + first, files->n - first, sizeof *files->names, by_name);
}

static hac_status add_folder(hac_files *files, const char *folder, unsigned flags, hac_error *err)
{
    folder_walk walk = {.files = files, .text = (flags & HAC_FILES_TEXT) != 0, .first = files->n};
    hac_status status = look_in(&walk, folder, 0, err);
    if (status != HAC_OK)
        return status;
    bool only = (flags & HAC_FILES_PARQUET) != 0;
    size_t n_others = files->n - walk.first - walk.n_preferred;
    size_t n_out = walk.n_preferred > 0 || walk.text || only ? n_others : 0;
    if (files->n - walk.first == n_out) {
        drop_names(files, walk.first);
        return hac_fail(err, HAC_FAILED, "%.200s: there is no %sfile in this folder", folder,
                        only        ? "Parquet "
                        : walk.text ? "text "
                                    : "");
    }
    if (n_out > 0) {
        snprintf(files->note, sizeof files->note, "%.200s: %zu file%s%s Parquet, and left out: %.200s%s",
                 folder, n_out, n_out > 1 ? "s are" : " is", walk.text ? "" : " not",
                 files->names[files->n - n_out], n_out > 1 ? ", …" : "");
        drop_names(files, files->n - n_out);
    }
    sort_from(files, walk.first);
    return HAC_OK;
}

/* ---- patterns ---- */

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Whether the last parts of the path match the pattern, of as many parts as it has. */
static bool ends_like(const char *path, const char *pattern)
{
    size_t parts = 1;
    for (const char *at = pattern; *at != '\0'; at++)
        parts += *at == '/';
    const char *at = path + strlen(path);
    while (at > path && (at[-1] != '/' || --parts > 0))
        at--;
    return fnmatch(pattern, at, FNM_PATHNAME | FNM_PERIOD) == 0;
}

/* Adds the files below a folder, at any depth, whose paths end like the pattern. */
static hac_status add_below(hac_files *files, const char *folder, const char *pattern, hac_error *err)
{
    size_t first = files->n, kept = first;
    folder_walk walk = {.files = files, .all = true, .first = first};
    hac_status status = look_in(&walk, folder, 0, err);
    for (size_t i = first; i < files->n; i++) {
        char *name = files->names[i];
        if (pattern[0] != '\0' && !ends_like(name + strlen(folder), pattern)) {
            free(name);
            continue;
        }
        files->names[kept++] = name;
    }
    files->n = kept;
    sort_from(files, first);
    if (status == HAC_OK && kept == first)
        return hac_fail(err, HAC_FAILED, "no file matches %.200s/**/%.200s", folder, pattern);
    return status;
}

static hac_status add_match(hac_files *files, char *match, const char *below, unsigned flags, hac_error *err)
{
    if (below == NULL)
        return hac_files_add(files, match, flags & ~(unsigned)HAC_FILES_PATTERNS, err);
    return is_folder(match) ? add_below(files, match, below, err) : HAC_OK;
}

/* `below`: the part of the pattern behind a component **; NULL: there is none. */
static hac_status add_matches(hac_files *files, const char *pattern, const char *below, unsigned flags,
                              hac_error *err)
{
    glob_t found = {.gl_pathc = 0};
    size_t first = files->n;
    if (below != NULL && is_folder(pattern)) /* its name may have the characters of patterns */
        return add_below(files, pattern, below, err);
    int failed = glob(pattern, GLOB_ERR | GLOB_NOSORT, NULL, &found);
    hac_status status = HAC_OK;
    if (failed != 0 && failed != GLOB_NOMATCH)
        status = hac_fail(err, HAC_FAILED, "%.200s: a folder cannot be read", pattern);
    if (found.gl_pathc > 1)
        qsort(found.gl_pathv, found.gl_pathc, sizeof *found.gl_pathv, by_name);
    for (size_t i = 0; i < found.gl_pathc && status == HAC_OK; i++)
        status = add_match(files, found.gl_pathv[i], below, flags, err);
    globfree(&found);
    if (status == HAC_OK && files->n == first)
        return hac_fail(err, HAC_FAILED, "no file matches %.200s", pattern);
    return status;
}

/* The component ** of a pattern; NULL: it has none. */
static const char *any_depth(const char *pattern)
{
    const char *at = pattern;
    while ((at = strstr(at, "**")) != NULL) {
        if ((at == pattern || at[-1] == '/') && (at[2] == '/' || at[2] == '\0'))
            return at;
        at += 2;
    }
    return NULL;
}

static hac_status add_pattern(hac_files *files, const char *pattern, unsigned flags, hac_error *err)
{
    const char *any = any_depth(pattern);
    if (any == NULL)
        return add_matches(files, pattern, NULL, flags, err);
    size_t bytes = (size_t)(any - pattern);
    hac_autofree char *folder = bytes > 1 ? strndup(pattern, bytes - 1) : strdup(bytes == 1 ? "/" : ".");
    const char *below = any[2] == '/' ? any + 3 : "";
    if (folder == NULL)
        return hac_fail_no_memory(err);
    if (any_depth(below) != NULL)
        return hac_fail(err, HAC_INVALID, "%.200s: a pattern may have ** once", pattern);
    return add_matches(files, folder, below, flags, err);
}

/* A file that is not there. Files on the network can be read from standard input. */
static hac_status fail_missing(const char *name, int failed, hac_error *err)
{
    static const char *const commands[][2] = {{"s3://", "aws s3 cp "},
                                              {"s3a://", "aws s3 cp "},
                                              {"gs://", "gsutil cat "},
                                              {"gcs://", "gsutil cat "},
                                              {"hdfs://", "hdfs dfs -cat "}};
    const char *command = "curl -sL ", *last = "";
    if (name[0] == '\0')
        return hac_fail(err, HAC_INVALID, "the name of an input is empty");
    if (failed != ENOENT || strstr(name, "://") == NULL)
        return hac_fail_errno(err, HAC_FAILED, failed, "%.200s", name);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strncmp(name, commands[i][0], strlen(commands[i][0])) == 0) {
            command = commands[i][1];
            last = i < 2 ? " -" : "";
        }
    return hac_fail(err, HAC_FAILED,
                    "%.200s: is not a file of this machine; hac reads files, and standard input, whose name "
                    "is '-': %s'%.200s'%s | hacctl query -",
                    name, command, name, last);
}

hac_status hac_files_add(hac_files *files, const char *name, unsigned flags, hac_error *err)
{
    struct stat st;
    bool exists = stat(name, &st) == 0;
    int failed = errno;
    if (exists && S_ISDIR(st.st_mode))
        return add_folder(files, name, flags, err);
    if (!exists && strstr(name, "://") == NULL && (flags & HAC_FILES_PATTERNS) != 0 &&
        strpbrk(name, "*?[") != NULL)
        return add_pattern(files, name, flags, err);
    if (!exists)
        return fail_missing(name, failed, err);
    return add_name(files, strdup(name), err);
}
