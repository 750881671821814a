/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of the lines of logs. */
#ifndef QUERY_LOG_TEXT_H
#define QUERY_LOG_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sources/records.h"

typedef struct hac_log_text {
    uint8_t *at, *end;
    const char *problem; /* what is wrong with the line; set once */
} hac_log_text;

/* Record i of the view, without its line end. */
hac_log_text hac_log_line(const hac_records_view *view, size_t i);
/* Notes the first problem. Returns false. */
bool hac_log_problem(hac_log_text *text, const char *what);
bool hac_log_take(hac_log_text *text, char c);
/* A text in double quotes, unescaped in place: \" \\ \t \n \r \b \f \v \xhh; other backslashes stay. */
bool hac_log_quoted(hac_log_text *text, uint8_t **ret, size_t *ret_bytes);
/* Whether the text has this form: 0 is a digit, x any byte, everything else itself. `at` has the bytes of
 * `form` or more. */
bool hac_log_fits(const uint8_t *at, const char *form);
/* Jan is 1; 0: no month. `name` has 3 bytes. */
int hac_log_month(const uint8_t *name);

#endif
