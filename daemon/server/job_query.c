/* SPDX-License-Identifier: Apache-2.0 */
#include "query_run.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/cleanup.h"
#include "base/query_layout.h"
#include "job_input.h"
#include "job_splits.h"
#include "scheduler.h"
#include "server.h"

#define TRIES_MAX    6 /* plans that turned out too small */
#define RESULT_SLACK (UINT64_C(64) << 10)
#define GUESS_GROUP  48 /* bytes, before the query is compiled */
#define GUESS_OUTPUT 32

/* By hac_format (expr/query.h). */
static const char *const formats[] = {NULL,    "table", "csv",   "tsv",     "jsonl",   "lines",
                                      "words", "kv",    "fixed", "parquet", "lengths", "typedbytes"};
#define FORMAT_TABLE   1
#define FORMAT_CSV     2
#define FORMAT_PARQUET 9
/* By hac_output_format. */
static const char *const outputs[] = {"csv", "json", "table", "parquet", "tsv", "typedbytes", "text"};
#define OUTPUT_PARQUET 3

typedef struct hac_query_run query_state;
typedef hac_query_totals query_totals;

/* ---- what goes with every task ------------------------------------------------------------------------ */

/* The specification, or the compiled query, and an inline source behind it. */
static hac_status set_data(hac_job *job, const uint8_t *front, size_t front_bytes, hac_error *err)
{
    const query_state *state = job->query;
    uint8_t *data = malloc(front_bytes + state->source_bytes + 1);
    if (data == NULL)
        return hac_fail_no_memory(err);
    memcpy(data, front, front_bytes);
    if (state->source_bytes > 0)
        memcpy(data + front_bytes, state->source, state->source_bytes);
    free(job->data);
    job->data = data;
    job->data_bytes = front_bytes + state->source_bytes;
    return HAC_OK;
}

hac_status hac_query_run_set_data(hac_job *job, hac_error *err)
{
    const query_state *state = job->query;
    return state->compiled ? set_data(job, state->query, state->query_bytes, err)
                           : set_data(job, state->text, state->text_bytes, err);
}

/* ---- plans -------------------------------------------------------------------------------------------- */

/* Bytes that the plan's buffers may take: the job's limit, and what is free of the user's. */
static uint64_t memory_for(const hac_job *job)
{
    const query_state *state = job->query;
    uint64_t room = hac_pool_room(job->user) | 1;
    for (size_t i = 0; i < HAC_PLAN_MAX_BUFFERS; i++) /* they go back before the next plan begins */
        room +=
            job->run.buffers[i] != NULL && job->run.buffers[i] != job->input ? job->run.buffers[i]->bytes : 0;
    uint64_t input = state->spec.place == HAC_QUERY_IN_BUFFER ? state->spec.input_bytes : 0;
    uint64_t own = job->memory_limit > input ? job->memory_limit - input : 1;
    return job->memory_limit != 0 && own < room ? own : room;
}

void hac_query_run_note_plan(hac_job *job)
{
    const hac_query_info *query = &job->plan->query;
    char devices[256];
    hac_plan_name_devices(job->plan, devices, sizeof devices);
    hac_job_note(job, "plan: %s, %llu chunks, %u partitions, %u pass%s, %zu tasks, %.3f ms predicted, on %s",
                 query->way, (unsigned long long)query->chunks, query->partitions, query->passes,
                 query->passes == 1 ? "" : "es", job->plan->n_tasks, job->plan->predicted_seconds * 1e3,
                 devices);
}

hac_status hac_query_run_plan_compile(hac_job *job, hac_error *err)
{
    query_state *state = job->query;
    hac_plan *plan = NULL;
    hac_status status =
        hac_plan_query_compile(hac_server_machine(job->server), &state->spec, state->text_bytes, &plan, err);
    if (status != HAC_OK)
        return status;
    hac_job_set_plan(job, plan);
    return hac_query_run_set_data(job, err);
}

static hac_status plan_footers(hac_job *job, hac_error *err)
{
    query_state *state = job->query;
    hac_plan *plan = NULL;
    hac_status status = hac_plan_query_footers(hac_server_machine(job->server), &state->spec, &plan, err);
    if (status != HAC_OK)
        return status;
    hac_job_set_plan(job, plan);
    return set_data(job, state->query, state->query_bytes, err);
}

hac_status hac_query_run_next_plan(hac_job *job, uint32_t device_mask, hac_error *err)
{
    query_state *state = job->query;
    if (state->planned && !job->restart && !job->run.replan)
        return HAC_NOT_FOUND;
    state->spec.device_mask = device_mask;
    if (state->spec.device_mask == 0)
        return hac_fail(err, HAC_FAILED, "no device is left that can run this query");
    /* what is small is compiled by the task that runs it */
    bool whole = !state->parquet && hac_query_is_whole(&state->spec);
    if (!state->compiled && !whole)
        return hac_query_run_plan_compile(job, err);
    if (state->parquet && !hac_parquet_reading_apply(&state->footers, &state->spec))
        return plan_footers(job, err);
    state->spec.compiled_bytes = state->compiled ? state->query_bytes : state->text_bytes;
    hac_plan *plan = NULL;
    state->spec.memory = memory_for(job);
    state->spec.limit = job->memory_limit;
    hac_status status = hac_plan_query(hac_server_machine(job->server), &state->spec, &plan, err);
    if (status != HAC_OK)
        return status;
    hac_job_set_plan(job, plan);
    state->planned = true;
    memset(&state->totals, 0, sizeof state->totals);
    hac_splice_buffers_clear(&job->splice); /* all of it is done anew */
    state->result_room = 0;
    if (!job->quick)
        hac_query_run_note_plan(job);
    return hac_query_run_set_data(job, err);
}

static hac_status next_plan(hac_job *job, hac_error *err)
{
    if (hac_devices_usable(&job->server->devices) == 0)
        return hac_fail(err, HAC_FAILED, "no usable OpenCL device: %.400s",
                        hac_devices_why_none(&job->server->devices));
    return hac_query_run_next_plan(job, hac_job_allowed_devices(job), err);
}

/* ---- what tasks report -------------------------------------------------------------------------------- */

static uint64_t value(const Hac__Executor__Done *done, size_t index)
{
    return index < done->n_values ? done->values[index] : 0;
}

void hac_query_run_fail(hac_job *job, hac_status code, const char *message)
{
    job->code = code;
    snprintf(job->message, sizeof job->message, "%s", message);
}

static bool keep_bytes(uint8_t **ret, size_t *ret_bytes, const ProtobufCBinaryData *data)
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

static void take_compiled(hac_job *job, const Hac__Executor__Done *done)
{
    query_state *state = job->query;
    hac_query_spec *spec = &state->spec;
    if (done->n_values <= HAC_COMPILE_OUTPUT_BYTES || done->data.len == 0) {
        hac_query_run_fail(job, HAC_INTERNAL, "query.compile gave back no query");
        return;
    }
    if (!keep_bytes(&state->query, &state->query_bytes, &done->data)) {
        hac_query_run_fail(job, HAC_NO_MEMORY, "out of memory");
        return;
    }
    const uint64_t most = UINT64_C(1) << 24;
    spec->flags = value(done, HAC_COMPILE_FLAGS);
    spec->keys = value(done, HAC_COMPILE_KEYS);
    spec->group_bytes = value(done, HAC_COMPILE_GROUP_BYTES);
    spec->output_bytes = value(done, HAC_COMPILE_OUTPUT_BYTES);
    spec->output_most = value(done, HAC_COMPILE_OUTPUT_MOST);
    spec->group_bytes = spec->group_bytes < most ? spec->group_bytes : most;
    spec->output_bytes = spec->output_bytes < most ? spec->output_bytes : most;
    spec->output_most = spec->output_most < most ? spec->output_most : most;
    state->compiled = true;
    if (state->parquet)
        hac_parquet_reading_take(&state->footers, 0, done);
}

/* Every pass reads all rows: they are counted once. */
static void add_partials(query_totals *totals, const hac_plan_task *task, const Hac__Executor__Done *done)
{
    uint64_t needed = value(done, HAC_AGGREGATE_VALUE_NEEDED);
    if ((uint32_t)task->params[HAC_QUERY_PARAM_PASS] == 0) {
        totals->rows += value(done, HAC_AGGREGATE_VALUE_ROWS);
        totals->kept += value(done, HAC_AGGREGATE_VALUE_KEPT);
        totals->skipped += value(done, HAC_AGGREGATE_VALUE_SKIPPED);
    }
    totals->partial_groups += value(done, HAC_AGGREGATE_VALUE_GROUPS);
    totals->needed = needed > totals->needed ? needed : totals->needed;
    hac_parquet_reading_add(totals->reading, done, HAC_AGGREGATE_VALUE_READ);
}

static void add_groups(query_totals *totals, const Hac__Executor__Done *done)
{
    uint64_t region = value(done, 1);
    totals->groups += value(done, 0);
    totals->group_region = region > totals->group_region ? region : totals->group_region;
    totals->output_bytes += value(done, 2);
}

/* The rows and bytes of the result; of a small one its bytes themselves. */
static void take_result(hac_job *job, const Hac__Executor__Done *done)
{
    query_state *state = job->query;
    state->totals.result_rows = value(done, 0);
    state->totals.result_bytes = value(done, 1);
    if (done->n_values >= HAC_WHOLE_N_VALUES) {
        state->totals.rows = value(done, HAC_WHOLE_VALUE_READ);
        state->totals.kept = value(done, HAC_WHOLE_VALUE_KEPT);
        state->totals.skipped = value(done, HAC_WHOLE_VALUE_SKIPPED);
        memset(state->totals.reading, 0, sizeof state->totals.reading);
        hac_parquet_reading_add(state->totals.reading, done, HAC_WHOLE_VALUE_READING);
    }
    if (done->data.len > 0 && !keep_bytes(&job->result_data, &job->result_data_bytes, &done->data))
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

static hac_status lacks_groups(const hac_job *job, hac_error *err)
{
    const hac_query_info *query = &job->plan->query;
    uint64_t region = job->query->totals.needed * query->passes;
    return hac_query_lacks_groups(&job->query->spec, region, query->chunks, err);
}

static hac_status too_often(hac_job *job, hac_error *err)
{
    query_state *state = job->query;
    if (++state->tries <= TRIES_MAX)
        return HAC_OK;
    if (job->plan->query.passes > 1) /* more passes split the keys, not what one group holds */
        return lacks_groups(job, err);
    return hac_fail(err, HAC_INTERNAL, "the query's parts were found too small %u times", state->tries);
}

/* Rows that there is no memory for are looked at all the same, so that it is known how much they need. */
static bool counts_rows(const hac_job *job)
{
    const query_state *state = job->query;
    const hac_query_info *query = &job->plan->query;
    uint64_t needed = state->totals.needed;
    return state->rounds == NULL && strcmp(query->way, "rows") == 0 && !state->spec.rows_seen &&
           !hac_query_rows_fit(&state->spec, needed + needed / 4, query->chunks);
}

/* A chunk that did not fit its region: the others need not be looked at, their regions are too small as well.
 */
static void take_partials(hac_job *job, const hac_plan_task *task, const Hac__Executor__Done *done)
{
    query_state *state = job->query;
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
        state->spec.region = (totals->needed + totals->needed / 4) * query->passes;
        job->run.replan = true;
        hac_job_note(job,
                     "a chunk needs %llu KiB for its part of the result, %llu were planned: planned anew",
                     (unsigned long long)(totals->needed >> 10), (unsigned long long)(query->region >> 10));
    }
}

/* What its kernels have done stays with the plan, which is drawn with it. */
static void note_flow_c(hac_job *job, const hac_plan_task *task, const Hac__Executor__Done *done)
{
    const query_state *state = job->query;
    hac_flow_c *flow_c = &job->plan->query.flow_c;
    if (hac_query_is_codelet(task, "hash.aggregate")) {
        hac_flow_c_add(flow_c, done->values, done->n_values);
        flow_c->partials = job->plan->query.chunks * job->plan->query.passes;
    }
    flow_c->pairs_merged = state->totals.partial_groups;
    flow_c->groups_merged = state->totals.groups;
}

void hac_query_run_task_done(hac_job *job, uint32_t index, const Hac__Executor__Done *done)
{
    query_state *state = job->query;
    const hac_plan_task *task = &job->plan->tasks[index];
    if (hac_query_is_codelet(task, "query.compile"))
        take_compiled(job, done);
    else if (hac_query_is_codelet(task, "query.footer"))
        hac_parquet_reading_take(&state->footers, task->descriptor, done);
    else if (hac_query_makes_partials(task))
        take_partials(job, task, done);
    else if (hac_query_is_codelet(task, "query.merge") || hac_query_is_codelet(task, "query.carry"))
        add_groups(&state->totals, done);
    else if (!hac_query_is_codelet(task, "query.quotes"))
        take_result(job, done);
    note_flow_c(job, task, done);
}

bool hac_query_run_did_all(const hac_job *job, uint32_t index, const Hac__Executor__Done *done)
{
    const query_state *state = job->query;
    return state == NULL || hac_query_did_all(&state->spec, &job->plan->tasks[index], state->result_room,
                                              done->values, done->n_values);
}

/* ---- sizes that only the tasks before can tell -------------------------------------------------------- */

static hac_status resize(hac_job *job, const char *name, uint64_t bytes, hac_error *err)
{
    int buffer = hac_plan_find_buffer(job->plan, name);
    if (buffer < 0 || bytes > INT64_MAX / 2)
        return hac_fail(err, HAC_INTERNAL, "the query's buffer %s cannot have %llu bytes", name,
                        (unsigned long long)bytes);
    hac_query_resize(job->plan, buffer, bytes);
    return hac_scheduler_attach(job, buffer, err);
}

static hac_status resize_result(hac_job *job, uint64_t bytes, hac_error *err)
{
    query_state *state = job->query;
    if (bytes > INT64_MAX / 2)
        return hac_fail(err, HAC_INTERNAL, "a result cannot have that many bytes");
    state->result_room = (bytes + 63) / 64 * 64;
    return resize(job, HAC_QUERY_BUFFER_RESULT, state->result_room, err);
}

hac_status hac_query_run_resize_groups(hac_job *job, uint64_t region, hac_error *err)
{
    for (size_t t = 0; t < job->plan->n_tasks; t++)
        job->plan->tasks[t].params[HAC_QUERY_PARAM_GROUP_REGION] = region;
    return resize(job, HAC_QUERY_BUFFER_GROUPS, region * job->plan->query.partitions, err);
}

/* Whether all tasks of that kind but this one have ended. */
bool hac_query_run_last_of_its_kind(const hac_job *job, uint32_t index)
{
    const hac_plan_task *task = &job->plan->tasks[index];
    for (uint32_t t = 0; t < job->plan->n_tasks; t++)
        if (t != index && hac_query_is_codelet(&job->plan->tasks[t], task->codelet) &&
            job->run.tasks[t].done < job->plan->tasks[t].count)
            return false;
    return true;
}

/* Whether all parts of the pass that this task belongs to have ended. */
static bool last_of_its_pass(const hac_job *job, uint32_t index)
{
    const hac_plan_task *task = &job->plan->tasks[index];
    for (uint32_t t = 0; t < job->plan->n_tasks; t++) {
        const hac_plan_task *other = &job->plan->tasks[t];
        if (t != index && hac_query_makes_partials(other) &&
            other->params[HAC_QUERY_PARAM_PASS] == task->params[HAC_QUERY_PARAM_PASS] &&
            job->run.tasks[t].done < other->count)
            return false;
    }
    return true;
}

hac_status hac_query_run_too_many_groups(hac_job *job, hac_error *err)
{
    uint64_t there = job->query->spec.memory;
    if (job->memory_limit != 0 && job->memory_limit < there)
        there = job->memory_limit;
    return hac_fail(
        err, HAC_REFUSED,
        "its groups do not fit the memory that it may use (%llu MiB): raise --memory, filter more "
        "rows, group by fewer keys, or give the input as files to `hacctl mapreduce`, which goes "
        "over them several times",
        (unsigned long long)there >> 20);
}

/* What was wanted next does not fit beside the partials: fewer keys at a time, with regions that are known
 * now. */
static hac_status fewer_keys(hac_job *job, hac_status status, hac_error *err)
{
    query_state *state = job->query;
    const hac_query_info *query = &job->plan->query;
    uint32_t passes = query->passes * 2;
    if (status == HAC_REFUSED && state->rounds != NULL)
        return hac_query_run_too_many_groups(job, err);
    if (status != HAC_REFUSED || state->spec.keys == 0)
        return status;
    if (passes > HAC_QUERY_PASSES_MAX || ++state->tries > TRIES_MAX)
        return lacks_groups(job, err);
    hac_job_note(job, "%s; planned anew with %u passes over key ranges", err->message, passes);
    state->spec.region = (state->totals.needed + state->totals.needed / 4) * query->passes;
    state->spec.group_region = 0;
    state->spec.passes = passes;
    job->run.replan = true;
    return HAC_OK;
}

/* Memory for as many groups as the partials have in all, or as there is room for: the same ones are in many
 * partials, and a merge that does not fit says what it needs. */
static hac_status first_groups(hac_job *job, hac_error *err)
{
    const query_state *state = job->query;
    const hac_query_info *query = &job->plan->query;
    uint64_t partials = query->region * query->chunks, memory = state->spec.memory;
    uint64_t region = hac_query_group_region(state->totals.needed * query->chunks, query->partitions);
    uint64_t room = memory > partials ? (memory - partials) / 4 * 3 / query->partitions / 64 * 64 : 0;
    uint64_t least = hac_query_group_region(0, query->partitions);
    if (memory != 0 && region > room)
        region = room > least ? room : least;
    return fewer_keys(job, hac_query_run_resize_groups(job, region, err), err);
}

/* Bytes of the result of rows, about or at most. */
static uint64_t rows_result(const hac_job *job, bool most)
{
    const query_state *state = job->query;
    const hac_query_spec *spec = &state->spec;
    uint64_t rows = state->totals.partial_groups - state->groups_before; /* where the query gives any */
    uint64_t partials = state->totals.needed * job->plan->query.chunks;
    if (state->writes_parquet) /* half of what machines make of it is much */
        return (most ? partials : partials / 2) + RESULT_SLACK;
    uint64_t about = rows * spec->output_bytes * 5 / 4 + RESULT_SLACK;
    uint64_t texts = (spec->flags & HAC_COMPILED_GIVES_TEXT) != 0 ? partials : 0;
    uint64_t widest = rows * spec->output_most + texts + RESULT_SLACK;
    return most && widest > about ? widest : about;
}

/* All chunks were seen: regions of the size that they need leave the most memory for the result. */
static hac_status plan_seen(hac_job *job, uint64_t result, hac_error *err)
{
    query_state *state = job->query;
    hac_status status = too_often(job, err);
    if (status != HAC_OK)
        return status;
    hac_job_note(job, "memory is short: planned anew with the %llu KiB that the largest chunk needs for each",
                 (unsigned long long)(state->totals.needed + 1023) >> 10);
    state->spec.region = state->totals.needed;
    state->spec.result = result;
    state->spec.rows_seen = job->run.replan = true;
    return HAC_OK;
}

static hac_status rows_ended(hac_job *job, hac_error *err)
{
    const query_state *state = job->query;
    const hac_query_info *query = &job->plan->query;
    uint64_t taken = query->chunks * (query->region + sizeof(uint64_t)), memory = state->spec.memory;
    hac_status status = HAC_REFUSED;
    if (state->totals.needed <= query->region)
        status = resize_result(job, rows_result(job, false), err);
    if (status != HAC_REFUSED || state->rounds != NULL)
        return status;
    if (!state->spec.rows_seen)
        return plan_seen(job, rows_result(job, true), err);
    /* a guess: it may do with what is left, and says what it needs where it does not */
    return memory > taken + 64 ? resize_result(job, (memory - taken) / 64 * 64, err) : status;
}

static hac_status partials_ended(hac_job *job, uint32_t index, hac_error *err)
{
    const hac_query_info *query = &job->plan->query;
    if (job->run.replan || !last_of_its_pass(job, index))
        return HAC_OK;
    if (query->passes > 1)
        return HAC_OK; /* all has its size from the start */
    return strcmp(query->way, "rows") == 0 ? rows_ended(job, err) : first_groups(job, err);
}

static hac_status merge_ended(hac_job *job, uint32_t index, hac_error *err)
{
    query_state *state = job->query;
    query_totals *totals = &state->totals;
    const hac_plan_task *task = &job->plan->tasks[index];
    uint64_t planned = task->params[HAC_QUERY_PARAM_GROUP_REGION];
    if (totals->group_region > planned) {
        uint64_t parts = (uint64_t)job->plan->query.partitions * job->plan->query.passes;
        if (totals->group_region > INT64_MAX / 2 / parts - 64)
            return hac_fail(err, HAC_INTERNAL, "a partition cannot need that many bytes");
        uint64_t region = (totals->group_region + 63) / 64 * 64;
        hac_status status = too_often(job, err);
        if (status != HAC_OK)
            return status;
        hac_job_note(job, "a partition needs %llu KiB, %llu were planned: merged again",
                     (unsigned long long)(region >> 10), (unsigned long long)(planned >> 10));
        totals->groups = totals->group_region = totals->output_bytes = 0;
        if (job->plan->query.passes > 1) {
            /* others of them, by the keys' hashes, are a little larger */
            state->spec.group_region = region + region / 16;
            job->run.replan = true;
            return HAC_OK;
        }
        status = hac_query_run_resize_groups(job, region, err);
        return status == HAC_OK ? HAC_AGAIN : fewer_keys(job, status, err);
    }
    if (!hac_query_run_last_of_its_kind(job, index))
        return HAC_OK;
    uint64_t bytes = totals->output_bytes;
    if (bytes == 0)
        bytes = totals->groups * state->spec.output_bytes;
    return fewer_keys(job, resize_result(job, bytes + bytes / 16 + RESULT_SLACK, err), err);
}

/* What its user is told besides the result: records that were left out, wishes that were not met. */
void hac_query_run_note_remarks(hac_job *job)
{
    const query_state *state = job->query;
    const char *remark = job->plan->query.remark;
    unsigned long long skipped = state->totals.skipped;
    char text[384] = "";
    if (skipped != 0)
        snprintf(text, sizeof text, "%llu record%s that could not be read %s left out%s", skipped,
                 skipped == 1 ? "" : "s", skipped == 1 ? "was" : "were", remark[0] != '\0' ? "; " : "");
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s", remark);
    if (text[0] == '\0')
        return;
    hac_job_note(job, "%s", text);
    free(job->text);
    job->text = strdup(text);
}

static hac_status result_ended(hac_job *job, hac_error *err)
{
    query_state *state = job->query;
    uint64_t bytes = state->totals.result_bytes;
    if (state->rounds == NULL) /* else once, at the end */
        hac_query_run_note_remarks(job);
    if (job->result_data != NULL && job->result_data_bytes == bytes && state->result_room == 0) {
        job->result_bytes = bytes; /* it came in the message */
        return HAC_OK;
    }
    if (bytes <= state->result_room) {
        job->result_bytes = bytes;
        return HAC_OK;
    }
    hac_status status = too_often(job, err);
    if (status == HAC_OK)
        status = resize_result(job, bytes, err);
    if (status == HAC_REFUSED && state->rounds == NULL && !state->spec.rows_seen &&
        strcmp(job->plan->query.way, "rows") == 0)
        return plan_seen(job, bytes, err);
    return status == HAC_OK ? HAC_AGAIN : status;
}

hac_status hac_query_run_task_ended(hac_job *job, uint32_t index, hac_error *err)
{
    const hac_plan_task *task = &job->plan->tasks[index];
    if (hac_query_is_codelet(task, "query.compile") || hac_query_is_codelet(task, "query.footer") ||
        hac_query_is_codelet(task, "query.quotes"))
        return HAC_OK;
    if (hac_query_makes_partials(task))
        return partials_ended(job, index, err);
    if (hac_query_is_codelet(task, "query.merge"))
        return merge_ended(job, index, err);
    return result_ended(job, err);
}

/* ---- failures ----------------------------------------------------------------------------------------- */

/* Flow C's kernels could not do it: the host codelets can. */
static bool leave_flow_c(hac_job *job, const Hac__Executor__Done *done)
{
    query_state *state = job->query;
    hac_job_note(job, "flow C: %s; planned anew with host codelets", done->message);
    hac_utf8_copy_line(state->spec.refusal, sizeof state->spec.refusal, done->message);
    job->run.replan = true;
    return true;
}

/* A table outgrew its process: fewer keys at a time. */
static bool more_passes(hac_job *job)
{
    query_state *state = job->query;
    uint32_t passes = job->plan->query.passes * 2;
    if (passes > HAC_QUERY_PASSES_MAX || (state->spec.flags & HAC_COMPILED_AGGREGATES) == 0)
        return false;
    state->spec.passes = passes;
    job->run.replan = true;
    hac_job_note(job,
                 "its groups do not fit an executor's memory: planned anew with %u passes over key ranges",
                 passes);
    return true;
}

bool hac_query_run_task_failed(hac_job *job, uint32_t index, const Hac__Executor__Done *done)
{
    const query_state *state = job->query;
    const hac_plan_task *task = &job->plan->tasks[index];
    if (job->run.replan || job->code != HAC_OK)
        return true; /* another piece was first */
    bool cannot = done->code == HAC_DEVICE || done->code == HAC_UNSUPPORTED || done->code == HAC_NO_MEMORY;
    if (cannot && hac_query_is_codelet(task, "hash.aggregate"))
        return leave_flow_c(job, done);
    if (done->code == HAC_NO_MEMORY && state->rounds != NULL) {
        hac_error err = HAC_ERROR_NONE;
        hac_query_run_fail(job, hac_query_run_too_many_groups(job, &err), err.message);
        return true;
    }
    if (done->code == HAC_NO_MEMORY &&
        (hac_query_makes_partials(task) || hac_query_is_codelet(task, "query.merge")) && more_passes(job))
        return true;
    const char *name =
        task->uses_descriptor || state->rounds != NULL ? state->names[task->descriptor] : state->names[0];
    if (name == NULL && state->rounds != NULL) /* no split came */
        name = job->name;
    bool of_query =
        done->code == HAC_INVALID && hac_query_is_codelet(task, "query.whole"); /* which it compiles */
    bool of_source =
        !of_query && (done->code == HAC_FAILED || done->code == HAC_IO || done->code == HAC_INVALID);
    if (hac_query_is_codelet(task, "query.compile") && done->code == HAC_INVALID)
        of_source = false; /* it says what is wrong with the query */
    if (!of_source || name == NULL || name[0] == '\0')
        return false;
    hac_error err = HAC_ERROR_NONE;
    (void)hac_fail(&err, (hac_status)done->code, "%.128s: %s", name, done->message);
    hac_query_run_fail(job, err.code, err.message);
    return true;
}

static void ended(hac_job *job)
{
    const query_state *state = job->query;
    if (state->totals.rows > 0)
        job->spec.items = state->totals.rows;
}

void hac_query_run_end(hac_job *job)
{
    query_state *state = job->query;
    free(job->data);
    job->data = NULL;
    job->data_bytes = 0;
    if (state == NULL)
        return;
    for (size_t i = 0; i < HAC_QUERY_SOURCES_MAX; i++)
        free(state->names[i]);
    free(state->text);
    free(state->source);
    free(state->query);
    free(state);
    job->query = NULL;
}

/* ---- the receipt -------------------------------------------------------------------------------------- */

static void receipt(const hac_job *job, hac_text *text)
{
    const query_state *state = job->query;
    hac_json_open(text, "query", '{');
    hac_query_run_receipt(job, text);
    hac_json_close(text, '}');
    if (!state->parquet && !state->spec.table)
        hac_splice_buffers_json(&job->splice, NULL, text);
}

static hac_status over_limit(hac_job *job, uint64_t needed, hac_error *err)
{
    const hac_query_spec *spec = &job->query->spec;
    uint64_t input = spec->place == HAC_QUERY_IN_BUFFER ? spec->input_bytes : 0;
    return hac_query_lacks_memory(spec, (double)(needed > input ? needed - input : 0), err);
}

#define QUERY_KIND(name)                                                                                     \
    {                                                                                                        \
        .flow = name, .next_plan = next_plan, .task_done = hac_query_run_task_done,                          \
        .did_all = hac_query_run_did_all, .task_ended = hac_query_run_task_ended,                            \
        .task_failed = hac_query_run_task_failed, .receipt = receipt, .free_state = hac_query_run_end,       \
        .ended = ended, .over_limit = over_limit, .has_result = true, .sets_result_bytes = true,             \
        .sends_data = true, .user_errors = true, .in_order = true                                            \
    }

static const hac_job_kind query_kind = QUERY_KIND("mapreduce"), parquet_kind = QUERY_KIND("parquet");

/* ---- submission --------------------------------------------------------------------------------------- */

/* What of a specification the planner looks at; the rest is the compiler's. */
static void read_spec(const Hac__Client__QuerySpec *from, hac_query_spec *ret)
{
    const Hac__Client__QueryMethod *method = from->method;
    size_t n_formats = sizeof formats / sizeof *formats;
    ret->format = from->source->format < n_formats ? formats[from->source->format] : NULL;
    ret->table = ret->in_rows = from->table != NULL;
    ret->sorts_rows = from->sort;
    ret->ends_early = from->has_limit && from->order_by[0] == '\0';
    if (method == NULL)
        return;
    ret->wish = (hac_query_wish)method->way;
    ret->hot_keys = (hac_hot_keys)method->hot_keys;
    ret->sample = method->sample;
    ret->hot_share = method->hot_share;
    ret->work_groups = method->work_groups;
    ret->work_items = method->work_items;
}

/* Of a table that holds no rows at all a row's bytes are not known; eight a column are a guess. */
static uint64_t table_bytes(const Hac__Client__QueryTable *table, uint64_t rows)
{
    uint64_t bytes = 0;
    return __builtin_mul_overflow(rows, 8 * table->n_columns + 1, &bytes) ? INT64_MAX / 64 : bytes;
}

hac_status hac_query_spec_guess(const Hac__Client__PlanQuery *request, hac_query_spec *ret, hac_error *err)
{
    const Hac__Client__QuerySpec *from = request->spec;
    memset(ret, 0, sizeof *ret);
    read_spec(from, ret);
    ret->place = request->input == HAC__CLIENT__PLAN_INPUT__PLAN_INPUT_BUFFER ? HAC_QUERY_IN_BUFFER
                 : request->input == HAC__CLIENT__PLAN_INPUT__PLAN_INPUT_DATA ? HAC_QUERY_INLINE
                                                                              : HAC_QUERY_IN_FILES;
    ret->n_sources = request->n_sources;
    for (size_t i = 0; i < request->n_sources; i++) {
        ret->sources[i] = ret->files[i] = request->sources[i];
        ret->bytes += ret->table ? table_bytes(from->table, request->sources[i]) : request->sources[i];
    }
    ret->input_bytes = ret->bytes;
    if (ret->place == HAC_QUERY_INLINE && ret->bytes > HAC_QUERY_DATA_MAX)
        return hac_fail(err, HAC_INVALID, "%llu bytes are too many for a message",
                        (unsigned long long)ret->bytes);
    ret->keys = from->group_by[0] != '\0';
    if (ret->keys > 0 || strchr(from->select, '(') != NULL)
        ret->flags |= HAC_COMPILED_AGGREGATES;
    if (from->source->format == FORMAT_CSV)
        ret->flags |= HAC_COMPILED_NEEDS_QUOTES;
    ret->flags |= HAC_COMPILED_FITS_DEVICE; /* as most do */
    ret->group_bytes = GUESS_GROUP;
    ret->output_bytes = GUESS_OUTPUT;
    ret->fast = request->options->determinism == 1;
    return HAC_OK;
}

static hac_status pack_spec(query_state *state, const Hac__Client__QuerySpec *spec, hac_error *err)
{
    state->text = malloc(protobuf_c_message_get_packed_size(&spec->base) + 1);
    if (state->text == NULL)
        return hac_fail_no_memory(err);
    state->text_bytes = protobuf_c_message_pack(&spec->base, state->text);
    return HAC_OK;
}

static hac_status take_input(hac_session *session, hac_job *job, const Hac__Client__Input *input,
                             size_t index, hac_frame *frame, hac_error *err)
{
    query_state *state = job->query;
    state->names[index] = strdup(input->name);
    if (state->names[index] == NULL)
        return hac_fail_no_memory(err);
    const char *name = input->name[0] != '\0' ? input->name : "the input";
    switch (input->where_case) {
    case HAC__CLIENT__INPUT__WHERE_BUFFER:
        state->spec.place = HAC_QUERY_IN_BUFFER;
        job->input_offset = input->offset;
        return hac_job_take_buffer(session, input->buffer, input->offset, input->bytes, "input", &job->input,
                                   err);
    case HAC__CLIENT__INPUT__WHERE_DESCRIPTOR:
        state->spec.place = HAC_QUERY_IN_FILES;
        job->spec.from_descriptor = true;
        if (input->offset != 0)
            return hac_fail(err, HAC_INVALID, "%s: queries read files from their beginning", name);
        return hac_job_take_descriptor(job, input, name, frame, err);
    default:
        state->spec.place = HAC_QUERY_INLINE;
        return keep_bytes(&state->source, &state->source_bytes, &input->data) ? HAC_OK
                                                                              : hac_fail_no_memory(err);
    }
}

static void name_job(hac_job *job, const Hac__Client__SubmitQuery *request)
{
    const char *first = request->inputs[0]->name;
    if (request->n_inputs == 1)
        snprintf(job->name, sizeof job->name, "%s", first);
    else
        snprintf(job->name, sizeof job->name, "%.200s and %zu more", first, request->n_inputs - 1);
}

static hac_status choose_seed(hac_query_spec *spec, hac_error *err)
{
    if (getrandom(&spec->seed, sizeof spec->seed, GRND_NONBLOCK) != (ssize_t)sizeof spec->seed)
        return hac_fail(err, HAC_IO, "the kernel has no random numbers yet; try again");
    return HAC_OK;
}

hac_status hac_query_run_take_spec(hac_job *job, const Hac__Client__QuerySpec *spec, hac_error *err)
{
    query_state *state = job->query = calloc(1, sizeof *state);
    if (state == NULL)
        return hac_fail_no_memory(err);
    read_spec(spec, &state->spec);
    state->parquet = spec->source->format == FORMAT_PARQUET && !spec->describe;
    job->sorts_rows = spec->sort;
    state->writes_parquet = spec->output_format == OUTPUT_PARQUET;
    if (!spec->describe && spec->output_format < sizeof outputs / sizeof *outputs)
        state->output = outputs[spec->output_format];
    hac_status status = pack_spec(state, spec, err);
    return status == HAC_OK ? choose_seed(&state->spec, err) : status;
}

static hac_status fill_job(hac_session *session, hac_job *job, const Hac__Client__SubmitQuery *request,
                           hac_frame *frame, hac_error *err)
{
    hac_status status = hac_query_run_take_spec(job, request->spec, err);
    if (status != HAC_OK)
        return status;
    hac_query_spec *spec = &job->query->spec;
    name_job(job, request);
    spec->n_sources = request->n_inputs;
    for (size_t i = 0; i < request->n_inputs && status == HAC_OK; i++) {
        spec->sources[i] = spec->table ? request->spec->table->rows : request->inputs[i]->bytes;
        spec->files[i] = request->inputs[i]->bytes;
        spec->input_bytes += request->inputs[i]->bytes;
        status = take_input(session, job, request->inputs[i], i, frame, err);
    }
    if (status == HAC_OK)
        status = hac_job_take_options(job, request->options, err);
    if (status != HAC_OK)
        return status;
    spec->fast = job->fast;
    job->bytes_in = spec->input_bytes;
    if (request->spec->describe && spec->place == HAC_QUERY_IN_FILES)
        spec->input_bytes = 1; /* it looks at the footer alone: one task, however large the file is */
    spec->bytes = spec->input_bytes;
    job->spec.items = spec->table ? spec->sources[0] : spec->bytes;
    return HAC_OK;
}

hac_status hac_query_run_begin(hac_job *job, const hac_query_over *query, bool kernels, hac_error *err)
{
    Hac__Client__QuerySpec spec = HAC__CLIENT__QUERY_SPEC__INIT;
    Hac__Client__QuerySource source = HAC__CLIENT__QUERY_SOURCE__INIT;
    hac_query_run_end(job);
    query_state *state = job->query = calloc(1, sizeof *state);
    if (state == NULL)
        return hac_fail_no_memory(err);
    source.format = FORMAT_TABLE;
    spec.source = &source;
    spec.table = (Hac__Client__QueryTable *)(uintptr_t)query->table;
    spec.group_by = (char *)(uintptr_t)query->group_by;
    spec.select = (char *)(uintptr_t)query->select;
    read_spec(&spec, &state->spec);
    state->spec.place = HAC_QUERY_IN_BUFFER;
    state->spec.n_sources = 1;
    state->spec.sources[0] = query->table->rows;
    state->spec.bytes = state->spec.input_bytes = query->bytes;
    state->spec.groups = query->groups;
    state->spec.wish = kernels ? HAC_QUERY_BY_FLOW_C : HAC_QUERY_BY_HOST;
    hac_status status = pack_spec(state, &spec, err);
    return status == HAC_OK ? choose_seed(&state->spec, err) : status;
}

hac_status hac_job_query_submit(hac_session *session, uint64_t serial,
                                const Hac__Client__SubmitQuery *request, hac_frame *frame, hac_error *err)
{
    hac_job *job = NULL;
    if (request->splits)
        return hac_job_splits_submit(session, serial, request, err);
    bool parquet = request->spec->source->format == FORMAT_PARQUET;
    hac_status status = hac_job_begin(session, parquet ? &parquet_kind : &query_kind, 0, &job, err);
    if (status != HAC_OK)
        return status;
    status = fill_job(session, job, request, frame, err);
    if (status == HAC_OK)
        status = hac_job_admit(session, job, err);
    if (status != HAC_OK) {
        hac_job_free(job);
        return status;
    }
    const hac_query_spec *spec = &job->query->spec;
    char what[64];
    snprintf(what, sizeof what, "%s of %llu bytes of %s", job->sorts_rows ? "sort" : "query",
             (unsigned long long)job->bytes_in, spec->format != NULL ? spec->format : "data");
    hac_job_start(session, serial, job, spec->place == HAC_QUERY_INLINE, request->options, what);
    return HAC_OK;
}
