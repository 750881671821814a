/* SPDX-License-Identifier: Apache-2.0 */
#include "foreign_names.h"

#include <string.h>

/* clang-format off */
static const char *const names[][2] = {
    {"any_value", "min(a)"},
    {"approx_count_distinct", "count(distinct a)"},
    {"array_agg", "string_list(a)"},
    {"average", "avg(a)"},
    {"bit_and", "a & b"},
    {"bit_or", "a | b"},
    {"bit_xor", "xor(a, b)"},
    {"bitand", "a & b"},
    {"bitor", "a | b"},
    {"bitxor", "xor(a, b)"},
    {"ceiling", "ceil(a)"},
    {"char_length", "length(a)"},
    {"character_length", "length(a)"},
    {"charindex", "position(a, part), with the part behind the text"},
    {"date_add", "a + interval '1 day'"},
    {"date_part", "year(a), month(a), day(a), hour(a) and so on"},
    {"date_sub", "a - interval '1 day', or date_diff('day', a, b)"},
    {"dateadd", "a + interval '1 day'"},
    {"datediff", "date_diff('day', a, b)"},
    {"datepart", "year(a), month(a), day(a), hour(a) and so on"},
    {"datetrunc", "date_trunc('month', a)"},
    {"day_of_week", "dow(a)"},
    {"dayofmonth", "day(a)"},
    {"dayofweek", "dow(a), where Monday is 1 and Sunday 7"},
    {"dayofyear", "doy(a)"},
    {"decode", "case a when 1 then 'x' else 'y' end"},
    {"epoch_ms", "epoch_us(t) // 1000, or make_timestamp(ms * 1000)"},
    {"extract", "year(a), month(a), day(a), hour(a) and so on"},
    {"from_unixtime", "make_timestamp(seconds * 1000000)"},
    {"group_concat", "string_list(a)"},
    {"ifnull", "coalesce(a, b)"},
    {"iif", "if(c, a, b)"},
    {"instr", "position(a, part)"},
    {"isnull", "a is null, or coalesce(a, b)"},
    {"lcase", "lower(a)"},
    {"len", "length(a)"},
    {"listagg", "string_list(a)"},
    {"locate", "position(a, part), with the part behind the text"},
    {"log", "ln(a), log2(a) or log10(a)"},
    {"max_by", "arg_max(a, b)"},
    {"mean", "avg(a)"},
    {"mid", "substr(a, from, count)"},
    {"min_by", "arg_min(a, b)"},
    {"mod", "a % b"},
    {"nvl", "coalesce(a, b)"},
    {"octet_length", "bytes(a)"},
    {"percentile_cont", "quantile(a, share)"},
    {"power", "pow(a, b)"},
    {"quantile_cont", "quantile(a, share)"},
    {"split", "split_part(a, separator, n)"},
    {"stddev_samp", "stddev(a)"},
    {"string_agg", "string_list(a)"},
    {"strlen", "bytes(a), or length(a) for characters"},
    {"strpos", "position(a, part)"},
    {"substring", "substr(a, from, count)"},
    {"timestampdiff", "date_diff('day', a, b)"},
    {"to_date", "cast(a as date), which reads 2020-01-31"},
    {"truncate", "trunc(a)"},
    {"ucase", "upper(a)"},
    {"unix_timestamp", "epoch(a)"},
    {"var_samp", "variance(a)"},
    {"weekofyear", "week(a)"},
    {"xxhash64", "hash(a)"},
};
/* clang-format on */

const char *hac_foreign_name(const char *name)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i][0], name) == 0)
            return names[i][1];
    return NULL;
}
