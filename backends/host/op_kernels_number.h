/* SPDX-License-Identifier: Apache-2.0 */
/* The loops for one type of number T (U: the unsigned integer of its size). op_kernels.c includes this file
 * several times. */

/* After `ADD`, the highest bit of `bad` is set if a sum did not fit 64 bits. */
#if IS_FLOAT
#define ADD(to, what) ((to) += (what))
#define FAILED(bad)   ((void)(bad), false)
INLINE T NAME(square)(T v, U *bad)
{
    (void)bad;
    return v * v;
}
INLINE T NAME(product)(T v, T w, U *bad)
{
    (void)bad;
    return v * w;
}
INLINE T NAME(magnitude)(T v, U *bad)
{
    (void)bad;
    return sizeof(T) == 4 ? (T)fabsf((float)v) : (T)fabs((double)v);
}
/* NaN is greater than all numbers. */
INLINE bool NAME(less)(T a, T b)
{
    return !(a >= b) & (a == a);
}
INLINE T NAME(tidied)(T v)
{
    return v != v ? (T)NAN : v;
}
#define LOWEST  ((T)-INFINITY)
#define HIGHEST ((T)NAN)
#else
#if IS_SIGNED
#define ADD(to, what)                                                                                        \
    do {                                                                                                     \
        T term = (what), total = (T)((U)(to) + (U)term);                                                     \
        bad |= (U)((total ^ (to)) & (total ^ term));                                                         \
        (to) = total;                                                                                        \
    } while (0)
#define LOWEST  INT64_MIN
#define HIGHEST INT64_MAX
#else
#define ADD(to, what)                                                                                        \
    do {                                                                                                     \
        T term = (what), total = (to) + term;                                                                \
        bad |= ((to)&term) | (((to) | term) & ~total); /* the carry out of the highest bit */                \
        (to) = total;                                                                                        \
    } while (0)
#define LOWEST  0
#define HIGHEST UINT64_MAX
#endif
#define FAILED(bad) ((bad) >> 63 != 0)
INLINE T NAME(product)(T v, T w, U *bad)
{
    T product;
    *bad |= (U)__builtin_mul_overflow(v, w, &product) << 63;
    return product;
}
INLINE T NAME(square)(T v, U *bad)
{
    return NAME(product)(v, v, bad);
}
INLINE T NAME(magnitude)(T v, U *bad)
{
#if IS_SIGNED
    T sign = v >> 63, magnitude = (T)(((U)v ^ (U)sign) - (U)sign);
    *bad |= (U)magnitude; /* for INT64_MIN: INT64_MIN itself */
    return magnitude;
#else
    (void)bad;
    return v;
#endif
}
INLINE bool NAME(less)(T a, T b)
{
    return a < b;
}
INLINE T NAME(tidied)(T v)
{
    return v;
}
#endif

/* ---- by lanes ---- */

#define LANE_LOOP(step)                                                                                      \
    for (size_t at = 0; at + LANES <= n; at += LANES)                                                        \
        for (size_t l = 0; l < LANES; l++) {                                                                 \
            size_t i = at + l;                                                                               \
            step                                                                                             \
        }                                                                                                    \
    for (size_t l = 0; l < n % LANES; l++) {                                                                 \
        size_t i = n - n % LANES + l;                                                                        \
        step                                                                                                 \
    }

#define SUM_BY_LANES(name, term)                                                                             \
    static bool NAME(name)(const T *restrict x, const T *restrict y, size_t n, T *ret)                       \
    {                                                                                                        \
        T lane[LANES] = {0};                                                                                 \
        U bad = 0;                                                                                           \
        (void)y;                                                                                             \
        LANE_LOOP({ ADD(lane[l], term); })                                                                   \
        for (size_t s = LANES / 2; s > 0; s /= 2)                                                            \
            for (size_t l = 0; l < s; l++)                                                                   \
                ADD(lane[l], lane[l + s]);                                                                   \
        *ret = NAME(tidied)(lane[0]);                                                                        \
        return !FAILED(bad);                                                                                 \
    }

SUM_BY_LANES(lanes_sum, x[i])
SUM_BY_LANES(lanes_squares, NAME(square)(x[i], &bad))
SUM_BY_LANES(lanes_magnitude, NAME(magnitude)(x[i], &bad))
SUM_BY_LANES(lanes_products, NAME(product)(x[i], y[i], &bad))

/* `better(a, b)` is true if a replaces b. */
#define BEST_BY_LANES(name, worst, value, better)                                                            \
    static bool NAME(name)(const T *restrict x, size_t n, T *ret)                                            \
    {                                                                                                        \
        T lane[LANES];                                                                                       \
        U bad = 0;                                                                                           \
        for (size_t l = 0; l < LANES; l++)                                                                   \
            lane[l] = worst;                                                                                 \
        LANE_LOOP({                                                                                          \
            T v = value;                                                                                     \
            T b = lane[l];                                                                                   \
            lane[l] = better ? v : b;                                                                        \
        })                                                                                                   \
        for (size_t s = LANES / 2; s > 0; s /= 2)                                                            \
            for (size_t l = 0; l < s; l++) {                                                                 \
                T v = lane[l + s], b = lane[l];                                                              \
                lane[l] = better ? v : b;                                                                    \
            }                                                                                                \
        *ret = NAME(tidied)(lane[0]);                                                                        \
        return bad >> (8 * sizeof bad - 1) == 0;                                                             \
    }

BEST_BY_LANES(lanes_min, HIGHEST, x[i], NAME(less)(v, b))
BEST_BY_LANES(lanes_max, LOWEST, x[i], NAME(less)(b, v))
BEST_BY_LANES(lanes_largest, 0, NAME(magnitude)(x[i], &bad), NAME(less)(b, v))

static bool NAME(reduce)(unsigned function, const void *x, const void *y, size_t n, void *ret)
{
    switch (function) {
    case HAC_OP_SUM:
        return NAME(lanes_sum)(x, NULL, n, ret);
    case HAC_OP_SQUARES:
        return NAME(lanes_squares)(x, NULL, n, ret);
    case HAC_OP_MAGNITUDE:
        return NAME(lanes_magnitude)(x, NULL, n, ret);
    case HAC_OP_PRODUCTS:
        return NAME(lanes_products)(x, y, n, ret);
    case HAC_OP_MIN:
        return NAME(lanes_min)(x, n, ret);
    case HAC_OP_MAX:
        return NAME(lanes_max)(x, n, ret);
    default:
        return NAME(lanes_largest)(x, n, ret);
    }
}

/* ---- which one ---- */

INLINE void NAME(arg_loop)(bool max, const T *restrict x, size_t n, T *ret, uint64_t *ret_at)
{
    T lane[LANES];
    U where[LANES];
    for (size_t l = 0; l < LANES; l++) {
        size_t i = l < n ? l : 0;
        lane[l] = x[i];
        where[l] = (U)i;
    }
    size_t at = LANES;
    for (; at + LANES <= n; at += LANES)
        for (size_t l = 0; l < LANES; l++) {
            T v = x[at + l], b = lane[l];
            bool better = max ? NAME(less)(b, v) : NAME(less)(v, b);
            lane[l] = better ? v : b;
            where[l] = better ? (U)(at + l) : where[l];
        }
    T best = lane[0];
    uint64_t best_at = where[0];
    for (size_t l = 0; l < LANES; l++) {
        bool better = max ? NAME(less)(best, lane[l]) : NAME(less)(lane[l], best);
        bool worse = max ? NAME(less)(lane[l], best) : NAME(less)(best, lane[l]);
        if (better || (!worse && where[l] < best_at)) {
            best = lane[l];
            best_at = where[l];
        }
    }
    for (; at < n; at++)
        if (max ? NAME(less)(best, x[at]) : NAME(less)(x[at], best)) {
            best = x[at];
            best_at = at;
        }
    *ret = NAME(tidied)(best);
    *ret_at = best_at;
}

static void NAME(arg)(bool max, const void *x, size_t n, void *ret, uint64_t *ret_at)
{
    if (max)
        NAME(arg_loop)(true, x, n, ret, ret_at);
    else
        NAME(arg_loop)(false, x, n, ret, ret_at);
}

/* ---- in turn ---- */

#define SUM_IN_TURN(term)                                                                                    \
    {                                                                                                        \
        for (size_t i = 0; i < n; i++)                                                                       \
            ADD(sum, term);                                                                                  \
        break;                                                                                               \
    }
#define BEST_IN_TURN(value, better)                                                                          \
    {                                                                                                        \
        sum = n == 0 ? 0 : x[0];                                                                             \
        if (function == HAC_OP_LARGEST && n != 0)                                                            \
            sum = NAME(magnitude)(sum, &bad);                                                                \
        for (size_t i = 1; i < n; i++) {                                                                     \
            T v = value;                                                                                     \
            sum = better ? v : sum;                                                                          \
        }                                                                                                    \
        break;                                                                                               \
    }

static bool NAME(in_turn)(unsigned function, const void *data, size_t n, void *ret)
{
    const T *restrict x = data;
    T sum = 0;
    U bad = 0;
    switch (function) {
    case HAC_OP_SUM:
        SUM_IN_TURN(x[i])
    case HAC_OP_SQUARES:
        SUM_IN_TURN(NAME(square)(x[i], &bad))
    case HAC_OP_MAGNITUDE:
        SUM_IN_TURN(NAME(magnitude)(x[i], &bad))
    case HAC_OP_MIN:
        BEST_IN_TURN(x[i], NAME(less)(v, sum))
    case HAC_OP_MAX:
        BEST_IN_TURN(x[i], NAME(less)(sum, v))
    default:
        BEST_IN_TURN(NAME(magnitude)(x[i], &bad), NAME(less)(sum, v))
    }
    *(T *)ret = NAME(tidied)(sum);
    return bad >> (8 * sizeof bad - 1) == 0;
}

/* ---- scans ---- */

INLINE T NAME(join)(unsigned function, T a, T b, U *ret_bad)
{
    U bad = 0;
    if (function == HAC_OP_MIN)
        return NAME(less)(b, a) ? b : a;
    if (function == HAC_OP_MAX)
        return NAME(less)(a, b) ? b : a;
    ADD(a, b);
    *ret_bad |= bad;
    return a;
}

INLINE T NAME(start)(unsigned function)
{
    return function == HAC_OP_MIN ? HIGHEST : function == HAC_OP_MAX ? LOWEST : 0;
}

#define RUNS_AT_ONCE 8

/* Each run by itself, several at once, since each is a chain of dependent additions. */
INLINE U NAME(scan_runs)(unsigned function, bool exclusive, const T *restrict x, size_t runs, T *restrict y,
                         T *restrict totals)
{
    U bad = 0;
    for (size_t first = 0; first < runs; first += RUNS_AT_ONCE) {
        T sum[RUNS_AT_ONCE];
        size_t k_max = runs - first < RUNS_AT_ONCE ? runs - first : RUNS_AT_ONCE;
        for (size_t k = 0; k < RUNS_AT_ONCE; k++)
            sum[k] = NAME(start)(function);
        for (size_t i = 0; i < LANES; i++)
            for (size_t k = 0; k < k_max; k++) {
                size_t at = (first + k) * LANES + i;
                T before = sum[k];
                sum[k] = NAME(join)(function, sum[k], x[at], &bad);
                y[at] = exclusive ? before : sum[k];
            }
        for (size_t k = 0; k < k_max; k++)
            totals[first + k] = sum[k];
    }
    return bad;
}

INLINE bool NAME(scan_block)(unsigned function, bool exclusive, const T *restrict x, size_t n, const T *carry,
                             T *restrict y, T *ret_total)
{
    T own[HAC_OP_BLOCK], totals[HAC_OP_BLOCK / LANES + 1], c = NAME(start)(function);
    size_t runs = n / LANES, rest = n % LANES;
    U bad = NAME(scan_runs)(function, exclusive, x, runs, own, totals);
    T sum = NAME(start)(function);
    for (size_t i = runs * LANES; i < n; i++) {
        T before = sum;
        sum = NAME(join)(function, sum, x[i], &bad);
        own[i] = exclusive ? before : sum;
    }
    totals[runs] = sum;
    for (size_t k = 0; k < runs + (rest != 0); k++) {
        size_t end = k < runs ? (k + 1) * LANES : n;
        for (size_t i = k * LANES; y != NULL && i < end; i++)
            y[i] = NAME(tidied)(NAME(join)(function, *carry, NAME(join)(function, c, own[i], &bad), &bad));
        c = NAME(join)(function, c, totals[k], &bad);
    }
    *ret_total = NAME(tidied)(c);
    return bad >> (8 * sizeof bad - 1) == 0;
}

static bool NAME(scan)(unsigned function, bool exclusive, const void *x, size_t n, const void *carry, void *y,
                       void *ret_total)
{
    if (function == HAC_OP_MIN)
        return NAME(scan_block)(HAC_OP_MIN, false, x, n, carry, y, ret_total);
    if (function == HAC_OP_MAX)
        return NAME(scan_block)(HAC_OP_MAX, false, x, n, carry, y, ret_total);
    return NAME(scan_block)(HAC_OP_SUM, exclusive, x, n, carry, y, ret_total);
}

/* ---- tables of keys: a row is the count, then a cell a column ---- */

INLINE bool NAME(add_rows)(unsigned function, const uint64_t *restrict keys, const T *restrict x, size_t n,
                           size_t columns, T *restrict cells)
{
    U bad = 0;
    for (size_t i = 0; i < n; i++) {
        T *restrict row = cells + keys[i] * (columns + 1);
        bool first = row[0] == 0;
        row[0] += 1;
        for (size_t c = 0; c < columns; c++) {
            T v = x[i * columns + c], *cell = &row[c + 1];
            if (function == HAC_OP_SUM)
                ADD(*cell, v);
            else if (first || (function == HAC_OP_MIN ? NAME(less)(v, *cell) : NAME(less)(*cell, v)))
                *cell = v;
        }
    }
    return !FAILED(bad);
}

static bool NAME(add_keys)(unsigned function, const uint64_t *keys, const void *x, size_t n, size_t columns,
                           void *table)
{
    if (function == HAC_OP_SUM && columns == 1)
        return NAME(add_rows)(HAC_OP_SUM, keys, x, n, 1, table);
    if (function == HAC_OP_SUM)
        return NAME(add_rows)(HAC_OP_SUM, keys, x, n, columns, table);
    return NAME(add_rows)(function, keys, x, n, columns, table);
}

static bool NAME(add_table)(unsigned function, const void *table, size_t n, size_t cells, void *data)
{
    const T *restrict in = table;
    T *restrict y = data;
    U bad = 0;
    if (function == HAC_OP_SUM) {
        for (size_t i = 0; i < n * cells; i++)
            ADD(y[i], in[i]);
        return !FAILED(bad);
    }
    for (size_t row = 0; row < n; row++, in += cells, y += cells) {
        bool first = y[0] == 0;
        for (size_t c = 1; in[0] != 0 && c < cells; c++)
            if (first || (function == HAC_OP_MIN ? NAME(less)(in[c], y[c]) : NAME(less)(y[c], in[c])))
                y[c] = in[c];
        ADD(y[0], in[0]);
    }
    return !FAILED(bad);
}

#if IS_FLOAT
#include "op_kernels_float.h"
#endif

#undef ADD
#undef FAILED
#undef LOWEST
#undef HIGHEST
#undef LANE_LOOP
#undef SUM_BY_LANES
#undef BEST_BY_LANES
#undef SUM_IN_TURN
#undef BEST_IN_TURN
#undef RUNS_AT_ONCE
