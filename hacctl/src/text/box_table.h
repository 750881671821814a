/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A query's result for people: a table drawn with box characters. Rows arrive as tsv with a header line
 * (HAC_RESULT_TSV_NAMED) in pieces of any size; only the first and the last rows are kept.
 *
 *     hac_box_table *box = hac_box_table_new(&err);
 *     hac_box_table_add(box, bytes, n, &err);                 // as often as needed
 *     hac_box_table_write(box, types, n_types, &look, &text); // once
 *     hac_box_table_free(box);
 *
 * Numbers are aligned on the right, null is NULL. Characters that a terminal obeys, and those that change the
 * direction of text, are shown as escapes (\n, \x1b, \u202e), bytes that are not UTF-8 as \xff. Text is cut
 * with … where the table would be wider than the terminal; columns in the middle are left out if that is not
 * enough.
 */
#ifndef HACCTL_BOX_TABLE_H
#define HACCTL_BOX_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"

/* Rows that are shown of a longer result: so many from its beginning, and as many from its end. */
#define HAC_BOX_ROWS 20

typedef struct hac_box_table hac_box_table;

typedef struct hac_box_look {
    size_t width; /* of the terminal in characters; 0: without limit */
    bool colour;  /* nulls and types are dim */
} hac_box_look;

hac_box_table *hac_box_table_new(hac_error *err); /* NULL: no memory */
void hac_box_table_free(hac_box_table *box);
HAC_DEFINE_CLEANUP(hac_box_table *, hac_box_table_free)

HAC_MUST_USE hac_status hac_box_table_add(hac_box_table *box, const void *bytes, size_t n, hac_error *err);

/* Adds the table to `text`. `types` are the types of the columns as a schema names them; an unknown one is
 * "". No memory is remembered in `text`. */
void hac_box_table_write(hac_box_table *box, const char *const *types, size_t n_types,
                         const hac_box_look *look, hac_text *text);

#endif
