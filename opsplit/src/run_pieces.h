/* SPDX-License-Identifier: Apache-2.0 */
/* What the makers of sub-operators' tasks share. */
#ifndef OPSPLIT_RUN_PIECES_H
#define OPSPLIT_RUN_PIECES_H

#include "run_internal.h"

/* The value of an argument that is a vector; NULL with *err: it has none yet. Not given: NULL without. */
hac_run_vector *hac_run_argument(hac_logic_run *run, const hac_logic_piece *piece, const char *name,
                                 hac_error *err);
/* As hac_run_publish where `status` is HAC_OK; else `value`, for which nothing was added, is given back.
 * Returns `status`. */
hac_status hac_run_give(hac_logic_run *run, const hac_logic_piece *piece, const char *name,
                        hac_run_vector *value, hac_status status);
/* The result of that name becomes `value`, which is taken. Not given: it is dropped. */
void hac_run_publish(hac_logic_run *run, const hac_logic_piece *piece, const char *name,
                     hac_run_vector *value);
void hac_run_set(hac_logic_run *run, int vector, hac_run_vector *value);

/* How many an EXTENT says, or the bound of the values of `of` where it is not given. */
HAC_MUST_USE hac_status hac_run_extent(hac_logic_run *run, const hac_logic_piece *piece, const char *name,
                                       const char *of, uint64_t *ret, hac_error *err);
/* A SCALAR as a double. */
HAC_MUST_USE hac_status hac_run_number(hac_logic_run *run, const hac_logic_piece *piece, const char *name,
                                       double otherwise, double *ret, hac_error *err);

/* A task of this piece: its name, pin, and rows in units. */
hac_run_task hac_run_task_of(const hac_logic_run *run, const hac_logic_piece *piece, const char *codelet);
void hac_run_operand(hac_run_task *task, hac_run_vector *vector, bool whole);
/* An output first, then the inputs. */
void hac_run_output(hac_run_task *task, hac_run_vector *vector);

/* A dense vector of that many rows and columns. */
HAC_MUST_USE hac_status hac_run_dense(hac_logic_run *run, hac_kind kind, uint64_t rows, uint64_t columns,
                                      hac_run_vector *ret, hac_error *err);
/* All elements of a vector as one dense column over the same memory; a borrowed view. */
hac_run_vector hac_run_flat(const hac_run_vector *vector);
uint64_t hac_run_blocks(uint64_t rows, uint64_t block);
/* The kind that `function` of elements of `kind` has. */
hac_kind hac_run_total_kind(hac_op_function function, hac_kind kind);
/* Adds the expression's vectors as operands from where the task is, and its program; *ret_like is the one
 * that says how many rows there are (NULL: all are single values). */
HAC_MUST_USE hac_status hac_run_expression(hac_logic_run *run, const hac_logic_expression *expression,
                                           hac_run_task *task, hac_run_vector **ret_like, hac_error *err);
/* The expression's values, a row each, or one where it reads single values only; not of a sparse vector. */
HAC_MUST_USE hac_status hac_run_map_rows(hac_logic_run *run, const hac_logic_piece *piece,
                                         const hac_logic_expression *expression, hac_run_vector *ret,
                                         hac_error *err);
HAC_MUST_USE hac_status hac_run_map(hac_logic_run *run, const hac_logic_piece *piece,
                                    const hac_logic_expression *expression, int out, hac_error *err);

/* run_reduce.c */
/* op.keys or op.histogram, whose operands behind the output are set, and op.keys_combine: *ret is the table
 * of n keys. */
HAC_MUST_USE hac_status hac_run_tables(hac_logic_run *run, hac_run_task *first, hac_run_task *second,
                                       hac_kind kind, uint64_t n, uint64_t columns, hac_run_vector *ret,
                                       hac_error *err);
hac_status hac_run_reduce_piece(hac_logic_run *run, const hac_logic_piece *piece, hac_error *err);
hac_status hac_run_scan_piece(hac_logic_run *run, const hac_logic_piece *piece, hac_error *err);
hac_status hac_run_dot_piece(hac_logic_run *run, const hac_logic_piece *piece, hac_error *err);
hac_status hac_run_norm_piece(hac_logic_run *run, const hac_logic_piece *piece, hac_error *err);
hac_status hac_run_arg_piece(hac_logic_run *run, const hac_logic_piece *piece, hac_error *err);
hac_status hac_run_row_reduce_piece(hac_logic_run *run, const hac_logic_piece *piece, hac_error *err);
hac_status hac_run_keys_piece(hac_logic_run *run, const hac_logic_piece *piece, hac_error *err);
hac_status hac_run_histogram_piece(hac_logic_run *run, const hac_logic_piece *piece, hac_error *err);
/* run_matrix.c */
hac_status hac_run_product_piece(hac_logic_run *run, const hac_logic_piece *piece, hac_error *err);
hac_status hac_run_distance_piece(hac_logic_run *run, const hac_logic_piece *piece, hac_error *err);
hac_status hac_run_csr_piece(hac_logic_run *run, const hac_logic_piece *piece, hac_error *err);
hac_status hac_run_transpose_piece(hac_logic_run *run, const hac_logic_piece *piece, hac_error *err);
/* run_move.c */
hac_status hac_run_filter_piece(hac_logic_run *run, const hac_logic_piece *piece, hac_error *err);
hac_status hac_run_sort_piece(hac_logic_run *run, const hac_logic_piece *piece, hac_error *err);
hac_status hac_run_gather_piece(hac_logic_run *run, const hac_logic_piece *piece, hac_error *err);
hac_status hac_run_scatter_piece(hac_logic_run *run, const hac_logic_piece *piece, hac_error *err);
hac_status hac_run_tokenize_piece(hac_logic_run *run, const hac_logic_piece *piece, hac_error *err);
hac_status hac_run_index_piece(hac_logic_run *run, const hac_logic_piece *piece, hac_error *err);
hac_status hac_run_range_piece(hac_logic_run *run, const hac_logic_piece *piece, hac_error *err);
hac_status hac_run_fill_piece(hac_logic_run *run, const hac_logic_piece *piece, hac_error *err);
hac_status hac_run_dense_piece(hac_logic_run *run, const hac_logic_piece *piece, hac_error *err);

#endif
