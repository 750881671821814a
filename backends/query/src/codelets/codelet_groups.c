/* SPDX-License-Identifier: Apache-2.0 */
/* query.merge: partials to output rows, partitions in parallel; query.carry: partials to groups for later
 * rounds; query.finish and query.gather: rows to the result. */
#include <stdlib.h>
#include <string.h>

#include "codelet/hash.h"
#include "codelet/progress.h"
#include "codelet/threads.h"
#include "distinct_finish.h"
#include "expr/query_facts.h"
#include "query/codelets.h"
#include "query/finish.h"
#include "query/partial.h"
#include "results/distinct_counts.h"
#include "results/group_rows.h"

typedef struct groups_worker {
    hac_group_table *table;
    hac_group_table *counts; /* of a query that counts distinct values */
    hac_group_rows group_rows;
    uint64_t groups, needed, text, bytes;
} groups_worker;

typedef struct groups_job {
    hac_query_task task;
    hac_span partials, groups, carry; /* `carry` is the carry that is read; 0 bytes: there is none */
    uint64_t first;
    groups_worker *workers;
} groups_job;

/* ---- query.merge ---- */

hac_status hac_query_check_merge(const hac_device_facts *facts, const hac_task *task, hac_error *err)
{
    (void)facts;
    hac_status status = hac_query_check_params(task, err);
    if (status != HAC_OK)
        return status;
    const hac_query_params *p = HAC_PARAMS(hac_query_params, task);
    uint64_t partitions = p->partitions;
    if (partitions == 0 || partitions > 4096 || (partitions & (partitions - 1)) != 0 ||
        task->first > partitions || task->count > partitions - task->first)
        return hac_fail(err, HAC_INVALID, "partitions %llu … %llu of %llu", (unsigned long long)task->first,
                        (unsigned long long)(task->first + task->count), (unsigned long long)partitions);
    status = hac_query_check_regions(task, 0, p->chunks, p->region, err);
    if (status == HAC_OK)
        status = hac_query_check_regions(task, 1, partitions, p->group_region, err);
    if (status == HAC_OK && task->n_spans > 2)
        status = hac_query_check_regions(task, 2, partitions, p->carry, err);
    if (status == HAC_OK && task->n_spans == 2 && p->carry != 0)
        status = hac_fail(err, HAC_INVALID, "there should be a carry");
    return status;
}

hac_status hac_query_check_carry(const hac_device_facts *facts, const hac_task *task, hac_error *err)
{
    hac_status status = hac_query_check_merge(facts, task, err);
    if (status == HAC_OK && HAC_PARAMS(hac_query_params, task)->generation == 0)
        status = hac_fail(err, HAC_INVALID, "a carry, and no splits");
    return status;
}

/* For partials with lists of values: the size of the largest list, since a group's values are stored even if
 * its result is small; else 0. */
static uint64_t values_bytes(const hac_query_task *t)
{
    bool lists = false;
    for (size_t i = 0; i < t->query->n_aggregates; i++) {
        hac_accumulator_kind kind = hac_aggregate_info_of(t->query->aggregate[i].function)->accumulator;
        lists |= kind == HAC_ACCUMULATOR_VALUES || kind == HAC_ACCUMULATOR_QUANTILE ||
                 kind == HAC_ACCUMULATOR_ALL_VALUES || kind == HAC_ACCUMULATOR_TEXTS ||
                 kind == HAC_ACCUMULATOR_ORDERED_TEXTS;
    }
    if (!lists)
        return 0;
    if (t->region > UINT64_MAX / 16 / (t->chunks + 1))
        return UINT64_MAX / 64;
    return t->chunks * t->region;
}

static hac_status prepare(const groups_job *j, groups_worker *w, hac_error *err)
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
    hac_status status = hac_group_table_new(t->grouped, &options, &w->table, err);
    if (status == HAC_OK && t->distinct != NULL) {
        hac_group_options counts = hac_distinct_counts_options(t, t->group_region + values_bytes(t) / 4);
        return hac_group_table_new(&t->distinct->counts, &counts, &w->counts, err);
    }
    if (status == HAC_OK)
        status = hac_group_rows_init(t->query, &w->group_rows, err);
    return status;
}

/* Regions are numbered across passes, as query.finish counts them. */
static uint64_t region_number(const hac_query_task *t, uint64_t partition)
{
    return (t->passes > 1 ? t->pass * (uint64_t)t->partitions : 0) + partition;
}

/* Merges the partition of the carry, then of all partials, into the worker's table. */
static hac_status merge_all(groups_job *j, groups_worker *w, uint64_t partition, hac_error *err)
{
    const hac_query_task *t = &j->task;
    hac_status status = prepare(j, w, err);
    if (status != HAC_OK)
        return status;
    hac_group_table_reset(w->table);
    /* otherwise a partial has the group without keys */
    if (t->chunks == 0 && t->carry == 0 && partition == 0)
        status = hac_group_table_ensure(w->table, err);
    if (status == HAC_OK && t->carry != 0)
        status =
            hac_group_table_merge(w->table, HAC_PARTIAL_CARRY | (t->generation - UINT64_C(1)),
                                  j->carry.data + partition * t->carry, t->carry, (uint32_t)partition, err);
    for (uint64_t c = 0, n; status == HAC_OK && c < t->chunks; c += n) {
        const uint8_t *partial = j->partials.data + c * t->region;
        n = hac_partial_chunks(partial, t->region, t->chunks - c);
        status = hac_group_table_merge(w->table, c, partial, n * t->region, (uint32_t)partition, err);
        hac_progress_step();
    }
    return status;
}

static void note(groups_worker *w, uint64_t needed)
{
    w->groups += hac_group_table_groups(w->table);
    w->needed = needed > w->needed ? needed : w->needed;
}

static hac_status carry_partition(void *context, uint64_t item, unsigned number, hac_error *err)
{
    groups_job *j = context;
    groups_worker *w = &j->workers[number];
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

/* Writes the counts of a partition's pairs. */
static hac_status count_partition(groups_job *j, groups_worker *w, uint64_t partition, hac_error *err)
{
    const hac_query_task *t = &j->task;
    uint64_t bytes;
    hac_group_table_reset(w->counts);
    hac_status status = hac_distinct_counts_add(t->distinct, w->table, w->counts, err);
    if (status == HAC_OK)
        status =
            hac_group_table_write(w->counts, region_number(t, partition),
                                  j->groups.data + partition * t->group_region, t->group_region, &bytes, err);
    if (status != HAC_OK)
        return status;
    note(w, bytes);
    w->bytes += bytes;
    w->text += bytes; /* a record has some 60 bytes more than a row */
    return HAC_OK;
}

static hac_status merge_partition(void *context, uint64_t item, unsigned number, hac_error *err)
{
    groups_job *j = context;
    groups_worker *w = &j->workers[number];
    const hac_query_task *t = &j->task;
    uint64_t partition = j->first + item;
    hac_rows_writer writer;
    hac_status status = merge_all(j, w, partition, err);
    if (status != HAC_OK)
        return status;
    if (t->distinct != NULL)
        return count_partition(j, w, partition, err);
    hac_rows_begin(&writer, j->groups.data + partition * t->group_region, t->group_region, t->seed,
                   region_number(t, partition));
    status = hac_group_rows_add(&w->group_rows, w->table, &writer, err);
    if (status != HAC_OK)
        return status;
    hac_rows_end(&writer);
    note(w, writer.bytes);
    w->bytes += writer.bytes;
    /* a number of 8 bytes is 5 to 20 characters with its separators */
    w->text += writer.bytes * 2;
    return HAC_OK;
}

static hac_status run_merge(const hac_task *task, hac_pool_work work, hac_task_result *result, hac_error *err)
{
    groups_job j = {.partials = task->spans[0], .groups = task->spans[1], .first = task->first};
    if (task->n_spans > 2)
        j.carry = task->spans[2];
    unsigned threads = hac_pool_threads();
    hac_status status = hac_query_task_read(task, -1, &j.task, err);
    if (status != HAC_OK)
        return status;
    j.workers = calloc(threads, sizeof *j.workers);
    status = j.workers == NULL ? hac_fail_no_memory(err) : hac_pool_run(task->count, work, &j, err);
    memset(result->values, 0, sizeof result->values);
    result->n_values = 4;
    for (unsigned i = 0; j.workers != NULL && i < threads; i++) {
        groups_worker *w = &j.workers[i];
        result->values[0] += w->groups;
        result->values[1] = w->needed > result->values[1] ? w->needed : result->values[1];
        result->values[2] += w->text;
        result->values[3] += w->bytes;
        hac_group_table_free(w->table);
        hac_group_table_free(w->counts);
        hac_group_rows_clear(&w->group_rows);
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
    uint8_t *parts[HAC_DISTINCT_PARTS] = {NULL};
    hac_status status = hac_query_task_read(task, -1, &t, err);
    if (status != HAC_OK)
        return status;
    hac_rows_reader_init(&reader, t.query);
    if (t.distinct != NULL)
        status = hac_distinct_finish(&t, task->spans[0].data, regions, &reader, parts, err);
    bool early = hac_query_ends_early(t.query); /* then no task need have written the regions that are left */
    for (uint64_t i = 0;
         t.distinct == NULL && status == HAC_OK && i < regions && !(early && reader.rows >= t.query->limit);
         i++)
        status = hac_rows_reader_add(&reader, task->spans[0].data + i * region_bytes, region_bytes, t.seed, i,
                                     err);
    if (status == HAC_OK)
        status = hac_finish_rows(t.query, &reader, task->spans[1].data, task->spans[1].bytes, &finished, err);
    if (status == HAC_OK) {
        result->values[0] = finished.rows;
        result->values[1] = finished.bytes;
        result->values[2] = finished.passed;
        result->n_values = 3;
    }
    hac_rows_reader_clear(&reader);
    for (size_t i = 0; i < HAC_DISTINCT_PARTS; i++)
        free(parts[i]);
    hac_query_task_clear(&t);
    return status;
}

hac_status hac_query_check_finish(const hac_device_facts *facts, const hac_task *task, hac_error *err)
{
    (void)facts;
    hac_status status = hac_query_check_params(task, err);
    return status == HAC_OK ? hac_query_check_regions(task, 0, HAC_PARAMS(hac_query_params, task)->partitions,
                                                      HAC_PARAMS(hac_query_params, task)->group_region, err)
                            : status;
}

hac_status hac_query_run_finish(hac_device *device, const hac_task *task, hac_task_result *result,
                                hac_error *err)
{
    (void)device;
    return run_finish(task, HAC_PARAMS(hac_query_params, task)->partitions,
                      HAC_PARAMS(hac_query_params, task)->group_region, result, err);
}

hac_status hac_query_check_gather(const hac_device_facts *facts, const hac_task *task, hac_error *err)
{
    (void)facts;
    hac_status status = hac_query_check_params(task, err);
    return status == HAC_OK ? hac_query_check_regions(task, 0, HAC_PARAMS(hac_query_params, task)->chunks,
                                                      HAC_PARAMS(hac_query_params, task)->region, err)
                            : status;
}

hac_status hac_query_run_gather(hac_device *device, const hac_task *task, hac_task_result *result,
                                hac_error *err)
{
    (void)device;
    return run_finish(task, HAC_PARAMS(hac_query_params, task)->chunks,
                      HAC_PARAMS(hac_query_params, task)->region, result, err);
}
