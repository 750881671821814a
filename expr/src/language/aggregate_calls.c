/* SPDX-License-Identifier: Apache-2.0 */
#include "aggregate_calls.h"

#include <string.h>

#include "functions.h"
#include "syntax/texts_call.h"

#define fail(checker, node, ...)                                                                             \
    ((checker)->parser->status =                                                                             \
         hac_expr_fail((node)->source, (node)->at, (checker)->parser->err, __VA_ARGS__),                     \
     (void *)NULL)

/* count(*), count(distinct x) */
bool hac_rewrite_count(hac_checker *c, hac_node *node)
{
    bool star = node->n_args == 1 && node->args[0]->kind == HAC_NODE_STAR;
    bool count = strcmp(node->name, "count") == 0;
    if (star && !count) {
        (void)fail(c, node, "only count takes *");
        return false;
    }
    if (star)
        node->n_args = 0;
    if (!node->distinct)
        return true;
    if (strcmp(node->name, "min") == 0 || strcmp(node->name, "max") == 0)
        return true; /* of distinct values it is the same */
    if (!count) {
        (void)fail(c, node, "only count, list and string_agg take distinct");
        return false;
    }
    node->name = "count_distinct";
    node->n_name = strlen(node->name);
    return true;
}

/* Takes the condition of `filter` out of the arguments; NULL if there is none. */
hac_node *hac_take_filter(hac_node *node)
{
    if (!node->filtered)
        return NULL;
    node->filtered = false;
    return node->args[--node->n_args];
}

/* `sum(x) filter (where a)` is sum(if(a, x, null)), as aggregates leave out nulls; `count()` counts the rows
 * for which a is true. Of several arguments, the last one that is not a constant decides about the row. */
bool hac_rewrite_filter(hac_checker *c, hac_node *node, const hac_function *row, hac_node *condition)
{
    hac_parser *p = c->parser;
    bool counts_rows = node->n_args == 0 && strcmp(node->name, "count") == 0;
    char second = node->n_args > 1 ? hac_function_letter(row, 1, node->n_args) : '\0';
    size_t decides = second >= 'A' && second <= 'Z' && hac_texts_name(node->name) == NULL;
    if (!hac_is_aggregate(row)) {
        (void)fail(c, node, "only aggregates take 'filter'");
        return false;
    }
    if (node->n_args == 0 && !counts_rows)
        return true; /* the arguments are wrong, which is reported later */
    if (counts_rows) {
        hac_node *yes = hac_node_new(p, HAC_NODE_LITERAL, node->source, node->at);
        if (yes == NULL)
            return false;
        yes->type.kind = HAC_KIND_BOOL;
        yes->literal.integer = true;
        node->args[node->n_args++] = yes;
    }
    hac_node *none = hac_node_null(p, node->source, node->at);
    node->args[decides] = hac_call(p, "if", condition->at, condition, node->args[decides], none);
    if (node->args[decides] == NULL)
        return false;
    node->args[decides]->source = condition->source;
    return true;
}

/* arg_min and arg_max leave out rows whose first argument is null: arg_min(a, if(a is null, null, b)). */
bool hac_rewrite_arg(hac_checker *c, hac_node *node)
{
    hac_parser *p = c->parser;
    bool arg = strcmp(node->name, "arg_min") == 0 || strcmp(node->name, "arg_max") == 0;
    if (!arg || node->n_args != 2)
        return true;
    hac_node *test = hac_call(p, "is null", node->at, node->args[0]);
    hac_node *none = hac_node_null(p, node->source, node->at);
    hac_node *second = hac_call(p, "if", node->at, test, none, node->args[1]);
    if (second == NULL)
        return false;
    test->source = second->source = node->source;
    node->args[1] = second;
    return true;
}
