/* SPDX-License-Identifier: Apache-2.0 */
/* op.distance, op.nearest: a work-item has one pair of rows, or one row of A. Sums whose squares may have left the
 * range of floats are marked, and noted as OP_FAIL_SUM: the host codelet does these rows again, scaled
 * (host/op_kernels_scaled.h, which says what is safe). Included after op_number.cl. */
#if OP_NUMBER < 2

/* Correctly rounded, even if the 32-bit root is not. */
inline T root(T a)
{
#ifdef cl_khr_fp64
    return (T)sqrt((double)a);
#else
    return sqrt(a);
#endif
}

inline T quotient(T a, T b)
{
#ifdef cl_khr_fp64
    return (T)((double)a / (double)b);
#else
    return a / b;
#endif
}

#if OP_NUMBER == 0
#define TINY   0x1p-100f
#define SHORT  0x1p-50f
#define LONG   0x1p60f
#define UNSAFE as_float(0x7fc00001u) /* a NaN that nothing computes */
#else
#define TINY   0x1p-960
#define SHORT  0x1p-480
#define LONG   0x1p500
#define UNSAFE as_double(0x7ff8000000000001UL)
#endif

inline bool same_rows(__global const T *a, __global const T *b, ulong columns)
{
    for (ulong c = 0; c < columns; c++)
        if (a[c] != b[c])
            return false;
    return true;
}

/* *ret_safe: whether the result counts; of squares only if it is TINY or more, and finite. */
inline T pair_of(uint function, __global const T *a, __global const T *b, ulong columns, bool *ret_safe)
{
    T sum = 0, na = 0, nb = 0;
    for (ulong c = 0; c < columns; c++) {
        T v = a[c], w = b[c], d = v - w;
        if (function == OP_COSINE) {
            sum += v * w;
            na += v * v;
            nb += w * w;
        } else {
            sum += function == OP_MANHATTAN ? fabs(d) : d * d;
        }
    }
    if (function == OP_COSINE) {
        na = TIDIED(root(na));
        nb = TIDIED(root(nb));
        *ret_safe = na >= SHORT && na <= LONG && nb >= SHORT && nb <= LONG;
        sum = na == 0 || nb == 0 ? (T)1 : (T)1 - quotient(sum, na * nb);
    } else {
        *ret_safe = function == OP_MANHATTAN || (sum >= TINY && sum < (T)INFINITY);
    }
    return TIDIED(sum);
}

__kernel void op_distance(__global const T *a, ulong a_at, __global const T *b, ulong rows, ulong others,
                          ulong columns, uint function, __global T *y, volatile __global uint *fail)
{
    bool safe;
    const ulong i = get_global_id(0) / others, j = get_global_id(0) % others;
    if (i >= rows)
        return;
    T d = pair_of(function, a + a_at + i * columns, b + j * columns, columns, &safe);
    d = function == OP_EUCLIDEAN ? TIDIED(root(d)) : d;
    if (!safe && (function == OP_COSINE || d != 0 || !same_rows(a + a_at + i * columns, b + j * columns, columns))) {
        d = UNSAFE;
        note_failure(fail, OP_FAIL_SUM, i);
    }
    y[i * others + j] = d;
}

__kernel void op_nearest(__global const T *a, ulong a_at, __global const T *b, ulong rows, ulong others,
                         ulong columns, uint function, __global uint *y, __global T *distance, uint with_distance,
                         volatile __global uint *fail)
{
    const ulong i = get_global_id(0);
    T best = (T)INFINITY;
    uint at = 0;
    bool safe = true, all_safe = true;
    if (i >= rows)
        return;
    for (ulong j = 0; j < others; j++) {
        T d = pair_of(function, a + a_at + i * columns, b + j * columns, columns, &safe);
        all_safe &= safe;
        if (d < best) {
            best = d;
            at = (uint)j;
        }
    }
    if (function == OP_COSINE)
        safe = all_safe;
    else
        safe = function == OP_MANHATTAN || (best >= TINY && best < (T)INFINITY) ||
               (best == 0 && same_rows(a + a_at + i * columns, b + at * columns, columns));
    if (!safe)
        note_failure(fail, OP_FAIL_SUM, i);
    y[i] = safe ? at : 0xffffffffu;
    if (with_distance)
        distance[i] = function == OP_EUCLIDEAN ? TIDIED(root(best)) : best;
}
#undef TINY
#undef SHORT
#undef LONG
#undef UNSAFE
#endif
