/* SPDX-License-Identifier: Apache-2.0 */
/* op.distance, op.nearest: a work-item has one pair of rows, or one row of A. Behind op_number.cl. */
#if OP_NUMBER < 2

/* Correctly rounded even where the 32-bit one is not. */
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

inline T pair_of(uint function, __global const T *a, __global const T *b, ulong columns)
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
        sum = na == 0 || nb == 0 ? (T)1 : (T)1 - quotient(sum, na * nb);
    }
    return TIDIED(sum);
}

__kernel void op_distance(__global const T *a, ulong a_at, __global const T *b, ulong rows, ulong others,
                          ulong columns, uint function, __global T *y)
{
    const ulong i = get_global_id(0) / others, j = get_global_id(0) % others;
    if (i >= rows)
        return;
    T d = pair_of(function, a + a_at + i * columns, b + j * columns, columns);
    y[i * others + j] = function == OP_EUCLIDEAN ? TIDIED(root(d)) : d;
}

__kernel void op_nearest(__global const T *a, ulong a_at, __global const T *b, ulong rows, ulong others,
                         ulong columns, uint function, __global uint *y, __global T *distance, uint with_distance)
{
    const ulong i = get_global_id(0);
    T best = (T)INFINITY;
    uint at = 0;
    if (i >= rows)
        return;
    for (ulong j = 0; j < others; j++) {
        T d = pair_of(function, a + a_at + i * columns, b + j * columns, columns);
        if (d < best) {
            best = d;
            at = (uint)j;
        }
    }
    y[i] = at;
    if (with_distance)
        distance[i] = function == OP_EUCLIDEAN ? TIDIED(root(best)) : best;
}
#endif
