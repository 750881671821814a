/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons of rows of values: `(a, b) = (1, 2)`, `(a, b) in ((1, 2), (3, 4))`. They are written out as
 * comparisons of their values, joined by `and` and `or`. Nulls in rows are equal to each other, as in
 * DuckDB. */
#ifndef EXPR_PARSE_ROWS_H
#define EXPR_PARSE_ROWS_H

#include "parse_tokens.h"

/* Parses from the comma behind `first` on, which begins the row at the offset `at`, up to the end of the
 * comparison; `parse` parses a value. NULL: parser->status has the failure. */
hac_node *hac_parse_rows(hac_parser *p, size_t at, hac_node *first, hac_node *(*parse)(hac_parser *p));

#endif
