/* SPDX-License-Identifier: Apache-2.0 */
#include "sql_refused.h"

#define JOIN                                                                                                 \
    "there are no joins; a query has one source: join the files beforehand, or with another tool, and "      \
    "query "                                                                                                 \
    "the result"
#define CHANGE "a query reads files and changes none; write the result to a new file with -o OUT"
#define WINDOW                                                                                               \
    "there are no window functions; GROUP BY with arg_max(a, b), first, top_k or quantile "                  \
    "answer many of their questions"
#define SUBQUERY "there are no subqueries; write the inner result with -o PART.parquet, and query that file"
#define SETS     "rows of two queries cannot be compared; there is neither INTERSECT nor EXCEPT"
#define SAMPLE                                                                                               \
    "there are no samples; WHERE hash(a) % 100 < 10 takes a tenth of the values of a, LIMIT n the first "    \
    "rows"
#define DESCRIBE "`hacctl describe FILE` shows the columns, their types and how they were found"

static const struct {
    hac_sql_place place;
    const char *word;
    const char *next; /* the word or symbol behind it; NULL: any */
    const char *instead;
} refused[] = {
    {HAC_SQL_BEGINS, "insert", NULL, CHANGE},
    {HAC_SQL_BEGINS, "update", NULL, CHANGE},
    {HAC_SQL_BEGINS, "delete", NULL, CHANGE},
    {HAC_SQL_BEGINS, "merge", NULL, CHANGE},
    {HAC_SQL_BEGINS, "truncate", NULL, CHANGE},
    {HAC_SQL_BEGINS, "create", NULL, "there are no tables; a query's source is a file: FROM 'sales.csv'"},
    {HAC_SQL_BEGINS, "drop", NULL, "there are no tables; a query's source is a file: FROM 'sales.csv'"},
    {HAC_SQL_BEGINS, "alter", NULL, "there are no tables; a query's source is a file: FROM 'sales.csv'"},
    {HAC_SQL_BEGINS, "copy", NULL,
     "write SELECT … FROM 'in.csv' and -o out.parquet, or `hacctl parquet convert IN OUT`"},
    {HAC_SQL_BEGINS, "attach", NULL, "there are no databases; a query's source is a file: FROM 'sales.csv'"},
    {HAC_SQL_BEGINS, "install", NULL, "there are no extensions"},
    {HAC_SQL_BEGINS, "load", NULL, "there are no extensions"},
    {HAC_SQL_BEGINS, "set", NULL, "settings are options of the command; see `hacctl query --help`"},
    {HAC_SQL_BEGINS, "pragma", NULL, "settings are options of the command; see `hacctl query --help`"},
    {HAC_SQL_BEGINS, "begin", NULL, "there are no transactions"},
    {HAC_SQL_BEGINS, "commit", NULL, "there are no transactions"},
    {HAC_SQL_BEGINS, "rollback", NULL, "there are no transactions"},
    {HAC_SQL_BEGINS, "explain", NULL, "write `hacctl explain query \"SELECT …\"`"},
    {HAC_SQL_BEGINS, "describe", NULL, DESCRIBE},
    {HAC_SQL_BEGINS, "desc", NULL, DESCRIBE},
    {HAC_SQL_BEGINS, "show", NULL, DESCRIBE},
    {HAC_SQL_BEGINS, "summarize", NULL, "`hacctl summarize FILE` shows the distribution of each column"},
    {HAC_SQL_BEGINS, "pivot", NULL, "there is no PIVOT; write sum(if(a = 'x', b, 0)) AS x for each column"},
    {HAC_SQL_BEGINS, "unpivot", NULL, "there is no UNPIVOT"},
    {HAC_SQL_BEGINS, "values", NULL, "there are no rows of constants; a query's source is a file"},
    {HAC_SQL_BEGINS, "call", NULL, "there are no procedures"},
    {HAC_SQL_BEGINS, "(", NULL, SUBQUERY},

    {HAC_SQL_FOLLOWS, ",", NULL, JOIN},
    {HAC_SQL_FOLLOWS, "join", NULL, JOIN},
    {HAC_SQL_FOLLOWS, "inner", NULL, JOIN},
    {HAC_SQL_FOLLOWS, "left", NULL, JOIN},
    {HAC_SQL_FOLLOWS, "right", NULL, JOIN},
    {HAC_SQL_FOLLOWS, "full", NULL, JOIN},
    {HAC_SQL_FOLLOWS, "cross", NULL, JOIN},
    {HAC_SQL_FOLLOWS, "natural", NULL, JOIN},
    {HAC_SQL_FOLLOWS, "asof", NULL, JOIN},
    {HAC_SQL_FOLLOWS, "positional", NULL, JOIN},
    {HAC_SQL_FOLLOWS, "semi", NULL, JOIN},
    {HAC_SQL_FOLLOWS, "anti", NULL, JOIN},
    {HAC_SQL_FOLLOWS, "lateral", NULL, JOIN},
    {HAC_SQL_FOLLOWS, "tablesample", NULL, SAMPLE},
    {HAC_SQL_FOLLOWS, "using", NULL, SAMPLE},
    {HAC_SQL_IN_CLAUSE, "using", "sample", SAMPLE},
    {HAC_SQL_FOLLOWS, "pivot", NULL, "there is no PIVOT; write sum(if(a = 'x', b, 0)) AS x for each column"},
    {HAC_SQL_FOLLOWS, "unpivot", NULL, "there is no UNPIVOT"},
    {HAC_SQL_FOLLOWS, "(", NULL, SUBQUERY},

    {HAC_SQL_IN_CLAUSE, "select", NULL, SUBQUERY},
    {HAC_SQL_IN_CLAUSE, "exists", "(", SUBQUERY},
    {HAC_SQL_IN_CLAUSE, "over", "(", WINDOW},
    {HAC_SQL_IN_CLAUSE, "window", NULL, WINDOW},
    {HAC_SQL_IN_CLAUSE, "qualify", NULL, WINDOW},
    {HAC_SQL_IN_CLAUSE, "intersect", NULL, SETS},
    {HAC_SQL_IN_CLAUSE, "except", "select", SETS},
    {HAC_SQL_IN_CLAUSE, "fetch", NULL, "write LIMIT n"},
    {HAC_SQL_IN_CLAUSE, "for", "update", "a query locks nothing"},
    {HAC_SQL_IN_CLAUSE, "grouping", "sets", "there are no grouping sets; run a query for each set of keys"},
    {HAC_SQL_IN_CLAUSE, "rollup", "(", "there is no ROLLUP; run a query for each set of keys"},
    {HAC_SQL_IN_CLAUSE, "cube", "(", "there is no CUBE; run a query for each set of keys"},

    {HAC_SQL_CALLS, "unnest", NULL, "there is no UNNEST in FROM; write SELECT unnest(x) FROM 'file.parquet'"},
    {HAC_SQL_CALLS, "range", NULL, "there are no rows of constants; a query's source is a file"},
    {HAC_SQL_CALLS, "generate_series", NULL, "there are no rows of constants; a query's source is a file"},
    {HAC_SQL_CALLS, "glob", NULL, "write the pattern itself: FROM 'logs/*.csv'"},
};

static bool is(const hac_token *token, const char *word)
{
    return hac_token_is_word(token, word) || hac_token_is_symbol(token, word);
}

const char *hac_sql_refused(hac_sql_place place, const hac_token *token, const hac_token *next)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (refused[i].place == place && is(token, refused[i].word) &&
            (refused[i].next == NULL || is(next, refused[i].next)))
            return refused[i].instead;
    return NULL;
}

bool hac_sql_refused_row(size_t index, const char *ret[3])
{
    if (index >= sizeof refused / sizeof *refused)
        return false;
    ret[0] = refused[index].word;
    ret[1] = refused[index].next;
    ret[2] = refused[index].instead;
    return true;
}

/* What options of the functions of FROM are: those of DuckDB, and what they are here. NULL: what hac does in
 * any case. */
static const char *const reader_options[][2] = {
    {"union_by_name", NULL},
    {"auto_detect", NULL},
    {"hive_partitioning", NULL},
    {"sample_size", NULL},
    {"delim", "--delimiter ';'"},
    {"sep", "--delimiter ';'"},
    {"header", "--header or --no-header, where it is not found"},
    {"nullstr", "--null NA"},
    {"quote", "--quote"},
    {"escape", "--escape"},
    {"comment", "--comment '#'"},
    {"ignore_errors", "--on-error skip"},
    {"all_varchar", "--infer off"},
    {"columns", "--schema 'a:i64,b:string'"},
    {"types", "--schema 'a:i64'"},
    {"dtypes", "--schema 'a:i64'"},
    {"dateformat", "--dates dmy, or strptime(a, format)"},
    {"decimal_separator", "--decimal comma"},
    {"compression", "nothing: it is found"},
};

const char *hac_sql_reader_option(const hac_token *token, const char **ret_own)
{
    for (size_t i = 0; i < sizeof reader_options / sizeof *reader_options; i++) {
        if (!hac_token_is_word(token, reader_options[i][0]))
            continue;
        *ret_own = reader_options[i][1];
        return reader_options[i][0];
    }
    return NULL;
}
