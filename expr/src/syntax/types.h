/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of types: common types, and which types can be compared and cast. */
#ifndef EXPR_TYPES_H
#define EXPR_TYPES_H

#include "program/type_facts.h"
#include "tree.h"

/* The type of a decimal or integer node as a decimal: i32 is decimal(10,0). A literal has as many digits as
 * its value. */
hac_value_type hac_as_decimal(const hac_node *node);
/* The decimal type that holds all values of both types; at most 38 digits. */
hac_value_type hac_decimal_common(hac_value_type a, hac_value_type b);

/*
 * The type that nodes are converted to when they become one column: branches of `if`, arguments of coalesce.
 * A number literal takes the type of the other nodes if that type holds its value. False: there is no common
 * type.
 */
bool hac_common_type(hac_node *const *nodes, size_t n, hac_value_type *ret);

/* The common type of the integer operands of an operation: u64 if all are unsigned, else i64. */
hac_value_type hac_common_integer(hac_node *const *nodes, size_t n);

/* Whether two nodes compare. Text literals also compare with bytes, and x'…' with strings. */
bool hac_comparable(const hac_node *left, const hac_node *right);
bool hac_castable(hac_value_type from, hac_value_type to);

#endif
