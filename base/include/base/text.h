/* SPDX-License-Identifier: Apache-2.0 */
/* A growing text, and JSON on top of it. Errors (no memory, over the cap) stick and are reported once by
 * hac_text_finish, so that a writer reads straight through. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/utf8.h"

#define HAC_TEXT_MAX (64u * 1024 * 1024)

typedef struct hac_text {
    char *data;
    size_t bytes, capacity;
    bool broken;
    /* JSON state: whether a comma is due, by depth (at most 64). */
    uint64_t comma;
    unsigned depth;
} hac_text;

#define HAC_TEXT_NONE                                                                                        \
    {                                                                                                        \
        NULL, 0, 0, false, 0, 0                                                                              \
    }

void hac_text_clear(hac_text *text);
void hac_text_add(hac_text *text, const char *s);
void hac_text_add_bytes(hac_text *text, const char *s, size_t bytes);
void hac_text_addf(hac_text *text, const char *fmt, ...) HAC_PRINTF(2, 3);

/* Adds a column's name as queries quote it: "a", and "a""b" for a"b. */
void hac_text_add_name(hac_text *text, const char *name);

/* "12.3 ms", "61 µs", "2.04 s" into `capacity` bytes at `text`; returns text. */
const char *hac_format_seconds(double seconds, char *text, size_t capacity);

/* Hands over the malloc'ed, NUL-terminated string and empties the text. */
HAC_MUST_USE hac_status hac_text_finish(hac_text *text, char **ret, size_t *ret_bytes, hac_error *err);

/* JSON. `key` is NULL inside arrays and at the top. Commas and escaping (invalid UTF-8 becomes U+FFFD) are
 * taken care of. Numbers that are not finite become null. */
void hac_json_open(hac_text *text, const char *key, char bracket);        /* '{' or '[' */
void hac_json_close(hac_text *text, char bracket);                        /* '}' or ']' */
void hac_json_string(hac_text *text, const char *key, const char *value); /* NULL: null */
void hac_json_number(hac_text *text, const char *key, double value);      /* shortest that reads back */
void hac_json_integer(hac_text *text, const char *key, int64_t value);
void hac_json_unsigned(hac_text *text, const char *key, uint64_t value);
void hac_json_bool(hac_text *text, const char *key, bool value);
void hac_json_null(hac_text *text, const char *key);
void hac_json_raw(hac_text *text, const char *key, const char *json); /* already JSON */

#endif
