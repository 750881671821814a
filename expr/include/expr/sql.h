/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQL: a SELECT statement over files, split into the texts of a query (hac_query_text). The texts are
 * compiled like those of the command line's options, so a statement and its options give the same query.
 * docs/sql.md has the grammar.
 */
#ifndef EXPR_SQL_H
#define EXPR_SQL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct hac_sql_text {
    char *text;       /* NULL: the statement has no such clause */
    size_t character; /* place of the text's first character in the statement, from 1 */
    /* From this character of the text on, if it is not 0, the text is that at `second` of the statement. */
    size_t second_from, second;
} hac_sql_text;

typedef enum hac_sql_clause {
    HAC_SQL_SELECT,
    HAC_SQL_WHERE,
    HAC_SQL_GROUP_BY,
    HAC_SQL_HAVING,
    HAC_SQL_ORDER_BY,
    HAC_SQL_LIMIT_BY,
    HAC_SQL_WITH_SELECT, /* of WITH, if it computes columns */
    HAC_SQL_WITH_WHERE,
    HAC_SQL_CLAUSES
} hac_sql_clause;

typedef struct hac_sql_select {
    hac_sql_text clauses[HAC_SQL_CLAUSES];
    bool distinct;
    uint64_t limit;      /* UINT64_MAX: none */
    uint64_t offset;     /* 0: none */
    uint64_t limit_each; /* of LIMIT n BY; UINT64_MAX: none */
    char **sources;      /* FROM: files, folders, patterns, or "-"; several with UNION ALL */
    size_t n_sources;
    size_t union_character; /* place of UNION ALL, if its rows are those of the result; 0: there is none */
    bool by_position;       /* a UNION ALL without BY NAME is of all columns, so their order counts */
    const char *format;     /* "csv" … if FROM says it, as read_csv('…') does; NULL: it does not */
} hac_sql_select;

/* HAC_INVALID: the message begins with "SQL: character 7: ", and says what to write in place of SQL that
 * there is not. Clear *ret in every case. */
HAC_MUST_USE hac_status hac_sql_select_parse(const char *text, hac_sql_select *ret, hac_error *err);
void hac_sql_select_clear(hac_sql_select *select);

/* What the clause is called: in SQL ("GROUP BY"), and as an option ("group-by"). */
const char *hac_sql_clause_name(hac_sql_clause clause);
const char *hac_sql_clause_option(hac_sql_clause clause);

/* Functions of FROM that name a file and its format: the function, then the format. NULL: there are no
 * more. */
const char *const *hac_sql_reader(size_t index);

/* Rewords a message of the compiler, whose places and names are those of options, for the statement:
 * "--where: character 3: …" becomes "SQL: character 29: …". */
void hac_sql_select_reword(const hac_sql_select *select, hac_error *err);

#endif
