/* SPDX-License-Identifier: Apache-2.0 */
#include "hash_aggregate.h"

#include <stdlib.h>
#include <string.h>

#include "hash_load.h"
#include "hash_partial.h"
#include "query/codelets.h"
#include "query/pool.h"

#define PER_MILLE   0xffff
#define WAVE_CHUNKS 2 /* a work-item of block style, or a thread that reads */

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
} aggregation;

/* The C engine's codelet, for this chunk; *ret_rows: that it read. */
static hac_status by_engine(aggregation *a, uint64_t chunk, uint64_t *ret_rows, hac_error *err)
{
    hac_task one = *a->task;
    hac_task_result result = {0};
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
    return HAC_OK;
}

/* A chunk that the device refused; its rows have been counted. */
static hac_status refused(hac_hash_partials *partials, uint64_t chunk, hac_error *err)
{
    uint64_t rows;
    return by_engine(partials->context, chunk, &rows, err);
}

static hac_status write_partial(void *context, const hac_hash_groups *groups, hac_error *err)
{
    aggregation *a = context;
    a->skipped += groups->refused ? 0 : groups->skipped;
    return hac_hash_partials_write(&a->partials, groups, err);
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
    const hac_hash_figures *f = &a->job->figures;
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
    v[HAC_AGGREGATE_VALUE_LEAST] = f->work_groups.least;
    v[HAC_AGGREGATE_VALUE_GREATEST] = f->work_groups.greatest;
    for (size_t i = 0; i < HAC_HOT_BARS; i++) {
        v[HAC_AGGREGATE_VALUE_BARS + i] = f->work_groups.rows[i];
        v[HAC_AGGREGATE_VALUE_BARS + HAC_HOT_BARS + i] = f->work_groups.hits[i];
    }
    result->n_values = HAC_AGGREGATE_N_VALUES;
}

/* A source that is no table: waves of chunks in memory, the next being read while the device does one. */
static hac_status run_waves(aggregation *a, hac_error *err)
{
    const hac_device_facts *facts = a->job->facts;
    unsigned threads = hac_pool_threads();
    uint64_t wanted =
        facts->style == HAC_STYLE_SIMT || facts->compute_units < threads ? threads : facts->compute_units;
    hac_hash_load load = {.task = &a->query,
                          .quotes = a->task->spans[1],
                          .first = a->task->first,
                          .n = a->task->count,
                          .chunks = WAVE_CHUNKS * wanted,
                          .bytes = facts->max_allocation / 2};
    hac_hash_loader *loader = NULL;
    const hac_hash_rows *rows;
    bool too_large;
    bool through = a->task->count == 0;
    hac_status status = through ? HAC_OK : hac_hash_loader_new(&load, &loader, err);
    a->job->before = a->query.first_chunk;
    a->job->all_chunks = a->query.chunks;
    while (status == HAC_OK && !through) {
        uint64_t read = 0;
        status = hac_hash_loader_next(loader, &rows, &too_large, err);
        through = status == HAC_NOT_FOUND;
        if (through)
            status = HAC_OK;
        else if (status == HAC_OK && too_large)
            status = by_engine(a, rows->first_chunk, &read, err);
        else if (status == HAC_OK)
            status = hac_hash_job_run_rows(a->job, rows, write_partial, a, err);
        a->job->figures.rows += read;
    }
    if (status == HAC_OK && loader != NULL)
        hac_hash_loader_count(loader, &a->reading);
    hac_hash_loader_free(loader);
    return status;
}

hac_status hac_hash_aggregate_run(hac_device *device, const hac_task *task, hac_task_result *result,
                                  hac_error *err)
{
    aggregation a = {.task = task, .device = device};
    hac_status status = begin(&a, err);
    if (status == HAC_OK && a.query.table.n_columns != 0)
        status =
            hac_hash_job_run(a.job, a.query.chunk_bytes, task->first, task->count, write_partial, &a, err);
    else if (status == HAC_OK)
        status = run_waves(&a, err);
    if (status == HAC_OK)
        put_values(&a, result);
    end(&a);
    /* a row in error: the C engine knows how to say it */
    return status == HAC_FAILED ? hac_query_run_aggregate(device, task, result, err) : status;
}
