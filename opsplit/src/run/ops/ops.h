/* SPDX-License-Identifier: Apache-2.0 */
/* The sub-operators: each adds the tasks of one piece. */
#ifndef OPSPLIT_RUN_OPS_H
#define OPSPLIT_RUN_OPS_H

#include "run/tasks/task_parts.h"

/* Adds the tasks of a piece (dispatch.c). */
HAC_MUST_USE hac_status hac_run_piece(hac_logic_run_state *run, const hac_logic_piece *piece, hac_error *err);

/* Adds the tasks of a piece of one sub-operator, for each row HAC_SUBOP of the catalogue. */
#define HAC_SUBOP(id, run, ...)                                                                              \
    hac_status hac_run_##run##_piece(hac_logic_run_state *run, const hac_logic_piece *piece, hac_error *err);
#include "base/op_catalog.def"

/* op.keys or op.histogram, whose operands after the output are set, and op.keys_combine. *ret is the table of
 * n keys. */
HAC_MUST_USE hac_status hac_run_tables(hac_logic_run_state *run, hac_run_task *first, hac_run_task *second,
                                       hac_kind kind, uint64_t n, uint64_t columns, hac_run_vector *ret,
                                       hac_error *err);

/* run_reducer.c */
/* One piece of the file's reducer. The first one numbers the keys and sets *ids; the others read *ids. */
HAC_MUST_USE hac_status hac_run_reducer_piece(hac_logic_run_state *run, const hac_logic_piece *piece,
                                              hac_run_vector *ids, hac_error *err);
/* Runs the reducer of the file, if it has one. */
HAC_MUST_USE hac_status hac_run_reduce(hac_logic_run_state *run, hac_error *err);

#endif
