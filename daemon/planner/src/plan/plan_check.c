/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hac_plan_check. Which tasks may run at the same time follows from the dependencies: the tasks are laid on
 * chains (a task continues the chain of a dependency that is still its end), and every task knows how far
 * along each chain its ancestors reach; a was before b exactly when b reaches a's place on a's chain.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "planner/plan.h"

#define MAX_REACH ((size_t)64 * 1024 * 1024) /* entries of the table tasks × chains */

typedef struct reach {
    uint32_t *chain, *place; /* by task */
    uint32_t *upto;          /* [task × n_chains]: places of each chain that came before (or are) the task */
    size_t n_chains;
} reach;

static void reach_clear(reach *r)
{
    free(r->chain);
    free(r->place);
    free(r->upto);
}

static hac_status broken(hac_error *err, size_t task, const char *what)
{
    return hac_fail(err, HAC_INTERNAL, "plan: task %zu: %s", task, what);
}

static hac_status check_span(const hac_plan *plan, size_t index, const hac_plan_span *span, hac_error *err)
{
    const hac_plan_task *task = &plan->tasks[index];
    if (span->buffer >= plan->n_buffers)
        return broken(err, index, "a span names no buffer");
    const hac_plan_buffer *buffer = &plan->buffers[span->buffer];
    uint64_t end;
    if (__builtin_add_overflow(span->offset, span->bytes, &end) || end > buffer->bytes)
        return broken(err, index, "a span ends outside its buffer");
    if (span->offset % HAC_ALIGNMENT != 0)
        return broken(err, index, "a span is not 64-byte aligned");
    if (span->touch_first > span->touch_end || span->touch_first < span->offset || span->touch_end > end)
        return broken(err, index, "touches bytes outside its span");
    if (span->access < HAC_READ || span->access > HAC_READ_WRITE)
        return broken(err, index, "a span's access is unknown");
    if (buffer->role == HAC_BUFFER_INPUT && (span->access & HAC_WRITE) &&
        !(buffer->from_descriptor && task->uses_descriptor))
        return broken(err, index, "writes the input");
    return HAC_OK;
}

static hac_status check_placement(const hac_plan *plan, size_t index, hac_error *err)
{
    const hac_plan_task *task = &plan->tasks[index];
    uint32_t known = (uint32_t)((UINT64_C(1) << plan->n_devices) - 1);
    if (task->device_mask == 0 || (task->device_mask & ~known) != 0)
        return broken(err, index, "device mask is empty or names no device");
    if (task->range) {
        if (task->grain == 0 || task->count == 0)
            return broken(err, index, "a range task without grain or count");
        if (task->first % task->grain != 0)
            return broken(err, index, "a range task that starts off its grain");
        return HAC_OK;
    }
    if (task->device < -1 || task->device >= (int)plan->n_devices)
        return broken(err, index, "names no device");
    if (task->device >= 0 && task->device_mask != UINT32_C(1) << task->device)
        return broken(err, index, "device mask differs from its device");
    return HAC_OK;
}

static hac_status check_task(const hac_plan *plan, size_t index, hac_error *err)
{
    const hac_plan_task *task = &plan->tasks[index];
    if (task->codelet == NULL || task->n_spans > HAC_SPANS_MAX || task->n_params > HAC_TASK_PARAMS_MAX)
        return broken(err, index, "no codelet, or too many spans or parameters");
    if ((uint64_t)task->first_edge + task->n_edges > plan->n_edges)
        return broken(err, index, "dependencies outside the plan");
    for (uint32_t e = 0; e < task->n_edges; e++)
        if (plan->edges[task->first_edge + e] >= index)
            return broken(err, index, "depends on a task that does not come before it");
    uint64_t end;
    if (__builtin_add_overflow(task->first, task->count, &end))
        return broken(err, index, "its range overflows");
    if (task->slices > 0 && (task->range || task->slice >= task->slices))
        return broken(err, index, "a slice that there is not");
    if (!isfinite(task->units) || task->units < 0 || !isfinite(task->predicted_start) ||
        !isfinite(task->predicted_seconds) || task->predicted_seconds < 0)
        return broken(err, index, "units or predicted time are not numbers");
    for (size_t s = 0; s < task->n_spans; s++) {
        hac_status status = check_span(plan, index, &task->spans[s], err);
        if (status != HAC_OK)
            return status;
    }
    return check_placement(plan, index, err);
}

/* Lays the tasks on chains. */
static hac_status lay_chains(const hac_plan *plan, reach *r, hac_error *err)
{
    uint32_t *end = calloc(plan->n_tasks, sizeof(*end)); /* by chain: its last task */
    r->chain = calloc(plan->n_tasks, sizeof(*r->chain));
    r->place = calloc(plan->n_tasks, sizeof(*r->place));
    if (end == NULL || r->chain == NULL || r->place == NULL) {
        free(end);
        return hac_fail_no_memory(err);
    }
    for (uint32_t t = 0; t < plan->n_tasks; t++) {
        const hac_plan_task *task = &plan->tasks[t];
        bool continued = false;
        for (uint32_t e = 0; e < task->n_edges && !continued; e++) {
            uint32_t dep = plan->edges[task->first_edge + e];
            if (end[r->chain[dep]] != dep)
                continue;
            r->chain[t] = r->chain[dep];
            r->place[t] = r->place[dep] + 1;
            continued = true;
        }
        if (!continued)
            r->chain[t] = (uint32_t)r->n_chains++;
        end[r->chain[t]] = t;
    }
    free(end);
    return HAC_OK;
}

static hac_status build_reach(const hac_plan *plan, reach *r, hac_error *err)
{
    hac_status status = lay_chains(plan, r, err);
    if (status != HAC_OK)
        return status;
    if (r->n_chains > MAX_REACH / plan->n_tasks)
        return hac_fail(err, HAC_INTERNAL, "plan: %zu tasks on %zu chains are too many to check",
                        plan->n_tasks, r->n_chains);
    r->upto = calloc(plan->n_tasks * r->n_chains + 1, sizeof(*r->upto)); /* of an empty plan, too */
    if (r->upto == NULL)
        return hac_fail_no_memory(err);
    for (size_t t = 0; t < plan->n_tasks; t++) {
        const hac_plan_task *task = &plan->tasks[t];
        uint32_t *mine = &r->upto[t * r->n_chains];
        for (uint32_t e = 0; e < task->n_edges; e++) {
            const uint32_t *other = &r->upto[plan->edges[task->first_edge + e] * r->n_chains];
            for (size_t c = 0; c < r->n_chains; c++)
                mine[c] = other[c] > mine[c] ? other[c] : mine[c];
        }
        mine[r->chain[t]] = r->place[t] + 1;
    }
    return HAC_OK;
}

static bool is_before(const reach *r, uint32_t earlier, uint32_t later)
{
    return r->upto[later * r->n_chains + r->chain[earlier]] > r->place[earlier];
}

typedef struct touch {
    uint32_t task;
    uint8_t access;
    uint64_t first, end; /* bytes */
} touch;

/* Slices of one piece of work touch different bytes within the same span. */
static bool sliced_apart(const hac_plan_task *a, const hac_plan_task *b)
{
    return a->slices > 1 && a->slices == b->slices && a->slice != b->slice &&
           strcmp(a->codelet, b->codelet) == 0 && a->first == b->first && a->count == b->count &&
           a->step_first == b->step_first && a->step_last == b->step_last;
}

/* Goes through the touches of one buffer in plan order. A later touch of the same bytes takes an earlier
 * one's place when it asks for as much order: whatever conflicts with the earlier one then conflicts with it
 * as well. */
static hac_status check_buffer(const hac_plan *plan, const reach *r, touch *touches, size_t n, size_t buffer,
                               hac_error *err)
{
    size_t live = 0;
    for (size_t i = 0; i < n; i++) {
        touch now = touches[i];
        size_t kept = 0;
        for (size_t j = 0; j < live; j++) {
            touch old = touches[j];
            bool overlap = old.first < now.end && now.first < old.end;
            bool conflict = overlap && old.task != now.task && ((old.access | now.access) & HAC_WRITE) &&
                            !sliced_apart(&plan->tasks[old.task], &plan->tasks[now.task]);
            if (conflict && !is_before(r, old.task, now.task))
                return hac_fail(err, HAC_INTERNAL,
                                "plan: tasks %" PRIu32 " and %" PRIu32
                                " may run at the same time and touch the same bytes of buffer %zu",
                                old.task, now.task, buffer);
            bool covered = now.first <= old.first && old.end <= now.end &&
                           ((now.access & HAC_WRITE) || !(old.access & HAC_WRITE)) &&
                           is_before(r, old.task, now.task);
            if (!covered)
                touches[kept++] = old;
        }
        touches[kept++] = now;
        live = kept;
    }
    return HAC_OK;
}

static hac_status check_conflicts(const hac_plan *plan, const reach *r, hac_error *err)
{
    touch *touches = calloc(plan->n_tasks * HAC_SPANS_MAX, sizeof(*touches));
    if (touches == NULL)
        return hac_fail_no_memory(err);
    hac_status status = HAC_OK;
    for (size_t b = 0; b < plan->n_buffers && status == HAC_OK; b++) {
        size_t n = 0;
        for (uint32_t t = 0; t < plan->n_tasks; t++) {
            for (size_t s = 0; s < plan->tasks[t].n_spans; s++) {
                const hac_plan_span *span = &plan->tasks[t].spans[s];
                if (span->buffer != b)
                    continue;
                touches[n].task = t;
                touches[n].access = span->access;
                touches[n].first = span->touch_first;
                touches[n].end = span->touch_end;
                n += span->touch_first < span->touch_end;
            }
        }
        status = check_buffer(plan, r, touches, n, b, err);
    }
    free(touches);
    return status;
}

static hac_status check_devices(const hac_plan *plan, hac_error *err)
{
    if (plan->n_devices == 0 || plan->n_devices > HAC_DEVICES_MAX || plan->n_buffers > HAC_PLAN_MAX_BUFFERS)
        return hac_fail(err, HAC_INTERNAL, "plan: %zu devices, %zu buffers", plan->n_devices,
                        plan->n_buffers);
    double shares = 0;
    for (size_t d = 0; d < plan->n_devices; d++) {
        if (!(plan->devices[d].share >= 0 && plan->devices[d].share <= 1))
            return hac_fail(err, HAC_INTERNAL, "plan: the share of %s is no share", plan->devices[d].name);
        shares += plan->devices[d].share;
    }
    if (fabs(shares - 1) > 1e-6)
        return hac_fail(err, HAC_INTERNAL, "plan: shares add up to %g", shares);
    return HAC_OK;
}

hac_status hac_plan_check(const hac_plan *plan, hac_error *err)
{
    hac_status status = check_devices(plan, err);
    if (status != HAC_OK)
        return status;
    if (plan->n_tasks == 0 && plan->sort.items == 0)
        return HAC_OK; /* nothing to do */
    if (plan->n_tasks == 0 || plan->n_tasks > HAC_PLAN_MAX_TASKS)
        return hac_fail(err, HAC_INTERNAL, "plan: %zu tasks", plan->n_tasks);
    if (plan->result_buffer < -1 || plan->result_buffer >= (int)plan->n_buffers ||
        (plan->result_buffer == -1 && plan->n_buffers > 0 && plan->buffers[0].role != HAC_BUFFER_SHARED))
        return hac_fail(err, HAC_INTERNAL, "plan: no result buffer");
    for (size_t t = 0; t < plan->n_tasks; t++) {
        status = check_task(plan, t, err);
        if (status != HAC_OK)
            return status;
    }
    reach r = {NULL, NULL, NULL, 0};
    status = build_reach(plan, &r, err);
    if (status == HAC_OK)
        status = check_conflicts(plan, &r, err);
    reach_clear(&r);
    return status;
}
