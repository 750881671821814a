/* SPDX-License-Identifier: Apache-2.0 */
#include "hash_aggregate.h"

#include <stdlib.h>
#include <string.h>

#include "hash_partial.h"
#include "query/codelets.h"

#define PER_MILLE 0xffff

const char *hac_hash_aggregate_program(const hac_device_facts *facts, hac_type type)
{
    (void)type;
    return hac_hash_program(facts);
}

hac_status hac_hash_aggregate_check(const hac_device_facts *facts, const hac_task *task, hac_error *err)
{
    return hac_query_check_aggregate(facts, task, err);
}

/* ---- a task ---- */

typedef struct aggregation {
    const hac_task *task;
    hac_device *device;
    hac_query_task query;
    hac_group_layout layout;
    hac_hash_job *job;
    hac_hash_partials partials;
} aggregation;

/* A chunk that the device refused: the C engine's codelet, for this chunk. */
static hac_status by_engine(hac_hash_partials *partials, uint64_t chunk, hac_error *err)
{
    const aggregation *a = partials->context;
    hac_task one = *a->task;
    hac_task_result result = {0};
    one.first = chunk;
    one.count = 1;
    hac_status status = hac_query_run_aggregate(a->device, &one, &result, err);
    if (status == HAC_OK)
        hac_hash_partials_count(partials, result.values[HAC_AGGREGATE_VALUE_GROUPS],
                                result.values[HAC_AGGREGATE_VALUE_NEEDED]);
    a->job->figures.kept += status == HAC_OK ? result.values[HAC_AGGREGATE_VALUE_KEPT] : 0;
    return status;
}

static hac_hash_options options_of(const hac_task *task, const hac_query_task *query)
{
    uint64_t method = task->params[HAC_QUERY_PARAM_METHOD], shape = task->params[HAC_QUERY_PARAM_SHAPE];
    return (hac_hash_options){.seed = query->seed,
                              .hot_keys = (method & HAC_QUERY_HOT_KEYS) != 0,
                              .any_order = (method & HAC_QUERY_SHARED_TABLES) != 0,
                              .sample = (uint32_t)(method >> 16 & PER_MILLE),
                              .hot_share = (uint32_t)(method >> 32 & PER_MILLE),
                              .groups = (uint32_t)shape,
                              .items = (uint32_t)(shape >> 32)};
}

static hac_status begin(aggregation *a, hac_error *err)
{
    hac_status status = hac_query_task_read(a->task, 2, &a->query, err);
    if (status != HAC_OK)
        return status;
    const hac_query_task *q = &a->query;
    if (q->table.n_columns == 0)
        return hac_fail(err, HAC_UNSUPPORTED, "devices aggregate tables in memory");
    if (!q->query->aggregates)
        return hac_fail(err, HAC_INVALID, "the query aggregates nothing");
    hac_span memory = a->task->spans[2];
    hac_hash_options options = options_of(a->task, q);
    a->job = calloc(1, sizeof *a->job);
    if (a->job == NULL)
        return hac_fail_no_memory(err);
    status = hac_group_layout_init(q->query, &a->layout, err);
    if (status == HAC_OK)
        status =
            hac_hash_job_init(a->job, a->device, q->query, &a->layout, &q->table, &memory, &options, err);
    if (status != HAC_OK)
        return status;
    a->partials = (hac_hash_partials){.query = q->query,
                                      .table = &q->table,
                                      .memory = memory,
                                      .options = {.seed = q->seed,
                                                  .memory = hac_query_table_memory(q->region),
                                                  .partitions = q->partitions,
                                                  .pass = q->pass,
                                                  .passes = q->passes},
                                      .first_chunk = q->first_chunk,
                                      .regions = a->task->spans[0].data,
                                      .region = q->region,
                                      .tail = a->job->shape.tail,
                                      .context = a,
                                      .refused = by_engine};
    return hac_hash_partials_init(&a->partials, err);
}

static void end(aggregation *a)
{
    hac_hash_partials_clear(&a->partials);
    if (a->job != NULL)
        hac_hash_job_clear(a->job);
    free(a->job);
    hac_group_layout_clear(&a->layout);
    hac_query_task_clear(&a->query);
}

static void put_values(const aggregation *a, hac_task_result *result)
{
    const hac_hash_figures *f = &a->job->figures;
    uint64_t *v = result->values;
    v[HAC_AGGREGATE_VALUE_ROWS] = f->rows;
    v[HAC_AGGREGATE_VALUE_KEPT] = f->kept;
    v[HAC_AGGREGATE_VALUE_SKIPPED] = 0;
    v[HAC_AGGREGATE_VALUE_GROUPS] = a->partials.groups;
    v[HAC_AGGREGATE_VALUE_NEEDED] = a->partials.needed;
    v[HAC_AGGREGATE_VALUE_HOT_HITS] = f->hits;
    v[HAC_AGGREGATE_VALUE_HOT_KEYS] = f->hot_keys;
    v[HAC_AGGREGATE_VALUE_SAMPLED] = f->sampled;
    v[HAC_AGGREGATE_VALUE_COVERED] = f->covered;
    v[HAC_AGGREGATE_VALUE_CHOSEN] = f->chosen;
    v[HAC_AGGREGATE_VALUE_BEHIND] = f->behind;
    v[HAC_AGGREGATE_VALUE_LOCAL_HITS] = f->local_hits;
    v[HAC_AGGREGATE_VALUE_PAIRS_LOCAL] = f->pairs_local;
    v[HAC_AGGREGATE_VALUE_PAIRS_GLOBAL] = f->pairs_global;
    v[HAC_AGGREGATE_VALUE_GROWN] = f->grown;
    v[HAC_AGGREGATE_VALUE_KEY_RANGES] = f->passes;
    v[HAC_AGGREGATE_VALUE_WORK_GROUPS] = f->work_groups.n;
    v[HAC_AGGREGATE_VALUE_LEAST] = f->work_groups.least;
    v[HAC_AGGREGATE_VALUE_GREATEST] = f->work_groups.greatest;
    for (size_t i = 0; i < HAC_HOT_BARS; i++) {
        v[HAC_AGGREGATE_VALUE_BARS + i] = f->work_groups.rows[i];
        v[HAC_AGGREGATE_VALUE_BARS + HAC_HOT_BARS + i] = f->work_groups.hits[i];
    }
    result->n_values = HAC_AGGREGATE_N_VALUES;
}

hac_status hac_hash_aggregate_run(hac_device *device, const hac_task *task, hac_task_result *result,
                                  hac_error *err)
{
    aggregation a = {.task = task, .device = device};
    hac_status status = begin(&a, err);
    if (status == HAC_OK)
        status = hac_hash_job_run(a.job, a.query.chunk_bytes, task->first, task->count,
                                  hac_hash_partials_write, &a.partials, err);
    if (status == HAC_OK)
        put_values(&a, result);
    end(&a);
    /* a row in error: the C engine knows how to say it */
    return status == HAC_FAILED ? hac_query_run_aggregate(device, task, result, err) : status;
}
