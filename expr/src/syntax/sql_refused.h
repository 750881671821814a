/* SPDX-License-Identifier: Apache-2.0 */
/* SQL that hac does not have, and what to use in its place. */
#ifndef EXPR_SQL_REFUSED_H
#define EXPR_SQL_REFUSED_H

#include "lexer.h"

/* Where a word of SQL may stand. */
typedef enum hac_sql_place {
    HAC_SQL_BEGINS,    /* a statement */
    HAC_SQL_FOLLOWS,   /* the source of FROM */
    HAC_SQL_IN_CLAUSE, /* among the tokens of a clause, outside of parentheses; NULL beside it: anywhere */
    HAC_SQL_CALLS      /* a table function of FROM */
} hac_sql_place;

/* What to say of the token; `next` is the token behind it. NULL: the token is no SQL that hac lacks. */
const char *hac_sql_refused(hac_sql_place place, const hac_token *token, const hac_token *next);

/* The rows of the table, for the page of words: a word, the word behind it or NULL, and the message. False:
 * there are no more. */
bool hac_sql_refused_row(size_t index, const char *ret[3]);

/* The option of DuckDB's read_csv and others that the token names; NULL: none. *ret_own is what to write in
 * its place, NULL: `= true` is what hac does in any case. */
const char *hac_sql_reader_option(const hac_token *token, const char **ret_own);

#endif
