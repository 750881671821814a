/* SPDX-License-Identifier: Apache-2.0 */
/* Running totals of the sub-operators of a job, over all of its graphs. */
#ifndef SERVER_OP_TOTALS_H
#define SERVER_OP_TOTALS_H

#include "base/text.h"
#include "jobs/job.h"
#include "planner/ops_plan.h"

#define HAC_OP_TOTALS_MAX 256 /* sub-operators of one job that are told apart; later ones are not listed */

/* What one sub-operator of the logic has done. */
typedef struct hac_op_total {
    char name[64], codelet[40];
    uint64_t tasks, kernel_tasks, rows;
    double bytes, seconds;
    uint32_t devices; /* bit mask of hacd's devices */
} hac_op_total;

/* Zeroed: none. */
typedef struct hac_op_totals {
    hac_op_total *items;
    size_t n;
} hac_op_totals;

void hac_op_totals_clear(hac_op_totals *totals);

/* Adds the records of the job's current plan, whose tasks are those of `spec`. */
void hac_op_totals_add(hac_op_totals *totals, const hacd_job *job, const hac_ops_spec *spec);

/* Adds "totals" to a receipt: these totals and the records of the current plan. */
void hac_op_totals_print(const hac_op_totals *totals, const hacd_job *job, const hac_ops_spec *spec,
                         hac_text *text);

#endif
