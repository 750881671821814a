/* SPDX-License-Identifier: Apache-2.0 */
#include "expr/sql.h"

#include <stdio.h>
#include <string.h>

#include "expr/query.h"
#include "test_run.h"

/* The parts of a statement as one text: "select|where|group by|having|order by|limit by|limit …|sources". */
static void describe(const hac_sql_select *s, hac_text *ret)
{
    for (size_t i = 0; i < HAC_SQL_WITH_SELECT; i++)
        hac_text_addf(ret, "%s|", s->clauses[i].text != NULL ? s->clauses[i].text : "-");
    hac_text_add(ret, s->distinct ? "distinct " : "");
    if (s->limit != UINT64_MAX)
        hac_text_addf(ret, "limit %llu ", (unsigned long long)s->limit);
    if (s->limit_each != UINT64_MAX)
        hac_text_addf(ret, "each %llu ", (unsigned long long)s->limit_each);
    if (s->offset != 0)
        hac_text_addf(ret, "offset %llu ", (unsigned long long)s->offset);
    for (size_t i = 0; i < s->n_sources; i++)
        hac_text_addf(ret, "%s%s", i > 0 ? "," : "", s->sources[i]);
    hac_text_addf(ret, "%s%s", s->format != NULL ? " " : "", s->format != NULL ? s->format : "");
    const hac_sql_text *with = &s->clauses[HAC_SQL_WITH_SELECT];
    if (with[0].text != NULL)
        hac_text_addf(ret, " with %s|%s", with[0].text, with[1].text != NULL ? with[1].text : "-");
}

static void statements(void **state)
{
    static const char *const cases[][2] = {
        {"SELECT a FROM 'f'", "a|-|-|-|-|-|f"},
        {"from f", "*|-|-|-|-|-|f"},
        {"FROM 'f' SELECT DISTINCT a, b  WHERE a > 1;", "a, b|a > 1|-|-|-|-|distinct f"},
        {"select ALL a frOM \"f x\" gRoup  BY a haviNG count(*) > 1 ORDER by a DESC limit 3 oFFset 4 Rows",
         "a|-|a|count(*) > 1|a DESC|-|limit 3 offset 4 f x"},
        {"SELECT a FROM f OFFSET 2 LIMIT ALL", "a|-|-|-|-|-|offset 2 f"},
        {"SELECT a FROM f ORDER BY b LIMIT 2 BY a, c + 1 LIMIT 7", "a|-|-|-|b|a, c + 1|limit 7 each 2 f"},
        {"SELECT a -- no\n, ')' /* b */ FROM read_csv('x''y') AS t", "a      \n, ')'|-|-|-|-|-|x'y csv"},
        {"SELECT t.a, t.* FROM 'f' t WHERE t.b > 1", "  a,   *|  b > 1|-|-|-|-|f"},
        {"SELECT t.\"a b\", 't.\"c\"' FROM 'f' t", "  \"a b\", 't.\"c\"'|-|-|-|-|-|f"},
        {"SELECT \"t\".a, \"T\".\"b\", u.\"c\", \"t\" . d FROM 'f' AS \"t\"",
         "  \"a\",   \"b\"  , \"u.c\",   \"d\"|-|-|-|-|-|f"},
        {"SELECT \"u\".\"t\".\"x\", t . x, \"t.x\" FROM 'f' t", "\"u.t.x\"    ,   x  , \"t.x\"|-|-|-|-|-|f"},
        {"SELECT \"u\".\"t\".\"x\", \"u\".*, \"a\"\"b\".c FROM 'f' u",
         "  \"t.x\"    ,     *, \"a\"\"b.c\"|-|-|-|-|-|f"},
        {"SELECT (SELECTED) FROM '-'", "(SELECTED)|-|-|-|-|-|-"},
        {"SELECT a FROM 'f' UNION ALL SELECT a  FROM 'g' UNION ALL FROM 'h' SELECT a ORDER BY a LIMIT 1",
         "a|-|-|-|a|-|limit 1 f,g,h"},
        {"SELECT x.a FROM 'f' x WHERE x.a > 1 UNION ALL SELECT yy.a FROM 'g' yy WHERE yy.a > 1",
         "  a|  a > 1|-|-|-|-|f,g"},
        {"SELECT \"t\".a AS z FROM 'f' t UNION ALL SELECT \"u\".a as Z FROM 'g' u",
         "  \"a\" AS z|-|-|-|-|-|f,g"},
        {"FROM read_csv('f') UNION ALL FROM read_csv_auto('g')", "*|-|-|-|-|-|f,g csv"},
        {"WITH t AS (SELECT * FROM 'f') SELECT a FROM t", "a|-|-|-|-|-|f"},
        {"WITH t AS (FROM 'f' WHERE a > (1)) SELECT sum(t.a) FROM T GROUP BY t.b",
         "sum(  a)|a > (1)|  b|-|-|-|f"},
        {"with \"t t\" as (select * from f x where x.a or b) select a from \"t t\" y where y.c",
         "a|(  a or b) and (  c)|-|-|-|-|f"},
        {"WITH t AS (SELECT x.a * 2 AS b, * FROM 'f' x WHERE x.c) SELECT t.b FROM t WHERE t.b > 1",
         "  b|  b > 1|-|-|-|-|f with   a * 2 AS b, *|  c"},
        {"WITH t AS (SELECT * FROM 'f' UNION ALL SELECT * FROM 'g') SELECT count(*) FROM t WHERE a LIMIT 2",
         "count(*)|a|-|-|-|-|limit 2 f,g"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hac_sql_select select;
        hac_error err = HAC_ERROR_NONE;
        hac_text found = HAC_TEXT_NONE;
        hac_status status = hac_sql_select_parse(cases[i][0], &select, &err);
        if (status != HAC_OK)
            fail_msg("%s: %s", cases[i][0], err.message);
        describe(&select, &found);
        assert_string_equal(found.data, cases[i][1]);
        hac_text_clear(&found);
        hac_sql_select_clear(&select);
    }
}

static void errors(void **state)
{
    static const char *const cases[][2] = {
        {"", "1: expected SELECT, but the statement ends here"},
        {"SELECT a", "9: expected FROM and a file"},
        {"SELECT a FROM 'f' WHERE", "24: expected what WHERE takes, but the statement ends here"},
        {"SELECT a FROM 'f' WHERE )", "25: ')' without its '('"},
        {"SELECT a FROM 'f' LIMIT -1", "25: expected a number of rows behind LIMIT"},
        {"SELECT a FROM 'f' LIMIT 1 LIMIT 2", "34: a second LIMIT"},
        {"SELECT a FROM 'f' OFFSET 1 OFFSET 2", "28: a second OFFSET"},
        {"SELECT a FROM 'f' OFFSET 0 OFFSET 5", "28: a second OFFSET"},
        {"SELECT \xc3\xa4 FROM 'f' HAVING 1 HAVING 2", "35: a second HAVING"},
        {"SELECT a FROM 'f' UNION SELECT a FROM 'g'",
         "19: UNION drops rows that are repeated; write UNION ALL"},
        {"SELECT a FROM 'f' UNION ALL SELECT b FROM 'g'", "29: UNION ALL is of SELECTs that differ"},
        {"SELECT a FROM 'f' UNION ALL SELECT a FROM 'g' WHERE a", "29: UNION ALL is of SELECTs that differ"},
        {"SELECT a FROM 'f' UNION ALL SELECT DISTINCT a FROM 'g'", "29: UNION ALL is of SELECTs that differ"},
        {"SELECT a FROM 'f' LIMIT 1 UNION ALL SELECT a FROM 'g'", "27: what makes groups, orders or limits"},
        {"SELECT a FROM 'f' UNION ALL SELECT a FROM 'g' GROUP BY a", "47: GROUP BY goes behind WITH t AS"},
        {"SELECT a FROM 'f' UNION ALL SELECT a", "37: expected FROM and a file"},
        {"SELECT a FROM read_csv('f') UNION ALL SELECT a FROM read_json('g')",
         "63: the files of UNION ALL have"},
        {"SELECT a FROM read_csv('f') UNION ALL SELECT a FROM 'g'", "53: the files of UNION ALL have"},
        {"WITH t AS (FROM 'f') SELECT a FROM t UNION ALL SELECT a FROM t",
         "38: write UNION ALL inside of WITH"},
        {"WITH t (SELECT * FROM 'f') SELECT a FROM t", "8: expected AS (SELECT"},
        {"WITH t AS (SELECT DISTINCT * FROM 'f') FROM t", "19: DISTINCT goes behind WITH"},
        {"WITH t AS (SELECT * FROM 'f' LIMIT 1) FROM t", "30: the SELECT of WITH computes columns"},
        {"WITH t AS (SELECT a FROM 'f' GROUP BY a) FROM t", "30: the SELECT of WITH computes columns"},
        {"WITH t AS (SELECT * FROM 'f'), u AS (FROM 'g') FROM t", "30: WITH has one name"},
        {"WITH t AS (SELECT * FROM 'f') SELECT a FROM u", "45: behind WITH t AS"},
        {"WITH t AS (SELECT * FROM 'f') SELECT a FROM 't'", "45: behind WITH t AS"},
        {"WITH t AS (SELECT * FROM 'f' SELECT a FROM t", "30: there are no subqueries"},
        {"WITH t AS (SELECT * FROM 'f'", "29: expected ')', but the statement ends here"},
        {"WITH t AS (SELECT * FROM 'f')", "30: expected SELECT, but the statement ends here"},
    };
    (void)state;
    size_t failures = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hac_sql_select select;
        hac_error err = HAC_ERROR_NONE;
        char wanted[128];
        snprintf(wanted, sizeof wanted, "SQL: character %s", cases[i][1]);
        assert_int_equal(hac_sql_select_parse(cases[i][0], &select, &err), HAC_INVALID);
        bool good = strncmp(err.message, wanted, strlen(wanted)) == 0;
        if (!good)
            print_error("%s: %s and not %s\n", cases[i][0], err.message, wanted);
        failures += !good;
        hac_sql_select_clear(&select);
    }
    assert_int_equal(failures, 0);
}

static hac_query_text text_of(const hac_sql_select *s)
{
    return (hac_query_text){.schema = "a:i64,b:string,c:f64",
                            .select = s->clauses[HAC_SQL_SELECT].text,
                            .where = s->clauses[HAC_SQL_WHERE].text,
                            .group_by = s->clauses[HAC_SQL_GROUP_BY].text,
                            .having = s->clauses[HAC_SQL_HAVING].text,
                            .order_by = s->clauses[HAC_SQL_ORDER_BY].text,
                            .limit_by = s->clauses[HAC_SQL_LIMIT_BY].text,
                            .distinct = s->distinct,
                            .select_only = true,
                            .limit = s->limit,
                            .limit_each = s->limit_each,
                            .offset = s->offset,
                            .source = {.format = HAC_INPUT_CSV}};
}

/* The compiled bytes; an empty text, and the message, if the query is wrong. */
static hac_text compiled(const hac_query_text *text, hac_error *err)
{
    hac_query *query = NULL;
    hac_text bytes = HAC_TEXT_NONE;
    if (hac_query_compile(text, NULL, &query, err) == HAC_OK)
        assert_int_equal(hac_query_write(query, &bytes, err), HAC_OK);
    hac_query_free(query);
    return bytes;
}

/* Parts of statements, of which every combination is tried. */
static const struct {
    bool groups;
    const char *select, *group_by;
} shapes[] = {{false, "a, b || 'x' as y, c", NULL},
              {false, "*", NULL},
              {true, "b, count(*) as n, sum(a) as s", "b"},
              {true, "a % 3 as r, b, max(c) as m", "all"},
              {true, "avg(c) as m", NULL}};
static const char *const wheres[] = {NULL, "a > 1 and b like '%from%'", "c is null"};
static const char *const havings[] = {NULL, "count(*) > 2", "max(a) is not null and min(c) < 1"};
static const char *const orders[] = {NULL, "1 desc nulls first", "all"};

#define COMBINATIONS (5 * 3 * 3 * 3 * 4 * 2 * 2)

static hac_query_text options_of(unsigned k)
{
    unsigned shape = k % 5, limit = k / 135 % 4;
    return (hac_query_text){.schema = "a:i64,b:string,c:f64",
                            .select = shapes[shape].select,
                            .where = wheres[k / 5 % 3],
                            .group_by = shapes[shape].group_by,
                            .having = shapes[shape].groups ? havings[k / 15 % 3] : NULL,
                            .order_by = orders[k / 45 % 3],
                            .limit_by = limit == 3 ? "1" : NULL,
                            .distinct = k / 1080 != 0,
                            .select_only = true,
                            .limit = limit == 1 ? 7 : UINT64_MAX,
                            .limit_each = limit == 3 ? 2 : UINT64_MAX,
                            .offset = k / 540 % 2 != 0 ? 5 : 0,
                            .source = {.format = HAC_INPUT_CSV}};
}

static void write_statement(const hac_query_text *options, hac_text *ret)
{
    const char *const clauses[][2] = {{"Where", options->where},
                                      {"Group By", options->group_by},
                                      {"Having", options->having},
                                      {"Order By", options->order_by},
                                      {"Limit", options->limit == 7 ? "7" : NULL},
                                      {"Limit 2 By", options->limit_by},
                                      {"Offset", options->offset != 0 ? "5" : NULL}};
    hac_text_addf(ret, "Select %s %s From 'f.csv'", options->distinct ? "Distinct" : "", options->select);
    for (size_t i = 0; i < sizeof clauses / sizeof *clauses; i++)
        if (clauses[i][1] != NULL)
            hac_text_addf(ret, "\n  %s %s", clauses[i][0], clauses[i][1]);
    hac_text_add_bytes(ret, "", 1);
}

/* A statement compiles to the bytes of the options with its parts, or fails with their message. */
static void same_bytes(void **state)
{
    size_t n = 0;
    (void)state;
    for (unsigned k = 0; k < COMBINATIONS; k++) {
        hac_query_text options = options_of(k);
        hac_text sql = HAC_TEXT_NONE;
        hac_sql_select select;
        hac_error err = HAC_ERROR_NONE, other = HAC_ERROR_NONE;
        write_statement(&options, &sql);
        if (hac_sql_select_parse(sql.data, &select, &err) != HAC_OK)
            fail_msg("%s: %s", sql.data, err.message);
        hac_query_text text = text_of(&select);
        hac_text x = compiled(&text, &err), y = compiled(&options, &other);
        assert_string_equal(err.message, other.message);
        assert_int_equal(x.bytes, y.bytes);
        if (x.bytes > 0)
            assert_memory_equal(x.data, y.data, x.bytes);
        n += x.bytes > 0;
        hac_text_clear(&x);
        hac_text_clear(&y);
        hac_text_clear(&sql);
        hac_sql_select_clear(&select);
    }
    assert_true(n > COMBINATIONS / 2);
}

/* Places in clauses become places in the statement. */
static void places(void **state)
{
    static const char *const cases[][2] = {
        {"SELECT a FROM 'f' WHERE nope > 1", "25: unknown column 'nope'"},
        {"SELECT a FROM 'f' GROUP BY a HAVING nope > 1", "37: unknown column 'nope'"},
        {"SELECT a FROM 'f' LIMIT 1 BY nope", "30: unknown column 'nope'"},
        {"WITH t AS (FROM 'f' WHERE nope) SELECT a FROM t WHERE a > 1", "27: unknown column 'nope'"},
        {"WITH t AS (FROM 'f' WHERE a > 1) SELECT a FROM t WHERE b = '' and nope",
         "67: unknown column 'nope'"},
        {"WITH t AS (FROM 'f' WHERE b = '\xc3\xa4') SELECT a FROM t WHERE nope", "58: unknown column 'nope'"},
        {"SELECT b, a FROM 'f' GROUP BY b", "11: 'a' has many values in a group: add it to GROUP BY"},
    };
    (void)state;
    size_t failures = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hac_sql_select select;
        hac_error err = HAC_ERROR_NONE;
        char wanted[128];
        snprintf(wanted, sizeof wanted, "SQL: character %s", cases[i][1]);
        assert_int_equal(hac_sql_select_parse(cases[i][0], &select, &err), HAC_OK);
        hac_query_text text = text_of(&select);
        hac_text bytes = compiled(&text, &err);
        assert_int_equal(bytes.bytes, 0);
        hac_sql_select_reword(&select, &err);
        bool good = strncmp(err.message, wanted, strlen(wanted)) == 0;
        if (!good)
            print_error("%s: %s and not %s\n", cases[i][0], err.message, wanted);
        failures += !good;
        hac_sql_select_clear(&select);
    }
    assert_int_equal(failures, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements),
        cmocka_unit_test(errors),
        cmocka_unit_test(same_bytes),
        cmocka_unit_test(places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
