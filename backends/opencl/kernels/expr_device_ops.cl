/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations that devices have: those of expr/ops.h without HOST. Kernels and C
 * (codelets/expr/expr_plan.c) include this list, so both number the operations alike.
 */
#define EXPR_DEVICE_OPS(X)                                                                                   \
    X(COLUMN)                                                                                                \
    X(CONSTANT)                                                                                              \
    X(NULL)                                                                                                  \
    X(ADD_I64) X(SUB_I64) X(MUL_I64) X(DIV_I64) X(MOD_I64) X(NEG_I64) X(ABS_I64) X(ADD_U64) X(SUB_U64)       \
        X(MUL_U64) X(DIV_U64) X(MOD_U64) X(ADD_F32) X(SUB_F32) X(MUL_F32) X(DIV_F32) X(NEG_F32) X(ABS_F32)   \
            X(SQRT_F32) X(FLOOR_F32) X(CEIL_F32) X(TRUNC_F32) X(ROUND_F32) X(ADD_F64) X(SUB_F64) X(MUL_F64)  \
                X(DIV_F64) X(NEG_F64) X(ABS_F64) X(SQRT_F64) X(FLOOR_F64) X(CEIL_F64) X(TRUNC_F64)           \
                    X(ROUND_F64) X(EXP_F64) X(LN_F64) X(LOG2_F64) X(LOG10_F64) X(SIN_F64) X(COS_F64)         \
                        X(TAN_F64) X(ASIN_F64) X(ACOS_F64) X(ATAN_F64) X(ATAN2_F64) X(POW_F64) X(EQ_BOOL)    \
                            X(LT_BOOL) X(EQ_I64) X(LT_I64) X(LE_I64) X(EQ_U64) X(LT_U64) X(LE_U64) X(EQ_F32) \
                                X(LT_F32) X(LE_F32) X(EQ_F64) X(LT_F64) X(LE_F64) X(IN_I64) X(IN_U64)        \
                                    X(IN_F64) X(AND) X(OR) X(NOT) X(IS_NULL) X(SELECT) X(COALESCE)           \
                                        X(NULL_IF_ERROR) X(BOOL_TO_I64) X(I64_TO_BOOL) X(I64_TO_U64)         \
                                            X(U64_TO_I64) X(I64_TO_F32) X(U64_TO_F32) X(I64_TO_F64)          \
                                                X(U64_TO_F64) X(F32_TO_F64) X(F64_TO_F32) X(F64_TO_I64)      \
                                                    X(F64_TO_U64) X(RANGE_I64) X(RANGE_U64) X(SCALE_UP_I64)  \
                                                        X(SCALE_DOWN_I64) X(DATE_PART) X(TIME_PART)          \
                                                            X(TIMESTAMP_TO_DATE) X(DATE_TO_TIMESTAMP)        \
                                                                X(DATE_TRUNC) X(TIME_TRUNC) X(ADD_MONTHS)

#define EXPR_DEVICE_OP(name) EXPR_##name,
enum { EXPR_DEVICE_OPS(EXPR_DEVICE_OP) EXPR_OPS_END };
#undef EXPR_DEVICE_OP

/*
 * A plan: what kernels know about a program and its columns, as 64-bit words (codelets/expr/expr_plan.c makes
 * it).
 *
 *   0 … 7     EXPR_PLAN_…
 *   columns   EXPR_COLUMN_WORDS for each input
 *   code      two words an instruction: op, result, a, b | c, k, width: 16 bits each
 *   constants a constant is one word, a range two; a list is its length and its values, ascending
 *   outputs   a register each
 */
#define EXPR_PLAN_INSTRUCTIONS 0
#define EXPR_PLAN_REGISTERS    1
#define EXPR_PLAN_COLUMNS      2 /* where each part begins */
#define EXPR_PLAN_CODE         3
#define EXPR_PLAN_CONSTANTS    4
#define EXPR_PLAN_OUTPUTS      5
#define EXPR_PLAN_N_OUTPUTS    6
#define EXPR_PLAN_SEED         7 /* two words: the multipliers of hashes, odd */
#define EXPR_PLAN_WORDS        16

#define EXPR_COLUMN_KIND     0 /* hac_kind; EXPR_KIND_LARGE for strings with 64-bit offsets */
#define EXPR_COLUMN_VALIDITY 1 /* offsets in the table; all ones: the part does not exist */
#define EXPR_COLUMN_VALUES   2
#define EXPR_COLUMN_BYTES    3
#define EXPR_COLUMN_N_BYTES  4
#define EXPR_COLUMN_TABLE    5 /* for several string columns: which one */
#define EXPR_COLUMN_WORDS    8
#define EXPR_KIND_LARGE      64
#define EXPR_KIND_BYTES      32 /* bools of one byte each */
#define EXPR_TABLES_MAX      7

#define EXPR_REGISTERS_MAX 640 /* of a filter and a program together, and one word for each key */

/* hac_kind */
#define KIND_BOOL      1
#define KIND_I8        2
#define KIND_I16       3
#define KIND_I32       4
#define KIND_I64       5
#define KIND_U8        6
#define KIND_U16       7
#define KIND_U32       8
#define KIND_U64       9
#define KIND_F32       10
#define KIND_F64       11
#define KIND_DATE      12
#define KIND_TIMESTAMP 13
#define KIND_DECIMAL   14
#define KIND_STRING    15

#define ROW_NULL      1 /* hac_row_state */
#define ROW_OVERFLOW  2
#define ROW_RANGE     3
#define ROW_MALFORMED 4

/* The third quarter of an instruction's second word: operands, and special properties. */
#define EXPR_OPERANDS   3
#define EXPR_OWN_STATES 4 /* STATES in expr/ops.h */
#define EXPR_NARROW     8 /* values of 32 bits */
