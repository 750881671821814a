/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* Texts from users and drivers end up in messages: they stay one line of valid UTF-8, wherever they are
 * cut. Line feeds and TABs become blanks. Other control bytes are shown as \r and \x1b, because they may be
 * what is wrong. */
static void tidy(hac_error *err)
{
    char raw[HAC_ERROR_MESSAGE_SIZE];
    size_t used = 0;
    hac_utf8_copy(raw, sizeof raw, err->message);
    for (const char *s = raw; *s != '\0'; s++) {
        char shown[8] = {*s};
        uint8_t byte = (uint8_t)*s;
        if (byte == '\n' || byte == '\t')
            shown[0] = ' ';
        else if (byte == '\r')
            strcpy(shown, "\\r");
        else if (byte < 0x20 || byte == 0x7f)
            snprintf(shown, sizeof shown, "\\x%02x", byte);
        size_t n = strlen(shown);
        if (used + n >= sizeof err->message)
            break;
        memcpy(err->message + used, shown, n);
        used += n;
    }
    err->message[used] = '\0';
    hac_utf8_copy(err->message, sizeof err->message, err->message); /* no half character at the end */
}

HAC_PRINTF(3, 0)
static void set_message(hac_error *err, hac_status code, const char *fmt, va_list args)
{
    err->code = code;
    vsnprintf(err->message, sizeof err->message, fmt, args);
    tidy(err);
}

static void append(hac_error *err, const char *text)
{
    size_t used = strlen(err->message);
    snprintf(err->message + used, sizeof err->message - used, ": %s", text);
    tidy(err);
}

hac_status hac_fail(hac_error *err, hac_status code, const char *fmt, ...)
{
    if (err != NULL) {
        va_list args;
        va_start(args, fmt);
        set_message(err, code, fmt, args);
        va_end(args);
    }
    return code;
}

hac_status hac_fail_errno(hac_error *err, hac_status code, int errnum, const char *fmt, ...)
{
    if (err != NULL) {
        va_list args;
        va_start(args, fmt);
        set_message(err, code, fmt, args);
        va_end(args);
        const char *text =
            errnum == EMFILE ? "Too many open files; raise the limit (ulimit -n)" : strerrordesc_np(errnum);
        append(err, text != NULL ? text : "unknown error");
    }
    return code;
}

hac_status hac_error_prefix(hac_error *err, const char *fmt, ...)
{
    if (err == NULL)
        return HAC_INTERNAL;
    char rest[HAC_ERROR_MESSAGE_SIZE];
    memcpy(rest, err->message, sizeof rest);
    va_list args;
    va_start(args, fmt);
    set_message(err, err->code, fmt, args);
    va_end(args);
    append(err, rest);
    return err->code;
}

hac_status hac_fail_no_memory(hac_error *err)
{
    return hac_fail(err, HAC_NO_MEMORY, "out of memory");
}

static const struct {
    const char *name;
    int exit_code;
} statuses[] = {
    [HAC_OK] = {"ok", 0},
    [HAC_FAILED] = {"failed", 1},
    [HAC_INVALID] = {"invalid", 2},
    [HAC_NO_DAEMON] = {"no_daemon", 3},
    [HAC_REFUSED] = {"refused", 4},
    [HAC_CANCELLED] = {"cancelled", 130},
    [HAC_NO_MEMORY] = {"no_memory", 1},
    [HAC_IO] = {"io", 1},
    [HAC_PROTOCOL] = {"protocol", 3},
    [HAC_DEVICE] = {"device", 1},
    [HAC_UNSUPPORTED] = {"unsupported", 1},
    [HAC_NOT_FOUND] = {"not_found", 2},
    [HAC_AGAIN] = {"again", 1},
    [HAC_INTERNAL] = {"internal", 1},
};

int hac_status_exit_code(hac_status status)
{
    if (status < 0 || (size_t)status >= sizeof statuses / sizeof *statuses)
        return 1;
    return statuses[status].exit_code;
}

const char *hac_status_name(hac_status status)
{
    if (status < 0 || (size_t)status >= sizeof statuses / sizeof *statuses)
        return "unknown";
    return statuses[status].name;
}
