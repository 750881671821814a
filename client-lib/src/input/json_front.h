/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns JSON documents into jsonl while they are read: one record a line. A document is an array whose
 * elements are the records, or objects that span lines, one after another. Input that is jsonl already passes
 * unchanged: its first line decides, which holds a whole object.
 *
 * Of a document, white space between tokens is left out. The line feeds within a record follow it, so that
 * each record begins on the line on which it began in the document, and errors of values name that line.
 * Where several records share a line, a line feed is added between them (hac_json_front_divides).
 *
 * The syntax is checked here, because only here lines and columns are those of the document.
 */
#ifndef CLIENT_JSON_FRONT_H
#define CLIENT_JSON_FRONT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"

typedef struct hac_json_front hac_json_front;

HAC_MUST_USE hac_status hac_json_front_new(hac_json_front **ret, hac_error *err);
void hac_json_front_free(hac_json_front *front);
HAC_DEFINE_CLEANUP(hac_json_front *, hac_json_front_free)

/* Takes *ret_used of the `bytes` at `in`, and writes *ret_made bytes to `out`, which has `capacity` (> 0)
 * bytes. HAC_FAILED: a syntax error behind the bytes that were written; the message begins with line and
 * column. */
HAC_MUST_USE hac_status hac_json_front_run(hac_json_front *front, const uint8_t *in, size_t bytes,
                                           size_t *ret_used, uint8_t *out, size_t capacity, size_t *ret_made,
                                           hac_error *err);
/* Whether hac_json_front_run may write bytes without getting any. */
bool hac_json_front_holds(const hac_json_front *front);
/* HAC_FAILED: the input ends within a document. */
HAC_MUST_USE hac_status hac_json_front_end(hac_json_front *front, hac_error *err);

/* The input is jsonl: bytes need not pass the front any more. */
bool hac_json_front_passes(const hac_json_front *front);
/* Lines were added between records, so lines are not those of the document. */
bool hac_json_front_divides(const hac_json_front *front);

#endif
