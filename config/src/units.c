/* SPDX-License-Identifier: Apache-2.0 */
#include "units.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "config/profile.h"
#include "config/yaml_tree.h"

enum { NUMBER_MAX = 63 }; /* bytes of one quantity */

/* A unit means value × multiply ÷ divide. Dividing by 1e6 rounds correctly; multiplying by 1e-6 does not. */
typedef struct unit {
    const char *name;
    uint64_t multiply, divide;
} unit;

static const unit sizes[] = {
    {"B", 1, 1},
    {"kB", UINT64_C(1000), 1},
    {"MB", UINT64_C(1000000), 1},
    {"GB", UINT64_C(1000000000), 1},
    {"TB", UINT64_C(1000000000000), 1},
    {"KiB", UINT64_C(1) << 10, 1},
    {"MiB", UINT64_C(1) << 20, 1},
    {"GiB", UINT64_C(1) << 30, 1},
    {"TiB", UINT64_C(1) << 40, 1},
};

static const unit durations[] = {
    {"ns", 1, UINT64_C(1000000000)},
    {"us", 1, UINT64_C(1000000)},
    {"ms", 1, 1000},
    {"s", 1, 1},
    {"min", 60, 1},
    {"h", 3600, 1},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char *skip_digits(const char *p)
{
    while (isdigit((unsigned char)*p))
        p++;
    return p;
}

/* The end of the number at the start of `text`; `text` itself if there is no number. */
static const char *number_end(const char *text)
{
    const char *p = skip_digits(text);
    if (p == text || (text[0] == '0' && p - text > 1))
        return text;
    if (p[0] == '.' && isdigit((unsigned char)p[1]))
        p = skip_digits(p + 1);
    if (p[0] == 'e' || p[0] == 'E') {
        const char *exponent = p + 1 + (p[1] == '+' || p[1] == '-');
        if (isdigit((unsigned char)*exponent))
            p = skip_digits(exponent);
    }
    return p;
}

/* A number as a double, and also as an integer if it was written with digits only and fits. */
typedef struct number {
    double value;
    uint64_t integer;
    bool is_integer;
} number;

static hac_status convert(const char *text, const char *end, number *ret, hac_error *err)
{
    char digits[NUMBER_MAX + 1], show[HAC_YAML_SHOW_SIZE];
    size_t length = (size_t)(end - text);
    if (length > NUMBER_MAX)
        return hac_fail(err, HAC_INVALID, "`%s` has too many digits", hac_yaml_show(text, show));
    memcpy(digits, text, length);
    digits[length] = '\0';
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c == (locale_t)0)
        return hac_fail_no_memory(err);
    number n = {.value = strtod_l(digits, NULL, c)};
    freelocale(c);
    if (!isfinite(n.value))
        return hac_fail(err, HAC_INVALID, "`%s` is too large", hac_yaml_show(text, show));
    errno = 0;
    n.integer = strtoull(digits, NULL, 10);
    n.is_integer = skip_digits(digits)[0] == '\0' && errno == 0;
    *ret = n;
    return HAC_OK;
}

/* Splits "25GB/s" into the number and the unit. */
static hac_status read_number(const char *text, const char *what, number *ret, const char **ret_rest,
                              hac_error *err)
{
    char show[HAC_YAML_SHOW_SIZE];
    const char *end = number_end(text);
    if (end == text)
        return hac_fail(err, HAC_INVALID, "`%s` is not a %s", hac_yaml_show(text, show), what);
    hac_status status = convert(text, end, ret, err);
    if (status == HAC_OK)
        *ret_rest = end + (end[0] == ' ' && end[1] != '\0');
    return status;
}

/* The unit with this name. `suffix` follows the name of every unit. */
static const unit *find_unit(const unit *units, size_t n_units, const char *name, const char *suffix)
{
    for (size_t i = 0; i < n_units; i++) {
        size_t length = strlen(units[i].name);
        if (strncmp(units[i].name, name, length) == 0 && strcmp(name + length, suffix) == 0)
            return &units[i];
    }
    return NULL;
}

static hac_status no_unit(const char *text, const char *rest, hac_error *err)
{
    char show[HAC_YAML_SHOW_SIZE];
    hac_yaml_show(text, show);
    if (*rest == '\0')
        return hac_fail(err, HAC_INVALID, "`%s` has no unit", show);
    return hac_fail(err, HAC_INVALID, "`%s` has an unknown unit", show);
}

hac_status hac_units_number(const char *text, double *ret, hac_error *err)
{
    number n;
    const char *rest = NULL;
    char show[HAC_YAML_SHOW_SIZE];
    hac_status status = read_number(text, "number", &n, &rest, err);
    if (status != HAC_OK)
        return status;
    if (*rest != '\0')
        return hac_fail(err, HAC_INVALID, "`%s` is not a number", hac_yaml_show(text, show));
    *ret = n.value;
    return HAC_OK;
}

hac_status hac_units_integer(const char *text, uint64_t *ret, hac_error *err)
{
    number n;
    const char *rest = NULL;
    char show[HAC_YAML_SHOW_SIZE];
    hac_status status = read_number(text, "whole number", &n, &rest, err);
    if (status != HAC_OK)
        return status;
    if (*rest != '\0' || floor(n.value) != n.value)
        return hac_fail(err, HAC_INVALID, "`%s` is not a whole number", hac_yaml_show(text, show));
    if (!n.is_integer && n.value >= 0x1p53)
        return hac_fail(err, HAC_INVALID, "`%s` is too large", hac_yaml_show(text, show));
    *ret = n.is_integer ? n.integer : (uint64_t)n.value;
    return HAC_OK;
}

hac_status hac_units_size(const char *text, uint64_t *ret, hac_error *err)
{
    number n;
    const char *rest = NULL;
    char show[HAC_YAML_SHOW_SIZE];
    hac_status status = read_number(text, "size", &n, &rest, err);
    if (status != HAC_OK)
        return status;
    const unit *u = *rest == '\0' ? &sizes[0] : find_unit(sizes, COUNT(sizes), rest, "");
    if (u == NULL)
        return no_unit(text, rest, err);
    uint64_t bytes = 0;
    double product = n.value * (double)u->multiply;
    bool overflow = n.is_integer ? __builtin_mul_overflow(n.integer, u->multiply, &bytes) : product >= 0x1p64;
    if (overflow)
        return hac_fail(err, HAC_INVALID, "`%s` is too large", hac_yaml_show(text, show));
    *ret = n.is_integer ? bytes : (uint64_t)product;
    return HAC_OK;
}

static hac_status scaled(const char *text, const char *what, const unit *units, size_t n_units,
                         const char *suffix, double *ret, hac_error *err)
{
    number n;
    const char *rest = NULL;
    char show[HAC_YAML_SHOW_SIZE];
    hac_status status = read_number(text, what, &n, &rest, err);
    if (status != HAC_OK)
        return status;
    const unit *u = find_unit(units, n_units, rest, suffix);
    if (u == NULL)
        return no_unit(text, rest, err);
    double value = n.value * (double)u->multiply / (double)u->divide;
    if (!isfinite(value))
        return hac_fail(err, HAC_INVALID, "`%s` is too large", hac_yaml_show(text, show));
    *ret = value;
    return HAC_OK;
}

hac_status hac_units_rate(const char *text, double *ret, hac_error *err)
{
    return scaled(text, "rate", sizes, COUNT(sizes), "/s", ret, err);
}

hac_status hac_units_duration(const char *text, double *ret, hac_error *err)
{
    return scaled(text, "duration", durations, COUNT(durations), "", ret, err);
}

/* For command lines: an error with the reason and the allowed values. */
static hac_status with_allowed(hac_status status, const char *allowed, hac_error *err)
{
    if (status != HAC_INVALID || err == NULL)
        return status;
    hac_error reason = *err;
    return hac_fail(err, HAC_INVALID, "%.200s; allowed: %s", reason.message, allowed);
}

hac_status hac_parse_size(const char *text, uint64_t *ret, hac_error *err)
{
    return with_allowed(hac_units_size(text, ret, err), "a number and one of " HAC_UNITS_SIZE, err);
}

hac_status hac_parse_rate(const char *text, double *ret, hac_error *err)
{
    return with_allowed(hac_units_rate(text, ret, err), "a number and one of " HAC_UNITS_RATE, err);
}

hac_status hac_parse_duration(const char *text, double *ret_seconds, hac_error *err)
{
    return with_allowed(hac_units_duration(text, ret_seconds, err), "a number and one of " HAC_UNITS_DURATION,
                        err);
}
