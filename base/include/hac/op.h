/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sub-operators (opsplit, docs/flows/opsplit.md): what those who make their tasks and the codelets op.* agree
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
 * Elements: i32, i64, f32, f64, u32 and u64 (indices), bool (a byte); of texts the kind is string. There are
 * no nulls.
 *
 * `rows`, `columns` and `entries` of an operand that is written are the room it has. Of what an operand's
 * form does not have, `entries`, `offsets` and `indices` are ignored.
 *
 * Same answer everywhere. Floats are added up in an order that depends on the rows' numbers alone: in blocks
 * of HAC_OP_BLOCK rows, counted over the whole vector however it is cut; in a block lane l (of HAC_OP_LANES)
 * adds rows l, l + LANES … in turn, from 0.0; then lanes are added pairwise: for (s = LANES / 2; s > 0; s /=
 * 2) lane[i] += lane[i + s] for i < s. op.reduce leaves a partial a block, op.combine adds the partials up by
 * the same rule, as if they were rows, until one is left. Rows of matrices are added up along the row in turn
 * (gemm: by ascending column, from 0.0). spmv adds a row in four lanes: lane l adds entries l, l + 4 ... of
 * the row, then lanes are added pairwise. reduce_by_key adds in blocks of HAC_OP_KEY_BLOCK rows, row by row,
 * the blocks' tables then in turn. No operation is contracted.
 */
#ifndef HAC_OP_H
#define HAC_OP_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HAC_OP_BLOCK        4096
#define HAC_OP_LANES        64
#define HAC_OP_KEY_BLOCK    65536
#define HAC_OP_OPERANDS_MAX 8
#define HAC_OP_CALL_MAX     16384                        /* bytes of a call */
#define HAC_OP_MAGIC        UINT64_C(0x314c4c4143434148) /* "HACCALL1" */

/* What a vector is of. */
typedef enum hac_vector_type {
    HAC_VECTOR_OF_NONE = 0,
    HAC_VECTOR_OF_BOOL = 1, /* a byte: 0 or 1 */
    HAC_VECTOR_OF_I32 = 4,
    HAC_VECTOR_OF_I64 = 5,
    HAC_VECTOR_OF_U32 = 8,
    HAC_VECTOR_OF_U64 = 9,
    HAC_VECTOR_OF_F32 = 10,
    HAC_VECTOR_OF_F64 = 11,
    HAC_VECTOR_OF_STRING = 15 /* text; need not be UTF-8 */
} hac_vector_type;

/* The seven forms of vectors. */
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

/* A vector of a call: its form, and where its parts lie. */
typedef struct hac_op_operand {
    uint8_t form; /* hac_vector_template */
    uint8_t kind; /* hac_vector_type */
    uint8_t span; /* of the task */
    uint8_t ones; /* 1: every entry of this sparse matrix (f64) is 1.0, and `values` is neither read nor
                   * written; of csr, spmv and row_reduce only */
    uint32_t unused;
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
    HAC_OP_LARGEST,   /* reduce: largest |x| (norm inf) */
    HAC_OP_PRODUCTS,  /* reduce of two operands: sum of x × y (dot) */
    HAC_OP_EUCLIDEAN, /* distance */
    HAC_OP_SQUARED_EUCLIDEAN,
    HAC_OP_MANHATTAN,
    HAC_OP_COSINE,
    HAC_OP_EXACT_SUM,       /* reduce of floats: the exact sum, rounded once */
    HAC_OP_EXACT_MAGNITUDE, /* … of |x| (norm 1) */
    HAC_OP_EXACT_PRODUCTS,  /* … of x × y (dot) */
    HAC_OP_EXACT_SQUARES,   /* … of x × x */
    HAC_OP_EXACT_LENGTH,    /* the root of the exact sum of x × x, rounded once (norm 2) */
    HAC_OP_FUNCTION_END
} hac_op_function;

/* The beginning of a task's inline data. */
typedef struct hac_op_call {
    uint64_t magic;
    uint32_t function; /* hac_op_function */
    uint32_t n_operands;
    uint32_t program_bytes; /* of expr/program.h, behind the operands; 0: none */
    uint32_t flags;         /* hac_op_flag */
    double a, b;            /* factors, bounds */
    uint64_t n;             /* keys, bins */
} hac_op_call;

/* Bits of hac_op_call.flags. */
typedef enum hac_op_flag {
    HAC_OP_EXCLUSIVE = 1, /* scan */
    HAC_OP_SYMMETRIC = 2  /* csr */
} hac_op_flag;

/* Columns of the partials of HAC_OP_EXACT_…. They are of f64, but hold 64-bit integers: the digits of an
 * exact sum, of 32 bits each, lowest first, then the numbers of NaN, of infinities and of negative
 * infinities. */
#define HAC_OP_EXACT_COLUMNS 139

/* clang-format off */
/*
 * The codelets. Each is C on devices whose host codelets run, and has kernels under its name with ".cl"
 * behind it on others. Operands in order, R: read, W: written. The range is what a task's first and count are
 * over: rows of the named vector as it lies there (not of the whole one), cut at multiples of the grain only;
 * no range: first and count are 0.
 *
 *   codelet          operands                            range, grain
 *   op.map           W y, R x1 ... x7                    rows of y, BLOCK
 *                    y = the program of a row's values, element by element: x has y's rows and columns, or
 *                    one row and one column, which is the same for all. The program's inputs are x1 ... in
 *                    order and of their kinds, its output of y's. A state that is no value (overflow, null)
 *                    fails, with the row.
 *   op.reduce        W partials, R x, [R y]              rows of x, BLOCK
 *                    or W partials, R x1 ... x7 and a program, of what it gives
 *                    partial b is of block b. SUM, SQUARES, MAGNITUDE, MIN, MAX, LARGEST, PRODUCTS, COUNT (of
 *                    rows; of bool: of true ones), ARGMIN, ARGMAX (16 bytes a partial: the value, 8 bytes,
 *                    then the u64 number of its row in the whole vector), EXACT_SUM, EXACT_MAGNITUDE,
 *                    EXACT_PRODUCTS, EXACT_SQUARES, EXACT_LENGTH (of floats; partials of f64,
 *                    HAC_OP_EXACT_COLUMNS of them, or one: what the block alone gives; C only). x has one
 *                    column
 *   op.combine       W value, R partials                 none
 *                    `function` as of the reduce. One row; of ARG...: u64 with 2 columns, the row's number,
 *                    then the value's 8 bytes; of EXACT_…: f64
 *   op.scan_sums     W partials, R x                     rows of x, BLOCK
 *   op.scan          W y, R x, R partials                rows of y, BLOCK
 *                    running SUM, MIN or MAX, partials of op.scan_sums for all blocks. A sum's y is (sum of
 *                    the blocks before, in turn) + ((sum of the runs of LANES rows before in its block, in
 *                    turn) + the sum of its run so far, in turn); partials are what that gives at a block's
 *                    end
 *   op.filter_count  W counts (u64), R x1 ... x7         rows of x1, BLOCK
 *                    count b: rows of block b where the program (bool) is true; null is not true
 *   op.filter_copy   W y, R x, R counts, R x1 ... x5     rows of x, BLOCK
 *                    rows of x for which it is true, in order: those of block b from row counts[0] + ... +
 *                    counts[b - 1] on
 *   op.gather        W y, R x, R index                   rows of y, BLOCK
 *                    y[i] = x[index[i]], whole rows; index: u32, u64, i32 or i64
 *   op.scatter       W y, R x, R index                   none
 *                    y[index[i]] = x[i], of equal ones the last; rows that no index names are 0
 *   op.gemv          W y, R A, R x                       rows of y, 1
 *                    y = A x; lanes along each row
 *   op.gemm          W C, R A, R B                       rows of C, 1
 *   op.spmv          W y, R A (sparse), R x              rows of y, 1
 *   op.distance      W D, R A, R B                       rows of A, 1
 *                    D: rows of A x rows of B. EUCLIDEAN, SQUARED_EUCLIDEAN, MANHATTAN, COSINE (1 - cosine; 1
 *                    where a row is all 0); sums by ascending column from 0.0
 *   op.nearest       W index (u32), R A, R B, [W distance]   rows of A, BLOCK
 *                    the row of B with the smallest distance, the first of equal ones (EUCLIDEAN: of equal
 *                    squares); a distance that is infinite or NaN is never the smallest: 0 where all are, and
 *                    the distance is infinite
 *   op.arg_rows      W index (u32), R A (dense)          rows of A, BLOCK
 *                    ARGMIN or ARGMAX of each row
 *   op.row_reduce    W y, R A (dense, sparse, variable)  rows of A, BLOCK
 *                    SUM, SQUARES, MAGNITUDE, MIN, MAX, LARGEST of each row, COUNT of its entries (y u64); an
 *                    empty row is 0
 *   op.keys          W tables, R keys (u32 ... i64, below n), [R x]   rows of keys, KEY_BLOCK
 *                    table b, of block b: n rows x (1 + columns of x) of f64 (of floats) or i64: the key's
 *                    rows, then SUM, MIN or MAX of each column; 0 where it has none
 *   op.keys_combine  W y, R tables                       rows of y, BLOCK
 *                    y: n rows as a table's, all blocks together; `function` as of op.keys
 *   op.histogram     W tables (u64), R x                 rows of x, KEY_BLOCK
 *                    table b: n bins of block b. Bin i is from border i up to, not including, border i + 1;
 *                    border i is a + i (b - a) / n, for floats rounded once, else exact. b itself is in the
 *                    last bin; what is outside of a ... b or NaN is left out. Then op.keys_combine
 *
 * Host only, without a range:
 *
 *   op.tokenize      W words (SparseTextVector), W row (u64: the row of x that each is from), R x
 *                    words as `--parse words` has them: runs of bytes other than space, \t \n \v \f \r
 *   op.index         W id (u32 a row), W distinct (of x's form), R x, [W id2, R x2: of one numbering with x]
 *                    distinct values in ascending order (bytes of text; NaN last, -0.0 is 0.0), numbered
 *   op.csr           W matrix (f64), R row, R column, [R values (f64)]
 *                    equal places are added up in turn; without values each entry is 1.0; with
 *                    HAC_OP_SYMMETRIC each place is there both ways and once: the first in turn counts.
 *                    W matrix may be `ones`, with HAC_OP_SYMMETRIC and without values
 *   op.transpose     W matrix, R matrix (both dense or both sparse)
 *   op.while         rounds of calls of the others, for hacctl and libhac-opsplit (base/op_while.h)
 *
 * Kinds. SUM, SQUARES, MAGNITUDE, PRODUCTS, MIN, MAX, LARGEST and ARG... of i32, i64 are i64, of u32, u64 and
 * bool u64, of f32 f32 or f64 (widened before anything is added), of f64 f64; COUNT is u64. An integer sum
 * that leaves its 64 bits on the way (in the order above) fails, with the block. gemv, gemm, spmv, distance
 * and nearest are of one kind throughout, f32 or f64, the first three also i64. Floats: NaN equals NaN and is
 * above all numbers for MIN, MAX and ARG...; a NaN that is computed is always the positive quiet one.
 *
 * The sizes of some outputs depend on the data: those of op.filter_copy (rows that its blocks kept),
 * op.tokenize, op.index (the first output is id, the second `distinct`) and op.csr. Such a task reports these
 * values: 0 rows of the first output, 1 its entries, 2 rows of the second output, 3 its entries. If an output
 * is too small, nothing is written and the task still succeeds: compare the values with the sizes of the
 * outputs, and run the task again with larger ones.
 */
/* clang-format on */

#ifdef __cplusplus
}
#endif
#endif
