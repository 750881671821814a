/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which engine runs the next rounds of a loop, and how many. docs/decisions/0020-one-policy-for-loops.md says
 * why.
 *
 * Between two rounds the client is woken, evaluates the condition and sends the next graph, which takes
 * longer than a round of little work. Short rounds therefore go several to a graph, or become one task.
 */
#include "loop_policy.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "run/state/graph.h"
#include "run/state/run_base.h"
#include "run/state/vectors.h"

/* Graphs of several rounds. Rounds that turn out useless may take this long in all loops of a run together:
 * nobody notices. Or there may be one for so many rounds that have run in this loop. */
#define USELESS_SECONDS 2e-3
#define USELESS_SHARE   16
/* A graph of longer rounds gains little: what lies between the rounds is short beside them. */
#define GRAPH_SECONDS 4e-3
#define GRAPH_BYTES   (UINT64_C(16) << 20) /* that the rounds in flight write */

/* Rounds as one task, tried where a round by itself takes less than this. */
#define TASK_TRIED_SECONDS 5e-3
/* A task pays if its rounds take at most this part of a round by itself: several devices may share the
 * latter. */
#define TASK_GAIN 0.6
/* Rounds of a task that take longer than this gain less. They have to take this part, and are tried after so
 * many rounds, because the first rounds of a loop take longer. */
#define TASK_LONG_SECONDS 0.5e-3
#define TASK_LONG_GAIN    0.9
#define TASK_LONG_AFTER   4
/* The length of a task: a cancel waits that long, and as long for the task after it. */
#define TASK_SECONDS      8e-3
#define TASK_FIRST_ROUNDS 64 /* of the first task, which only shows how long its rounds take */
#define TASK_ROUNDS_MAX   100
/* Rounds that are run as graphs after a task that did not pay, then twice as many: the machine may have been
 * busy. */
#define TASK_PAUSE 256
/* Bytes of log lines of a task. The lines of two tasks, and others, go with one graph. */
#define LINES_BYTES (HAC_OPS_LOG_MAX / 9 * 4)
#define LINE_BYTES  64 /* of a round's line, beside the values, at most */

const hac_loop_engine *hac_loop_choose(const hac_logic_run_state *run, const hac_run_loop *loop,
                                       const hac_loop_engine *const *engines, size_t n)
{
    for (size_t i = 0; i + 1 < n; i++)
        if (engines[i]->can(run, loop))
            return engines[i];
    return engines[n - 1];
}

/* ---- graphs of several rounds ---- */

/* Rounds that may turn out useless. Ranks would have to decide alike, so they run one round at a time. */
static uint64_t useless_rounds(const hac_logic_run_state *run, const hac_run_loop *loop)
{
    if (!hac_run_is_single_rank(run) || run->ahead != NULL || loop->done == 0)
        return 0;
    uint64_t share = loop->done / USELESS_SHARE;
    double left = USELESS_SECONDS - run->useless_seconds;
    double fit = left > 0 ? left / loop->measured.round_seconds : 0;
    uint64_t few = (uint64_t)fmin(fit, 2 * HAC_LOOP_GRAPH_ROUNDS_MAX);
    return few > share ? few : share;
}

bool hac_loop_may_pair(const hac_logic_run_state *run, const hac_run_loop *loop)
{
    return loop->measured.graph_rounds_max > 1 && useless_rounds(run, loop) > 0;
}

unsigned hac_loop_graph_rounds(const hac_logic_run_state *run, const hac_run_loop *loop, uint64_t left)
{
    /* Of two graphs in flight, all rounds but the first one of the first graph may turn out useless. */
    uint64_t useless = useless_rounds(run, loop);
    uint64_t n = hac_loop_may_pair(run, loop) ? (useless + 1) / 2 : 1 + useless;
    if (useless == 0)
        return 1;
    n = n < loop->measured.graph_rounds_max ? n : loop->measured.graph_rounds_max;
    n = n < left ? n : left;
    double fit = GRAPH_SECONDS / loop->measured.round_seconds;
    return fit < (double)n ? (unsigned)fit : (unsigned)n;
}

uint64_t hac_loop_graph_bytes(bool pair)
{
    return pair ? GRAPH_BYTES / 2 : GRAPH_BYTES;
}

/* ---- rounds as one task ---- */

bool hac_loop_may_fuse(const hac_logic_run_state *run, const hac_run_loop *loop, uint64_t done)
{
    const hac_loop_measured *m = &loop->measured;
    const hac_run_options *o = run->options;
    uint64_t after = m->round_seconds < 2 * TASK_LONG_SECONDS ? 1 : TASK_LONG_AFTER;
    /* Not where the user decides where each sub-operator runs, and not before a round was measured. */
    return !m->never_fused && m->graph_rounds_max > 1 && done >= after && done >= m->again &&
           m->round_seconds < TASK_TRIED_SECONDS && hac_run_is_single_rank(run) && run->ahead == NULL &&
           run->dry_run == NULL && o->policy == HAC_OP_POLICY_MEASURED && !o->kernels &&
           loop->step->rounds - loop->sent > (m->in_tasks ? 0 : 1);
}

uint64_t hac_loop_task_rounds(const hac_logic_run_state *run, const hac_run_loop *loop)
{
    const hac_loop_measured *m = &loop->measured;
    if (!hac_loop_may_fuse(run, loop, loop->done))
        return 0;
    double fit = (m->in_tasks ? TASK_SECONDS : 4 * TASK_SECONDS) / m->round_seconds;
    uint64_t left = loop->step->rounds - loop->sent;
    uint64_t n = (uint64_t)fmin(fit, m->in_tasks ? TASK_ROUNDS_MAX : TASK_FIRST_ROUNDS);
    uint64_t lines = loop->line_bytes > 0 ? LINES_BYTES / loop->line_bytes : n;
    n = n < lines ? n : lines;
    return n < left ? n : left;
}

/* ---- measurements ---- */

static void measure(hac_run_loop *loop, uint64_t rounds, uint64_t now)
{
    loop->measured.round_seconds = (double)(now - loop->mark) * 1e-9 / (double)rounds;
    loop->mark = now;
}

void hac_loop_measure_graph(hac_run_loop *loop, uint64_t rounds, uint64_t now)
{
    measure(loop, rounds > 0 ? rounds : 1, now);
    loop->measured.graph_round_seconds = loop->measured.round_seconds;
    loop->measured.in_tasks = false;
}

/* Short rounds that once gained as a task stay one: other work of the machine may make them longer. */
static bool pays(const hac_loop_measured *m)
{
    if (m->round_seconds > TASK_LONG_SECONDS)
        return m->round_seconds < TASK_LONG_GAIN * m->graph_round_seconds;
    return m->in_tasks || m->round_seconds < TASK_GAIN * m->graph_round_seconds;
}

void hac_loop_measure_task(hac_run_loop *loop, uint64_t rounds, uint64_t now)
{
    hac_loop_measured *m = &loop->measured;
    if (rounds > 0)
        measure(loop, rounds, now);
    else
        loop->mark = now;
    m->in_tasks = pays(m);
    m->pause = m->in_tasks ? 0 : m->pause == 0 ? TASK_PAUSE : 2 * m->pause;
    m->again = loop->done + m->pause;
}

/* ---- what engines share ---- */

hac_status hac_loop_add_round(hac_logic_run_state *run, const hac_run_loop *loop, hac_error *err)
{
    run->report->rounds++;
    run->round++;
    return loop->run_body(run, loop->step->body, loop->step->n_body, err);
}

hac_status hac_loop_land(hac_logic_run_state *run, hac_status status, hac_error *err)
{
    while (run->n_sent > 0) {
        hac_status other = hac_run_await(run, status == HAC_OK ? err : NULL);
        status = status == HAC_OK ? other : status;
    }
    return status;
}

static void describe_value(hac_kind kind, const uint8_t *at, char *ret, size_t capacity)
{
    double wide;
    float narrow;
    uint64_t bits = 0;
    memcpy(&bits, at, hac_op_element_size((unsigned)kind));
    memcpy(&wide, at, kind == HAC_KIND_F64 ? sizeof wide : 0);
    memcpy(&narrow, at, kind == HAC_KIND_F32 ? sizeof narrow : 0);
    if (kind == HAC_KIND_F64)
        snprintf(ret, capacity, "%.9g", wide);
    else if (kind == HAC_KIND_F32)
        snprintf(ret, capacity, "%.9g", (double)narrow);
    else if (kind == HAC_KIND_I64 || kind == HAC_KIND_I32)
        snprintf(ret, capacity, "%" PRId64,
                 kind == HAC_KIND_I32 ? (int64_t)(int32_t)(uint32_t)bits : (int64_t)bits);
    else
        snprintf(ret, capacity, "%" PRIu64, bits);
}

/* "residual = 0.0012" */
static void describe_condition(const hac_logic_run_state *run, const hac_logic_expression *expression,
                               const uint64_t *bits, char *ret, size_t capacity)
{
    int used = 0;
    ret[0] = '\0';
    for (size_t i = 0; i < expression->n_vectors && used >= 0 && (size_t)used < capacity; i++) {
        const hac_run_vector *v = &run->vectors[expression->vectors[i]];
        char value[32];
        if (v->memory == NULL || v->operand.rows != 1 || !hac_run_is_whole(v))
            continue;
        const void *at = bits != NULL ? (const void *)&bits[i] : hac_run_data(v) + v->operand.values;
        describe_value((hac_kind)v->operand.kind, at, value, sizeof value);
        used += snprintf(ret + used, capacity - (size_t)used, "%s%s = %s", used > 0 ? ", " : "",
                         run->logic->vectors[expression->vectors[i]].name, value);
    }
}

void hac_loop_log_round(hac_logic_run_state *run, hac_run_loop *loop, uint64_t round, const uint64_t *bits)
{
    char values[256];
    describe_condition(run, loop->step->condition, bits, values, sizeof values);
    loop->line_bytes = strlen(values) + LINE_BYTES;
    hac_run_log(run, "round %" PRIu64 ": %s, %.3f s since the loop began", round, values,
                hac_seconds_since(loop->start));
}
