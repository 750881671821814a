/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a graph of sub-operators where one field depends on another. */
#include <string.h>

#include "base/op_layout.h"
#include "validate.h"

static hac_status validate_span(const Hac__Client__OpSpan *span, size_t n_buffers, hac_error *err)
{
    if (span->buffer >= n_buffers)
        return hac_fail(err, HAC_PROTOCOL, "buffer: is %u of %zu", span->buffer, n_buffers);
    hac_status status = hac_validate_aligned_range(span->offset, span->bytes, err);
    uint64_t end = span->offset + span->bytes;
    if (status == HAC_OK && span->touch_bytes == 0 && span->touch_first != 0)
        return hac_fail(err, HAC_PROTOCOL, "touch_first: is there, but touches nothing");
    if (status == HAC_OK && span->touch_bytes > 0 &&
        (span->touch_first < span->offset || span->touch_first > end ||
         span->touch_bytes > end - span->touch_first))
        return hac_fail(err, HAC_PROTOCOL, "touch_bytes: are outside the span");
    return status;
}

static hac_status validate_task(const Hac__Client__OpTask *task, size_t index, size_t n_buffers,
                                hac_error *err)
{
    size_t length = strlen(task->codelet);
    if (strncmp(task->codelet, "op.", 3) != 0 || strcmp(task->codelet + length - 3, ".cl") == 0)
        return hac_fail(err, HAC_PROTOCOL, "codelet: is no sub-operator's");
    if (task->grain != 0 && (task->count == 0 || task->first % task->grain != 0))
        return hac_fail(err, HAC_PROTOCOL, "grain: is %llu, of a range that it does not cut",
                        (unsigned long long)task->grain);
    if (task->first > (uint64_t)INT64_MAX - task->count)
        return hac_fail(err, HAC_PROTOCOL, "count: the range ends too far away");
    for (size_t i = 0; i < task->n_after; i++)
        if (task->after[i] >= index)
            return hac_fail(err, HAC_PROTOCOL, "after: %u does not come before it", task->after[i]);
    for (size_t i = 0; i < task->n_spans; i++) {
        hac_status status = validate_span(task->spans[i], n_buffers, err);
        if (status != HAC_OK) {
            (void)hac_error_prefix(err, "spans[%zu]", i);
            return status;
        }
    }
    return HAC_OK;
}

static hac_status validate_tasks(const Hac__Client__SubmitOps *ops, size_t n_buffers, hac_error *err)
{
    if (ops->n_tasks == 0)
        return hac_fail(err, HAC_PROTOCOL, "tasks: there are none");
    for (size_t i = 0; i < ops->n_tasks; i++) {
        hac_status status = validate_task(ops->tasks[i], i, n_buffers, err);
        if (status != HAC_OK) {
            (void)hac_error_prefix(err, "tasks[%zu]", i);
            return status;
        }
    }
    return HAC_OK;
}

/* Checks a graph and its buffers. */
static hac_status validate_graph(const Hac__Client__SubmitOps *ops, hac_error *err)
{
    if (ops->n_tentative > ops->n_tasks)
        return hac_fail(err, HAC_PROTOCOL, "n_tentative: %u of %zu tasks", ops->n_tentative, ops->n_tasks);
    for (size_t i = 0; i < ops->n_buffers; i++)
        if (ops->buffers[i] == 0)
            return hac_fail(err, HAC_PROTOCOL, "buffers[%zu]: is missing", i);
    return validate_tasks(ops, ops->n_buffers, err);
}

hac_status hac_submit_ops_validate(const Hac__Client__SubmitOps *ops, size_t n_fds, hac_error *err)
{
    hac_status status = HAC_OK;
    if (ops->graphs && (ops->n_tasks > 0 || ops->n_buffers > 0 || ops->n_tentative > 0))
        return hac_fail(err, HAC_PROTOCOL, "graphs: will follow, but there is one already");
    if (!ops->graphs)
        status = validate_graph(ops, err);
    return status == HAC_OK ? hac_validate_fd_count(n_fds, 0, err) : status;
}

hac_status hac_append_graph_validate(const Hac__Client__AppendGraph *append, size_t n_fds, hac_error *err)
{
    hac_status status = HAC_OK;
    if (append->graph == NULL && !append->last && append->log[0] == '\0')
        return hac_fail(err, HAC_PROTOCOL, "graph: is missing");
    if (append->graph != NULL && append->graph->graphs)
        return hac_fail(err, HAC_PROTOCOL, "graph: has graphs of its own");
    if (append->graph != NULL)
        status = validate_graph(append->graph, err);
    if (status != HAC_OK)
        (void)hac_error_prefix(err, "graph");
    return status == HAC_OK ? hac_validate_fd_count(n_fds, 0, err) : status;
}

hac_status hac_plan_ops_validate(const Hac__Client__PlanOps *plan, size_t n_fds, hac_error *err)
{
    if (plan->ops->graphs)
        return hac_fail(err, HAC_PROTOCOL, "ops: graphs: only one is planned");
    if (plan->ops->n_buffers > 0)
        return hac_fail(err, HAC_PROTOCOL, "ops: buffers: are there, but only sizes are planned with");
    hac_status status = validate_tasks(plan->ops, plan->n_sizes, err);
    return status == HAC_OK ? hac_validate_fd_count(n_fds, 0, err) : status;
}
