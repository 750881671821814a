/* SPDX-License-Identifier: Apache-2.0 */
/* Loops for floats only; included after op_kernels_number.h. */

/* As wide as the instruction set's vectors: wider ones go through memory. */
#if !defined(VECTOR_BYTES)
#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX2__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif
typedef int32_t mask_f32 __attribute__((vector_size(VECTOR_BYTES)));
typedef int64_t mask_f64 __attribute__((vector_size(VECTOR_BYTES)));
#endif
typedef T NAME(vector) __attribute__((vector_size(VECTOR_BYTES)));
#define V     NAME(vector)
#define M     NAME(mask)
#define WIDTH (VECTOR_BYTES / sizeof(T))
#define ALL   _Pragma("GCC unroll 16")
/* Lanes of a where the mask is set, else of b. */
#define PICK(mask, a, b) ((V)(((mask) & (M)(a)) | (~(mask) & (M)(b))))

/* Also works in place. */
static void NAME(tidy)(const T *x, size_t n, T *ret)
{
    for (size_t i = 0; i < n; i++)
        ret[i] = NAME(tidied)(x[i]);
}

/* ---- products of matrices ---- */

INLINE void NAME(tidy_vector)(V *v)
{
    V one = (V){0} + (T)NAN;
    *v = PICK(*v != *v, one, *v);
}

#define PANEL   (HAC_OP_PANEL_BYTES / sizeof(T))
#define ACROSS  (HAC_OP_PANEL_BYTES / VECTOR_BYTES) /* vectors of a panel's row */
#define AT_ONCE (VECTOR_BYTES == 16 ? 2 : 4)        /* rows whose sums fit the registers */

/* `rows` rows of C, one panel wide. The sums stay in registers. */
INLINE void NAME(gemm_rows)(size_t rows, const T *restrict a, size_t a_stride, const V *restrict panel,
                            size_t depth, T *restrict c, size_t c_stride, bool add)
{
    V sum[AT_ONCE][ACROSS];
    ALL for (size_t r = 0; r < rows; r++) ALL for (size_t v = 0; v < ACROSS; v++)
    {
        if (add)
            memcpy(&sum[r][v], c + r * c_stride + v * WIDTH, sizeof(V));
        else
            sum[r][v] = (V){0};
    }
    for (size_t k = 0; k < depth; k++)
        ALL for (size_t r = 0; r < rows; r++)
        {
            T by = a[r * a_stride + k];
            ALL for (size_t v = 0; v < ACROSS; v++) sum[r][v] += panel[k * ACROSS + v] * by;
        }
    ALL for (size_t r = 0; r < rows; r++) ALL for (size_t v = 0; v < ACROSS; v++)
    {
        NAME(tidy_vector)(&sum[r][v]);
        memcpy(c + r * c_stride + v * WIDTH, &sum[r][v], sizeof(V));
    }
}

/* The last columns, for which a panel is too wide, go through a copy. */
static void NAME(gemm_narrow)(const T *a, size_t a_stride, const V *panel, size_t depth, T *c, size_t columns,
                              bool add)
{
    T row[PANEL] = {0};
    memcpy(row, c, add ? columns * sizeof *c : 0);
    NAME(gemm_rows)(1, a, a_stride, panel, depth, row, 0, add);
    memcpy(c, row, columns * sizeof *c);
}

static void NAME(gemm)(const void *data, size_t a_stride, const void *panel, size_t rows, size_t depth,
                       void *ret, size_t c_stride, size_t columns, bool add)
{
    const T *a = data;
    T *c = ret;
    size_t r = 0;
    if (columns == PANEL) {
        for (; r + AT_ONCE <= rows; r += AT_ONCE)
            NAME(gemm_rows)
        (AT_ONCE, a + r * a_stride, a_stride, panel, depth, c + r * c_stride, c_stride, add);
        for (; r < rows; r++)
            NAME(gemm_rows)(1, a + r * a_stride, a_stride, panel, depth, c + r * c_stride, c_stride, add);
    }
    for (; r < rows; r++)
        NAME(gemm_narrow)(a + r * a_stride, a_stride, panel, depth, c + r * c_stride, columns, add);
}

/* ---- distances: vectors over the rows of A, which are turned for that ---- */

#define VECTORS   (HAC_OP_TURNED_BYTES / VECTOR_BYTES)
#define TURN_ROWS (VECTORS * WIDTH)

#define MAGNITUDE(v) ((V)((M)(v) & (I)((U) ~(U)0 >> 1)))

INLINE T NAME(root)(T v)
{
    return sizeof(T) == 4 ? (T)sqrtf((float)v) : (T)sqrt((double)v);
}

#include "op_kernels_scaled.h"

static void NAME(turn)(const T *restrict a, size_t rows, size_t columns, T *restrict turned)
{
    for (size_t c = 0; c < columns; c++)
        for (size_t r = 0; r < TURN_ROWS; r++)
            turned[c * TURN_ROWS + r] = r < rows ? a[r * columns + c] : 0;
}

/* Sums over the columns for TURN_ROWS rows of A and one row of B. */
INLINE void NAME(sums)(unsigned function, const V *restrict a, const T *restrict b, size_t columns, V *ret)
{
    V sum[VECTORS];
    ALL for (size_t v = 0; v < VECTORS; v++) sum[v] = (V){0};
    for (size_t c = 0; c < columns; c++, a += VECTORS)
        ALL for (size_t v = 0; v < VECTORS; v++)
        {
            if (function == HAC_OP_COSINE) {
                sum[v] += a[v] * b[c];
            } else {
                V d = a[v] - b[c];
                sum[v] += function == HAC_OP_MANHATTAN ? MAGNITUDE(d) : d * d;
            }
        }
    ALL for (size_t v = 0; v < VECTORS; v++) ret[v] = sum[v];
}

/* Turns sums into distances. `norms` are the lengths of the rows of A, `norm` that of B's row. */
INLINE void NAME(finish)(unsigned function, const T *restrict norms, T norm, T *restrict sums)
{
    for (size_t r = 0; r < TURN_ROWS; r++) {
        if (function == HAC_OP_COSINE)
            sums[r] = norms[r] == 0 || norm == 0 ? 1 : 1 - sums[r] / (norms[r] * norm);
        sums[r] = NAME(tidied)(sums[r]);
    }
}

static void NAME(roots)(T *restrict values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        values[i] = NAME(tidied)(NAME(root)(values[i]));
}

static void NAME(norms)(const T *restrict turned, size_t columns, T *restrict ret)
{
    for (size_t r = 0; r < TURN_ROWS; r++)
        ret[r] = 0;
    for (size_t c = 0; c < columns; c++)
        for (size_t r = 0; r < TURN_ROWS; r++)
            ret[r] += turned[c * TURN_ROWS + r] * turned[c * TURN_ROWS + r];
    NAME(roots)(ret, TURN_ROWS);
}

typedef union NAME(sums_of) {
    V v[VECTORS];
    T t[TURN_ROWS];
} NAME(sums_of);

/* Whether the sums of row `j` of B are safe for all rows. */
INLINE bool NAME(are_safe)(unsigned function, const T *restrict norms, T norm, const T *restrict sums,
                           size_t rows)
{
    bool safe = function != HAC_OP_COSINE || NAME(length_is_safe)(norm);
    for (size_t r = 0; r < rows; r++)
        safe &= function == HAC_OP_COSINE ? NAME(length_is_safe)(norms[r]) : NAME(sum_is_safe)(sums[r]);
    return safe || function == HAC_OP_MANHATTAN;
}

INLINE void NAME(distance_rows)(unsigned function, const hac_op_tile *tile, const T *a, size_t rows,
                                T *restrict ret, uint64_t stride)
{
    const T *b = tile->b, *b_norms = tile->b_norms;
    T norms[TURN_ROWS] = {0};
    NAME(sums_of) sums;
    NAME(turn)(a, rows, tile->columns, tile->turned);
    if (function == HAC_OP_COSINE)
        NAME(norms)(tile->turned, tile->columns, norms);
    for (uint64_t j = 0; j < tile->b_rows; j++) {
        T norm = function == HAC_OP_COSINE ? b_norms[j] : 0;
        NAME(sums)(function, tile->turned, b + j * tile->columns, tile->columns, sums.v);
        bool safe = NAME(are_safe)(function, norms, norm, sums.t, rows);
        NAME(finish)(function, norms, norm, sums.t);
        if (function == HAC_OP_EUCLIDEAN)
            NAME(roots)(sums.t, TURN_ROWS);
        for (size_t r = 0; r < rows; r++)
            ret[r * stride + j] = safe ? sums.t[r]
                                       : NAME(tidied)(NAME(pair)(function, a + r * tile->columns,
                                                                 b + j * tile->columns, tile->columns));
    }
}

static void NAME(distance)(const hac_op_tile *tile, void *ret, uint64_t stride)
{
    for (size_t r = 0; r < tile->rows; r += TURN_ROWS) {
        size_t rows = tile->rows - r < TURN_ROWS ? tile->rows - r : TURN_ROWS;
        const T *a = (const T *)tile->a + r * tile->columns;
        T *out = (T *)ret + r * stride;
        if (tile->function == HAC_OP_COSINE)
            NAME(distance_rows)(HAC_OP_COSINE, tile, a, rows, out, stride);
        else if (tile->function == HAC_OP_MANHATTAN)
            NAME(distance_rows)(HAC_OP_MANHATTAN, tile, a, rows, out, stride);
        else if (tile->function == HAC_OP_EUCLIDEAN)
            NAME(distance_rows)(HAC_OP_EUCLIDEAN, tile, a, rows, out, stride);
        else
            NAME(distance_rows)(HAC_OP_SQUARED_EUCLIDEAN, tile, a, rows, out, stride);
    }
}

/* Whether row `at` of B is nearest to `a` for sure. A sum of 0 is the smallest if the rows are equal. */
static bool NAME(is_nearest)(unsigned function, const hac_op_tile *tile, const T *a, T best, uint32_t at)
{
    if (function == HAC_OP_MANHATTAN || NAME(sum_is_safe)(best))
        return true;
    return best == 0 && NAME(largest)(a, (const T *)tile->b + at * tile->columns, tile->columns, 1) == 0;
}

/* Row numbers of B in vectors of integers of T's size. */
INLINE void NAME(nearest_rows)(unsigned function, const hac_op_tile *tile, const T *a, size_t rows,
                               uint32_t *restrict ret, T *restrict ret_distance)
{
    const T *b = tile->b, *b_norms = tile->b_norms;
    T norms[TURN_ROWS] = {0};
    NAME(sums_of) sums, best;
    M where[VECTORS];
    bool safe = true;
    NAME(turn)(a, rows, tile->columns, tile->turned);
    if (function == HAC_OP_COSINE)
        NAME(norms)(tile->turned, tile->columns, norms);
    for (size_t v = 0; v < VECTORS; v++) {
        best.v[v] = (V){0} + (T)INFINITY;
        where[v] = (M){0};
    }
    for (uint64_t j = 0; j < tile->b_rows; j++) {
        NAME(sums)(function, tile->turned, b + j * tile->columns, tile->columns, sums.v);
        if (function == HAC_OP_COSINE) {
            safe &= NAME(are_safe)(function, norms, b_norms[j], sums.t, rows);
            NAME(finish)(function, norms, b_norms[j], sums.t);
        }
        ALL for (size_t v = 0; v < VECTORS; v++)
        {
            M closer = sums.v[v] < best.v[v];
            best.v[v] = PICK(closer, sums.v[v], best.v[v]);
            where[v] = (closer & (I)j) | (~closer & where[v]);
        }
    }
    for (size_t r = 0; r < rows; r++)
        ret[r] = (uint32_t)where[r / WIDTH][r % WIDTH];
    NAME(sums_of) distances = best;
    if (function == HAC_OP_EUCLIDEAN && ret_distance != NULL)
        NAME(roots)(distances.t, TURN_ROWS);
    for (size_t r = 0; r < rows; r++) {
        const T *row = a + r * tile->columns;
        if (function == HAC_OP_COSINE ? !safe : !NAME(is_nearest)(function, tile, row, best.t[r], ret[r]))
            ret[r] = NAME(nearest_of)(function, tile, row, &distances.t[r]);
        if (ret_distance != NULL)
            ret_distance[r] = distances.t[r];
    }
}

static void NAME(nearest)(const hac_op_tile *tile, uint32_t *ret, void *ret_distance)
{
    for (size_t r = 0; r < tile->rows; r += TURN_ROWS) {
        size_t rows = tile->rows - r < TURN_ROWS ? tile->rows - r : TURN_ROWS;
        const T *a = (const T *)tile->a + r * tile->columns;
        T *out = ret_distance == NULL ? NULL : (T *)ret_distance + r;
        if (tile->function == HAC_OP_COSINE)
            NAME(nearest_rows)(HAC_OP_COSINE, tile, a, rows, ret + r, out);
        else if (tile->function == HAC_OP_MANHATTAN)
            NAME(nearest_rows)(HAC_OP_MANHATTAN, tile, a, rows, ret + r, out);
        else if (tile->function == HAC_OP_EUCLIDEAN)
            NAME(nearest_rows)(HAC_OP_EUCLIDEAN, tile, a, rows, ret + r, out);
        else
            NAME(nearest_rows)(HAC_OP_SQUARED_EUCLIDEAN, tile, a, rows, ret + r, out);
    }
}

#undef V
#undef M
#undef PICK
#undef MAGNITUDE
#undef WIDTH
#undef ALL
#undef PANEL
#undef ACROSS
#undef AT_ONCE
#undef VECTORS
#undef TURN_ROWS
