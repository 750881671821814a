/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The C column machine runs a verified program on batches of rows. The OpenCL machine is in backends/opencl.
 * Both give the same bits for every operation that HAC_OPS does not call INEXACT.
 */
#ifndef EXPR_MACHINE_H
#define EXPR_MACHINE_H

#include "expr/program.h"

typedef struct hac_machine_c hac_machine_c;

/* A machine for one program, which is borrowed and must have been verified. `string_bytes` limits the memory
 * for strings that one batch makes (lower, concat …); rows beyond the limit are HAC_ROW_OVERFLOW. */
HAC_MUST_USE hac_status hac_machine_c_new(const hac_program *program, size_t string_bytes,
                                          hac_machine_c **ret, hac_error *err);
/* The same for a program that runs on few rows. Its results are the same, but it is slower on many rows,
 * because its loops use only what each processor has. */
HAC_MUST_USE hac_status hac_machine_c_new_once(const hac_program *program, size_t string_bytes,
                                               hac_machine_c **ret, hac_error *err);
void hac_machine_c_free(hac_machine_c *machine);

/*
 * Runs the program on a batch. The batch's columns are the program's inputs, by index; an unused input may be
 * all zero. ret_outputs has room for program->n_outputs columns. They point into the machine and the batch
 * and are valid until the next call. The call cannot fail: errors are in the rows' states.
 */
void hac_machine_c_run(hac_machine_c *machine, const hac_batch *batch, hac_column *ret_outputs);

/*
 * For messages: runs the program on the batch again, and finds the value whose conversion failed in row `row`
 * with `state`: the text, or the number of an input column, that the failing operation or the conversions
 * before it were given. Writes it to `ret` as printable text of at most `capacity` - 1 bytes, text in quotes.
 * Returns false, with *ret empty, if no such value is known. Outputs of the last run become invalid.
 */
bool hac_machine_c_failed_value(hac_machine_c *machine, const hac_batch *batch, size_t row, uint8_t state,
                                char *ret, size_t capacity);

/* Runs a program without inputs. Returns the state of its first output; *ret has its value, and a string
 * points into the machine. For constant folding. */
uint8_t hac_machine_c_constant(hac_machine_c *machine, hac_column *ret);

/* Lists the rows whose byte in `keep` is 1, in ascending order, and returns their number. The other bytes are
 * 0. `ret` has room for `rows` + 3 numbers. */
size_t hac_rows_kept(const uint8_t *keep, size_t rows, uint16_t *ret);
/* Moves the rows rows[0 … n), which ascend, to the front of all columns. The columns' values and states must
 * be writable. */
void hac_batch_gather(hac_batch *batch, const uint16_t *rows, size_t n);

/* Keeps, in all columns and in place, the rows whose `keep` is true (state HAC_ROW_OK, value 1). The columns'
 * values and states must be writable. Returns the number of rows that are left. */
size_t hac_batch_keep(hac_batch *batch, const hac_column *keep);

#endif
