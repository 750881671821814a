/* SPDX-License-Identifier: Apache-2.0 */
/* Judges set the state of each row of an operation that can fail. They run only when the kernel reports that
 * a row may have failed. */
#include <math.h>

#include "decimal128.h"
#include "machine_parts.h"
#include "shifts.h"
#include "short_types.h"

#define JUDGE(name, A, B, ...)                                                                               \
    static void name(const hac_columns *c, uint8_t *states)                                                  \
    {                                                                                                        \
        const A *a = c->a;                                                                                   \
        const B *b = c->b;                                                                                   \
        for (size_t i = 0; i < c->rows; i++) {                                                               \
            A x = a[c->one_a ? 0 : i];                                                                       \
            B y = b[c->one_b ? 0 : i];                                                                       \
            unsigned state = __VA_ARGS__;                                                                    \
            states[i] = (uint8_t)(states[i] != HAC_ROW_OK ? states[i] : state);                              \
        }                                                                                                    \
    }

#define JUDGE_ONE(name, A, ...)                                                                              \
    static void name(const hac_columns *c, uint8_t *states)                                                  \
    {                                                                                                        \
        const A *a = c->a;                                                                                   \
        for (size_t i = 0; i < c->rows; i++) {                                                               \
            A x = a[i];                                                                                      \
            unsigned state = __VA_ARGS__;                                                                    \
            states[i] = (uint8_t)(states[i] != HAC_ROW_OK ? states[i] : state);                              \
        }                                                                                                    \
    }

#define OVERFLOWS(condition) ((condition) ? HAC_ROW_OVERFLOW : HAC_ROW_OK)
#define LEAVES(condition)    ((condition) ? HAC_ROW_RANGE : HAC_ROW_OK)

#define CHECKED(T, t)                                                                                        \
    JUDGE(add_##t, T, T, OVERFLOWS(__builtin_add_overflow(x, y, &(T){0})))                                   \
    JUDGE(sub_##t, T, T, OVERFLOWS(__builtin_sub_overflow(x, y, &(T){0})))                                   \
    JUDGE(mul_##t, T, T, OVERFLOWS(__builtin_mul_overflow(x, y, &(T){0})))
CHECKED(int64_t, i64)
CHECKED(uint64_t, u64)

#define SHIFTS(T, t)                                                                                         \
    JUDGE(shift_left_##t, T, int64_t, OVERFLOWS(!hac_shift_left_##t(x, y, &(T){0})))                         \
    JUDGE(shift_right_##t, T, int64_t, OVERFLOWS(!hac_shift_right_##t(x, y, &(T){0})))
SHIFTS(int64_t, i64)
SHIFTS(uint64_t, u64)

JUDGE(div_i64, int64_t, int64_t, y == 0 ? HAC_ROW_NULL : OVERFLOWS(x == INT64_MIN && y == -1))
JUDGE(mod_i64, int64_t, int64_t, ((void)x, y == 0 ? HAC_ROW_NULL : HAC_ROW_OK))
JUDGE(div_u64, uint64_t, uint64_t, ((void)x, y == 0 ? HAC_ROW_NULL : HAC_ROW_OK))
JUDGE_ONE(negate_i64, int64_t, OVERFLOWS(x == INT64_MIN))
JUDGE_ONE(i64_to_u64, int64_t, LEAVES(x < 0))
JUDGE_ONE(u64_to_i64, uint64_t, LEAVES(x > INT64_MAX))
JUDGE_ONE(f64_to_f32, double, LEAVES(isfinite(x) && fabs(x) >= 0x1.ffffffp127))
JUDGE_ONE(f64_to_i64, double, LEAVES(!(rint(x) >= -0x1p63 && rint(x) < 0x1p63)))
JUDGE_ONE(f64_to_u64, double, LEAVES(!(rint(x) >= 0 && rint(x) < 0x1p64)))
JUDGE_ONE(range_i64, int64_t, LEAVES(x<c->k->low || x> c->k->high))
JUDGE_ONE(range_u64, uint64_t, LEAVES(x<(uint64_t)c->k->low || x>(uint64_t) c->k->high))
JUDGE_ONE(range_i128, i128, LEAVES(x<c->k->low_128 || x> c->k->high_128))
JUDGE_ONE(i128_to_i64, i128, LEAVES(x<INT64_MIN || x> INT64_MAX))
JUDGE_ONE(scale_up_i64, int64_t,
          OVERFLOWS(c->k->number > 18 ? x != 0 : __builtin_mul_overflow(x, c->k->power, &(int64_t){0})))

JUDGE(add_i128, i128, i128, OVERFLOWS(!hac_add_i128(x, y, &(i128){0})))
JUDGE(sub_i128, i128, i128, OVERFLOWS(!hac_sub_i128(x, y, &(i128){0})))
JUDGE(mul_i128, i128, i128, OVERFLOWS(!hac_mul_i128(x, y, &(i128){0})))
JUDGE_ONE(scale_up_i128, i128, OVERFLOWS(!hac_mul_i128(x, c->k->power_128, &(i128){0})))
JUDGE_ONE(f64_to_decimal, double, LEAVES(!hac_decimal_from_f64(x, c->k->number, &(i128){0})))
JUDGE_ONE(date_to_timestamp, int64_t, LEAVES(__builtin_mul_overflow(x, HAC_US_PER_DAY, &(int64_t){0})))
JUDGE(add_months, int64_t, int64_t, OVERFLOWS(!hac_add_months(x, y, &(int64_t){0})))

const hac_judge hac_judges[HAC_OP_END] = {
    [HAC_OP_ADD_I64] = add_i64,
    [HAC_OP_SUB_I64] = sub_i64,
    [HAC_OP_MUL_I64] = mul_i64,
    [HAC_OP_DIV_I64] = div_i64,
    [HAC_OP_MOD_I64] = mod_i64,
    [HAC_OP_NEG_I64] = negate_i64,
    [HAC_OP_ABS_I64] = negate_i64,
    [HAC_OP_ADD_U64] = add_u64,
    [HAC_OP_SUB_U64] = sub_u64,
    [HAC_OP_MUL_U64] = mul_u64,
    [HAC_OP_DIV_U64] = div_u64,
    [HAC_OP_MOD_U64] = div_u64,
    [HAC_OP_SHIFT_LEFT_I64] = shift_left_i64,
    [HAC_OP_SHIFT_RIGHT_I64] = shift_right_i64,
    [HAC_OP_SHIFT_LEFT_U64] = shift_left_u64,
    [HAC_OP_SHIFT_RIGHT_U64] = shift_right_u64,
    [HAC_OP_ADD_I128] = add_i128,
    [HAC_OP_SUB_I128] = sub_i128,
    [HAC_OP_MUL_I128] = mul_i128,
    [HAC_OP_I64_TO_U64] = i64_to_u64,
    [HAC_OP_U64_TO_I64] = u64_to_i64,
    [HAC_OP_F64_TO_F32] = f64_to_f32,
    [HAC_OP_F64_TO_I64] = f64_to_i64,
    [HAC_OP_F64_TO_U64] = f64_to_u64,
    [HAC_OP_RANGE_I64] = range_i64,
    [HAC_OP_RANGE_U64] = range_u64,
    [HAC_OP_RANGE_I128] = range_i128,
    [HAC_OP_I128_TO_I64] = i128_to_i64,
    [HAC_OP_SCALE_UP_I64] = scale_up_i64,
    [HAC_OP_SCALE_UP_I128] = scale_up_i128,
    [HAC_OP_F64_TO_DECIMAL] = f64_to_decimal,
    [HAC_OP_DATE_TO_TIMESTAMP] = date_to_timestamp,
    [HAC_OP_ADD_MONTHS] = add_months,
};
