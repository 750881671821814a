/* SPDX-License-Identifier: Apache-2.0 */
/* Rows in an order, in parts (query.order, query.join), and what changes in the course of a job. */
#include <math.h>
#include <string.h>

#include "base/query_layout.h"
#include "query_building.h"

#define MIB (UINT64_C(1) << 20)

#define PART_BYTES    (8 * MIB)  /* rows of so many bytes are a part of the result … */
#define PART_GROUP    (48 * MIB) /* … and a row group */
#define BATCH_ROWS    1024       /* parts are whole batches */
#define PART_ROWS_MAX (UINT64_C(512) << 10)
#define PARTS_WANTED  4096 /* at most */

bool hac_query_in_parts(const hac_query_spec *spec)
{
    return spec->ordered && (spec->flags & HAC_COMPILED_AGGREGATES) == 0 && !spec->rows_seen &&
           spec->round.stage == HAC_ROUND_NONE && (spec->flags & HAC_COMPILED_ONE_RESULT) == 0;
}

static uint64_t to_batches(uint64_t rows)
{
    return rows / BATCH_ROWS * BATCH_ROWS + BATCH_ROWS;
}

static uint64_t parts_of(uint64_t rows, uint64_t part_rows)
{
    uint64_t parts = (rows + part_rows - 1) / part_rows;
    return parts > 0 ? parts : 1;
}

/* Parts that are short tasks, of whole batches. */
void hac_query_choose_parts(const hac_query_spec *spec, uint64_t rows, hac_query_sizes *sizes)
{
    uint64_t bytes = spec->group_bytes > 0 ? spec->group_bytes : 1;
    uint64_t wanted = (spec->gives_parquet ? PART_GROUP : PART_BYTES) / bytes;
    wanted = wanted < PART_ROWS_MAX ? wanted : PART_ROWS_MAX;
    sizes->part_rows = to_batches(wanted);
    if (rows / sizes->part_rows >= PARTS_WANTED)
        sizes->part_rows = to_batches(rows / PARTS_WANTED + 1);
    sizes->parts = parts_of(rows, sizes->part_rows);
}

hac_status hac_building_parts(hac_query_building *b, hac_error *err)
{
    uint64_t parts = b->sizes->parts;
    hac_plan_task task = {.codelet = "query.order",
                          .range = true,
                          .count = parts,
                          .grain = b->sizes->grain < parts ? b->sizes->grain : parts,
                          .device_mask = b->host,
                          .device = -1,
                          .repeatable = true,
                          .n_spans = 2,
                          .units = (double)b->plan->buffers[b->result].bytes,
                          .stage = "order",
                          .item_count = parts};
    uint32_t order = 0;
    task.spans[0] = hac_building_span(b, b->partials, HAC_READ);
    task.spans[1] = hac_building_span(b, b->parts, HAC_WRITE);
    hac_building_params(b, 0, &task);
    HAC_EDIT_PARAMS(hac_query_params, &task)->partitions = parts;
    HAC_EDIT_PARAMS(hac_query_params, &task)->group_region = b->plan->buffers[b->parts].bytes / parts;
    hac_status status = hac_building_model(b, &task, err);
    if (status == HAC_OK)
        status = hac_plan_add_task(b->plan, &task, b->last, b->n_last, &order, err);
    task.codelet = "query.join";
    task.stage = "join";
    task.model = NULL;
    memset(task.narrower, 0, sizeof(task.narrower)); /* it copies bytes, of whatever query */
    task.spans[0] = hac_building_span(b, b->parts, HAC_READ);
    task.spans[1] = hac_building_span(b, b->result, HAC_WRITE);
    return status == HAC_OK ? hac_plan_add_task(b->plan, &task, &order, 1, NULL, err) : status;
}

/* ---- in the course of the job ---- */

void hac_query_set_parts(hac_plan *plan, uint64_t rows)
{
    for (size_t t = 0; t < plan->n_tasks; t++) {
        hac_plan_task *task = &plan->tasks[t];
        if (strcmp(task->codelet, "query.order") != 0 && strcmp(task->codelet, "query.join") != 0)
            continue;
        uint64_t parts = parts_of(rows, HAC_PARAMS(hac_query_params, task)->part_rows);
        HAC_EDIT_PARAMS(hac_query_params, task)->partitions = parts;
        task->count = task->item_count = parts;
        task->grain = task->grain < parts ? task->grain : parts;
    }
}

void hac_query_set_partitions(hac_plan *plan, uint32_t partitions)
{
    plan->query.partitions = partitions;
    for (size_t t = 0; t < plan->n_tasks; t++) {
        hac_plan_task *task = &plan->tasks[t];
        bool merge = strcmp(task->codelet, "query.merge") == 0;
        if (merge || strcmp(task->codelet, "query.finish") == 0)
            HAC_EDIT_PARAMS(hac_query_params, task)->partitions = partitions;
        if (!merge)
            continue;
        task->count = task->item_count = partitions;
        task->grain = task->grain < partitions ? task->grain : partitions;
    }
}

/* A chunk needs f + s / p bytes in each of p passes: f for the largest group, which no pass splits. Two
 * different numbers of passes give f and s. */
void hac_query_learn_region(hac_query_spec *spec, uint64_t needed, uint32_t passes)
{
    double region = 1.25 * (double)needed, fixed = fmin((double)spec->region_fixed, region);
    double split = (region - fixed) * passes;
    if (spec->seen_passes > 0 && passes > spec->seen_passes) {
        double fewer = (double)spec->seen_region - region;
        split = fmax(fewer, 0) / (1.0 / spec->seen_passes - 1.0 / passes);
        fixed = fmax(region - split / passes, 0);
        split = (region - fixed) * passes;
    } else if (spec->chunk_groups > 0) { /* groups of equal size */
        fixed = fmax(fixed, region / (double)spec->chunk_groups);
        split = (region - fixed) * passes;
    }
    spec->region = (uint64_t)(fixed + split);
    spec->region_fixed = (uint64_t)fixed;
    spec->seen_region = (uint64_t)region;
    spec->seen_passes = passes;
}

/* Whether statistics answered what the plan expects of them. Of a row group in several chunks only the first
 * one counts an answer, and the others read nothing. */
static bool as_answered(const hac_query_spec *spec, const uint64_t *reading)
{
    if (hac_query_is_answered(spec))
        return reading[HAC_READ_BYTES] == 0;
    return reading[HAC_READ_GROUPS_ANSWERED] == 0 && (spec->answered == 0 || reading[HAC_READ_BYTES] > 0);
}

/* The hac_read_value values of a task that reads the source; NULL: it reports none. */
static const uint64_t *reading_of(const char *codelet, const uint64_t *values, size_t n_values)
{
    bool whole = strcmp(codelet, "query.whole") == 0;
    size_t first = whole ? HAC_WHOLE_VALUE_READING : HAC_AGGREGATE_VALUE_READ;
    bool reads = whole || strcmp(codelet, "query.aggregate") == 0;
    return reads && n_values >= first + HAC_READ_N_VALUES ? values + first : NULL;
}

bool hac_query_did_all(const hac_query_spec *spec, const hac_plan_task *task, uint64_t result_capacity,
                       const uint64_t *values, size_t n_values)
{
    uint64_t second = n_values > 1 ? values[1] : 0;
    const char *name = task->codelet;
    const uint64_t *reading = reading_of(name, values, n_values);
    if ((spec->flags & HAC_COMPILED_STATISTICS) != 0 && reading != NULL && !as_answered(spec, reading))
        return false;
    if (spec->ends_early && (strcmp(name, "query.rows") == 0 || strcmp(name, "query.whole") == 0 ||
                             strcmp(name, "query.gather") == 0))
        return false; /* the limit is an upper bound of the rows */
    if (strcmp(name, "query.merge") == 0)
        return second <= HAC_PARAMS(hac_query_params, task)->group_region;
    if (strcmp(name, "query.order") == 0)
        return second <= HAC_PARAMS(hac_query_params, task)->group_region;
    if (strcmp(name, "query.finish") == 0 || strcmp(name, "query.gather") == 0 ||
        strcmp(name, "query.join") == 0)
        return result_capacity == 0 || second <= result_capacity;
    return true;
}

void hac_query_resize(hac_plan *plan, int buffer, uint64_t bytes)
{
    plan->buffers[buffer].bytes = bytes;
    for (size_t t = 0; t < plan->n_tasks; t++) {
        hac_plan_task *task = &plan->tasks[t];
        for (size_t s = 0; s < task->n_spans; s++) {
            hac_plan_span *at = &task->spans[s];
            if (at->buffer != buffer || (at->bytes == 0 && at->access != HAC_WRITE))
                continue; /* a span that is not used, too, has a buffer */
            at->offset = at->touch_first = 0;
            at->bytes = at->touch_end = bytes;
        }
    }
}
