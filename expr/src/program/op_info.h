/* SPDX-License-Identifier: Apache-2.0 */
/* HAC_OPS as a table, and what the files of program/ share. */
#ifndef EXPR_OP_INFO_H
#define EXPR_OP_INFO_H

#include "expr/program.h"

#define HAC_REPR_ANY HAC_REPR_END /* in the table only */

typedef enum hac_immediate {
    HAC_IMMEDIATE_NONE = 0,
    HAC_IMMEDIATE_COLUMN,
    HAC_IMMEDIATE_CONSTANT,
    HAC_IMMEDIATE_RANGE,
    HAC_IMMEDIATE_DIGITS,
    HAC_IMMEDIATE_UNIT,
    HAC_IMMEDIATE_LIST,
    HAC_IMMEDIATE_PATTERN,
    HAC_IMMEDIATE_TEXT
} hac_immediate;

typedef enum hac_operation_flag {
    HAC_OP_FAILS = 1,
    HAC_OP_HOST = 2,
    HAC_OP_INEXACT = 4,
    HAC_OP_STATES = 8
} hac_operation_flag;

typedef struct hac_op_info {
    const char *name;
    uint8_t result, a, b, c; /* hac_repr, or HAC_REPR_ANY */
    uint8_t k;               /* hac_immediate */
    uint8_t flags;
} hac_op_info;

extern const hac_op_info hac_op_table[HAC_OP_END];

#define HAC_DIGITS_MAX 38

/* Whether `unit` is a unit of the operation. */
bool hac_op_takes_unit(hac_op op, unsigned unit);

/* The order of two constants of one representation, as in comparisons: < 0, 0, > 0. Strings are offsets into
 * `bytes`. */
int hac_constant_compare(const hac_constant *a, const hac_constant *b, const uint8_t *bytes);

/* In a LIKE pattern of a program, this precedes each %, _ or escape character that stands for itself. */
#define HAC_PATTERN_ESCAPE '\\'

const char *hac_repr_name(unsigned repr);

#endif
