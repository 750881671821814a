/* SPDX-License-Identifier: Apache-2.0 */
/* Making errors. The public half (codes, struct) is <hac/error.h>. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <hac/error.h>

/* Fills *err (NULL allowed) with code and a formatted message; returns code. Whatever goes in, the message is
 * one line of valid UTF-8, cut at a character: fit for a protocol message as it is. */
hac_status hac_fail(hac_error *err, hac_status code, const char *fmt, ...) HAC_PRINTF(3, 4);

/* The same, with ": " and the text of `errnum` behind the message. */
hac_status hac_fail_errno(hac_error *err, hac_status code, int errnum, const char *fmt, ...) HAC_PRINTF(4, 5);

/* Puts "context: " in front of a message that is already there; returns err's code (HAC_INTERNAL if
 * err is NULL), so that a caller can say where in its own terms it happened. */
hac_status hac_error_prefix(hac_error *err, const char *fmt, ...) HAC_PRINTF(2, 3);

/* "out of memory", in one place. */
hac_status hac_fail_no_memory(hac_error *err);

/* The exit code for a status: 0, 1, 2, 3, 4 or 130. */
int hac_status_exit_code(hac_status status);

/* Stable lower-case name of a status: "ok", "failed", "invalid" … */
const char *hac_status_name(hac_status status);

#endif
