/* SPDX-License-Identifier: Apache-2.0 */
#include "hash_aggregate.h"

#include <stdlib.h>
#include <string.h>

#include "codelet/threads.h"
#include "hash_partial.h"
#include "query/codelets.h"
#include "splice/pipeline.h"

#define PER_MILLE 1000
/* blocks of a WorkingBuffer for each work-item of block style, or for each reading thread */
#define BLOCKS_EACH 4

_Static_assert((int)HAC_AGGREGATE_N_VALUES <= HAC_TASK_VALUES_MAX, "a task gives back fewer values");

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
    uint64_t skipped;
    hac_source_counters reading;
    hac_splice_counters splice;
    uint64_t start;
    uint64_t by_engine; /* nanoseconds; there is no figure for the device */
} aggregation;

/* Runs the C engine's codelet for this chunk; *ret_rows is the number of rows that it read. `again`: the
 * chunk's block was spliced, too. */
static hac_status by_engine(aggregation *a, uint64_t chunk, bool again, uint64_t *ret_rows, hac_error *err)
{
    hac_task one = *a->task;
    hac_task_result result = {0};
    uint64_t from = hac_now_ns();
    one.first = chunk;
    one.count = 1;
    hac_status status = hac_query_run_aggregate(a->device, &one, &result, err);
    if (status != HAC_OK)
        return status;
    hac_hash_partials_count(&a->partials, result.values[HAC_AGGREGATE_VALUE_GROUPS],
                            result.values[HAC_AGGREGATE_VALUE_NEEDED]);
    a->job->figures.kept += result.values[HAC_AGGREGATE_VALUE_KEPT];
    a->skipped += result.values[HAC_AGGREGATE_VALUE_SKIPPED];
    *ret_rows = result.values[HAC_AGGREGATE_VALUE_ROWS];
    hac_splice_add_values(&a->splice, from, result.values + HAC_AGGREGATE_VALUE_SPLICE, again);
    if (again)
        hac_splice_count_result(&a->splice, result.values[HAC_AGGREGATE_VALUE_NEEDED]);
    a->by_engine += hac_now_ns() - from;
    return HAC_OK;
}

/* A chunk that the device refused. Its rows have been counted already. */
static hac_status refused(hac_hash_partials *partials, uint64_t chunk, hac_error *err)
{
    uint64_t rows;
    return by_engine(partials->context, chunk, true, &rows, err);
}

static hac_status write_partial(void *context, const hac_hash_chunk_groups *groups, hac_error *err)
{
    aggregation *a = context;
    a->skipped += groups->refused ? 0 : groups->skipped;
    a->partials.bytes = 0;
    hac_status status = hac_hash_partials_write(&a->partials, groups, err);
    if (status == HAC_OK && !groups->refused)
        hac_splice_count_result(&a->splice, a->partials.bytes);
    return status;
}

static hac_hash_options options_of(const hac_task *task, const hac_query_task *query)
{
    const hac_query_params *p = HAC_PARAMS(hac_query_params, task);
    return (hac_hash_options){.seed = query->seed,
                              .hot_keys = (p->method & HAC_QUERY_HOT_KEYS) != 0,
                              .sample = (uint32_t)(p->sample < PER_MILLE ? p->sample : PER_MILLE),
                              .hot_share = (uint32_t)(p->hot_share < PER_MILLE ? p->hot_share : PER_MILLE),
                              .groups = (uint32_t)p->work_groups,
                              .items = (uint32_t)p->work_items};
}

static hac_status begin(aggregation *a, hac_error *err)
{
    hac_status status = hac_query_task_read(a->task, 2, &a->query, err);
    if (status != HAC_OK)
        return status;
    const hac_query_task *q = &a->query;
    if (!q->query->aggregates)
        return hac_fail(err, HAC_INVALID, "the query aggregates nothing");
    hac_span memory = a->task->spans[2];
    hac_hash_options options = options_of(a->task, q);
    a->job = calloc(1, sizeof *a->job);
    if (a->job == NULL)
        return hac_fail_no_memory(err);
    status = hac_group_layout_init(q->query, &a->layout, err);
    if (status == HAC_OK)
        status = hac_hash_job_init(a->job, a->device, q->query, &a->layout,
                                   q->table.n_columns != 0 ? &q->table : NULL, &memory, &options, err);
    if (status != HAC_OK)
        return status;
    a->partials = (hac_hash_partials){.query = q->query,
                                      .job = a->job,
                                      .options = {.seed = q->seed,
                                                  .memory = hac_query_table_memory(q->region),
                                                  .partitions = q->partitions,
                                                  .pass = q->pass,
                                                  .passes = q->passes},
                                      .first_chunk = q->first_chunk,
                                      .regions = a->task->spans[0].data,
                                      .region = q->region,
                                      .context = a,
                                      .refused = refused};
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
    const hac_hash_job_figures *f = &a->job->figures;
    uint64_t *v = result->values;
    hac_source_put_counters(&a->reading, v + HAC_AGGREGATE_VALUE_READ);
    v[HAC_AGGREGATE_VALUE_ROWS] = f->rows + a->reading.passed_over;
    v[HAC_AGGREGATE_VALUE_KEPT] = f->kept;
    v[HAC_AGGREGATE_VALUE_SKIPPED] = a->skipped;
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
    v[HAC_AGGREGATE_VALUE_HIT_RATE_MIN] = f->work_groups.min;
    v[HAC_AGGREGATE_VALUE_HIT_RATE_MAX] = f->work_groups.max;
    for (size_t i = 0; i < HAC_HOT_BARS; i++) {
        v[HAC_AGGREGATE_VALUE_BARS + i] = f->work_groups.rows[i];
        v[HAC_AGGREGATE_VALUE_BARS + HAC_HOT_BARS + i] = f->work_groups.hits[i];
    }
    hac_splice_put_values(&a->splice, a->start, v + HAC_AGGREGATE_VALUE_SPLICE);
    result->n_values = HAC_AGGREGATE_N_VALUES;
}

static hac_pipeline_options pipeline_of(const aggregation *a)
{
    const hac_device_facts *facts = a->job->facts;
    unsigned threads = hac_pool_threads();
    uint64_t wanted =
        facts->style == HAC_STYLE_SIMT || facts->compute_units < threads ? threads : facts->compute_units;
    return (hac_pipeline_options){.task = &a->query,
                                  .quotes = a->task->spans[1],
                                  .first = a->task->first,
                                  .n = a->task->count,
                                  .blocks = BLOCKS_EACH * wanted,
                                  .bytes = facts->max_allocation / 2,
                                  .other_order = facts->other_order};
}

/* One WorkingBuffer, or a data set that does not fit one. */
static hac_status run_work(aggregation *a, const hac_pipeline_work *work, hac_error *err)
{
    uint64_t read = 0, from = hac_now_ns(), other = a->by_engine;
    if (work->buffer == NULL) {
        hac_status status = by_engine(a, work->chunk, false, &read, err);
        a->job->figures.rows += read;
        return status;
    }
    hac_status status = hac_hash_job_run_rows(a->job, work->buffer, write_partial, a, err);
    hac_stage_add(&a->splice.stages[HAC_STAGE_MAP], from, hac_now_ns(), a->by_engine - other);
    return status;
}

/* A source that is no table: splicing brings it to the device. */
static hac_status run_pipeline(aggregation *a, hac_error *err)
{
    const hac_pipeline_options options = pipeline_of(a);
    hac_pipeline *pipeline;
    hac_pipeline_work work;
    a->job->before = a->query.first_chunk;
    a->job->all_chunks = a->query.chunks;
    if (a->task->count == 0)
        return HAC_OK;
    hac_status status = hac_pipeline_new(&options, &pipeline, err);
    if (status != HAC_OK)
        return status;
    bool through = false;
    while (status == HAC_OK && !through) {
        status = hac_pipeline_next(pipeline, &work, err);
        through = status == HAC_NOT_FOUND;
        if (status == HAC_OK) /* here HAC_NOT_FOUND means a missing program */
            status = run_work(a, &work, err);
    }
    if (through) {
        hac_pipeline_count(pipeline, &a->reading, &a->splice);
        status = HAC_OK;
    }
    hac_pipeline_free(pipeline);
    return status;
}

hac_status hac_hash_aggregate_run(hac_device *device, const hac_task *task, hac_task_result *result,
                                  hac_error *err)
{
    aggregation a = {.task = task, .device = device, .start = hac_now_ns()};
    hac_status status = begin(&a, err);
    if (status == HAC_OK && a.query.table.n_columns != 0)
        status =
            hac_hash_job_run(a.job, a.query.chunk_bytes, task->first, task->count, write_partial, &a, err);
    else if (status == HAC_OK)
        status = hac_query_source_read(&a.query, run_pipeline(&a, err), err);
    if (status == HAC_OK)
        put_values(&a, result);
    end(&a);
    /* a row is in error: the C engine makes the message */
    return status == HAC_FAILED ? hac_query_run_aggregate(device, task, result, err) : status;
}
