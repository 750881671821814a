/* SPDX-License-Identifier: Apache-2.0 */
/* Types, values and messages of expressions: the checker's decisions, and the results of the emitted program
 * in the four rows of test_run.h. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "test_run.h"

typedef struct good_case {
    const char *expression, *type, *values;
} good_case;

static void check_good(const good_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char found[2048];
        const char *type = test_run(cases[i].expression, found, sizeof found);
        if (strcmp(type, cases[i].type) != 0 || strcmp(found, cases[i].values) != 0)
            fail_msg("%s: %s %s and not %s %s", cases[i].expression, type, found, cases[i].type,
                     cases[i].values);
    }
}

#define CHECK_GOOD(...)                                                                                      \
    check_good((const good_case[]){__VA_ARGS__}, sizeof((const good_case[]){__VA_ARGS__}) / sizeof(good_case))

static void test_bytes(void **state)
{
    (void)state;
    CHECK_GOOD(
        {"raw", "bytes", "|416263|5a6fc3ab|-"}, {"x'00fF'", "bytes", "00ff|00ff|00ff|00ff"},
        {"raw = 'Abc'", "bool", "false|true|false|-"}, {"x'416263' = raw", "bool", "false|true|false|-"},
        {"raw < x'5A6F'", "bool", "true|true|false|-"}, {"raw >= ''", "bool", "true|true|true|-"},
        {"s = x'416263'", "bool", "false|true|false|-"},
        {"raw in ('', x'5a6fc3ab')", "bool", "true|false|true|-"},
        {"raw between 'A' and 'B'", "bool", "false|true|false|-"},
        {"raw is null", "bool", "false|false|false|true"}, {"length(raw)", "i64", "0|3|4|-"},
        {"length(s)", "i64", "0|3|3|-"}, {"bytes(raw)", "i64", "0|3|4|-"},
        {"starts_with(raw, 'A')", "bool", "false|true|false|-"},
        {"ends_with(raw, x'ab')", "bool", "false|false|true|-"},
        {"contains(raw, x'c3')", "bool", "false|false|true|-"},
        {"starts_with(x'41', raw)", "bool", "true|false|false|-"},
        {"cast(raw as string)", "string", "|Abc|Zoë|-"}, {"cast(s as bytes)", "bytes", "|416263|5a6fc3ab|-"},
        {"try_cast(s as bytes)", "bytes", "|416263|5a6fc3ab|-"}, {"cast(null as bytes)", "bytes", "-|-|-|-"},
        {"coalesce(raw, 'a')", "bytes", "|416263|5a6fc3ab|61"},
        {"coalesce(null, 'a', raw)", "bytes", "61|61|61|61"},
        {"if(b, raw, x'00')", "bytes", "|00|5a6fc3ab|00"},
        {"greatest(raw, 'B')", "bytes", "42|42|5a6fc3ab|42"},
        {"nullif(raw, 'Abc')", "bytes", "|-|5a6fc3ab|-"},
        {"cast(cast(raw as string) as bytes) = raw", "bool", "true|true|true|-"});
}

static void test_columns(void **state)
{
    (void)state;
    CHECK_GOOD(
        {"i8", "i8", "-128|0|127|-"}, {"i64", "i64", "-9223372036854775808|-1|9223372036854775807|-"},
        {"u64", "u64", "0|1|18446744073709551615|-"}, {"f32", "f32", "-1.5|0.5|nan|-"},
        {"f64", "f64", "-1.5|0.1|inf|-"}, {"b", "bool", "true|false|true|-"}, {"s", "string", "|Abc|Zoë|-"},
        {"d", "date", "1969-12-31|2020-02-29|9999-12-31|-"},
        {"t", "timestamp", "1969-12-31 23:59:59.999999|2020-02-29 13:45:07.250000|9999-12-31 00:00:00|-"},
        {"p", "decimal(15,2)", "-1.25|0.05|9999999999999.99|-"},
        {"w", "decimal(30,4)", "-0.0001|1.5000|99999999999999999999999999.9999|-"});
}

static void test_arithmetic(void **state)
{
    (void)state;
    CHECK_GOOD(
        {"i8 + i8", "i64", "-256|0|254|-"}, {"i8 - 1", "i64", "-129|-1|126|-"},
        {"u8 + u8", "u64", "0|2|510|-"}, {"u8 + 1", "i64", "1|2|256|-"}, {"u8 - 1", "i64", "-1|0|254|-"},
        {"u8 - u32", "u64", "0|!overflow|!overflow|-"}, {"u8 - i32", "i64", "5|1|248|-"},
        {"u64 + 1", "u64", "1|2|!overflow|-"}, {"u64 - 1", "u64", "!overflow|0|18446744073709551614|-"},
        {"u64 % 10", "u64", "0|1|5|-"}, {"1 + u64", "u64", "1|2|!overflow|-"},
        {"u64 + -1", "i64", "-1|0|!range|-"}, {"u64 + i8", "i64", "-128|1|!range|-"},
        {"i64 + 1", "i64", "-9223372036854775807|0|!overflow|-"},
        {"i64 * 2", "i64", "!overflow|-2|!overflow|-"}, {"-i64", "i64", "!overflow|1|-9223372036854775807|-"},
        {"-i8", "i64", "128|0|-127|-"}, {"-u64", "i64", "0|-1|!range|-"}, {"+u8", "u64", "0|1|255|-"},
        {"i32 // 2", "i64", "-2|0|3|-"}, {"i32 % 2", "i64", "-1|0|1|-"}, {"i32 // i8", "i64", "0|-|0|-"},
        {"7 % i32", "i64", "2|-|0|-"}, {"i64 // -1", "i64", "!overflow|1|-9223372036854775807|-"},
        {"i32 / 2", "f64", "-2.5|0.0|3.5|-"}, {"i32 / 0", "f64", "-inf|nan|inf|-"},
        {"u8 / u8", "f64", "nan|1.0|1.0|-"}, {"f32 + f32", "f32", "-3.0|1.0|nan|-"},
        {"f32 / f32", "f32", "1.0|1.0|nan|-"}, {"f32 + 1", "f64", "-0.5|1.5|nan|-"},
        {"f32 * 0.5", "f64", "-0.75|0.25|nan|-"}, {"f32 + f64", "f64", "-3.0|0.6|nan|-"},
        {"-f32", "f32", "1.5|-0.5|nan|-"}, {"f64 * 2", "f64", "-3.0|0.2|inf|-"},
        {"f64 + 0.1", "f64", "-1.4|0.2|inf|-"}, {"f64 - f64", "f64", "0.0|0.0|nan|-"},
        {"p + p", "decimal(16,2)", "-2.50|0.10|19999999999999.98|-"},
        {"p + 1", "decimal(16,2)", "-0.25|1.05|10000000000000.99|-"},
        {"1 - p", "decimal(16,2)", "2.25|0.95|-9999999999998.99|-"},
        {"p * 2", "decimal(16,2)", "-2.50|0.10|19999999999999.98|-"},
        {"p * 0.5", "decimal(16,3)", "-0.625|0.025|4999999999999.995|-"},
        {"p * p", "decimal(30,4)", "1.5625|0.0025|99999999999999800000000000.0001|-"},
        {"p + i64", "decimal(22,2)", "-9223372036854775809.25|-0.95|9223382036854775806.99|-"},
        {"p * u64", "decimal(35,2)", "0.00|0.05|184467440737095331682559262904483.85|-"},
        {"p * 1e0", "f64", "-1.25|0.05|9999999999999.99|-"},
        {"p + f64", "f64", "-2.75|0.15000000000000002|inf|-"},
        {"p / 2", "f64", "-0.625|0.025|4999999999999.995|-"},
        {"w + w", "decimal(31,4)", "-0.0002|3.0000|199999999999999999999999999.9998|-"},
        {"w * w", "decimal(38,8)", "0.00000001|2.25000000|!overflow|-"},
        {"-w", "decimal(30,4)", "0.0001|-1.5000|-99999999999999999999999999.9999|-"},
        {"w * p * p", "decimal(38,8)", "-0.00015625|0.00375000|!overflow|-"},
        {"w / 1", "f64", "-0.0001|1.5|1e+26|-"}, {"null + i8", "i64", "-|-|-|-"},
        {"i8 + null * 2", "i64", "-|-|-|-"}, {"1.5 + 1", "decimal(3,1)", "2.5|2.5|2.5|2.5"},
        {"1 + 1", "i64", "2|2|2|2"},
        {"9223372036854775807 + 1", "i64", "!overflow|!overflow|!overflow|!overflow"});
}

static void test_comparison(void **state)
{
    (void)state;
    CHECK_GOOD(
        {"i64 < u64", "bool", "true|true|true|-"}, {"i64 = u64", "bool", "false|false|false|-"},
        {"u64 > i64", "bool", "true|true|true|-"}, {"u64 <= i64", "bool", "false|false|false|-"},
        {"i64 <> u64", "bool", "true|true|true|-"}, {"i32 >= u64", "bool", "false|false|false|-"},
        {"u64 = i32 + 0", "bool", "false|false|false|-"}, {"(u64 // 2) = i64", "bool", "false|false|true|-"},
        {"u64 = -1", "bool", "false|false|false|-"}, {"u64 > -1", "bool", "true|true|true|-"},
        {"u64 = 18446744073709551615", "bool", "false|false|true|-"},
        {"i64 < 18446744073709551615", "bool", "true|true|true|-"},
        {"i64 >= 18446744073709551616", "bool", "false|false|false|-"},
        {"i64 > -9223372036854775809", "bool", "true|true|true|-"},
        {"i64 <> 99999999999999999999999", "bool", "true|true|true|-"},
        {"u8 = i32", "bool", "false|false|false|-"}, {"u32 = i32", "bool", "false|false|false|-"},
        {"u8 < u64", "bool", "false|false|true|-"}, {"i32 < 1.5", "bool", "true|true|false|-"},
        {"i32 > -5.5", "bool", "true|true|true|-"}, {"i32 > -4.5", "bool", "false|true|true|-"},
        {"i32 <= -4.5", "bool", "true|false|false|-"}, {"i32 = 7.0", "bool", "false|false|true|-"},
        {"i32 = 7.5", "bool", "false|false|false|-"}, {"i32 <> 7.5", "bool", "true|true|true|-"},
        {"7.5 > i32", "bool", "true|true|true|-"}, {"6.5 >= i32", "bool", "true|true|false|-"},
        {"p < 0.055", "bool", "true|true|false|-"}, {"p >= 0.055", "bool", "false|false|true|-"},
        {"p = 0.05", "bool", "false|true|false|-"}, {"p = 0.050", "bool", "false|true|false|-"},
        {"p > 99999999999999999999", "bool", "false|false|false|-"}, {"p < -1", "bool", "true|false|false|-"},
        {"p > 1e0", "bool", "false|false|true|-"}, {"w > 1.49999", "bool", "false|true|true|-"},
        {"w = p", "bool", "false|false|false|-"}, {"p < w", "bool", "true|true|true|-"},
        {"p < i64", "bool", "false|false|true|-"}, {"w < 0.00005", "bool", "true|false|false|-"},
        {"f64 < i32", "bool", "false|false|false|-"}, {"f64 < 0.5", "bool", "true|true|false|-"},
        {"f32 = f64", "bool", "true|false|false|-"}, {"f32 = 0.5", "bool", "false|true|false|-"},
        {"f32 > 1e300", "bool", "false|false|true|-"}, {"f64 = 0.1", "bool", "false|true|false|-"},
        {"f32 = f32", "bool", "true|true|true|-"}, {"b = true", "bool", "true|false|true|-"},
        {"b < true", "bool", "false|true|false|-"}, {"b <= false", "bool", "false|true|false|-"},
        {"b >= b", "bool", "true|true|true|-"}, {"s = 'Abc'", "bool", "false|true|false|-"},
        {"s > 'A'", "bool", "false|true|true|-"}, {"'B' < s", "bool", "false|false|true|-"},
        {"s <= ''", "bool", "true|false|false|-"}, {"d = date '2020-02-29'", "bool", "false|true|false|-"},
        {"d < t", "bool", "true|true|false|-"}, {"t >= d", "bool", "true|true|true|-"},
        {"t > date '2020-02-29'", "bool", "false|true|true|-"},
        {"t = timestamp '2020-02-29 13:45:07.25'", "bool", "false|true|false|-"},
        {"d > timestamp '1969-12-31 00:00:01'", "bool", "false|true|true|-"},
        {"i8 = null", "bool", "-|-|-|-"}, {"null = null", "bool", "-|-|-|-"}, {"null < s", "bool", "-|-|-|-"},
        {"1 < 2", "bool", "true|true|true|true"}, {"i8 between -128 and 0", "bool", "true|true|false|-"},
        {"i8 not between -128 and 0", "bool", "false|false|true|-"},
        {"i32 in (7, -5)", "bool", "true|false|true|-"}, {"i32 not in (7, -5)", "bool", "false|true|false|-"},
        {"i32 in (7, null)", "bool", "-|-|true|-"}, {"i32 in (7.0, 0.5)", "bool", "false|false|true|-"},
        {"i32 in (0.5)", "bool", "false|false|false|-"},
        {"u64 in (-1, 18446744073709551615)", "bool", "false|false|true|-"},
        {"i32 in (i8, i64, 7)", "bool", "false|true|true|-"},
        {"u64 in (i64, 1)", "bool", "false|true|false|-"}, {"f64 in (0.1, 2)", "bool", "false|true|false|-"},
        {"f32 in (0.5, 9)", "bool", "false|true|false|-"},
        {"s in ('Abc', 'Zoë')", "bool", "false|true|true|-"}, {"s in ('x', s)", "bool", "true|true|true|-"},
        {"p in (0.05, 1)", "bool", "false|true|false|-"}, {"w in (1.5, 2)", "bool", "false|true|false|-"},
        {"d in (date '2020-02-29')", "bool", "false|true|false|-"},
        {"b in (true)", "bool", "true|false|true|-"}, {"null in (1)", "bool", "-|-|-|-"},
        {"i8 in (null)", "bool", "-|-|-|-"}, {"t in (date '9999-12-31')", "bool", "false|false|true|-"},
        {"s like 'A%'", "bool", "false|true|false|-"}, {"s like '___'", "bool", "false|true|true|-"},
        {"s not like '%'", "bool", "false|false|false|-"}, {"s like ''", "bool", "true|false|false|-"},
        {"s like 'A!%' escape '!'", "bool", "false|false|false|-"},
        {"s like '\\\\Abc' escape '\\'", "bool", "false|false|false|-"},
        {"s is null", "bool", "false|false|false|true"}, {"i8 is not null", "bool", "true|true|true|false"},
        {"null is null", "bool", "true|true|true|true"});
}

static void test_logic_and_conditions(void **state)
{
    (void)state;
    CHECK_GOOD(
        {"b and b", "bool", "true|false|true|-"}, {"b and false", "bool", "false|false|false|false"},
        {"b or true", "bool", "true|true|true|true"}, {"b or null", "bool", "true|-|true|-"},
        {"not b", "bool", "false|true|false|-"}, {"not null", "bool", "-|-|-|-"},
        {"if(b, 1, 2)", "i64", "1|2|1|2"}, {"if(b, i8, i8)", "i8", "-128|0|127|-"},
        {"if(b, i8, 5)", "i8", "-128|5|127|5"}, {"if(b, i8, 500)", "i64", "-128|500|127|500"},
        {"if(b, u8, i8)", "i64", "0|0|255|-"}, {"if(b, u8, u64)", "u64", "0|1|255|-"},
        {"if(b, u64, 0)", "u64", "0|0|18446744073709551615|0"},
        {"if(b, 1, 0.5)", "decimal(2,1)", "1.0|0.5|1.0|0.5"},
        {"if(b, p, 1)", "decimal(15,2)", "-1.25|1.00|9999999999999.99|1.00"},
        {"if(b, p, 0.001)", "decimal(16,3)", "-1.250|0.001|9999999999999.990|0.001"},
        {"if(b, p, f64)", "f64", "-1.25|0.1|9999999999999.99|-"},
        {"if(b, f32, 1)", "f64", "-1.5|1.0|nan|1.0"}, {"if(b, f32, f32)", "f32", "-1.5|0.5|nan|-"},
        {"if(b, d, t)", "timestamp", "1969-12-31 00:00:00|2020-02-29 13:45:07.250000|9999-12-31 00:00:00|-"},
        {"if(b, null, s)", "string", "-|Abc|-|-"}, {"if(null, 1, 2)", "i64", "2|2|2|2"},
        {"if(i8 <> 0, 100 // i8, -1)", "i64", "0|-1|0|-1"},
        {"if(b, cast('x' as i64), 1)", "i64", "!malformed|1|!malformed|1"},
        {"case when b then 'yes' else 'no' end", "string", "yes|no|yes|no"},
        {"case when b then i8 end", "i8", "-128|-|127|-"},
        {"case i32 when 7 then 'seven' when 0 then 'none' end", "string", "-|none|seven|-"},
        {"case i32 when 7 then 1 when 0 then 0.5 else null end", "decimal(2,1)", "-|0.5|1.0|-"},
        {"coalesce(i8, 1)", "i8", "-128|0|127|1"}, {"coalesce(null, null, u8)", "u8", "0|1|255|-"},
        {"coalesce(s, 'none')", "string", "|Abc|Zoë|none"}, {"nullif(i32, 7)", "i32", "-5|0|-|-"},
        {"nullif(i32, null)", "i32", "-5|0|7|-"}, {"greatest(i8, i32)", "i64", "-5|0|127|-"},
        {"greatest(i8, i32, 3)", "i64", "3|3|127|3"}, {"least(s, 'B')", "string", "|Abc|B|B"},
        {"least(f32, 0.7)", "f64", "-1.5|0.5|0.7|0.7"},
        {"greatest(b, false)", "bool", "true|false|true|false"});
}

static void test_casts(void **state)
{
    (void)state;
    CHECK_GOOD(
        {"cast(i64 as i8)", "i8", "!range|-1|!range|-"}, {"try_cast(i64 as i8)", "i8", "-|-1|-|-"},
        {"cast(i8 as u8)", "u8", "!range|0|127|-"}, {"cast(u64 as i64)", "i64", "0|1|!range|-"},
        {"cast(u64 as u8)", "u8", "0|1|!range|-"}, {"cast(u64 as i8)", "i8", "0|1|!range|-"},
        {"cast(i8 as i64)", "i64", "-128|0|127|-"}, {"cast(i32 as f32)", "f32", "-5.0|0.0|7.0|-"},
        {"cast(u64 as f64)", "f64", "0.0|1.0|1.8446744073709552e+19|-"},
        {"cast(i32 as bool)", "bool", "true|false|true|-"},
        {"cast(u64 as bool)", "bool", "false|true|true|-"}, {"cast(i32 as string)", "string", "-5|0|7|-"},
        {"cast(u64 as string)", "string", "0|1|18446744073709551615|-"},
        {"cast(i32 as decimal(3,2))", "decimal(3,2)", "-5.00|0.00|7.00|-"},
        {"cast(i8 as decimal(3,2))", "decimal(3,2)", "!range|0.00|!range|-"},
        {"cast(u64 as decimal(20,0))", "decimal(20,0)", "0|1|18446744073709551615|-"},
        {"cast(u64 as decimal(5,0))", "decimal(5,0)", "0|1|!range|-"},
        {"cast(f64 as i64)", "i64", "-2|0|!range|-"}, {"cast(f32 as u8)", "u8", "!range|0|!range|-"},
        {"cast(f64 as f32)", "f32", "-1.5|0.1|inf|-"}, {"cast(f32 as f64)", "f64", "-1.5|0.5|nan|-"},
        {"cast(f64 as bool)", "bool", "true|true|true|-"},
        {"cast(f64 as string)", "string", "-1.5|0.1|inf|-"},
        {"cast(f32 as string)", "string", "-1.5|0.5|nan|-"},
        {"cast(f64 as decimal(5,3))", "decimal(5,3)", "-1.500|0.100|!range|-"},
        {"cast(p as i64)", "i64", "-1|0|10000000000000|-"}, {"cast(p as i8)", "i8", "-1|0|!range|-"},
        {"cast(p as u64)", "u64", "!range|0|10000000000000|-"}, {"cast(w as u64)", "u64", "0|2|!range|-"},
        {"cast(w as i64)", "i64", "0|2|!range|-"}, {"cast(p as f64)", "f64", "-1.25|0.05|9999999999999.99|-"},
        {"cast(p as decimal(15,1))", "decimal(15,1)", "-1.3|0.1|10000000000000.0|-"},
        {"cast(p as decimal(3,2))", "decimal(3,2)", "-1.25|0.05|!range|-"},
        {"cast(p as decimal(20,4))", "decimal(20,4)", "-1.2500|0.0500|9999999999999.9900|-"},
        {"cast(w as decimal(10,2))", "decimal(10,2)", "0.00|1.50|!range|-"},
        {"cast(p as string)", "string", "-1.25|0.05|9999999999999.99|-"},
        {"cast(w as bool)", "bool", "true|true|true|-"},
        {"cast(p as f32)", "f32", "-1.25|0.05|10000000000000.0|-"}, {"cast(b as i8)", "i8", "1|0|1|-"},
        {"cast(b as u64)", "u64", "1|0|1|-"}, {"cast(b as f64)", "f64", "1.0|0.0|1.0|-"},
        {"cast(b as string)", "string", "true|false|true|-"},
        {"cast(b as decimal(3,1))", "decimal(3,1)", "1.0|0.0|1.0|-"},
        {"cast(d as timestamp)", "timestamp",
         "1969-12-31 00:00:00|2020-02-29 00:00:00|9999-12-31 00:00:00|-"},
        {"cast(t as date)", "date", "1969-12-31|2020-02-29|9999-12-31|-"},
        {"cast(d as string)", "string", "1969-12-31|2020-02-29|9999-12-31|-"},
        {"cast(t as string)", "string",
         "1969-12-31 23:59:59.999999|2020-02-29 13:45:07.250000|9999-12-31 00:00:00|-"},
        {"cast(s as i64)", "i64", "!malformed|!malformed|!malformed|-"},
        {"try_cast(s as i64)", "i64", "-|-|-|-"}, {"cast('12' as i8)", "i8", "12|12|12|12"},
        {"try_cast('300' as u8)", "u8", "-|-|-|-"}, {"cast('1.5' as f32)", "f32", "1.5|1.5|1.5|1.5"},
        {"cast('1.255' as decimal(5,2))", "decimal(5,2)", "1.26|1.26|1.26|1.26"},
        {"cast('yes' as bool)", "bool", "true|true|true|true"},
        {"cast('2020-01-31' as date)", "date", "2020-01-31|2020-01-31|2020-01-31|2020-01-31"},
        {"cast('x' as timestamp)", "timestamp", "!malformed|!malformed|!malformed|!malformed"},
        {"cast(null as decimal(5,2))", "decimal(5,2)", "-|-|-|-"},
        {"cast(s as string)", "string", "|Abc|Zoë|-"}, {"cast(1.5 as i64)", "i64", "2|2|2|2"},
        {"cast(2.5e0 as i64)", "i64", "2|2|2|2"});
}

static void test_functions(void **state)
{
    (void)state;
    CHECK_GOOD(
        {"abs(i8)", "i64", "128|0|127|-"}, {"abs(i64)", "i64", "!overflow|1|9223372036854775807|-"},
        {"abs(u64)", "u64", "0|1|18446744073709551615|-"},
        {"cbrt(i8 * i8 * i8)", "f64", "-128.0|0.0|127.0|-"},
        {"cbrt(f64)", "f64", "-1.1447142425533319|0.4641588833612779|inf|-"},
        {"cbrt(64.0)", "f64", "4.0|4.0|4.0|4.0"}, {"cbrt(f32 * 16)", "f64", "-2.8844991406148166|2.0|nan|-"},
        {"abs(p)", "decimal(15,2)", "1.25|0.05|9999999999999.99|-"},
        {"floor(p)", "decimal(14,0)", "-2|0|9999999999999|-"},
        {"ceil(p)", "decimal(14,0)", "-1|1|10000000000000|-"},
        {"trunc(p)", "decimal(14,0)", "-1|0|9999999999999|-"},
        {"round(p)", "decimal(14,0)", "-1|0|10000000000000|-"},
        {"floor(w)", "decimal(27,0)", "-1|1|99999999999999999999999999|-"},
        {"round(w, 2)", "decimal(29,2)", "0.00|1.50|100000000000000000000000000.00|-"},
        {"round(p, 1)", "decimal(15,1)", "-1.3|0.1|10000000000000.0|-"},
        {"round(p, 5)", "decimal(15,2)", "-1.25|0.05|9999999999999.99|-"},
        {"round(i8)", "i64", "-128|0|127|-"}, {"round(f64)", "f64", "-2.0|0.0|inf|-"},
        {"floor(f32)", "f32", "-2.0|0.0|nan|-"}, {"sqrt(f32)", "f32", "nan|0.70710677|nan|-"},
        {"sqrt(i32)", "f64", "nan|0.0|2.6457513110645907|-"}, {"pow(i32, 2)", "f64", "25.0|0.0|49.0|-"},
        {"length(s)", "i64", "0|3|3|-"}, {"bytes(s)", "i64", "0|3|4|-"}, {"lower(s)", "string", "|abc|zoë|-"},
        {"upper(s)", "string", "|ABC|ZOË|-"}, {"substr(s, 2)", "string", "|bc|oë|-"},
        {"substr(s, i32)", "string", "|Abc||-"}, {"substr(s, 2, 1)", "string", "|b|o|-"},
        {"s || '!'", "string", "!|Abc!|Zoë!|-"}, {"concat(s, '-', s)", "string", "-|Abc-Abc|Zoë-Zoë|-"},
        {"replace(s, 'b', 'xx')", "string", "|Axxc|Zoë|-"}, {"position(s, 'c')", "i64", "0|3|0|-"},
        {"starts_with(s, 'Z')", "bool", "false|false|true|-"},
        {"contains(s, '')", "bool", "true|true|true|-"}, {"trim('  x ') || s", "string", "x|xAbc|xZoë|-"},
        {"year(d)", "i64", "1969|2020|9999|-"}, {"month(t)", "i64", "12|2|12|-"},
        {"dow(d)", "i64", "3|6|5|-"}, {"week(d)", "i64", "1|9|52|-"}, {"hour(t)", "i64", "23|13|0|-"},
        {"microsecond(t)", "i64", "999999|250000|0|-"}, {"doy(d)", "i64", "365|60|365|-"},
        {"d + 1", "date", "1970-01-01|2020-03-01|!range|-"},
        {"d - 1", "date", "1969-12-30|2020-02-28|9999-12-30|-"},
        {"i32 + d", "date", "1969-12-26|2020-02-29|!range|-"},
        {"d - date '2020-02-28'", "i64", "-18321|1|2914576|-"}, {"t - t", "i64", "0|0|0|-"},
        {"date_trunc('month', d)", "date", "1969-12-01|2020-02-01|9999-12-01|-"},
        {"date_trunc('day', t)", "timestamp",
         "1969-12-31 00:00:00|2020-02-29 00:00:00|9999-12-31 00:00:00|-"},
        {"date_trunc('minute', t)", "timestamp",
         "1969-12-31 23:59:00|2020-02-29 13:45:00|9999-12-31 00:00:00|-"},
        {"date_trunc('week', t)", "timestamp",
         "1969-12-29 00:00:00|2020-02-24 00:00:00|9999-12-27 00:00:00|-"},
        {"add_months(d, 12)", "date", "1970-12-31|2021-02-28|!range|-"},
        {"add_months(t, 1)", "timestamp", "1970-01-31 23:59:59.999999|2020-03-29 13:45:07.250000|!range|-"});
}

typedef struct bad_case {
    const char *expression, *message;
} bad_case;

static void check_bad(const bad_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char found[2048];
        const char *type = test_run(cases[i].expression, found, sizeof found);
        if (type[0] != '\0' || strstr(found, cases[i].message) == NULL)
            fail_msg("%s: %s '%s' and not '%s'", cases[i].expression, type, found, cases[i].message);
    }
}

static void test_errors_of_bytes(void **state)
{
    static const bad_case cases[] = {
        {"x'0'", "--select: character 1: x'…' takes hexadecimal digits, two a byte"},
        {"raw = x'0g'", "--select: character 7: x'…' takes hexadecimal digits, two a byte"},
        {"raw = s", "--select: character 5: bytes cannot be compared with string; cast one of them"},
        {"raw = 1", "bytes cannot be compared with i64"},
        {"raw like 'a%'",
         "--select: character 5: 'like' takes (string, constant text), not (bytes, string); cast it"},
        {"lower(raw)", "'lower' takes (string), not (bytes); cast it"},
        {"raw || s", "'||' takes (string, string), not (bytes, string); cast it"},
        {"coalesce(raw, s)", "the values of 'coalesce' have no type in common: (bytes, string); cast them"},
        {"cast(raw as i64)", "bytes cannot be cast to i64"},
        {"cast(i8 as bytes)", "i8 cannot be cast to bytes"},
        {"cast(cast(raw as i64) as string)", "bytes cannot be cast to i64"},
        {"sum(raw)", "'sum' takes (integer), (decimal), (number), not (bytes)"},
        {"string_list(raw)", "'string_list' takes (string), not (bytes); cast it"},
        {"nullif(i8, s)", "cannot be compared"},
    };
    (void)state;
    check_bad(cases, sizeof cases / sizeof *cases);
}

/* Text literals beside values of another type. */
static void test_texts_beside_values(void **state)
{
    static const bad_case cases[] = {
        {"d = '2020-01-32'", "--select: character 5: '2020-01-32' is not of type date, as 'd' is; a date is"},
        {"'2020-01' < t",
         "--select: character 1: '2020-01' is not of type timestamp, as 't' is; a timestamp is "
         "'2024-01-31 12:00:00'"},
        {"d between d and 'x'", "--select: character 17: 'x' is not of type date"},
        {"d = s", "--select: character 3: date cannot be compared with string; cast one of them"},
        {"u8 = '1.0'",
         "--select: character 6: '1.0' is not of type u8, as 'u8' is; a number is written without"},
        {"i8 + 1 = ''", "--select: character 10: '' is not of type i64, as the value beside it is"},
        {"p = '1e1'", "'1e1' is not of type decimal(15,2)"},
        {"b = 'maybe'",
         "--select: character 5: 'maybe' is not of type bool, as 'b' is; a bool is true or false"},
        {"date_diff('day', d, 'x')", "--select: character 21: 'x' is not of type date"},
        {"i8 in (1, 'a')", "--select: character 11: 'a' is not of type i8"},
        {"if(b, 1, 'a')", "--select: character 10: 'a' is not of type i64, as the value beside it is"},
    };
    (void)state;
    check_bad(cases, sizeof cases / sizeof *cases);
}

static void test_sql_words(void **state)
{
    static const bad_case cases[] = {
        {"average(i8)", "--select: character 1: unknown function 'average'; write avg(a)"},
        {"now()", "--select: character 1: unknown function 'now'; there is no current time: write timestamp"},
        {"i8 + lag(i8)", "--select: character 6: unknown function 'lag'; there are no window functions"},
        {"dayname(s)",
         "--select: character 1: 'strftime' takes (timestamp, constant format), (date, constant"},
        {"1 + make_date(s, 1, nope)", "--select: character 21: unknown column 'nope'"},
        {"extract(eon from t)", "--select: character 9: there is no part 'eon' of a time; there are year"},
        {"trim(s, s)", "--select: character 1: trim takes a constant text behind its first argument"},
        {"mean(distinct i8)", "--select: character 1: only count, list and string_agg take distinct"},
        {"dayname(d) filter (where b)", "--select: character 1: only aggregates take 'filter'"},
        {"to_char(t, 'x')", "--select: character 1: unknown function 'to_char'; write strftime(t, format)"},
        {"regexp_matches(s, 'a(b')", "--select: character 19: the regular expression: missing ): a(b"},
        {"regexp_matches(s, s)", "--select: character 1: 'regexp_matches' takes (string, constant pattern)"},
        {"regexp_matches(s, 'a', 'x')", "--select: character 24: options are i, c, s and g"},
        {"regexp_matches(s, 'a', 'g')", "--select: character 24: only regexp_replace takes the option g"},
        {"regexp_extract(s, '(a)', 2)", "--select: character 26: the pattern has 1 group"},
        {"regexp_extract(s, '(a)', 10)", "--select: character 26: expected a number from 0 to 9"},
        {"regexp_replace(s, '(a)', '\\2')",
         "--select: character 26: the replacement has the number of a group"},
        {"s rlike 'a'",
         "--select: character 3: expected an operator, 'as', ',' or the end, found 'rlike'; write reg"},
        {"strftime(t, '%Q')", "--select: character 13: the format of times: there is no %Q; codes are %Y"},
        {"strftime(t, '%')",
         "--select: character 13: the format of times: a code is missing behind %; codes"},
        {"strptime(s, '%I:%M')", "--select: character 13: the format of times: %I and %p belong together"},
        {"strptime(s, '%d %d')", "--select: character 13: the format of times: %d is there twice"},
        {"charindex('a', s)", "--select: character 1: unknown function 'charindex'; write position(a, part)"},
        {"b & (i8 > 1)",
         "--select: character 3: '&' takes (integer, integer), not (bool, bool); conditions are"},
        {"interval '1 day'", "--select: character 1: an interval stands before the + or behind"},
        {"t + interval '1.5 hours'", "--select: character 14: expected whole numbers with units"},
        {"t + interval '1' fortnight", "--select: character 14: expected whole numbers with units"},
        {"t + interval '1'", "--select: character 14: expected whole numbers with units"},
        {"t + interval '99999999999999999999 days'", "--select: character 14: the interval is too large"},
        {"t - interval '-9223372036854775808 us'", "--select: character 5: the interval is too large"},
        {"i64 + interval '1 day'", "--select: character 5: '+ interval' takes (timestamp, integer, integer)"},
        {"cast(i8 as long)", "--select: character 12: 'long' is not a type; write i64"},
        {"cast(i8 as VARCHAR(10))", "--select: character 12: 'varchar(10)' is not a type; write string"},
        {"cast(i8 as float64)", "--select: character 12: 'float64' is not a type; write f64"},
        {"SELECT i8",
         "--select: character 8: expected an operator, 'as', ',' or the end, found 'i8'; leave out SELECT"},
        {"i8 FROM t",
         "--select: character 4: expected an operator, 'as', ',' or the end, found 'FROM'; input files"},
        {"sum(i8) having 1", "--select: character 9: expected an operator, 'as', ',' or the end, found "
                             "'having'; the condition on groups goes to --having"},
    };
    (void)state;
    check_bad(cases, sizeof cases / sizeof *cases);
}

static void test_errors(void **state)
{
    static const bad_case cases[] = {
        {"prise", "--select: character 1: unknown column 'prise'; there are: i8, i32, i64, u8, u32, u64, "
                  "f32, f64, b, s, d, t, p, w"},
        {"1 + i644", "--select: character 5: unknown column 'i644'; there are: i8, i32, i64, u8, u32, u64, "
                     "f32, f64, b, s, d, t, p, w, raw (did you mean i64?)"},
        {"S8", "--select: character 1: unknown column 'S8'; there are: i8, i32, i64, u8, u32, u64, f32, f64, "
               "b, s, d, t, p, w, raw"},
        {"lenght(s)", "--select: character 1: unknown function 'lenght'; did you mean length?"},
        {"frobnicate(s)", "--select: character 1: unknown function 'frobnicate'"},
        {"median(s)", "--select: character 1: 'median' takes (integer), (decimal), (number), not (string); "
                      "give its column "},
        {"median(t)",
         "--select: character 1: 'median' takes (integer), (decimal), (number), not (timestamp)"},
        {"quantile(i8, 1.5)", "--select: character 14: expected a share from 0 to 1"},
        {"quantile(i8)",
         "--select: character 1: quantile does not take 1 argument; write quantile(a, share)"},
        {"s + 1",
         "--select: character 3: '+' takes (integer, integer), (f32, f32), (decimal or integer, decimal or "
         "integer), (number, number), (date, integer), (integer, date), not (string, i64)"},
        {"-s", "--select: character 1: '-' takes (integer), (f32), (decimal), (number), not (string)"},
        {"f64 // 2", "--select: character 5: '//' takes (integer, integer), not (f64, i64)"},
        {"p % 2", "--select: character 3: '%' takes (integer, integer), not (decimal(15,2), i64)"},
        {"d + 1.5", "not (date, decimal(2,1))"},
        {"d + d", "not (date, date)"},
        {"t + 1", "not (timestamp, i64)"},
        {"b and 1", "--select: character 3: 'and' takes (bool, bool), not (bool, i64)"},
        {"not i8", "--select: character 1: 'not' takes (bool), not (i8)"},
        {"i8 || i8", "--select: character 4: '||' takes (string, string), not (i8, i8)"},
        {"s = 1", "--select: character 3: string cannot be compared with i64; cast one of them, or give its "
                  "column another type in the schema"},
        {"b > 0", "bool cannot be compared with i64"},
        {"s like b", "--select: character 3: 'like' takes (string, constant text), not (string, bool)"},
        {"s like s", "not (string, string)"},
        {"avg(s)",
         "--select: character 1: 'avg' takes (integer), (decimal), (number), not (string); give its "
         "column a type in --schema, or cast it"},
        {"sumn(i8)", "--select: character 1: unknown function 'sumn'; did you mean sum?"},
        {"s like 'a' escape 'ab'", "--select: character 19: expected one ASCII character behind 'escape'"},
        {"s like 'a!' escape '!'", "--select: character 8: the pattern ends with its escape character"},
        {"lower()", "--select: character 1: lower does not take 0 arguments; write lower(a)"},
        {"lower(s, s)", "--select: character 1: lower does not take 2 arguments; write lower(a)"},
        {"substr(s)", "substr does not take 1 argument; write substr(a, from)"},
        {"pi(1)", "pi does not take 1 argument; write pi()"},
        {"lower(i8)", "'lower' takes (string), not (i8)"},
        {"if(i8, 1, 2)", "'if' takes (bool, any, any), not (i8, i64, i64)"},
        {"if(b, 1, s)", "the values of 'if' have no type in common: (bool, i64, string); cast them"},
        {"coalesce(i8, s)", "the values of 'coalesce' have no type in common: (i8, string); cast them"},
        {"greatest(d, 1)", "the values of 'greatest' have no type in common"},
        {"round(p, i8)",
         "'round' takes (decimal, constant integer), (number, constant integer), not (decimal(15,2), i8)"},
        {"round(p, 16)", "--select: character 10: expected a number from 0 to 15"},
        {"date_trunc('moon', d)",
         "--select: character 12: expected 'year', 'quarter', 'month', 'week' or 'day' (of a date)"},
        {"date_trunc('hour', d)", "--select: character 12: expected 'year'"},
        {"date_trunc('moon', t)",
         "expected 'year', 'quarter', 'month', 'week', 'day', 'hour', 'minute' or 'second'"},
        {"date_trunc(s, d)", "'date_trunc' takes (unit, date), (unit, timestamp), not (string, date)"},
        {"hour(d)", "'hour' takes (timestamp), not (date)"},
        {"cast(d as i64)", "--select: character 1: date cannot be cast to i64"},
        {"cast(i8 as date)", "i8 cannot be cast to date"},
        {"try_cast(b as timestamp)", "bool cannot be cast to timestamp"},
        {"cast(p * 1.0000000001 as string) || s || cast(w * 0.123456789012345678901 * "
         "0.123456789012345678901 as string)",
         "the result of '*' would have 46 digits behind the point, and 38 is the limit; cast to a decimal "
         "with fewer, or to f64"},
        {"null", "--select: character 1: null has no type here; write cast(null as i64)"},
        {"coalesce(null, null)", "--select: character 1: null has no type here; write cast(null as i64)"},
        {"lower(*)", "only count takes *"},
        {"sum(distinct i8)", "only count, list and string_agg take distinct"},
        {"lower(s) filter (where b)", "--select: character 1: only aggregates take 'filter'"},
        {"sum(i8) filter (where i8)", "'if' takes"},
        {"bool_and(i8)", "--select: character 1: 'not' takes (bool), not (i8)"},
        {"bool_or(s)", "'not' takes (bool), not (string)"},
        {"i8 is true", "--select: character 4: 'not' takes (bool), not (i8)"},
        {"trim(i8, '')", "'substr' takes"},
        {"count(trim(i8, ''))", "'substr' takes"},
        {"sum() filter (where b)", "sum does not take 0 arguments; write sum(a)"},
        {"count(i8, b) filter (where b)", "count does not take 2 arguments"},
        {"sum(i8) filter (where sum(i8) > 1)", "an aggregate inside of 'sum'"},
        {"sum(i8) filter (b)", "'where' and a condition"},
        {"sum(i8) filter (where b", "')' behind the condition"},
        {"1 + sum(s)", "--select: character 5: 'sum' takes (integer), (decimal), (number), not (string)"},
        {"sum(sum(i8))", "--select: character 1: an aggregate inside of 'sum': aggregates do not nest"},
        {"sum(1 + count())", "an aggregate inside of 'sum'"},
        {"top_k(s, 0)", "--select: character 10: expected a number from 1 to 1000"},
        {"top_k(s, 1001)", "expected a number from 1 to 1000"},
        {"top_k(s)", "top_k does not take 1 argument; write top_k(a, k)"},
        {"histogram(i8, 5, 5, 3)", "--select: character 15: expected low < high"},
        {"approx_quantile(i8, 1.5)", "--select: character 21: expected a share from 0 to 1"},
        {"approx_quantile(i8, -0.1)", "--select: character 21: expected a share from 0 to 1"},
        {"min(null)", "null has no type here"},
        {"string_list(i8)", "'string_list' takes (string), not (i8)"},
    };
    (void)state;
    check_bad(cases, sizeof cases / sizeof *cases);
}

/* A graph with shared nodes is a tree of 2^n nodes. No pass may take that long. */
static void test_shared(void **state)
{
    static const struct {
        const char *before, *middle, *behind;
        bool good;
    } cases[] = {
        {"", "b", " between false and true", true},
        {"", "true", " between false and true", true},
        {"", "(9223372036854775807 + 1 > 0)", " between false and true", true},
        {"case ", "b", " when true then false when false then true end", true},
        {"case ", "null", " when 1 then null when 2 then null end", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hac_text text = HAC_TEXT_NONE;
        for (size_t k = 0; k < 60; k++)
            hac_text_add(&text, cases[i].before);
        hac_text_add(&text, cases[i].middle);
        for (size_t k = 0; k < 60; k++)
            hac_text_add(&text, cases[i].behind);
        hac_query *query = NULL;
        hac_error err = HAC_ERROR_NONE;
        hac_status status = test_compile("", text.data, text.data, text.data, &query, &err);
        bool constant = strstr(err.message, "a constant orders nothing") != NULL;
        if ((status == HAC_OK || constant) != cases[i].good)
            fail_msg("%.60s: %s", text.data, err.message);
        hac_query_free(query);
        hac_text_clear(&text);
    }
}

/* Text literals that stand for values do not count twice. */
static void test_many_texts(void **state)
{
    (void)state;
    hac_text text = HAC_TEXT_NONE;
    for (size_t i = 0; i < 3; i++) {
        hac_text_add(&text, i > 0 ? " or i8 in ('0'" : "i8 in ('0'");
        for (size_t k = 1; k < 2000; k++)
            hac_text_add(&text, ",'1'");
        hac_text_add(&text, ")");
    }
    char found[2048];
    assert_string_equal(test_run(text.data, found, sizeof found), "bool");
    assert_string_equal(found, "false|true|false|-");
    hac_text_clear(&text);
}

/* A name that is written out with too many parts is reported where it stands. */
static void test_too_long(void **state)
{
    (void)state;
    hac_text text = HAC_TEXT_NONE;
    hac_text_add(&text, "i8 in (1");
    for (size_t k = 0; k < 2000; k++)
        hac_text_add(&text, ",cbrt(1)");
    hac_text_add(&text, ")");
    char found[2048];
    assert_string_equal(test_run(text.data, found, sizeof found), "");
    unsigned character = 0, parts = 0;
    if (sscanf(found, "--select: character %u: the query is too long (over %u parts)", &character, &parts) !=
        2)
        fail_msg("%s", found);
    assert_true(character > 100 && strncmp(text.data + character - 1, "cbrt(1)", 7) == 0);
    hac_text_clear(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_arithmetic),
        cmocka_unit_test(test_comparison),
        cmocka_unit_test(test_logic_and_conditions),
        cmocka_unit_test(test_casts),
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_texts_beside_values),
        cmocka_unit_test(test_sql_words),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_errors_of_bytes),
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_many_texts),
        cmocka_unit_test(test_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
