/* SPDX-License-Identifier: Apache-2.0 */
#include "expr/partial.h"

#include <string.h>

#include "test_run.h"

typedef struct query_case {
    const char *group_by, *select, *order_by; /* of the query */
    const char *part_group_by, *part_select, *part_order_by;
    const char *whole_group_by, *whole_select, *whole_order_by;
} query_case;

static void assert_text(const char *got, const char *want)
{
    assert_string_equal(got != NULL ? got : "(none)", want != NULL ? want : "(none)");
}

static void two_steps(void **state)
{
    (void)state;
    static const query_case cases[] = {
        {NULL, "count(), sum(x * 2) as s", NULL, NULL, "count() as \"#0\", sum(x * 2) as \"#1\"", NULL, NULL,
         "sum(\"#0\") as \"count()\", sum(\"#1\") as \"s\"", NULL},
        {"city", "sum(x) as total, Count(*) as n, city", "total desc, COUNT(*) asc, city", "city as \"city\"",
         "sum(x) as \"#0\", count(*) as \"#1\"", NULL, "\"city\"",
         "sum(\"#0\") as \"total\", sum(\"#1\") as \"n\", \"city\"", "\"total\" desc, sum(\"#1\"), \"city\""},
        /* equal aggregates become one column */
        {"a", "sum(x) / count(x), sum(x) as s, -min(y) + max(y) as w", NULL, "a as \"a\"",
         "sum(x) as \"#0\", count(x) as \"#1\", min(y) as \"#2\", max(y) as \"#3\"", NULL, "\"a\"",
         "sum(\"#0\") / sum(\"#1\") as \"sum(x) / count(x)\", sum(\"#0\") as \"s\", - "
         "min(\"#2\") + max(\"#3\") as \"w\"",
         NULL},
        /* keys that are expressions, selected by their text or their name */
        {"year(d) as y, \"a \"\"b\"", "y, \"a \"\"b\" as c, year(d), count()", "y",
         "year(d) as \"y\", \"a \"\"b\" as \"a \"\"b\"", "count() as \"#0\"", NULL, "\"y\", \"a \"\"b\"",
         "\"y\" as \"y\", \"a \"\"b\" as \"c\", \"y\", sum(\"#0\") as \"count()\"", "\"y\""},
        {"city", NULL, NULL, "city as \"city\"", NULL, NULL, "\"city\"", NULL, NULL},
        {"city", "round(max(x), 2) as r, upper(city), 'sum(x)' as t", NULL, "city as \"city\"",
         "max(x) as \"#0\"", NULL, "\"city\"",
         "round ( max(\"#0\") , 2 ) as \"r\", upper ( \"city\" ) as \"upper(city)\", 'sum(x)' as \"t\"",
         NULL},
        /* rows */
        {NULL, "a, b + 1 as c", "c desc, a", NULL, "a, b + 1 as c", "c desc, a", NULL, "*", "c desc, a"},
        {NULL, "*", "", NULL, "*", NULL, NULL, "*", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const query_case *c = &cases[i];
        hac_partial partial;
        hac_error err = HAC_ERROR_NONE;
        assert_int_equal(
            hac_partial_make(
                &(hac_partial_texts){.group_by = c->group_by, .select = c->select, .order_by = c->order_by},
                &partial, &err),
            HAC_OK);
        assert_text(partial.part_group_by, c->part_group_by);
        assert_text(partial.part_select, c->part_select);
        assert_text(partial.part_order_by, c->part_order_by);
        assert_text(partial.group_by, c->whole_group_by);
        assert_text(partial.select, c->whole_select);
        assert_text(partial.order_by, c->whole_order_by);
        assert_int_equal(partial.rows, c->group_by == NULL && partial.n_values == 0);
        hac_partial_clear(&partial);
    }
}

/* --having tests the groups of the whole: keys, names of --select, aggregates that are not selected. */
static void having(void **state)
{
    (void)state;
    hac_partial partial;
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(
        hac_partial_make(
            &(hac_partial_texts){.group_by = "a", .having = "s > 1 and max(y) > a", .select = "sum(x) as s"},
            &partial, &err),
        HAC_OK);
    assert_text(partial.part_select, "sum(x) as \"#0\", max(y) as \"#1\"");
    assert_text(partial.select, "sum(\"#0\") as \"s\"");
    assert_text(partial.having, "\"s\" > 1 and max(\"#1\") > \"a\"");
    hac_partial_clear(&partial);
    assert_int_equal(
        hac_partial_make(&(hac_partial_texts){.having = "count() > 3", .select = "1 as one"}, &partial, &err),
        HAC_OK);
    assert_text(partial.part_select, "count() as \"#0\"");
    assert_text(partial.having, "sum(\"#0\") > 3");
    assert_false(partial.rows);
    hac_partial_clear(&partial);
}

/* A query whose merged result is not certain is refused. */
static void refused(void **state)
{
    (void)state;
    static const char *const cases[][4] = {
        /* group by, select, order by, having */
        {NULL, "count(distinct x)", NULL},
        {NULL, "count_distinct(x)", NULL},
        {NULL, "first(x)", NULL},
        {NULL, "sum(x) + variance(x)", NULL},
        {"a", "cast(sum(x) as f32)", NULL},
        {"a", "sum(x) + b", NULL},
        {"y", "year(d) as y, count()", NULL},
        {"a, a", "count()", NULL},
        {"\"#0\"", "count()", NULL},
        {NULL, "a, b", "a + b"},
        {NULL, "sum(x), *", NULL},
        {"a", "no_function(a), count()", NULL},
        {"a", "b as a, count()", NULL},
        {"a", "count()", "top_k(x, 2)"},
        {NULL, "case when sum(x) > 1 then 1 end", NULL},
        {"a", "count()", NULL, "avg(x) > 1"},
        {"a", "count()", NULL, "count() > 1 as b"},
        {"a", "count()", NULL, "b > 1"},
        {NULL, "a,", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hac_partial partial;
        hac_error err = HAC_ERROR_NONE;
        hac_status status = hac_partial_make(&(hac_partial_texts){.group_by = cases[i][0],
                                                                  .having = cases[i][3],
                                                                  .select = cases[i][1],
                                                                  .order_by = cases[i][2]},
                                             &partial, &err);
        if (i + 1 < sizeof cases / sizeof *cases)
            assert_int_equal(status, HAC_UNSUPPORTED);
        else
            assert_int_not_equal(status, HAC_INTERNAL);
        hac_partial_clear(&partial);
    }
}

static void uses(void **state)
{
    (void)state;
    hac_partial partial;
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(
        hac_partial_make(&(hac_partial_texts){.group_by = "k", .select = "sum(a), count(a), sum(b), max(c)"},
                         &partial, &err),
        HAC_OK);
    static const hac_partial_use want[] = {HAC_PARTIAL_SUM, HAC_PARTIAL_EXACT, HAC_PARTIAL_SUM,
                                           HAC_PARTIAL_EXACT};
    assert_int_equal(partial.n_values, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(partial.uses[i], want[i]);
    hac_partial_clear(&partial);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_steps),
        cmocka_unit_test(having),
        cmocka_unit_test(refused),
        cmocka_unit_test(uses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
