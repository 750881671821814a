/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of operators, functions and aggregates. The checker finds a row by name and arguments. The row
 * has the type of the result and how to emit the operations. The reference page is made from the table.
 */
#ifndef EXPR_FUNCTIONS_H
#define EXPR_FUNCTIONS_H

#include "syntax/function.h"

const hac_function *hac_functions(size_t *ret_n);
/* The first row of that name; rows of one name are adjacent. NULL: there is no such row. */
const hac_function *hac_function_find(const char *name);
/* The letter of argument `i` of `n`; 0: the row does not take n arguments. */
char hac_function_letter(const hac_function *function, size_t i, size_t n);
/* Whether the operations of the row give the same bits on every device. */
bool hac_function_exact(const hac_function *function);
/* "Arithmetic", "Strings" … */
const char *hac_section_title(hac_section section);
/* What a letter stands for: "decimal", "integer" … */
const char *hac_letter_text(char letter);
bool hac_is_aggregate(const hac_function *function);
bool hac_name_is_aggregate(const char *name);

#endif
