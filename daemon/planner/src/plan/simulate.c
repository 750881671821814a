/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Up to this many grains a range task is dealt out grain by grain; above, as if it were a fluid. */
#define DEAL_GRAINS  64
#define ASSUMED_PART 0.25 /* of a device's time, from which on the whole is a guess */

typedef struct ready_task {
    double when;
    uint32_t task;
} ready_task;

typedef struct run {
    hac_plan *plan;
    const hac_machine *machine;
    hac_simulation *result;
    /* seconds priced, and of them those of the longest task that is only assumed */
    double on_device[HAC_DEVICES_MAX], assumed[HAC_DEVICES_MAX];
    const hac_experience *experience[HAC_DEVICES_MAX]; /* of that task */
    double free_at[HAC_DEVICES_MAX];
    /* tasks that wait for a task: followers[first_follower[t] … first_follower[t + 1]) */
    uint32_t *first_follower, *followers, *waits_for;
    double *ready_at;
    ready_task *heap;
    size_t n_heap;
} run;

static bool sooner(ready_task a, ready_task b)
{
    return a.when < b.when || (!(b.when < a.when) && a.task < b.task);
}

static void push(run *r, ready_task task)
{
    size_t at = r->n_heap++;
    while (at > 0 && sooner(task, r->heap[(at - 1) / 2])) {
        r->heap[at] = r->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    r->heap[at] = task;
}

static ready_task pop(run *r)
{
    ready_task top = r->heap[0], last = r->heap[--r->n_heap];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= r->n_heap)
            break;
        if (child + 1 < r->n_heap && sooner(r->heap[child + 1], r->heap[child]))
            child++;
        if (!sooner(r->heap[child], last))
            break;
        r->heap[at] = r->heap[child];
        at = child;
    }
    r->heap[at] = last;
    return top;
}

static double price(run *r, const hac_plan_task *task, size_t device, double fraction, bool together)
{
    hac_price_source source;
    double seconds = hac_price_task(r->machine, r->plan->devices[device].machine_index, r->plan->sort.items,
                                    task, fraction, together, &source);
    r->result->priced_seconds += seconds;
    r->on_device[device] += seconds;
    if (source == HAC_PRICE_ASSUMED && seconds > r->assumed[device]) { /* its longest task decides */
        const hac_machine_device *d = &r->machine->devices[r->plan->devices[device].machine_index];
        const char *model =
            hac_task_model(task, task->kernels_model != NULL && d->kind != HAC_DEVICE_KIND_CPU);
        r->assumed[device] = seconds;
        r->experience[device] = &d->experience[hac_price_work_class(model)];
    }
    r->result->learnt_seconds += source == HAC_PRICE_MODEL || source == HAC_PRICE_UNSURE ? seconds : 0;
    r->result->unsure_seconds += source == HAC_PRICE_UNSURE ? seconds : 0;
    r->result->profile_seconds += source == HAC_PRICE_PROFILE ? seconds : 0;
    return seconds;
}

/* Runs the task whole on one device; returns its end. */
static double run_whole(run *r, hac_plan_task *task, double ready)
{
    int device = task->device;
    for (int d = 0; device < 0 && d < (int)r->plan->n_devices; d++)
        if (task->device_mask >> d & 1)
            device = d;
    if (task->device < 0) /* whichever is free first */
        for (int d = 0; d < (int)r->plan->n_devices; d++)
            if ((task->device_mask >> d & 1) && r->free_at[d] < r->free_at[device])
                device = d;
    double seconds = price(r, task, (size_t)device, 1, hac_task_together(task));
    task->predicted_start = fmax(ready, r->free_at[device]) + HAC_DISPATCH_SECONDS;
    task->predicted_seconds = seconds;
    r->free_at[device] = task->predicted_start + seconds;
    r->result->busy[device] += seconds;
    return r->free_at[device];
}

/* Few grains: each goes to the device that would end it first. */
static double deal(run *r, uint32_t mask, const double *start, const double *whole, uint64_t grains)
{
    uint64_t taken[HAC_DEVICES_MAX] = {0};
    double end = 0;
    for (uint64_t g = 0; g < grains; g++) {
        size_t best = SIZE_MAX;
        double best_end = INFINITY;
        for (size_t d = 0; d < r->plan->n_devices; d++) {
            double would = start[d] + whole[d] * (double)(taken[d] + 1) / (double)grains;
            /* the first one counts even when its time is infinite */
            if ((mask >> d & 1) && (best == SIZE_MAX || would < best_end)) {
                best = d;
                best_end = would;
            }
        }
        taken[best]++;
        end = fmax(end, best_end);
    }
    for (size_t d = 0; d < r->plan->n_devices; d++) {
        double busy = taken[d] > 0 ? whole[d] * (double)taken[d] / (double)grains : 0;
        if (taken[d] > 0)
            r->free_at[d] = start[d] + busy;
        r->result->busy[d] += busy;
    }
    return end;
}

/* Many grains: all devices that take part end at the same time. A device that is free too late takes none. */
static double pour(run *r, uint32_t in, const double *start, const double *whole)
{
    double end = INFINITY;
    bool changed = true;
    while (changed) {
        double rate = 0, done = 0;
        for (size_t d = 0; d < r->plan->n_devices; d++) {
            if (in >> d & 1) {
                rate += 1 / whole[d];
                done += start[d] / whole[d];
            }
        }
        end = (1 + done) / rate;
        changed = false;
        for (size_t d = 0; d < r->plan->n_devices; d++) {
            if ((in >> d & 1) && start[d] >= end) {
                in &= ~(UINT32_C(1) << d);
                changed = true;
            }
        }
    }
    for (size_t d = 0; d < r->plan->n_devices; d++) {
        if (in >> d & 1) {
            r->result->busy[d] += end - start[d];
            r->free_at[d] = end;
        }
    }
    return end;
}

/* What a piece of a device that is only explored may take; it is no part of the plan's price. */
static double explore(const run *r, const hac_plan_task *task, size_t device, double fraction)
{
    return hac_price_task(r->machine, r->plan->devices[device].machine_index, r->plan->sort.items, task,
                          fraction, true, NULL);
}

/* Like price(), and notes whether it is only an assumption. */
static double price_range(run *r, hac_plan_task *task, size_t device, double fraction, bool together)
{
    double before = r->result->learnt_seconds + r->result->profile_seconds;
    double seconds = price(r, task, device, fraction, together);
    bool known = r->result->learnt_seconds + r->result->profile_seconds > before;
    task->guessed |= (uint32_t)!known << device;
    return seconds;
}

static double run_range(run *r, hac_plan_task *task, double ready)
{
    double start[HAC_DEVICES_MAX] = {0}, whole[HAC_DEVICES_MAX] = {0};
    double first = INFINITY;
    bool together = hac_task_together(task);
    uint64_t grains = (task->count + task->grain - 1) / task->grain;
    for (size_t d = 0; d < r->plan->n_devices; d++) {
        if (!(task->device_mask >> d & 1))
            continue;
        start[d] = fmax(ready, r->free_at[d]) + HAC_DISPATCH_SECONDS;
        /* priced at the size of the piece that it will about take, then scaled to the whole */
        bool explored = task->explored >> d & 1;
        double share = together ? fmax(r->plan->devices[d].share, 1.0 / (double)grains) : 1;
        share = fmin(fmax(share, 1e-3), 1);
        double seconds = explored ? explore(r, task, d, share) : price_range(r, task, d, share, together);
        task->whole_seconds[d] = fmax(seconds / share, 1e-9);
        whole[d] = task->whole_seconds[d] * (task->wanted > 0 ? task->wanted : 1);
        first = fmin(first, start[d]);
    }
    uint32_t mask = task->device_mask & ~task->explored; /* nothing relies on the others */
    double end = grains <= DEAL_GRAINS ? deal(r, mask, start, whole, grains) : pour(r, mask, start, whole);
    task->predicted_start = first;
    task->predicted_seconds = end - first;
    return end;
}

static void finish(run *r, uint32_t task, double end)
{
    r->result->seconds = fmax(r->result->seconds, end);
    for (uint32_t f = r->first_follower[task]; f < r->first_follower[task + 1]; f++) {
        uint32_t next = r->followers[f];
        r->ready_at[next] = fmax(r->ready_at[next], end);
        if (--r->waits_for[next] == 0)
            push(r, (ready_task){r->ready_at[next], next});
    }
}

static hac_status prepare(run *r, hac_error *err)
{
    const hac_plan *plan = r->plan;
    size_t n = plan->n_tasks;
    r->first_follower = calloc(n + 2, sizeof(uint32_t));
    r->followers = calloc(plan->n_edges + 1, sizeof(uint32_t));
    r->waits_for = calloc(n + 1, sizeof(uint32_t));
    r->ready_at = calloc(n + 1, sizeof(double));
    r->heap = calloc(n + 1, sizeof(ready_task));
    if (r->first_follower == NULL || r->followers == NULL || r->waits_for == NULL || r->ready_at == NULL ||
        r->heap == NULL)
        return hac_fail_no_memory(err);
    /* counting sort of the edges by what they wait for; first_follower is one ahead while it is filled */
    for (size_t e = 0; e < plan->n_edges; e++)
        r->first_follower[plan->edges[e] + 2]++;
    for (size_t t = 2; t <= n + 1; t++)
        r->first_follower[t] += r->first_follower[t - 1];
    for (uint32_t t = 0; t < n; t++) {
        const hac_plan_task *task = &plan->tasks[t];
        r->waits_for[t] = task->n_edges;
        for (uint32_t e = 0; e < task->n_edges; e++)
            r->followers[r->first_follower[plan->edges[task->first_edge + e] + 1]++] = t;
        if (task->n_edges == 0)
            push(r, (ready_task){0, t});
    }
    for (size_t d = 0; d < plan->n_devices; d++)
        r->free_at[d] = r->machine->devices[plan->devices[d].machine_index].backlog;
    return HAC_OK;
}

hac_status hac_plan_simulate(hac_plan *plan, const hac_machine *machine, hac_simulation *ret, hac_error *err)
{
    hac_simulation result;
    memset(&result, 0, sizeof(result));
    run r = {.plan = plan, .machine = machine, .result = &result};
    hac_status status = prepare(&r, err);
    while (status == HAC_OK && r.n_heap > 0) {
        ready_task next = pop(&r);
        hac_plan_task *task = &plan->tasks[next.task];
        finish(&r, next.task, task->range ? run_range(&r, task, next.when) : run_whole(&r, task, next.when));
    }
    free(r.first_follower);
    free(r.followers);
    free(r.waits_for);
    free(r.ready_at);
    free(r.heap);
    for (size_t d = 0; d < plan->n_devices && status == HAC_OK; d++) {
        bool guess = r.assumed[d] > ASSUMED_PART * r.on_device[d] && !machine->simulated;
        plan->devices[d].uncertainty = guess ? r.experience[d]->uncertainty : 0;
        plan->devices[d].experience = guess ? r.experience[d]->codelets : 0;
    }
    if (status == HAC_OK)
        *ret = result;
    return status;
}
