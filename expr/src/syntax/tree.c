/* SPDX-License-Identifier: Apache-2.0 */
#include "tree.h"

#include <string.h>

bool hac_node_is_literal(const hac_node *node)
{
    return node->kind == HAC_NODE_LITERAL;
}

bool hac_node_is_text(const hac_node *node)
{
    return hac_node_is_literal(node) && node->type.kind == HAC_KIND_STRING && !node->literal.null;
}

static bool literal_equal(const hac_literal *a, const hac_literal *b)
{
    return a->null == b->null && a->integer == b->integer &&
           memcmp(&a->real, &b->real, sizeof a->real) == 0 && a->n_bytes == b->n_bytes &&
           (a->n_bytes == 0 || memcmp(a->bytes, b->bytes, a->n_bytes) == 0);
}

static hac_node *representative(hac_node *node)
{
    while (node->same != NULL)
        node = node->same;
    return node;
}

bool hac_node_equal(hac_node *a, hac_node *b)
{
    a = representative(a);
    b = representative(b);
    if (a == b)
        return true;
    if (a->hash != b->hash || a->kind != b->kind || a->column != b->column || a->function != b->function ||
        a->n_args != b->n_args || a->try_cast != b->try_cast || !hac_value_type_equal(a->type, b->type) ||
        !literal_equal(&a->literal, &b->literal))
        return false;
    for (size_t i = 0; i < a->n_args; i++)
        if (!hac_node_equal(a->args[i], b->args[i]))
            return false;
    b->same = a;
    return true;
}
