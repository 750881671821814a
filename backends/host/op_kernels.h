/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inner loops of sub-operators, from one source for several instruction sets (op_kernels.c). They work on
 * four numbers: others are widened first. What is computed, and in which order, says base/op_layout.h.
 *
 * "false" is an integer sum that left its 64 bits.
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

#define HAC_OP_TILE_ROWS    64  /* rows of A that distances are computed for at once, at most */
#define HAC_OP_TURNED_BYTES 256 /* of one column of them */

typedef struct hac_op_tile {
    unsigned function;
    size_t rows, columns; /* of A; rows ≤ HAC_OP_TILE_ROWS */
    const void *a;        /* rows × columns */
    const void *b;        /* b_rows × columns */
    uint64_t b_rows;
    const void *b_norms; /* COSINE: of each row of B */
    void *turned;        /* columns × HAC_OP_TURNED_BYTES of its own, 64-byte aligned */
} hac_op_tile;

typedef struct hac_op_kernels {
    /* Of `n` elements by lanes; y: PRODUCTS. *ret is one element. */
    bool (*reduce[HAC_OP_NUMBERS])(unsigned function, const void *x, const void *y, size_t n, void *ret);
    /* The first one of the least or greatest of 1 … 2^32 elements. */
    void (*arg[HAC_OP_NUMBERS])(bool greatest, const void *x, size_t n, void *ret, uint64_t *ret_at);
    /* Of `n` elements in turn. */
    bool (*in_turn[HAC_OP_NUMBERS])(unsigned function, const void *x, size_t n, void *ret);
    /* A block's running function behind `carry`; y NULL: only the total of the block, without carry. */
    bool (*scan[HAC_OP_NUMBERS])(unsigned function, bool exclusive, const void *x, size_t n,
                                 const void *carry, void *y, void *ret_total);
    /* Adds rows of x (`columns` each) to the table's rows that `keys`, all below the table's length, say. */
    bool (*add_keys[HAC_OP_NUMBERS])(unsigned function, const uint64_t *keys, const void *x, size_t n,
                                     size_t columns, void *table);
    /* Combines `n` rows of `cells` of a table into y; `any`: y has had its first table. */
    bool (*add_table[HAC_OP_NUMBERS])(unsigned function, const void *table, size_t n, size_t cells, void *y);
    /* Floats only. C[rows × columns, `c_stride`] (+)= A[rows × depth, `a_stride`] × panel of B. */
    void (*gemm[HAC_OP_NUMBERS])(const void *a, size_t a_stride, const void *panel, size_t rows, size_t depth,
                                 void *c, size_t c_stride, size_t columns, bool add);
    void (*distance[HAC_OP_NUMBERS])(const hac_op_tile *tile, void *ret, uint64_t stride);
    void (*nearest[HAC_OP_NUMBERS])(const hac_op_tile *tile, uint32_t *ret, void *ret_distance);
    /* Elements of `kind` as numbers. */
    void (*widen)(unsigned kind, hac_op_number number, const void *x, size_t n, void *ret);
    /* Copies with one NaN for all. */
    void (*tidy32)(const float *x, size_t n, float *ret);
    void (*tidy64)(const double *x, size_t n, double *ret);
} hac_op_kernels;

#define HAC_OP_PANEL_BYTES 64 /* of a row of a panel: 16 f32 or 8 f64 */

extern const hac_op_kernels hac_op_kernels_baseline;
#if defined(__x86_64__)
extern const hac_op_kernels hac_op_kernels_x86_64_v3;
extern const hac_op_kernels hac_op_kernels_x86_64_v4;
#endif

/* Those for the CPU that this runs on. */
const hac_op_kernels *hac_op_kernels_best(void);

hac_op_number hac_op_number_of(unsigned kind);
size_t hac_op_number_size(hac_op_number number);

#endif
