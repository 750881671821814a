/* SPDX-License-Identifier: Apache-2.0 */
#include "types.h"

#include "literal.h"

static bool is_time(hac_value_type type)
{
    return type.kind == HAC_KIND_DATE || type.kind == HAC_KIND_TIMESTAMP;
}

hac_value_type hac_as_decimal(const hac_node *node)
{
    if (node->type.kind == HAC_KIND_DECIMAL)
        return node->type;
    if (!hac_kind_is_integer(node->type.kind))
        return hac_decimal(1, 0); /* a null */
    __int128 min = 0, max = 0;
    if (hac_node_is_literal(node) && !node->literal.null)
        max = node->literal.integer < 0 ? -node->literal.integer : node->literal.integer;
    else
        hac_integer_range(node->type.kind, &min, &max);
    unsigned digits = 1;
    for (; max > 9; max /= 10)
        digits++;
    return hac_decimal(digits, 0);
}

static unsigned max(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

hac_value_type hac_decimal_common(hac_value_type a, hac_value_type b)
{
    unsigned scale = max(a.scale, b.scale);
    unsigned whole = max((unsigned)a.precision - a.scale, (unsigned)b.precision - b.scale);
    return hac_decimal(whole + scale > HAC_DECIMAL_DIGITS_MAX ? HAC_DECIMAL_DIGITS_MAX : whole + scale,
                       scale);
}

hac_value_type hac_common_integer(hac_node *const *nodes, size_t n)
{
    bool wide = false, literals = true;
    for (size_t i = 0; i < n; i++) {
        const hac_node *node = nodes[i];
        bool literal = hac_node_is_literal(node);
        if (literal && (node->literal.null || node->literal.integer >= 0))
            continue;
        literals = false;
        if (!hac_is_unsigned(node->type))
            return HAC_TYPE(I64);
        wide |= node->type.kind == HAC_KIND_U64;
    }
    bool all = true;
    for (size_t i = 0; i < n; i++)
        all &= hac_is_unsigned(nodes[i]->type);
    /* u32 - 1 may be negative, so it is i64. u64 - 1 stays u64, because u64 has values that i64 does not
     * have. */
    return all || (wide && !literals) ? HAC_TYPE(U64) : HAC_TYPE(I64);
}

/* `literal` is the node that the type comes from, if it is a literal. */
typedef struct common {
    hac_value_type type;
    const hac_node *literal;
} common;

static bool adapts(const hac_node *literal, hac_value_type to)
{
    hac_literal unused;
    return literal != NULL && (hac_kind_is_integer(to.kind) || to.kind == HAC_KIND_DECIMAL) &&
           hac_literal_as(&literal->literal, literal->type, to, &unused) == HAC_LITERAL_FITS;
}

static bool merge_numbers(const common *a, const common *b, const hac_node *bnode, hac_value_type *ret)
{
    if (hac_kind_is_float(a->type.kind) || hac_kind_is_float(b->type.kind))
        *ret = HAC_TYPE(F64);
    else if (a->literal == NULL && adapts(b->literal, a->type))
        *ret = a->type;
    else if (b->literal == NULL && adapts(a->literal, b->type))
        *ret = b->type;
    else if (a->type.kind == HAC_KIND_DECIMAL || b->type.kind == HAC_KIND_DECIMAL) {
        hac_node left = {.kind = HAC_NODE_COLUMN, .type = a->type};
        *ret = hac_decimal_common(hac_as_decimal(a->literal != NULL ? a->literal : &left),
                                  hac_as_decimal(bnode));
    } else
        *ret = hac_is_unsigned(a->type) && hac_is_unsigned(b->type) ? HAC_TYPE(U64) : HAC_TYPE(I64);
    return true;
}

static bool merge(common *a, const hac_node *node)
{
    common b = {node->type, hac_node_is_literal(node) && !node->literal.null ? node : NULL};
    if (b.type.kind == HAC_KIND_NONE)
        return true;
    if (a->type.kind == HAC_KIND_NONE) {
        *a = b;
        return true;
    }
    hac_value_type type = a->type;
    if (hac_value_type_equal(a->type, b.type))
        ;
    else if (hac_kind_is_text(type.kind) && hac_kind_is_text(b.type.kind) &&
             (a->literal != NULL || b.literal != NULL))
        type = a->literal == NULL ? type : b.type;
    else if (hac_is_number(a->type) && hac_is_number(b.type))
        merge_numbers(a, &b, node, &type);
    else if (is_time(a->type) && is_time(b.type))
        type = hac_value_type_has_zone(a->type) || hac_value_type_has_zone(b.type) ? HAC_TIMESTAMPTZ
                                                                                   : HAC_TYPE(TIMESTAMP);
    else
        return false;
    *a = (common){type, NULL};
    return true;
}

bool hac_common_type(hac_node *const *nodes, size_t n, hac_value_type *ret)
{
    common all = {.literal = NULL};
    for (size_t i = 0; i < n; i++)
        if (!merge(&all, nodes[i]))
            return false;
    *ret = all.type;
    return true;
}

bool hac_comparable(const hac_node *left, const hac_node *right)
{
    hac_value_type a = left->type, b = right->type;
    if (a.kind == HAC_KIND_NONE || b.kind == HAC_KIND_NONE || a.kind == b.kind)
        return true;
    if (hac_kind_is_text(a.kind) && hac_kind_is_text(b.kind))
        return hac_node_is_literal(left) || hac_node_is_literal(right);
    return (hac_is_number(a) && hac_is_number(b)) || (is_time(a) && is_time(b));
}

bool hac_castable(hac_value_type from, hac_value_type to)
{
    if (from.kind == HAC_KIND_BYTES || to.kind == HAC_KIND_BYTES)
        return from.kind == HAC_KIND_NONE || (hac_kind_is_text(from.kind) && hac_kind_is_text(to.kind));
    if (from.kind == HAC_KIND_NONE || from.kind == HAC_KIND_STRING || to.kind == HAC_KIND_STRING)
        return true;
    if (is_time(from) || is_time(to))
        return is_time(from) && is_time(to);
    return true;
}
