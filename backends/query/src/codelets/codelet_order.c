/* SPDX-License-Identifier: Apache-2.0 */
/* query.order: the rows of a part of the result, found in the runs of all chunks; query.join: parts to the
 * result. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "codelet/threads.h"
#include "query/codelets.h"
#include "results/result_parts.h"
#include "results/row_runs.h"

#define PARTS_MAX (UINT64_C(1) << 20)

typedef struct order_job {
    hac_query_task task;
    hac_span parts;
    uint64_t first;
    hac_rows_reader reader;
    hac_row_keys keys;
    hac_row_runs runs;
    uint64_t rows, part_rows;  /* rows of the result, and of a part */
    uint64_t offset;           /* rank of the result's first row */
    uint64_t *needed, *result; /* of each part */
} order_job;

/* ---- checks ---- */

static hac_status check_parts(const hac_task *task, size_t span, hac_error *err)
{
    const hac_query_params *p = HAC_PARAMS(hac_query_params, task);
    hac_status status = hac_query_check_params(task, err);
    if (status != HAC_OK)
        return status;
    if (p->partitions == 0 || p->partitions > PARTS_MAX || p->part_rows == 0 || task->first > p->partitions ||
        task->count > p->partitions - task->first)
        return hac_fail(err, HAC_INVALID, "parts %llu … %llu of %llu", (unsigned long long)task->first,
                        (unsigned long long)(task->first + task->count), (unsigned long long)p->partitions);
    return hac_query_check_regions(task, span, p->partitions, p->group_region, err);
}

hac_status hac_query_check_order(const hac_device_facts *facts, const hac_task *task, hac_error *err)
{
    (void)facts;
    hac_status status = check_parts(task, 1, err);
    return status == HAC_OK ? hac_query_check_regions(task, 0, HAC_PARAMS(hac_query_params, task)->chunks,
                                                      HAC_PARAMS(hac_query_params, task)->region, err)
                            : status;
}

hac_status hac_query_check_join(const hac_device_facts *facts, const hac_task *task, hac_error *err)
{
    (void)facts;
    return check_parts(task, 0, err);
}

/* ---- query.order ---- */

static hac_status read_runs(order_job *j, const hac_span *rows, hac_row_run *runs, hac_error *err)
{
    const hac_query_task *t = &j->task;
    if (t->query->n_limit_by > 0)
        return hac_fail(err, HAC_INVALID, "rows that are limited by columns are not made in parts");
    hac_rows_reader_init(&j->reader, t->query);
    for (uint64_t c = 0; c < t->chunks; c++) {
        size_t first = j->reader.n_blocks;
        hac_status status =
            hac_rows_reader_add(&j->reader, rows->data + c * t->region, t->region, t->seed, c, err);
        if (status == HAC_OK && j->reader.run == NULL)
            status =
                hac_fail(err, HAC_INVALID, "the rows of chunk %llu are not sorted", (unsigned long long)c);
        if (status != HAC_OK)
            return status;
        runs[c] = (hac_row_run){.entries = (const hac_row_entry *)(const void *)j->reader.run,
                                .n = j->reader.run_rows,
                                .first_block = first,
                                .n_blocks = j->reader.n_blocks - first};
        if (runs[c].n_blocks == 0)
            runs[c].n = 0;
    }
    hac_row_keys_init(t->query, &j->reader, &j->keys);
    j->runs = (hac_row_runs){.keys = &j->keys, .runs = runs, .n = t->chunks};
    uint64_t all = hac_row_runs_rows(&j->runs);
    j->rows = all < t->query->limit ? all : t->query->limit;
    j->offset = j->rows < t->query->offset ? j->rows : t->query->offset;
    j->rows -= j->offset;
    j->part_rows = hac_part_rows(t->query, t->part_rows);
    return HAC_OK;
}

static hac_status write_part(void *context, uint64_t item, unsigned worker, hac_error *err)
{
    order_job *j = context;
    const hac_query_task *t = &j->task;
    uint64_t number = j->first + item, first, end;
    hac_autofree uint64_t *order = NULL;
    hac_ordered_rows rows = {.query = t->query, .rows = &j->reader};
    (void)worker;
    if (__builtin_mul_overflow(number, j->part_rows, &first) || first > j->rows)
        first = j->rows;
    end = j->rows - first < j->part_rows ? j->rows : first + j->part_rows;
    hac_status status =
        hac_row_runs_order(&j->runs, j->offset + first, j->offset + end, &order, &rows.n, err);
    rows.order = order;
    if (status != HAC_OK)
        return status;
    return hac_part_write(&rows, number, t->seed, j->parts.data + number * t->group_region, t->group_region,
                          &j->needed[item], &j->result[item], err);
}

static hac_status run_order(order_job *j, const hac_task *task, hac_task_result *result, hac_error *err)
{
    hac_autofree hac_row_run *runs = calloc(j->task.chunks + 1, sizeof *runs);
    hac_autofree uint64_t *figures = calloc(2 * task->count + 1, sizeof *figures);
    if (runs == NULL || figures == NULL)
        return hac_fail_no_memory(err);
    j->needed = figures;
    j->result = figures + task->count;
    hac_status status = read_runs(j, &task->spans[0], runs, err);
    if (status == HAC_OK)
        status = hac_pool_run(task->count, write_part, j, err);
    memset(result->values, 0, sizeof result->values);
    result->n_values = 3;
    result->values[0] = j->rows;
    for (uint64_t i = 0; i < task->count; i++) {
        result->values[1] = j->needed[i] > result->values[1] ? j->needed[i] : result->values[1];
        result->values[2] += j->result[i];
    }
    hac_rows_reader_clear(&j->reader);
    return status;
}

hac_status hac_query_run_order(hac_device *device, const hac_task *task, hac_task_result *result,
                               hac_error *err)
{
    (void)device;
    order_job j = {.parts = task->spans[1], .first = task->first};
    hac_status status = hac_query_task_read(task, -1, &j.task, err);
    if (status != HAC_OK)
        return status;
    status = run_order(&j, task, result, err);
    hac_query_task_clear(&j.task);
    return status;
}

/* ---- query.join ---- */

hac_status hac_query_run_join(hac_device *device, const hac_task *task, hac_task_result *result,
                              hac_error *err)
{
    (void)device;
    hac_query_task t;
    hac_status status = hac_query_task_read(task, -1, &t, err);
    if (status != HAC_OK)
        return status;
    const hac_query_params *p = HAC_PARAMS(hac_query_params, task);
    hac_result_parts parts = {.query = t.query,
                              .regions = task->spans[0].data,
                              .region_bytes = p->group_region,
                              .n = p->partitions,
                              .seed = t.seed};
    status = hac_parts_join(&parts, task->first, task->count, task->spans[1], &result->values[0],
                            &result->values[1], err);
    result->n_values = 2;
    hac_query_task_clear(&t);
    return status;
}
