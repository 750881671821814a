/* SPDX-License-Identifier: Apache-2.0 */
/* What the sub-operators need to make tasks of a piece: its arguments, operands and results. */
#ifndef OPSPLIT_RUN_TASK_PARTS_H
#define OPSPLIT_RUN_TASK_PARTS_H

#include "add_tasks.h"

/* The vector of an argument. NULL with *err set: it has no value yet; NULL without: the argument is not
 * given. */
hac_run_vector *hac_run_argument(hac_logic_run_state *run, const hac_logic_piece *piece, const char *name,
                                 hac_error *err);
/* Publishes `value` if `status` is HAC_OK; otherwise drops it. Returns `status`. */
hac_status hac_run_give(hac_logic_run_state *run, const hac_logic_piece *piece, const char *name,
                        hac_run_vector *value, hac_status status);
/* Makes `value` the result of that name. Drops it if the file does not want this result. */
void hac_run_publish(hac_logic_run_state *run, const hac_logic_piece *piece, const char *name,
                     hac_run_vector *value);
void hac_run_set(hac_logic_run_state *run, int vector, hac_run_vector *value);

/* The number that an EXTENT states; if it is not given, the bound of the values of `of`. */
HAC_MUST_USE hac_status hac_run_extent(hac_logic_run_state *run, const hac_logic_piece *piece,
                                       const char *name, const char *of, uint64_t *ret, hac_error *err);
/* The value of a SCALAR as a double; `otherwise` if it is not given. */
HAC_MUST_USE hac_status hac_run_number(hac_logic_run_state *run, const hac_logic_piece *piece,
                                       const char *name, double otherwise, double *ret, hac_error *err);

/* A task of this piece with its name and pin. */
hac_run_task hac_run_task_of(const hac_logic_run_state *run, const hac_logic_piece *piece,
                             const char *codelet);
void hac_run_operand(hac_run_task *task, hac_run_vector *vector, bool whole);
/* Adds an output. Outputs come before the inputs. */
void hac_run_output(hac_run_task *task, hac_run_vector *vector);

/* Makes a dense vector. */
HAC_MUST_USE hac_status hac_run_dense(hac_logic_run_state *run, hac_kind kind, uint64_t rows,
                                      uint64_t columns, hac_run_vector *ret, hac_error *err);
/* A view of all elements of a vector as one dense column over the same memory. */
hac_run_vector hac_run_flat(const hac_run_vector *vector);
uint64_t hac_run_blocks(uint64_t rows, uint64_t block);
/* The kind of the result of `function` over elements of `kind`. */
hac_kind hac_run_total_kind(hac_op_function function, hac_kind kind);
/* Adds the vectors of the expression as operands, and its program. *ret_like is the vector that gives the
 * number of rows; NULL: all are single values. */
HAC_MUST_USE hac_status hac_run_expression(hac_logic_run_state *run, const hac_logic_expression *expression,
                                           hac_run_task *task, hac_run_vector **ret_like, hac_error *err);
/* Computes the expression: a row for each row, or one row if it reads single values only. Not of sparse
 * vectors. */
HAC_MUST_USE hac_status hac_run_map_rows(hac_logic_run_state *run, const hac_logic_piece *piece,
                                         const hac_logic_expression *expression, hac_run_vector *ret,
                                         hac_error *err);
HAC_MUST_USE hac_status hac_run_map(hac_logic_run_state *run, const hac_logic_piece *piece,
                                    const hac_logic_expression *expression, int out, hac_error *err);

#endif
