/* SPDX-License-Identifier: Apache-2.0 */
#include "rounds_ahead.h"

#include <stdlib.h>

#include "base/clock.h"
#include "run/state/graph.h"
#include "run/state/run_base.h"
#include "run/tasks/scalar.h"

/* The run as a round of a graph has left it. */
typedef struct ahead_round {
    hac_run_snapshot after;
    hac_run_mark end; /* of the round's tasks */
    hac_run_ahead ahead;
} ahead_round;

/* The rounds of a graph. */
typedef struct ahead_graph {
    ahead_round rounds[HAC_LOOP_GRAPH_ROUNDS_MAX];
    unsigned n; /* 0: one round, without a snapshot */
} ahead_graph;

typedef struct ahead_state {
    ahead_graph graphs[2];
    ahead_graph *sent; /* the one to wait for */
    bool pair;         /* its graph was sent; else it has run already */
    ahead_round last;  /* the last round of the graph before */
} ahead_state;

/* ---- snapshots ---- */

static void clear_round(hac_logic_run_state *run, const hac_run_loop *loop, ahead_round *r)
{
    hac_run_snapshot_clear(run, &loop->changed, &r->after);
    hac_text_clear(&r->ahead.log);
    *r = (ahead_round){.after = {.vectors = NULL}};
}

static void clear_graph(hac_logic_run_state *run, const hac_run_loop *loop, ahead_graph *g)
{
    for (unsigned i = 0; i < g->n; i++)
        clear_round(run, loop, &g->rounds[i]);
    g->n = 0;
}

static hac_status take_round(hac_logic_run_state *run, const hac_run_loop *loop, ahead_round *ret)
{
    ret->end = hac_run_mark_graph(run);
    return hac_run_snapshot_take(run, &loop->changed, &ret->after, NULL);
}

static void go_back(hac_logic_run_state *run, const hac_run_loop *loop, const ahead_round *r)
{
    hac_run_snapshot_restore(run, &loop->changed, &r->after);
}

/* If no round of the next graph counts, the run goes back to the last round of this one. */
static void keep_last(hac_logic_run_state *run, const hac_run_loop *loop, ahead_state *a, ahead_graph *g)
{
    clear_round(run, loop, &a->last);
    a->last = g->rounds[g->n - 1];
    g->rounds[g->n - 1] = (ahead_round){.after = {.vectors = NULL}};
    clear_graph(run, loop, g);
}

/* ---- adding rounds ---- */

/* Adds one round after `before`. False: it cannot be added ahead, and nothing of it is left. */
static bool add_ahead(hac_logic_run_state *run, hac_run_loop *loop, ahead_graph *g, const ahead_round *before)
{
    ahead_round *r = &g->rounds[g->n];
    hac_run_mark end = hac_run_mark_graph(run);
    r->ahead.first = end.tasks;
    run->ahead = &r->ahead;
    bool is_added = hac_loop_add_round(run, loop, NULL) == HAC_OK && take_round(run, loop, r) == HAC_OK;
    run->ahead = NULL;
    if (is_added) {
        g->n++;
        loop->added++;
        return true;
    }
    go_back(run, loop, before);
    clear_round(run, loop, r);
    hac_run_take_back(run, end);
    return false;
}

/* Adds rounds until the graph has `wanted`. */
static void add_rounds(hac_logic_run_state *run, hac_run_loop *loop, ahead_graph *g, unsigned wanted,
                       uint64_t bytes)
{
    unsigned fit = hac_run_graphs_fit(run, bytes);
    wanted = wanted < fit ? wanted : fit;
    while (g->n < wanted && add_ahead(run, loop, g, &g->rounds[g->n - 1]))
        ;
    if (g->n < wanted)
        loop->measured.graph_rounds_max = g->n;
}

/* Adds rounds after the first one, if that is added and nothing of it had to run yet. */
static void add_more(hac_logic_run_state *run, hac_run_loop *loop, ahead_graph *g, unsigned wanted, bool pair)
{
    uint64_t bytes = hac_loop_graph_bytes(pair);
    if (hac_run_graphs_fit(run, bytes) < (pair ? 1 : 2) || (!pair && wanted <= 1))
        return;
    if (take_round(run, loop, &g->rounds[0]) != HAC_OK) {
        clear_round(run, loop, &g->rounds[0]);
        return;
    }
    g->n = 1;
    hac_run_tentative(run);
    add_rounds(run, loop, g, wanted, bytes);
}

/* Fills a graph with the rounds that come after the graph in flight. */
static void add_graph(hac_logic_run_state *run, hac_run_loop *loop, const ahead_graph *sent, ahead_graph *ret)
{
    const ahead_round *before = &sent->rounds[sent->n - 1];
    uint64_t left = loop->step->rounds - loop->done - sent->n, bytes = hac_loop_graph_bytes(true);
    unsigned wanted = hac_loop_may_pair(run, loop) ? hac_loop_graph_rounds(run, loop, left) : 0;
    if (wanted == 0)
        return;
    hac_run_tentative(run);
    if (!add_ahead(run, loop, ret, before)) {
        loop->measured.graph_rounds_max = 1;
    } else if (hac_run_graphs_fit(run, bytes) > 0) {
        add_rounds(run, loop, ret, wanted, bytes);
    } else {
        ret->n = 0;
        loop->added--;
    }
    if (ret->n > 0)
        return;
    clear_round(run, loop, &ret->rounds[0]);
    hac_run_forget_graph(run);
}

/* ---- accepting rounds ---- */

/* Makes round `i` of the graph that has run the state of the run. False: the round has failed. */
static bool accept_round(hac_logic_run_state *run, hac_run_loop *loop, const ahead_graph *g, unsigned i)
{
    if (hac_run_first_failed(run) < g->rounds[i].end.tasks) {
        loop->measured.graph_rounds_max = 1;
        return false;
    }
    go_back(run, loop, &g->rounds[i]);
    hac_run_log_lines(run, &g->rounds[i].ahead.log);
    return true;
}

/* The rounds of a graph that has run count as long as the condition is true. *ret_all: all of them count, and
 * the condition is still true. */
static hac_status accept_rounds(hac_logic_run_state *run, hac_run_loop *loop, const ahead_graph *g, bool *on,
                                bool *ret_all, hac_error *err)
{
    hac_status status = HAC_OK;
    uint64_t before = loop->done, now = hac_now_ns();
    unsigned i = 0;
    for (; i == 0 || (i < g->n && *on && status == HAC_OK); i++) {
        if (g->n > 0 && !accept_round(run, loop, g, i))
            break;
        loop->done++;
        if (run->options->log != NULL)
            hac_loop_log_round(run, loop, run->round, NULL);
        if (loop->done < loop->step->rounds)
            status = hac_run_look(run, loop->step, on, err);
    }
    hac_loop_measure_graph(loop, loop->done - before, now);
    *ret_all = *on && i >= g->n;
    return status;
}

/* ---- the engine ---- */

static bool can(const hac_logic_run_state *run, const hac_run_loop *loop)
{
    (void)run, (void)loop;
    return true;
}

static hac_status begin(hac_logic_run_state *run, hac_run_loop *loop, hac_error *err)
{
    ahead_state *a = calloc(1, sizeof *a);
    if (a == NULL)
        return hac_fail_no_memory(err);
    loop->engine = a;
    a->sent = &a->graphs[0];
    uint64_t graphs = run->report->graphs;
    bool pair = hac_loop_may_pair(run, loop);
    unsigned wanted = hac_loop_graph_rounds(run, loop, loop->step->rounds - loop->done);
    hac_status status = hac_loop_add_round(run, loop, err);
    loop->added++;
    /* A round that waits for values is alone in its graph. The first one may wait for what was before the
     * loop. */
    bool has_waited = run->report->graphs > graphs;
    if (has_waited && loop->done > 0)
        loop->measured.graph_rounds_max = 1;
    else if (status == HAC_OK)
        add_more(run, loop, a->sent, wanted, pair && wanted > 0);
    if (status != HAC_OK)
        return status;
    a->pair = pair && a->sent->n > 0;
    if (a->pair)
        status = hac_run_send(run, err);
    else if (run->options->log != NULL || a->sent->n > 0)
        status = hac_run_flush(run, err);
    loop->in_flight = status == HAC_OK;
    return status;
}

/* Sends the next graph before it waits for the one that runs, as long as all rounds count and the next ones
 * are not to be one task. */
static hac_status await_graph(hac_logic_run_state *run, hac_run_loop *loop, ahead_state *a, ahead_graph *next,
                              hac_error *err)
{
    hac_status status = HAC_OK;
    ahead_graph *g = a->sent;
    go_back(run, loop, &g->rounds[g->n - 1]);
    if (!hac_loop_may_fuse(run, loop, loop->done + g->n))
        add_graph(run, loop, g, next);
    if (next->n > 0)
        status = hac_run_send(run, err);
    if (status == HAC_OK)
        status = hac_run_await(run, err);
    if (a->last.after.vectors != NULL)
        go_back(run, loop, &a->last);
    return status;
}

static hac_status ahead_round_of(hac_logic_run_state *run, hac_run_loop *loop, bool *on, hac_error *err)
{
    ahead_state *a = loop->engine;
    ahead_graph *g = a->sent, *next = &a->graphs[g == a->graphs];
    bool all = false;
    hac_status status = a->pair ? await_graph(run, loop, a, next, err) : HAC_OK;
    if (status == HAC_OK)
        status = accept_rounds(run, loop, g, on, &all, err);
    if (a->pair)
        keep_last(run, loop, a, g);
    a->sent = next;
    loop->in_flight = a->pair && all && next->n > 0;
    return status;
}

static hac_status settle(hac_logic_run_state *run, hac_run_loop *loop, hac_status status, bool *on,
                         hac_error *err)
{
    ahead_state *a = loop->engine;
    (void)on;
    if (a == NULL)
        return status;
    if (a->pair)
        status = hac_loop_land(run, status, err);
    clear_graph(run, loop, &a->graphs[0]);
    clear_graph(run, loop, &a->graphs[1]);
    clear_round(run, loop, &a->last);
    free(a);
    loop->engine = NULL;
    return status;
}

const hac_loop_engine hac_rounds_ahead = {can, begin, ahead_round_of, settle};
