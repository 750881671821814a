/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors and their memory. */
#ifndef OPSPLIT_RUN_VECTORS_H
#define OPSPLIT_RUN_VECTORS_H

#include "run_types.h"

/* Drops one user of the memory. A graph holds what its tasks use until it has run. */
void hac_run_memory_release(hac_logic_run_state *run, hac_run_memory *memory);
/* Frees all memory of the run, whoever uses it. */
void hac_run_memory_clear(hac_logic_run_state *run);

uint8_t *hac_run_data(const hac_run_vector *vector);
HAC_MUST_USE hac_status hac_run_vector_new(hac_logic_run_state *run, const hac_run_shape *shape,
                                           hac_run_vector *ret, hac_error *err);
void hac_run_vector_clear(hac_logic_run_state *run, hac_run_vector *vector);
/* Makes `to` a second name for the value of `from`. */
void hac_run_vector_copy(hac_logic_run_state *run, const hac_run_vector *from, hac_run_vector *to);
/* Whether this rank has all rows. */
bool hac_run_is_whole(const hac_run_vector *vector);
/* The bytes of one row of a dense vector. */
uint64_t hac_run_row_bytes(const hac_op_operand *operand);

#endif
