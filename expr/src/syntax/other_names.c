/* SPDX-License-Identifier: Apache-2.0 */
#include "other_names.h"

#include <string.h>
#include <strings.h>

/* One step of Newton's method makes the cube root of a cube exact. `not not` takes conditions only. */
/* clang-format off */
static const hac_other_name names[] = {
    {"any_value", 1, "first(a)", "first"},
    {"approx_count_distinct", 1, "count(distinct a)", "count"},
    {"argmax", 2, "arg_max(a, b)", "arg_max"},
    {"argmin", 2, "arg_min(a, b)", "arg_min"},
    {"bool_and", 1, "min(not not a)", "min"},
    {"bool_or", 1, "max(not not a)", "max"},
    {"cbrt", 1, "if(a = 0 or isinf(a), a * 1e0, sign(a) * (pow(abs(a), 1e0 / 3) - (pow(abs(a), 1e0 / 3) - abs(a) / pow(pow(abs(a), 1e0 / 3), 2)) / 3))", NULL},
    {"ceiling", 1, "ceil(a)", NULL},
    {"century", 1, "(year(a) + 99) // 100", NULL},
    {"char_length", 1, "length(a)", NULL},
    {"character_length", 1, "length(a)", NULL},
    {"cot", 1, "1 / tan(a)", NULL},
    {"count_if", 1, "count(nullif(a, false))", "count"},
    {"count_star", 0, "count()", "count"},
    {"countif", 1, "count(nullif(a, false))", "count"},
    {"datediff", 3, "date_diff(a, b, c)", NULL},
    {"datetrunc", 2, "date_trunc(a, b)", NULL},
    {"dayname", 1, "strftime(a, '%A')", NULL},
    {"dayofmonth", 1, "day(a)", NULL},
    {"dayofweek", 1, "dow(a) % 7", NULL},
    {"dayofyear", 1, "doy(a)", NULL},
    {"decade", 1, "year(a) // 10", NULL},
    {"degrees", 1, "a * 180 / pi()", NULL},
    {"epoch_ns", 1, "epoch_us(a) * 1000", NULL},
    {"geomean", 1, "exp(avg(ln(a)))", "avg"},
    {"geometric_mean", 1, "exp(avg(ln(a)))", "avg"},
    {"get_json_object", 2, "json_extract_string(a, b)", NULL},
    {"ifnull", 2, "coalesce(a, b)", NULL},
    {"instr", 2, "position(a, b)", NULL},
    {"isfinite", 1, "abs(a) < cast('inf' as f64)", NULL},
    {"isinf", 1, "abs(a) = cast('inf' as f64)", NULL},
    {"isnan", 1, "a = cast('nan' as f64)", NULL},
    {"isodow", 1, "dow(a)", NULL},
    {"isoyear", 1, "year(cast(date_trunc('week', a) as date) + 3)", NULL},
    {"json_array_length", 1, "json_array_length(a, '$')", NULL},
    {"json_exists", 2, "json_extract(a, b) is not null", NULL},
    {"json_extract_path", 2, "json_extract(a, b)", NULL},
    {"json_extract_path_text", 2, "json_extract_string(a, b)", NULL},
    {"json_keys", 1, "json_keys(a, '$')", NULL},
    {"json_type", 1, "json_type(a, '$')", NULL},
    {"last_day", 1, "add_months(date '2000-01-31', (year(a) - 2000) * 12 + month(a) - 1)", NULL},
    {"lcase", 1, "lower(a)", NULL},
    {"len", 1, "length(a)", NULL},
    {"make_date", 3, "cast(strptime(cast(a as string) || '-' || cast(b as string) || '-' || cast(c as string), '%Y-%m-%d') as date)", NULL},
    {"max_by", 2, "arg_max(a, b)", "arg_max"},
    {"mean", 1, "avg(a)", "avg"},
    {"millisecond", 1, "second(a) * 1000 + microsecond(a) // 1000", NULL},
    {"min_by", 2, "arg_min(a, b)", "arg_min"},
    {"mod", 2, "a % b", NULL},
    {"monthname", 1, "strftime(a, '%B')", NULL},
    {"nvl", 2, "coalesce(a, b)", NULL},
    {"power", 2, "pow(a, b)", NULL},
    {"prefix", 2, "starts_with(a, b)", NULL},
    {"quantile_cont", 2, "quantile(a, b)", "quantile"},
    {"radians", 1, "a * pi() / 180", NULL},
    {"regexp_like", 2, "regexp_matches(a, b)", NULL},
    {"repeat", 2, "rpad('', length(a) * b, a)", NULL},
    {"stddev_samp", 1, "stddev(a)", "stddev"},
    {"strlen", 1, "bytes(a)", NULL},
    {"strpos", 2, "position(a, b)", NULL},
    {"substring", 2, "substr(a, b)", NULL},
    {"substring", 3, "substr(a, b, c)", NULL},
    {"suffix", 2, "ends_with(a, b)", NULL},
    {"ucase", 1, "upper(a)", NULL},
    {"var_samp", 1, "variance(a)", "variance"},
    {"weekday", 1, "dow(a) % 7", NULL},
    {"weekofyear", 1, "week(a)", NULL},
    {"yearweek", 1, "isoyear(a) * 100 + week(a)", NULL},
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

hac_node *hac_find_call(hac_node *node, const char *name)
{
    hac_node *found = node->kind == HAC_NODE_CALL && strcmp(node->name, name) == 0 ? node : NULL;
    for (size_t i = 0; i < node->n_args && found == NULL; i++)
        found = hac_find_call(node->args[i], name);
    return found;
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
