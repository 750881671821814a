/* SPDX-License-Identifier: Apache-2.0 */
/* Names for the columns of a header or a table that a query could not name: those without a name, and all but
 * the first of those with the same name. Client and executors make the same names. */
#ifndef EXPR_COLUMN_NAMES_H
#define EXPR_COLUMN_NAMES_H

#include <hac/query.h>

#include "expr/schema.h"

/* The third column is called `column3` if it has no name, and the second and third column called `n` are
 * called `n_1` and `n_2`. A made name never equals that of another column. Sets `made` in the fields. */
HAC_MUST_USE hac_status hac_column_names_complete(hac_schema *schema, hac_error *err);

/* Writes what the user should know about the made names, for example "the columns without a name, or
 * with one that repeats, are called column3, n_1". Nothing was made: an empty text. */
void hac_column_names_note(const hac_schema *schema, char *ret, size_t capacity);

/* The schema of the columns that the records of a format have if the query lists none. NULL: the source has
 * its own columns, or the query must list them. */
const char *hac_format_columns(hac_input_format format);

#endif
