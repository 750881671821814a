/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `while`: one round after the other, short ones several at a time.
 *
 * Between two rounds a client is woken, looks at the condition and sends the next graph, which takes longer
 * than a round of little work. So the rounds that follow are added to the same graph, as if the condition
 * stayed true. When it has run, the condition is looked at for one round after the other; from the first one
 * on after which it is false, what was added ahead is forgotten. That nothing has seen it is due to vectors
 * being values. Tasks of such rounds may fail (hac_ops.n_tentative): their round is run again if its turn
 * comes.
 *
 * Two graphs are on their way then: while one runs the next one is made and sent, as if all of the rounds
 * before counted.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "run_moment.h"
#include "run_pieces.h"
#include "run_rounds.h"

#define AHEAD_MOST    16   /* a graph */
#define AHEAD_SHARE   16   /* rounds that have run for one more that may be for nothing … */
#define AHEAD_FREE    2e-3 /* … or, in all loops of a run, as many as take so long: nobody sees that */
#define AHEAD_SECONDS 4e-3 /* of a graph: where rounds are longer, what lies between them is little */
#define AHEAD_BYTES   (UINT64_C(16) << 20) /* that rounds on their way write */

#define TASK_TRIED   5e-3 /* of a round by itself, with all that lies between two … */
#define TASK_GAINS   0.6 /* … of which one in a task takes so much at most, or several devices are better */
#define TASK_ROUNDS  0.5e-3 /* of rounds as one task: what lies between longer ones is less … */
#define TASK_LONG    0.9    /* … so they are to take so much, … */
#define TASK_BEHIND  4      /* … and are tried behind as many rounds: the first ones take longer */
#define TASK_SECONDS 8e-3   /* of such a task: so long a cancel waits, and as long for the one behind it */
#define TASK_FIRST   64     /* rounds of the first one */
#define TASK_PAUSE   256    /* in graphs once one gains nothing, then twice as many: others were busy? */
#define LINES_BYTES  (HAC_OPS_LOG_MAX / 9 * 4) /* of the rounds of a task */
#define LINE_BYTES   64                        /* of a round in the log, beside the values, at most */

/* The run as a round of a graph has left it. */
typedef struct moment {
    hac_run_moment run;
    hac_run_mark end; /* of its tasks */
    hac_run_ahead ahead;
} moment;

/* The rounds of a graph. */
typedef struct batch {
    moment moments[AHEAD_MOST];
    unsigned n; /* 0: one, whose moment was not taken */
} batch;

typedef struct loop {
    const hac_logic_step *step;
    uint64_t start;
    uint64_t added, done; /* rounds: those that are not done in the end were for nothing */
    uint64_t mark;        /* when the last graph had run, or the first one began */
    double round_seconds; /* of the last graph's */
    unsigned most;        /* rounds a graph, as far as it is known */
    size_t line_bytes;    /* of a round's line in the log; 0: there are none */
    uint64_t sent;        /* rounds that are done, or on their way in tasks */
    double graph_seconds; /* of a round of the last graph */
    bool in_tasks;        /* rounds are, and round_seconds is of these */
    bool apart;           /* rounds are not to be one task: they cannot */
    uint64_t pause;       /* they gained nothing and were left for so many rounds, … */
    uint64_t again;       /* … up to the one behind so many */
    hac_run_changed changed;
    batch batches[2];
    moment last; /* that counts, of the batch before */
} loop;

/* ---- moments ---- */

static void clear_moment(hac_logic_run *run, const loop *l, moment *m)
{
    hac_run_clear_moment(run, &l->changed, &m->run);
    hac_text_clear(&m->ahead.log);
    *m = (moment){.run = {.vectors = NULL}};
}

static hac_status take_moment(hac_logic_run *run, const loop *l, moment *ret, hac_error *err)
{
    ret->end = hac_run_mark_graph(run);
    return hac_run_take_moment(run, &l->changed, &ret->run, err);
}

static void go_back(hac_logic_run *run, const loop *l, const moment *m)
{
    hac_run_go_back(run, &l->changed, &m->run);
}

/* ---- the log ---- */

static void describe_value(hac_kind kind, const uint8_t *at, char *ret, size_t room)
{
    double wide;
    float narrow;
    uint64_t bits = 0;
    memcpy(&bits, at, hac_op_element_size((unsigned)kind));
    memcpy(&wide, at, kind == HAC_KIND_F64 ? sizeof wide : 0);
    memcpy(&narrow, at, kind == HAC_KIND_F32 ? sizeof narrow : 0);
    if (kind == HAC_KIND_F64)
        snprintf(ret, room, "%.9g", wide);
    else if (kind == HAC_KIND_F32)
        snprintf(ret, room, "%.9g", (double)narrow);
    else if (kind == HAC_KIND_I64 || kind == HAC_KIND_I32)
        snprintf(ret, room, "%" PRId64,
                 kind == HAC_KIND_I32 ? (int64_t)(int32_t)(uint32_t)bits : (int64_t)bits);
    else
        snprintf(ret, room, "%" PRIu64, bits);
}

/* The Vars that a condition reads, for the process log: "residual = 0.0012". `bits` (NULL: as they are now)
 * are what they had. */
static void describe_condition(const hac_logic_run *run, const hac_logic_expression *expression,
                               const uint64_t *bits, char *ret, size_t room)
{
    int used = 0;
    ret[0] = '\0';
    for (size_t i = 0; i < expression->n_vectors && used >= 0 && (size_t)used < room; i++) {
        const hac_run_vector *v = &run->vectors[expression->vectors[i]];
        char value[32];
        if (v->memory == NULL || v->operand.rows != 1 || !hac_run_is_whole(v))
            continue;
        const void *at = bits != NULL ? (const void *)&bits[i] : hac_run_data(v) + v->operand.values;
        describe_value((hac_kind)v->operand.kind, at, value, sizeof value);
        used += snprintf(ret + used, room - (size_t)used, "%s%s = %s", used > 0 ? ", " : "",
                         run->logic->vectors[expression->vectors[i]].name, value);
    }
}

/* A round has ended; its tasks have run. */
static void log_round(hac_logic_run *run, loop *l, uint64_t round, const uint64_t *bits)
{
    char values[256];
    describe_condition(run, l->step->condition, bits, values, sizeof values);
    l->line_bytes = strlen(values) + LINE_BYTES;
    hac_run_log(run, "round %" PRIu64 ": %s, %.3f s since the loop began", round, values,
                hac_seconds_since(l->start));
}

/* ---- rounds ---- */

static hac_status add_round(hac_logic_run *run, const hac_logic_step *step, hac_error *err)
{
    run->report->rounds++;
    run->round++;
    return hac_run_steps(run, step->body, step->n_body, err);
}

/* Rounds that may be for nothing. Ranks, which have to decide alike, take one by one. */
static uint64_t rounds_free(const hac_logic_run *run, const loop *l)
{
    if (!hac_run_alone(run) || run->ahead != NULL || l->done == 0)
        return 0;
    uint64_t share = l->done / AHEAD_SHARE;
    double room = AHEAD_FREE - run->seconds_for_nothing, brief = room > 0 ? room / l->round_seconds : 0;
    uint64_t few = (uint64_t)fmin(brief, 2 * AHEAD_MOST);
    return few > share ? few : share;
}

/* Whether two graphs may be on their way, and whether one may have more rounds than those that are wanted for
 * sure. */
static bool may_pair(const hac_logic_run *run, const loop *l)
{
    return l->most > 1 && rounds_free(run, l) > 0;
}

/* Rounds that the next graph may have, of those that are left: of the two graphs of a pair all rounds but the
 * first one's first may be for nothing. */
static unsigned rounds_wanted(const hac_logic_run *run, const loop *l, uint64_t left)
{
    uint64_t free = rounds_free(run, l), n = may_pair(run, l) ? (free + 1) / 2 : 1 + free;
    if (free == 0)
        return 1;
    n = n < l->most ? n : l->most;
    n = n < left ? n : left;
    double fit = AHEAD_SECONDS / l->round_seconds;
    return fit < (double)n ? (unsigned)fit : (unsigned)n;
}

/* One more behind those that were added, or behind those of the graph before. false: it cannot be, and
 * nothing of it is left. */
static bool add_ahead(hac_logic_run *run, loop *l, batch *b, const moment *before)
{
    moment *m = &b->moments[b->n];
    hac_run_mark end = hac_run_mark_graph(run);
    m->ahead.first = end.tasks;
    run->ahead = &m->ahead;
    bool is_added = add_round(run, l->step, NULL) == HAC_OK && take_moment(run, l, m, NULL) == HAC_OK;
    run->ahead = NULL;
    if (is_added) {
        b->n++;
        l->added++;
        return true;
    }
    go_back(run, l, before);
    clear_moment(run, l, m);
    hac_run_take_back(run, end);
    return false;
}

/* Up to so many in all. */
static void add_rounds(hac_logic_run *run, loop *l, batch *b, unsigned wanted, uint64_t bytes)
{
    unsigned fit = hac_run_graphs_fit(run, bytes);
    wanted = wanted < fit ? wanted : fit;
    while (b->n < wanted && add_ahead(run, l, b, &b->moments[b->n - 1]))
        ;
    if (b->n < wanted)
        l->most = b->n;
}

/* Rounds behind the one that was just added, of which nothing had to run yet. */
static void add_rounds_behind(hac_logic_run *run, loop *l, batch *b, unsigned wanted, bool pair)
{
    uint64_t bytes = pair ? AHEAD_BYTES / 2 : AHEAD_BYTES;
    if (hac_run_graphs_fit(run, bytes) < (pair ? 1 : 2) || (!pair && wanted <= 1))
        return;
    if (take_moment(run, l, &b->moments[0], NULL) != HAC_OK) {
        clear_moment(run, l, &b->moments[0]);
        return;
    }
    b->n = 1;
    hac_run_tentative(run);
    add_rounds(run, l, b, wanted, bytes);
}

/* Rounds of a graph of their own, behind the one that is on its way. */
static void add_batch(hac_logic_run *run, loop *l, const batch *sent, batch *ret)
{
    const moment *before = &sent->moments[sent->n - 1];
    uint64_t left = l->step->rounds - l->done - sent->n;
    unsigned wanted = may_pair(run, l) ? rounds_wanted(run, l, left) : 0;
    if (wanted == 0)
        return;
    hac_run_tentative(run);
    if (!add_ahead(run, l, ret, before)) {
        l->most = 1;
    } else if (hac_run_graphs_fit(run, AHEAD_BYTES / 2) > 0) {
        add_rounds(run, l, ret, wanted, AHEAD_BYTES / 2);
    } else {
        ret->n = 0;
        l->added--;
    }
    if (ret->n > 0)
        return;
    clear_moment(run, l, &ret->moments[0]);
    hac_run_forget_graph(run);
}

/* ---- what counts ---- */

/* Round `i` of the graph that has run becomes the run's state. false: it has failed. */
static bool accept_round(hac_logic_run *run, loop *l, const batch *b, unsigned i)
{
    if (hac_run_first_failed(run) < b->moments[i].end.tasks) {
        l->most = 1;
        return false;
    }
    go_back(run, l, &b->moments[i]);
    hac_run_log_lines(run, &b->moments[i].ahead.log);
    return true;
}

/* All of a graph has run: its rounds count as far as the condition is true. *ret_all: they all do, and it
 * still is. */
static hac_status accept_rounds(hac_logic_run *run, loop *l, const batch *b, bool *on, bool *ret_all,
                                hac_error *err)
{
    hac_status status = HAC_OK;
    uint64_t done = l->done, now = hac_now_ns();
    unsigned i = 0;
    for (; i == 0 || (i < b->n && *on && status == HAC_OK); i++) {
        if (b->n > 0 && !accept_round(run, l, b, i))
            break;
        l->done++;
        if (run->options->log != NULL)
            log_round(run, l, run->round, NULL);
        if (l->done < l->step->rounds)
            status = hac_run_look(run, l->step, on, err);
    }
    l->round_seconds = (double)(now - l->mark) * 1e-9 / (double)(l->done > done ? l->done - done : 1);
    l->graph_seconds = l->round_seconds;
    l->in_tasks = false;
    l->mark = now;
    *ret_all = *on && i >= b->n;
    return status;
}

static void clear_batch(hac_logic_run *run, const loop *l, batch *b)
{
    for (unsigned i = 0; i < b->n; i++)
        clear_moment(run, l, &b->moments[i]);
    b->n = 0;
}

/* Its last moment is what the next one's rounds come back to if none of them counts. */
static void keep_last(hac_logic_run *run, loop *l, batch *b)
{
    clear_moment(run, l, &l->last);
    l->last = b->moments[b->n - 1];
    b->moments[b->n - 1] = (moment){.run = {.vectors = NULL}};
    clear_batch(run, l, b);
}

/* ---- graphs ---- */

/* Graphs that are on their way are waited for, and forgotten. */
static hac_status land(hac_logic_run *run, hac_status status, hac_error *err)
{
    while (run->n_sent > 0) {
        hac_status other = hac_run_await(run, status == HAC_OK ? err : NULL);
        status = status == HAC_OK ? other : status;
    }
    return status;
}

/* Whether rounds behind `done` may be one task: not where it is decided where a sub-operator runs, and not
 * before it is known how long rounds are. */
static bool may_be_one_task(const hac_logic_run *run, const loop *l, uint64_t done)
{
    const hac_run_options *o = run->options;
    uint64_t behind = l->round_seconds < 2 * TASK_ROUNDS ? 1 : TASK_BEHIND;
    return !l->apart && l->most > 1 && done >= behind && done >= l->again && l->round_seconds < TASK_TRIED &&
           hac_run_alone(run) && run->ahead == NULL && run->placing == NULL &&
           o->policy == HAC_OP_POLICY_MEASURED && !o->kernels &&
           l->step->rounds - l->sent > (l->in_tasks ? 0 : 1);
}

/* A graph is on its way: the next one is sent before it is looked at, as long as all of them count, and until
 * rounds may be one task. */
static hac_status run_pairs(hac_logic_run *run, loop *l, batch *b, bool *on, hac_error *err)
{
    hac_status status = HAC_OK;
    bool all = true;
    while (status == HAC_OK && all && b->n > 0) {
        batch *next = &l->batches[b == l->batches];
        go_back(run, l, &b->moments[b->n - 1]);
        if (!may_be_one_task(run, l, l->done + b->n))
            add_batch(run, l, b, next);
        if (next->n > 0)
            status = hac_run_send(run, err);
        if (status == HAC_OK)
            status = hac_run_await(run, err);
        if (l->last.run.vectors != NULL)
            go_back(run, l, &l->last);
        if (status == HAC_OK)
            status = accept_rounds(run, l, b, on, &all, err);
        keep_last(run, l, b);
        b = next;
    }
    return land(run, status, err);
}

static hac_status run_graph(hac_logic_run *run, loop *l, bool *on, hac_error *err)
{
    batch *b = &l->batches[0];
    uint64_t graphs = run->report->graphs;
    bool pair = may_pair(run, l), all;
    unsigned wanted = rounds_wanted(run, l, l->step->rounds - l->done);
    l->mark = hac_now_ns();
    hac_status status = add_round(run, l->step, err);
    l->added++;
    bool has_waited = run->report->graphs > graphs; /* in its first round for what was before the loop, too */
    if (has_waited && l->done > 0)
        l->most = 1;
    else if (status == HAC_OK)
        add_rounds_behind(run, l, b, wanted, pair && wanted > 0);
    if (status != HAC_OK)
        return status;
    if (pair && b->n > 0) {
        status = hac_run_send(run, err);
        return status == HAC_OK ? run_pairs(run, l, b, on, err) : status;
    }
    if (run->options->log != NULL || b->n > 0)
        status = hac_run_flush(run, err);
    return status == HAC_OK ? accept_rounds(run, l, b, on, &all, err) : status;
}

/* ---- rounds as one task ---- */

/* Of those behind what was added. The first one is short: it shows how long rounds are so. The lines of two
 * tasks, and others, go with one graph. */
static uint64_t rounds_of_task(const loop *l)
{
    double fit = (l->in_tasks ? TASK_SECONDS : 4 * TASK_SECONDS) / l->round_seconds;
    uint64_t left = l->step->rounds - l->sent;
    uint64_t n = (uint64_t)fmin(fit, l->in_tasks ? HAC_RUN_ROUNDS_MOST : TASK_FIRST);
    uint64_t lines = l->line_bytes > 0 ? LINES_BYTES / l->line_bytes : n;
    n = n < lines ? n : lines;
    return n < left ? n : left;
}

/* Rounds behind those that are on their way: of these, as if all counted. */
static hac_status send_task(hac_logic_run *run, loop *l, const hac_run_rounds *behind, hac_run_rounds **ret,
                            hac_error *err)
{
    *ret = NULL;
    uint64_t most = may_be_one_task(run, l, l->done) ? rounds_of_task(l) : 0;
    if (most == 0)
        return HAC_OK;
    hac_status status =
        hac_run_rounds_send(run, l->step, &l->changed, most, l->round_seconds, behind, ret, err);
    l->apart |= status == HAC_UNSUPPORTED;
    l->sent += *ret != NULL ? most : 0;
    return status == HAC_UNSUPPORTED ? HAC_OK : status;
}

/* Once brief rounds have gained, what else the machine does may make them longer. */
static bool is_worth(const loop *l, bool first)
{
    if (l->round_seconds > TASK_ROUNDS)
        return l->round_seconds < TASK_LONG * l->graph_seconds;
    return !first || l->round_seconds < TASK_GAINS * l->graph_seconds;
}

static void accept_task(hac_logic_run *run, loop *l, const hac_run_rounds_result *result)
{
    uint64_t now = hac_now_ns();
    for (uint64_t i = 0; i < result->done && run->options->log != NULL; i++)
        log_round(run, l, result->first + i * result->each, result->bits + i * result->n_vars);
    l->done += result->done;
    l->added += result->done;
    if (result->done > 0)
        l->round_seconds = (double)(now - l->mark) * 1e-9 / (double)result->done;
    l->mark = now;
    l->apart |= result->failed;
    l->in_tasks = is_worth(l, !l->in_tasks);
    l->pause = l->in_tasks ? 0 : l->pause == 0 ? TASK_PAUSE : 2 * l->pause;
    l->again = l->done + l->pause;
}

/* As long as that is what they are best at, and the condition is true. The next one is sent before the one
 * that runs is looked at. */
static hac_status run_tasks(hac_logic_run *run, loop *l, bool *on, hac_error *err)
{
    hac_run_rounds *task = NULL, *next = NULL;
    hac_run_rounds_result result = {.on = true};
    l->mark = hac_now_ns();
    l->sent = l->done;
    hac_status status = send_task(run, l, NULL, &task, err);
    bool any = task != NULL;
    while (status == HAC_OK && task != NULL && result.on) {
        status = send_task(run, l, task, &next, err);
        if (status == HAC_OK)
            status = hac_run_rounds_await(task, &result, err);
        if (status != HAC_OK)
            break;
        accept_task(run, l, &result);
        if (next == NULL || !result.on)
            break;
        hac_run_rounds_free(task);
        task = hac_steal_ptr(next);
    }
    if (any) /* else what is on its way is of a loop around this one, which adds a round ahead */
        status = land(run, status, err); /* of a task that comes behind one that did not go on, nothing */
    if (status == HAC_OK && any)
        hac_run_rounds_settle(task);
    if (status == HAC_OK && any && !result.on && !result.failed && l->done < l->step->rounds)
        status = hac_run_look(run, l->step, on, err);
    hac_run_rounds_free(task);
    hac_run_rounds_free(next);
    return status;
}

hac_status hac_run_while(hac_logic_run *run, const hac_logic_step *step, hac_error *err)
{
    hac_autofree loop *l = calloc(1, sizeof *l);
    bool on = true;
    if (l == NULL)
        return hac_fail_no_memory(err);
    *l = (loop){.step = step, .start = hac_now_ns(), .most = AHEAD_MOST};
    hac_run_find_changed(step, &l->changed);
    hac_status status = step->rounds > 0 && !step->first ? hac_run_look(run, step, &on, err) : HAC_OK;
    while (status == HAC_OK && on && l->done < step->rounds) {
        status = run_tasks(run, l, &on, err);
        if (status != HAC_OK || !on || l->done == step->rounds)
            break;
        status = run_graph(run, l, &on, err);
        clear_batch(run, l, &l->batches[0]);
        clear_batch(run, l, &l->batches[1]);
        clear_moment(run, l, &l->last);
    }
    run->seconds_for_nothing += (double)(l->added - l->done) * l->round_seconds;
    return status;
}
