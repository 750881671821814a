/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks of one sub-operator, added to the graph. */
#ifndef OPSPLIT_RUN_ADD_TASKS_H
#define OPSPLIT_RUN_ADD_TASKS_H

#include "run/state/run_types.h"

/* One sub-operator: a codelet over operands, in the codelet's order, outputs first. */
typedef struct hac_run_task {
    const char *codelet;
    const char *name, *pin;
    hac_run_vector *operands[HAC_OP_OPERANDS_MAX];
    size_t n_operands, n_written;
    uint32_t also_written; /* bits of written operands that come after operands that are read */
    bool scattered;        /* a task may write any row of the outputs, not only those of its range */
    uint32_t whole;        /* bits of operands that every task needs all rows of */
    hac_op_function function;
    uint32_t flags;
    double a, b;
    uint64_t n;
    const hac_program *program;
    uint64_t rows, grain; /* of the range; grain 0: one task, without a range */
    uint64_t scale;       /* rows of the range that make one row of output 0: blocks; 0: 1 */
    double units;         /* of work, for all rows */
} hac_run_task;

/*
 * Adds one task for each component of this rank's rows. Operands that are not whole where they have to be are
 * exchanged between the ranks first. Sets the writers and rows of the outputs. *ret_first: number of the
 * first task; may be NULL.
 */
HAC_MUST_USE hac_status hac_run_add(hac_logic_run_state *run, const hac_run_task *task, uint32_t *ret_first,
                                    hac_error *err);

#endif
