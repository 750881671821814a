/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns JSON documents into jsonl while they are read: one record a line. A document is an array whose
 * elements are the records, or objects that span lines, one after another. Input that is jsonl already passes
 * unchanged: its first line decides, which holds a whole object.
 *
 * Of a document, white space between tokens is left out. The line feeds within a record follow it, so that
 * each record begins on the line on which it began in the document, and errors of values name that line.
 * Where several records share a line, a line feed is added between them (hac_front_remark).
 *
 * The syntax is checked here, because only here lines and columns are those of the document.
 */
#ifndef CLIENT_JSON_FRONT_H
#define CLIENT_JSON_FRONT_H

#include "front.h"

/* A front whose messages name line and column of the document. */
HAC_MUST_USE hac_status hac_json_front_new(hac_front **ret, hac_error *err);

#endif
