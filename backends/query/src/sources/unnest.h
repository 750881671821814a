/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unnesting of text: a column of the source is arrays of JSON, and each element makes a row, which repeats
 * the other columns. A null and an empty array make none. Rows that the source has read lie in its columns;
 * the rows that are made of them lie in columns of their own.
 */
#ifndef QUERY_UNNEST_H
#define QUERY_UNNEST_H

#include "source_parts.h"

typedef struct hac_unnest hac_unnest;

/* `column` is the column of the elements, which the source reads as strings. */
HAC_MUST_USE hac_status hac_unnest_new(hac_source *source, size_t column, hac_unnest **ret, hac_error *err);
void hac_unnest_free(hac_unnest *unnest);

/* Forgets the rows that the source has read. */
void hac_unnest_reset(hac_unnest *unnest);
/* Whether rows are left that make others. */
bool hac_unnest_has_rows(const hac_unnest *unnest);
/* Takes the rows that the source has just read. */
void hac_unnest_take(hac_unnest *unnest, hac_source *source);
/* Makes the next rows, maybe none: source->rows. HAC_FAILED: a value is no array, or an element has not the
 * type of the others. */
HAC_MUST_USE hac_status hac_unnest_next(hac_unnest *unnest, hac_source *source, hac_error *err);
/* The columns of the rows that were made, as many as the source has. */
hac_source_column *hac_unnest_columns(hac_unnest *unnest);

#endif
