/* SPDX-License-Identifier: Apache-2.0 */
#include "other_names.h"

#include <string.h>
#include <strings.h>

/* Those of arg_max and arg_min take only rows that have an a, as in other databases. */
/* clang-format off */
static const hac_other_name names[] = {
    {"any_value", 1, "first(a)"},
    {"approx_count_distinct", 1, "count(distinct a)"},
    {"argmax", 2, "arg_max(a, if(a is null, null, b))"},
    {"argmin", 2, "arg_min(a, if(a is null, null, b))"},
    {"bool_and", 1, "min(a)"},
    {"bool_or", 1, "max(a)"},
    {"cbrt", 1, "if(a < 0, -pow(-a, 1e0 / 3), pow(a, 1e0 / 3))"},
    {"ceiling", 1, "ceil(a)"},
    {"century", 1, "(year(a) + 99) // 100"},
    {"char_length", 1, "length(a)"},
    {"character_length", 1, "length(a)"},
    {"cot", 1, "1 / tan(a)"},
    {"count_if", 1, "count(nullif(a, false))"},
    {"count_star", 0, "count()"},
    {"countif", 1, "count(nullif(a, false))"},
    {"datediff", 3, "date_diff(a, b, c)"},
    {"datetrunc", 2, "date_trunc(a, b)"},
    {"dayname", 1, "strftime(a, '%A')"},
    {"dayofmonth", 1, "day(a)"},
    {"dayofweek", 1, "dow(a) % 7"},
    {"dayofyear", 1, "doy(a)"},
    {"decade", 1, "year(a) // 10"},
    {"degrees", 1, "a * 180 / pi()"},
    {"epoch_ns", 1, "epoch_us(a) * 1000"},
    {"geomean", 1, "exp(avg(ln(a)))"},
    {"geometric_mean", 1, "exp(avg(ln(a)))"},
    {"ifnull", 2, "coalesce(a, b)"},
    {"instr", 2, "position(a, b)"},
    {"isfinite", 1, "abs(a) < cast('inf' as f64)"},
    {"isinf", 1, "abs(a) = cast('inf' as f64)"},
    {"isnan", 1, "a = cast('nan' as f64)"},
    {"isodow", 1, "dow(a)"},
    {"isoyear", 1, "year(cast(date_trunc('week', a) as date) + 3)"},
    {"last_day", 1, "add_months(date '2000-01-31', (year(a) - 2000) * 12 + month(a) - 1)"},
    {"lcase", 1, "lower(a)"},
    {"len", 1, "length(a)"},
    {"make_date", 3, "cast(strptime(cast(a as string) || '-' || cast(b as string) || '-' || cast(c as string), '%Y-%m-%d') as date)"},
    {"max_by", 2, "arg_max(a, if(a is null, null, b))"},
    {"mean", 1, "avg(a)"},
    {"millisecond", 1, "second(a) * 1000 + microsecond(a) // 1000"},
    {"min_by", 2, "arg_min(a, if(a is null, null, b))"},
    {"mod", 2, "a % b"},
    {"monthname", 1, "strftime(a, '%B')"},
    {"nvl", 2, "coalesce(a, b)"},
    {"power", 2, "pow(a, b)"},
    {"prefix", 2, "starts_with(a, b)"},
    {"quantile_cont", 2, "quantile(a, b)"},
    {"radians", 1, "a * pi() / 180"},
    {"regexp_like", 2, "regexp_matches(a, b)"},
    {"repeat", 2, "rpad('', length(a) * b, a)"},
    {"stddev_samp", 1, "stddev(a)"},
    {"strlen", 1, "bytes(a)"},
    {"strpos", 2, "position(a, b)"},
    {"substring", 2, "substr(a, b)"},
    {"substring", 3, "substr(a, b, c)"},
    {"suffix", 2, "ends_with(a, b)"},
    {"ucase", 1, "upper(a)"},
    {"var_samp", 1, "variance(a)"},
    {"weekday", 1, "dow(a) % 7"},
    {"weekofyear", 1, "week(a)"},
    {"yearweek", 1, "isoyear(a) * 100 + week(a)"},
};

/* The meaning is SQL's: the day of the week of `dow` counts from Sunday, 0; parts of a second include it. */
static const char *const extracted[][2] = {
    {"year", "year(a)"}, {"quarter", "quarter(a)"}, {"month", "month(a)"}, {"week", "week(a)"},
    {"day", "day(a)"}, {"hour", "hour(a)"}, {"minute", "minute(a)"}, {"second", "second(a)"},
    {"millisecond", "millisecond(a)"}, {"microsecond", "second(a) * 1000000 + microsecond(a)"},
    {"dow", "dow(a) % 7"}, {"dayofweek", "dow(a) % 7"}, {"weekday", "dow(a) % 7"}, {"isodow", "dow(a)"},
    {"doy", "doy(a)"}, {"dayofyear", "doy(a)"}, {"isoyear", "isoyear(a)"}, {"yearweek", "yearweek(a)"},
    {"decade", "decade(a)"}, {"century", "century(a)"}, {"epoch", "epoch(a)"},
};
/* clang-format on */

const hac_other_name *hac_other_names(size_t *ret_n)
{
    *ret_n = sizeof names / sizeof *names;
    return names;
}

const hac_other_name *hac_other_name_find(const char *name, size_t n_args)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].n_args == n_args && strcmp(names[i].name, name) == 0)
            return &names[i];
    return NULL;
}

const char *hac_extracted_unit(const char *unit, size_t bytes)
{
    for (size_t i = 0; i < sizeof extracted / sizeof *extracted; i++) {
        size_t n = strlen(extracted[i][0]);
        bool plural = bytes == n + 1 && (unit[n] == 's' || unit[n] == 'S');
        if ((bytes == n || plural) && strncasecmp(unit, extracted[i][0], n) == 0)
            return extracted[i][1];
    }
    return NULL;
}

hac_node *hac_put_arguments(hac_node *node, const hac_expr_source *from, const hac_node *call)
{
    if (node->source != from)
        return node; /* an argument, or a node that was here before */
    if (node->kind == HAC_NODE_COLUMN)
        return call->args[node->name[0] - 'a'];
    node->source = call->source;
    node->at = call->at;
    for (size_t i = 0; i < node->n_args; i++) {
        node->args[i] = hac_put_arguments(node->args[i], from, call);
        if (node->args[i]->depth >= node->depth)
            node->depth = (uint16_t)(node->args[i]->depth + 1);
    }
    return node;
}
