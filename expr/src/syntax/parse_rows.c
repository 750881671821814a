/* SPDX-License-Identifier: Apache-2.0 */
#include "parse_rows.h"

#include "rewrites.h"

enum { VALUES_MAX = 64 };

typedef hac_node *parse_value(hac_parser *p);

typedef struct value_row {
    hac_node *values[VALUES_MAX];
    size_t n;
} value_row;

/* Parses the values of a row from its first comma or value on, up to its ')'. */
static bool parse_row(hac_parser *p, parse_value *parse, value_row *ret)
{
    while (p->status == HAC_OK) {
        if (ret->n > 0 && !hac_parser_is_symbol(p, ","))
            return hac_parser_expect_symbol(p, ")", "',' or ')' behind a value of the row");
        if (ret->n > 0 && !hac_parser_advance(p))
            return false;
        if (ret->n == VALUES_MAX)
            return hac_parser_fail(p, hac_parser_at(p), "a row has up to %d values", VALUES_MAX) != NULL;
        hac_node *value = parse(p);
        if (value == NULL)
            return false;
        ret->values[ret->n++] = value;
    }
    return false;
}

/* The rest of `left = (1, 2)`, from the '(' on. */
static hac_node *compared(hac_parser *p, const value_row *left, parse_value *parse)
{
    value_row right = {.n = 0};
    size_t at = hac_parser_at(p);
    if (!hac_parser_expect_symbol(p, "(", "'(' and as many values") || !parse_row(p, parse, &right))
        return NULL;
    if (right.n != left->n)
        return hac_parser_fail(p, at, "a row of %zu value%s beside one of %zu", right.n,
                               right.n == 1 ? "" : "s", left->n);
    hac_node *all = NULL;
    for (size_t i = 0; i < left->n; i++) {
        hac_node *equal = hac_rewrite_same(p, at, left->values[i], right.values[i]);
        all = i == 0 ? equal : hac_call(p, "and", at, all, equal);
    }
    return all;
}

/* Joins the conditions by `or`, as a tree that is not deep. */
static hac_node *joined(hac_parser *p, size_t at, hac_node *const *conditions, size_t n)
{
    if (n == 1)
        return conditions[0];
    hac_node *front = joined(p, at, conditions, n / 2);
    return hac_call(p, "or", at, front, joined(p, at, conditions + n / 2, n - n / 2));
}

/* The rest of `left in ((1, 2), (3, 4))`, from behind `in` on. */
static hac_node *in_rows(hac_parser *p, size_t at, const value_row *left, parse_value *parse)
{
    hac_node **conditions = hac_parser_memory(p, HAC_NODE_ARGS_MAX * sizeof *conditions);
    size_t n = 0;
    if (conditions == NULL || !hac_parser_expect_symbol(p, "(", "'(' and rows, as in ((1, 2), (3, 4))"))
        return NULL;
    do {
        if (n == HAC_NODE_ARGS_MAX)
            return hac_parser_fail(p, hac_parser_at(p), "more than %d rows", HAC_NODE_ARGS_MAX);
        if ((conditions[n++] = compared(p, left, parse)) == NULL)
            return NULL;
    } while (hac_parser_is_symbol(p, ",") && hac_parser_advance(p));
    return hac_parser_expect_symbol(p, ")", "',' or ')' behind a row") ? joined(p, at, conditions, n) : NULL;
}

hac_node *hac_parse_rows(hac_parser *p, size_t at, hac_node *first, parse_value *parse)
{
    value_row left = {.values = {first}, .n = 1};
    if (!parse_row(p, parse, &left))
        return NULL;
    bool negated = hac_parser_is_word(p, "not");
    if (negated && !hac_parser_advance(p))
        return NULL;
    bool in = hac_parser_is_word(p, "in"),
         differs = hac_parser_is_symbol(p, "<>") || hac_parser_is_symbol(p, "!="),
         equals = hac_parser_is_symbol(p, "=") || hac_parser_is_symbol(p, "==");
    if (!in && (negated || (!equals && !differs)))
        return hac_parser_unexpected(p, "'in', '=' or '<>' behind a row of values");
    if (!hac_parser_advance(p))
        return NULL;
    hac_node *condition = in ? in_rows(p, at, &left, parse) : compared(p, &left, parse);
    return negated || differs ? hac_call(p, "not", at, condition) : condition;
}
