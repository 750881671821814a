/* SPDX-License-Identifier: Apache-2.0 */
#include "sort_request.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/type.h"

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

hac_status hac_sort_request_parse(hac_sort_request *request, const char *command, const hac_args *args,
                                  hac_error *err)
{
    *request = (hac_sort_request){.options = HAC_SORT_OPTIONS_INIT};
    hac_sort_options *options = &request->options;
    hac_status status = hac_args_refuse(args, command, HAC_OPTIONS_ROW_SORT,
                                        "of whole rows, which --input-format and --key sort", err);
    if (status != HAC_OK)
        return status;
    if (!hac_args_has(args, HAC_OPT_TYPE))
        return hac_fail(
            err, HAC_INVALID,
            "%s: --type is missing: one of u32, i32, f32, u64, i64, f64; rows of csv or Parquet want --key",
            command);
    options->type = hac_type_from_name(args->values[HAC_OPT_TYPE]);
    options->descending = hac_args_has(args, HAC_OPT_DESCENDING);
    options->argsort = hac_args_has(args, HAC_OPT_ARGSORT);
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

static hac_status measure(hac_input *input, hac_type type, hac_error *err)
{
    struct stat st;
    if (fstat(input->fd, &st) < 0)
        return hac_fail_errno(err, HAC_FAILED, errno, "%s", input->name);
    if (S_ISDIR(st.st_mode))
        return hac_fail(err, HAC_FAILED, "%s: is a directory", input->name);
    if (!S_ISREG(st.st_mode))
        return HAC_OK;
    char byte; /* files of /proc have no size, and yet something to read */
    if (st.st_size == 0 && pread(input->fd, &byte, sizeof byte, 0) > 0)
        return HAC_OK;
    off_t at = lseek(input->fd, 0, SEEK_CUR);
    uint64_t bytes = at >= 0 && at < st.st_size ? (uint64_t)(st.st_size - at) : 0;
    if (bytes % hac_type_size(type) != 0)
        return hac_fail(err, HAC_FAILED, "%s: %llu bytes are not a whole number of %s items of %zu bytes",
                        input->name, (unsigned long long)bytes, hac_type_name(type), hac_type_size(type));
    input->sized = true;
    input->offset = at > 0 ? (uint64_t)at : 0;
    input->items = bytes / hac_type_size(type);
    return HAC_OK;
}

hac_status hac_input_open(const char *path, hac_type type, hac_input *ret, hac_error *err)
{
    bool standard = strcmp(path, "-") == 0;
    hac_input input = {.name = standard ? "standard input" : path};
    input.fd =
        standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (input.fd < 0)
        return hac_fail_errno(err, HAC_FAILED, errno, "%s", input.name);
    hac_status status = measure(&input, type, err);
    if (status != HAC_OK) {
        hac_close(input.fd);
        return status;
    }
    *ret = input;
    return HAC_OK;
}
