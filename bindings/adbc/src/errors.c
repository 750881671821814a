/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

enum { DETAILS_MAX = 2, VALUE_MAX = 32 };

/* private_data of an error of a caller that knows ADBC 1.1. */
typedef struct error_details {
    int n;
    const char *keys[DETAILS_MAX];
    char values[DETAILS_MAX][VALUE_MAX];
} error_details;

/* How libhac's codes are called in ADBC and, by SQLSTATE, in SQL. */
static const struct {
    const char *name;
    AdbcStatusCode code;
    char sqlstate[6];
} codes[] = {
    [HAC_OK] = {"HAC_OK", ADBC_STATUS_OK, "00000"},
    [HAC_FAILED] = {"HAC_FAILED", ADBC_STATUS_INVALID_DATA, "22000"},
    [HAC_INVALID] = {"HAC_INVALID", ADBC_STATUS_INVALID_ARGUMENT, "42000"},
    [HAC_NO_DAEMON] = {"HAC_NO_DAEMON", ADBC_STATUS_IO, "08001"},
    [HAC_REFUSED] = {"HAC_REFUSED", ADBC_STATUS_UNAUTHORIZED, "53000"},
    [HAC_CANCELLED] = {"HAC_CANCELLED", ADBC_STATUS_CANCELLED, "57014"},
    [HAC_NO_MEMORY] = {"HAC_NO_MEMORY", ADBC_STATUS_INTERNAL, "53200"},
    [HAC_IO] = {"HAC_IO", ADBC_STATUS_IO, "58030"},
    [HAC_PROTOCOL] = {"HAC_PROTOCOL", ADBC_STATUS_IO, "08P01"},
    [HAC_DEVICE] = {"HAC_DEVICE", ADBC_STATUS_IO, "58000"},
    [HAC_UNSUPPORTED] = {"HAC_UNSUPPORTED", ADBC_STATUS_NOT_IMPLEMENTED, "0A000"},
    [HAC_NOT_FOUND] = {"HAC_NOT_FOUND", ADBC_STATUS_NOT_FOUND, "42S02"},
    [HAC_AGAIN] = {"HAC_AGAIN", ADBC_STATUS_INTERNAL, "XX000"},
    [HAC_INTERNAL] = {"HAC_INTERNAL", ADBC_STATUS_INTERNAL, "XX000"},
};

static void release_error(struct AdbcError *error)
{
    free(error->message);
    if (error->vendor_code == ADBC_ERROR_VENDOR_CODE_PRIVATE_DATA) {
        free(error->private_data);
        error->private_data = NULL;
    }
    error->message = NULL;
    error->release = NULL;
}

static void add_detail(error_details *details, const char *key, const char *value)
{
    details->keys[details->n] = key;
    snprintf(details->values[details->n++], VALUE_MAX, "%s", value);
}

/* The details say in a form for programs what the message says for people. */
static error_details *new_details(const char *status, const char *message)
{
    error_details *details = calloc(1, sizeof(*details));
    unsigned character;
    char text[VALUE_MAX];
    if (details == NULL)
        return NULL;
    add_detail(details, "hac.status", status);
    if (sscanf(message, "SQL: character %9u", &character) == 1) {
        snprintf(text, sizeof(text), "%u", character);
        add_detail(details, "hac.character", text);
    }
    return details;
}

static void fill(struct AdbcError *error, const char *status, const char *sqlstate, const char *message)
{
    if (error == NULL)
        return;
    if (error->release != NULL)
        error->release(error);
    error->message = strdup(message);
    memcpy(error->sqlstate, sqlstate, sizeof(error->sqlstate));
    error->release = release_error;
    if (error->vendor_code == ADBC_ERROR_VENDOR_CODE_PRIVATE_DATA)
        error->private_data = new_details(status, message);
}

AdbcStatusCode hac_adbc_fail(struct AdbcError *error, const hac_error *why)
{
    size_t code = (size_t)why->code < sizeof(codes) / sizeof(codes[0]) ? (size_t)why->code : HAC_INTERNAL;
    fill(error, codes[code].name, codes[code].sqlstate, why->message);
    return codes[code].code;
}

AdbcStatusCode hac_adbc_refuse(struct AdbcError *error, AdbcStatusCode code, const char *format, ...)
{
    char message[HAC_ERROR_MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): a false alarm, va_start is above */
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    bool unsupported = code == ADBC_STATUS_NOT_IMPLEMENTED;
    fill(error, unsupported ? "HAC_UNSUPPORTED" : "HAC_INVALID", unsupported ? "0A000" : "HY000", message);
    return code;
}

/* The details of an error of this driver; NULL: it has none. */
static const error_details *details_of(const struct AdbcError *error)
{
    bool ours = error->release == release_error && error->vendor_code == ADBC_ERROR_VENDOR_CODE_PRIVATE_DATA;
    return ours ? error->private_data : NULL;
}

int hac_adbc_error_detail_count(const struct AdbcError *error)
{
    const error_details *details = details_of(error);
    return details != NULL ? details->n : 0;
}

struct AdbcErrorDetail hac_adbc_error_detail(const struct AdbcError *error, int index)
{
    const error_details *details = details_of(error);
    if (details == NULL || index < 0 || index >= details->n)
        return (struct AdbcErrorDetail){NULL, NULL, 0};
    const char *value = details->values[index];
    return (struct AdbcErrorDetail){details->keys[index], (const uint8_t *)value, strlen(value)};
}

AdbcStatusCode hac_adbc_return_text(const char *value, char *ret, size_t *length)
{
    size_t bytes = strlen(value) + 1;
    if (ret != NULL && *length >= bytes)
        memcpy(ret, value, bytes);
    *length = bytes;
    return ADBC_STATUS_OK;
}
