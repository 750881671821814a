/* SPDX-License-Identifier: Apache-2.0 */
#include "distinct_finish.h"

#include <stdlib.h>

#include "codelet/threads.h"
#include "expr/distinct_query.h"
#include "results/group_rows.h"

#define FIRST_CAPACITY (UINT64_C(64) << 10)

typedef struct finish_worker {
    hac_group_table *table;
    hac_group_rows group_rows;
} finish_worker;

typedef struct finish_job {
    const hac_query_task *task;
    const uint8_t *groups;
    uint64_t regions;
    finish_worker *workers;
    uint8_t **parts; /* the rows of each */
    uint64_t bytes[HAC_DISTINCT_PARTS];
} finish_job;

hac_group_options hac_distinct_counts_options(const hac_query_task *task, uint64_t bytes)
{
    return (hac_group_options){.seed = task->seed,
                               .memory = hac_query_table_memory(bytes),
                               .partitions = task->query->n_keys == 0 ? 1 : HAC_DISTINCT_PARTS};
}

static hac_status merge_part(const finish_job *j, finish_worker *w, uint32_t part, hac_error *err)
{
    const hac_query_task *t = j->task;
    hac_status status = HAC_OK;
    if (w->table == NULL) {
        hac_group_options options = hac_distinct_counts_options(t, t->group_region * j->regions);
        status = hac_group_table_new(&t->distinct->counts, &options, &w->table, err);
        if (status == HAC_OK)
            status = hac_group_rows_init(t->query, &w->group_rows, err);
    }
    if (status != HAC_OK)
        return status;
    hac_group_table_reset(w->table);
    for (uint64_t r = 0; status == HAC_OK && r < j->regions; r++)
        status =
            hac_group_table_merge(w->table, r, j->groups + r * t->group_region, t->group_region, part, err);
    return status;
}

/* Enlarges the memory until the rows fit. */
static hac_status write_part(finish_job *j, finish_worker *w, uint64_t part, hac_error *err)
{
    for (uint64_t capacity = FIRST_CAPACITY;;) {
        hac_rows_writer writer;
        j->parts[part] = aligned_alloc(64, capacity);
        if (j->parts[part] == NULL)
            return hac_fail_no_memory(err);
        hac_rows_begin(&writer, j->parts[part], capacity, j->task->seed, part);
        hac_status status = hac_group_rows_add(&w->group_rows, w->table, &writer, err);
        if (status != HAC_OK)
            return status;
        j->bytes[part] = writer.bytes;
        if (hac_rows_end(&writer))
            return HAC_OK;
        capacity = (writer.bytes + 63) / 64 * 64;
        free(j->parts[part]);
        j->parts[part] = NULL;
    }
}

static hac_status finish_part(void *context, uint64_t part, unsigned number, hac_error *err)
{
    finish_job *j = context;
    finish_worker *w = &j->workers[number];
    hac_status status = merge_part(j, w, (uint32_t)part, err);
    return status == HAC_OK ? write_part(j, w, part, err) : status;
}

hac_status hac_distinct_finish(const hac_query_task *task, const uint8_t *groups, uint64_t regions,
                               hac_rows_reader *reader, uint8_t *ret_parts[HAC_DISTINCT_PARTS],
                               hac_error *err)
{
    unsigned threads = hac_pool_threads();
    uint64_t n = task->query->n_keys == 0 ? 1 : HAC_DISTINCT_PARTS;
    finish_job j = {.task = task, .groups = groups, .regions = regions, .parts = ret_parts};
    j.workers = calloc(threads, sizeof *j.workers);
    hac_status status = j.workers == NULL ? hac_fail_no_memory(err) : hac_pool_run(n, finish_part, &j, err);
    for (uint64_t p = 0; status == HAC_OK && p < n; p++)
        status = hac_rows_reader_add(reader, ret_parts[p], j.bytes[p], task->seed, p, err);
    for (unsigned i = 0; j.workers != NULL && i < threads; i++) {
        hac_group_table_free(j.workers[i].table);
        hac_group_rows_clear(&j.workers[i].group_rows);
    }
    free(j.workers);
    return status;
}
