/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_run.h"

#include <stdlib.h>
#include <string.h>

static hac_status allocate(hacd_plan_run *run, const hac_plan *plan, hac_error *err)
{
    size_t n = plan->n_tasks;
    run->tasks = calloc(n + 1, sizeof *run->tasks);
    run->first_dependent = calloc(n + 2, sizeof *run->first_dependent);
    run->dependents = calloc(plan->n_edges + 1, sizeof *run->dependents);
    run->ready = calloc(n + 1, sizeof *run->ready);
    if (run->tasks == NULL || run->first_dependent == NULL || run->dependents == NULL || run->ready == NULL)
        return hac_fail_no_memory(err);
    return HAC_OK;
}

/* Inverts the plan's edges: from the tasks that a task waits for to the tasks that wait for it. */
static void index_dependents(hacd_plan_run *run, const hac_plan *plan)
{
    for (size_t t = 0; t < plan->n_tasks; t++) {
        run->tasks[t].waiting_for = plan->tasks[t].n_edges;
        for (uint32_t e = 0; e < plan->tasks[t].n_edges; e++)
            run->first_dependent[plan->edges[plan->tasks[t].first_edge + e] + 1]++;
    }
    for (size_t t = 0; t < plan->n_tasks; t++)
        run->first_dependent[t + 1] += run->first_dependent[t];
    uint32_t *fill = run->ready; /* unused so far: borrowed for the fill positions */
    memcpy(fill, run->first_dependent, plan->n_tasks * sizeof *fill);
    for (size_t t = 0; t < plan->n_tasks; t++)
        for (uint32_t e = 0; e < plan->tasks[t].n_edges; e++)
            run->dependents[fill[plan->edges[plan->tasks[t].first_edge + e]]++] = (uint32_t)t;
}

hac_status hac_plan_run_begin(hacd_plan_run *run, const hac_plan *plan, hac_error *err)
{
    hac_status status = allocate(run, plan, err);
    if (status != HAC_OK)
        return status;
    index_dependents(run, plan);
    memset(run->ready, 0, plan->n_tasks * sizeof *run->ready);
    for (uint32_t t = 0; t < plan->n_tasks; t++) {
        if (run->tasks[t].waiting_for == 0)
            hac_plan_run_list(run, t);
        run->total_seconds += plan->tasks[t].predicted_seconds;
    }
    return HAC_OK;
}

void hac_plan_run_clear(hacd_plan_run *run, const hac_plan *plan)
{
    for (size_t t = 0; run->tasks != NULL && t < plan->n_tasks; t++)
        free(run->tasks[t].lost);
    free(run->tasks);
    free(run->dependents);
    free(run->first_dependent);
    free(run->ready);
    run->tasks = NULL;
    run->dependents = run->first_dependent = run->ready = NULL;
    run->n_ready = 0;
}

void hac_plan_run_list(hacd_plan_run *run, uint32_t task)
{
    if (run->failed && task > run->failed_task)
        return;
    if (!run->tasks[task].listed)
        run->ready[run->n_ready++] = task;
    run->tasks[task].listed = true;
}

void hac_plan_run_list_successors(hacd_plan_run *run, const hac_plan *plan, uint32_t task)
{
    if (!plan->ahead)
        return;
    for (uint32_t i = run->first_dependent[task]; i < run->first_dependent[task + 1]; i++)
        if (run->tasks[run->dependents[i]].in_flight == 0)
            hac_plan_run_list(run, run->dependents[i]);
}

/* Whether the whole of an unfinished task is in that queue. */
static bool is_ahead(const hacd_plan_run *run, const hac_plan *plan, uint32_t task,
                     hac_plan_run_queued queued, const void *queue, uint64_t *ret_first)
{
    uint32_t n = queued(queue, task, ret_first);
    return n > 0 && n == run->tasks[task].in_flight && hac_plan_run_is_given_out(run, plan, task);
}

bool hac_plan_run_may_go(const hacd_plan_run *run, const hac_plan *plan, uint32_t task,
                         hac_plan_run_queued queued, const void *queue, uint64_t *ret_predecessor)
{
    *ret_predecessor = 0;
    for (uint32_t e = 0; run->tasks[task].waiting_for > 0 && e < plan->tasks[task].n_edges; e++) {
        uint32_t other = plan->edges[plan->tasks[task].first_edge + e];
        uint64_t first = 0;
        if (run->tasks[other].ended)
            continue;
        if (!is_ahead(run, plan, other, queued, queue, &first))
            return false;
        if (*ret_predecessor == 0 || first < *ret_predecessor)
            *ret_predecessor = first;
    }
    return true;
}

void hac_plan_run_leave_rest(hacd_plan_run *run, const hac_plan *plan, uint32_t task)
{
    hac_task_state *state = &run->tasks[task];
    state->claimed = state->done = plan->tasks[task].count;
    state->n_lost = 0;
}

bool hac_plan_run_is_given_out(const hacd_plan_run *run, const hac_plan *plan, uint32_t task)
{
    return run->tasks[task].n_lost == 0 && run->tasks[task].claimed >= plan->tasks[task].count;
}

bool hac_plan_run_take_lost(hacd_plan_run *run, uint32_t task, hacd_piece *ret)
{
    hac_task_state *state = &run->tasks[task];
    if (state->n_lost == 0)
        return false;
    *ret = state->lost[--state->n_lost];
    return true;
}

void hac_plan_run_add_rate(hacd_plan_run *run, uint32_t task, uint32_t device, double units, double seconds,
                           bool cold)
{
    hac_task_state *state = &run->tasks[task];
    bool none = !(state->busy[device] > 0), was_cold = (state->cold >> device & 1) != 0;
    if (cold && !none && !was_cold)
        return;
    if (!cold && was_cold)
        state->busy[device] = state->units[device] = 0;
    state->cold &= ~(UINT32_C(1) << device);
    state->cold |= (uint32_t)cold << device;
    state->busy[device] += seconds;
    state->units[device] += units;
}

void hac_plan_run_give_back(hacd_plan_run *run, uint32_t task, const hacd_piece *piece)
{
    hac_task_state *state = &run->tasks[task];
    if (!hac_plan_run_comes_first(run, task, piece->first))
        return;
    hacd_piece *lost = reallocarray(state->lost, state->n_lost + 1, sizeof *lost);
    if (lost == NULL) {
        run->broken = true;
        return;
    }
    state->lost = lost;
    state->lost[state->n_lost++] = *piece;
    hac_plan_run_list(run, task);
}

bool hac_plan_run_comes_first(const hacd_plan_run *run, uint32_t task, uint64_t first)
{
    return !run->failed || task < run->failed_task || (task == run->failed_task && first < run->failed_first);
}

void hac_plan_run_fail(hacd_plan_run *run, const hac_plan *plan, uint32_t task, uint64_t first)
{
    size_t kept = 0;
    run->failed = true;
    run->failed_task = task;
    run->failed_first = first;
    for (size_t i = 0; i < run->n_ready; i++)
        if (run->ready[i] <= task)
            run->ready[kept++] = run->ready[i];
        else
            run->tasks[run->ready[i]].listed = false;
    run->n_ready = kept;
    hac_task_state *state = &run->tasks[task];
    state->claimed = plan->tasks[task].count; /* in order: what was not handed out comes later in the input */
    kept = 0;
    for (size_t i = 0; i < state->n_lost; i++)
        if (hac_plan_run_comes_first(run, task, state->lost[i].first))
            state->lost[kept++] = state->lost[i];
    state->n_lost = kept;
}

bool hac_plan_run_has_earlier(const hacd_plan_run *run, const hac_plan *plan)
{
    for (uint32_t t = 0; t <= run->failed_task; t++)
        if (!hac_plan_run_is_given_out(run, plan, t))
            return true;
    return false;
}

void hac_plan_run_redo(hacd_plan_run *run, uint32_t task)
{
    run->tasks[task].claimed = run->tasks[task].done = 0;
    hac_plan_run_list(run, task);
}

void hac_plan_run_end_task(hacd_plan_run *run, const hac_plan *plan, uint32_t task)
{
    run->tasks[task].ended = true;
    run->n_done++;
    run->done_seconds += plan->tasks[task].predicted_seconds;
    for (uint32_t i = run->first_dependent[task]; i < run->first_dependent[task + 1]; i++) {
        hac_task_state *dependent = &run->tasks[run->dependents[i]];
        if (--dependent->waiting_for == 0 && dependent->in_flight == 0)
            hac_plan_run_list(run, run->dependents[i]);
    }
}

void hac_plan_run_end_earlier(hacd_plan_run *run, uint32_t device, double end)
{
    for (size_t i = run->n_records; i-- > 0;) {
        hac_run_record *r = &run->records[i];
        if (r->device != device)
            continue;
        if (r->start + r->seconds <= end)
            return;
        r->start = end > r->seconds ? end - r->seconds : 0;
        end = r->start;
    }
}
