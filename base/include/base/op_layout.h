/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sub-operators (flow D, docs/flows/opsplit.md): what those who make their tasks and the codelets op.* agree
 * on. A task runs one sub-operator over a range of rows of its first output (or of what its line in the table
 * below says); its inline data is a *call*: a hac_op_call, its operands, then its program's bytes.
 *
 * Vectors lie in pool buffers, one buffer each, as Arrow has them, every part at a multiple of 64 bytes:
 *
 *   FixValueVector      values[rows × columns], row by row; a dense matrix is one with columns > 1
 *   SparseValueVector   indices[entries] (u64, ascending), values[entries]; rows is the logical length
 *   SparseTextVector    offsets[rows + 1] (u64) into characters at `values`; entries: bytes of these
 *   VariableLenVector   offsets[rows + 1] (u64), values[entries]
 *   Var, PVar           as FixValueVector; a Var has one row
 *   SparseMatrix        offsets[rows + 1] (u64), indices[entries] (u32, ascending in a row), values[entries]
 *
 * Elements: i32, i64, f32, f64, u32 and u64 (indices), bool (a byte). There are no nulls.
 *
 * Same answer everywhere. Floats are added up in an order that depends on the rows' numbers alone: in blocks
 * of HAC_OP_BLOCK rows, counted over the whole vector however it is cut; in a block lane l (of HAC_OP_LANES)
 * adds rows l, l + LANES … in turn, from 0.0; then lanes are added pairwise: for (s = LANES / 2; s > 0; s /=
 * 2) lane[i] += lane[i + s] for i < s. op.reduce leaves a partial a block, op.combine adds the partials up by
 * the same rule, as if they were rows, until one is left. Rows of matrices are added up along the row in turn
 * (spmv, gemm: by ascending column, from 0.0), reduce_by_key in blocks of HAC_OP_KEY_BLOCK rows, row by row,
 * the blocks' tables then in turn. No operation is contracted.
 */
#ifndef BASE_OP_LAYOUT_H
#define BASE_OP_LAYOUT_H

#include <stdint.h>

#define HAC_OP_BLOCK        4096
#define HAC_OP_LANES        64
#define HAC_OP_KEY_BLOCK    65536
#define HAC_OP_OPERANDS_MAX 8
#define HAC_OP_CALL_MAX     16384 /* bytes of a call */
/* Limits of a graph of sub-operators (SubmitOps). */
#define HAC_OPS_BUFFERS_MAX 32
#define HAC_OPS_TASKS_MAX   512
#define HAC_OPS_AFTER_MAX   64
#define HAC_OPS_CODELET_MAX 31
#define HAC_OP_MAGIC        UINT64_C(0x314c4c4143434148) /* "HACCALL1" */

typedef enum hac_vector_template {
    HAC_VECTOR_NONE = 0,
    HAC_VECTOR_FIX_VALUE,
    HAC_VECTOR_SPARSE_VALUE,
    HAC_VECTOR_SPARSE_TEXT,
    HAC_VECTOR_VARIABLE_LEN,
    HAC_VECTOR_VAR,
    HAC_VECTOR_PVAR,
    HAC_VECTOR_SPARSE_MATRIX,
    HAC_VECTOR_END
} hac_vector_template;

typedef struct hac_op_operand {
    uint8_t form;   /* hac_vector_template */
    uint8_t kind;   /* hac_kind of the elements */
    uint8_t span;   /* of the task */
    uint8_t unused; /* 0 */
    uint32_t unused2;
    uint64_t first;         /* number of its first row in the whole vector: a multiple of HAC_OP_BLOCK where
                             * floats are added up by blocks, so that ranks of MPI count blocks alike */
    uint64_t rows, columns; /* columns: 1 but for matrices */
    uint64_t entries;
    uint64_t values, offsets, indices; /* bytes in the span where each part begins */
} hac_op_operand;

/* What a sub-operator does with what it has: `function` of a call. */
typedef enum hac_op_function {
    HAC_OP_SUM = 0,
    HAC_OP_MIN,
    HAC_OP_MAX,
    HAC_OP_COUNT,
    HAC_OP_ARGMIN,
    HAC_OP_ARGMAX,
    HAC_OP_SQUARES,   /* reduce: sum of x × x (norm 2) */
    HAC_OP_MAGNITUDE, /* reduce: sum of |x| (norm 1) */
    HAC_OP_LARGEST,   /* reduce: greatest |x| (norm inf) */
    HAC_OP_PRODUCTS,  /* reduce of two operands: sum of x × y (dot) */
    HAC_OP_EUCLIDEAN, /* distance */
    HAC_OP_SQUARED_EUCLIDEAN,
    HAC_OP_MANHATTAN,
    HAC_OP_COSINE,
    HAC_OP_FUNCTION_END
} hac_op_function;

typedef struct hac_op_call {
    uint64_t magic;
    uint32_t function; /* hac_op_function */
    uint32_t n_operands;
    uint32_t program_bytes; /* of expr/program.h, behind the operands; 0: none */
    uint32_t flags;         /* hac_op_flag */
    double a, b;            /* factors, bounds */
    uint64_t n;             /* keys, bins */
} hac_op_call;

typedef enum hac_op_flag {
    HAC_OP_EXCLUSIVE = 1, /* scan */
    HAC_OP_SYMMETRIC = 2, /* csr */
    HAC_OP_FAST = 4       /* determinism: fast; floats may be added up in any order */
} hac_op_flag;

/*
 * The codelets. Each is C on devices whose host codelets run, and has kernels under its name with ".cl"
 * behind it on others. Operands in order; "range" is what a task's first and count are over (grain: multiples
 * that pieces are cut at). R: read, W: written.
 *
 *   op.map             W y, R x1 … x7 (rows of one row are the same for all): program over rows; range rows
 * of y, grain HAC_OP_BLOCK. A state that is no value (overflow …) fails, with the row op.reduce          W
 * partials (one a block; argmin, argmax: 16 bytes, value and u64 index), R x, [R y]; with a program: of what
 * it gives for the rows of x1 … x7; range rows, grain HAC_OP_BLOCK op.combine         W value (one row; of
 * arg… the u64 index, and the value behind it), R partials; no range op.scan_sums       W partials (of each
 * block), R x; range rows, grain HAC_OP_BLOCK op.scan            W y, R x, R partials: running function;
 * range rows, grain HAC_OP_BLOCK op.filter_count    W counts (u64 a block), R x1 … x7: program (bool); range
 * rows, grain HAC_OP_BLOCK op.filter_copy     W y, R x (to copy), R counts, R x1 … x5 (of the program); range
 * rows, grain HAC_OP_BLOCK op.gather          W y, R x, R index (u32, u64, i32 or i64): y[i] = x[index[i]];
 * range rows of y op.scatter         W y, R x, R index: y[index[i]] = x[i], of equal ones the last; rows of y
 * that no index names are 0; no range op.gemv            W y, R A, R x: y = A x, lanes along each row; range
 * rows of y op.gemm            W C, R A, R B: C = A B; range rows of C op.spmv            W y, R A (sparse),
 * R x; range rows of y op.distance        W D (rows of A × rows of B), R A, R B; range rows of A op.nearest
 * W index (u32), R A, R B, [W distance]: of each row of A the row of B with the least distance, the first of
 * equal ones; range rows of A, grain HAC_OP_BLOCK op.arg_rows        W index (u32), R A: argmin or argmax of
 * each row; range rows op.row_reduce      W y, R A (dense or sparse): function of each row; range rows
 *   op.keys            W tables (a block's: n × (1 + columns of x) f64 or i64 of x: count, then function of
 * each column), R keys (u32 … i64, below n), R x; range rows, grain HAC_OP_KEY_BLOCK op.keys_combine    W y
 * (n rows × (1 + columns)), R tables; range rows of y (keys) op.histogram       W tables (a block's n u64), R
 * x: n bins of equal width from a to b, the last one closed, values outside are left out; range rows, grain
 * HAC_OP_KEY_BLOCK; then op.keys_combine Host only: op.tokenize        W words (SparseTextVector), W row
 * (u64: the row of x that each is from), R x; no range. A word as the contract has it op.index           W id
 * (u32 a row), W distinct (SparseTextVector or FixValueVector, in ascending order), R x, [W id2, R x2: of one
 * numbering with x]; no range op.csr             W matrix (values f64: [R values] or 1.0; equal places are
 * added up in turn, with HAC_OP_SYMMETRIC each place both ways and once), R row, R column; no range
 *   op.transpose       W matrix, R matrix (dense or sparse); no range
 *
 * Values that tasks give back: 0 rows of the first output, 1 its entries, 2 rows of the second, 3 its entries
 * (of those whose size the data decides: filter_copy gives the rows that its blocks kept; tokenize, index,
 * csr; HAC_REFUSED with the size needed in 0 and 1 where an output has no room).
 */

#endif
