/* SPDX-License-Identifier: Apache-2.0 */
/* Whole queries: columns, keys, aggregates, outputs, order. */
#include "expr/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expr/query_facts.h"
#include "test_run.h"

static void add_fields(const hac_schema *schema, size_t first, size_t end, hac_text *ret)
{
    char type[HAC_VALUE_TYPE_NAME_MAX];
    for (size_t i = first; i < end; i++)
        hac_text_addf(ret, "%s%s:%s", i > first ? ", " : "", schema->fields[i].name,
                      hac_value_type_name(schema->fields[i].type, type));
}

/* columns > keys/aggregates > outputs [hidden] > order */
static void describe(const hac_query *query, hac_text *ret)
{
    static const char *const names[HAC_AGGREGATE_END] = {
        "rows",      "count",     "distinct",   "sum",        "min",     "max",       "avg",
        "variance",  "stddev",    "var_pop",    "stddev_pop", "first",   "last",      "top_k",
        "histogram", "quantile",  "list",       "arg_min",    "arg_max", "median",    "exact_quantile",
        "mode",      "covar_pop", "covar_samp", "corr",       "slope",   "intercept", "r2"};
    add_fields(&query->columns, 0, query->columns.n_fields, ret);
    hac_text_add(ret, query->filter != NULL ? " where" : "");
    if (query->aggregates) {
        hac_text_addf(ret, " > %zu:", query->n_keys);
        for (size_t i = 0; i < query->n_aggregates; i++)
            hac_text_addf(ret, " %s(%d)", names[query->aggregate[i].function], query->aggregate[i].argument);
    }
    hac_text_add(ret, " > ");
    add_fields(&query->outputs, 0, query->n_visible, ret);
    if (query->n_visible < query->outputs.n_fields) {
        hac_text_add(ret, " [");
        add_fields(&query->outputs, query->n_visible, query->outputs.n_fields, ret);
        hac_text_add(ret, "]");
    }
    for (size_t i = 0; i < query->n_order; i++)
        hac_text_addf(ret, " %s%u", query->order[i].descending ? "-" : "+", query->order[i].column);
}

typedef struct query_case {
    const char *where, *group_by, *select, *order_by, *expected;
} query_case;

static void check(const query_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const query_case *c = &cases[i];
        hac_text found = HAC_TEXT_NONE;
        hac_query *query = NULL;
        hac_error err = HAC_ERROR_NONE;
        if (test_compile(c->where, c->group_by, c->select, c->order_by, &query, &err) == HAC_OK)
            describe(query, &found);
        else
            hac_text_add(&found, err.message);
        bool same = query != NULL ? strcmp(found.data, c->expected) == 0
                                  : strstr(found.data, c->expected) == found.data;
        if (!same)
            fail_msg("%s / %s / %s / %s:\n%s\nand not\n%s", c->where, c->group_by, c->select, c->order_by,
                     found.data, c->expected);
        hac_text_clear(&found);
        hac_query_free(query);
    }
}

#define CHECK(...)                                                                                           \
    check((const query_case[]){__VA_ARGS__}, sizeof((const query_case[]){__VA_ARGS__}) / sizeof(query_case))

static void test_rows(void **state)
{
    (void)state;
    CHECK({"", "", "i8", "", "i8:i8 > i8:i8"}, {"", "", "s, i8", "", "i8:i8, s:string > s:string, i8:i8"},
          {"", "", "i8 + 1", "", "i8:i8 > i8 + 1:i64"},
          {"", "", " i8  +\n1 , s", "", "i8:i8, s:string > i8 + 1:i64, s:string"},
          {"", "", "i8+1 as x", "", "i8:i8 > x:i64"}, {"", "", "i8 as \"a b\"", "", "i8:i8 > a b:i8"},
          {"", "", "\"i8\"", "", "i8:i8 > i8:i8"}, {"", "", "(i8)", "", "i8:i8 > i8:i8"},
          {"", "", "s || ' a  b'", "", "s:string > s || ' a  b':string"}, {"", "", "1", "", " > 1:i64"},
          {"i8 > 0", "", "s", "", "i8:i8, s:string where > s:string"},
          {"null", "", "s", "", "s:string where > s:string"},
          {"", "", "i8, i8", "", "i8:i8 > i8:i8, i8_1:i8"},
          {"", "", "i8, i8 as i8", "", "i8:i8 > i8:i8, i8_1:i8"},
          {"", "", "i8, i8 as x", "", "i8:i8 > i8:i8, x:i8"},
          {"", "", "i8 + 1, i8  +  1", "", "i8:i8 > i8 + 1:i64, i8 + 1_1:i64"},
          {"", "", "i8", "i8", "i8:i8 > i8:i8 +0"}, {"", "", "i8", "i8 desc", "i8:i8 > i8:i8 -0"},
          {"", "", "i8", "s, i8 desc", "i8:i8, s:string > i8:i8 [:string] +1 -0"},
          {"", "", "i8 as x", "x", "i8:i8 > x:i8 +0"}, {"", "", "i8 as x", "i8", "i8:i8 > x:i8 +0"},
          {"", "", "i8 as x", "x + 1", "i8:i8 > x:i8 [:i64] +1"}, {"", "", "i8 as s", "s", "i8:i8 > s:i8 +0"},
          {"", "", "i8", "i8, i8 desc", "i8:i8 > i8:i8 +0"},
          {"", "", "-i8 as i8", "i8 desc", "i8:i8 > i8:i64 -0"});
}

/* Names of items stand for their expressions everywhere; numbers are places of items. */
static void test_names_and_numbers(void **state)
{
    (void)state;
    CHECK({"x > 1", "", "i8 + 1 as x", "", "i8:i8 where > x:i64"},
          {"", "", "i8 + 1 as x, x * 2 as y, y - x as z", "", "i8:i8 > x:i64, y:i64, z:i64"},
          {"i8 > 1", "", "i32 + 1 as i8", "", "i8:i8, i32:i32 where > i8:i64"},
          {"", "1", "lower(s) as k, count()", "1 desc", "s:string > 1: rows(-1) > k:string, count():i64 -0"},
          {"", "2, 1", "i8, s, count()", "3",
           "i8:i8, s:string > 2: rows(-1) > s:string, i8:i8, count():i64 +2"},
          {"", "all", "s, i8, count()", "", "i8:i8, s:string > 2: rows(-1) > s:string, i8:i8, count():i64"},
          {"", "ALL", "count()", "", " > 0: rows(-1) > count():i64"},
          {"", "null as k", "count()", "", " > 1: rows(-1) > k:i64, count():i64"},
          {"", "", "i8", "1 desc", "i8:i8 > i8:i8 -0"}, {"", "", "i8", "i8 nulls last", "i8:i8 > i8:i8 +0"},
          {"", "", "i8", "i8 desc nulls first", "i8:i8 > i8:i8 [:bool] +1 -0"},
          {"", "", "i8::f64 as x", "", "i8:i8 > x:f64"}, {"", "", "-1::text as x", "", " > x:string"},
          {"", "", "i8::double precision::VARCHAR as x", "", "i8:i8 > x:string"},
          {"", "", "* exclude (i8, i32, i64, u8, u32, u64, f32, f64, b), i8 as q", "",
           "i8:i8, s:string, d:date, t:timestamp, p:decimal(15,2), w:decimal(30,4), raw:bytes > s:string, "
           "d:date, "
           "t:timestamp, p:decimal(15,2), w:decimal(30,4), raw:bytes, q:i8"});
}

static void test_star(void **state)
{
    (void)state;
    hac_query *query = NULL;
    static const struct {
        const char *select;
        size_t n;
        const char *last;
    } cases[] = {{"*", 15, "raw"},
                 {"", 15, "raw"},
                 {NULL, 15, "raw"},
                 {"*, i8", 16, "i8_1"},
                 {"*, i8 + 1 as x", 16, "x"},
                 {"s, *", 16, "raw"},
                 {"*, *", 30, "raw_1"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(test_compile(NULL, NULL, cases[i].select, NULL, &query, NULL), HAC_OK);
        assert_int_equal(query->n_visible, cases[i].n);
        assert_string_equal(query->outputs.fields[cases[i].n - 1].name, cases[i].last);
        assert_int_equal(query->columns.n_fields, 15);
        assert_false(query->aggregates);
        assert_null(query->finals);
        hac_query_free(query);
    }
}

static void test_groups(void **state)
{
    (void)state;
    CHECK(
        {"", "", "count()", "", " > 0: rows(-1) > count():i64"},
        {"", "", "count(*) as n", "", " > 0: rows(-1) > n:i64"},
        {"", "s", "", "", "s:string > 1: > s:string"},
        {"", "s, i8", "", "", "i8:i8, s:string > 2: > s:string, i8:i8"},
        {"", "s, s", "", "", "s:string > 1: > s:string"},
        {"", "s", "count()", "", "s:string > 1: rows(-1) > s:string, count():i64"},
        {"", "s", "s, count()", "", "s:string > 1: rows(-1) > s:string, count():i64"},
        {"", "s", "count(), s", "", "s:string > 1: rows(-1) > s:string, count():i64"},
        {"", "s", "count() as n, count(*)", "", "s:string > 1: rows(-1) > s:string, n:i64, count(*):i64"},
        {"", "s", "s as name, count() as n", "", "s:string > 1: rows(-1) > name:string, n:i64"},
        {"", "year(d) as y", "y", "", "d:date > 1: > y:i64"},
        {"", "year(d) as y", "count()", "", "d:date > 1: rows(-1) > y:i64, count():i64"},
        {"", "year(d)", "year(d) as y, count()", "y desc", "d:date > 1: rows(-1) > y:i64, count():i64 -0"},
        {"", "y", "year(d) as y, count()", "", "d:date > 1: rows(-1) > y:i64, count():i64"},
        {"", "s", "s as a, s as b", "", "s:string > 1: > a:string, b:string"},
        {"", "s", "lower(s) as l", "", "s:string > 1: > s:string, l:string"},
        {"", "i8 + 1", "(i8 + 1) * 2 as x", "", "i8:i8 > 1: > i8 + 1:i64, x:i64"},
        {"", "", "sum(i8), sum(i8) + 1, avg(i8), min(i8)", "",
         "i8:i8 > 0: sum(0) avg(0) min(1) > sum(i8):i64, sum(i8) + 1:i64, avg(i8):f64, min(i8):i8"},
        {"", "s", "sum(f32) / count() as mean", "",
         "f32:f32, s:string > 1: sum(1) rows(-1) > s:string, mean:f64"},
        {"b", "s", "sum(p) as x", "",
         "b:bool, s:string, p:decimal(15,2) where > 1: sum(1) > s:string, x:decimal(38,2)"},
        {"", "s", "sum(i8)", "sum(i8) desc, s", "i8:i8, s:string > 1: sum(1) > s:string, sum(i8):i64 -1 +0"},
        {"", "s", "sum(i8) as x", "-x", "i8:i8, s:string > 1: sum(1) > s:string, x:i64 [:i64] +2"},
        {"", "s", "sum(i8) as x", "max(i8)", "i8:i8, s:string > 1: sum(1) max(2) > s:string, x:i64 [:i8] +2"},
        {"", "", "count() as n", "n", " > 0: rows(-1) > n:i64 +0"},
        {"", "s", "", "count() desc", "s:string > 1: rows(-1) > s:string [:i64] -1"},
        {"", "", "1 as one, count()", "", " > 0: rows(-1) > one:i64, count():i64"},
        {"", "", "count(distinct s) as a, count_distinct(s) as b, count(s) as c", "",
         "s:string > 0: distinct(0) count(0) > a:i64, b:i64, c:i64"},
        {"", "", "sum(u8), sum(f64), sum(w), sum(i32)", "",
         "i32:i32, u8:u8, f64:f64, w:decimal(30,4) > 0: sum(0) sum(1) sum(2) sum(3) > sum(u8):u64, "
         "sum(f64):f64, sum(w):decimal(38,4), sum(i32):i64"},
        {"", "", "variance(i8), stddev(f32), var_pop(p), stddev_pop(f64), approx_quantile(i8, 0.5)", "",
         "i8:i8, f32:f32, f64:f64, p:decimal(15,2) > 0: variance(0) stddev(1) var_pop(2) stddev_pop(3) "
         "quantile(4) > variance(i8):f64, stddev(f32):f64, var_pop(p):f64, stddev_pop(f64):f64, "
         "approx_quantile(i8, 0.5):f64"},
        {"", "", "first(d), last(t), min(s), max(b), top_k(i8, 3), histogram(i8, 0, 10, 5), string_list(s)",
         "",
         "i8:i8, b:bool, s:string, d:date, t:timestamp > 0: first(0) last(1) min(2) max(3) top_k(4) "
         "histogram(5) list(2) > first(d):date, last(t):timestamp, min(s):string, max(b):bool, top_k(i8, "
         "3):string, histogram(i8, 0, 10, 5):string, string_list(s):string"});
}

static void test_errors(void **state)
{
    (void)state;
    CHECK(
        {"sum(i8) > 1", "", "s", "",
         "--where: character 1: 'sum' aggregates rows, and --where tests each row by itself"},
        {"1 + count() > 1", "", "s", "", "--where: character 5: 'count' aggregates rows"},
        {"i8", "", "s", "", "--where: character 1: a condition is true or false, and this is i8"},
        {"i8 >", "", "s", "", "--where: character 5: expected a value"},
        {"", "prise", "", "", "--group-by: character 1: unknown column 'prise'"},
        {"", "sum(i8)", "", "", "--group-by: character 1: an aggregate cannot be a group's key"},
        {"", "n", "count() as n", "", "--group-by: character 1: an aggregate cannot be a group's key"},
        {"", "s, 2", "count() as n", "",
         "--group-by: character 4: a number is the place of an item of --select, 1 to 1; * has none"},
        {"", "1", "*", "",
         "--group-by: character 1: a number is the place of an item of --select, 1 to 1; * has none"},
        {"", "1", "count()", "", "--group-by: character 1: an aggregate cannot be a group's key"},
        {"", "", "i8", "2",
         "--order-by: character 1: a number is the place of a column in the result, 1 to 1"},
        {"", "", "* exclude (i9)", "", "--select: character 1: exclude: unknown column 'i9'; there are: i8"},
        {"", "", "null", "", "--select: character 1: null has no type here"},
        {"", "s", "i8", "",
         "--select: character 1: 'i8' has many values in a group: add it to --group-by, or aggregate it, as "
         "in first(i8)"},
        {"", "s", "sum(i8) + i8", "", "--select: character 11: 'i8' has many values in a group"},
        {"", "", "s, count()", "",
         "--select: character 1: 's' has many values in a group: group by it, or aggregate it"},
        {"", "lower(s)", "upper(s)", "", "--select: character 7: 's' has many values"},
        {"", "s", "*", "", "--select: character 1: '*' is all columns of a row"},
        {"", "", "count(), *", "", "--select: character 10: '*' is all columns of a row"},
        {"", "", "i8, s as i8", "",
         "--select: character 5: two columns are called 'i8'; give one of them another name with 'as'"},
        {"", "s", "i8 + 1 as s", "", "--select: character 1: two columns are called 's'"},
        {"", "", "*, s as i8", "", "--select: character 4: two columns are called 'i8'"},
        {"", "", "i8", "x", "--order-by: character 1: unknown column 'x'"},
        {"", "s", "sum(i8) as total", "totl",
         "--order-by: character 1: unknown column 'totl'; there are: total, i8, i32, i64, u8, u32, u64, f32, "
         "f64, b, "
         "s, d, t, p, w, raw (did you mean total?)"},
        {"", "", "i8", "1.5", "--order-by: character 1: a constant orders nothing"},
        {"", "", "i8, 1 as one", "i8, cast(1 as i64)", "--order-by: character 5: a constant orders nothing"},
        {"", "", "i8, 1 as one", "one, i8 desc", "i8:i8 > i8:i8, one:i64 +1 -0"},
        {"", "s", "count() as n, 1 + 1 as two", "two",
         "s:string > 1: rows(-1) > s:string, n:i64, two:i64 +2"},
        {"", "s", "count()", "i8", "--order-by: character 1: 'i8' has many values in a group"},
        {"", "", "i8", "sum(i8)", "--select: character 1: 'i8' has many values"},
        {"", "", "i8 desc", "",
         "--select: character 4: expected an operator, 'as', ',' or the end, found 'desc'"},
        {"", "s", "sum(n) as n", "", "--select: character 5: unknown column 'n'"},
        {"", "s", "count() as n", "sum(n)", "--order-by: character 1: an aggregate inside of 'sum'"},
        {"", "y", "y + 1 as y", "", "--select: character 1: unknown column 'y'"},
        {"", "y, z", "z as y, y as z", "", "--select: character 1: unknown column 'z'"},
        {"", "year(d) as y", "y + 1 as y", "", "--select: character 1: two columns are called 'y'"});
}

/* A name that is too long is cut, but not in the middle of a character. */
static void test_long_names(void **state)
{
    (void)state;
    for (size_t extra = 0; extra < 8; extra++) {
        char select[512];
        size_t used = (size_t)snprintf(select, sizeof select, "s || '%.*s", (int)extra, "xxxxxxxx");
        for (size_t i = 0; i < 80; i++)
            used += (size_t)snprintf(select + used, sizeof select - used, "ö");
        snprintf(select + used, sizeof select - used, "'");
        hac_query *query = NULL;
        assert_int_equal(test_compile("", "", select, "", &query, NULL), HAC_OK);
        const char *name = query->outputs.fields[0].name;
        assert_true(strlen(name) < HAC_FIELD_NAME_MAX && strlen(name) > HAC_FIELD_NAME_MAX - 8);
        assert_string_equal(name + strlen(name) - 3, "...");
        for (size_t at = 0, n = 0; name[at] != '\0'; at += n)
            assert_true((n = hac_utf8_sequence(name + at, strlen(name + at))) > 0);
        hac_query_free(query);
    }
}

/* A header may have empty names. Then a query cannot select all columns. */
static void test_blank_name(void **state)
{
    (void)state;
    hac_field fields[2] = {{.name = "a", .type = {.kind = HAC_KIND_STRING}},
                           {.name = "", .type = {.kind = HAC_KIND_STRING}}};
    hac_schema header = {.fields = fields, .n_fields = 2};
    hac_error err = HAC_ERROR_NONE;
    hac_query *query = NULL;
    hac_query_text text = {.select = "*", .limit = 7, .source = {.format = HAC_INPUT_CSV}};
    assert_int_equal(hac_query_compile(&text, &header, &query, &err), HAC_INVALID);
    assert_string_equal(err.message, "--select: character 1: column 2 of the header has no name; name the "
                                     "columns that are wanted");
    text.select = "a, \"\"";
    assert_int_equal(hac_query_compile(&text, &header, &query, &err), HAC_INVALID);
    assert_string_equal(err.message, "--select: character 4: a column's name has 1 to 127 bytes");
    text.select = "a";
    assert_int_equal(hac_query_compile(&text, &header, &query, &err), HAC_OK);
    hac_query_free(query);
}

/* If the input has more columns than a schema may have, a query reads the columns that it names. */
static void test_many_columns(void **state)
{
    (void)state;
    enum { N = 1000 };
    static const struct {
        const char *where, *group_by, *select, *order_by, *limit_by, *read;
    } cases[] = {
        {NULL, NULL, "c999", NULL, NULL, " c999"},
        {"c1 > c500", "c7", "sum(c3 + cast(c2 as i64)) as c4", "c4, max(c5)", NULL, " c1 c2 c3 c5 c7 c500"},
        {NULL, "c8", "\"c8\", count(*)", NULL, NULL, " c8"},
        {NULL, NULL, "c3", NULL, "c900", " c3 c900"},
        {NULL, NULL, "count(*) as n", NULL, NULL, ""}};
    hac_field *fields = calloc(N, sizeof *fields);
    char many[8 * 257] = "";
    for (size_t i = 0; i < N; i++) {
        snprintf(fields[i].name, sizeof fields[i].name, "c%zu", i);
        fields[i].type.kind = HAC_KIND_I64;
        if (i <= 256)
            sprintf(many + strlen(many), "%sc%zu", i > 0 ? "+" : "", i);
    }
    hac_schema header = {.fields = fields, .n_fields = N};
    hac_error err = HAC_ERROR_NONE;
    hac_query *query = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hac_query_text text = {.where = cases[i].where,
                               .group_by = cases[i].group_by,
                               .limit = UINT64_MAX,
                               .select = cases[i].select,
                               .order_by = cases[i].order_by,
                               .limit_by = cases[i].limit_by,
                               .limit_each = 1,
                               .source = {.format = HAC_INPUT_PARQUET}};
        char read[1000] = "";
        if (hac_query_compile(&text, &header, &query, &err) != HAC_OK)
            fail_msg("%s", err.message);
        for (size_t f = 0; f < query->columns.n_fields; f++)
            strcat(strcat(read, " "), query->columns.fields[f].name);
        assert_string_equal(read, cases[i].read);
        hac_query_free(query);
    }
    const char *const too_many[] = {"*", "c1, *", many};
    for (size_t i = 0; i < 3; i++) {
        hac_query_text text = {
            .select = too_many[i], .limit = UINT64_MAX, .source = {.format = HAC_INPUT_PARQUET}};
        assert_int_equal(hac_query_compile(&text, &header, &query, &err), HAC_INVALID);
        assert_string_equal(err.message, "--schema: the input has 1000 columns, of which at most 256 can be "
                                         "read; name those that are needed");
    }
    hac_query_text ambiguous = {
        .select = "ab, aB", .limit = UINT64_MAX, .source = {.format = HAC_INPUT_PARQUET}};
    strcpy(fields[400].name, "ab");
    strcpy(fields[900].name, "AB");
    assert_int_equal(hac_query_compile(&ambiguous, &header, &query, &err), HAC_INVALID);
    assert_memory_equal(err.message, "--select: character 5: unknown column 'aB'; ", 44);
    free(fields);
}

static hac_status compile_source(hac_input_format format, const char *schema, const char *header,
                                 const char *select, hac_query **ret, hac_error *err)
{
    hac_schema names = {0};
    if (header != NULL)
        assert_int_equal(hac_schema_parse(header, &names, NULL), HAC_OK);
    hac_query_text text = {.schema = schema,
                           .select = select,
                           .limit = 7,
                           .parquet = {2, 5000, 3, 7000},
                           .source = {.format = format, .options.skip_errors = 1}};
    hac_status status = hac_query_compile(&text, header != NULL ? &names : NULL, ret, err);
    hac_schema_clear(&names);
    return status;
}

static void test_sources(void **state)
{
    static const struct {
        hac_input_format format;
        const char *schema, *header, *select, *expected;
    } cases[] = {
        {HAC_INPUT_LINES, NULL, NULL, "length(line) as n", "line:string > n:i64"},
        {HAC_INPUT_WORDS, "", NULL, "word, word as w", "word:string > word:string, w:string"},
        {HAC_INPUT_KV, NULL, NULL, "*", "key:string, value:string > key:string, value:string"},
        {HAC_INPUT_LENGTHS, NULL, NULL, "*", "record:bytes > record:bytes"},
        {HAC_INPUT_LENGTHS, "a:string,b:i64,c:bytes", NULL, "b", "b:i64 > b:i64"},
        {HAC_INPUT_TYPEDBYTES, " ", NULL, "value", "value:string > value:string"},
        {HAC_INPUT_TYPEDBYTES, "a:i64,b:f64,c:string", NULL, "c, a", "a:i64, c:string > c:string, a:i64"},
        {HAC_INPUT_LINES, "a:i64", NULL, "*",
         "--schema: lines has its own column: line; leave the schema out"},
        {HAC_INPUT_KV, "a:i64", NULL, "*",
         "--schema: kv has its own columns: key, value; leave the schema out"},
        {HAC_INPUT_CSV, NULL, "a:string,\"b c\":string", "*", "a:string, b c:string > a:string, b c:string"},
        {HAC_INPUT_CSV, "\"b c\":i64", "a:string,\"b c\":string", "*",
         "a:string, b c:i64 > a:string, b c:i64"},
        {HAC_INPUT_CSV, "c:i64,a:f64", "a:string,b:string,c:string", "*",
         "a:f64, b:string, c:i64 > a:f64, b:string, c:i64"},
        {HAC_INPUT_CSV, "c:i64,a:f64", "a:string,c:string", "*", "c:i64, a:f64 > c:i64, a:f64"},
        {HAC_INPUT_PARQUET, "b:f64", "a:i32,b:f32", "*", "a:i32, b:f64 > a:i32, b:f64"},
        {HAC_INPUT_CSV, "a:i64,prise:i64", "a:string,price:string", "a",
         "--schema: the input has no column 'prise'; there are: a, price (did you mean price?)"},
        {HAC_INPUT_CSV, "a:i64,b:i64", NULL, "b", "b:i64 > b:i64"},
        {HAC_INPUT_CSV, NULL, NULL, "b", "--schema: say what columns there are"},
        {HAC_INPUT_JSONL, " ", NULL, "b", "--schema: say what columns there are"},
        {HAC_INPUT_JSONL, "r:string,r.ip:string,ra:i64", NULL, "r.ip, r",
         "r:string, r.ip:string > r.ip:string, r:string"},
        {HAC_INPUT_JSONL, "r:string,r.ip:string,ra:i64", NULL, "r, ra",
         "r:string, ra:i64 > r:string, ra:i64"},
        {HAC_INPUT_JSONL, "r:i64,r.ip:string", NULL, "r.ip, r", "r:i64, r.ip:string > r.ip:string, r:i64"},
        {HAC_INPUT_CSV, "r:string,r.ip:string", NULL, "r, r.ip",
         "r:string, r.ip:string > r:string, r.ip:string"},
        {HAC_INPUT_TABLE, NULL, "a:u8,b:date", "b, a", "a:u8, b:date > b:date, a:u8"},
        {HAC_INPUT_CSV, "a:i46", NULL, "*", "--schema: character 3: 'i46' is not a type"},
        {HAC_INPUT_NONE, "a:i64", NULL, "*", "--parse: the input's format is not known"},
        {HAC_INPUT_END, "a:i64", NULL, "*", "--parse: the input's format is not known"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hac_query *query = NULL;
        hac_error err = HAC_ERROR_NONE;
        hac_text found = HAC_TEXT_NONE;
        hac_status status =
            compile_source(cases[i].format, cases[i].schema, cases[i].header, cases[i].select, &query, &err);
        if (status == HAC_OK) {
            describe(query, &found);
            assert_int_equal(query->limit, 7);
            assert_int_equal(query->parquet.compression, 2);
            assert_int_equal(query->parquet.group_bytes, 5000);
            assert_int_equal(query->parquet.group_rows, 3);
            assert_int_equal(query->parquet.block_bytes, 7000);
            assert_int_equal(query->source.options.skip_errors, 1);
        } else {
            assert_int_equal(status, HAC_INVALID);
            hac_text_add(&found, err.message);
        }
        if (strncmp(found.data, cases[i].expected, strlen(cases[i].expected)) != 0)
            fail_msg("%zu: %s and not %s", i, found.data, cases[i].expected);
        hac_text_clear(&found);
        hac_query_free(query);
    }
}

/* The query has the settings of the result file. */
static void test_parquet_output(void **state)
{
    (void)state;
    const hac_query_text text = {.schema = "a:i64",
                                 .select = "a",
                                 .limit = 7,
                                 .output = HAC_RESULT_PARQUET,
                                 .parquet = {2, 1 << 20, 5, 1 << 21},
                                 .source = {.format = HAC_INPUT_CSV}};
    hac_query *query = NULL;
    assert_int_equal(hac_query_compile(&text, NULL, &query, NULL), HAC_OK);
    assert_int_equal(query->output, HAC_RESULT_PARQUET);
    assert_int_equal(query->parquet.compression, 2);
    assert_true(query->parquet.group_bytes == 1 << 20 && query->parquet.group_rows == 5 &&
                query->parquet.block_bytes == 1 << 21);
    hac_query_free(query);
}

static void test_positions(void **state)
{
    (void)state;
    hac_query *query = NULL;
    assert_int_equal(compile_source(HAC_INPUT_CSV, "a:i64,b:i64,c:i64,d:i64", NULL, "d + b", &query, NULL),
                     HAC_OK);
    assert_int_equal(query->schema_columns, 4);
    assert_int_equal(query->columns.n_fields, 2);
    assert_int_equal(query->positions[0], 1);
    assert_int_equal(query->positions[1], 3);
    hac_query_free(query);
}

/* The hidden column that --having tests; a column with the same values is that column. */
static void test_having(void **state)
{
    static const struct {
        const char *group_by, *having, *select, *expected;
        int output; /* -1: none */
    } cases[] = {
        {"s", NULL, "count()", NULL, -1},
        {"s", "  ", "count()", NULL, -1},
        {"s", "count() > 1", "count() as n", NULL, 2},
        {"s", "count() > 1", "count() > 1 as many", NULL, 1},
        {"s", "n > 1", "count() as n", NULL, 2},
        {"s", "max(i8) > 1", "max(i8) as i8", NULL, 2}, /* inside of max it is the column */
        {"s", "i8 > 1", "max(i8) as i8", NULL, 2},      /* outside it is the item */
        {"i8", "i8 > 1", "-i8 as i8", "two columns are called 'i8'", -1},
        {"", "null", "count()", NULL, 1},
        {"", "true", "1 as one", NULL, 1},
        {"s", "i8 > 1", "count()", "--having: character 1: 'i8' has many values in a group", -1},
        {"", "s = 'x'", "s", "--select: character 1: 's' has many values in a group", -1},
        {"s", "count()", "s", "--having: character 1: a condition is true or false, and this is i64", -1},
        {"s", "max(n) > 1", "count() as n", "--having: character 1: an aggregate inside of 'max'", -1},
        {"s", "count() >", "s", "--having: character 10: expected", -1},
        {"s", "count(), s", "s", "--having: character 8: expected", -1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const hac_query_text text = {.schema = "s:string,i8:i8",
                                     .group_by = cases[i].group_by,
                                     .having = cases[i].having,
                                     .select = cases[i].select,
                                     .limit = UINT64_MAX,
                                     .source = {.format = HAC_INPUT_CSV}};
        hac_query *query = NULL;
        hac_error err = HAC_ERROR_NONE;
        hac_status status = hac_query_compile(&text, NULL, &query, &err);
        if (cases[i].expected != NULL) {
            assert_int_equal(status, HAC_INVALID);
            if (strstr(err.message, cases[i].expected) == NULL)
                fail_msg("%zu: %s", i, err.message);
            continue;
        }
        if (status != HAC_OK)
            fail_msg("%zu: %s", i, err.message);
        assert_int_equal(query->having, cases[i].output < 0 ? HAC_QUERY_NO_OUTPUT : cases[i].output);
        hac_query_free(query);
    }
}

/* Constants are folded, their conversion included. An operation that fails is not folded. */
static void test_folding(void **state)
{
    static const struct {
        const char *select;
        size_t instructions;
        const char *has;
    } cases[] = {
        {"f64 * (1 - 0.05)", 3, "CONSTANT 0.94999999999999996"},
        {"d >= date '2020-01-31' - 30", 3, "CONSTANT 18262"},
        {"s = upper('a') || lower('B')", 3, "CONSTANT 'Ab'"},
        {"cast('12' as i64)", 1, "CONSTANT 12"},
        {"try_cast('x' as i64)", 1, "NULL"},
        {"cast('x' as i64)", 2, "STRING_TO_I64"},
        {"if(b, 1 // 0, 2)", 4, "NULL"},
        {"9223372036854775807 + 1", 3, "ADD_I64"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hac_query *query = NULL;
        hac_text program = HAC_TEXT_NONE;
        assert_int_equal(test_compile("", "", cases[i].select, "", &query, NULL), HAC_OK);
        hac_program_print(query->rows, &program);
        if (query->rows->n_instructions != cases[i].instructions ||
            strstr(program.data, cases[i].has) == NULL)
            fail_msg("%s:\n%s", cases[i].select, program.data);
        hac_text_clear(&program);
        hac_query_free(query);
    }
}

static void test_limits(void **state)
{
    (void)state;
    hac_query *query = NULL;
    hac_error err = HAC_ERROR_NONE;
    char *text = calloc(1, HAC_EXPRESSION_MAX + 2);
    assert_non_null(text);
    memset(text, ' ', HAC_EXPRESSION_MAX + 1);
    text[0] = 'b';
    assert_int_equal(test_compile(text, "", "i8", "", &query, &err), HAC_INVALID);
    assert_string_equal(err.message, "--where: longer than 30720 bytes");
    text[HAC_EXPRESSION_MAX] = '\0';
    assert_int_equal(test_compile(text, "", "i8", "", &query, &err), HAC_OK);
    hac_query_free(query);
    free(text);
    for (size_t n = HAC_QUERY_KEYS_MAX; n <= HAC_QUERY_KEYS_MAX + 1; n++) {
        hac_text keys = HAC_TEXT_NONE;
        for (size_t i = 0; i < n; i++)
            hac_text_addf(&keys, "%si64 + %zu", i > 0 ? "," : "", i);
        assert_int_equal(test_compile("", keys.data, "", "", &query, &err),
                         n == HAC_QUERY_KEYS_MAX ? HAC_OK : HAC_INVALID);
        hac_text_clear(&keys);
    }
    assert_non_null(strstr(err.message, "more than 64 items"));
    hac_query_free(query);
}

static void test_names_other(void **state)
{
    static const struct {
        const char *where, *group, *select, *order;
        bool other;
    } cases[] = {
        {NULL, NULL, "a, b + 1 as c", "c", false},
        {NULL, NULL, "*", NULL, true},
        {"c > 1", NULL, "a", NULL, true},
        {"b > 1", "a", "sum(b) as s", "s desc", false},
        {NULL, "c", "count()", NULL, true},
        {NULL, "a", "sum(upper(d))", NULL, true},
        {NULL, NULL, "count()", "c", true},
        {NULL, "a as k", "count() as n", "k, n", false},
        {NULL, NULL, NULL, NULL, true},
        {NULL, NULL, "a +", NULL, false},
        {NULL, "a", "count(*) as n", NULL, false},
        {NULL, "a", "sum(b) filter (where a = 'x')", NULL, false},
        {NULL, "a", "sum(b) filter (where c = 'x')", NULL, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const hac_query_text text = {.source = {.format = HAC_INPUT_CSV},
                                     .schema = "a:string,b:i64",
                                     .where = cases[i].where,
                                     .group_by = cases[i].group,
                                     .select = cases[i].select,
                                     .order_by = cases[i].order};
        if (hac_query_text_names_other(&text) != cases[i].other)
            fail_msg("%zu", i);
    }
}

static void test_excludes(void **state)
{
    static const struct {
        const char *select, *with_select;
        bool excludes;
    } cases[] = {
        {"*", NULL, false},
        {"* exclude (a)", NULL, true},
        {"b, * except a", NULL, true},
        {"* replace (b + 1 as b)", NULL, false},
        {"* rename (a as b)", NULL, false},
        {"* replace (b + 1 as b)", "* exclude (a)", true},
        {"excluded, 'except' as except_a", NULL, false},
        {"exclude", NULL, false},
        {"* exclude (", NULL, false},
        {NULL, NULL, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const hac_query_text text = {.source = {.format = HAC_INPUT_CSV},
                                     .select = cases[i].select,
                                     .with_select = cases[i].with_select};
        if (hac_query_text_excludes(&text) != cases[i].excludes)
            fail_msg("%zu", i);
    }
}

static void shape_of(const char *where, const char *group_by, const char *select, uint32_t *ret_shape,
                     uint32_t *ret_same)
{
    hac_query *query = NULL;
    hac_error err = HAC_ERROR_NONE;
    if (test_compile(where, group_by, select, "", &query, &err) != HAC_OK)
        fail_msg("%s", err.message);
    hac_query_shape_read(query, ret_shape, ret_same);
    hac_query_free(query);
}

/* Constants and names change what is the same, and what is computed changes the shape. */
static void test_shapes(void **state)
{
    static const struct {
        const char *where, *group_by, *select;
        bool alike, same;
    } cases[] = {
        {"i8 < 5", "s", "s, sum(i8) as t", true, true},
        {"i8 < 5", "s", "s, sum(i8)  as t", true, true},
        {"i8 < 6", "s", "s, sum(i8) as t", true, false},
        {"i8 > 5", "s", "s, sum(i8) as t", false, false},
        {"", "s", "s, sum(i8) as t", false, false},
        {"i8 < 5", "", "sum(i8) as t", false, false},
        {"i8 < 5", "s", "s, max(i8) as t", false, false},
        {"i8 < 5", "s", "s, sum(i8 * i8) as t", false, false},
    };
    (void)state;
    uint32_t shape, same;
    shape_of(cases[0].where, cases[0].group_by, cases[0].select, &shape, &same);
    assert_true(shape != 0 && same != 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t its_shape, its_same;
        shape_of(cases[i].where, cases[i].group_by, cases[i].select, &its_shape, &its_same);
        if ((its_shape == shape) != cases[i].alike || (its_same == same) != cases[i].same)
            fail_msg("case %zu", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_star),
        cmocka_unit_test(test_names_and_numbers),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_blank_name),
        cmocka_unit_test(test_names_other),
        cmocka_unit_test(test_excludes),
        cmocka_unit_test(test_sources),
        cmocka_unit_test(test_parquet_output),
        cmocka_unit_test(test_positions),
        cmocka_unit_test(test_having),
        cmocka_unit_test(test_folding),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_many_columns),
        cmocka_unit_test(test_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
