/* SPDX-License-Identifier: Apache-2.0 */
/* A row of the table of operators, functions and aggregates (language/functions.c). */
#ifndef EXPR_FUNCTION_H
#define EXPR_FUNCTION_H

#include "tree.h"

typedef enum hac_section {
    HAC_SECTION_ARITHMETIC = 0,
    HAC_SECTION_COMPARISON,
    HAC_SECTION_LOGIC,
    HAC_SECTION_CONDITION,
    HAC_SECTION_MATH,
    HAC_SECTION_STRING,
    HAC_SECTION_JSON,
    HAC_SECTION_DATE,
    HAC_SECTION_AGGREGATE,
    HAC_SECTIONS
} hac_section;

typedef enum hac_result_rule {
    HAC_RESULT_BOOL,
    HAC_RESULT_I64,
    HAC_RESULT_U64,
    HAC_RESULT_F64,
    HAC_RESULT_STRING,
    HAC_RESULT_DATE,
    HAC_RESULT_TIMESTAMP,
    HAC_RESULT_SAME,            /* the type of the first argument, converted */
    HAC_RESULT_VALUE,           /* the common type of the X arguments */
    HAC_RESULT_DECIMAL_SUM,     /* the larger scale, one digit more */
    HAC_RESULT_DECIMAL_PRODUCT, /* digits and scales add up */
    HAC_RESULT_DECIMAL_WHOLE,   /* scale 0, and one digit more than before the point */
    HAC_RESULT_DECIMAL_ROUND,   /* the second argument is the scale */
    HAC_RESULT_DECIMAL_TOTAL,   /* decimal(38, scale) */
} hac_result_rule;

typedef enum hac_null_rule {
    HAC_NULLS_STRICT = 0, /* null if an argument is null */
    HAC_NULLS_OWN,        /* see the description */
    HAC_NULLS_NEVER,      /* never null */
    HAC_NULLS_SKIPPED     /* nulls are left out */
} hac_null_rule;

/*
 * Arguments have one letter each. A '+' behind the last letter means that it may be repeated.
 *
 *   I  integers, all converted to i64 or all to u64       B  bool        X  types with a common type
 *   i  an integer, converted to i64                       S  string      A  any type
 *   F  exactly f32                                        D  decimal     C  types that compare
 *   Y  bytes, or a text literal that stands for bytes
 *   N  a number, converted to f64                         d  date        p  constant text
 *   M  a number, a date or a timestamp, in 64 bits at least
 *   E  a decimal, or an integer beside it                 t  timestamp   k  constant integer
 *   f  constant format of times                           u  date unit   n  constant number
 *   T  a timestamp with zone (timestamptz)                z  constant name of a time zone
 *   r  constant regular expression, o  its options       j  constant path of JSON
 */
typedef struct hac_emitter hac_emitter; /* emit/emit.h */
typedef hac_value_id (*hac_emit)(hac_emitter *e, const hac_node *node);

struct hac_function {
    const char *name;
    const char *syntax; /* NULL: name(arguments) */
    const char *args;
    hac_result_rule result;
    /* HAC_REPR_END operations, by the representation of the first argument. HAC_OP_COLUMN is the argument
     * itself. */
    const hac_op *ops;
    hac_emit emit; /* emits several operations; NULL: one operation of `ops` */
    uint8_t k;     /* a hac_date_unit, a hac_aggregate_function, or a number for `emit` */
    hac_section section;
    hac_null_rule nulls;
    bool has_pattern; /* the second argument is a LIKE pattern, the third one its escape character */
    const char *text; /* for the reference page; "": as the row above */
    const char *example, *gives; /* an expression and its value; aggregates: over a column x */
};

#endif
