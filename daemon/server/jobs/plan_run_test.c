/* SPDX-License-Identifier: Apache-2.0 */
/* Runs random graphs on a few queues that lose pieces, with tasks that fail. */
#include "plan_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/test_support.h"

#define TASKS    24
#define QUEUES   3
#define CAPACITY 6 /* capacity of a queue */

typedef struct entry {
    uint64_t id;
    uint32_t task;
    hacd_piece piece;
} entry;

typedef struct queue {
    entry entries[CAPACITY];
    unsigned n;
    uint64_t failed; /* as an executor keeps it */
} queue;

typedef struct fixture {
    hac_plan *plan;
    hacd_plan_run run;
    queue queues[QUEUES];
    uint64_t next_id;
    uint32_t seed;
    unsigned ends[TASKS];
    unsigned ahead, left_out, lost;
} fixture;

static uint32_t draw(fixture *f, uint32_t below)
{
    f->seed = f->seed * 1664525u + 1013904223u;
    return (f->seed >> 8) % below;
}

/* Tasks assigned to a queue each, some of several pieces, each after up to three predecessors. */
static void make_plan(fixture *f, bool ahead)
{
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(hac_plan_new(HAC_FLOW_OPSPLIT, &f->plan, &err), HAC_OK);
    f->plan->ahead = ahead;
    for (uint32_t t = 0; t < TASKS; t++) {
        uint32_t after[3];
        size_t n = 0;
        for (uint32_t i = 0; i < 3 && t > 0; i++) {
            uint32_t other = t - 1 - draw(f, t < 4 ? t : 4);
            if (draw(f, 3) > 0 && (n == 0 || (after[0] != other && after[n - 1] != other)))
                after[n++] = other;
        }
        hac_plan_task task = {.codelet = "op.map",
                              .device = (int)draw(f, QUEUES),
                              .count = 1 + draw(f, 3),
                              .predicted_seconds = 1};
        assert_int_equal(hac_plan_add_task(f->plan, &task, after, n, NULL, &err), HAC_OK);
    }
    assert_int_equal(hac_plan_run_begin(&f->run, f->plan, &err), HAC_OK);
}

static uint32_t queued(const void *context, uint32_t task, uint64_t *ret_first)
{
    const queue *q = context;
    uint32_t n = 0;
    for (unsigned i = 0; i < q->n; i++)
        if (q->entries[i].task == task && n++ == 0)
            *ret_first = q->entries[i].id;
    return n;
}

/* Sends a piece of one item; returns false if the queue is full, or the task may not go. */
static bool give(fixture *f, uint32_t t)
{
    queue *q = &f->queues[f->plan->tasks[t].device];
    hac_task_state *state = &f->run.tasks[t];
    hacd_piece piece = {state->claimed, 1, 0, 0};
    uint64_t predecessor;
    if (q->n == CAPACITY || !hac_plan_run_may_go(&f->run, f->plan, t, queued, q, &predecessor))
        return false;
    if (!hac_plan_run_take_lost(&f->run, t, &piece))
        state->claimed++;
    piece.predecessor = predecessor;
    f->ahead += predecessor != 0;
    q->entries[q->n++] = (entry){f->next_id++, t, piece};
    state->in_flight++;
    return true;
}

/* As the scheduler does. */
static void hand_out(fixture *f)
{
    hacd_plan_run *run = &f->run;
    size_t kept = 0;
    for (size_t i = 0; i < run->n_ready; i++) {
        uint32_t t = run->ready[i];
        while (!hac_plan_run_is_given_out(run, f->plan, t) && give(f, t))
            ;
        bool all = hac_plan_run_is_given_out(run, f->plan, t);
        run->tasks[t].listed = !all;
        if (all)
            hac_plan_run_list_successors(run, f->plan, t);
        else
            run->ready[kept++] = t;
        assert_true(run->n_ready <= TASKS);
    }
    run->n_ready = kept;
}

static entry take_first(queue *q)
{
    entry first = q->entries[0];
    memmove(q->entries, q->entries + 1, --q->n * sizeof first);
    return first;
}

static void check_order(const fixture *f, uint32_t task)
{
    for (uint32_t e = 0; e < f->plan->tasks[task].n_edges; e++)
        assert_int_equal(f->ends[f->plan->edges[f->plan->tasks[task].first_edge + e]], 1);
}

/* The first piece of a queue succeeds, fails, or is skipped. */
static void step(fixture *f, queue *q)
{
    if (q->n == 0)
        return;
    entry e = take_first(q);
    hac_task_state *state = &f->run.tasks[e.task];
    bool left_out = e.piece.predecessor != 0 && q->failed >= e.piece.predecessor;
    state->in_flight--;
    if (left_out || draw(f, 8) == 0) {
        q->failed = e.id;
        f->left_out += left_out;
        assert_true(left_out || state->waiting_for == 0);
        hac_plan_run_give_back(&f->run, e.task, &e.piece);
        return;
    }
    check_order(f, e.task);
    assert_int_equal(state->waiting_for, 0);
    if (++state->done == f->plan->tasks[e.task].count) {
        f->ends[e.task]++;
        hac_plan_run_end_task(&f->run, f->plan, e.task);
    }
}

/* The queue's executor dies. */
static void lose(fixture *f, queue *q)
{
    for (unsigned i = 0; i < q->n; i++) {
        f->run.tasks[q->entries[i].task].in_flight--;
        hac_plan_run_give_back(&f->run, q->entries[i].task, &q->entries[i].piece);
    }
    f->lost += q->n;
    q->n = 0;
    q->failed = 0;
}

static void run_to_the_end(fixture *f)
{
    for (unsigned steps = 0; f->run.n_done < TASKS; steps++) {
        assert_true(steps < 100000);
        hand_out(f);
        queue *q = &f->queues[draw(f, QUEUES)];
        if (draw(f, 40) == 0)
            lose(f, q);
        else
            step(f, q);
    }
    for (uint32_t t = 0; t < TASKS; t++)
        assert_int_equal(f->ends[t], 1);
    assert_int_equal(f->run.n_ready, 0);
}

static void check_graphs(bool ahead, unsigned *sent, unsigned *left_out, unsigned *lost)
{
    for (uint32_t seed = 1; seed <= 2000; seed++) {
        fixture f = {.next_id = 1, .seed = seed};
        make_plan(&f, ahead);
        run_to_the_end(&f);
        *sent += f.ahead;
        *left_out += f.left_out;
        *lost += f.lost;
        hac_plan_run_clear(&f.run, f.plan);
        hac_plan_free(f.plan);
    }
}

/* Every task ends once, after all its predecessors. */
static void test_ahead(void **state)
{
    (void)state;
    unsigned sent = 0, left_out = 0, lost = 0;
    check_graphs(true, &sent, &left_out, &lost);
    assert_true(sent > 10000 && left_out > 500 && lost > 1000);
}

static void test_one_after_the_other(void **state)
{
    (void)state;
    unsigned sent = 0, left_out = 0, lost = 0;
    check_graphs(false, &sent, &left_out, &lost);
    assert_true(sent == 0 && left_out == 0 && lost > 1000);
}

/* a → b → c in one queue: all are sent at once, b after a, c after b. A failure makes the later ones be
 * skipped. */
static void test_chain(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    fixture f = {.next_id = 1};
    assert_int_equal(hac_plan_new(HAC_FLOW_OPSPLIT, &f.plan, &err), HAC_OK);
    f.plan->ahead = true;
    for (uint32_t t = 0; t < 3; t++) {
        hac_plan_task task = {.codelet = "op.map", .device = 0, .count = 1};
        uint32_t after = t - 1;
        assert_int_equal(hac_plan_add_task(f.plan, &task, &after, t > 0, NULL, &err), HAC_OK);
    }
    assert_int_equal(hac_plan_run_begin(&f.run, f.plan, &err), HAC_OK);
    hand_out(&f);
    queue *q = &f.queues[0];
    assert_int_equal(q->n, 3);
    for (uint32_t t = 0; t < 3; t++) {
        assert_int_equal(q->entries[t].task, t);
        assert_int_equal(q->entries[t].piece.predecessor, t);
    }
    assert_int_equal(f.run.n_ready, 0);
    lose(&f, q);
    assert_int_equal(f.run.n_ready, 3);
    hand_out(&f);
    assert_int_equal(q->n, 3);
    assert_int_equal(q->entries[0].piece.predecessor, 0);
    assert_int_equal(q->entries[2].piece.predecessor, q->entries[1].id);
    f.plan->tasks[1].device = 1; /* in another queue: it has to wait, and so do its dependents */
    lose(&f, q);
    hand_out(&f);
    assert_int_equal(q->n, 1);
    assert_int_equal(f.queues[1].n, 0);
    hac_plan_run_clear(&f.run, f.plan);
    hac_plan_free(f.plan);
}

/* Three tasks of some items each, and a fourth after them. */
static void make_input(fixture *f)
{
    hac_error err = HAC_ERROR_NONE;
    const uint32_t after[] = {0, 1, 2};
    assert_int_equal(hac_plan_new(HAC_FLOW_SPLICE, &f->plan, &err), HAC_OK);
    for (uint32_t t = 0; t < 4; t++) {
        hac_plan_task task = {
            .codelet = "query.rows", .device = (int)draw(f, QUEUES), .count = t < 3 ? 1 + draw(f, 9) : 1};
        assert_int_equal(hac_plan_add_task(f->plan, &task, after, t < 3 ? 0 : 3, NULL, &err), HAC_OK);
    }
    assert_int_equal(hac_plan_run_begin(&f->run, f->plan, &err), HAC_OK);
}

/* The first piece of a queue ends, successfully unless it is bad. */
static void try_first(fixture *f, queue *q, const bool bad[3][9])
{
    if (q->n == 0)
        return;
    entry e = take_first(q);
    f->run.tasks[e.task].in_flight--;
    assert_true(e.task < 3);
    if (!bad[e.task][e.piece.first])
        f->run.tasks[e.task].done++;
    else if (hac_plan_run_comes_first(&f->run, e.task, e.piece.first))
        hac_plan_run_fail(&f->run, f->plan, e.task, e.piece.first);
}

/* If several pieces fail, the earliest is found, whichever comes back first and whatever is lost. */
static void test_first_failure(void **state)
{
    (void)state;
    unsigned lost = 0;
    for (uint32_t seed = 1; seed <= 2000; seed++) {
        fixture f = {.next_id = 1, .seed = seed};
        bool bad[3][9] = {{false}};
        make_input(&f);
        for (uint32_t i = 0, n = 1 + draw(&f, 4); i < n; i++) {
            uint32_t t = draw(&f, 3);
            bad[t][draw(&f, (uint32_t)f.plan->tasks[t].count)] = true;
        }
        const queue *q = f.queues;
        while (!f.run.failed || q[0].n + q[1].n + q[2].n > 0 || hac_plan_run_has_earlier(&f.run, f.plan)) {
            hand_out(&f);
            queue *one = &f.queues[draw(&f, QUEUES)];
            if (draw(&f, 20) == 0)
                lose(&f, one);
            else
                try_first(&f, one, bad);
        }
        for (uint32_t t = 0, first = 0; t < f.run.failed_task; t++)
            for (first = 0; first < 9; first++)
                assert_false(bad[t][first]);
        for (uint64_t first = 0; first < f.run.failed_first; first++)
            assert_false(bad[f.run.failed_task][first]);
        assert_true(bad[f.run.failed_task][f.run.failed_first]);
        lost += f.lost;
        hac_plan_run_clear(&f.run, f.plan);
        hac_plan_free(f.plan);
    }
    assert_true(lost > 500);
}

/* A cold piece counts until there is a better one. */
static void test_rates(void **state)
{
    (void)state;
    hac_task_state task = {0};
    hacd_plan_run run = {.tasks = &task};
    hac_plan_run_add_rate(&run, 0, 1, 10, 5, true);
    assert_true(task.units[1] > 9 && task.busy[1] > 4 && task.cold == 2);
    hac_plan_run_add_rate(&run, 0, 1, 10, 1, false);
    assert_true(task.units[1] < 11 && task.busy[1] < 2 && task.cold == 0);
    hac_plan_run_add_rate(&run, 0, 1, 10, 1, false);
    assert_true(task.units[1] > 19 && task.busy[1] < 3);
    hac_plan_run_add_rate(&run, 0, 1, 10, 9, true); /* of the device's next executor */
    assert_true(task.units[1] < 21 && task.busy[1] < 3 && task.cold == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rates), cmocka_unit_test(test_ahead),
                                       cmocka_unit_test(test_one_after_the_other),
                                       cmocka_unit_test(test_chain), cmocka_unit_test(test_first_failure)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
