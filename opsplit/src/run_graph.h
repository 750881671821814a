/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of a graph: for those who make its tasks, run_graph.c and run_rounds.c. */
#ifndef OPSPLIT_RUN_GRAPH_H
#define OPSPLIT_RUN_GRAPH_H

#include "run_internal.h"

#define HAC_RUN_TASKS_MOST 256

typedef struct hac_run_graph_task {
    hac_op_span spans[HAC_OPS_SPANS_MAX];
    uint32_t after[HAC_OPS_AFTER_MAX];
    char name[96];
    uint64_t values[HAC_OP_VALUES_MAX];
    const uint64_t *order; /* its rows are places, of these rows; NULL: they are rows */
    uint64_t n_places;
} hac_run_graph_task;

struct hac_run_graph {
    hac_op_task tasks[HAC_RUN_TASKS_MOST];
    hac_run_graph_task parts[HAC_RUN_TASKS_MOST];
    size_t n_tasks;
    size_t planned; /* tasks, those of other ranks, too: all ranks run their graphs at the same points */
    uint8_t *calls[HAC_RUN_TASKS_MOST]; /* one a sub-operator; its components share it */
    size_t n_calls;
    hac_run_memory *buffers[HAC_OPS_BUFFERS_MAX]; /* pool buffers, each with a user more */
    size_t n_buffers;
    hac_run_memory *held[HAC_RUN_TASKS_MOST * HAC_OP_OPERANDS_MAX]; /* is not given to others meanwhile */
    size_t n_held;
    size_t bytes;
    size_t tentative;                                  /* from this task on; SIZE_MAX: none is */
    uint64_t number;                                   /* of all graphs of the run; 0 is none */
    hac_run_planned planned_tasks[HAC_RUN_TASKS_MOST]; /* of a run that only places */
};

/* What hacd knows it as. */
static inline hac_run_memory *hac_run_pool_buffer(hac_run_memory *memory)
{
    return memory->shared != NULL ? memory->shared : memory;
}

/* Its buffer becomes one of the graph's, and it is nobody else's until that has run. */
void hac_run_graph_hold(hac_run_graph *graph, hac_run_memory *memory);

#endif
