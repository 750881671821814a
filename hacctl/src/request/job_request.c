/* SPDX-License-Identifier: Apache-2.0 */
#include "job_request.h"

#include <errno.h>
#include <string.h>

#include "base/limits.h"
#include "config/profile.h"

/* Reads a decimal integer; false if the text is anything else. */
static bool read_integer(const char *text, long min, long max, long *ret)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < min || value > max || *text == ' ' ||
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

hac_status hac_check_devices(const char *const *names, size_t n, hac_error *err)
{
    for (size_t i = 1; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(names[i], names[k]) == 0)
                return hac_fail(err, HAC_INVALID, "device %.64s is named twice", names[i]);
    return HAC_OK;
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
    hac_status status = hac_check_devices(request->devices, n, err);
    if (status != HAC_OK)
        (void)hac_error_prefix(err, "--devices %.64s", list);
    return status;
}

static hac_status parse_deadline(const char *text, double *ret, hac_error *err)
{
    char *end;
    double seconds = strtod(text, &end);
    hac_status status = HAC_OK;
    if (end == text || *end != '\0' || *text == '-')
        status = hac_parse_duration(text, &seconds, err);
    if (status == HAC_OK && !(seconds > 0 && seconds < 1e9))
        status = hac_fail(err, HAC_INVALID, "'%.64s' is not a time that a job can have", text);
    if (status != HAC_OK) {
        hac_error_prefix(err, "--deadline");
        return HAC_INVALID;
    }
    *ret = seconds;
    return HAC_OK;
}

hac_status hac_parse_bytes(const hac_args *args, hac_option_id id, uint64_t *ret, hac_error *err)
{
    const char *text = args->values[id];
    char *end;
    if (text == NULL)
        return HAC_OK;
    errno = 0;
    unsigned long long bytes = strtoull(text, &end, 10);
    uint64_t size = bytes;
    hac_status status = HAC_OK;
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0)
        status = hac_parse_size(text, &size, err);
    if (status == HAC_OK && size == 0)
        status = hac_fail(err, HAC_INVALID, "0 bytes are too few");
    if (status != HAC_OK) {
        hac_error_prefix(err, "--%s", hac_option_get(id)->name);
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
        if (!read_integer(priority, -HAC_PRIORITY_MAX, HAC_PRIORITY_MAX, &number))
            return hac_fail(err, HAC_INVALID, "--priority cannot be '%.64s'; allowed: -%d to %d", priority,
                            HAC_PRIORITY_MAX, HAC_PRIORITY_MAX);
        options->priority = (int)number;
    }
    if (hac_args_has(args, HAC_OPT_DEADLINE))
        status = parse_deadline(args->values[HAC_OPT_DEADLINE], &options->deadline_seconds, err);
    if (status == HAC_OK)
        status = hac_parse_bytes(args, HAC_OPT_MEMORY, &options->memory_limit, err);
    if (status == HAC_OK && hac_args_has(args, HAC_OPT_DEVICES))
        status = parse_devices(request, args->values[HAC_OPT_DEVICES], options, err);
    return status;
}

void hac_job_request_clear(hac_job_request *request)
{
    free(request->names);
    request->names = NULL;
}
