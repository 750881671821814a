/* SPDX-License-Identifier: Apache-2.0 */
#include "job_splits.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/query_layout.h"
#include "base/split_layout.h"
#include "split_rounds.h"
#include "submission.h"

/* ---- the splits ---------------------------------------------------------------------------------------- */

static void answer(hacd_job *job, hac_waiting_split *s)
{
    Hac__Client__SplitDone done = HAC__CLIENT__SPLIT_DONE__INIT;
    done.job = job->id;
    done.split = s->number;
    done.result_bytes = s->rows_bytes;
    done.enough = ((hacd_splits *)job->kind_state)->enough;
    if (job->owner != NULL)
        hac_session_send_split_done(job->owner, s->serial, &done, s->rows);
    hac_waiting_split_drop(job, s);
    ((hacd_splits *)job->kind_state)->answered++;
}

static void answer_through(hacd_job *job)
{
    hacd_splits *s = job->kind_state;
    for (size_t i = 0; i < s->n_through; i++)
        answer(job, &s->through[i]);
    s->n_through = 0;
}

static hac_waiting_split take_first(hacd_splits *s)
{
    hac_waiting_split first = s->queue[0];
    s->n_queued--;
    memmove(s->queue, s->queue + 1, s->n_queued * sizeof *s->queue);
    return first;
}

static void answer_first(hacd_job *job)
{
    hac_waiting_split first = take_first(job->kind_state);
    answer_through(job);
    answer(job, &first);
}

/* The splits of this round are to be answered, but not at once: a client that wakes up reads on, and if it
 * takes the processor from hacd, devices wait for their next round. `rows` (NULL: none) go with the first
 * answer; the session holds them. */
static void end_splits(hacd_job *job, hac_pool_buffer *rows, uint64_t rows_bytes)
{
    hacd_splits *s = job->kind_state;
    answer_through(job);
    if (rows != NULL)
        hac_pool_hold(rows); /* the session may release it before it is answered */
    s->queue[0].rows = rows;
    s->queue[0].rows_bytes = rows_bytes;
    if (s->part != 0)
        hac_waiting_split_advance(&s->queue[0], s->part);
    for (size_t n = s->part != 0 ? 0 : s->n_taken; n > 0; n--) {
        hac_waiting_split first = take_first(s);
        hac_waiting_split_let_go(job, &first);
        s->through[s->n_through++] = first;
    }
    hacd_job_answer_later(job);
}

static void refuse_all(hacd_job *job)
{
    hacd_splits *s = job->kind_state;
    hac_error err = HAC_ERROR_NONE;
    (void)hac_fail(&err, job->code != HAC_OK ? job->code : HAC_INVALID, "%s",
                   job->message[0] != '\0' ? job->message : "the job has ended");
    for (size_t i = 0; i < s->n_queued; i++) {
        if (job->owner != NULL)
            hac_session_send_failure(job->owner, s->queue[i].serial, &err, 0);
        hac_waiting_split_drop(job, &s->queue[i]);
    }
    s->n_queued = 0;
}

/* ---- memory -------------------------------------------------------------------------------------------- */

static hac_pool_buffer *find_buffer(const hacd_job *job, const hac_plan_buffer *wanted, uint64_t *ret_offset)
{
    const hacd_splits *s = job->kind_state;
    size_t n = strlen(HAC_QUERY_BUFFER_SPLIT);
    (void)ret_offset;
    if (strncmp(wanted->name, HAC_QUERY_BUFFER_SPLIT, n) == 0)
        return s->queue[wanted->name[n] - '0'].buffer;
    if (strcmp(wanted->name, HAC_QUERY_BUFFER_PARTIALS) == 0)
        return s->partials;
    return strcmp(wanted->name, HAC_QUERY_BUFFER_CARRY) == 0 ? s->carry : NULL;
}

/* A buffer of the running plan becomes the job's, in place of its previous one. */
static void keep(hacd_job *job, const char *name, hac_pool_buffer **ret)
{
    int index = hac_plan_find_buffer(job->plan, name);
    if (index < 0 || job->run.buffers[index] == NULL || job->run.buffers[index] == *ret)
        return;
    hac_pool_clear(ret);
    *ret = job->run.buffers[index];
    hac_pool_hold(*ret);
}

/* ---- rounds -------------------------------------------------------------------------------------------- */

/* Answers splits that come after the limit without reading them. */
static void pass_over(hacd_job *job)
{
    hacd_splits *s = job->kind_state;
    while (s->n_queued > 0 && s->enough)
        answer_first(job);
}

/* Undoes a round that was not completed. Its splits, and the partials of earlier rounds, are still there. */
static void take_back(hacd_job *job)
{
    hacd_splits *s = job->kind_state;
    if (s->n_taken > 0) {
        hac_query_of(job)->totals = s->before;
        hac_splice_buffers_copy(&job->splice, &s->splice_before);
    }
    s->n_taken = 0;
}

static hac_status next_plan(hacd_job *job, hac_error *err)
{
    hacd_splits *s = job->kind_state;
    struct hacd_query *run = hac_query_of(job);
    if (s->ended)
        return HAC_NOT_FOUND;
    hac_status usable = hacd_job_check_devices(job, err);
    if (usable != HAC_OK)
        return usable;
    take_back(job);
    hacd_job_clear_run(job);
    if (s->lacking) {
        s->lacking = false;
        return HAC_AGAIN;
    }
    run->spec.device_mask = hacd_job_allowed_devices(job);
    run->spec.memory = hac_split_rounds_memory(job, HAC_STREAM_MEMORY_OWN);
    s->all_memory = false;
    run->spec.limit = job->memory_limit;
    run->spec.round.beside = hac_split_rounds_splits_bytes(s);
    if (run->spec.device_mask == 0)
        return hac_fail(err, HAC_FAILED, "no device is left that can run this query");
    pass_over(job);
    return hac_split_rounds_plan(job, err);
}

/* ---- what tasks report --------------------------------------------------------------------------------- */

static void end_round(hacd_job *job)
{
    hacd_splits *s = job->kind_state;
    s->n_taken = 0;
    s->rounds++;
    hacd_job_add_earlier(job, hac_seconds_since(s->round_ns));
}

/* The partials of all splits of the round are complete. hac_query_of(job)->totals holds the reported values
 * that are summed over rounds: take_partials of query_run.c adds them, take_back subtracts them. */
static void aggregated(hacd_job *job)
{
    hacd_splits *s = job->kind_state;
    const hac_query_spec *spec = &hac_query_of(job)->spec;
    uint64_t needed = hac_query_of(job)->totals.needed;
    keep(job, HAC_QUERY_BUFFER_PARTIALS, &s->partials);
    s->memory.needed = needed > s->memory.needed ? needed : s->memory.needed;
    hac_query_of(job)->tries = 0;
    for (size_t i = 0; i < s->n_taken; i++)
        s->memory.held += spec->round.sets[i];
    end_splits(job, NULL, 0);
    end_round(job);
}

/* The rows of all splits of the round go with the answer to the first split. */
static hac_status gave_rows(hacd_job *job, uint64_t before, hac_error *err)
{
    hacd_splits *s = job->kind_state;
    hac_query_totals *totals = &hac_query_of(job)->totals;
    int index = hac_plan_find_buffer(job->plan, HAC_QUERY_BUFFER_RESULT);
    hac_pool_buffer *rows = NULL;
    uint64_t bytes = totals->result_bytes;
    if (bytes > 0 && job->owner != NULL) {
        rows = job->run.buffers[index];
        hac_pool_hold(rows);
        hac_pool_unreserve(rows);
        rows->passing = true;
        hac_status status = hac_session_hold(job->owner, rows, err);
        if (status != HAC_OK) {
            hac_pool_release(rows);
            return status;
        }
    }
    totals->result_rows += before;
    job->rows_bytes += bytes;
    s->memory.needed = totals->needed > s->memory.needed ? totals->needed : s->memory.needed;
    s->passed += totals->passed;
    s->enough = s->passed >= s->limit;
    hac_query_of(job)->tries = 0;
    end_splits(job, rows, bytes);
    end_round(job);
    return HAC_OK;
}

/* A better size for a partition's region, if the planned one was too small, or so large that memory is short
 * for what follows; 0: it was right. */
static uint64_t better_region(const hacd_job *job, uint64_t planned)
{
    const hac_query_spec *spec = &hac_query_of(job)->spec;
    uint64_t needed = (hac_query_of(job)->totals.group_region + 63) / 64 * 64;
    bool wasteful = planned > needed + needed / 2 && planned > spec->memory / 16 / spec->round.partitions;
    return needed > planned ? needed : wasteful && needed > 0 ? needed : 0;
}

static hac_status carried(hacd_job *job, uint32_t index, hac_error *err)
{
    hacd_splits *s = job->kind_state;
    const hac_query_totals *totals = &hac_query_of(job)->totals;
    uint64_t planned = HAC_PARAMS(hac_query_params, &job->plan->tasks[index])->group_region, region;
    if (totals->group_region > INT64_MAX / 8192)
        return hac_fail(err, HAC_INTERNAL, "a partition cannot need that many bytes");
    if ((region = better_region(job, planned)) != 0) {
        hac_query_of(job)->totals.groups = hac_query_of(job)->totals.group_region = 0;
        hac_status status = hac_query_run_resize_groups(job, region, err);
        return status == HAC_OK        ? HAC_AGAIN
               : status == HAC_REFUSED ? hac_query_run_too_many_groups(job, err)
                                       : status;
    }
    keep(job, HAC_QUERY_BUFFER_GROUPS, &s->carry);
    s->carry_region = planned;
    s->carried = totals->group_region;
    s->memory.carry = planned * hac_query_of(job)->spec.round.partitions;
    s->memory.held = 0;
    s->carries++;
    hacd_job_add_earlier(job, hac_seconds_since(s->round_ns));
    return HAC_OK;
}

static hac_status end_task(hacd_job *job, uint32_t index, hac_error *err)
{
    hacd_splits *s = job->kind_state;
    const hac_plan_task *task = &job->plan->tasks[index];
    uint64_t given = s->before.result_rows;
    if (hac_query_is_codelet(task, "query.carry"))
        return carried(job, index, err);
    if (hac_query_makes_partials(task) && !hac_split_rounds_gives_rows(job)) {
        if (!job->run.replan && hac_query_run_last_of_its_kind(job, index))
            aggregated(job);
        return HAC_OK;
    }
    hac_status status = hac_query_run_task_ended(job, index, err);
    if (status == HAC_REFUSED && s->memory.held > 0 && !s->tight) {
        s->tight = job->run.replan = true; /* the groups alone may fit */
        return HAC_OK;
    }
    if (status == HAC_REFUSED && hac_split_rounds_gives_rows(job) && s->n_taken > 1) {
        s->single = job->run.replan = true;
        return HAC_OK;
    }
    if (status != HAC_OK || job->run.replan)
        return status;
    if (hac_query_is_codelet(task, "query.gather"))
        return gave_rows(job, given, err);
    s->ended |= hac_query_is_codelet(task, "query.finish") || hac_query_is_codelet(task, "query.whole");
    return HAC_OK;
}

/* Other jobs may free the memory that a task lacks. The round is done again then. */
static hac_status task_ended(hacd_job *job, uint32_t index, hac_error *err)
{
    hac_status status = end_task(job, index, err);
    if (status != HAC_REFUSED || !hac_stream_memory_must_wait(job))
        return status;
    ((hacd_splits *)job->kind_state)->lacking = job->run.replan = true;
    return HAC_OK;
}

/* ---- the end ------------------------------------------------------------------------------------------- */

static void ended(hacd_job *job)
{
    hacd_splits *s = job->kind_state;
    if (job->state == HAC_JOB_DONE && job->plan != NULL)
        hac_query_run_note_remarks(job);
    if (job->plan != NULL && s->any)
        hac_split_rounds_describe_all(job);
    if (hac_query_of(job)->totals.rows > 0)
        job->items = hac_query_of(job)->totals.rows;
    answer_through(job);
    while (job->state == HAC_JOB_DONE && s->n_queued > 0)
        answer_first(job);
    refuse_all(job);
    hac_pool_clear(&s->partials);
    hac_pool_clear(&s->carry);
    hac_stream_memory_end(job);
}

static void free_state(hacd_job *job)
{
    hacd_splits *s = job->kind_state;
    hac_stream_memory_end(job);
    for (size_t i = 0; i < s->n_queued; i++)
        hac_waiting_split_drop(job, &s->queue[i]);
    for (size_t i = 0; i < s->n_through; i++)
        hac_waiting_split_drop(job, &s->through[i]);
    hac_pool_clear(&s->partials);
    hac_pool_clear(&s->carry);
    hac_splice_buffers_clear(&s->splice_before);
    hac_query_run_end(job);
}

static void progress(const hacd_job *job, double elapsed, double *ret_rate, char *note, size_t capacity)
{
    const hacd_splits *s = job->kind_state;
    uint64_t rows = hac_query_of(job)->totals.rows;
    *ret_rate = elapsed > 0 ? (double)rows / elapsed : 0;
    snprintf(note, capacity, "%.1f MiB, %llu rows so far", (double)s->bytes / (double)(UINT64_C(1) << 20),
             (unsigned long long)rows);
}

static void receipt(const hacd_job *job, hac_text *text)
{
    const hacd_splits *s = job->kind_state;
    hac_json_open(text, "query", '{');
    hac_query_run_receipt(job, text);
    hac_json_unsigned(text, "splits", s->answered);
    hac_json_unsigned(text, "rounds", s->rounds);
    hac_json_unsigned(text, "carries", s->carries);
    hac_json_number(text, "round_seconds", job->earlier.seconds);
    hac_json_close(text, '}');
    /* of all rounds: nobody clears them in between */
    hac_splice_buffers_json(&job->splice, &s->client, text);
}

/* ---- requests ------------------------------------------------------------------------------------------ */

/* Recommends sizes of splits to the client. */
static void advise(hac_submission *from, const hacd_job *job)
{
    uint64_t memory = hac_user_max(job->user, HAC_SLOT_MEMORY);
    if (job->memory_limit != 0 && job->memory_limit < memory)
        memory = job->memory_limit;
    from->split_bytes =
        hac_plan_split_bytes(hac_machine_view_now(job->jobs->machine), hacd_job_allowed_devices(job));
    from->range_bytes = hac_plan_range_bytes(from->split_bytes, memory);
}

static hac_status fill(hac_submission *from, hacd_job *job, hac_error *err)
{
    const Hac__Client__SubmitQuery *request = from->request->submit_query;
    const Hac__Client__QuerySpec *spec = request->spec;
    hacd_splits *s = job->kind_state;
    hac_stream_memory_begin(job, &s->stream);
    hac_status status = hac_query_run_take_spec(job, spec, err);
    if (status != HAC_OK)
        return status;
    hac_query_of(job)->in_splits = true;
    hac_query_of(job)->files_left_out = request->files_left_out;
    hac_query_of(job)->spec.place = HAC_QUERY_IN_SPLITS; /* plan_nothing changes it if no split comes */
    s->fixed = spec->source->format == HAC_INPUT_FIXED;
    s->ordered = spec->ordered;
    s->output = spec->output_format;
    s->limit = spec->has_limit ? spec->limit : UINT64_MAX;
    hac_utf8_copy_line(job->name, sizeof job->name, request->name);
    if (job->detached)
        return hac_fail(err, HAC_INVALID,
                        "a job whose input comes in splits cannot be detached: they come "
                        "from its client");
    if (hac_split_rounds_gives_rows(job) && hac_split_rounds_check_rows(s, err) != HAC_OK)
        return HAC_INVALID;
    hac_query_of(job)->spec.limit = job->memory_limit;
    advise(from, job);
    const char *name = hac_query_of(job)->spec.format;
    snprintf(from->what, sizeof from->what, "%s of %s in splits", request->spec->sort ? "sort" : "query",
             name != NULL ? name : "data");
    return HAC_OK;
}

static const hacd_job_kind splits_kind = {.flow = HAC_FLOW_SPLICE,
                                          .state_bytes = sizeof(hacd_splits),
                                          .fill = fill,
                                          .next_plan = next_plan,
                                          .buffer = find_buffer,
                                          .task_done = hac_query_run_task_done,
                                          .did_all = hac_query_run_did_all,
                                          .task_ended = task_ended,
                                          .must_wait = hac_stream_memory_must_wait,
                                          .waits_for_memory = hac_stream_memory_waits,
                                          .check = hac_stream_memory_check,
                                          .over_limit = hac_split_rounds_over_limit,
                                          .task_failed = hac_query_run_task_failed,
                                          .receipt = receipt,
                                          .free_state = free_state,
                                          .ended = ended,
                                          .answer = answer_through,
                                          .progress = progress,
                                          .has_result = true,
                                          .sets_result_bytes = true,
                                          .user_errors = true,
                                          .in_order = true};

hac_status hacd_job_splits_submit(hac_submission *from, hac_error *err)
{
    return hac_submission_submit(from, &splits_kind, from->request->submit_query->options, err);
}

static hac_status check_turn(const hacd_job *job, hac_error *err)
{
    const hacd_splits *s = job->kind_state;
    if (hacd_job_ended(job) && job->state != HAC_JOB_DONE)
        return hac_fail(err, job->code, "%s", job->message);
    /* an earlier piece may be the cause: the split is answered when that is known */
    bool may_change = job->run.failed;
    if ((job->code != HAC_OK && !may_change) || job->cancelling)
        return hac_fail(err, job->cancelling ? HAC_CANCELLED : job->code, "%s", job->message);
    if (s->last || (s->ended && !s->enough))
        return hac_fail(err, HAC_INVALID, "job %llu has had its last split already",
                        (unsigned long long)job->id);
    if (s->n_queued == HAC_SPLITS_IN_FLIGHT_MAX)
        return hac_fail(err, HAC_INVALID, "%d splits of job %llu are not answered yet: wait for one",
                        HAC_SPLITS_IN_FLIGHT_MAX, (unsigned long long)job->id);
    return HAC_OK;
}

/* For a split without data, or one that is not read. */
static void answer_at_once(hac_session *session, uint64_t serial, hacd_job *job)
{
    hacd_splits *s = job->kind_state;
    Hac__Client__SplitDone done = HAC__CLIENT__SPLIT_DONE__INIT;
    done.job = job->id;
    done.split = s->given;
    done.enough = s->enough;
    hac_session_send_split_done(session, serial, &done, NULL);
}

hac_status hacd_job_splits_buffer(const hac_submission *from, uint64_t id, uint64_t bytes,
                                  hac_pool_buffer **ret, hac_error *err)
{
    hacd_job *job = NULL;
    hac_status status = hac_submission_find_job(from, id, &splits_kind, "splits", &job, NULL);
    /* the job has ended, and its client has not read that yet */
    if (status != HAC_OK || job->reservation == NULL)
        return hac_pool_alloc(from->session->user, bytes, false, ret, err);
    const hacd_splits *s = job->kind_state;
    bool needed = s->n_queued == 0 && s->n_through == 0;
    return hac_stream_memory_split(job, bytes, needed, ret, &from->session->retry_seconds, err);
}

/* A slot that no split with data has. */
static uint8_t free_slot(const hacd_splits *s)
{
    uint32_t taken = 0;
    uint8_t slot = 0;
    for (size_t i = 0; i < s->n_queued; i++)
        taken |= UINT32_C(1) << s->queue[i].slot;
    while ((taken >> slot & 1) != 0)
        slot++;
    return slot;
}

hac_status hacd_job_splits_append(hac_submission *from, hac_error *err)
{
    const Hac__Client__AppendSplit *request = from->request->append_split;
    hacd_job *job = NULL;
    hac_status status = hac_submission_find_job(from, request->job, &splits_kind, "splits", &job, err);
    if (status == HAC_OK)
        status = check_turn(job, err);
    if (status != HAC_OK)
        return status;
    hacd_splits *s = job->kind_state;
    hac_waiting_split new = {.bytes = request->bytes,
                             .sets = request->sets > 0 ? request->sets : 1, /* the header is read, too */
                             .set_bytes = request->sets > 0 ? request->set_bytes : HAC_SPLIT_SET_BYTES,
                             .serial = from->request->serial,
                             .slot = free_slot(s),
                             .number = s->given};
    if ((request->buffer != 0 || request->in_file) && !s->enough) {
        if (request->in_file && !s->fixed)
            return hac_fail(err, HAC_INVALID, "a split in a file has records of fixed width");
        status = hac_waiting_split_take(from->session, job, request, from->frame, &new, err);
        if (status != HAC_OK)
            return status;
        s->queue[s->n_queued++] = new;
        s->any = true;
        s->bytes += request->input_bytes;
        job->bytes_in = s->bytes;
    } else {
        answer_at_once(from->session, from->request->serial, job);
    }
    s->given++;
    s->last |= request->last;
    hac_stream_memory_split_came(job);
    s->client = (hac_splice_client){.reading = request->reading_ns,
                                    .input_wait = request->input_wait_ns,
                                    .device_wait = request->device_wait_ns,
                                    .writing = request->writing_ns};
    hacd_job_wake(job);
    return HAC_OK;
}
