/* SPDX-License-Identifier: Apache-2.0 */
#include "sort_request.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/foreign_format.h"
#include "base/io.h"
#include "base/type.h"
#include "text/npy_header.h"

static hac_status parse_fold(hac_sort_request *request, const char *text, hac_error *err)
{
    hac_sort_options *options = &request->options;
    if (strcmp(text, "auto") == 0 || strcmp(text, "none") == 0) {
        options->fold = strcmp(text, "none") == 0 ? HAC_FOLD_NONE : HAC_FOLD_AUTO;
        return HAC_OK;
    }
    const char *p = text;
    for (size_t n = 0;; n++) {
        char *end;
        errno = 0;
        unsigned long step = *p >= '0' && *p <= '9' ? strtoul(p, &end, 10) : 0;
        if (step == 0 || errno != 0 || step > UINT32_MAX || (*end != ',' && *end != '\0'))
            return hac_fail(err, HAC_INVALID,
                            "--fold cannot be '%.64s'; allowed: auto, none, or steps like 3,6", text);
        if (n == HAC_FOLD_STEPS_MAX)
            return hac_fail(err, HAC_INVALID, "--fold names more than %d steps", HAC_FOLD_STEPS_MAX);
        request->fold_steps[n] = (uint32_t)step;
        options->n_fold_steps = n + 1;
        if (*end == '\0')
            break;
        p = end + 1;
    }
    options->fold = HAC_FOLD_STEPS;
    options->fold_steps = request->fold_steps;
    return HAC_OK;
}

/* Takes --type, or the type that a .npy file names. */
static hac_status take_type(const char *command, const hac_args *args, hac_type *ret, hac_error *err)
{
    hac_npy_array npy = {.is_npy = false};
    hac_status status = HAC_OK;
    if (hac_args_has(args, HAC_OPT_TYPE)) {
        *ret = hac_type_from_name(args->values[HAC_OPT_TYPE]);
        return HAC_OK;
    }
    if (args->n_words > 0 && !hac_args_has(args, HAC_OPT_RAW)) {
        const char *path = args->words[args->n_words - 1];
        hac_autoclose int fd = hac_open_read(path);
        status = hac_npy_header_read(fd, path, &npy, err);
    }
    if (status != HAC_OK || npy.is_npy) {
        *ret = npy.type;
        return status;
    }
    return hac_fail(err, HAC_INVALID,
                    "%s: --type is missing: one of u32, i32, f32, u64, i64, f64; to sort rows of csv or "
                    "Parquet, say --key",
                    command);
}

hac_status hac_sort_request_parse(hac_sort_request *request, const char *command, const hac_args *args,
                                  hac_error *err)
{
    *request = (hac_sort_request){.options = HAC_SORT_OPTIONS_INIT};
    hac_sort_options *options = &request->options;
    hac_option_set of_rows = hac_option_set_union(
        HAC_OPTION_SET(HAC_OPT_INPUT_FORMAT, HAC_OPT_KEY, HAC_OPT_OUTPUT_FORMAT),
        hac_option_set_union(hac_options_in(HAC_SECTION_TEXT), hac_options_in(HAC_SECTION_PARQUET)));
    hac_status status =
        hac_args_refuse(args, command, of_rows, "for whole rows, which --input-format and --key sort", err);
    if (status != HAC_OK)
        return status;
    status = take_type(command, args, &options->type, err);
    if (status != HAC_OK)
        return status;
    options->descending = hac_args_has(args, HAC_OPT_DESCENDING);
    options->argsort = hac_args_has(args, HAC_OPT_ARGSORT);
    options->raw = hac_args_has(args, HAC_OPT_RAW);
    options->algorithm = (hac_sort_algorithm)hac_args_choice(args, HAC_OPT_ALGORITHM);
    options->scheme = (hac_sort_scheme)hac_args_choice(args, HAC_OPT_SCHEME);
    if (hac_args_has(args, HAC_OPT_FOLD))
        status = parse_fold(request, args->values[HAC_OPT_FOLD], err);
    if (status == HAC_OK)
        status = hac_job_request_parse(&request->job, args, &options->job, err);
    return status;
}

void hac_sort_request_clear(hac_sort_request *request)
{
    hac_job_request_clear(&request->job);
}

/* The items of a .npy file of `size` bytes. */
static hac_status take_npy(hac_sort_source *input, const hac_npy_array *npy, hac_type type, uint64_t size,
                           hac_error *err)
{
    if (npy->type != type)
        return hac_fail(err, HAC_FAILED,
                        "%s: an array of NumPy of type %s, and --type says %s; leave --type out", input->name,
                        hac_type_name(npy->type), hac_type_name(type));
    if (npy->offset > size || (size - npy->offset) / hac_type_size(type) < npy->items)
        return hac_fail(err, HAC_FAILED, "%s: is cut off: its .npy header promises %llu items", input->name,
                        (unsigned long long)npy->items);
    input->npy = input->sized = true;
    input->offset = npy->offset;
    input->items = npy->items;
    return HAC_OK;
}

/* Refuses a file that is something else than numbers, and finds the items of a .npy file. */
static hac_status look_inside(hac_sort_source *input, hac_type type, uint64_t size, hac_error *err)
{
    hac_npy_array npy;
    hac_status status = hac_npy_header_read(input->fd, input->name, &npy, err);
    if (status == HAC_OK && npy.is_npy)
        return take_npy(input, &npy, type, size, err);
    if (status == HAC_OK)
        status =
            hac_foreign_refuse_file(input->fd, 0, HAC_FOREIGN_NUMBERS, hac_type_name(type), input->name, err);
    return status;
}

static hac_status measure(hac_sort_source *input, const hac_sort_options *options, hac_error *err)
{
    hac_type type = options->type;
    struct stat st;
    if (fstat(input->fd, &st) < 0)
        return hac_fail_errno(err, HAC_FAILED, errno, "%s", input->name);
    if (S_ISDIR(st.st_mode))
        return hac_fail(err, HAC_FAILED, "%s: is a directory", input->name);
    if (!hac_size_is_known(input->fd, &st))
        return HAC_OK;
    off_t at = lseek(input->fd, 0, SEEK_CUR);
    uint64_t bytes = at >= 0 && at < st.st_size ? (uint64_t)(st.st_size - at) : 0;
    hac_status status =
        at == 0 && options->raw == 0 ? look_inside(input, type, (uint64_t)st.st_size, err) : HAC_OK;
    if (status != HAC_OK || input->npy)
        return status;
    if (bytes % hac_type_size(type) != 0)
        return hac_fail(err, HAC_FAILED, "%s: %llu bytes are not a whole number of %s items of %zu bytes",
                        input->name, (unsigned long long)bytes, hac_type_name(type), hac_type_size(type));
    input->sized = true;
    input->offset = at > 0 ? (uint64_t)at : 0;
    input->items = bytes / hac_type_size(type);
    return HAC_OK;
}

hac_status hac_sort_source_open(const char *path, const hac_sort_options *options, hac_sort_source *ret,
                                hac_error *err)
{
    bool standard = strcmp(path, "-") == 0;
    hac_sort_source input = {.name = standard ? "standard input" : path};
    input.fd =
        standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (input.fd < 0)
        return hac_fail_errno(err, HAC_FAILED, errno, "%s", input.name);
    hac_status status = measure(&input, options, err);
    if (status != HAC_OK) {
        hac_close(input.fd);
        return status;
    }
    *ret = input;
    return HAC_OK;
}
