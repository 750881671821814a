/* SPDX-License-Identifier: Apache-2.0 */
/* query.merge: partials to output rows, partitions side by side; query.carry: to groups that later rounds go
 * on with; query.finish and query.gather: rows to the result. */
#include <stdlib.h>
#include <string.h>

#include "emit.h"
#include "query/codelets.h"
#include "query/finish.h"
#include "query/hash.h"
#include "query/partial.h"
#include "query/pool.h"

typedef struct worker {
    hac_group_table *table;
    hac_emitter emitter;
    uint64_t groups, needed, text;
} worker;

typedef struct job {
    hac_query_task task;
    hac_span partials, groups, carry; /* the carry that is read; without bytes: there is none */
    uint64_t first;
    worker *workers;
} job;

/* ---- query.merge ---- */

hac_status hac_query_check_merge(const hac_device_facts *facts, const hac_task *task, hac_error *err)
{
    (void)facts;
    hac_status status = hac_query_check_params(task, err);
    if (status != HAC_OK)
        return status;
    const uint64_t *p = task->params;
    uint64_t partitions = p[HAC_QUERY_PARAM_PARTITIONS];
    if (partitions == 0 || partitions > 4096 || (partitions & (partitions - 1)) != 0 ||
        task->first > partitions || task->count > partitions - task->first)
        return hac_fail(err, HAC_INVALID, "partitions %llu … %llu of %llu", (unsigned long long)task->first,
                        (unsigned long long)(task->first + task->count), (unsigned long long)partitions);
    status = hac_query_check_regions(task, 0, p[HAC_QUERY_PARAM_CHUNKS], p[HAC_QUERY_PARAM_REGION], err);
    if (status == HAC_OK)
        status = hac_query_check_regions(task, 1, partitions, p[HAC_QUERY_PARAM_GROUP_REGION], err);
    if (status == HAC_OK && task->n_spans > 2)
        status = hac_query_check_regions(task, 2, partitions, p[HAC_QUERY_PARAM_CARRY], err);
    if (status == HAC_OK && task->n_spans == 2 && p[HAC_QUERY_PARAM_CARRY] != 0)
        status = hac_fail(err, HAC_INVALID, "there should be a carry");
    return status;
}

hac_status hac_query_check_carry(const hac_device_facts *facts, const hac_task *task, hac_error *err)
{
    hac_status status = hac_query_check_merge(facts, task, err);
    if (status == HAC_OK && task->params[HAC_QUERY_PARAM_SPLIT] >> 32 == 0)
        status = hac_fail(err, HAC_INVALID, "a carry, and no splits");
    return status;
}

/* Of partials with lists of values: a group's are there, whatever little comes of them. Else 0. */
static uint64_t values_bytes(const hac_query_task *t)
{
    bool lists = false;
    for (size_t i = 0; i < t->query->n_aggregates; i++) {
        uint8_t f = t->query->aggregate[i].function;
        lists |= f == HAC_AGGREGATE_COUNT_DISTINCT || f == HAC_AGGREGATE_TOP_K ||
                 f == HAC_AGGREGATE_QUANTILE || f == HAC_AGGREGATE_STRING_LIST;
    }
    if (!lists)
        return 0;
    if (t->region > UINT64_MAX / 16 / (t->chunks + 1))
        return UINT64_MAX / 64;
    return t->chunks * t->region;
}

static hac_status prepare(const job *j, worker *w, hac_error *err)
{
    const hac_query_task *t = &j->task;
    if (w->table != NULL)
        return HAC_OK;
    hac_group_options options = {.seed = t->seed,
                                 .memory =
                                     hac_query_table_memory(t->group_region + t->carry + values_bytes(t) / 4),
                                 .partitions = t->partitions,
                                 .pass = t->pass,
                                 .passes = t->passes};
    hac_status status = hac_group_table_new(t->query, &options, &w->table, err);
    if (status == HAC_OK)
        status = hac_emitter_init(t->query, &w->emitter, err);
    return status;
}

/* Numbers run over the passes, as query.finish counts regions. */
static uint64_t region_number(const hac_query_task *t, uint64_t partition)
{
    return (t->passes > 1 ? t->pass * (uint64_t)t->partitions : 0) + partition;
}

/* What earlier rounds left of the partition, then all partials, into the worker's table. */
static hac_status merge_all(job *j, worker *w, uint64_t partition, hac_error *err)
{
    const hac_query_task *t = &j->task;
    hac_status status = prepare(j, w, err);
    if (status != HAC_OK)
        return status;
    hac_group_table_reset(w->table);
    if (t->chunks == 0 && t->carry == 0 && partition == 0) /* else they have the group without keys */
        status = hac_group_table_ensure(w->table, err);
    if (status == HAC_OK && t->carry != 0)
        status =
            hac_group_table_merge(w->table, HAC_PARTIAL_CARRY | (t->generation - UINT64_C(1)),
                                  j->carry.data + partition * t->carry, t->carry, (uint32_t)partition, err);
    for (uint64_t c = 0; status == HAC_OK && c < t->chunks; c++)
        status = hac_group_table_merge(w->table, c, j->partials.data + c * t->region, t->region,
                                       (uint32_t)partition, err);
    return status;
}

static void note(worker *w, uint64_t needed)
{
    w->groups += hac_group_table_groups(w->table);
    w->needed = needed > w->needed ? needed : w->needed;
}

static hac_status carry_partition(void *context, uint64_t item, unsigned number, hac_error *err)
{
    job *j = context;
    worker *w = &j->workers[number];
    const hac_query_task *t = &j->task;
    uint64_t partition = j->first + item, bytes;
    hac_status status = merge_all(j, w, partition, err);
    if (status == HAC_OK)
        status =
            hac_group_table_write(w->table, HAC_PARTIAL_CARRY | t->generation,
                                  j->groups.data + partition * t->group_region, t->group_region, &bytes, err);
    if (status == HAC_OK)
        note(w, bytes);
    return status;
}

static hac_status merge_partition(void *context, uint64_t item, unsigned number, hac_error *err)
{
    job *j = context;
    worker *w = &j->workers[number];
    const hac_query_task *t = &j->task;
    uint64_t partition = j->first + item;
    hac_rows_writer writer;
    hac_status status = merge_all(j, w, partition, err);
    if (status != HAC_OK)
        return status;
    hac_rows_begin(&writer, j->groups.data + partition * t->group_region, t->group_region, t->seed,
                   region_number(t, partition));
    status = hac_emit_groups(&w->emitter, w->table, &writer, err);
    if (status != HAC_OK)
        return status;
    hac_rows_end(&writer);
    note(w, writer.bytes);
    /* 8 bytes of a number are 5 to 20 characters, with what is around them */
    w->text += writer.bytes * 2;
    return HAC_OK;
}

static hac_status run_merge(const hac_task *task, hac_pool_work work, hac_task_result *result, hac_error *err)
{
    job j = {.partials = task->spans[0], .groups = task->spans[1], .first = task->first};
    if (task->n_spans > 2)
        j.carry = task->spans[2];
    unsigned threads = hac_pool_threads();
    hac_status status = hac_query_task_read(task, -1, &j.task, err);
    if (status != HAC_OK)
        return status;
    j.workers = calloc(threads, sizeof *j.workers);
    status = j.workers == NULL ? hac_fail_no_memory(err) : hac_pool_run(task->count, work, &j, err);
    memset(result->values, 0, sizeof result->values);
    result->n_values = 3;
    for (unsigned i = 0; j.workers != NULL && i < threads; i++) {
        worker *w = &j.workers[i];
        result->values[0] += w->groups;
        result->values[1] = w->needed > result->values[1] ? w->needed : result->values[1];
        result->values[2] += w->text;
        hac_group_table_free(w->table);
        hac_emitter_clear(&w->emitter);
    }
    free(j.workers);
    hac_query_task_clear(&j.task);
    return status;
}

hac_status hac_query_run_merge(hac_device *device, const hac_task *task, hac_task_result *result,
                               hac_error *err)
{
    (void)device;
    return run_merge(task, merge_partition, result, err);
}

hac_status hac_query_run_carry(hac_device *device, const hac_task *task, hac_task_result *result,
                               hac_error *err)
{
    (void)device;
    return run_merge(task, carry_partition, result, err);
}

/* ---- query.finish, query.gather ---- */

static hac_status run_finish(const hac_task *task, uint64_t regions, uint64_t region_bytes,
                             hac_task_result *result, hac_error *err)
{
    hac_query_task t;
    hac_rows_reader reader;
    hac_finished finished;
    hac_status status = hac_query_task_read(task, -1, &t, err);
    if (status != HAC_OK)
        return status;
    hac_rows_reader_init(&reader, t.query);
    for (uint64_t i = 0; status == HAC_OK && i < regions; i++)
        status = hac_rows_reader_add(&reader, task->spans[0].data + i * region_bytes, region_bytes, t.seed, i,
                                     err);
    if (status == HAC_OK)
        status = hac_finish_rows(t.query, &reader, task->spans[1].data, task->spans[1].bytes, &finished, err);
    if (status == HAC_OK) {
        result->values[0] = finished.rows;
        result->values[1] = finished.bytes;
        result->n_values = 2;
    }
    hac_rows_reader_clear(&reader);
    hac_query_task_clear(&t);
    return status;
}

hac_status hac_query_check_finish(const hac_device_facts *facts, const hac_task *task, hac_error *err)
{
    (void)facts;
    hac_status status = hac_query_check_params(task, err);
    return status == HAC_OK ? hac_query_check_regions(task, 0, task->params[HAC_QUERY_PARAM_PARTITIONS],
                                                      task->params[HAC_QUERY_PARAM_GROUP_REGION], err)
                            : status;
}

hac_status hac_query_run_finish(hac_device *device, const hac_task *task, hac_task_result *result,
                                hac_error *err)
{
    (void)device;
    return run_finish(task, task->params[HAC_QUERY_PARAM_PARTITIONS],
                      task->params[HAC_QUERY_PARAM_GROUP_REGION], result, err);
}

hac_status hac_query_check_gather(const hac_device_facts *facts, const hac_task *task, hac_error *err)
{
    (void)facts;
    hac_status status = hac_query_check_params(task, err);
    return status == HAC_OK ? hac_query_check_regions(task, 0, task->params[HAC_QUERY_PARAM_CHUNKS],
                                                      task->params[HAC_QUERY_PARAM_REGION], err)
                            : status;
}

hac_status hac_query_run_gather(hac_device *device, const hac_task *task, hac_task_result *result,
                                hac_error *err)
{
    (void)device;
    return run_finish(task, task->params[HAC_QUERY_PARAM_CHUNKS], task->params[HAC_QUERY_PARAM_REGION],
                      result, err);
}
