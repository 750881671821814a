/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of a query's filter that reads only columns in the names of folders
 * (hac_query_text.path_columns): parts of `where` that `and` joins. A file for which it is false or null has
 * no row that counts, so it need not be opened.
 */
#ifndef EXPR_PATH_FILTER_H
#define EXPR_PATH_FILTER_H

#include "expr/query.h"

typedef struct hac_path_filter {
    hac_schema columns;   /* the program's inputs: all columns in paths, with the types of the query */
    hac_program *program; /* has one bool output; NULL: `where` says nothing about these columns alone */
} hac_path_filter;

/* A text that is wrong gives no program: compiling the query reports it. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_path_filter_make(const hac_query_text *text, hac_path_filter *ret,
                                             hac_error *err);
void hac_path_filter_clear(hac_path_filter *filter);

#endif
