/* SPDX-License-Identifier: Apache-2.0 */
#include "parser.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "expr/aggregate.h"
#include "other_names.h"
#include "parse_literals.h"
#include "parse_rows.h"
#include "rewrites.h"
#include "texts_call.h"

#define DEPTH_MAX 128

enum { FILTER_LEVELS = 2 }; /* of a call: if and the condition */
enum { OR = 1, AND, NOT, COMPARISON, CONCAT, SUM, PRODUCT, POWER, UNARY };

static hac_node *parse(hac_parser *p, unsigned level);

/* ---- names, calls, casts, case ---- */

static hac_node *column(hac_parser *p)
{
    size_t at = hac_parser_at(p);
    hac_node *node = hac_node_here(p, HAC_NODE_COLUMN, at);
    bool quoted = p->token.kind == HAC_TOKEN_QUOTED;
    if (node != NULL)
        node->quoted = quoted;
    if (node == NULL || (node->name = hac_parser_take_name(p, false, &node->n_name)) == NULL)
        return NULL;
    if (node->n_name == 0) /* a header may have an empty name, but no text can refer to it */
        return hac_parser_fail(p, at, "a column's name has 1 to %d bytes", HAC_FIELD_NAME_MAX - 1);
    return node;
}

/* The arguments of a call, from behind its opening parenthesis on. `first`, if not NULL, goes before them. */
static hac_node *arguments(hac_parser *p, const char *name, size_t at, hac_node *first)
{
    hac_node *args[64], **list = args;
    size_t n = 0, capacity = sizeof args / sizeof *args;
    if (first != NULL)
        list[n++] = first;
    if (!hac_parser_is_symbol(p, ")")) {
        do {
            if (n == capacity) {
                hac_node **more =
                    capacity < HAC_NODE_ARGS_MAX ? hac_parser_memory(p, capacity * 2 * sizeof *more) : NULL;
                if (more == NULL)
                    return p->status != HAC_OK
                               ? NULL
                               : hac_parser_fail(p, hac_parser_at(p), "a list of over %d values",
                                                 HAC_NODE_ARGS_MAX);
                memcpy(more, list, n * sizeof *more);
                list = more;
                capacity *= 2;
            }
            if ((list[n++] = parse(p, OR)) == NULL)
                return NULL;
        } while (hac_parser_is_symbol(p, ",") && hac_parser_advance(p));
    }
    if (p->status != HAC_OK || !hac_parser_expect_symbol(p, ")", "',' or ')'"))
        return NULL;
    return hac_node_call(p, name, at, n, list);
}

/* Appends the next token, in lower case; false: it does not fit. */
static bool take_type_token(hac_parser *p, char *text, size_t size, size_t *used)
{
    if (*used + p->token.bytes >= size)
        return false;
    for (size_t i = 0; i < p->token.bytes; i++) {
        char c = p->token.text[i];
        text[(*used)++] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
    }
    return hac_parser_advance(p);
}

/* A type: a name, and what stands in parentheses behind it. */
static bool cast_type(hac_parser *p, hac_value_type *ret)
{
    char text[32] = "";
    size_t used = 0, at = hac_parser_at(p);
    if (p->token.kind != HAC_TOKEN_NAME) {
        hac_parser_unexpected(p, "a type");
        return false;
    }
    bool fits = take_type_token(p, text, sizeof text, &used);
    if (fits && hac_parser_is_word(p, "precision") && strcmp(text, "double") == 0) /* two words, one type */
        fits = hac_parser_advance(p);
    if (fits && hac_parser_is_word(p, "with") && strcmp(text, "timestamp") == 0) {
        fits = hac_parser_advance(p) && hac_parser_expect_word(p, "time", "'time zone'") &&
               hac_parser_expect_word(p, "zone", "'zone'");
        used += (size_t)snprintf(text + used, sizeof text - used, "tz");
    }
    if (fits && hac_parser_is_symbol(p, "(")) {
        while (fits && p->token.kind != HAC_TOKEN_END && !hac_parser_is_symbol(p, ")"))
            fits = take_type_token(p, text, sizeof text, &used);
        fits = fits && take_type_token(p, text, sizeof text, &used);
    }
    if (!fits && p->status != HAC_OK)
        return false;
    hac_error why = HAC_ERROR_NONE;
    if (hac_value_type_parse(text, used, ret, &why) != HAC_OK) {
        (void)hac_parser_fail(p, at, "%s", why.message);
        return false;
    }
    return true;
}

/* The cast of a value to the type that stands here. */
static hac_node *cast_node(hac_parser *p, size_t at, bool try_cast, hac_node *value)
{
    hac_value_type type = {0};
    if (value == NULL || !cast_type(p, &type))
        return NULL;
    hac_node *node = hac_call(p, try_cast ? "try_cast" : "cast", at, value);
    if (node == NULL)
        return NULL;
    node->kind = HAC_NODE_CAST;
    node->type = type;
    node->try_cast = try_cast;
    return node;
}

static hac_node *cast(hac_parser *p, size_t at, bool try_cast)
{
    hac_node *value = parse(p, OR);
    if (value == NULL || !hac_parser_expect_word(p, "as", "'as' and a type"))
        return NULL;
    hac_node *node = cast_node(p, at, try_cast, value);
    return node != NULL && hac_parser_expect_symbol(p, ")", "')' behind the type") ? node : NULL;
}

/* From `at` on. */
static hac_node *at_time_zone(hac_parser *p, size_t at, hac_node *value)
{
    if (!hac_parser_advance(p) || !hac_parser_expect_word(p, "time", "'time'") ||
        !hac_parser_expect_word(p, "zone", "'zone'"))
        return NULL;
    hac_node *zone = p->token.kind == HAC_TOKEN_STRING
                         ? hac_parse_string(p)
                         : hac_parser_unexpected(p, "a zone such as 'Europe/Berlin'");
    return zone != NULL ? hac_call(p, "at time zone", at, value, zone) : NULL;
}

/* value[index], value[from:to], where `from` and `to` may be missing */
static hac_node *subscript(hac_parser *p, size_t at, hac_node *value)
{
    if (!hac_parser_advance(p))
        return NULL;
    hac_node *from = hac_parser_is_symbol(p, ":") ? hac_whole_number(p, at, 1) : parse(p, OR), *to = NULL;
    bool slice = from != NULL && hac_parser_is_symbol(p, ":");
    if (slice && hac_parser_advance(p))
        to = hac_parser_is_symbol(p, "]") ? hac_whole_number(p, at, -1) : parse(p, OR);
    if (from == NULL || (slice && to == NULL) ||
        !hac_parser_expect_symbol(p, "]", "']' behind an element's number, as in x[1] or x[1:3]"))
        return NULL;
    return slice ? hac_call(p, "[:]", at, value, from, to) : hac_call(p, "[]", at, value, from);
}

/* value::type, value[index], value at time zone 'name', any number of times */
static hac_node *postfixes(hac_parser *p, hac_node *value)
{
    while (value != NULL) {
        size_t at = hac_parser_at(p);
        hac_token next = hac_parser_peek(p);
        if (hac_parser_is_symbol(p, "::"))
            value = hac_parser_advance(p) ? cast_node(p, at, false, value) : NULL;
        else if (hac_parser_is_symbol(p, "["))
            value = subscript(p, at, value);
        else if (hac_parser_is_word(p, "at") && hac_token_is_word(&next, "time"))
            value = at_time_zone(p, at, value);
        else
            break;
    }
    return value;
}

/* `count(distinct x)`. A column may be named distinct. */
static bool take_distinct(hac_parser *p)
{
    if (!hac_parser_is_word(p, "distinct"))
        return false;
    hac_token next = hac_parser_peek(p);
    bool starts = next.kind == HAC_TOKEN_QUOTED || next.kind == HAC_TOKEN_STRING ||
                  next.kind == HAC_TOKEN_NUMBER || next.kind == HAC_TOKEN_NAME ||
                  hac_token_is_symbol(&next, "(");
    static const char *const infix[] = {"and", "or", "is", "in", "like", "ilike", "between", "not", "as"};
    for (size_t i = 0; i < sizeof infix / sizeof *infix; i++)
        starts &= !hac_token_is_word(&next, infix[i]);
    return starts && hac_parser_advance(p);
}

/* A call that was just made has space for the condition. */
static void put_condition(hac_node *call, hac_node *condition)
{
    call->args[call->n_args++] = condition;
    call->filtered = true;
    if (call->depth < condition->depth + FILTER_LEVELS)
        call->depth = (uint16_t)(condition->depth + FILTER_LEVELS);
}

/* `filter (where condition)` behind a call that was just made. A column may be named filter. */
static hac_node *filtered(hac_parser *p, hac_node *node)
{
    hac_token next = hac_parser_peek(p);
    if (node == NULL || !hac_parser_is_word(p, "filter") || !hac_token_is_symbol(&next, "("))
        return node;
    if (!hac_parser_advance(p) || !hac_parser_expect_symbol(p, "(", "'('") ||
        !hac_parser_expect_word(p, "where", "'where' and a condition"))
        return NULL;
    hac_node *condition = parse(p, OR);
    if (condition == NULL || !hac_parser_expect_symbol(p, ")", "')' behind the condition"))
        return NULL;
    put_condition(node, condition);
    return node->depth > HAC_NODE_DEPTH_MAX ? hac_parser_too_deep(p, node->at) : node;
}

/* ---- aggregates with an order ---- */

/* asc, desc: whether it is desc. */
static bool take_direction(hac_parser *p)
{
    bool descending = hac_parser_is_word(p, "desc");
    if (descending || hac_parser_is_word(p, "asc"))
        (void)hac_parser_advance(p);
    return descending;
}

/* `within group (order by x)` behind percentile_cont(share) and mode(). A column may be named within. */
static hac_node *within_group(hac_parser *p, hac_node *node)
{
    hac_token next = hac_parser_peek(p);
    size_t at = hac_parser_at(p);
    if (node == NULL || !hac_parser_is_word(p, "within") || !hac_token_is_word(&next, "group"))
        return node;
    if (!hac_parser_advance(p) || !hac_parser_expect_word(p, "group", "'group'") ||
        !hac_parser_expect_symbol(p, "(", "'('") ||
        !hac_parser_expect_word(p, "order", "'order by' and a value") ||
        !hac_parser_expect_word(p, "by", "'by' and a value"))
        return NULL;
    hac_node *value = parse(p, OR);
    if (value == NULL)
        return NULL;
    bool descending = take_direction(p);
    if (p->status != HAC_OK || !hac_parser_expect_symbol(p, ")", "')' behind one value"))
        return NULL;
    return hac_rewrite_within_group(p, at, node, value, descending);
}

/* order by value [asc | desc] [nulls first | nulls last], from the word order on. */
static hac_node *ordered_by(hac_parser *p, unsigned *flags)
{
    if (!hac_parser_advance(p) || !hac_parser_expect_word(p, "by", "'by' and a value"))
        return NULL;
    hac_node *key = parse(p, OR);
    if (key == NULL)
        return NULL;
    *flags |= take_direction(p) ? HAC_TEXTS_DESCENDING : 0;
    if (p->status != HAC_OK || !hac_parser_is_word(p, "nulls"))
        return p->status == HAC_OK ? key : NULL;
    bool first = hac_parser_advance(p) && hac_parser_is_word(p, "first");
    *flags |= first ? HAC_TEXTS_NULLS_FIRST : 0;
    if (first)
        return hac_parser_advance(p) ? key : NULL;
    return hac_parser_expect_word(p, "last", "'first' or 'last'") ? key : NULL;
}

/* Behind the parenthesis of string_agg([distinct] a, 'separator' [order by b]) and list([distinct] a
 * [order by b]). */
static hac_node *texts(hac_parser *p, const char *name, size_t at)
{
    unsigned flags = take_distinct(p) ? HAC_TEXTS_DISTINCT : 0;
    hac_node *value = parse(p, OR), *separator = NULL, *key = NULL;
    if (value == NULL)
        return NULL;
    if (strcmp(name, "string_agg") == 0 && hac_parser_is_symbol(p, ",")) {
        if (!hac_parser_advance(p))
            return NULL;
        separator = p->token.kind == HAC_TOKEN_STRING
                        ? hac_parse_string(p)
                        : hac_parser_unexpected(p, "a separator in single quotes");
        if (separator == NULL)
            return NULL;
        if (separator->literal.n_bytes >= HAC_AGGREGATE_K_MAX)
            return hac_parser_fail(p, separator->at, "a separator has up to %d bytes",
                                   HAC_AGGREGATE_K_MAX - 1);
    }
    if (hac_parser_is_word(p, "order") && (key = ordered_by(p, &flags)) == NULL)
        return NULL;
    if (!hac_parser_expect_symbol(p, ")", "'order by' or ')'; one value orders"))
        return NULL;
    return hac_texts_call(p, name, at, value, separator, flags, key);
}

/* ---- functions that are other names of an expression ---- */

/* Fails if a call that is no aggregate has distinct or filter. */
static bool is_plain(hac_parser *p, const hac_node *call)
{
    if (call->filtered)
        (void)hac_parser_fail(p, call->at, "only aggregates take 'filter'");
    else if (call->distinct)
        (void)hac_parser_fail(p, call->at, "only count, list and string_agg take distinct");
    return !call->filtered && !call->distinct;
}

/* The expression, in which a, b and c stand for the arguments of `given`. `aggregate` is the name of the
 * aggregate in the expression, which takes distinct and filter; NULL: there is none. */
static hac_node *written_out(hac_parser *p, const char *expression, const char *aggregate,
                             const hac_node *given)
{
    hac_expr_source source = {p->source->option, expression, p->source->character};
    hac_parser inner = *p;
    if (aggregate == NULL && !is_plain(p, given))
        return NULL;
    hac_node *node = hac_parser_begin(&inner, &source) ? parse(&inner, OR) : NULL;
    p->nodes = inner.nodes;
    p->status = inner.status;
    if (node == NULL) /* the only fault of our own text is its length; without memory there is no place */
        return inner.status == HAC_INVALID ? hac_parser_too_long(p, p->source, given->at) : NULL;
    hac_node *called = aggregate != NULL ? hac_find_call(node, aggregate) : NULL;
    if (called != NULL)
        called->distinct |= given->distinct;
    if (called != NULL && given->filtered)
        put_condition(called, given->args[given->n_args - 1]);
    node = hac_put_arguments(node, &source, given);
    return node->depth > HAC_NODE_DEPTH_MAX ? hac_parser_too_deep(p, given->at) : node;
}

/* A part of a time; `unit` is at the offset `at`. */
static hac_node *unit_of(hac_parser *p, size_t at, const char *unit, size_t bytes, const hac_node *given)
{
    const char *expression = hac_extracted_unit(unit, bytes);
    if (expression == NULL)
        return hac_parser_fail(
            p, at,
            "there is no part '%.*s' of a time; there are year, quarter, month, week, day, "
            "hour, minute, second, dow, isodow, doy, isoyear, epoch",
            (int)(bytes < 32 ? bytes : 32), unit);
    return written_out(p, expression, NULL, given);
}

/* date_part('year', a) */
static hac_node *date_part(hac_parser *p, hac_node *node)
{
    if (node->n_args != 2 || !hac_node_is_text(node->args[0]))
        return hac_parser_fail(p, node->at, "write date_part('year', a), or year(a)");
    const hac_literal *unit = &node->args[0]->literal;
    hac_node *given = hac_call(p, "date_part", node->at, node->args[1]);
    return given != NULL ? unit_of(p, node->args[0]->at, unit->bytes, unit->n_bytes, given) : NULL;
}

/* What stands for the call, which may have distinct and filter. */
static hac_node *other_name(hac_parser *p, hac_node *node)
{
    size_t n = node->n_args - node->filtered;
    if (hac_rewrite_json_number(p, node) == NULL)
        return NULL;
    const hac_other_name *other = hac_other_name_find(node->name, n);
    if (other != NULL)
        return written_out(p, other->expression, other->aggregate, node);
    bool part = strcmp(node->name, "date_part") == 0 || strcmp(node->name, "datepart") == 0;
    bool joined = strcmp(node->name, "concat_ws") == 0;
    bool trim = n == 2 && (strcmp(node->name, "trim") == 0 || strcmp(node->name, "ltrim") == 0 ||
                           strcmp(node->name, "rtrim") == 0);
    if (n == 2 && strcmp(node->name, "strftime") == 0 && hac_node_is_text(node->args[0]) &&
        !hac_node_is_text(node->args[1])) { /* strftime('%Y', t), as SQLite has it */
        hac_node *format = node->args[0];
        node->args[0] = node->args[1];
        node->args[1] = format;
    }
    if (!part && !joined && !trim)
        return node;
    if (!is_plain(p, node))
        return NULL;
    return part     ? date_part(p, node)
           : joined ? hac_rewrite_concat_ws(p, node->at, node->args, n)
                    : hac_rewrite_trim(p, node->at, node->name, node->args[0], node->args[1]);
}

/* ---- calls with words between their arguments: the part behind the parenthesis ---- */

/* extract(year from a) */
static hac_node *extract(hac_parser *p, size_t at)
{
    size_t place = hac_parser_at(p), bytes = 0;
    const char *unit = NULL;
    if (p->token.kind == HAC_TOKEN_STRING) {
        hac_node *text = hac_parse_string(p);
        unit = text != NULL ? text->literal.bytes : NULL;
        bytes = text != NULL ? text->literal.n_bytes : 0;
    } else if (p->token.kind == HAC_TOKEN_NAME) {
        unit = hac_parser_take_name(p, true, &bytes);
    } else {
        return hac_parser_unexpected(p, "a part of a time, as in extract(year from a)");
    }
    if (unit == NULL || !hac_parser_expect_word(p, "from", "'from', as in extract(year from a)"))
        return NULL;
    hac_node *value = parse(p, OR);
    hac_node *given =
        value != NULL && hac_parser_expect_symbol(p, ")", "')'") ? hac_call(p, "extract", at, value) : NULL;
    return given != NULL ? unit_of(p, place, unit, bytes, given) : NULL;
}

/* substring(a from 2 for 3), in which one of the two may be missing; `a` has been read. */
static hac_node *substring(hac_parser *p, size_t at, hac_node *a)
{
    hac_node *from = hac_parser_is_word(p, "from") ? hac_parser_advance(p) ? parse(p, OR) : NULL
                                                   : hac_whole_number(p, at, 1);
    if (from == NULL)
        return NULL;
    hac_node *count = NULL;
    if (hac_parser_is_word(p, "for") && (!hac_parser_advance(p) || (count = parse(p, OR)) == NULL))
        return NULL;
    if (!hac_parser_expect_symbol(p, ")", "'for' or ')'"))
        return NULL;
    return count != NULL ? hac_call(p, "substr", at, a, from, count) : hac_call(p, "substr", at, a, from);
}

/* trim([both | leading | trailing] ['characters'] from a), from its first word on. */
static hac_node *trim_from(hac_parser *p, size_t at)
{
    const char *name = hac_parser_is_word(p, "leading")    ? "ltrim"
                       : hac_parser_is_word(p, "trailing") ? "rtrim"
                                                           : "trim";
    bool word = name[0] != 't' || hac_parser_is_word(p, "both");
    if (word && !hac_parser_advance(p))
        return NULL;
    hac_node *characters = NULL;
    if (p->token.kind == HAC_TOKEN_STRING && (characters = hac_parse_string(p)) == NULL)
        return NULL;
    if (!hac_parser_expect_word(p, "from", "the characters, or 'from' and a text"))
        return NULL;
    hac_node *a = parse(p, OR);
    if (a == NULL || !hac_parser_expect_symbol(p, ")", "')'"))
        return NULL;
    return characters != NULL ? hac_rewrite_trim(p, at, name, a, characters) : hac_call(p, name, at, a);
}

/* Whether what stands behind `trim(` is not its first argument. */
static bool is_trim_from(const hac_parser *p)
{
    hac_token next = hac_parser_peek(p);
    bool string = p->token.kind == HAC_TOKEN_STRING && hac_token_is_word(&next, "from");
    bool word = hac_parser_is_word(p, "both") || hac_parser_is_word(p, "leading") ||
                hac_parser_is_word(p, "trailing");
    return string || (word && (next.kind == HAC_TOKEN_STRING || hac_token_is_word(&next, "from")));
}

/* columns('pattern'), columns(*) */
static hac_node *columns(hac_parser *p, size_t at)
{
    hac_node *node = hac_node_here(p, HAC_NODE_COLUMNS, at);
    hac_node *pattern = p->token.kind == HAC_TOKEN_STRING ? hac_parse_string(p) : NULL;
    if (node == NULL || p->status != HAC_OK)
        return NULL;
    if (pattern != NULL) {
        node->name = pattern->literal.bytes;
        node->n_name = pattern->literal.n_bytes;
    } else if (!hac_parser_expect_symbol(p, "*", "a regular expression in single quotes, or *")) {
        return NULL;
    }
    return hac_parser_expect_symbol(p, ")", "')'") ? node : NULL;
}

/* The calls whose arguments are separated by words. False: the arguments are separated by commas; *ret_first
 * is the first of them if it has been read already. */
static bool special_call(hac_parser *p, const char *name, size_t at, hac_node **ret, hac_node **ret_first)
{
    if (strcmp(name, "cast") == 0 || strcmp(name, "try_cast") == 0)
        *ret = cast(p, at, name[0] == 't');
    else if (strcmp(name, "extract") == 0)
        *ret = extract(p, at);
    else if (strcmp(name, "columns") == 0)
        *ret = columns(p, at);
    else if (strcmp(name, "trim") == 0 && is_trim_from(p))
        *ret = trim_from(p, at);
    else if (strcmp(name, "position") == 0 && !hac_parser_is_symbol(p, ")")) {
        hac_node *part = *ret_first = parse(p, CONCAT);
        *ret = NULL;
        if (part == NULL || !hac_parser_is_word(p, "in"))
            return part == NULL;
        hac_node *a = hac_parser_advance(p) ? parse(p, OR) : NULL;
        *ret = a != NULL && hac_parser_expect_symbol(p, ")", "')'") ? hac_call(p, name, at, a, part) : NULL;
    } else if ((strcmp(name, "substring") == 0 || strcmp(name, "substr") == 0) &&
               !hac_parser_is_symbol(p, ")")) {
        hac_node *a = *ret_first = parse(p, OR);
        *ret = NULL;
        if (a == NULL || !(hac_parser_is_word(p, "from") || hac_parser_is_word(p, "for")))
            return a == NULL;
        *ret = substring(p, at, a);
    } else {
        return false;
    }
    return true;
}

/* Takes the comma behind a first argument that has been read; ')' stays. */
static bool take_comma(hac_parser *p)
{
    if (hac_parser_is_symbol(p, ")"))
        return true;
    if (!hac_parser_expect_symbol(p, ",", "',' or ')'"))
        return false;
    return !hac_parser_is_symbol(p, ")") || hac_parser_unexpected(p, "a value") != NULL;
}

static hac_node *function_call(hac_parser *p)
{
    size_t at = hac_parser_at(p), bytes = 0;
    const char *name = hac_parser_take_name(p, true, &bytes);
    hac_node *node = NULL, *first = NULL;
    if (name == NULL || !hac_parser_advance(p))
        return NULL;
    if (special_call(p, name, at, &node, &first))
        return node;
    if (hac_texts_name(name) != NULL)
        return filtered(p, texts(p, hac_texts_name(name), at));
    if (hac_parser_is_symbol(p, "*")) {
        hac_node *star = hac_node_here(p, HAC_NODE_STAR, hac_parser_at(p));
        if (star == NULL || !hac_parser_advance(p) || !hac_parser_expect_symbol(p, ")", "')'"))
            return NULL;
        return filtered(p, hac_call(p, name, at, star));
    }
    bool distinct = first == NULL && take_distinct(p);
    if (first != NULL && !take_comma(p))
        return NULL;
    node = arguments(p, name, at, first);
    if (node == NULL)
        return NULL;
    node->distinct = distinct;
    node = filtered(p, within_group(p, node));
    return node != NULL ? other_name(p, node) : NULL;
}

/* The rest of `case [operand] when … then … [else …] end`, as nested ifs. */
static hac_node *case_branches(hac_parser *p, hac_node *operand, unsigned branches)
{
    size_t at = hac_parser_at(p);
    if (hac_parser_is_word(p, "when")) {
        if (branches == DEPTH_MAX)
            return hac_parser_fail(p, at, "a case of over %d branches", DEPTH_MAX);
        hac_node *condition = hac_parser_advance(p) ? parse(p, OR) : NULL;
        if (condition != NULL && operand != NULL)
            condition = hac_call(p, "=", condition->at, operand, condition);
        if (condition == NULL || !hac_parser_expect_word(p, "then", "'then'"))
            return NULL;
        hac_node *value = parse(p, OR);
        hac_node *rest = value != NULL ? case_branches(p, operand, branches + 1) : NULL;
        return rest != NULL ? hac_call(p, "if", value->at, condition, value, rest) : NULL;
    }
    if (branches == 0)
        return hac_parser_unexpected(p, "'when'");
    hac_node *last = NULL;
    if (hac_parser_is_word(p, "else"))
        last = hac_parser_advance(p) ? parse(p, OR) : NULL;
    else
        last = hac_parse_null(p, at);
    if (last == NULL || !hac_parser_expect_word(p, "end", "'when', 'else' or 'end' of the case"))
        return NULL;
    return last;
}

static hac_node *case_of(hac_parser *p)
{
    if (!hac_parser_advance(p))
        return NULL;
    hac_node *operand = hac_parser_is_word(p, "when") ? NULL : parse(p, OR);
    return p->status == HAC_OK ? case_branches(p, operand, 0) : NULL;
}

/* ---- operators ---- */

static hac_node *not_node(hac_parser *p, size_t at, bool negated, hac_node *node)
{
    return negated && node != NULL ? hac_call(p, "not", at, node) : node;
}

/* isnull, notnull */
static hac_node *null_test(hac_parser *p, size_t at, hac_node *left)
{
    bool negated = hac_parser_is_word(p, "notnull");
    return hac_parser_advance(p) ? not_node(p, at, negated, hac_call(p, "is null", at, left)) : NULL;
}

/* is [not] null, true, false, unknown, distinct from b */
static hac_node *is_test(hac_parser *p, size_t at, hac_node *left)
{
    if (!hac_parser_advance(p))
        return NULL;
    bool negated = hac_parser_is_word(p, "not");
    if (negated && !hac_parser_advance(p))
        return NULL;
    bool yes = hac_parser_is_word(p, "true");
    if (yes || hac_parser_is_word(p, "false"))
        return hac_parser_advance(p) ? not_node(p, at, negated, hac_rewrite_is(p, at, left, yes)) : NULL;
    if (hac_parser_is_word(p, "distinct")) {
        if (!hac_parser_advance(p) || !hac_parser_expect_word(p, "from", "'from' and a value"))
            return NULL;
        hac_node *right = parse(p, CONCAT);
        return right != NULL ? not_node(p, at, !negated, hac_rewrite_same(p, at, left, right)) : NULL;
    }
    if (!hac_parser_is_word(p, "unknown") && !hac_parser_is_word(p, "null"))
        return hac_parser_unexpected(p, negated ? "'null', 'true', 'false', 'unknown' or 'distinct from'"
                                                : "'null', 'true', 'false', 'unknown', 'distinct from', or "
                                                  "one of them behind 'not'");
    return hac_parser_advance(p) ? not_node(p, at, negated, hac_call(p, "is null", at, left)) : NULL;
}

static hac_node *between(hac_parser *p, size_t at, hac_node *left, bool negated)
{
    hac_node *low = hac_parser_advance(p) ? parse(p, CONCAT) : NULL;
    if (low == NULL || !hac_parser_expect_word(p, "and", "'and' and the upper bound of 'between'"))
        return NULL;
    hac_node *high = parse(p, CONCAT);
    if (high == NULL)
        return NULL;
    hac_node *above = hac_call(p, ">=", at, left, low), *below = hac_call(p, "<=", at, left, high);
    return not_node(p, at, negated, hac_call(p, "and", at, above, below));
}

static hac_node *in_list(hac_parser *p, size_t at, hac_node *left, bool negated)
{
    if (!hac_parser_advance(p) || !hac_parser_expect_symbol(p, "(", "'(' and a list"))
        return NULL;
    if (hac_parser_is_symbol(p, ")"))
        return hac_parser_unexpected(p, "a value");
    return not_node(p, at, negated, arguments(p, "in", at, left));
}

static hac_node *like(hac_parser *p, size_t at, hac_node *left, bool negated)
{
    hac_node *pattern = hac_parser_advance(p) ? parse(p, CONCAT) : NULL;
    if (pattern == NULL)
        return NULL;
    if (!hac_parser_is_word(p, "escape"))
        return not_node(p, at, negated, hac_call(p, "like", at, left, pattern));
    hac_node *escape = hac_parser_advance(p) ? parse(p, CONCAT) : NULL;
    return escape == NULL ? NULL : not_node(p, at, negated, hac_call(p, "like", at, left, pattern, escape));
}

/* `a ilike b` is lower(a) like b, with b in lower case. */
static hac_node *ilike(hac_parser *p, size_t at, hac_node *left, bool negated)
{
    hac_node *lower = hac_call(p, "lower", at, left);
    hac_node *node = lower != NULL ? like(p, at, lower, false) : NULL;
    for (size_t i = 1; node != NULL && i < node->n_args; i++)
        hac_rewrite_lower(p, node->args[i]);
    return not_node(p, at, negated, node);
}

static const struct {
    const char *symbol, *name;
    unsigned level;
} operators[] = {
    {"=", "=", COMPARISON},
    {"==", "=", COMPARISON},
    {"<>", "<>", COMPARISON},
    {"!=", "<>", COMPARISON},
    {"<", "<", COMPARISON},
    {"<=", "<=", COMPARISON},
    {">", ">", COMPARISON},
    {">=", ">=", COMPARISON},
    {"||", "||", CONCAT},
    {"&", "&", CONCAT},
    {"|", "|", CONCAT},
    {"<<", "<<", CONCAT},
    {">>", ">>", CONCAT},
    {"+", "+", SUM},
    {"-", "-", SUM},
    {"*", "*", PRODUCT},
    {"/", "/", PRODUCT},
    {"//", "//", PRODUCT},
    {"%", "%", PRODUCT},
    {"^", "pow", POWER},
    {"**", "pow", POWER},
    {"or", "or", OR},
    {"and", "and", AND},
    {"->", "json_extract", CONCAT},
    {"->>", "json_extract_string", CONCAT},
};

const char *hac_operator_symbol(size_t index, unsigned *ret_level)
{
    if (index >= sizeof operators / sizeof *operators)
        return NULL;
    *ret_level = operators[index].level;
    return operators[index].symbol;
}

/* Comparisons that are words. False: the next token is something else. */
static bool word_operator(hac_parser *p, hac_node **left)
{
    size_t at = hac_parser_at(p);
    bool negated = hac_parser_is_word(p, "not");
    hac_token word = negated ? hac_parser_peek(p) : p->token;
    hac_node *(*make)(hac_parser *, size_t, hac_node *, bool) = NULL;
    if (hac_token_is_word(&word, "between"))
        make = between;
    else if (hac_token_is_word(&word, "in"))
        make = in_list;
    else if (hac_token_is_word(&word, "like"))
        make = like;
    else if (hac_token_is_word(&word, "ilike"))
        make = ilike;
    if (make != NULL)
        *left = negated && !hac_parser_advance(p) ? NULL : make(p, at, *left, negated);
    else if (hac_parser_is_word(p, "is"))
        *left = is_test(p, at, *left);
    else if (hac_parser_is_word(p, "isnull") || hac_parser_is_word(p, "notnull"))
        *left = null_test(p, at, *left);
    else
        return false;
    return true;
}

/* A call with the months and the microseconds of the interval at `place`. */
static hac_node *add_interval(hac_parser *p, size_t at, hac_node *value, size_t place,
                              const hac_interval *interval)
{
    return hac_call(p, "+ interval", at, value, hac_whole_number(p, place, interval->months),
                    hac_whole_number(p, place, interval->microseconds));
}

/* `left + interval …`, from the word interval on. */
static hac_node *plus_interval(hac_parser *p, size_t at, hac_node *left, bool minus)
{
    hac_interval interval = {0};
    size_t place = hac_parser_at(p);
    if (!hac_parse_interval(p, &interval))
        return NULL;
    if (minus && (__builtin_sub_overflow(0, interval.months, &interval.months) ||
                  __builtin_sub_overflow(0, interval.microseconds, &interval.microseconds)))
        return hac_parser_fail(p, place, "the interval is too large");
    return add_interval(p, at, left, place, &interval);
}

/* `interval … + interval … + right`, from the word interval on. The intervals are added first. */
static hac_node *interval_plus(hac_parser *p)
{
    hac_interval interval = {0};
    size_t place = hac_parser_at(p), at;
    do {
        if (!hac_parse_interval(p, &interval))
            return NULL;
        at = hac_parser_at(p);
        if (!hac_parser_is_symbol(p, "+"))
            return hac_parser_fail(p, place,
                                   "an interval stands before the + or behind the + or - of a date or a "
                                   "timestamp");
        if (!hac_parser_advance(p))
            return NULL;
    } while (hac_parser_is_interval(p));
    hac_node *right = parse(p, PRODUCT);
    return right != NULL ? add_interval(p, at, right, place, &interval) : NULL;
}

static bool infix_operator(hac_parser *p, unsigned level, hac_node **left)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (operators[i].level < level ||
            !(hac_parser_is_symbol(p, operators[i].symbol) || hac_parser_is_word(p, operators[i].symbol)))
            continue;
        size_t at = hac_parser_at(p);
        bool sum = operators[i].level == SUM, minus = hac_parser_is_symbol(p, "-");
        if (hac_parser_advance(p) && sum && hac_parser_is_interval(p)) {
            *left = plus_interval(p, at, *left, minus);
            return true;
        }
        hac_node *right = p->status == HAC_OK ? parse(p, operators[i].level + 1) : NULL;
        *left = right != NULL ? hac_call(p, operators[i].name, at, *left, right) : NULL;
        *left = hac_rewrite_json_number(p, *left);
        return true;
    }
    return false;
}

static hac_node *parenthesis(hac_parser *p)
{
    size_t at = hac_parser_at(p);
    hac_node *node = hac_parser_advance(p) ? parse(p, OR) : NULL;
    if (node != NULL && hac_parser_is_symbol(p, ","))
        return hac_parse_rows(p, at, node, hac_parse_value);
    return node != NULL && hac_parser_expect_symbol(p, ")", "')'") ? node : NULL;
}

static hac_node *named(hac_parser *p)
{
    hac_token next = hac_parser_peek(p);
    if (next.kind == HAC_TOKEN_STRING && hac_parser_is_word(p, "date"))
        return hac_parse_time(p, HAC_KIND_DATE);
    if (next.kind == HAC_TOKEN_STRING && hac_parser_is_word(p, "timestamp"))
        return hac_parse_time(p, HAC_KIND_TIMESTAMP);
    if (next.kind == HAC_TOKEN_STRING && hac_parser_is_word(p, "timestamptz")) {
        hac_node *instant = hac_parse_time(p, HAC_KIND_TIMESTAMP);
        if (instant != NULL)
            instant->type = HAC_TIMESTAMPTZ;
        return instant;
    }
    if (next.kind == HAC_TOKEN_STRING && hac_parser_is_word(p, "x"))
        return hac_parse_hex_text(p);
    if (hac_parser_is_interval(p))
        return interval_plus(p);
    if (hac_parser_is_word(p, "true") || hac_parser_is_word(p, "false"))
        return hac_parse_bool_word(p, hac_parser_is_word(p, "true"));
    if (hac_parser_is_word(p, "null")) {
        hac_node *node = hac_parse_null(p, hac_parser_at(p));
        return hac_parser_advance(p) ? node : NULL;
    }
    if (hac_parser_is_word(p, "case"))
        return case_of(p);
    if (hac_parser_is_reserved(p)) {
        if (next.kind == HAC_TOKEN_END || hac_token_is_symbol(&next, ")"))
            return hac_parser_unexpected(p, "a value");
        return hac_parser_fail(p, hac_parser_at(p),
                               "expected a value, found the word '%.*s'; a column of that name goes in "
                               "double quotes",
                               (int)p->token.bytes, p->token.text);
    }
    return hac_token_is_symbol(&next, "(") ? function_call(p) : column(p);
}

static hac_node *operand(hac_parser *p, size_t at)
{
    switch (p->token.kind) {
    case HAC_TOKEN_NUMBER:
        return hac_parse_number(p, false, at);
    case HAC_TOKEN_STRING:
        return hac_parse_string(p);
    case HAC_TOKEN_QUOTED:
        return column(p);
    case HAC_TOKEN_NAME:
        return named(p);
    default:
        return hac_parser_is_symbol(p, "(") ? parenthesis(p) : hac_parser_unexpected(p, "a value");
    }
}

static hac_node *prefix(hac_parser *p)
{
    size_t at = hac_parser_at(p);
    if (hac_parser_is_word(p, "not")) {
        hac_node *node = hac_parser_advance(p) ? parse(p, COMPARISON) : NULL;
        return not_node(p, at, true, node);
    }
    if (hac_parser_is_symbol(p, "-") || hac_parser_is_symbol(p, "+")) {
        bool negative = hac_parser_is_symbol(p, "-");
        if (!hac_parser_advance(p))
            return NULL;
        if (p->token.kind == HAC_TOKEN_NUMBER)
            return postfixes(p, hac_parse_number(p, negative, at));
        hac_node *node = parse(p, UNARY);
        return node != NULL ? hac_call(p, negative ? "negate" : "plus", at, node) : NULL;
    }
    return postfixes(p, operand(p, at));
}

static hac_node *parse(hac_parser *p, unsigned level)
{
    if (++p->depth > DEPTH_MAX)
        return hac_parser_fail(p, hac_parser_at(p), "nested too deeply (over %d levels)", DEPTH_MAX);
    hac_node *left = prefix(p);
    while (left != NULL &&
           ((level <= COMPARISON && word_operator(p, &left)) || infix_operator(p, level, &left)))
        ;
    p->depth--;
    return p->status == HAC_OK ? left : NULL;
}

/* ---- whole texts ---- */

hac_node *hac_parse_value(hac_parser *p)
{
    return parse(p, OR);
}

hac_status hac_parse_expression(hac_parser *p, const hac_expr_source *source, hac_node **ret)
{
    hac_node *node = hac_parser_begin(p, source) ? parse(p, OR) : NULL;
    if (node != NULL && p->token.kind != HAC_TOKEN_END)
        hac_parser_unexpected(p, "an operator or the end");
    if (p->status == HAC_OK)
        *ret = node;
    return p->status;
}
