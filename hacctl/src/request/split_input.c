/* SPDX-License-Identifier: Apache-2.0 */
#include "split_input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/format.h"
#include "base/io.h"
#include "query_input.h"

static const char standard_name[] = "standard input";

static bool is_standard(const char *word)
{
    return strcmp(word, "-") == 0;
}

/* Checks standard input: it may be named once, and must not be a terminal for binary records. */
static hac_status check_standard(const hac_split_input *input, const char *command, bool *seen,
                                 hac_error *err)
{
    if (*seen)
        return hac_fail(err, HAC_INVALID, "%s: standard input (-) can be read once only", command);
    *seen = true;
    if (!hac_formats[input->format].text && isatty(STDIN_FILENO) == 1)
        return hac_fail(err, HAC_INVALID, "%s: will not read %s from a terminal; name a file or redirect one",
                        command, hac_formats[input->format].name);
    return HAC_OK;
}

static hac_status check_file(const char *command, const char *path, hac_error *err)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return hac_fail_errno(err, HAC_FAILED, errno, "%.200s", path);
    if (S_ISDIR(st.st_mode))
        return hac_fail(err, HAC_INVALID,
                        "%s: %.200s is a folder; name the files in it, for example %.200s%s*", command, path,
                        path, path[strlen(path) - 1] == '/' ? "" : "/");
    return HAC_OK;
}

hac_status hac_split_input_name(hac_split_input *input, const char *command, char *const *words,
                                size_t n_words, hac_input_format format, hac_error *err)
{
    *input = (hac_split_input){.format = format, .words = words, .n_words = n_words};
    bool standard = false;
    hac_status status = HAC_OK;
    if (n_words == 0)
        return hac_fail(err, HAC_INVALID, "%s: of which files? Name at least one, or - for standard input",
                        command);
    for (size_t i = 0; i < n_words && status == HAC_OK; i++)
        if (!is_standard(words[i]))
            status = check_file(command, words[i], err);
    if (status == HAC_OK && format == HAC_INPUT_NONE)
        status = hac_query_format_of_words(command, words, n_words, input->assumed, &input->format, err);
    if (status == HAC_OK && input->format == HAC_INPUT_PARQUET)
        return hac_fail(err, HAC_INVALID,
                        "%s: Parquet files are not a stream of records; `hacctl parquet query` reads them",
                        command);
    for (size_t i = 0; i < n_words && status == HAC_OK; i++)
        if (is_standard(words[i]))
            status = check_standard(input, command, &standard, err);
    return status;
}

hac_status hac_split_input_open(void *context, size_t index, int *ret_fd, const char **ret_name,
                                hac_error *err)
{
    const hac_split_input *input = context;
    const char *word = input->words[index];
    bool standard = is_standard(word);
    *ret_name = standard ? standard_name : word;
    int fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : hac_query_open_path(word);
    if (fd < 0)
        return hac_fail_errno(err, HAC_FAILED, errno, "%.200s", *ret_name);
    *ret_fd = fd;
    return HAC_OK;
}

/* The bytes that are left of an uncompressed regular file (standard input may have been read from before);
 * false if they are not known, as for files of /proc. */
static bool size_of(hac_input_format format, const char *word, uint64_t *ret)
{
    struct stat st;
    bool standard = is_standard(word);
    /* a pipe is not opened here: its writer would take this process for its reader and lose what it writes */
    if ((standard ? fstat(STDIN_FILENO, &st) : stat(word, &st)) < 0 || !S_ISREG(st.st_mode))
        return false;
    hac_autoclose int fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : hac_open_read(word);
    const hac_query_options options = {.input_format = format};
    if (fd < 0 || hac_query_is_for_client(&options, word, fd) || !hac_size_is_known(fd, &st))
        return false;
    off_t at = lseek(fd, 0, SEEK_CUR);
    *ret = at < st.st_size ? (uint64_t)(st.st_size - at) : 0;
    return true;
}

hac_status hac_split_input_bytes(const hac_split_input *input, const char *command, uint64_t *ret,
                                 hac_error *err)
{
    uint64_t total = 0;
    for (size_t i = 0; i < input->n_words; i++) {
        uint64_t bytes = 0;
        if (!size_of(input->format, input->words[i], &bytes))
            return hac_fail(err, HAC_INVALID,
                            "%s: the size of %.200s is not known beforehand; say --input-size SIZE", command,
                            is_standard(input->words[i]) ? standard_name : input->words[i]);
        total += bytes;
    }
    *ret = total;
    return HAC_OK;
}

void hac_split_input_title(const hac_split_input *input, char *ret, size_t bytes)
{
    const char *first = input->n_words == 0 || is_standard(input->words[0]) ? standard_name : input->words[0];
    if (input->n_words > 1)
        snprintf(ret, bytes, "%.200s and %zu more", first, input->n_words - 1);
    else
        snprintf(ret, bytes, "%.200s", first);
}
