/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the rounds of a `while` are run. There are two engines: rounds_ahead.c makes graphs of one or several
 * rounds, fused_rounds.c makes one task of many rounds. loop_policy.c decides which engine runs the next
 * rounds, and how many, from the time that the last ones took.
 */
#ifndef OPSPLIT_RUN_LOOP_POLICY_H
#define OPSPLIT_RUN_LOOP_POLICY_H

#include "run/state/snapshot.h"

/* Runs the steps of a loop's body. A parameter: bodies may have loops. */
typedef hac_status hac_run_body(hac_logic_run_state *run, const hac_logic_step *steps, size_t n,
                                hac_error *err);

#define HAC_LOOP_GRAPH_ROUNDS_MAX 16 /* of a graph */

/* What the policy knows of a loop. */
typedef struct hac_loop_measured {
    double round_seconds;       /* of a round of the last graph or task */
    double graph_round_seconds; /* of a round of the last graph */
    unsigned graph_rounds_max;  /* rounds that a graph can have, as far as it is known */
    bool in_tasks;              /* the last rounds were one task; it pays */
    bool never_fused;           /* the rounds cannot be one task */
    uint64_t pause;             /* rounds to run as graphs, because the last task did not pay */
    uint64_t again;             /* rounds that have to be done before a task is tried again */
} hac_loop_measured;

/* A `while` loop that runs. Engines have their state in `engine`. */
typedef struct hac_run_loop {
    const hac_logic_step *step;
    hac_run_body *run_body;
    hac_run_changed changed;
    uint64_t start;    /* when the loop began */
    uint64_t mark;     /* when the last rounds had run, or the first ones began */
    uint64_t done;     /* rounds that count */
    uint64_t added;    /* rounds that ran, or will */
    uint64_t sent;     /* rounds that are done or in flight as tasks */
    size_t line_bytes; /* of a round's line in the log; 0: there are no lines */
    bool in_flight;    /* the engine has rounds that are not accepted */
    hac_loop_measured measured;
    void *engine;
} hac_run_loop;

/* One way to run rounds. All rounds that an engine runs between `begin` and `settle` are consecutive. */
typedef struct hac_loop_engine {
    /* Whether the engine can run the rounds that come next. */
    bool (*can)(const hac_logic_run_state *run, const hac_run_loop *loop);
    /* Sends the first rounds. loop->in_flight is false afterwards if they turn out not to be for this engine.
     * */
    hac_status (*begin)(hac_logic_run_state *run, hac_run_loop *loop, hac_error *err);
    /* Waits for the rounds that were sent first and accepts them: they count as long as the condition is true
     * after each of them. Sends the next rounds before it waits. *on: whether the condition is true after the
     * last one. */
    hac_status (*round)(hac_logic_run_state *run, hac_run_loop *loop, bool *on, hac_error *err);
    /* Ends what is in flight, and frees the state of the engine. Afterwards the run is as the last round that
     * counts has left it. `status` is that of the calls before, and is returned if it is a failure. */
    hac_status (*settle)(hac_logic_run_state *run, hac_run_loop *loop, hac_status status, bool *on,
                         hac_error *err);
} hac_loop_engine;

/* ---- decisions ---- */

/* The first of the engines that can run the next rounds. The last one always can. */
const hac_loop_engine *hac_loop_choose(const hac_logic_run_state *run, const hac_run_loop *loop,
                                       const hac_loop_engine *const *engines, size_t n);
/* Whether the rounds after `done` may be one task. */
bool hac_loop_may_fuse(const hac_logic_run_state *run, const hac_run_loop *loop, uint64_t done);
/* Rounds of the next task; 0: they may not be one task. */
uint64_t hac_loop_task_rounds(const hac_logic_run_state *run, const hac_run_loop *loop);
/* Whether two graphs may be in flight, and a graph may have rounds that turn out useless. */
bool hac_loop_may_pair(const hac_logic_run_state *run, const hac_run_loop *loop);
/* Rounds that the next graph should have, of the `left` ones. */
unsigned hac_loop_graph_rounds(const hac_logic_run_state *run, const hac_run_loop *loop, uint64_t left);
/* Bytes that the rounds of a graph may write. `pair`: two graphs are in flight. */
uint64_t hac_loop_graph_bytes(bool pair);

/* ---- measurements ---- */

/* The last graph or task had `rounds` rounds that count, and had run at `now`. */
void hac_loop_measure_graph(hac_run_loop *loop, uint64_t rounds, uint64_t now);
void hac_loop_measure_task(hac_run_loop *loop, uint64_t rounds, uint64_t now);

/* ---- what engines share ---- */

/* Adds the tasks of one round to the graph. */
hac_status hac_loop_add_round(hac_logic_run_state *run, const hac_run_loop *loop, hac_error *err);
/* Logs a round that counts: the values of the Vars that the condition reads. `bits`: of these Vars then;
 * NULL: those that they have now. */
void hac_loop_log_round(hac_logic_run_state *run, hac_run_loop *loop, uint64_t round, const uint64_t *bits);
/* Waits for all graphs in flight and drops them. Returns `status` if it is a failure. */
hac_status hac_loop_land(hac_logic_run_state *run, hac_status status, hac_error *err);

#endif
