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
    .tidy32 = tidy_f32,
    .tidy64 = tidy_f64,
};
