/* SPDX-License-Identifier: Apache-2.0 */
#include "query_run.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/cleanup.h"
#include "base/format.h"
#include "base/query_layout.h"
#include "executors/machine_view.h"
#include "jobs/plan_buffers.h"

#define TRIES_MAX    8 /* plans that turned out too small */
#define RESULT_SLACK (UINT64_C(64) << 10)

static const char *const outputs[HAC_RESULT_END] = {"csv",        "json", "table", "parquet", "tsv",
                                                    "typedbytes", "text", "tsv",   "markdown"};

typedef hac_query_totals query_totals;

hac_status hac_query_run_set_data(hacd_job *job, hac_error *err)
{
    const hacd_query *state = hac_query_of(job);
    uint8_t *data = malloc(state->query_bytes + state->source_bytes + 1);
    if (data == NULL)
        return hac_fail_no_memory(err);
    memcpy(data, state->query, state->query_bytes);
    if (state->source_bytes > 0)
        memcpy(data + state->query_bytes, state->source, state->source_bytes);
    free(job->data);
    job->data = data;
    job->data_bytes = state->query_bytes + state->source_bytes;
    return HAC_OK;
}

/* Bytes that the plan's buffers may take, by the job's limit and what is free of the user's. */
static uint64_t memory_for(const hacd_job *job)
{
    const hacd_query *state = hac_query_of(job);
    uint64_t available = hac_pool_available(job->user) | 1;
    for (size_t i = 0; i < HAC_PLAN_MAX_BUFFERS; i++) /* they are released before the next plan begins */
        available +=
            job->run.buffers[i] != NULL && job->run.buffers[i] != job->input ? job->run.buffers[i]->bytes : 0;
    uint64_t input = state->spec.place == HAC_QUERY_IN_BUFFER ? state->spec.input_bytes : 0;
    uint64_t own = job->memory_limit > input ? job->memory_limit - input : 1;
    return job->memory_limit != 0 && own < available ? own : available;
}

void hac_query_run_note_plan(hacd_job *job)
{
    const hac_query_info *query = &job->plan->query;
    char devices[256];
    if (job->kind->measures) /* hundreds of plans, which say nothing about what was found */
        return;
    hac_plan_name_devices(job->plan, devices, sizeof devices);
    hacd_job_note(job, "plan: %s, %llu chunks, %u partitions, %u pass%s, %zu tasks, %.3f ms predicted, on %s",
                  hac_plan_engine_name(query->engine), (unsigned long long)query->chunks, query->partitions,
                  query->passes, query->passes == 1 ? "" : "es", job->plan->n_tasks,
                  job->plan->predicted_seconds * 1e3, devices);
}

static hac_status plan_footers(hacd_job *job, hac_error *err)
{
    hacd_query *state = hac_query_of(job);
    hac_plan *plan = NULL;
    hac_status status =
        hac_plan_query_footers(hac_machine_view_now(job->jobs->machine), &state->spec, &plan, err);
    if (status != HAC_OK)
        return status;
    hacd_job_set_plan(job, plan);
    return hac_query_run_set_data(job, err);
}

/* The result of a job that asks for the footers. HAC_NOT_FOUND: the job has ended. */
static hac_status answer_footers(hacd_job *job, hac_error *err)
{
    const hacd_query *state = hac_query_of(job);
    size_t bytes = state->spec.n_sources * HAC_FOOTER_N_VALUES * sizeof(uint64_t);
    uint64_t *values = malloc(bytes);
    if (values == NULL)
        return hac_fail_no_memory(err);
    hac_parquet_footers_write(&state->footers, state->spec.n_sources, values);
    free(job->result_data);
    job->result_data = (uint8_t *)values;
    job->result_data_bytes = job->result_bytes = bytes;
    return HAC_NOT_FOUND;
}

hac_status hac_query_run_next_plan(hacd_job *job, uint32_t device_mask, hac_error *err)
{
    hacd_query *state = hac_query_of(job);
    if (state->planned && !job->restart && !job->run.replan)
        return HAC_NOT_FOUND;
    state->spec.device_mask = device_mask;
    if (state->spec.device_mask == 0)
        return hac_fail(err, HAC_FAILED, "no device is left that can run this query");
    state->spec.compiled_bytes = state->query_bytes;
    if (state->parquet && !hac_parquet_footers_apply(&state->footers, &state->spec))
        return plan_footers(job, err);
    if (state->asks_footers)
        return answer_footers(job, err);
    hac_plan *plan = NULL;
    state->spec.memory = memory_for(job);
    state->spec.limit = job->memory_limit;
    hac_status status = hac_plan_query(hac_machine_view_now(job->jobs->machine), &state->spec, &plan, err);
    if (status != HAC_OK)
        return status;
    hacd_job_set_plan(job, plan);
    state->planned = true;
    memset(&state->totals, 0, sizeof state->totals);
    hac_splice_buffers_clear(&job->splice); /* everything is done again */
    const hac_plan_buffer *result = plan->result_buffer >= 0 ? &plan->buffers[plan->result_buffer] : NULL;
    state->result_capacity = result != NULL && !result->late ? result->bytes : 0;
    if (!job->quick)
        hac_query_run_note_plan(job);
    return hac_query_run_set_data(job, err);
}

static uint64_t value(const Hac__Executor__Done *done, size_t index)
{
    return index < done->n_values ? done->values[index] : 0;
}

void hac_query_run_fail(hacd_job *job, hac_status code, const char *message)
{
    job->code = code;
    snprintf(job->message, sizeof job->message, "%s", message);
}

bool hac_query_keep_bytes(uint8_t **ret, size_t *ret_bytes, const ProtobufCBinaryData *data)
{
    uint8_t *copy = malloc(data->len + 1);
    if (copy == NULL)
        return false;
    if (data->len > 0)
        memcpy(copy, data->data, data->len);
    free(*ret);
    *ret = copy;
    *ret_bytes = data->len;
    return true;
}

/* Every pass reads all rows; they are counted once. */
static void add_partials(query_totals *totals, const hac_plan_task *task, const Hac__Executor__Done *done)
{
    uint64_t needed = value(done, HAC_AGGREGATE_VALUE_NEEDED);
    if (HAC_PARAMS(hac_query_params, task)->pass == 0) {
        totals->rows += value(done, HAC_AGGREGATE_VALUE_ROWS);
        totals->kept += value(done, HAC_AGGREGATE_VALUE_KEPT);
        totals->skipped += value(done, HAC_AGGREGATE_VALUE_SKIPPED);
    }
    totals->partial_groups += value(done, HAC_AGGREGATE_VALUE_GROUPS);
    totals->needed = needed > totals->needed ? needed : totals->needed;
    hac_parquet_footers_add(totals->reading, done, HAC_AGGREGATE_VALUE_READ);
}

static void add_groups(query_totals *totals, const Hac__Executor__Done *done)
{
    uint64_t region = value(done, 1);
    totals->groups += value(done, 0);
    totals->group_region = region > totals->group_region ? region : totals->group_region;
    totals->output_bytes += value(done, 2);
    totals->group_bytes += value(done, 3);
}

static void add_parts(query_totals *totals, const Hac__Executor__Done *done)
{
    uint64_t region = value(done, 1);
    totals->part_region = region > totals->part_region ? region : totals->part_region;
    totals->part_bytes += value(done, 2);
}

/* Some pieces do not know the bytes of the result. */
static void take_joined(query_totals *totals, const Hac__Executor__Done *done)
{
    totals->result_rows = value(done, 0);
    if (value(done, 1) > totals->result_bytes)
        totals->result_bytes = value(done, 1);
}

/* Takes the rows and bytes of the result, and a small result itself. */
static void take_result(hacd_job *job, const Hac__Executor__Done *done)
{
    hacd_query *state = hac_query_of(job);
    state->totals.result_rows = value(done, 0);
    state->totals.result_bytes = value(done, 1);
    state->totals.passed = done->n_values == 3 ? value(done, 2) : value(done, 0);
    if (done->n_values >= HAC_WHOLE_N_VALUES) {
        state->totals.rows = value(done, HAC_WHOLE_VALUE_READ);
        state->totals.kept = value(done, HAC_WHOLE_VALUE_KEPT);
        state->totals.skipped = value(done, HAC_WHOLE_VALUE_SKIPPED);
        memset(state->totals.reading, 0, sizeof state->totals.reading);
        hac_parquet_footers_add(state->totals.reading, done, HAC_WHOLE_VALUE_READING);
    }
    if (done->data.len > 0 && !hac_query_keep_bytes(&job->result_data, &job->result_data_bytes, &done->data))
        hac_query_run_fail(job, HAC_NO_MEMORY, "out of memory");
}

bool hac_query_is_codelet(const hac_plan_task *task, const char *name)
{
    return strcmp(task->codelet, name) == 0;
}

bool hac_query_makes_partials(const hac_plan_task *task)
{
    return hac_query_is_codelet(task, "query.aggregate") || hac_query_is_codelet(task, "hash.aggregate") ||
           hac_query_is_codelet(task, "query.rows");
}

/* Keeps for the next plan what this one has shown. */
static void learn_sizes(hacd_job *job)
{
    hacd_query *state = hac_query_of(job);
    const query_totals *totals = &state->totals;
    const hac_query_info *query = &job->plan->query;
    if (totals->needed <= INT64_MAX / HAC_QUERY_PASSES_MAX / 2)
        hac_query_learn_region(&state->spec, totals->needed, query->passes);
    if (totals->group_region > 0 && query->passes > 1) {
        state->spec.group_region = (totals->group_region + 63) / 64 * 64;
        state->spec.group_regions = (uint64_t)query->partitions * query->passes;
    } else if (totals->group_region > 0) { /* all are known */
        state->spec.group_region = (totals->group_bytes + 63) / 64 * 64;
        state->spec.group_regions = 1;
    }
    if (totals->result_bytes > 0)
        state->spec.group_result = totals->result_bytes;
}

static hac_status lacks_groups(hacd_job *job, hac_error *err)
{
    hac_query_spec *spec = &hac_query_of(job)->spec;
    learn_sizes(job);
    return hac_query_lacks_groups(spec, spec->region, job->plan->query.chunks, err);
}

static hac_status too_often(hacd_job *job, hac_error *err)
{
    hacd_query *state = hac_query_of(job);
    if (++state->tries <= TRIES_MAX)
        return HAC_OK;
    if (job->plan->query.passes > 1) /* more passes split the keys, but not the contents of one group */
        return lacks_groups(job, err);
    return hac_fail(err, HAC_INTERNAL, "the query's buffers turned out too small %u times", state->tries);
}

/* Rows that there is no memory for are read all the same, to find out how much memory they need. */
static bool counts_rows(const hacd_job *job)
{
    const hacd_query *state = hac_query_of(job);
    const hac_query_info *query = &job->plan->query;
    uint64_t needed = state->totals.needed;
    return !state->in_splits && query->engine == HAC_PLAN_ENGINE_ROWS && !state->spec.rows_seen &&
           !hac_query_rows_fit(&state->spec, needed + needed / 4, query->chunks);
}

/* Takes the number of groups of a chunk from the report of a piece. */
static void learn_groups(hacd_job *job, const Hac__Executor__Done *done)
{
    hac_query_spec *spec = &hac_query_of(job)->spec;
    uint64_t groups = value(done, HAC_AGGREGATE_VALUE_GROUPS);
    uint64_t chunks = value(done, HAC_AGGREGATE_VALUE_SPLICE + HAC_SPLICE_SETS);
    if (chunks == 0 || groups / chunks > INT64_MAX / HAC_QUERY_PASSES_MAX)
        return;
    groups = (groups + chunks - 1) / chunks * job->plan->query.passes;
    if (spec->chunk_groups == 0 || groups < spec->chunk_groups) /* every pass has one group, if it has none */
        spec->chunk_groups = groups;
}

/* A chunk did not fit its region. The others need not be read: their regions are too small as well. */
static void take_partials(hacd_job *job, const hac_plan_task *task, const Hac__Executor__Done *done)
{
    hacd_query *state = hac_query_of(job);
    const query_totals *totals = &state->totals;
    const hac_query_info *query = &job->plan->query;
    hac_error err = HAC_ERROR_NONE;
    add_partials(&state->totals, task, done);
    if (totals->needed <= query->region || job->run.replan || job->code != HAC_OK || counts_rows(job))
        return;
    if (totals->needed > INT64_MAX / HAC_QUERY_PASSES_MAX) {
        hac_query_run_fail(job, HAC_INTERNAL, "a chunk cannot need that many bytes");
    } else if (too_often(job, &err) != HAC_OK) {
        hac_query_run_fail(job, err.code, err.message);
    } else {
        learn_groups(job, done);
        hac_query_learn_region(&state->spec, totals->needed, query->passes);
        job->run.replan = true;
        hacd_job_note(job,
                      "a chunk needs %llu KiB for its part of the result, %llu were planned: planned anew",
                      (unsigned long long)(totals->needed >> 10), (unsigned long long)(query->region >> 10));
    }
}

/* The figures of the kernels stay with the plan. */
static void note_device_hash(hacd_job *job, const Hac__Executor__Done *done)
{
    const hacd_query *state = hac_query_of(job);
    hac_hash_figures *hash = &job->plan->query.hash;
    if (done->n_values >= HAC_AGGREGATE_N_VALUES) { /* of kernels */
        hac_hash_figures_add(hash, done->values, done->n_values);
        hash->partials = job->plan->query.chunks * job->plan->query.passes;
    }
    hash->pairs_merged = state->totals.partial_groups;
    hash->groups_merged = state->totals.groups;
}

void hac_query_run_task_done(hacd_job *job, uint32_t index, const Hac__Executor__Done *done)
{
    hacd_query *state = hac_query_of(job);
    const hac_plan_task *task = &job->plan->tasks[index];
    if (hac_query_is_codelet(task, "query.footer"))
        hac_parquet_footers_take(&state->footers, task->descriptor, done);
    else if (hac_query_makes_partials(task))
        take_partials(job, task, done);
    else if (hac_query_is_codelet(task, "query.merge") || hac_query_is_codelet(task, "query.carry"))
        add_groups(&state->totals, done);
    else if (hac_query_is_codelet(task, "query.order"))
        add_parts(&state->totals, done);
    else if (hac_query_is_codelet(task, "query.join"))
        take_joined(&state->totals, done);
    else if (!hac_query_is_codelet(task, "query.quotes"))
        take_result(job, done);
    note_device_hash(job, done);
}

bool hac_query_run_did_all(const hacd_job *job, uint32_t index, const Hac__Executor__Done *done)
{
    const hacd_query *state = hac_query_of(job);
    return state == NULL || hac_query_did_all(&state->spec, &job->plan->tasks[index], state->result_capacity,
                                              done->values, done->n_values);
}

static hac_status resize(hacd_job *job, const char *name, uint64_t bytes, hac_error *err)
{
    int buffer = hac_plan_find_buffer(job->plan, name);
    if (buffer < 0 || bytes > INT64_MAX / 2)
        return hac_fail(err, HAC_INTERNAL, "the query's buffer %s cannot have %llu bytes", name,
                        (unsigned long long)bytes);
    hac_query_resize(job->plan, buffer, bytes);
    return hac_plan_buffers_attach_late(job, buffer, err);
}

static hac_status resize_result(hacd_job *job, uint64_t bytes, hac_error *err)
{
    hacd_query *state = hac_query_of(job);
    if (bytes > INT64_MAX / 2)
        return hac_fail(err, HAC_INTERNAL, "a result cannot have that many bytes");
    state->result_capacity = (bytes + 63) / 64 * 64;
    return resize(job, HAC_QUERY_BUFFER_RESULT, state->result_capacity, err);
}

hac_status hac_query_run_resize_groups(hacd_job *job, uint64_t region, hac_error *err)
{
    for (size_t t = 0; t < job->plan->n_tasks; t++)
        HAC_EDIT_PARAMS(hac_query_params, &job->plan->tasks[t])->group_region = region;
    return resize(job, HAC_QUERY_BUFFER_GROUPS, region * job->plan->query.partitions, err);
}

/* Whether all tasks of that kind but this one have ended. */
bool hac_query_run_last_of_its_kind(const hacd_job *job, uint32_t index)
{
    const hac_plan_task *task = &job->plan->tasks[index];
    for (uint32_t t = 0; t < job->plan->n_tasks; t++)
        if (t != index && hac_query_is_codelet(&job->plan->tasks[t], task->codelet) &&
            job->run.tasks[t].done < job->plan->tasks[t].count)
            return false;
    return true;
}

/* Whether all parts of this task's pass have ended. */
static bool last_of_its_pass(const hacd_job *job, uint32_t index)
{
    const hac_plan_task *task = &job->plan->tasks[index];
    for (uint32_t t = 0; t < job->plan->n_tasks; t++) {
        const hac_plan_task *other = &job->plan->tasks[t];
        if (t != index && hac_query_makes_partials(other) &&
            HAC_PARAMS(hac_query_params, other)->pass == HAC_PARAMS(hac_query_params, task)->pass &&
            job->run.tasks[t].done < other->count)
            return false;
    }
    return true;
}

hac_status hac_query_run_too_many_groups(hacd_job *job, hac_error *err)
{
    uint64_t there = hac_query_of(job)->spec.memory;
    if (job->memory_limit != 0 && job->memory_limit < there)
        there = job->memory_limit;
    return hac_fail(
        err, HAC_REFUSED,
        "its groups do not fit the memory that it may use (%llu MiB): raise --memory, filter more "
        "rows, group by fewer keys, or give the input as files to `hacctl mapreduce`, which goes "
        "over them several times",
        (unsigned long long)there >> 20);
}

/* The next plan does not fit beside the partials: take fewer keys at a time, with regions of the size that is
 * now known. */
static hac_status fewer_keys(hacd_job *job, hac_status status, hac_error *err)
{
    hacd_query *state = hac_query_of(job);
    const hac_query_info *query = &job->plan->query;
    uint32_t passes = query->passes * 2;
    if (status == HAC_REFUSED && state->in_splits)
        return hac_query_run_too_many_groups(job, err);
    if (status != HAC_REFUSED)
        return status;
    if (state->spec.keys == 0)
        return lacks_groups(job, err);
    bool wasteful = query->region / 3 * 2 > state->totals.needed + state->totals.needed / 4;
    passes = wasteful ? query->passes : passes;
    if (passes > HAC_QUERY_PASSES_MAX || ++state->tries > TRIES_MAX)
        return lacks_groups(job, err);
    hacd_job_note(job, "%s; planned anew with %u passes over key ranges", err->message, passes);
    learn_sizes(job);
    state->spec.passes = passes;
    job->run.replan = true;
    return HAC_OK;
}

/* Memory for as many groups as all partials have, or as fit. Many partials have the same groups, and a merge
 * that does not fit reports what it needs. */
static hac_status first_groups(hacd_job *job, hac_error *err)
{
    const hacd_query *state = hac_query_of(job);
    const hac_query_info *query = &job->plan->query;
    uint64_t partials = query->region * query->chunks, memory = state->spec.memory;
    uint64_t region = hac_query_group_region(state->totals.needed * query->chunks, query->partitions);
    uint64_t limit = memory > partials ? (memory - partials) / 4 * 3 / query->partitions / 64 * 64 : 0;
    uint64_t min = hac_query_group_region(0, query->partitions);
    if (memory != 0 && region > limit)
        region = limit > min ? limit : min;
    return fewer_keys(job, hac_query_run_resize_groups(job, region, err), err);
}

/* Bytes of the result of rows: an estimate, or (`upper_limit`) the upper limit. */
static uint64_t rows_result(const hacd_job *job, bool upper_limit)
{
    const hacd_query *state = hac_query_of(job);
    const hac_query_spec *spec = &state->spec;
    uint64_t rows = state->totals.partial_groups - state->groups_before; /* if the query gives any */
    uint64_t partials = state->totals.needed * job->plan->query.chunks;
    if (state->writes_parquet) /* Parquet rarely takes more than half of it */
        return (upper_limit ? partials : partials / 2) + RESULT_SLACK;
    uint64_t about = rows * spec->output_bytes * 5 / 4 + RESULT_SLACK;
    uint64_t texts = (spec->flags & HAC_COMPILED_GIVES_TEXT) != 0 ? partials : 0;
    uint64_t widest = rows * spec->max_output + texts + RESULT_SLACK;
    return upper_limit && widest > about ? widest : about;
}

/* All chunks were read: regions of exactly the size that they need leave the most memory for the result. */
static hac_status plan_seen(hacd_job *job, uint64_t result, hac_error *err)
{
    hacd_query *state = hac_query_of(job);
    hac_status status = too_often(job, err);
    if (status != HAC_OK)
        return status;
    hacd_job_note(job,
                  "memory is short: planned anew with the %llu KiB that the largest chunk needs for each",
                  (unsigned long long)(state->totals.needed + 1023) >> 10);
    state->spec.region = state->totals.needed;
    state->spec.result = result;
    state->spec.rows_seen = job->run.replan = true;
    return HAC_OK;
}

static hac_status resize_parts(hacd_job *job, uint64_t region, hac_error *err)
{
    uint64_t parts = 0, bytes;
    for (size_t t = 0; t < job->plan->n_tasks; t++) {
        hac_plan_task *task = &job->plan->tasks[t];
        if (hac_query_is_codelet(task, "query.order") || hac_query_is_codelet(task, "query.join")) {
            HAC_EDIT_PARAMS(hac_query_params, task)->group_region = region;
            parts = HAC_PARAMS(hac_query_params, task)->partitions;
        }
    }
    if (__builtin_mul_overflow(region, parts, &bytes))
        return hac_fail(err, HAC_INTERNAL, "a part of the result cannot have that many bytes");
    return resize(job, HAC_QUERY_BUFFER_PARTS, bytes, err);
}

/* Parts of a result of rows, as many and as large as the rows say. */
static hac_status begin_parts(hacd_job *job, hac_error *err)
{
    const hacd_query *state = hac_query_of(job);
    uint64_t rows = state->totals.partial_groups - state->groups_before, parts = 1;
    hac_query_set_parts(job->plan, rows);
    for (size_t t = 0; t < job->plan->n_tasks; t++)
        if (hac_query_is_codelet(&job->plan->tasks[t], "query.order"))
            parts = job->plan->tasks[t].count;
    uint64_t region = rows_result(job, false) / parts;
    return resize_parts(job, (region + region / 8 + RESULT_SLACK) / 64 * 64, err);
}

static hac_status rows_ended(hacd_job *job, hac_error *err)
{
    const hacd_query *state = hac_query_of(job);
    const hac_query_info *query = &job->plan->query;
    uint64_t taken = query->chunks * (query->region + sizeof(uint64_t)), memory = state->spec.memory;
    hac_status status = HAC_REFUSED;
    bool in_parts = hac_plan_find_buffer(job->plan, HAC_QUERY_BUFFER_PARTS) >= 0;
    if (state->totals.needed <= query->region)
        status = in_parts ? begin_parts(job, err) : resize_result(job, rows_result(job, false), err);
    if (status != HAC_REFUSED || state->in_splits)
        return status;
    if (!state->spec.rows_seen)
        return plan_seen(job, rows_result(job, true), err);
    /* A guess: the rest may be enough, and the task reports what it needs if it is not. */
    return memory > taken + 64 ? resize_result(job, (memory - taken) / 64 * 64, err) : status;
}

static hac_status partials_ended(hacd_job *job, uint32_t index, hac_error *err)
{
    const hac_query_info *query = &job->plan->query;
    if (job->run.replan || !last_of_its_pass(job, index))
        return HAC_OK;
    if (query->passes > 1)
        return HAC_OK; /* everything has its final size from the start */
    return query->engine == HAC_PLAN_ENGINE_ROWS ? rows_ended(job, err) : first_groups(job, err);
}

/* Makes regions for merged groups. The largest partition needs `region` bytes, all need `all`. Regions are
 * of one size: if one group has most of the values, fewer partitions need less memory. */
static hac_status fit_merge(hacd_job *job, uint64_t region, uint64_t all, hac_error *err)
{
    const hac_query_info *query = &job->plan->query;
    uint64_t memory = hac_query_of(job)->spec.memory, partitions = query->partitions;
    uint64_t taken = query->region * query->chunks + all; /* the result is about as large as the groups */
    uint64_t left = memory == 0 ? INT64_MAX : memory > taken ? memory - taken : 0;
    if (hac_query_of(job)->in_splits)
        return hac_query_run_resize_groups(job, region, err);
    while (partitions > 1 && region > left / partitions) {
        partitions /= 2;
        region = 2 * region < all ? 2 * region : all;
    }
    hac_query_set_partitions(job->plan, (uint32_t)partitions);
    return hac_query_run_resize_groups(job, region, err);
}

/* Bytes for the result: `wanted`, or what is left of the memory. A task that needs more reports how much. */
static uint64_t first_result(const hacd_job *job, uint64_t wanted)
{
    const hacd_query *state = hac_query_of(job);
    uint64_t taken = 64, memory = state->spec.memory;
    if (state->in_splits || memory == 0)
        return wanted;
    for (size_t i = 0; i < job->plan->n_buffers; i++)
        if ((int)i != job->plan->result_buffer && job->plan->buffers[i].role != HAC_BUFFER_INPUT)
            taken += job->plan->buffers[i].bytes;
    uint64_t left = memory > taken ? (memory - taken) / 64 * 64 : 0;
    return left < RESULT_SLACK || wanted < left ? wanted : left;
}

static void forget_groups(query_totals *totals)
{
    totals->groups = totals->group_region = totals->output_bytes = totals->group_bytes = 0;
}

/* A partition did not fit its region. */
static hac_status merge_larger(hacd_job *job, uint64_t planned, hac_error *err)
{
    hacd_query *state = hac_query_of(job);
    query_totals *totals = &state->totals;
    const hac_query_info *query = &job->plan->query;
    uint64_t parts = (uint64_t)query->partitions * query->passes;
    if (totals->group_region > INT64_MAX / 2 / parts - 64)
        return hac_fail(err, HAC_INTERNAL, "a partition cannot need that many bytes");
    uint64_t region = (totals->group_region + 63) / 64 * 64, all = (totals->group_bytes + 63) / 64 * 64;
    hac_status status = too_often(job, err);
    if (status != HAC_OK)
        return status;
    hacd_job_note(job, "a partition needs %llu KiB, %llu were planned: merged again",
                  (unsigned long long)(region >> 10), (unsigned long long)(planned >> 10));
    if (query->passes == 1) {
        learn_sizes(job);
        forget_groups(totals);
        status = fit_merge(job, region, all, err);
        return status == HAC_OK ? HAC_AGAIN : fewer_keys(job, status, err);
    }
    forget_groups(totals);
    /* by the keys' hashes, other passes may be a little larger */
    state->spec.group_region = region + region / 16;
    state->spec.group_regions = parts;
    if (2 * state->spec.region_fixed > state->spec.region) /* passes split little */
        state->spec.passes = 0;
    job->run.replan = true;
    return HAC_OK;
}

/* The result needs memory that the groups have, and do not need. */
static hac_status merge_smaller(hacd_job *job, uint64_t region, hac_error *err)
{
    hac_status status = too_often(job, err);
    forget_groups(&hac_query_of(job)->totals);
    hacd_job_note(job, "memory is short: merged again with the %llu KiB that the largest partition needs",
                  (unsigned long long)region >> 10);
    if (status == HAC_OK)
        status = hac_query_run_resize_groups(job, region, err);
    return status == HAC_OK ? HAC_AGAIN : status;
}

static hac_status merge_ended(hacd_job *job, uint32_t index, hac_error *err)
{
    const hacd_query *state = hac_query_of(job);
    const query_totals *totals = &state->totals;
    uint64_t planned = HAC_PARAMS(hac_query_params, &job->plan->tasks[index])->group_region;
    if (totals->group_region > planned)
        return merge_larger(job, planned, err);
    if (!hac_query_run_last_of_its_kind(job, index))
        return HAC_OK;
    uint64_t bytes = totals->output_bytes;
    if (bytes == 0)
        bytes = totals->groups * state->spec.output_bytes;
    bytes += bytes / 16 + RESULT_SLACK;
    uint64_t result = first_result(job, bytes), needed = (totals->group_region + 63) / 64 * 64;
    if (result < bytes && job->plan->query.passes == 1 && needed > 0 && planned / 3 * 2 > needed)
        return merge_smaller(job, needed, err);
    return fewer_keys(job, resize_result(job, result, err), err);
}

/* Without memory for parts and the result side by side, one task makes the result. */
static hac_status parts_ended(hacd_job *job, uint32_t index, hac_error *err)
{
    hacd_query *state = hac_query_of(job);
    query_totals *totals = &state->totals;
    uint64_t planned = HAC_PARAMS(hac_query_params, &job->plan->tasks[index])->group_region;
    uint64_t region = (totals->part_region + 63) / 64 * 64, bytes = totals->part_bytes;
    bool fits = totals->part_region <= planned;
    hac_status status = HAC_OK;
    if (!fits) {
        if ((status = too_often(job, err)) != HAC_OK)
            return status;
        hacd_job_note(job, "a part of the result needs %llu KiB, %llu were planned: made again",
                      (unsigned long long)(region >> 10), (unsigned long long)(planned >> 10));
    }
    totals->part_region = totals->part_bytes = 0;
    status = fits ? resize_result(job, bytes, err) : resize_parts(job, region, err);
    if (status == HAC_REFUSED)
        return plan_seen(job, bytes, err);
    return status == HAC_OK && !fits ? HAC_AGAIN : status;
}

/* What the user is told besides the result: skipped records, and requests that could not be met. */
void hac_query_run_note_remarks(hacd_job *job)
{
    const hacd_query *state = hac_query_of(job);
    const char *remark = job->plan->query.remark;
    unsigned long long skipped = state->totals.skipped;
    char text[384] = "";
    if (skipped != 0)
        snprintf(text, sizeof text, "%llu record%s that could not be read %s left out%s", skipped,
                 skipped == 1 ? "" : "s", skipped == 1 ? "was" : "were", remark[0] != '\0' ? "; " : "");
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s", remark);
    if (text[0] == '\0')
        return;
    hacd_job_note(job, "%s", text);
    free(job->text);
    job->text = strdup(text);
}

static hac_status result_ended(hacd_job *job, hac_error *err)
{
    hacd_query *state = hac_query_of(job);
    uint64_t bytes = state->totals.result_bytes;
    if (!state->in_splits) /* else once, at the end */
        hac_query_run_note_remarks(job);
    bool is_whole = !state->in_splits && job->plan->query.engine == HAC_PLAN_ENGINE_WHOLE;
    if (is_whole && job->result_data_bytes == bytes) { /* the result came in the message, or is empty */
        job->result_bytes = bytes;
        hac_pool_clear(&job->run.buffers[job->plan->result_buffer]);
        return HAC_OK;
    }
    if (bytes <= state->result_capacity) {
        job->result_bytes = bytes;
        return HAC_OK;
    }
    hac_status status = too_often(job, err);
    if (status == HAC_OK)
        status = resize_result(job, bytes, err);
    if (status == HAC_REFUSED && !state->in_splits && !state->spec.rows_seen &&
        job->plan->query.engine == HAC_PLAN_ENGINE_ROWS)
        return plan_seen(job, bytes, err);
    if (status == HAC_REFUSED && !state->in_splits && !is_whole &&
        (state->spec.flags & HAC_COMPILED_AGGREGATES) != 0)
        status = fewer_keys(job, status, err);
    return status == HAC_OK && !job->run.replan ? HAC_AGAIN : status;
}

hac_status hac_query_run_task_ended(hacd_job *job, uint32_t index, hac_error *err)
{
    const hac_plan_task *task = &job->plan->tasks[index];
    if (hac_query_is_codelet(task, "query.footer") || hac_query_is_codelet(task, "query.quotes"))
        return HAC_OK;
    if (hac_query_makes_partials(task))
        return partials_ended(job, index, err);
    if (hac_query_is_codelet(task, "query.merge"))
        return merge_ended(job, index, err);
    if (hac_query_is_codelet(task, "query.order"))
        return parts_ended(job, index, err);
    return result_ended(job, err);
}

/* The device's kernels failed: the host codelets go on. */
static bool leave_device(hacd_job *job, const Hac__Executor__Done *done)
{
    hacd_query *state = hac_query_of(job);
    hacd_job_note(job, "device hash aggregation: %s; planned anew with host codelets", done->message);
    hac_utf8_copy_line(state->spec.refusal, sizeof state->spec.refusal, done->message);
    job->run.replan = true;
    return true;
}

/* A table outgrew its process: take fewer keys at a time. */
static bool more_passes(hacd_job *job)
{
    hacd_query *state = hac_query_of(job);
    uint32_t passes = job->plan->query.passes * 2;
    if (passes > HAC_QUERY_PASSES_MAX || (state->spec.flags & HAC_COMPILED_AGGREGATES) == 0 ||
        state->spec.keys == 0)
        return false;
    state->spec.passes = passes;
    job->run.replan = true;
    hacd_job_note(job,
                  "its groups do not fit an executor's memory: planned anew with %u passes over key ranges",
                  passes);
    return true;
}

bool hac_query_is_of_source(const hac_plan_task *task, const Hac__Executor__Done *done)
{
    /* What is invalid in a description or in a small query is what was asked. */
    bool of_query = done->code == HAC_INVALID && (hac_query_is_codelet(task, "query.whole") ||
                                                  hac_query_is_codelet(task, "query.describe"));
    return !of_query && (done->code == HAC_FAILED || done->code == HAC_IO || done->code == HAC_INVALID);
}

bool hac_query_run_task_failed(hacd_job *job, uint32_t index, const Hac__Executor__Done *done)
{
    const hacd_query *state = hac_query_of(job);
    const hac_plan_task *task = &job->plan->tasks[index];
    if (job->run.replan || job->code != HAC_OK)
        return true; /* another piece failed first */
    bool cannot = done->code == HAC_DEVICE || done->code == HAC_UNSUPPORTED || done->code == HAC_NO_MEMORY;
    if (cannot && hac_query_is_codelet(task, "hash.aggregate"))
        return leave_device(job, done);
    if (done->code == HAC_NO_MEMORY && state->in_splits) {
        hac_error err = HAC_ERROR_NONE;
        hac_query_run_fail(job, hac_query_run_too_many_groups(job, &err), err.message);
        return true;
    }
    if (done->code == HAC_NO_MEMORY &&
        (hac_query_makes_partials(task) || hac_query_is_codelet(task, "query.merge")) && more_passes(job))
        return true;
    const char *name =
        task->uses_descriptor || state->in_splits ? state->names[task->descriptor] : state->names[0];
    if (name == NULL && state->in_splits) /* no split came */
        name = job->name;
    if (!hac_query_is_of_source(task, done) || name == NULL || name[0] == '\0')
        return false;
    hac_error err = HAC_ERROR_NONE;
    (void)hac_fail(&err, (hac_status)done->code, "%.128s: %s", name, done->message);
    hac_query_run_fail(job, err.code, err.message);
    return true;
}

void hac_query_run_end(hacd_job *job)
{
    hacd_query *state = hac_query_of(job);
    free(job->data);
    job->data = NULL;
    job->data_bytes = 0;
    if (state == NULL)
        return;
    for (size_t i = 0; i < HAC_DESCRIPTORS_MAX; i++)
        free(state->names[i]);
    free(state->source);
    free(state->query);
    free(state);
    ((hac_query_holder *)job->kind_state)->query = NULL;
}

/* Too large figures would only make plans impossible. */
static uint64_t bounded(uint64_t bytes)
{
    const uint64_t max = UINT64_C(1) << 24;
    return bytes < max ? bytes : max;
}

static void read_compiled(const Hac__Client__CompiledQuery *from, hac_query_spec *ret)
{
    ret->flags = from->flags;
    ret->keys = from->keys;
    ret->group_bytes = bounded(from->group_bytes);
    ret->output_bytes = bounded(from->output_bytes);
    ret->max_output = bounded(from->output_max);
    ret->shape = from->shape;
    ret->same = from->same;
}

static void read_method(const Hac__Client__QueryMethod *from, hac_query_spec *ret)
{
    ret->engine = (hac_engine)from->engine;
    ret->hot_keys = (hac_hot_keys)from->hot_keys;
    ret->sample = from->sample;
    ret->hot_share = from->hot_share;
    ret->work_groups = from->work_groups;
    ret->work_items = from->work_items;
}

void hac_query_spec_read(const Hac__Client__QuerySpec *from, hac_query_spec *ret)
{
    ret->format = hac_formats[from->source->format].name;
    ret->table = ret->in_rows = from->source->format == HAC_INPUT_TABLE;
    ret->describes = from->compiled == NULL;
    ret->sorts_rows = from->sort;
    ret->ordered = from->ordered;
    ret->gives_parquet = from->output_format == HAC_RESULT_PARQUET;
    if (from->compiled != NULL)
        read_compiled(from->compiled, ret);
    /* a limit of groups is met only once all rows are read */
    ret->ends_early = from->has_limit && !from->ordered && (ret->flags & HAC_COMPILED_AGGREGATES) == 0;
    ret->last_row = from->limit;
    if (from->method != NULL)
        read_method(from->method, ret);
}

/* What goes with the tasks: the compiled query, or the request for a description. */
static hac_status keep_query(hacd_query *state, const Hac__Client__QuerySpec *spec, hac_error *err)
{
    if (spec->compiled != NULL)
        return hac_query_keep_bytes(&state->query, &state->query_bytes, &spec->compiled->query)
                   ? HAC_OK
                   : hac_fail_no_memory(err);
    Hac__Client__DescribeInput request = HAC__CLIENT__DESCRIBE_INPUT__INIT;
    request.source = spec->source;
    request.what = spec->describe;
    state->query = malloc(protobuf_c_message_get_packed_size(&request.base) + 1);
    if (state->query == NULL)
        return hac_fail_no_memory(err);
    state->query_bytes = protobuf_c_message_pack(&request.base, state->query);
    return HAC_OK;
}

static hac_status choose_seed(hac_query_spec *spec, hac_error *err)
{
    if (getrandom(&spec->seed, sizeof spec->seed, GRND_NONBLOCK) != (ssize_t)sizeof spec->seed)
        return hac_fail(err, HAC_IO, "the kernel has no random numbers yet; try again");
    return HAC_OK;
}

hac_status hac_query_run_take_spec(hacd_job *job, const Hac__Client__QuerySpec *spec, hac_error *err)
{
    hacd_query *state = calloc(1, sizeof *state);
    if (state == NULL)
        return hac_fail_no_memory(err);
    ((hac_query_holder *)job->kind_state)->query = state;
    hac_query_spec_read(spec, &state->spec);
    state->spec.learner = hac_user_learner(job->user);
    state->parquet = spec->source->format == HAC_INPUT_PARQUET && spec->compiled != NULL;
    state->asks_footers = spec->describe == HAC__CLIENT__DESCRIPTION__DESCRIBE_FOOTERS;
    if (spec->sort)
        job->flow = HAC_FLOW_SORT;
    state->writes_parquet = spec->output_format == HAC_RESULT_PARQUET;
    if (spec->compiled != NULL && spec->output_format < sizeof outputs / sizeof *outputs)
        state->output = outputs[spec->output_format];
    hac_status status = keep_query(state, spec, err);
    return status == HAC_OK ? choose_seed(&state->spec, err) : status;
}

hac_status hac_query_run_begin(hacd_job *job, const hac_query_over *query, bool kernels, hac_error *err)
{
    hac_query_run_end(job);
    hacd_query *state = calloc(1, sizeof *state);
    if (state == NULL)
        return hac_fail_no_memory(err);
    ((hac_query_holder *)job->kind_state)->query = state;
    hac_query_spec *spec = &state->spec;
    spec->place = HAC_QUERY_IN_BUFFER;
    spec->format = hac_formats[HAC_INPUT_TABLE].name;
    spec->table = spec->in_rows = true;
    spec->n_sources = 1;
    spec->sources[0] = query->rows;
    spec->bytes = query->bytes;
    spec->input_bytes = query->table_bytes;
    spec->groups = query->groups;
    spec->engine = kernels ? HAC_ENGINE_DEVICE : HAC_ENGINE_HOST;
    read_compiled(query->compiled, spec);
    if (!hac_query_keep_bytes(&state->query, &state->query_bytes, &query->compiled->query))
        return hac_fail_no_memory(err);
    return choose_seed(spec, err);
}
