/* SPDX-License-Identifier: Apache-2.0 */
#include "sort_request.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/type.h"
#include "config/profile.h"

/* A whole decimal number and nothing else. */
static bool read_integer(const char *text, long least, long most, long *ret)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < least || value > most || *text == ' ' ||
        *text == '+')
        return false;
    *ret = value;
    return true;
}

static hac_status bad_count(const char *text, hac_error *err)
{
    return hac_fail(err, HAC_INVALID, "'%.64s' is not a number of items; say 16777216, 16Mi or 2^24", text);
}

hac_status hac_parse_count(const char *text, uint64_t *ret, hac_error *err)
{
    static const struct {
        const char *name;
        uint64_t factor;
    } units[] = {{"", 1},           {"k", 1000},      {"K", 1000},      {"M", 1000000},
                 {"G", 1000000000}, {"Ki", 1u << 10}, {"Mi", 1u << 20}, {"Gi", 1u << 30}};
    char *end;
    errno = 0;
    if (*text < '0' || *text > '9')
        return bad_count(text, err);
    unsigned long long value = strtoull(text, &end, 10);
    long power;
    if (errno != 0)
        return bad_count(text, err);
    if (*end == '^') {
        if (value != 2 || !read_integer(end + 1, 0, 62, &power))
            return bad_count(text, err);
        *ret = UINT64_C(1) << power;
        return HAC_OK;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        uint64_t items;
        if (strcmp(end, units[i].name) == 0 && !__builtin_mul_overflow(value, units[i].factor, &items) &&
            items <= INT64_MAX) {
            *ret = items;
            return HAC_OK;
        }
    }
    return bad_count(text, err);
}

static hac_status parse_devices(hac_job_request *request, const char *list, hac_job_options *options,
                                hac_error *err)
{
    request->names = strdup(list);
    if (request->names == NULL)
        return hac_fail_no_memory(err);
    size_t n = 0;
    char *rest = request->names;
    for (char *name = strsep(&rest, ","); name != NULL; name = strsep(&rest, ",")) {
        if (*name == '\0')
            return hac_fail(err, HAC_INVALID,
                            "--devices %.64s: a name is empty; write a,b as `hacctl devices` lists them",
                            list);
        if (n == HAC_REQUEST_DEVICES_MAX)
            return hac_fail(err, HAC_INVALID, "--devices names more than %d devices",
                            HAC_REQUEST_DEVICES_MAX);
        request->devices[n++] = name;
    }
    options->devices = request->devices;
    options->n_devices = n;
    return HAC_OK;
}

static hac_status parse_deadline(const char *text, double *ret, hac_error *err)
{
    char *end;
    double seconds = strtod(text, &end);
    hac_status status = HAC_OK;
    if (end == text || *end != '\0' || *text == '-')
        status = hac_parse_duration(text, &seconds, err);
    if (status == HAC_OK && !(seconds > 0 && seconds < 1e9))
        status = hac_fail(err, HAC_INVALID, "'%.64s' is no time to allow", text);
    if (status != HAC_OK) {
        hac_error_prefix(err, "--deadline");
        return HAC_INVALID;
    }
    *ret = seconds;
    return HAC_OK;
}

static hac_status parse_memory(const char *text, uint64_t *ret, hac_error *err)
{
    char *end;
    errno = 0;
    unsigned long long bytes = strtoull(text, &end, 10);
    uint64_t size = bytes;
    hac_status status = HAC_OK;
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0)
        status = hac_parse_size(text, &size, err);
    if (status == HAC_OK && size == 0)
        status = hac_fail(err, HAC_INVALID, "0 bytes are too few");
    if (status != HAC_OK) {
        hac_error_prefix(err, "--memory");
        return HAC_INVALID;
    }
    *ret = size;
    return HAC_OK;
}

hac_status hac_job_request_parse(hac_job_request *request, const hac_args *args, hac_job_options *options,
                                 hac_error *err)
{
    const char *priority = args->values[HAC_OPT_PRIORITY];
    const char *determinism = args->values[HAC_OPT_DETERMINISM];
    long number;
    hac_status status = HAC_OK;
    options->detach = hac_args_has(args, HAC_OPT_DETACH);
    options->fast = determinism != NULL && strcmp(determinism, "fast") == 0;
    if (priority != NULL) {
        if (!read_integer(priority, -100, 100, &number))
            return hac_fail(err, HAC_INVALID, "--priority cannot be '%.64s'; allowed: -100 to 100", priority);
        options->priority = (int)number;
    }
    if (hac_args_has(args, HAC_OPT_DEADLINE))
        status = parse_deadline(args->values[HAC_OPT_DEADLINE], &options->deadline_seconds, err);
    if (status == HAC_OK && hac_args_has(args, HAC_OPT_MEMORY))
        status = parse_memory(args->values[HAC_OPT_MEMORY], &options->memory_limit, err);
    if (status == HAC_OK && hac_args_has(args, HAC_OPT_DEVICES))
        status = parse_devices(request, args->values[HAC_OPT_DEVICES], options, err);
    return status;
}

void hac_job_request_clear(hac_job_request *request)
{
    free(request->names);
    request->names = NULL;
}

/* The choice's number: its place among the option's choices, which are in the order of libhac's enums. */
static int choice(const hac_args *args, hac_option_id id)
{
    const char *value = args->values[id];
    const char *p = hac_option_get(id)->choices;
    if (value == NULL)
        return 0;
    for (int i = 0; *p != '\0'; i++) {
        size_t word = strcspn(p, " ");
        if (strlen(value) == word && memcmp(p, value, word) == 0)
            return i;
        p += word + (p[word] == ' ');
    }
    return 0;
}

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

static hac_status refuse_later(const hac_args *args, hac_error *err)
{
    for (int id = HAC_OPT_INPUT_FORMAT; id <= HAC_OPT_KEY; id++)
        if (hac_args_has(args, (hac_option_id)id))
            return hac_fail(err, HAC_INVALID,
                            "--%s: sorting the rows of csv and parquet files is not in this version; "
                            "sort takes raw arrays",
                            hac_option_get((hac_option_id)id)->name);
    return HAC_OK;
}

hac_status hac_sort_request_parse(hac_sort_request *request, const char *command, const hac_args *args,
                                  hac_error *err)
{
    *request = (hac_sort_request){.options = HAC_SORT_OPTIONS_INIT};
    hac_sort_options *options = &request->options;
    hac_status status = refuse_later(args, err);
    if (status != HAC_OK)
        return status;
    if (!hac_args_has(args, HAC_OPT_TYPE))
        return hac_fail(err, HAC_INVALID, "%s: --type is missing: one of u32, i32, f32, u64, i64, f64",
                        command);
    options->type = hac_type_from_name(args->values[HAC_OPT_TYPE]);
    options->descending = hac_args_has(args, HAC_OPT_DESCENDING);
    options->argsort = hac_args_has(args, HAC_OPT_ARGSORT);
    options->algorithm = (hac_sort_algorithm)choice(args, HAC_OPT_ALGORITHM);
    options->scheme = (hac_sort_scheme)choice(args, HAC_OPT_SCHEME);
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
