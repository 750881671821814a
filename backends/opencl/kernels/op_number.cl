/* SPDX-License-Identifier: Apache-2.0 */
/* The type of number T that sub-operators compute with: OP_NUMBER is 0 f32, 1 f64, 2 i64, 3 u64. Included
 * after op_lanes.cl, once for each type. */
#undef T
#undef NAME
#undef LOWEST
#undef HIGHEST
#undef ADD
#undef PRODUCT
#undef MAGNITUDE
#undef LESS
#undef TIDIED
#if OP_NUMBER < 2
#if OP_NUMBER == 0
#define T       float
#define NAME(x) x##_f32
#define NOT_ANY as_float(0x7fc00000u)
#else
#define T       double
#define NAME(x) x##_f64
#define NOT_ANY as_double(0x7ff8000000000000UL)
#endif
#define LOWEST          ((T)-INFINITY)
#define HIGHEST         NOT_ANY
#define ADD(a, b, bad)  ((a) + (b))
#define PRODUCT(a, b, bad) ((a) * (b))
#define MAGNITUDE(a, bad)  fabs(a)
#define LESS(a, b)      ((a) < (b) || ((b) != (b) && (a) == (a)))
#define TIDIED(a)       ((a) != (a) ? NOT_ANY : (a))
#else
#if OP_NUMBER == 2
#define T       long
#define NAME(x) x##_i64
#define LOWEST  ((long)0x8000000000000000L)
#define HIGHEST 0x7fffffffffffffffL
#else
#define T       ulong
#define NAME(x) x##_u64
#define LOWEST  0UL
#define HIGHEST (~0UL)
#endif
#define ADD(a, b, bad)     NAME(add)(a, b, bad)
#define PRODUCT(a, b, bad) NAME(product)(a, b, bad)
#define MAGNITUDE(a, bad)  NAME(magnitude)(a, bad)
#define LESS(a, b)         ((a) < (b))
#define TIDIED(a)          (a)

/* *bad becomes nonzero if a sum does not fit 64 bits. */
inline T NAME(add)(T a, T b, uint *bad)
{
    T sum = (T)((ulong)a + (ulong)b);
#if OP_NUMBER == 2
    *bad |= (uint)((ulong)((a ^ sum) & (b ^ sum)) >> 63);
#else
    *bad |= sum < a;
#endif
    return sum;
}

inline T NAME(product)(T a, T b, uint *bad)
{
    T product = (T)((ulong)a * (ulong)b);
#if OP_NUMBER == 2
    *bad |= mul_hi(a, b) != product >> 63;
#else
    *bad |= mul_hi(a, b) != 0;
#endif
    return product;
}

inline T NAME(magnitude)(T a, uint *bad)
{
#if OP_NUMBER == 2
    *bad |= a == LOWEST;
    return a < 0 ? (T)(0 - (ulong)a) : a;
#else
    return a;
#endif
}
#endif

/* Element `i` of a vector of `kind`, widened. */
inline T NAME(number_at)(__global const uchar *x, uint kind, ulong i)
{
    switch (kind) {
#if OP_NUMBER < 2
#if OP_NUMBER == 1
    case OP_F64:
        return ((__global const double *)x)[i];
    case OP_I32:
        return (T)((__global const int *)x)[i];
    case OP_U32:
        return (T)((__global const uint *)x)[i];
    case OP_I64:
        return (T)((__global const long *)x)[i];
    case OP_U64:
        return (T)((__global const ulong *)x)[i];
#endif
    default:
        return (T)((__global const float *)x)[i];
#else
    case OP_BOOL:
        return x[i] != 0;
    case OP_I32:
        return (T)((__global const int *)x)[i];
    case OP_U32:
        return (T)((__global const uint *)x)[i];
    default:
        return (T)((__global const ulong *)x)[i];
#endif
    }
}

/* The value that is summed, or whose minimum or maximum is taken. */
inline T NAME(term)(uint function, T x, uint *bad)
{
    switch (function) {
    case OP_SQUARES:
        return PRODUCT(x, x, bad);
    case OP_MAGNITUDE:
    case OP_LARGEST:
        return MAGNITUDE(x, bad);
    default:
        return x;
    }
}

/* Whether `v` replaces `than`, for MIN, MAX and LARGEST. */
inline bool NAME(replaces)(uint function, T v, T than)
{
    return function == OP_MIN || function == OP_ARGMIN ? LESS(v, than) : LESS(than, v);
}

inline bool NAME(is_sum)(uint function)
{
    return function == OP_SUM || function == OP_SQUARES || function == OP_MAGNITUDE || function == OP_PRODUCTS;
}

inline T NAME(start)(uint function)
{
    switch (function) {
    case OP_MIN:
    case OP_ARGMIN:
        return HIGHEST;
    case OP_MAX:
    case OP_ARGMAX:
        return LOWEST;
    default:
        return 0;
    }
}

inline T NAME(join)(uint function, T a, T b, uint *bad)
{
    if (NAME(is_sum)(function))
        return ADD(a, b, bad);
    return NAME(replaces)(function, b, a) ? b : a;
}
