/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled once for each instruction set; HAC_KERNELS is the name of the result. */
#include "host/op_kernels.h"

#include <math.h>
#include <string.h>

#include "base/op_layout.h"

#define INLINE static inline __attribute__((always_inline))
#define LANES  HAC_OP_LANES

/* sum · 2^exponent, of op_kernels_scaled.h */
typedef struct scaled_sum {
    double sum;
    int exponent;
} scaled_sum;

#define T        float
#define I        int32_t
#define U        uint32_t
#define NAME(x)  x##_f32
#define IS_FLOAT 1
#include "op_kernels_number.h"
#undef T
#undef I
#undef U
#undef NAME
#define T       double
#define I       int64_t
#define U       uint64_t
#define NAME(x) x##_f64
#include "op_kernels_number.h"
#undef T
#undef U
#undef NAME
#undef IS_FLOAT
#define IS_FLOAT  0
#define T         int64_t
#define U         uint64_t
#define NAME(x)   x##_i64
#define IS_SIGNED 1
#include "op_kernels_number.h"
#undef T
#undef NAME
#undef IS_SIGNED
#define T         uint64_t
#define NAME(x)   x##_u64
#define IS_SIGNED 0
#include "op_kernels_number.h"

/* ---- conversions ---- */

#define WIDEN(from, to)                                                                                      \
    {                                                                                                        \
        const from *restrict in = x;                                                                         \
        to *restrict out = ret;                                                                              \
        for (size_t i = 0; i < n; i++)                                                                       \
            out[i] = (to)in[i];                                                                              \
        return;                                                                                              \
    }
#define WIDEN_ALL(to)                                                                                        \
    switch (kind) {                                                                                          \
    case HAC_KIND_I32:                                                                                       \
        WIDEN(int32_t, to)                                                                                   \
    case HAC_KIND_I64:                                                                                       \
        WIDEN(int64_t, to)                                                                                   \
    case HAC_KIND_U32:                                                                                       \
        WIDEN(uint32_t, to)                                                                                  \
    case HAC_KIND_U64:                                                                                       \
        WIDEN(uint64_t, to)                                                                                  \
    default:                                                                                                 \
        break;                                                                                               \
    }

/* i64 and u64 have the same bits. */
static void widen_bools(const uint8_t *restrict x, size_t n, void *ret)
{
    uint64_t *restrict out = ret;
    for (size_t i = 0; i < n; i++)
        out[i] = x[i] != 0;
}

static void widen_f64(unsigned kind, const void *x, size_t n, void *ret)
{
    if (kind == HAC_KIND_F32)
        WIDEN(float, double)
    if (kind == HAC_KIND_F64)
        WIDEN(double, double)
    WIDEN_ALL(double)
}

static void widen_i64(unsigned kind, const void *x, size_t n, void *ret)
{
    WIDEN_ALL(int64_t)
}

static void widen_u64(unsigned kind, const void *x, size_t n, void *ret)
{
    WIDEN_ALL(uint64_t)
}

static void widen(unsigned kind, hac_op_number number, const void *x, size_t n, void *ret)
{
    if (number == HAC_OP_F32 && kind == HAC_KIND_F32)
        WIDEN(float, float)
    if (number == HAC_OP_F64)
        widen_f64(kind, x, n, ret);
    else if (number >= HAC_OP_I64 && kind == HAC_KIND_BOOL)
        widen_bools(x, n, ret);
    else if (number == HAC_OP_I64)
        widen_i64(kind, x, n, ret);
    else if (number == HAC_OP_U64)
        widen_u64(kind, x, n, ret);
}

/* ---- exact sums ---- */

#define AT_ONCE 16

static inline uint64_t magnitude_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits << 1;
}

static void exponents(const double *x, size_t n, unsigned *ret_low, unsigned *ret_high)
{
    uint64_t low[AT_ONCE], high[AT_ONCE] = {0};
    memset(low, 0xff, sizeof low); /* a zero less 1 */
    for (size_t i = 0; i < n; i += AT_ONCE) {
        double part[AT_ONCE] = {0};
        if (n - i >= AT_ONCE)
            memcpy(part, x + i, sizeof part);
        else
            memcpy(part, x + i, (n - i) * sizeof *x);
        for (size_t l = 0; l < AT_ONCE; l++) {
            uint64_t bits = magnitude_bits(part[l]);
            high[l] = bits > high[l] ? bits : high[l];
            low[l] = bits - 1 < low[l] ? bits - 1 : low[l];
        }
    }
    for (size_t l = 1; l < AT_ONCE; l++) {
        high[0] = high[l] > high[0] ? high[l] : high[0];
        low[0] = low[l] < low[0] ? low[l] : low[0];
    }
    *ret_low = low[0] == UINT64_MAX ? 0x7fe : (unsigned)((low[0] + 1) >> 53);
    *ret_high = (unsigned)(high[0] >> 53);
}

static void products(const double *restrict x, const double *restrict y, size_t n, double *restrict ret,
                     double *restrict ret_rest)
{
    for (size_t i = 0; i < n; i++) {
        double product = x[i] * y[i];
        ret_rest[i] = fma(x[i], y[i], -product);
        ret[i] = product;
    }
}

/* Bits of a value that one level takes: of HAC_OP_EXACT_ROWS values the sum has 53 bits, and is exact. */
#define LEVEL_BITS 43

typedef struct level_sums {
    double of[HAC_OP_EXACT_LEVELS][AT_ONCE], rest[AT_ONCE]; /* rest: 0 if all are */
} level_sums;

/* Adding 1.5 · 2^(e + 52) rounds a smaller number to a multiple of 2^e. What is left is exact, and so are
 * sums of the multiples: no order of additions changes them. */
INLINE void sum_lanes(const double *restrict x, bool magnitude, const double *restrict magic,
                      double *restrict ret_rest, level_sums *restrict sums)
{
    double value[AT_ONCE];
    for (size_t l = 0; l < AT_ONCE; l++)
        value[l] = magnitude ? fabs(x[l]) : x[l];
    for (size_t k = 0; k < HAC_OP_EXACT_LEVELS; k++)
        for (size_t l = 0; l < AT_ONCE; l++) {
            double multiple = (value[l] + magic[k]) - magic[k];
            value[l] -= multiple;
            sums->of[k][l] += multiple;
        }
    for (size_t l = 0; l < AT_ONCE; l++) {
        ret_rest[l] = value[l];
        sums->rest[l] += fabs(value[l]);
    }
}

INLINE bool sums_of(const double *x, size_t n, bool magnitude, int exponent, double *ret_rest,
                    double ret_sums[HAC_OP_EXACT_LEVELS])
{
    level_sums sums = {.rest = {0}};
    double magic[HAC_OP_EXACT_LEVELS], rest = 0;
    for (int k = 0; k < HAC_OP_EXACT_LEVELS; k++) {
        int unit = exponent - LEVEL_BITS * (k + 1) + 1;
        magic[k] = ldexp(1.5, (unit > -1074 ? unit : -1074) + 52);
        ret_sums[k] = 0;
    }
    size_t whole = n - n % AT_ONCE;
    for (size_t i = 0; i < whole; i += AT_ONCE)
        sum_lanes(x + i, magnitude, magic, ret_rest + i, &sums);
    if (whole < n) {
        double part[AT_ONCE] = {0}, part_rest[AT_ONCE];
        memcpy(part, x + whole, (n - whole) * sizeof *x);
        sum_lanes(part, magnitude, magic, part_rest, &sums);
        memcpy(ret_rest + whole, part_rest, (n - whole) * sizeof *x);
    }
    for (size_t l = 0; l < AT_ONCE; l++) {
        for (size_t k = 0; k < HAC_OP_EXACT_LEVELS; k++)
            ret_sums[k] += sums.of[k][l];
        rest += sums.rest[l];
    }
    return rest != 0;
}

static bool sums(const double *x, size_t n, bool magnitude, int exponent, double *ret_rest,
                 double ret_sums[HAC_OP_EXACT_LEVELS])
{
    return magnitude ? sums_of(x, n, true, exponent, ret_rest, ret_sums)
                     : sums_of(x, n, false, exponent, ret_rest, ret_sums);
}

const hac_op_kernels HAC_KERNELS = {
    .reduce = {reduce_f32, reduce_f64, reduce_i64, reduce_u64},
    .arg = {arg_f32, arg_f64, arg_i64, arg_u64},
    .in_turn = {in_turn_f32, in_turn_f64, in_turn_i64, in_turn_u64},
    .scan = {scan_f32, scan_f64, scan_i64, scan_u64},
    .add_keys = {add_keys_f32, add_keys_f64, add_keys_i64, add_keys_u64},
    .add_table = {add_table_f32, add_table_f64, add_table_i64, add_table_u64},
    .gemm = {gemm_f32, gemm_f64, NULL, NULL},
    .distance = {distance_f32, distance_f64, NULL, NULL},
    .nearest = {nearest_f32, nearest_f64, NULL, NULL},
    .widen = widen,
    .exponents = exponents,
    .products = products,
    .sums = sums,
    .tidy32 = tidy_f32,
    .tidy64 = tidy_f64,
};
