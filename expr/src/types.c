/* SPDX-License-Identifier: Apache-2.0 */
#include "types.h"

#include "literal.h"

bool hac_is_number(hac_value_type type)
{
    return hac_kind_is_integer(type.kind) || hac_kind_is_float(type.kind) || type.kind == HAC_KIND_DECIMAL;
}

bool hac_is_unsigned(hac_value_type type)
{
    return type.kind >= HAC_KIND_U8 && type.kind <= HAC_KIND_U64;
}

static bool is_time(hac_value_type type)
{
    return type.kind == HAC_KIND_DATE || type.kind == HAC_KIND_TIMESTAMP;
}

hac_value_type hac_decimal(unsigned precision, unsigned scale)
{
    return (hac_value_type){HAC_KIND_DECIMAL, (uint8_t)precision, (uint8_t)scale};
}

__int128 hac_nines(unsigned digits)
{
    __int128 power = 1;
    for (unsigned i = 0; i < digits; i++)
        power *= 10;
    return power - 1;
}

void hac_integer_range(hac_kind kind, __int128 *ret_least, __int128 *ret_most)
{
    static const uint8_t bits[HAC_KIND_END] = {
        [HAC_KIND_I8] = 7, [HAC_KIND_I16] = 15, [HAC_KIND_I32] = 31, [HAC_KIND_I64] = 63,
        [HAC_KIND_U8] = 8, [HAC_KIND_U16] = 16, [HAC_KIND_U32] = 32, [HAC_KIND_U64] = 64,
    };
    __int128 power = (__int128)1 << bits[kind];
    *ret_most = power - 1;
    *ret_least = kind >= HAC_KIND_U8 ? 0 : -power;
}

hac_value_type hac_as_decimal(const hac_node *node)
{
    if (node->type.kind == HAC_KIND_DECIMAL)
        return node->type;
    if (!hac_kind_is_integer(node->type.kind))
        return hac_decimal(1, 0); /* a null */
    __int128 least = 0, most = 0;
    if (hac_node_is_literal(node) && !node->literal.null)
        most = node->literal.integer < 0 ? -node->literal.integer : node->literal.integer;
    else
        hac_integer_range(node->type.kind, &least, &most);
    unsigned digits = 1;
    for (; most > 9; most /= 10)
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
    /* u32 - 1 may be negative; u64 has values that i64 has not, so there a literal goes along */
    return all || (wide && !literals) ? HAC_TYPE(U64) : HAC_TYPE(I64);
}

/* `node` is what the type was taken from when it is a literal. */
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
        type = HAC_TYPE(TIMESTAMP);
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
