/* SPDX-License-Identifier: Apache-2.0 */
#include "job_query.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/query_layout.h"
#include "query_run.h"

/* ---- plans -------------------------------------------------------------------------------------------- */

static hac_status next_plan(hacd_job *job, hac_error *err)
{
    hac_status status = hacd_job_check_devices(job, err);
    return status == HAC_OK ? hac_query_run_next_plan(job, hacd_job_allowed_devices(job), err) : status;
}

static void ended(hacd_job *job)
{
    const hacd_query *state = hac_query_of(job);
    if (state->totals.rows > 0)
        job->items = state->totals.rows;
}

/* ---- the receipt -------------------------------------------------------------------------------------- */

static void receipt(const hacd_job *job, hac_text *text)
{
    const hacd_query *state = hac_query_of(job);
    hac_json_open(text, "query", '{');
    hac_query_run_receipt(job, text);
    hac_json_close(text, '}');
    if (!state->parquet && !state->spec.table)
        hac_splice_buffers_json(&job->splice, NULL, text);
}

static hac_status over_limit(hacd_job *job, uint64_t needed, hac_error *err)
{
    const hac_query_spec *spec = &hac_query_of(job)->spec;
    uint64_t input = spec->place == HAC_QUERY_IN_BUFFER ? spec->input_bytes : 0;
    return hac_query_lacks_memory(spec, (double)(needed > input ? needed - input : 0), err);
}

/* ---- submission --------------------------------------------------------------------------------------- */

/* What the client has asked of the files' footers, as if a job had read them. */
static hac_status apply_footers(const Hac__Client__PlanQuery *request, hac_query_spec *spec, hac_error *err)
{
    if (request->n_footers == 0)
        return HAC_OK;
    hac_autofree hac_parquet_footers *footers = calloc(1, sizeof *footers);
    if (footers == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < request->n_sources; i++)
        hac_parquet_footers_take_values(footers, i, request->footers + i * HAC_FOOTER_N_VALUES);
    (void)hac_parquet_footers_apply(footers, spec);
    return HAC_OK;
}

hac_status hac_query_plan_read(const Hac__Client__PlanQuery *request, hac_query_spec *ret, hac_error *err)
{
    memset(ret, 0, sizeof *ret);
    hac_query_spec_read(request->spec, ret);
    ret->place = request->input == HAC__CLIENT__PLAN_INPUT__PLAN_INPUT_BUFFER ? HAC_QUERY_IN_BUFFER
                 : request->input == HAC__CLIENT__PLAN_INPUT__PLAN_INPUT_DATA ? HAC_QUERY_INLINE
                                                                              : HAC_QUERY_IN_FILES;
    ret->n_sources = request->n_sources;
    ret->files_left_out = request->files_left_out;
    for (size_t i = 0; i < request->n_sources; i++) {
        ret->sources[i] = ret->files[i] = request->sources[i];
        ret->bytes += request->sources[i];
    }
    ret->input_bytes = ret->bytes;
    if (ret->place == HAC_QUERY_INLINE && ret->bytes > HAC_QUERY_DATA_MAX)
        return hac_fail(err, HAC_INVALID, "%llu bytes are too many for a message",
                        (unsigned long long)ret->bytes);
    return apply_footers(request, ret, err);
}

static hac_status take_input(hac_session *session, hacd_job *job, const Hac__Client__Input *input,
                             size_t index, hac_frame *frame, hac_error *err)
{
    hacd_query *state = hac_query_of(job);
    state->names[index] = strdup(input->name);
    if (state->names[index] == NULL)
        return hac_fail_no_memory(err);
    hac_status status = hacd_job_put_path(job, index, input->path.data, input->path.len, err);
    if (status != HAC_OK)
        return status;
    const char *name = input->name[0] != '\0' ? input->name : "the input";
    switch (input->where_case) {
    case HAC__CLIENT__INPUT__WHERE_BUFFER:
        state->spec.place = HAC_QUERY_IN_BUFFER;
        job->input_offset = input->offset;
        return hac_submission_take_buffer(session, input->buffer, input->offset, input->bytes, "input",
                                          &job->input, err);
    case HAC__CLIENT__INPUT__WHERE_DESCRIPTOR:
        state->spec.place = HAC_QUERY_IN_FILES;
        job->from_descriptor = true;
        if (input->offset != 0)
            return hac_fail(err, HAC_INVALID, "%s: queries read files from their beginning", name);
        return hac_submission_take_descriptor(job, input, name, frame, err);
    default:
        state->spec.place = HAC_QUERY_INLINE;
        return hac_query_keep_bytes(&state->source, &state->source_bytes, &input->data)
                   ? HAC_OK
                   : hac_fail_no_memory(err);
    }
}

static void name_job(hacd_job *job, const Hac__Client__SubmitQuery *request)
{
    const char *first = request->inputs[0]->name;
    if (request->n_inputs == 1)
        hac_utf8_copy_line(job->name, sizeof job->name, first);
    else
        snprintf(job->name, sizeof job->name, "%.200s and %zu more", first, request->n_inputs - 1);
}

static hac_status fill(hac_submission *from, hacd_job *job, hac_error *err)
{
    const Hac__Client__SubmitQuery *request = from->request->submit_query;
    hac_status status = hac_query_run_take_spec(job, request->spec, err);
    if (status != HAC_OK)
        return status;
    hac_query_spec *spec = &hac_query_of(job)->spec;
    name_job(job, request);
    hac_query_of(job)->files_left_out = spec->files_left_out = request->files_left_out;
    spec->n_sources = request->n_inputs;
    for (size_t i = 0; i < request->n_inputs && status == HAC_OK; i++) {
        spec->sources[i] = spec->table ? request->spec->rows : request->inputs[i]->bytes;
        spec->files[i] = request->inputs[i]->bytes;
        spec->input_bytes += request->inputs[i]->bytes;
        status = take_input(from->session, job, request->inputs[i], i, from->frame, err);
    }
    if (status != HAC_OK)
        return status;
    job->bytes_in = spec->input_bytes;
    spec->bytes = spec->input_bytes;
    job->items = spec->table ? spec->sources[0] : spec->bytes;
    /* A description is answered by its result, wherever its source lies. */
    from->inline_input = spec->place == HAC_QUERY_INLINE ||
                         request->spec->describe == HAC__CLIENT__DESCRIPTION__DESCRIBE_COLUMNS ||
                         request->spec->describe == HAC__CLIENT__DESCRIPTION__DESCRIBE_FOOTERS;
    snprintf(from->what, sizeof from->what, "%s of %llu bytes of %s", request->spec->sort ? "sort" : "query",
             (unsigned long long)job->bytes_in, spec->format != NULL ? spec->format : "data");
    return HAC_OK;
}

/* Whether the chunks that were handed out are those at the front of the input. */
static bool is_at_front(const hacd_job *job)
{
    bool all = true; /* so far */
    for (size_t t = 0; t < job->plan->n_tasks; t++) {
        const hac_plan_task *task = &job->plan->tasks[t];
        if (!hac_query_is_codelet(task, "query.rows"))
            continue;
        if (job->run.tasks[t].n_lost > 0 || (!all && job->run.tasks[t].claimed > 0))
            return false;
        all = all && hac_plan_run_is_given_out(&job->run, job->plan, (uint32_t)t);
    }
    return true;
}

static uint64_t chunks_read(const hacd_job *job)
{
    uint64_t chunks = 0;
    for (size_t t = 0; t < job->plan->n_tasks; t++)
        if (hac_query_is_codelet(&job->plan->tasks[t], "query.rows"))
            chunks += job->run.tasks[t].done;
    return chunks;
}

/* Whether all that comes before the task in the input has ended. */
static bool ended_before(const hacd_job *job, uint32_t index)
{
    for (uint32_t t = 0; t < index; t++)
        if (!job->run.tasks[t].ended)
            return false;
    return true;
}

/* With a limit and no order, the first piece runs alone, because it may have all rows of the result; and what
 * follows the last row of the result is not read. */
static hacd_more wants_more(const hacd_job *job, uint32_t index)
{
    const hacd_query *state = hac_query_of(job);
    const hac_plan_task *task = &job->plan->tasks[index];
    if (!state->spec.ends_early ||
        !(hac_query_is_codelet(task, "query.rows") || hac_query_is_codelet(task, "query.quotes")))
        return HACD_MORE_NOW;
    bool enough = state->totals.partial_groups >= state->spec.last_row;
    if (job->run.n_in_flight > 0)
        return enough || state->in_turn || chunks_read(job) == 0 ? HACD_MORE_LATER : HACD_MORE_NOW;
    if (enough && (state->in_turn || is_at_front(job)))
        return HACD_MORE_NEVER;
    return state->in_turn && !ended_before(job, index) ? HACD_MORE_LATER : HACD_MORE_NOW;
}

/* With a limit, pieces begin small, as the first ones may have all rows, and grow with what has been read. */
static uint64_t piece_max(const hacd_job *job, uint32_t index)
{
    const hac_plan_task *task = &job->plan->tasks[index];
    if (!hac_query_of(job)->spec.ends_early || !hac_query_is_codelet(task, "query.rows"))
        return 0;
    uint64_t next = 2 * chunks_read(job);
    return next > task->grain ? next : task->grain;
}

/* What failed may come after the last row that is wanted. It does if the rows before it are enough, and these
 * are known only if nothing is read out of turn. */
static bool read_in_turn(hacd_job *job)
{
    hacd_query *state = hac_query_of(job);
    if (!state->spec.ends_early || state->in_turn || job->plan->query.engine != HAC_PLAN_ENGINE_ROWS)
        return false;
    state->in_turn = job->run.replan = true;
    hacd_job_note(job,
                  "some of its input cannot be read: planned anew, to read it in turn up to the last row");
    return true;
}

static bool task_failed(hacd_job *job, uint32_t index, const Hac__Executor__Done *done)
{
    bool is_first = !job->run.replan && job->code == HAC_OK;
    return (is_first && hac_query_is_of_source(&job->plan->tasks[index], done) && read_in_turn(job)) ||
           hac_query_run_task_failed(job, index, done);
}

static bool cuts_failed(const hacd_job *job, uint32_t index, const Hac__Executor__Done *done)
{
    const hac_plan_task *task = &job->plan->tasks[index];
    return hac_query_of(job)->in_turn && hac_query_is_codelet(task, "query.rows") &&
           hac_query_is_of_source(task, done);
}

#define QUERY_KIND(kind)                                                                                     \
    {                                                                                                        \
        .flow = kind, .state_bytes = sizeof(hac_query_holder), .fill = fill, .next_plan = next_plan,         \
        .task_done = hac_query_run_task_done, .cuts_failed = cuts_failed, .did_all = hac_query_run_did_all,  \
        .wants_more = wants_more, .piece_max = piece_max, .task_ended = hac_query_run_task_ended,            \
        .task_failed = task_failed, .receipt = receipt, .free_state = hac_query_run_end, .ended = ended,     \
        .over_limit = over_limit, .has_result = true, .sets_result_bytes = true, .user_errors = true,        \
        .in_order = true                                                                                     \
    }

static const hacd_job_kind query_kind = QUERY_KIND(HAC_FLOW_MAPREDUCE),
                           parquet_kind = QUERY_KIND(HAC_FLOW_PARQUET);

hac_status hacd_job_query_submit(hac_submission *from, hac_error *err)
{
    const Hac__Client__SubmitQuery *request = from->request->submit_query;
    bool parquet = request->spec->source->format == HAC_INPUT_PARQUET;
    return hac_submission_submit(from, parquet ? &parquet_kind : &query_kind, request->options, err);
}
