/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inner loops of sub-operators, compiled from one source for several instruction sets (op_kernels.c).
 * They work on four types of numbers; other types are widened first. base/op_layout.h defines the results and
 * the order of additions.
 *
 * A function returns false if an integer sum does not fit 64 bits.
 */
#ifndef HOST_OP_KERNELS_H
#define HOST_OP_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum hac_op_number {
    HAC_OP_F32 = 0,
    HAC_OP_F64,
    HAC_OP_I64,
    HAC_OP_U64,
    HAC_OP_NUMBERS
} hac_op_number;

#define HAC_OP_TILE_ROWS    64  /* maximum rows of A in a tile */
#define HAC_OP_TURNED_BYTES 256 /* bytes of one column of the transposed tile */

typedef struct hac_op_tile {
    unsigned function;
    size_t rows, columns; /* of A; at most HAC_OP_TILE_ROWS rows */
    const void *a;        /* rows × columns */
    const void *b;        /* b_rows × columns */
    uint64_t b_rows;
    const void *b_norms; /* COSINE: the length of each row of B */
    void *turned;        /* scratch: columns × HAC_OP_TURNED_BYTES, 64-byte aligned */
} hac_op_tile;

#define HAC_OP_EXACT_ROWS     1024
#define HAC_OP_EXACT_LEVELS   3
#define HAC_OP_EXACT_EXPONENT 1012 /* values up to 2^this can be given to `sums` */

typedef struct hac_op_kernels {
    /* Reduces `n` elements by lanes; y is for PRODUCTS. *ret is one element. */
    bool (*reduce[HAC_OP_NUMBERS])(unsigned function, const void *x, const void *y, size_t n, void *ret);
    /* The first minimum or maximum of 1 … 2^32 elements. */
    void (*arg[HAC_OP_NUMBERS])(bool max, const void *x, size_t n, void *ret, uint64_t *ret_at);
    /* Reduces `n` elements one after the other. */
    bool (*in_turn[HAC_OP_NUMBERS])(unsigned function, const void *x, size_t n, void *ret);
    /* The running function of a block after `carry`. If y is NULL, only the total of the block, without the
     * carry. */
    bool (*scan[HAC_OP_NUMBERS])(unsigned function, bool exclusive, const void *x, size_t n,
                                 const void *carry, void *y, void *ret_total);
    /* Adds each row of x to the row of the table that `keys` names. All keys are below the length of the
     * table. */
    bool (*add_keys[HAC_OP_NUMBERS])(unsigned function, const uint64_t *keys, const void *x, size_t n,
                                     size_t columns, void *table);
    /* Combines `n` rows of `cells` of a table into y. `any`: y holds the first table already. */
    bool (*add_table[HAC_OP_NUMBERS])(unsigned function, const void *table, size_t n, size_t cells, void *y);
    /* For floats only: C[rows × columns, `c_stride`] (+)= A[rows × depth, `a_stride`] × panel of B. */
    void (*gemm[HAC_OP_NUMBERS])(const void *a, size_t a_stride, const void *panel, size_t rows, size_t depth,
                                 void *c, size_t c_stride, size_t columns, bool add);
    void (*distance[HAC_OP_NUMBERS])(const hac_op_tile *tile, void *ret, uint64_t stride);
    void (*nearest[HAC_OP_NUMBERS])(const hac_op_tile *tile, uint32_t *ret, void *ret_distance);
    /* Converts elements of `kind` to numbers. */
    void (*widen)(unsigned kind, hac_op_number number, const void *x, size_t n, void *ret);
    /* The lowest exponent of f64 values that are not 0, as in their bits, and the highest one; 0x7ff: of an
     * infinite value or a NaN. Without any, the lowest is 0x7fe and the highest 0. */
    void (*exponents)(const double *x, size_t n, unsigned *ret_low, unsigned *ret_high);
    /* x · y = product + rest, where the product neither overflows nor loses bits at the lower end. */
    void (*products)(const double *x, const double *y, size_t n, double *ret, double *ret_rest);
    /* Adds up to HAC_OP_EXACT_ROWS values below 2^exponent, or what is larger of them than about
     * 2^(exponent - 128): the exact sum is that of ret_sums. *ret_rest gets what is left of each value;
     * false: all are 0. `magnitude`: of |x|. */
    bool (*sums)(const double *x, size_t n, bool magnitude, int exponent, double *ret_rest,
                 double ret_sums[HAC_OP_EXACT_LEVELS]);
    /* Copies elements; all NaNs become the same NaN. */
    void (*tidy32)(const float *x, size_t n, float *ret);
    void (*tidy64)(const double *x, size_t n, double *ret);
} hac_op_kernels;

#define HAC_OP_PANEL_BYTES 64 /* of a row of a panel: 16 f32 or 8 f64 */

extern const hac_op_kernels hac_op_kernels_baseline;
#if defined(__x86_64__)
extern const hac_op_kernels hac_op_kernels_x86_64_v3;
extern const hac_op_kernels hac_op_kernels_x86_64_v4;
#endif

/* The kernels for this CPU. */
const hac_op_kernels *hac_op_kernels_best(void);

hac_op_number hac_op_number_of(unsigned kind);
size_t hac_op_number_size(hac_op_number number);

#endif
