/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distances of two rows whose squares may leave the range of floats. The plain sums count where they are
 * safe: neither zero, tiny, infinite nor NaN. Otherwise all differences are multiplied by a power of two
 * that makes the largest about 1. Included by op_kernels_float.h; kernels/op_distance.cl gives such pairs
 * to these loops.
 */

/* Sums of squares below TINY may have lost terms; products of lengths within LONG are safe. */
#define TINY  ((T)(sizeof(T) == 4 ? 0x1p-100 : 0x1p-960))
#define SHORT ((T)(sizeof(T) == 4 ? 0x1p-50 : 0x1p-480))
#define LONG  ((T)(sizeof(T) == 4 ? 0x1p60 : 0x1p500))

INLINE bool NAME(sum_is_safe)(T sum)
{
    return sum >= TINY && sum < (T)INFINITY;
}

INLINE bool NAME(length_is_safe)(T length)
{
    return length >= SHORT && length <= LONG;
}

/* The exponent of a finite v > 0, so far from the limits that its power of two is a normal number. */
static int NAME(exponent)(T v)
{
    int limit = sizeof(T) == 4 ? 100 : 1000, e = ilogb((double)v);
    return e < -limit ? -limit : e > limit ? limit : e;
}

static T NAME(value)(scaled_sum s)
{
    return (T)ldexp(s.sum, s.exponent);
}

/* The largest |a · by - b · by|; NaN if there is one. */
static T NAME(largest)(const T *a, const T *b, size_t columns, T by)
{
    T max = 0;
    for (size_t c = 0; c < columns; c++) {
        T d = a[c] * by - b[c] * by, size = d < 0 ? -d : d;
        if (d != d)
            return d;
        max = size > max ? size : max;
    }
    return max;
}

/* Σ (a - b)², in ascending order of columns. */
static scaled_sum NAME(squares)(const T *a, const T *b, size_t columns)
{
    T sum = 0, by = 1;
    for (size_t c = 0; c < columns; c++)
        sum += (a[c] - b[c]) * (a[c] - b[c]);
    if (NAME(sum_is_safe)(sum))
        return (scaled_sum){sum, 0};
    T max = NAME(largest)(a, b, columns, 1);
    if (max == (T)INFINITY)
        max = NAME(largest)(a, b, columns, by = (T)0.5);
    if (max != max || max == 0 || max == (T)INFINITY)
        return (scaled_sum){max, 0};
    int e = NAME(exponent)(max);
    T factor = (T)ldexp(1, -e);
    sum = 0;
    for (size_t c = 0; c < columns; c++) {
        T d = (a[c] * by - b[c] * by) * factor;
        sum += d * d;
    }
    return (scaled_sum){sum, 2 * (by == 1 ? e : e + 1)};
}

/* A power of two that brings the row's largest element to about 1; 0: the row is zero, NaN: so is an
 * element, or infinite. */
static T NAME(factor)(const T *row, size_t columns)
{
    T max = 0;
    for (size_t c = 0; c < columns; c++) {
        T size = row[c] < 0 ? -row[c] : row[c];
        if (!(size < (T)INFINITY))
            return (T)NAN;
        max = size > max ? size : max;
    }
    return max == 0 ? 0 : (T)ldexp(1, -NAME(exponent)(max));
}

static T NAME(cosine_of_scaled)(const T *a, const T *b, size_t columns)
{
    T fa = NAME(factor)(a, columns), fb = NAME(factor)(b, columns), sum = 0, na = 0, nb = 0;
    if (fa == 0 || fb == 0)
        return 1;
    if (fa != fa || fb != fb)
        return (T)NAN;
    for (size_t c = 0; c < columns; c++) {
        T v = a[c] * fa, w = b[c] * fb;
        sum += v * w;
        na += v * v;
        nb += w * w;
    }
    return 1 - sum / (NAME(root)(na) * NAME(root)(nb));
}

/* As the loops over tiles have it where that is safe. */
static T NAME(pair)(unsigned function, const T *a, const T *b, size_t columns)
{
    T sum = 0, na = 0, nb = 0;
    scaled_sum s;
    switch (function) {
    case HAC_OP_COSINE:
        for (size_t c = 0; c < columns; c++) {
            sum += a[c] * b[c];
            na += a[c] * a[c];
            nb += b[c] * b[c];
        }
        na = NAME(root)(na);
        nb = NAME(root)(nb);
        return NAME(length_is_safe)(na) && NAME(length_is_safe)(nb) ? 1 - sum / (na * nb)
                                                                    : NAME(cosine_of_scaled)(a, b, columns);
    case HAC_OP_MANHATTAN:
        for (size_t c = 0; c < columns; c++)
            sum += a[c] < b[c] ? b[c] - a[c] : a[c] - b[c];
        return sum;
    default:
        s = NAME(squares)(a, b, columns);
        if (function == HAC_OP_EUCLIDEAN)
            s = (scaled_sum){NAME(root)((T)s.sum), s.exponent / 2};
        return NAME(value)(s);
    }
}

/* Neither may be NaN or infinite. */
static bool NAME(is_closer)(scaled_sum x, scaled_sum y)
{
    if (x.sum == 0 || y.sum == 0)
        return x.sum < y.sum;
    int ex = ilogb(x.sum) + x.exponent, ey = ilogb(y.sum) + y.exponent;
    return ex != ey ? ex < ey : ldexp(x.sum, x.exponent - ex) < ldexp(y.sum, y.exponent - ey);
}

/* The row of B that is nearest to `a`, and its distance. */
static uint32_t NAME(nearest_of)(unsigned function, const hac_op_tile *tile, const T *a, T *ret_distance)
{
    const T *b = tile->b;
    uint32_t at = 0;
    scaled_sum best = {(double)INFINITY, 0};
    for (uint64_t j = 0; j < tile->b_rows; j++) {
        const T *row = b + j * tile->columns;
        scaled_sum s = function == HAC_OP_COSINE
                           ? (scaled_sum){NAME(pair)(function, a, row, tile->columns), 0}
                           : NAME(squares)(a, row, tile->columns);
        bool closer = function == HAC_OP_COSINE ? s.sum < best.sum
                                                : s.sum < (double)INFINITY && (best.sum == (double)INFINITY ||
                                                                               NAME(is_closer)(s, best));
        if (closer) {
            best = s;
            at = (uint32_t)j;
        }
    }
    if (function == HAC_OP_EUCLIDEAN)
        best = (scaled_sum){NAME(root)((T)best.sum), best.exponent / 2};
    *ret_distance = NAME(value)(best);
    return at;
}

#undef TINY
#undef SHORT
#undef LONG
