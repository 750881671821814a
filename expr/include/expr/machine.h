/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The C column machine: runs a verified program over batches. The OpenCL machine is in backends; both give
 * the same bits for every operation that HAC_OPS does not call INEXACT.
 */
#ifndef EXPR_MACHINE_H
#define EXPR_MACHINE_H

#include "expr/program.h"

typedef struct hac_machine_c hac_machine_c;

/* Registers for one program, which is borrowed and must have been verified. `string_bytes` bounds the memory
 * of strings that one batch may make (lower, concat …); above it the rows are HAC_ROW_OVERFLOW. */
HAC_MUST_USE hac_status hac_machine_c_new(const hac_program *program, size_t string_bytes,
                                          hac_machine_c **ret, hac_error *err);
void hac_machine_c_free(hac_machine_c *machine);

/*
 * Runs the program over a batch whose columns are its inputs, by index (an unused input may be all zero).
 * ret_outputs has room for program->n_outputs vectors; they point into the machine and the batch and are
 * valid until the next call. Cannot fail: what goes wrong is in the rows' states.
 */
void hac_machine_c_run(hac_machine_c *machine, const hac_batch *batch, hac_vector *ret_outputs);

/* The constant value of a program without inputs: its first output's state, and its value at *ret_value (of
 * the output's representation; a string points into the machine). For folding and for literals. */
uint8_t hac_machine_c_constant(hac_machine_c *machine, hac_vector *ret);

/* The rows whose byte is 1 and not 0, in order; `ret` has room for 3 more than rows. Returns how many. */
size_t hac_rows_kept(const uint8_t *keep, size_t rows, uint16_t *ret);
/* Moves rows[0 … n), which ascend, to the front, in all columns; their values and states must be writable. */
void hac_batch_gather(hac_batch *batch, const uint16_t *rows, size_t n);

/* Keeps the rows whose `keep` is true (state HAC_ROW_OK, value 1), in order, in place, in all columns; the
 * columns' values and states must be writable. Returns the rows that are left. */
size_t hac_batch_keep(hac_batch *batch, const hac_vector *keep);

#endif
