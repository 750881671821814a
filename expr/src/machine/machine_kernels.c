/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels, compiled once for each instruction set under the name HAC_KERNELS. The loops are written for
 * the compiler's vectoriser: whole blocks, no branches, no calls. Decisions that need a branch for each row
 * are left to the judges.
 */
#include <math.h>
#include <string.h>

#include "machine_parts.h"
#include "short_types.h"

#define INLINE static inline __attribute__((always_inline))

INLINE size_t whole_blocks(const hac_columns *c)
{
    return (c->rows + HAC_KERNEL_BLOCK - 1) & ~(size_t)(HAC_KERNEL_BLOCK - 1);
}

/* The loops of a kernel: both operands are columns, or one is a constant. */
#define COLUMN_VARIANTS(name)                                                                                \
    static u64 name##_columns(const hac_columns *c)                                                          \
    {                                                                                                        \
        return name##_loop(c, false, false);                                                                 \
    }                                                                                                        \
    static u64 name##_one_b(const hac_columns *c)                                                            \
    {                                                                                                        \
        return name##_loop(c, false, true);                                                                  \
    }                                                                                                        \
    static u64 name##_one_a(const hac_columns *c)                                                            \
    {                                                                                                        \
        return name##_loop(c, true, false);                                                                  \
    }

/* The body computes z from x and y, and ors a nonzero value into `bad` if the row may have failed. */
#define BINARY(name, R, A, B, ...)                                                                           \
    INLINE u64 name##_loop(const hac_columns *c, bool one_a, bool one_b)                                     \
    {                                                                                                        \
        size_t n = whole_blocks(c);                                                                          \
        R *restrict r = c->r;                                                                                \
        const A *restrict a = c->a;                                                                          \
        const B *restrict b = c->b;                                                                          \
        u64 bad = 0;                                                                                         \
        for (size_t i = 0; i < n; i++) {                                                                     \
            A x = a[one_a ? 0 : i];                                                                          \
            B y = b[one_b ? 0 : i];                                                                          \
            R z;                                                                                             \
            __VA_ARGS__                                                                                      \
            r[i] = z;                                                                                        \
        }                                                                                                    \
        return bad;                                                                                          \
    }                                                                                                        \
    COLUMN_VARIANTS(name)

#define UNARY(name, R, A, ...)                                                                               \
    static u64 name##_columns(const hac_columns *c)                                                          \
    {                                                                                                        \
        size_t n = whole_blocks(c);                                                                          \
        R *restrict r = c->r;                                                                                \
        const A *restrict a = c->a;                                                                          \
        u64 bad = 0;                                                                                         \
        for (size_t i = 0; i < n; i++) {                                                                     \
            A x = a[i];                                                                                      \
            R z;                                                                                             \
            __VA_ARGS__                                                                                      \
            r[i] = z;                                                                                        \
        }                                                                                                    \
        return bad;                                                                                          \
    }

#define SIGN(word) ((u64)(word) >> 63)

/* ---- 64-bit integers ----------------------------------------------------------------------------------- */

BINARY(add_i64, i64, i64, i64, z = (i64)((u64)x + (u64)y); bad |= SIGN((x ^ z) & (y ^ z));)
BINARY(sub_i64, i64, i64, i64, z = (i64)((u64)x - (u64)y); bad |= SIGN((x ^ y) & (x ^ z));)
BINARY(add_u64, u64, u64, u64, z = x + y; bad |= SIGN((x & y) | ((x | y) & ~z));)
BINARY(sub_u64, u64, u64, u64, z = x - y; bad |= SIGN((~x & y) | (~(x ^ y) & z));)
UNARY(neg_i64, i64, i64, z = (i64)(0 - (u64)x); bad |= SIGN(x & z);)
UNARY(abs_i64, i64, i64, i64 sign = x >> 63; z = (i64)(((u64)x ^ (u64)sign) - (u64)sign); bad |= SIGN(z);)

/* A signed product fits if the lengths of its factors add up to less than 63 bits. */
#define MULTIPLY(name, T, MAGNITUDE, BITS)                                                                   \
    INLINE u64 name##_loop(const hac_columns *c, bool one_a, bool one_b)                                     \
    {                                                                                                        \
        size_t n = whole_blocks(c);                                                                          \
        T *restrict r = c->r;                                                                                \
        const T *restrict a = c->a;                                                                          \
        const T *restrict b = c->b;                                                                          \
        u64 longest_a = 0, longest_b = 0;                                                                    \
        for (size_t i = 0; i < n; i++) {                                                                     \
            T x = a[one_a ? 0 : i], y = b[one_b ? 0 : i];                                                    \
            longest_a |= MAGNITUDE(x);                                                                       \
            longest_b |= MAGNITUDE(y);                                                                       \
            r[i] = (T)((u64)x * (u64)y);                                                                     \
        }                                                                                                    \
        int bits_a = 64 - __builtin_clzll(longest_a | 1), bits_b = 64 - __builtin_clzll(longest_b | 1);      \
        return bits_a + bits_b > (BITS);                                                                     \
    }                                                                                                        \
    COLUMN_VARIANTS(name)

#define SIGNED_MAGNITUDE(x)   ((u64)((x) ^ ((x) >> 63)))
#define UNSIGNED_MAGNITUDE(x) (x)
MULTIPLY(mul_i64, i64, SIGNED_MAGNITUDE, 62)
MULTIPLY(mul_u64, u64, UNSIGNED_MAGNITUDE, 64)

/* ---- division -------------------------------------------------------------------------------------------
 * There are vector instructions for the division of doubles, but not of integers. Below 2^52, doubles give
 * the same quotient: a quotient that is not an integer is below the next integer by at least 1/(x + 1) of
 * itself, and rounding moves it by at most 2^-53 of itself. A divisor that is not allowed is replaced by 1
 * and reported as bad. */

#define EXACT_IN_DOUBLES(longest) ((longest) >> 52 == 0)

INLINE i64 divide_small(i64 x, i64 y, i64 *ret_rest)
{
    i64 q = (i64)((f64)x / (f64)y);
    *ret_rest = x - q * y;
    return q;
}

/* The bitwise or of all magnitudes, which has as many bits as the longest. */
INLINE u64 longest_i64(const i64 *a, size_t n)
{
    u64 longest = 0;
    for (size_t i = 0; i < n; i++)
        longest |= SIGNED_MAGNITUDE(a[i]);
    return longest;
}

INLINE u64 longest_u64(const u64 *a, size_t n)
{
    u64 longest = 0;
    for (size_t i = 0; i < n; i++)
        longest |= a[i];
    return longest;
}

/* Runs `small` if all values fit, else `any`. Both compute z from x and y if `no` is false. */
#define DIVISION(name, T, no_condition, small, any)                                                          \
    INLINE u64 name##_loop(const hac_columns *c, bool one_a, bool one_b)                                     \
    {                                                                                                        \
        size_t n = whole_blocks(c);                                                                          \
        T *restrict r = c->r;                                                                                \
        const T *restrict a = c->a, *restrict b = c->b;                                                      \
        u64 bad = 0, longest = longest_##T(a, one_a ? 1 : n) | longest_##T(b, one_b ? 1 : n);                \
        if (EXACT_IN_DOUBLES(longest)) {                                                                     \
            for (size_t i = 0; i < n; i++) {                                                                 \
                i64 x = (i64)a[one_a ? 0 : i], y = (i64)b[one_b ? 0 : i], rest, q;                           \
                bool no = y == 0;                                                                            \
                bad |= no;                                                                                   \
                q = divide_small(x, no ? 1 : y, &rest);                                                      \
                r[i] = (T)(small);                                                                           \
            }                                                                                                \
            return bad;                                                                                      \
        }                                                                                                    \
        for (size_t i = 0; i < n; i++) {                                                                     \
            T x = a[one_a ? 0 : i], y = b[one_b ? 0 : i];                                                    \
            bool no = no_condition;                                                                          \
            bad |= no;                                                                                       \
            y = no ? 1 : y;                                                                                  \
            r[i] = any;                                                                                      \
        }                                                                                                    \
        return bad;                                                                                          \
    }                                                                                                        \
    COLUMN_VARIANTS(name)

DIVISION(div_i64, i64, y == 0 || (y == -1 && x == INT64_MIN), q, x / y)
DIVISION(mod_i64, i64, y == 0, rest + 0 * q, y == -1 ? 0 : x % y)
DIVISION(div_u64, u64, y == 0, q, x / y)
DIVISION(mod_u64, u64, y == 0, rest + 0 * q, x % y)

UNARY(range_i64, i64, i64, z = x; bad |= (u64)(x < c->k->low) | (u64)(x > c->k->high);)
UNARY(range_u64, u64, u64, z = x; bad |= (u64)(x < (u64)c->k->low) | (u64)(x > (u64)c->k->high);)

/* values from `low` to `high` can be multiplied without overflow */
UNARY(scale_up_i64, i64, i64, z = (i64)((u64)x * (u64)c->k->power);
      bad |= (u64)(x < c->k->low) | (u64)(x > c->k->high);)

static u64 scale_down_i64_columns(const hac_columns *c)
{
    size_t n = whole_blocks(c);
    i64 *restrict r = c->r;
    const i64 *restrict a = c->a;
    if (c->k->number > 18) { /* 10^19 is above all values, but half of it is not */
        i64 half = c->k->number == 19 ? INT64_C(5000000000000000000) : INT64_MAX;
        for (size_t i = 0; i < n; i++)
            r[i] = c->k->number == 19 ? (a[i] >= half) - (a[i] <= -half) : 0;
        return 0;
    }
    i64 power = c->k->power, half = power / 2;
    if (power == 1) {
        memcpy(r, a, n * sizeof *r);
        return 0;
    }
    if (EXACT_IN_DOUBLES(longest_i64(a, n) | (u64)power)) {
        for (size_t i = 0; i < n; i++) {
            i64 rest, q = divide_small(a[i], power, &rest);
            r[i] = q + (rest >= half) - (rest <= -half);
        }
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        i64 q = a[i] / power, rest = a[i] % power;
        r[i] = q + (rest >= half) - (rest <= -half);
    }
    return 0;
}

/* ---- floats -------------------------------------------------------------------------------------------- */

#define FLOATS(T, suffix, F, ONE)                                                                            \
    BINARY(add_##T, T, T, T, z = x + y;)                                                                     \
    BINARY(sub_##T, T, T, T, z = x - y;)                                                                     \
    BINARY(mul_##T, T, T, T, z = x * y;)                                                                     \
    BINARY(div_##T, T, T, T, z = x / y;)                                                                     \
    UNARY(neg_##T, T, T, z = -x;)                                                                            \
    UNARY(abs_##T, T, T, z = fabs##suffix(x);)                                                               \
    UNARY(sqrt_##T, T, T, z = sqrt##suffix(x);)                                                              \
    UNARY(floor_##T, T, T, z = floor##suffix(x);)                                                            \
    UNARY(ceil_##T, T, T, z = ceil##suffix(x);)                                                              \
    UNARY(trunc_##T, T, T, z = trunc##suffix(x);)                                                            \
    UNARY(round_##T, T, T, T whole = trunc##suffix(x);                                                       \
          z = copysign##suffix(whole + (fabs##suffix(x - whole) >= (T)0.5 ? copysign##suffix(ONE, x) : 0),   \
                               x);)                                                                          \
    BINARY(eq_##T, b8, T, T, z = (b8)((x == y) | ((x != x) & (y != y)));)                                    \
    BINARY(lt_##T, b8, T, T, z = (b8)(!(x >= y) & (x == x));)                                                \
    BINARY(le_##T, b8, T, T, z = (b8)((x <= y) | (y != y));)

FLOATS(f64, , 0, 1.0)
FLOATS(f32, f, 0, 1.0f)

/* ---- comparisons and logic ----------------------------------------------------------------------------- */

#define COMPARISONS(T)                                                                                       \
    BINARY(eq_##T, b8, T, T, z = (b8)(x == y);)                                                              \
    BINARY(lt_##T, b8, T, T, z = (b8)(x < y);)                                                               \
    BINARY(le_##T, b8, T, T, z = (b8)(x <= y);)

COMPARISONS(i64)
COMPARISONS(u64)
BINARY(eq_bool, b8, b8, b8, z = (b8)((x & 1) == (y & 1));)
BINARY(lt_bool, b8, b8, b8, z = (b8)(~x & y & 1);)
UNARY(not, b8, b8, z = (b8)((x & 1) ^ 1);)

/* A short list is compared element by element. A long list is searched without branches. */
#define IN_LIST(T, EQUAL, LESS)                                                                              \
    static u64 in_##T##_columns(const hac_columns *c)                                                        \
    {                                                                                                        \
        size_t n = whole_blocks(c), count = c->k->n_list;                                                    \
        b8 *restrict r = c->r;                                                                               \
        const T *restrict a = c->a, *restrict list = c->k->list;                                             \
        if (count <= 16) {                                                                                   \
            memset(r, 0, n);                                                                                 \
            for (size_t j = 0; j < count; j++) {                                                             \
                T y = list[j];                                                                               \
                for (size_t i = 0; i < n; i++)                                                               \
                    r[i] |= (b8)EQUAL(a[i], y);                                                              \
            }                                                                                                \
            return 0;                                                                                        \
        }                                                                                                    \
        for (size_t i = 0; i < n; i++) {                                                                     \
            const T *at = list;                                                                              \
            for (size_t left = count; left > 1; left -= left / 2)                                            \
                at += LESS(a[i], at[left / 2]) ? 0 : left / 2;                                               \
            r[i] = (b8)EQUAL(*at, a[i]);                                                                     \
        }                                                                                                    \
        return 0;                                                                                            \
    }
#define PLAIN_EQUAL(x, y) ((x) == (y))
#define PLAIN_LESS(x, y)  ((x) < (y))
#define FLOAT_EQUAL(x, y) (((x) == (y)) | (((x) != (x)) & ((y) != (y))))
#define FLOAT_LESS(x, y)  (!((x) >= (y)) & ((x) == (x)))
IN_LIST(i64, PLAIN_EQUAL, PLAIN_LESS)
IN_LIST(u64, PLAIN_EQUAL, PLAIN_LESS)
IN_LIST(f64, FLOAT_EQUAL, FLOAT_LESS)

/* ---- conversions --------------------------------------------------------------------------------------- */

UNARY(bool_to_i64, i64, b8, z = x & 1;)
UNARY(i64_to_bool, b8, i64, z = (b8)(x != 0);)
UNARY(i64_to_u64, u64, i64, z = (u64)x; bad |= SIGN(x);)
UNARY(u64_to_i64, i64, u64, z = (i64)x; bad |= SIGN(x);)
UNARY(i64_to_f32, f32, i64, z = (f32)x;)
UNARY(u64_to_f32, f32, u64, z = (f32)x;)
UNARY(i64_to_f64, f64, i64, z = (f64)x;)
UNARY(u64_to_f64, f64, u64, z = (f64)x;)
UNARY(f32_to_f64, f64, f32, z = (f64)x;)
/* halfway from the largest f32 to the number behind it, from where on numbers round to infinity */
UNARY(f64_to_f32, f32, f64, z = (f32)x; f64 size = fabs(x);
      bad |= size >= 0x1.ffffffp127 && size < (f64)INFINITY;)
UNARY(f64_to_i64, i64, f64, f64 whole = rint(x); bool fits = whole >= -0x1p63 && whole < 0x1p63; bad |= !fits;
      z = (i64)(fits ? whole : 0);)
UNARY(f64_to_u64, u64, f64, f64 whole = rint(x); bool fits = whole >= 0 && whole < 0x1p64; bad |= !fits;
      z = (u64)(fits ? whole : 0);)

/* ---- dates and times -----------------------------------------------------------------------------------
 * The algorithm of hac_civil_from_days in 32 bits, counted from a March 1st that is far enough back. Batches
 * with days out of this range use the scalar kernels. */

#define ERA_DAYS   146097u
#define ERAS       7350u /* 2^30 days and more */
#define DAYS_LIMIT 30

typedef struct civil {
    int32_t year;
    uint32_t month, day, of_year; /* of_year: 0 is January 1st */
    uint32_t leap, weekday;       /* weekday: 0 is Monday */
} civil;

INLINE civil civil_of(i64 days)
{
    uint32_t z = (uint32_t)days + ERAS * ERA_DAYS + 719468u;
    uint32_t era = z / ERA_DAYS, of_era = z - era * ERA_DAYS;
    uint32_t y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    uint32_t of_year = of_era - (365 * y + y / 4 - y / 100), m = (5 * of_year + 2) / 153;
    uint32_t january = m >= 10, year = era * 400 + y + january;
    uint32_t leap = ((year % 4 == 0) & (year % 100 != 0)) | (year % 400 == 0);
    return (civil){
        .year = (int32_t)(year - ERAS * 400),
        .month = january ? m - 9 : m + 3,
        .day = of_year - (153 * m + 2) / 5 + 1,
        .of_year = january ? of_year - 306 : of_year + 59 + leap,
        .leap = leap,
        .weekday = (z + 2) % 7,
    };
}

/* The ISO week, which belongs to the year of its Thursday. */
INLINE i64 week_of(i64 days)
{
    return civil_of(days - civil_of(days).weekday + 3).of_year / 7 + 1;
}

/* Days since the first day of the quarter. */
INLINE uint32_t of_quarter(const civil *t)
{
    uint32_t past = (t->month > 3 ? 90 + t->leap : 0) + (t->month > 6 ? 91 : 0) + (t->month > 9 ? 92 : 0);
    return t->of_year - past;
}

#define DATES(name, ...)                                                                                     \
    static void name(i64 *restrict r, const i64 *restrict a, size_t n)                                       \
    {                                                                                                        \
        for (size_t i = 0; i < n; i++) {                                                                     \
            i64 days = (int32_t)a[i];                                                                        \
            civil t = civil_of(days);                                                                        \
            r[i] = __VA_ARGS__;                                                                              \
        }                                                                                                    \
    }
DATES(part_year, t.year)
DATES(part_quarter, (t.month + 2) / 3)
DATES(part_month, t.month)
DATES(part_week, ((void)t, week_of(days)))
DATES(part_day, t.day)
DATES(part_weekday, t.weekday + 1)
DATES(part_of_year, t.of_year + 1)
DATES(trunc_year, days - t.of_year)
DATES(trunc_quarter, days - of_quarter(&t))
DATES(trunc_month, days - t.day + 1)
DATES(trunc_week, days - t.weekday)

typedef void (*dates)(i64 *r, const i64 *a, size_t n);

INLINE u64 run_dates(const hac_columns *c, const dates *by_unit, hac_op op)
{
    size_t n = whole_blocks(c);
    uint32_t longest = 0;
    const i64 *a = c->a;
    for (size_t i = 0; i < n; i++) {
        int32_t days = (int32_t)a[i];
        longest |= (uint32_t)(days ^ days >> 31);
    }
    if (longest >> DAYS_LIMIT != 0)
        return hac_kernels_scalar[op].columns(c);
    by_unit[c->k->number](c->r, a, n);
    return 0;
}

static u64 date_part_columns(const hac_columns *c)
{
    static const dates parts[] = {part_year, part_quarter, part_month,  part_week,
                                  part_day,  part_weekday, part_of_year};
    return run_dates(c, parts, HAC_OP_DATE_PART);
}

static u64 date_trunc_columns(const hac_columns *c)
{
    static const dates truncs[] = {trunc_year, trunc_quarter, trunc_month, trunc_week};
    return run_dates(c, truncs, HAC_OP_DATE_TRUNC);
}

/* The remainder and the quotient of a floor division. */
INLINE i64 floor_small(i64 x, i64 y, i64 *ret_quotient)
{
    i64 rest, q = divide_small(x, y, &rest);
    *ret_quotient = q - (rest < 0);
    return rest + (rest < 0 ? y : 0);
}

static u64 timestamp_to_date_columns(const hac_columns *c)
{
    size_t n = whole_blocks(c);
    i64 *restrict r = c->r;
    const i64 *restrict a = c->a;
    if (!EXACT_IN_DOUBLES(longest_i64(a, n)))
        return hac_kernels_scalar[HAC_OP_TIMESTAMP_TO_DATE].columns(c);
    for (size_t i = 0; i < n; i++) {
        i64 quotient;
        floor_small(a[i], HAC_US_PER_DAY, &quotient);
        r[i] = quotient;
    }
    return 0;
}

/* For hour, minute, second and microsecond: microseconds of the unit, and of the next larger unit. */
static const i64 time_units[][2] = {{HAC_US_PER_HOUR, HAC_US_PER_DAY},
                                    {HAC_US_PER_MINUTE, HAC_US_PER_HOUR},
                                    {HAC_US_PER_SECOND, HAC_US_PER_MINUTE},
                                    {1, HAC_US_PER_SECOND}};

static u64 time_part_columns(const hac_columns *c)
{
    size_t n = whole_blocks(c);
    i64 *restrict r = c->r, unit = time_units[c->k->number - HAC_UNIT_HOUR][0];
    const i64 *restrict a = c->a, above = time_units[c->k->number - HAC_UNIT_HOUR][1];
    if (!EXACT_IN_DOUBLES(longest_i64(a, n)))
        return hac_kernels_scalar[HAC_OP_TIME_PART].columns(c);
    for (size_t i = 0; i < n; i++) {
        i64 quotient, rest;
        r[i] = divide_small(floor_small(a[i], above, &quotient), unit, &rest);
    }
    return 0;
}

static u64 time_trunc_columns(const hac_columns *c)
{
    size_t n = whole_blocks(c);
    i64 *restrict r = c->r, unit = time_units[c->k->number - HAC_UNIT_HOUR][0];
    const i64 *restrict a = c->a;
    if (!EXACT_IN_DOUBLES(longest_i64(a, n)))
        return hac_kernels_scalar[HAC_OP_TIME_TRUNC].columns(c);
    for (size_t i = 0; i < n; i++) {
        i64 quotient;
        r[i] = a[i] - floor_small(a[i], unit, &quotient);
    }
    return 0;
}

#define TABLE_BINARY(OP, name) [HAC_OP_##OP] = {name##_columns, name##_one_b, name##_one_a}
#define TABLE_UNARY(OP, name)  [HAC_OP_##OP] = {name##_columns, NULL, NULL}
#define TABLE_FLOATS(T, t)                                                                                   \
    TABLE_BINARY(ADD_##T, add_##t), TABLE_BINARY(SUB_##T, sub_##t), TABLE_BINARY(MUL_##T, mul_##t),          \
        TABLE_BINARY(DIV_##T, div_##t), TABLE_UNARY(NEG_##T, neg_##t), TABLE_UNARY(ABS_##T, abs_##t),        \
        TABLE_UNARY(SQRT_##T, sqrt_##t), TABLE_UNARY(FLOOR_##T, floor_##t), TABLE_UNARY(CEIL_##T, ceil_##t), \
        TABLE_UNARY(TRUNC_##T, trunc_##t), TABLE_UNARY(ROUND_##T, round_##t)
#define TABLE_COMPARISONS(T, t)                                                                              \
    TABLE_BINARY(EQ_##T, eq_##t), TABLE_BINARY(LT_##T, lt_##t), TABLE_BINARY(LE_##T, le_##t)

const hac_kernels HAC_KERNELS[HAC_OP_END] = {
    TABLE_BINARY(ADD_I64, add_i64),
    TABLE_BINARY(SUB_I64, sub_i64),
    TABLE_BINARY(MUL_I64, mul_i64),
    TABLE_BINARY(DIV_I64, div_i64),
    TABLE_BINARY(MOD_I64, mod_i64),
    TABLE_UNARY(NEG_I64, neg_i64),
    TABLE_UNARY(ABS_I64, abs_i64),
    TABLE_BINARY(ADD_U64, add_u64),
    TABLE_BINARY(SUB_U64, sub_u64),
    TABLE_BINARY(MUL_U64, mul_u64),
    TABLE_BINARY(DIV_U64, div_u64),
    TABLE_BINARY(MOD_U64, mod_u64),
    TABLE_FLOATS(F32, f32),
    TABLE_FLOATS(F64, f64),
    TABLE_BINARY(EQ_BOOL, eq_bool),
    TABLE_BINARY(LT_BOOL, lt_bool),
    TABLE_COMPARISONS(I64, i64),
    TABLE_COMPARISONS(U64, u64),
    TABLE_COMPARISONS(F32, f32),
    TABLE_COMPARISONS(F64, f64),
    TABLE_UNARY(IN_I64, in_i64),
    TABLE_UNARY(IN_U64, in_u64),
    TABLE_UNARY(IN_F64, in_f64),
    TABLE_UNARY(NOT, not ),
    TABLE_UNARY(BOOL_TO_I64, bool_to_i64),
    TABLE_UNARY(I64_TO_BOOL, i64_to_bool),
    TABLE_UNARY(I64_TO_U64, i64_to_u64),
    TABLE_UNARY(U64_TO_I64, u64_to_i64),
    TABLE_UNARY(I64_TO_F32, i64_to_f32),
    TABLE_UNARY(U64_TO_F32, u64_to_f32),
    TABLE_UNARY(I64_TO_F64, i64_to_f64),
    TABLE_UNARY(U64_TO_F64, u64_to_f64),
    TABLE_UNARY(F32_TO_F64, f32_to_f64),
    TABLE_UNARY(F64_TO_F32, f64_to_f32),
    TABLE_UNARY(F64_TO_I64, f64_to_i64),
    TABLE_UNARY(F64_TO_U64, f64_to_u64),
    TABLE_UNARY(RANGE_I64, range_i64),
    TABLE_UNARY(RANGE_U64, range_u64),
    TABLE_UNARY(SCALE_UP_I64, scale_up_i64),
    TABLE_UNARY(SCALE_DOWN_I64, scale_down_i64),
    TABLE_UNARY(DATE_PART, date_part),
    TABLE_UNARY(DATE_TRUNC, date_trunc),
    TABLE_UNARY(TIMESTAMP_TO_DATE, timestamp_to_date),
    TABLE_UNARY(TIME_PART, time_part),
    TABLE_UNARY(TIME_TRUNC, time_trunc),
};
