/* SPDX-License-Identifier: Apache-2.0 */
/* The graph under construction, and the graphs already sent to hacd. The members of a graph are for those who
 * make its tasks: tasks/add_tasks.c and control/fused_rounds.c. */
#ifndef OPSPLIT_RUN_GRAPH_H
#define OPSPLIT_RUN_GRAPH_H

#include "run_types.h"

#define HAC_RUN_TASKS_MAX 256
/* A graph is one message of 64 KiB. This many bytes are for the calls of tasks and for lines of the log. */
#define HAC_RUN_MESSAGE_MAX 57344

typedef struct hac_run_graph_task {
    hac_op_span spans[HAC_SPANS_MAX];
    uint32_t after[HAC_OPS_AFTER_MAX];
    char name[96];
    uint64_t values[HAC_OP_VALUES_MAX];
    /* The task's rows are places, and order[place] is the row; NULL: they are rows. */
    const uint64_t *order;
    uint64_t n_places;
} hac_run_graph_task;

struct hac_run_graph {
    hac_op_task tasks[HAC_RUN_TASKS_MAX];
    hac_run_graph_task parts[HAC_RUN_TASKS_MAX];
    size_t n_tasks;
    size_t planned;                    /* tasks of all ranks: all ranks run their graphs at the same points */
    uint8_t *calls[HAC_RUN_TASKS_MAX]; /* one for each sub-operator; its components share it */
    size_t n_calls;
    hac_run_memory *buffers[HAC_OPS_BUFFERS_MAX]; /* pool buffers; the graph is a user of each */
    size_t n_buffers;
    hac_run_memory *held[HAC_RUN_TASKS_MAX * HAC_OP_OPERANDS_MAX]; /* not reused until the graph has run */
    size_t n_held;
    size_t bytes;     /* of the tasks in the message */
    size_t tentative; /* tasks from this one on may fail; SIZE_MAX: none may */
    uint64_t number;  /* from 1 in each run */
    hac_run_planned planned_tasks[HAC_RUN_TASKS_MAX]; /* of a dry run */
};

/* The buffer that hacd knows. */
static inline hac_run_memory *hac_run_pool_buffer(hac_run_memory *memory)
{
    return memory->shared != NULL ? memory->shared : memory;
}

/* Whether tasks of the graph that is being built write the vector. */
static inline bool hac_run_is_of_graph(const hac_logic_run_state *run, const hac_run_vector *vector)
{
    return vector->graph == run->graph->number;
}

HAC_MUST_USE hac_status hac_run_graph_new(hac_logic_run_state *run, hac_run_graph **ret, hac_error *err);
void hac_run_graph_free(hac_run_graph *graph);
/* Adds the buffer of `memory` to the graph. Nobody else gets the memory until the graph has run. */
void hac_run_graph_hold(hac_run_graph *graph, hac_run_memory *memory);
/* Number of bytes that more tasks may take in the graph's message, after the tasks and log lines so far. */
size_t hac_run_tasks_bytes_left(const hac_logic_run_state *run);

/* Begins the job of all graphs, if it has not begun. */
HAC_MUST_USE hac_status hac_run_begin_job(hac_logic_run_state *run, hac_error *err);
/* Runs what was added and waits. Afterwards the memory of vectors may be read. HAC_AGAIN: not possible while
 * a round is being added ahead or graphs are in flight. */
HAC_MUST_USE hac_status hac_run_flush(hac_logic_run_state *run, hac_error *err);
/* Sends what was added without waiting; at most two graphs are in flight. What is added next may read what
 * these graphs write: it runs when they have ended. */
HAC_MUST_USE hac_status hac_run_send(hac_logic_run_state *run, hac_error *err);
/* Waits for the graph that was sent first. */
HAC_MUST_USE hac_status hac_run_await(hac_logic_run_state *run, hac_error *err);
/* Runs what was added, for the sizes that task `task` finds. `sizes`: their maxima before, the sizes
 * afterwards. */
HAC_MUST_USE hac_status hac_run_sizes(hac_logic_run_state *run, uint32_t task, uint64_t *sizes, size_t n,
                                      hac_error *err);
/* Drops what was added. */
void hac_run_forget_graph(hac_logic_run_state *run);
/* Whether tasks that write the vector have not run yet. */
bool hac_run_is_pending(const hac_logic_run_state *run, const hac_run_vector *vector);

/* Makes the tasks that are added from here on tentative: they may fail. */
void hac_run_tentative(hac_logic_run_state *run);
/* The first task of the last graph that has failed; SIZE_MAX: none has. */
size_t hac_run_first_failed(const hac_logic_run_state *run);
/* Whether tasks write the vector that are older than the round which is being added ahead. */
bool hac_run_is_of_round_before(const hac_logic_run_state *run, const hac_run_vector *vector);
hac_run_mark hac_run_mark_graph(const hac_logic_run_state *run);
/* Drops the tasks after the mark. Nothing names their results any more. */
void hac_run_take_back(hac_logic_run_state *run, hac_run_mark mark);
/* How many copies of what was added fit into one graph which writes at most `bytes` bytes. An estimate: in
 * the end fewer may fit. */
unsigned hac_run_graphs_fit(const hac_logic_run_state *run, uint64_t bytes);

#endif
