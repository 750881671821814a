/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one table of operators, functions and aggregates. The checker finds a row by name and arguments, the
 * row says the result's type and how code is made, and the reference page is the table as text.
 */
#ifndef EXPR_FUNCTIONS_H
#define EXPR_FUNCTIONS_H

#include "emit.h"
#include "tree.h"

typedef enum hac_section {
    HAC_SECTION_ARITHMETIC = 0,
    HAC_SECTION_COMPARISON,
    HAC_SECTION_LOGIC,
    HAC_SECTION_CONDITION,
    HAC_SECTION_MATH,
    HAC_SECTION_STRING,
    HAC_SECTION_DATE,
    HAC_SECTION_AGGREGATE,
    HAC_SECTIONS
} hac_section;

typedef enum hac_result_rule {
    HAC_RESULT_BOOL,
    HAC_RESULT_I64,
    HAC_RESULT_F64,
    HAC_RESULT_STRING,
    HAC_RESULT_DATE,
    HAC_RESULT_TIMESTAMP,
    HAC_RESULT_SAME,            /* of the first argument, converted */
    HAC_RESULT_VALUE,           /* of the arguments that must have a type in common */
    HAC_RESULT_DECIMAL_SUM,     /* scale: the larger; one digit more */
    HAC_RESULT_DECIMAL_PRODUCT, /* digits and scales added up */
    HAC_RESULT_DECIMAL_WHOLE,   /* scale 0, one digit more than in front of the point */
    HAC_RESULT_DECIMAL_ROUND,   /* the scale that the second argument says */
    HAC_RESULT_DECIMAL_TOTAL,   /* decimal(38, scale) */
} hac_result_rule;

typedef enum hac_null_rule {
    HAC_NULLS_STRICT = 0, /* null when an argument is */
    HAC_NULLS_OWN,        /* as its description says */
    HAC_NULLS_NEVER,      /* never null */
    HAC_NULLS_SKIPPED     /* nulls play no part */
} hac_null_rule;

/*
 * Patterns of arguments, a letter each; '+' behind one: it may be repeated.
 *
 *   I  integers, converted to one of i64 and u64 for all  B  bool        X  any types with one in common
 *   i  an integer, converted to i64                       S  string      A  any type, as it is
 *   F  exactly f32                                        D  decimal     C  two types that compare
 *   Y  bytes, or text as written for them
 *   N  a number, converted to f64                         d  date        p  constant text
 *   E  a decimal, or an integer beside one                t  timestamp   k  constant integer
 *                                                         u  a unit      n  constant number
 */
struct hac_function {
    const char *name;
    const char *syntax; /* NULL: name(arguments) */
    const char *args;
    hac_result_rule result;
    const hac_op *ops; /* by the representation of the first argument, HAC_REPR_END of them; HAC_OP_COLUMN:
                        * the argument itself */
    hac_emit emit;     /* NULL: one operation of `ops` */
    uint8_t k;         /* of the operation: a hac_date_unit; else as `emit` likes; hac_aggregate_function */
    hac_section section;
    hac_null_rule nulls;
    const char *text;            /* what it does */
    const char *example, *gives; /* an expression, and what it gives; aggregates: of a column x */
};

const hac_function *hac_functions(size_t *ret_n);
/* The first row of a name; rows of one name follow each other. NULL: there is none. */
const hac_function *hac_function_find(const char *name);
/* The letter of argument `i` of `n`; 0 when the row does not take n arguments. */
char hac_function_letter(const hac_function *function, size_t i, size_t n);
/* Whether its operations give the same bits everywhere. */
bool hac_function_exact(const hac_function *function);
/* "decimal", "integer" …: what a letter stands for. */
const char *hac_letter_text(char letter);
/* The unit of date_trunc; false: no such one. */
bool hac_unit_find(const char *name, size_t bytes, hac_date_unit *ret);
bool hac_is_aggregate(const hac_function *function);
bool hac_name_is_aggregate(const char *name);

#endif
