/* SPDX-License-Identifier: Apache-2.0 */
#include "query_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/format.h"
#include "base/packing.h"
#include "base/text.h"
#include "job_source.h"

HAC_DEFINE_CLEANUP(hac_files *, hac_files_free)

bool hac_query_source_is_sql(const char *word)
{
    size_t blanks = strspn(word, " \t\r\n");
    return word[blanks + strcspn(word + blanks, " \t\r\n")] != '\0' && access(word, F_OK) != 0;
}

/* ---- DESCRIBE 'file', SUMMARIZE 'file' ---- */

#define BLANKS " \t\r\n"

/* Skips blanks and comments. */
static const char *skip_blanks(const char *at)
{
    for (;;) {
        at += strspn(at, BLANKS);
        const char *end = strncmp(at, "/*", 2) == 0 ? strstr(at + 2, "*/") : NULL;
        if (end != NULL)
            at = end + 2;
        else if (strncmp(at, "--", 2) == 0)
            at += strcspn(at, "\n");
        else
            return at;
    }
}

/* Returns the quote that ends the name at `at`, in which quotes are doubled. NULL: there is none. */
static const char *end_of_quoted(const char *at, char quote)
{
    const char *end = strchr(at, quote);
    while (end != NULL && end[1] == quote)
        end = strchr(end + 2, quote);
    return end;
}

/* Makes one quote of each doubled one. */
static void join_quotes(char *text, char quote)
{
    char *out = text;
    for (const char *at = text; *at != '\0'; at++) {
        *out++ = *at;
        if (*at == quote)
            at++;
    }
    *out = '\0';
}

/* Takes a word that blanks or a quote end, in any case. */
static bool take_word(const char **at, const char *word)
{
    size_t n = strlen(word);
    const char *first = skip_blanks(*at);
    if (strncasecmp(first, word, n) != 0 || strchr(BLANKS "'\"", first[n]) == NULL)
        return false;
    *at = first + n;
    return true;
}

bool hac_query_source_described(const char *word, bool *ret_summarize, char **ret_file)
{
    const char *at = word;
    *ret_summarize = take_word(&at, "summarize");
    if (!*ret_summarize && !take_word(&at, "describe") && !take_word(&at, "desc"))
        return false;
    if (!take_word(&at, "from"))
        (void)take_word(&at, "table");
    at = skip_blanks(at);
    bool quoted = *at == '\'' || *at == '"';
    const char *first = at + quoted,
               *end = quoted ? end_of_quoted(first, *at) : first + strcspn(first, BLANKS ";");
    if (end == NULL || end == first)
        return false;
    const char *rest = skip_blanks(end + quoted);
    rest = skip_blanks(rest + (*rest == ';'));
    if (*rest != '\0')
        return false;
    *ret_file = strndup(first, (size_t)(end - first));
    if (quoted && *ret_file != NULL)
        join_quotes(*ret_file, *at);
    return true;
}

const char *hac_query_source_described_select(const char *word, bool *ret_summarize)
{
    const char *at = word;
    *ret_summarize = take_word(&at, "summarize");
    if (!*ret_summarize && !take_word(&at, "describe") && !take_word(&at, "desc"))
        return NULL;
    const char *begin = skip_blanks(at), *select = begin, *with = begin;
    return take_word(&select, "select") || take_word(&with, "with") ? begin : NULL;
}

/* ---- files ---- */

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

static void drop_paths(hac_query_source *source, size_t first)
{
    while (source->n_paths > first)
        free(source->paths[--source->n_paths]);
}

static hac_status add_files(hac_query_source *source, const hac_files *files, hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; i < hac_files_count(files) && status == HAC_OK; i++)
        status = add_path(source, strdup(hac_files_name(files, i)), err);
    return status;
}

hac_status hac_query_source_add(hac_query_source *source, const char *command, const char *word,
                                unsigned flags, hac_error *err)
{
    hac_cleanup(hac_files_free_cleanup) hac_files *files = NULL;
    bool pattern = access(word, F_OK) != 0 && strpbrk(word, "*?[") != NULL;
    if (hac_job_source_is(word) || strcmp(word, "-") == 0)
        return add_path(source, strdup(word), err);
    hac_status status = hac_files_new(&files, err);
    if (status == HAC_OK)
        status = hac_files_add(files, word, flags, err);
    if (status != HAC_OK)
        return pattern ? hac_error_prefix(err, "%s", command) : status;
    if (hac_files_note(files)[0] != '\0')
        snprintf(source->note, sizeof source->note, "%s", hac_files_note(files));
    return add_files(source, files, err);
}

/* Whether the words are files, whose folders may have keys. */
static bool are_files(const hac_query_source *source)
{
    for (size_t i = 0; i < source->n_paths; i++)
        if (hac_job_source_is(source->paths[i]) || access(source->paths[i], F_OK) != 0)
            return false;
    return true;
}

hac_status hac_query_source_apply(hac_query_source *source, hac_query_options *options, hac_error *err)
{
    hac_files_free(source->files);
    source->files = NULL;
    if (!are_files(source))
        return HAC_OK;
    hac_status status = hac_files_new(&source->files, err);
    for (size_t i = 0; i < source->n_paths && status == HAC_OK; i++)
        status = hac_files_add(source->files, source->paths[i], 0, err);
    if (status == HAC_OK)
        status = hac_files_apply(source->files, options, err);
    if (status != HAC_OK)
        return status;
    drop_paths(source, 0);
    return add_files(source, source->files, err);
}

/* ---- how it is read ---- */

const char *hac_query_suffix_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return dot != NULL && dot != name ? dot : "";
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

/* Finds the format in the first bytes. Notes what is assumed. */
static hac_status find_format(const char *command, const char *word, char assumed[HAC_ASSUMED_MAX],
                              hac_input_format *ret, hac_error *err)
{
    bool standard = is_standard(word), sort = strcmp(command, "sort") == 0;
    const char *name = standard ? "standard input" : word;
    char why[192];
    hac_error found = HAC_ERROR_NONE;
    hac_status status = standard && isatty(STDIN_FILENO) == 1
                            ? hac_fail(&found, HAC_INVALID, "nothing of it has been typed yet")
                            : hac_files_find_format(name, standard ? STDIN_FILENO : -1, -1, ret, &found);
    if (status == HAC_INVALID) {
        snprintf(why, sizeof why, "%s, and %.120s", standard ? "It has no suffix" : "Its suffix does not say",
                 found.message);
        return fail_unknown(command, name, why, err);
    }
    if (status != HAC_OK)
        return hac_fail(err, status, "%s", found.message);
    if (*ret != HAC_INPUT_PARQUET)
        snprintf(assumed, HAC_ASSUMED_MAX,
                 "%.200s: read as %s, which its first bytes look like; %s says another format", name,
                 hac_formats[*ret].name, sort ? "--input-format" : "--parse");
    return HAC_OK;
}

hac_status hac_query_format_of_words(const char *command, char *const *words, size_t n_words,
                                     char assumed[HAC_ASSUMED_MAX], hac_input_format *ret, hac_error *err)
{
    hac_input_format found = HAC_INPUT_NONE;
    const char *first = NULL;
    assumed[0] = '\0';
    for (size_t i = 0; i < n_words; i++) {
        if (is_standard(words[i])) /* standard input has no suffix; the other words decide */
            continue;
        hac_input_format format = hac_format_of_path(words[i]);
        hac_status status =
            format == HAC_INPUT_NONE ? find_format(command, words[i], assumed, &format, err) : HAC_OK;
        if (status != HAC_OK)
            return status;
        if (first == NULL) {
            first = words[i];
            found = format;
        }
        if (format != found)
            return hac_fail(err, HAC_INVALID,
                            "%s: %.200s is %s, and %.200s is %s; say how to read them with --parse", command,
                            first, hac_formats[found].name, words[i], hac_formats[format].name);
    }
    if (first == NULL)
        return find_format(command, "-", assumed, ret, err);
    *ret = found;
    return HAC_OK;
}

unsigned hac_query_files_of(hac_input_format format)
{
    return format == HAC_INPUT_NONE ? 0 : format == HAC_INPUT_PARQUET ? HAC_FILES_PARQUET : HAC_FILES_TEXT;
}

static bool is_streamed(const char *path)
{
    struct stat st;
    return is_standard(path) || hac_is_packed_name(path) || (stat(path, &st) == 0 && !S_ISREG(st.st_mode));
}

hac_status hac_query_source_choose(hac_query_source *source, const char *command, hac_input_format format,
                                   hac_error *err)
{
    source->format = format;
    for (size_t i = 0; i < source->n_paths; i++)
        if (hac_job_source_is(source->paths[i])) /* hacd knows its format */
            return HAC_OK;
    if (format == HAC_INPUT_NONE) {
        hac_status status = hac_query_format_of_words(command, source->paths, source->n_paths,
                                                      source->assumed, &source->format, err);
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
    hac_files_free(source->files);
    *source = (hac_query_source){.n_paths = 0};
}
