/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of types: what two of them have in common, and what may be cast to what. */
#ifndef EXPR_TYPES_H
#define EXPR_TYPES_H

#include "tree.h"

#define HAC_TYPE(k) ((hac_value_type){HAC_KIND_##k, 0, 0})

bool hac_is_number(hac_value_type type); /* integer, float, decimal */
bool hac_is_unsigned(hac_value_type type);

hac_value_type hac_decimal(unsigned precision, unsigned scale);
/* A decimal or an integer type as a decimal: i32 is decimal(10,0). A literal has the digits that it has. */
hac_value_type hac_as_decimal(const hac_node *node);
/* 10^digits - 1, digits ≤ 38. */
__int128 hac_nines(unsigned digits);
/* The least and the most of an integer type. */
void hac_integer_range(hac_kind kind, __int128 *ret_least, __int128 *ret_most);

/* The decimal type that has all values of both, its digits cut to 38. */
hac_value_type hac_decimal_common(hac_value_type a, hac_value_type b);

/*
 * The type that the nodes are converted to where they become one column: branches of `if`, coalesce. Number
 * literals take the type of what stands beside them where that has their value. False: there is none.
 */
bool hac_common_type(hac_node *const *nodes, size_t n, hac_value_type *ret);

/* Of the integer nodes of an arithmetic operation: u64 when all are unsigned, else i64. */
hac_value_type hac_common_integer(hac_node *const *nodes, size_t n);

/* Text literals compare with bytes, and x'…' with strings. */
bool hac_comparable(const hac_node *left, const hac_node *right);
bool hac_castable(hac_value_type from, hac_value_type to);

#endif
