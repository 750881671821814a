/* SPDX-License-Identifier: Apache-2.0 */
#include "parser.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/value_text.h"
#include "test_run.h"

#define ARENA_BYTES (16u * 1024 * 1024)

/* Prints (operator argument …), columns by name, and literals with their type. */
static void show(const hac_node *node, hac_text *ret)
{
    char type[HAC_VALUE_TYPE_NAME_MAX], number[HAC_PRINT_MAX];
    const hac_literal *l = &node->literal;
    switch (node->kind) {
    case HAC_NODE_STAR:
        hac_text_add(ret, "*");
        return;
    case HAC_NODE_COLUMN:
        hac_text_add_bytes(ret, node->name, node->n_name);
        return;
    case HAC_NODE_LITERAL:
        if (l->null) {
            hac_text_add(ret, "null");
            return;
        }
        if (node->type.kind == HAC_KIND_STRING) {
            hac_text_addf(ret, "'%.*s'", (int)l->n_bytes, l->bytes);
            return;
        }
        if (node->type.kind == HAC_KIND_F64)
            hac_text_addf(ret, "%g", l->real);
        else
            hac_text_add_bytes(ret, number, hac_print_decimal(l->integer, node->type.scale, number));
        if (node->type.kind != HAC_KIND_I64)
            hac_text_addf(ret, ":%s", hac_value_type_name(node->type, type));
        return;
    default:
        hac_text_addf(ret, "(%s%s", node->name, node->distinct ? " distinct" : "");
        for (size_t i = 0; i < node->n_args; i++) {
            hac_text_add(ret, node->filtered && i + 1 == node->n_args ? " where " : " ");
            show(node->args[i], ret);
        }
        if (node->kind == HAC_NODE_CAST)
            hac_text_addf(ret, " %s", hac_value_type_name(node->type, type));
        hac_text_add(ret, ")");
    }
}

/* Returns the tree or the message. A graph with shared nodes may be too large to print as a tree. */
static void parse(const char *text, bool shown, hac_text *ret)
{
    hac_arena arena = {.limit = ARENA_BYTES};
    hac_error err = HAC_ERROR_NONE;
    hac_parser parser = {.arena = &arena, .err = &err};
    hac_expr_source source = {"", text, NULL};
    hac_node *node = NULL;
    if (hac_parse_expression(&parser, &source, &node) == HAC_OK) {
        assert_int_equal(parser.depth, 0);
        if (shown)
            show(node, ret);
    } else {
        assert_null(node);
        hac_text_add(ret, err.message);
    }
    hac_arena_clear(&arena);
}

static const struct {
    const char *text, *tree;
} trees[] = {
    /* literals */
    {"1", "1"},
    {"0", "0"},
    {"007", "7"},
    {"9223372036854775807", "9223372036854775807"},
    {"9223372036854775808", "9223372036854775808:u64"},
    {"-9223372036854775808", "-9223372036854775808"},
    {"18446744073709551615", "18446744073709551615:u64"},
    {"18446744073709551616", "18446744073709551616:decimal(20,0)"},
    {"-9223372036854775809", "-9223372036854775809:decimal(19,0)"},
    {"1.5", "1.5:decimal(2,1)"},
    {"1.50", "1.50:decimal(3,2)"},
    {"0.05", "0.05:decimal(2,2)"},
    {".5", "0.5:decimal(1,1)"},
    {"5.", "5"},
    {"00.10", "0.10:decimal(2,2)"},
    {"99999999999999999999999999999999999999", "99999999999999999999999999999999999999:decimal(38,0)"},
    {"1e3", "1000:f64"},
    {"1E+3", "1000:f64"},
    {"1.5e-3", "0.0015:f64"},
    {"-1e3", "-1000:f64"},
    {"- 5", "-5"},
    {"+5", "5"},
    {"'text'", "'text'"},
    {"''", "''"},
    {"'it''s'", "'it's'"},
    {"''''", "'''"},
    {"true", "1:bool"},
    {"FALSE", "0:bool"},
    {"null", "null"},
    {"date '1970-01-02'", "1:date"},
    {"Date'1970-01-02'", "1:date"},
    {"timestamp '1970-01-01 00:00:01'", "1000000:timestamp"},
    /* names */
    {"a", "a"},
    {"\"unit price\"", "unit price"},
    {"\"a\"\"b\"", "a\"b"},
    {"date", "date"},
    {"timestamp + 1", "(+ timestamp 1)"},
    {"year", "year"},
    {"count", "count"},
    {"end", "end"},
    {"desc", "desc"},
    {"escape", "escape"},
    {"distinct", "distinct"},
    {"\"null\"", "null"},
    {"größe", "größe"},
    /* precedence */
    {"1 + 2 * 3", "(+ 1 (* 2 3))"},
    {"(1 + 2) * 3", "(* (+ 1 2) 3)"},
    {"1 - 2 - 3", "(- (- 1 2) 3)"},
    {"8 / 4 / 2", "(/ (/ 8 4) 2)"},
    {"8 // 4 % 2", "(% (// 8 4) 2)"},
    {"-a * b", "(* (negate a) b)"},
    {"- - a", "(negate (negate a))"},
    {"a * b ^ c ** d", "(* a (pow (pow b c) d))"},
    {"-a ^ 2", "(pow (negate a) 2)"},
    {"-2 ^ -b", "(pow -2 (negate b))"},
    /* what is written out */
    {"a is true", "(not (coalesce (not a) 1:bool))"},
    {"a is not false", "(not (coalesce (not a) 0:bool))"},
    {"a is unknown or b notnull", "(or (is null a) (not (is null b)))"},
    {"a is not distinct from b", "(coalesce (= a b) (and (is null a) (is null b)))"},
    {"mean(x)", "(avg x)"},
    {"geomean(x) filter (where y)", "(exp (avg (ln x) where y))"},
    {"count_star() filter (where y)", "(count where y)"},
    {"count_if(a) filter (where b)", "(count (nullif a 0:bool) where b)"},
    {"geomean(distinct x)", "(exp (avg distinct (ln x)))"},
    {"approx_count_distinct(x)", "(count distinct x)"},
    {"max_by(a, b) filter (where c)", "(arg_max a b where c)"},
    {"ltrim(a, '')", "(substr a 1)"},
    {"ifnull(a, b)", "(coalesce a b)"},
    {"count_if(a > 1)", "(count (nullif (> a 1) 0:bool))"},
    {"decade(c)", "(// (year c) 10)"},
    {"Extract(YEAR from b + a)", "(year (+ b a))"},
    {"extract('day' from b)", "(day b)"},
    {"date_part('dow', c)", "(% (dow c) 7)"},
    {"substring(a from b for c)", "(substr a b c)"},
    {"substring(a for 2)", "(substr a 1 2)"},
    {"substring(a, b)", "(substr a b)"},
    {"position(b in a)", "(position a b)"},
    {"position(b, a)", "(position b a)"},
    {"substr(a, b, c)", "(substr a b c)"},
    {"substr(a)", "(substr a)"},
    {"trim(leading from a)", "(ltrim a)"},
    {"trim(both ']' from a)", "(regexp_replace a '^[\\]]+|[\\]]+$' '' 'g')"},
    {"concat_ws(c, a)", "(substr (concat (if (is null a) null (concat c a))) (+ (length c) 1))"},
    {"a - -1", "(- a -1)"},
    {"a-1", "(- a 1)"},
    {"a -1", "(- a 1)"},
    {"a or b and c", "(or a (and b c))"},
    {"a and b or c", "(or (and a b) c)"},
    {"not a and b", "(and (not a) b)"},
    {"not a = b", "(not (= a b))"},
    {"not not a", "(not (not a))"},
    {"a = b and c < d", "(and (= a b) (< c d))"},
    {"a || b = c || d", "(= (|| a b) (|| c d))"},
    {"a || b + 1", "(|| a (+ b 1))"},
    {"a < b + 1", "(< a (+ b 1))"},
    {"a AND b OR NOT c", "(or (and a b) (not c))"},
    {"a==b", "(= a b)"},
    {"a!=b", "(<> a b)"},
    {"a<>b", "(<> a b)"},
    {"a<=b", "(<= a b)"},
    {"a>=b", "(>= a b)"},
    {"a>b", "(> a b)"},
    {"a = b = c", "(= (= a b) c)"},
    /* abbreviations */
    {"a between 1 and 2", "(and (>= a 1) (<= a 2))"},
    {"a not between 1 and 2", "(not (and (>= a 1) (<= a 2)))"},
    {"a between 1 and 2 and b", "(and (and (>= a 1) (<= a 2)) b)"},
    {"a between 1 + 1 and 2 * 3", "(and (>= a (+ 1 1)) (<= a (* 2 3)))"},
    {"a in (1)", "(in a 1)"},
    {"a in (1, 2, b)", "(in a 1 2 b)"},
    {"a not in (1)", "(not (in a 1))"},
    {"a + 1 in (1) or b", "(or (in (+ a 1) 1) b)"},
    {"a like 'x%'", "(like a 'x%')"},
    {"a not like 'x%' escape '!'", "(not (like a 'x%' '!'))"},
    {"a is null", "(is null a)"},
    {"a is not null", "(not (is null a))"},
    {"a + 1 is null = b", "(= (is null (+ a 1)) b)"},
    {"not a is null", "(not (is null a))"},
    {"not a in (1)", "(not (in a 1))"},
    {"case when a then 1 end", "(if a 1 null)"},
    {"case when a then 1 else 2 end", "(if a 1 2)"},
    {"case when a then 1 when b then 2 else 3 end", "(if a 1 (if b 2 3))"},
    {"case x when 1 then 'a' when 2 then 'b' end", "(if (= x 1) 'a' (if (= x 2) 'b' null))"},
    {"CASE a + 1 WHEN 2 THEN 3 ELSE 4 END + 1", "(+ (if (= (+ a 1) 2) 3 4) 1)"},
    {"case case when a then 1 end when 1 then 2 end", "(if (= (if a 1 null) 1) 2 null)"},
    /* calls */
    {"lower(a)", "(lower a)"},
    {"LOWER ( a )", "(lower a)"},
    {"pi()", "(pi)"},
    {"f(a, b + 1, g(c))", "(f a (+ b 1) (g c))"},
    {"if(a, b, c)", "(if a b c)"},
    {"date(a)", "(date a)"},
    {"count(*)", "(count *)"},
    {"count()", "(count)"},
    {"count(distinct a)", "(count distinct a)"},
    {"count(distinct (a + b))", "(count distinct (+ a b))"},
    {"count(distinct \"a\")", "(count distinct a)"},
    {"count(distinct)", "(count distinct)"},
    {"count(*) filter (where a or b)", "(count * where (or a b))"},
    {"sum(a) FILTER (WHERE b = 1) * 2", "(* (sum a where (= b 1)) 2)"},
    {"count(distinct a) filter (where b)", "(count distinct a where b)"},
    {"sum(filter)", "(sum filter)"},
    {"filter(a)", "(filter a)"},
    {"count(distinct + 1)", "(count (+ distinct 1))"},
    {"count(distinct is null)", "(count (is null distinct))"},
    {"cast(a as i64)", "(cast a i64)"},
    {"CAST(a + 1 AS Decimal ( 15 , 2 ))", "(cast (+ a 1) decimal(15,2))"},
    {"try_cast(a as date) is null", "(is null (try_cast a date))"},
    {" \t\n a \r\n", "a"},
    {"((((a))))", "a"},
};

static void test_trees(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) {
        hac_text found = HAC_TEXT_NONE;
        parse(trees[i].text, true, &found);
        if (strcmp(found.data, trees[i].tree) != 0)
            fail_msg("%s: %s and not %s", trees[i].text, found.data, trees[i].tree);
        hac_text_clear(&found);
    }
}

typedef struct error_case {
    const char *text, *message;
} error_case;

static void check_errors(const error_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        hac_text found = HAC_TEXT_NONE;
        parse(cases[i].text, true, &found);
        if (strncmp(found.data, cases[i].message, strlen(cases[i].message)) != 0)
            fail_msg("%s: '%s' and not '%s'", cases[i].text, found.data, cases[i].message);
        hac_text_clear(&found);
    }
}

static void test_errors(void **state)
{
    static const error_case cases[] = {
        {"", "character 1: expected a value, but the text ends here"},
        {"   ", "character 4: expected a value, but the text ends here"},
        {"1 +", "character 4: expected a value, but the text ends here"},
        {"+", "character 2: expected a value, but the text ends here"},
        {"1 2", "character 3: expected an operator or the end, found '2'"},
        {"a b", "character 3: expected an operator or the end, found 'b'"},
        {"a 'b'", "character 3: expected an operator or the end, found 'b'"},
        {"a as b", "character 3: expected an operator or the end, found 'as'"},
        {"a, b", "character 2: expected an operator or the end, found ','"},
        {"* 2", "character 1: expected a value, found '*'"},
        {"a = = b", "character 5: expected a value, found '='"},
        {"a = and", "character 5: expected a value, found 'and'"},
        {"in (1)",
         "character 1: expected a value, found the word 'in'; a column of that name goes in double quotes"},
        {"a + case", "character 9: expected a value, but the text ends here"},
        {"(a", "character 3: expected ')', but the text ends here"},
        {"a)", "character 2: expected an operator or the end, found ')'"},
        {"()", "character 2: expected a value, found ')'"},
        {"f(a", "character 4: expected ',' or ')', but the text ends here"},
        {"f(a b)", "character 5: expected ',' or ')', found 'b'"},
        {"f(a,)", "character 5: expected a value, found ')'"},
        {"f(,a)", "character 3: expected a value, found ','"},
        {"f(*, a)", "character 4: expected ')', found ','"},
        {"a is", "character 5: expected 'null', 'true', 'false', 'unknown', 'distinct from', or one of them "
                 "behind 'not', but the text ends here"},
        {"a is 5", "character 6: expected 'null', 'true', 'false', 'unknown', 'distinct from', or one of "
                   "them behind 'not', found '5'"},
        {"a is distinct b", "character 15: expected 'from' and a value, found 'b'"},
        {"extract(year)", "character 13: expected 'from', as in extract(year from a), found ')'"},
        {"extract(+)", "character 9: expected a part of a time"},
        {"extract(eon from a)", "character 9: there is no part 'eon' of a time"},
        {"substring(a from 2 for)", "character 23: expected a value, found ')'"},
        {"trim(both 'x')", "character 14: expected the characters, or 'from' and a text, found ')'"},
        {"position('x' in", "character 16: expected a value, but the text ends here"},
        {"concat_ws()", "character 1: write concat_ws(separator, a, …)"},
        {"date_part(a, b)", "character 1: write date_part('year', a), or year(a)"},
        {"a is not 1", "character 10: expected 'null', 'true', 'false', 'unknown' or 'distinct from', found "
                       "'1'"},
        {"a between 1",
         "character 12: expected 'and' and the upper bound of 'between', but the text ends here"},
        {"a between 1 or 2", "character 13: expected 'and' and the upper bound"},
        {"a in 1", "character 6: expected '(' and a list, found '1'"},
        {"a in ()", "character 7: expected a value, found ')'"},
        {"a not b", "character 3: expected an operator or the end, found 'not'"},
        {"a like", "character 7: expected a value, but the text ends here"},
        {"a like 'x' escape", "character 18: expected a value, but the text ends here"},
        {"case a end", "character 8: expected 'when', found 'end'"},
        {"case end", "character 9: expected 'when', but the text ends here"},
        {"case when a", "character 12: expected 'then', but the text ends here"},
        {"case when a then 1",
         "character 19: expected 'when', 'else' or 'end' of the case, but the text ends here"},
        {"case when a then 1 else 2", "character 26: expected 'when', 'else' or 'end' of the case"},
        {"case when a then 1 else 2 when b",
         "character 27: expected 'when', 'else' or 'end' of the case, found 'when'"},
        {"cast(a)", "character 7: expected 'as' and a type, found ')'"},
        {"cast(a as)", "character 10: expected a type, found ')'"},
        {"cast(a as 1)", "character 11: expected a type, found '1'"},
        {"cast(a as foo)", "character 11: 'foo' is not a type: i8"},
        {"cast(a as i64", "character 14: expected ')' behind the type, but the text ends here"},
        {"cast(a as decimal(39))", "character 11: 'decimal(39)' is not a type: of decimal(p,s) p is 1 to 38"},
        {"cast(a as decimal(15,2)", "character 24: expected ')' behind the type, but the text ends here"},
        {"cast(a as i64 b)", "character 15: expected ')' behind the type, found 'b'"},
        {"a::", "character 4: expected a type, but the text ends here"},
        {"a::i65", "character 4: 'i65' is not a type"},
        {"date '2020-13-01'", "character 1: '2020-13-01' is not a date; write date '2020-01-31'"},
        {"1 = date '2020'", "character 5: '2020' is not a date"},
        {"timestamp 'now'", "character 1: 'now' is not a timestamp; write timestamp '2020-01-31 12:00:00'"},
        {"12abc", "character 1: a number is followed by 'a' at once; names cannot start with a digit"},
        {"1e", "character 1: a number is followed by 'e' at once"},
        {"1.2.3", "character 1: a number is followed by '.' at once"},
        {"1e400", "character 1: the number is too large for f64"},
        {"123456789012345678901234567890123456789", "character 1: a number of over 38 digits"},
        {"0.123456789012345678901234567890123456789", "character 1: a number of over 38 digits"},
        {"'abc", "character 1: the text that begins here has no closing '"},
        {"a = 'it''s", "character 5: the text that begins here has no closing '"},
        {"\"abc", "character 1: the name that begins here has no closing \""},
        {"a ~ b", "character 3: '~' is not part of an expression"},
        {"a && b", "character 3: '&&' is not part of an expression; write 'and'"},
        {"a ! b", "character 3: '!' is not part of an expression; write 'not'"},
        {"a; b", "character 2: ';' is not part of an expression; leave it out"},
        {"a . b", "character 3: '.' is not part of an expression"},
        {"a\x01", "character 2: the byte 0x01 is not part of an expression"},
        {"größe ~", "character 7: '~' is not part of an expression"},
        {"'äöü' ~", "character 7: '~' is not part of an expression"},
        {"a : b", "character 3: expected an operator or the end, found ':'"},
    };
    (void)state;
    check_errors(cases, sizeof cases / sizeof *cases);
}

/* The parts of calls: commas, and what only aggregates take. */
static void test_errors_of_calls(void **state)
{
    static const error_case cases[] = {
        {"interval '1 day'", "character 1: an interval stands before the + or behind the + or - of a date"},
        {"interval '1 day' - a", "character 1: an interval stands before the + or behind the + or - of"},
        {"quantile_cont(0.5) within group (a)", "character 34: expected 'order by' and a value, found 'a'"},
        {"percentile_cont(a) within group (order by b)",
         "character 20: within group follows percentile_cont"},
        {"sum(a) within group (order by b)",
         "character 8: within group follows percentile_cont(share), perc"},
        {"mode() within group (order by b desc)", "character 8: within group follows"},
        {"mode() within group (order by b, c)", "character 32: expected ')' behind one value, found ','"},
        {"columns(a)", "character 9: expected a regular expression in single quotes, or *, found 'a'"},
        {"substr(a 2)", "character 10: expected ',' or ')', found '2'"},
        {"substring(a b, c)", "character 13: expected ',' or ')', found 'b'"},
        {"position(a b)", "character 12: expected ',' or ')', found 'b'"},
        {"substr(a,)", "character 10: expected a value, found ')'"},
        {"trim(count(a) filter (where b), '') filter (where c)",
         "character 1: only aggregates take 'filter'"},
        {"concat_ws(',', a) filter (where b)", "character 1: only aggregates take 'filter'"},
        {"1 + ucase(a) filter (where b)", "character 5: only aggregates take 'filter'"},
        {"ucase(distinct a)", "character 1: only count, list and string_agg take distinct"},
        {"trim(distinct a, 'x')", "character 1: only count, list and string_agg take distinct"},
    };
    (void)state;
    check_errors(cases, sizeof cases / sizeof *cases);
}

/* Parses `before` n times, `middle`, and `behind` n times. */
static void bomb(const char *before, const char *middle, const char *behind, size_t n, hac_text *ret)
{
    hac_text text = HAC_TEXT_NONE;
    for (size_t i = 0; i < n; i++)
        hac_text_add(&text, before);
    hac_text_add(&text, middle);
    for (size_t i = 0; i < n; i++)
        hac_text_add(&text, behind);
    hac_text_add(ret, "");
    parse(text.data, false, ret);
    hac_text_clear(&text);
}

static void test_bombs(void **state)
{
    static const struct {
        const char *before, *middle, *behind;
        size_t good;
    } cases[] = {
        {"(", "a", ")", 100},
        {"-", "a", "", 100},
        {"not ", "a", "", 100},
        {"f(", "a", ")", 100},
        {"case when a then ", "1", " end", 40},
        {"case when ", "a", " then b end", 100},
        {"a in (", "a", ")", 100},
        {"cast(", "a", " as i64)", 100},
        {"", "a", " + a", 500},
        {"", "a", " and a = 1", 500},
        {"", "a", " between 1 and 2", 100},
        {"a or ", "a", "", 500},
        {"case when a then 1 ", "case when a then 1 end", "", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t n = 1; n <= 8192; n *= 2) {
            hac_text found = HAC_TEXT_NONE;
            bomb(cases[i].before, cases[i].middle, cases[i].behind, n, &found);
            bool failed = strncmp(found.data, "character ", 10) == 0;
            if ((n <= cases[i].good && failed) || (n >= 1024 && !failed))
                fail_msg("'%s' %zu times: %.100s", cases[i].before, n, found.data);
            hac_text_clear(&found);
        }
    }
}

static void test_items(void **state)
{
    (void)state;
    hac_arena arena = {.limit = ARENA_BYTES};
    hac_error err = HAC_ERROR_NONE;
    hac_parser parser = {.arena = &arena, .err = &err};
    hac_expr_source source = {"--select", " a , b + 1  as c,* , count(*) as \"x y\", d as count", NULL};
    hac_item items[5];
    size_t n = 0;
    assert_int_equal(hac_parse_items(&parser, &source, HAC_ITEM_NAMES | HAC_ITEM_STAR, 5, items, &n), HAC_OK);
    assert_int_equal(n, 5);
    assert_null(items[0].name);
    assert_int_equal(items[0].first, 1);
    assert_string_equal(items[1].name, "c");
    assert_memory_equal(source.text + items[1].first, "b + 1", 5);
    assert_int_equal(items[2].node->kind, HAC_NODE_STAR);
    assert_string_equal(items[3].name, "x y");
    assert_string_equal(items[4].name, "count");
    assert_int_equal(hac_parse_items(&parser, &source, HAC_ITEM_NAMES | HAC_ITEM_STAR, 4, items, &n),
                     HAC_INVALID);
    assert_string_equal(err.message, "--select: character 41: more than 4 items");
    source = (hac_expr_source){"--order-by", "a desc, b ASC, desc desc, c", NULL};
    assert_int_equal(hac_parse_items(&parser, &source, HAC_ITEM_DIRECTIONS, 5, items, &n), HAC_OK);
    assert_int_equal(n, 4);
    assert_true(items[0].descending && !items[1].descending && items[2].descending && !items[3].descending);
    hac_arena_clear(&arena);
}

static void test_item_errors(void **state)
{
    static const struct {
        unsigned flags;
        const char *text, *message;
    } cases[] = {
        {HAC_ITEM_NAMES, "a as", "--x: character 5: expected a name, but the text ends here"},
        {HAC_ITEM_NAMES, "a as 'b'", "--x: character 6: expected a name, found 'b'"},
        {HAC_ITEM_NAMES, "a as \"\"", "--x: character 6: a column's name has 1 to 127 bytes"},
        {HAC_ITEM_NAMES, "a b", "--x: character 3: expected an operator, 'as', ',' or the end, found 'b'"},
        {HAC_ITEM_NAMES, "*", "--x: character 1: expected a value, found '*'"},
        {HAC_ITEM_NAMES, "a,", "--x: character 3: expected a value, but the text ends here"},
        {HAC_ITEM_NAMES, ",a", "--x: character 1: expected a value, found ','"},
        {HAC_ITEM_DIRECTIONS, "a as b",
         "--x: character 3: expected 'asc', 'desc', 'nulls', ',' or the end, found 'as'"},
        {HAC_ITEM_DIRECTIONS, "a desc desc",
         "--x: character 8: expected 'asc', 'desc', 'nulls', ',' or the end, found 'desc'"},
        {HAC_ITEM_DIRECTIONS, "a nulls",
         "--x: character 8: expected 'first' or 'last', but the text ends here"},
        {HAC_ITEM_STAR, "* exclude (a,",
         "--x: character 14: expected the name of a column, but the text ends here"},
        {HAC_ITEM_STAR, "* replace (a)",
         "--x: character 13: expected 'as' and the name of a column, found ')'"},
        {HAC_ITEM_STAR, "* replace (1 as a",
         "--x: character 18: expected ',' or ')', but the text ends here"},
        {HAC_ITEM_STAR, "* rename ()", "--x: character 11: expected the name of a column, found ')'"},
        {HAC_ITEM_STAR, "* rename (1 as a)", "--x: character 11: expected the name of a column, found '1'"},
        {HAC_ITEM_STAR, "* rename (a b)", "--x: character 13: expected 'as' and the new name, found 'b'"},
        {HAC_ITEM_STAR, "* rename a as 'b'", "--x: character 15: expected a name, found 'b'"},
        {HAC_ITEM_STAR, "* rename (b as c, a + 1 as b)",
         "--x: character 19: rename: the name of a column stands before 'as'; replace (… as column) computes "
         "one"},
        {HAC_ITEM_STAR, "* rename a as b exclude c",
         "--x: character 17: expected an operator, ',' or the end, found 'exclude'"},
        {0, "a desc", "--x: character 3: expected an operator, ',' or the end, found 'desc'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hac_arena arena = {.limit = ARENA_BYTES};
        hac_error err = HAC_ERROR_NONE;
        hac_parser parser = {.arena = &arena, .err = &err};
        hac_expr_source source = {"--x", cases[i].text, NULL};
        hac_item items[4];
        size_t n = 0;
        assert_int_equal(hac_parse_items(&parser, &source, cases[i].flags, 4, items, &n), HAC_INVALID);
        assert_string_equal(err.message, cases[i].message);
        hac_arena_clear(&arena);
    }
}

/* Parsing fails cleanly whichever allocation fails. */
static void test_memory(void **state)
{
    (void)state;
    const char *text = "case when a between 1 and 2 then f('x', \"y\", cast(b as i64)) else - c end";
    bool enough = false;
    for (size_t limit = 0; !enough; limit += 64) {
        assert_true(limit < 64 * 1024);
        hac_arena arena = {.limit = limit};
        hac_error err = HAC_ERROR_NONE;
        hac_parser parser = {.arena = &arena, .err = &err};
        hac_expr_source source = {"", text, NULL};
        hac_node *node = NULL;
        hac_status status = hac_parse_expression(&parser, &source, &node);
        assert_true(status == HAC_OK || status == HAC_NO_MEMORY);
        enough = status == HAC_OK;
        hac_arena_clear(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trees),  cmocka_unit_test(test_errors), cmocka_unit_test(test_errors_of_calls),
        cmocka_unit_test(test_bombs),  cmocka_unit_test(test_items),  cmocka_unit_test(test_item_errors),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
