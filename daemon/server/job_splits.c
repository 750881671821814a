/* SPDX-License-Identifier: Apache-2.0 */
#include "job_splits.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/query_layout.h"
#include "base/split_layout.h"
#include "job_input.h"
#include "query_run.h"
#include "scheduler.h"
#include "server.h"
#include "stream_memory.h"
#include "waiting_split.h"

#define ROUND_BYTES (UINT64_C(16) << 20) /* splits that come to so much are enough for one round … */
#define ROUND_LARGE 2                    /* … or so many of any size: as many more may wait meanwhile */

#define CARRY_ALL   4                    /* of a carry: it twice, partials, and the result */
#define SPLIT_LEAST (UINT64_C(17) << 16) /* of what clients send when memory is short: 1 MiB, and a bit */

/* By hac_format and hac_output_format (expr/query.h). */
#define FORMAT_CSV     2
#define FORMAT_TSV     3
#define FORMAT_FIXED   8
#define OUTPUT_TABLE   2
#define OUTPUT_PARQUET 3

typedef hac_waiting_split split;

typedef struct hac_splits {
    split queue[HAC_SPLITS_IN_FLIGHT_MAX]; /* unanswered, oldest first … */
    size_t n_queued;
    size_t n_taken;                          /* … of which the running plan has so many */
    uint32_t part;                           /* … of the first one only so many data sets; 0: all */
    split through[HAC_SPLITS_IN_FLIGHT_MAX]; /* to be answered when the next round is under way */
    size_t n_through;
    bool last;          /* no more will come */
    bool any;           /* there was one */
    bool needs_source;  /* to be compiled */
    bool fixed;         /* records are of fixed width */
    bool ordered;       /* rows are */
    uint32_t output;    /* format */
    uint64_t limit;     /* of rows; UINT64_MAX: none */
    bool all_memory;    /* the next plan is made for all that is free … */
    bool in_parts;      /* … which was too little for what comes of all data sets of a split in a file */
    bool single;        /* rows of several splits at once do not fit */
    bool tight;         /* partials and the result do not fit side by side */
    bool enough, ended; /* the limit is reached; the result is there */
    uint64_t given, answered;
    hac_query_totals before;          /* this round … */
    hac_splice_buffers splice_before; /* … likewise of job->splice */

    hac_stream_memory stream;
    bool lacking; /* memory, in the middle of a round */
    hac_round_memory memory;
    hac_pool_buffer *partials, *carry; /* held; NULL: none yet */
    uint64_t carry_region;             /* of a partition in the carry; 0: there is none … */
    uint64_t carried;                  /* … and what the largest one has of it */
    uint64_t rounds, carries;
    uint64_t bytes;    /* of the inputs */
    uint64_t round_ns; /* when it began */
    hac_splice_client client;
} splits;

/* ---- the splits ---------------------------------------------------------------------------------------- */

static void answer(hac_job *job, split *s)
{
    Hac__Client__SplitDone done = HAC__CLIENT__SPLIT_DONE__INIT;
    done.job = job->id;
    done.split = s->number;
    done.result_bytes = s->rows_bytes;
    done.enough = job->query->rounds->enough;
    if (job->owner != NULL)
        hac_session_send_split_done(job->owner, s->serial, &done, s->rows);
    hac_waiting_split_drop(job, s);
    job->query->rounds->answered++;
}

static void answer_through(hac_job *job)
{
    splits *s = job->query->rounds;
    for (size_t i = 0; i < s->n_through; i++)
        answer(job, &s->through[i]);
    s->n_through = 0;
}

static split take_first(splits *s)
{
    split first = s->queue[0];
    s->n_queued--;
    memmove(s->queue, s->queue + 1, s->n_queued * sizeof *s->queue);
    return first;
}

static void answer_first(hac_job *job)
{
    split first = take_first(job->query->rounds);
    answer_through(job);
    answer(job, &first);
}

/* The splits of this round are answered, but not yet: a client that is woken reads on at once, and where it
 * takes the processor from hacd, devices wait for their next round until it has done so. `rows` (NULL: none)
 * go with the first, whose session holds them. */
static void end_splits(hac_job *job, hac_pool_buffer *rows, uint64_t rows_bytes)
{
    splits *s = job->query->rounds;
    answer_through(job);
    if (rows != NULL)
        hac_pool_hold(rows); /* its session may let go of it before it is answered */
    s->queue[0].rows = rows;
    s->queue[0].rows_bytes = rows_bytes;
    if (s->part != 0)
        hac_waiting_split_advance(&s->queue[0], s->part);
    for (size_t n = s->part != 0 ? 0 : s->n_taken; n > 0; n--) {
        split first = take_first(s);
        hac_waiting_split_let_go(job, &first);
        s->through[s->n_through++] = first;
    }
    hac_job_answer_later(job);
}

static void refuse_all(hac_job *job)
{
    splits *s = job->query->rounds;
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

static uint64_t bytes_of(const hac_pool_buffer *buffer)
{
    return buffer != NULL ? buffer->bytes : 0;
}

/* Bytes that partials, carry, groups and result may take together: what is left of the job's limit, or of
 * what its user may have, by the splits. */
static uint64_t memory_for(const hac_job *job, hac_stream_memory_step step)
{
    const splits *s = job->query->rounds;
    uint64_t room = hac_stream_memory_for_plan(job, step, CARRY_ALL * bytes_of(s->carry)), own = 0;
    for (size_t i = 0; i < s->n_queued; i++)
        own += bytes_of(s->queue[i].buffer);
    own = job->memory_limit > own ? job->memory_limit - own : 1;
    return job->memory_limit != 0 && own < room ? own : room | 1;
}

/* Bytes of the splits that may be there at once: five (client-lib), as large as the largest so far. */
static uint64_t splits_most(const splits *s)
{
    uint64_t largest = SPLIT_LEAST;
    for (size_t i = 0; i < s->n_queued; i++) {
        uint64_t bytes = bytes_of(s->queue[i].buffer);
        largest = bytes > largest ? bytes : largest;
    }
    return 5 * largest;
}

/* How many groups come nobody knows; all else is known from the start. */
static hac_status over_limit(hac_job *job, uint64_t needed, hac_error *err)
{
    const splits *s = job->query->rounds;
    bool groups = job->query->spec.keys > 0 && (s->memory.held > 0 || s->carry != NULL);
    if (groups)
        return hac_query_run_too_many_groups(job, err);
    for (size_t i = 0; i < s->n_taken; i++) {
        uint64_t bytes = bytes_of(s->queue[i].buffer);
        needed -= bytes < needed ? bytes : needed;
    }
    return hac_scheduler_over_limit(job, hac_query_with_splits(needed, splits_most(s)), err);
}

static hac_pool_buffer *find_buffer(const hac_job *job, const hac_plan_buffer *wanted)
{
    const splits *s = job->query->rounds;
    size_t n = strlen(HAC_QUERY_BUFFER_SPLIT);
    if (strncmp(wanted->name, HAC_QUERY_BUFFER_SPLIT, n) == 0)
        return s->queue[wanted->name[n] - '0'].buffer;
    if (strcmp(wanted->name, HAC_QUERY_BUFFER_PARTIALS) == 0)
        return s->partials;
    return strcmp(wanted->name, HAC_QUERY_BUFFER_CARRY) == 0 ? s->carry : NULL;
}

/* A buffer of the running plan becomes the job's, in place of another one. */
static void keep(hac_job *job, const char *name, hac_pool_buffer **ret)
{
    int index = hac_plan_find_buffer(job->plan, name);
    if (index < 0 || job->run.buffers[index] == NULL || job->run.buffers[index] == *ret)
        return;
    hac_pool_clear(ret);
    *ret = job->run.buffers[index];
    hac_pool_hold(*ret);
}

/* ---- rounds -------------------------------------------------------------------------------------------- */

static bool gives_rows(const hac_job *job)
{
    return (job->query->spec.flags & HAC_COMPILED_AGGREGATES) == 0;
}

/* The splits that the next round takes: the first, and those behind it whose data sets fit: `large` in all,
 * or as many as come to a round's bytes. */
static void take_splits(hac_job *job, size_t large, uint64_t room)
{
    splits *s = job->query->rounds;
    hac_query_spec *spec = &job->query->spec;
    uint64_t bytes = 0, sets = 0;
    spec->round.set_bytes = 0;
    s->n_taken = 0;
    while (s->n_taken < s->n_queued && s->n_taken < HAC_ROUND_SPLITS_MAX) {
        const split *next = &s->queue[s->n_taken];
        bool enough = s->n_taken >= large && bytes + next->bytes > ROUND_BYTES;
        if (s->n_taken > 0 && (enough || sets + next->sets > room))
            break;
        uint32_t n = s->part != 0 ? s->part : next->sets;
        spec->sources[s->n_taken] = s->part != 0 ? n * next->file.set_bytes : next->bytes;
        spec->round.sets[s->n_taken] = n;
        spec->round.files[s->n_taken] = next->file;
        spec->round.slots[s->n_taken] = next->slot;
        if (next->set_bytes > spec->round.set_bytes)
            spec->round.set_bytes = next->set_bytes;
        free(job->query->names[next->slot]);
        job->query->names[next->slot] = strdup(next->name);
        bytes += spec->sources[s->n_taken];
        sets += n;
        s->n_taken++;
        if (s->part != 0)
            break;
    }
    spec->n_sources = s->n_taken;
    spec->bytes = bytes;
}

/* The job is told of by its last plan: what merges also has the devices and the choice of what aggregated. */
static void inherit(hac_plan *plan, hac_plan *from)
{
    plan->query.flow_c = from->query.flow_c; /* of all rounds */
    if (plan->n_candidates > 0 || from->n_candidates == 0)
        return;
    plan->candidates = from->candidates;
    plan->n_candidates = from->n_candidates;
    from->candidates = NULL;
    from->n_candidates = 0;
    plan->k = from->k;
    plan->k_source = from->k_source;
    plan->query.hot_keys = from->query.hot_keys;
    memcpy(plan->query.way, from->query.way, sizeof plan->query.way);
    memcpy(plan->query.remark, from->query.remark, sizeof plan->query.remark);
    for (size_t d = 0; d < from->n_devices; d++) {
        size_t at = 0;
        while (at < plan->n_devices && plan->devices[at].machine_index != from->devices[d].machine_index)
            at++;
        if (at == HAC_PLAN_MAX_DEVICES)
            continue;
        plan->devices[at] = from->devices[d];
        plan->n_devices += at == plan->n_devices;
    }
}

/* The job is told of by the plan of its current round, or of its last one: that has the sizes of all of it.
 */
static void tell_of_all(hac_job *job)
{
    const splits *s = job->query->rounds;
    hac_query_info *info = &job->plan->query;
    info->bytes = s->bytes;
    info->sources = 1;
}

static hac_status start(hac_job *job, hac_round_stage stage, hac_error *err)
{
    hac_query_spec *spec = &job->query->spec;
    splits *s = job->query->rounds;
    hac_plan *plan = NULL;
    spec->place = HAC_QUERY_IN_SPLITS;
    spec->compiled_bytes = job->query->query_bytes;
    spec->round.stage = stage;
    spec->round.generation = (stage == HAC_ROUND_ROWS ? s->rounds : s->carries) + 1;
    spec->round.held = s->memory.held;
    spec->round.carry = s->carry_region;
    if (spec->n_sources == 0)
        spec->n_sources = 1;
    hac_status status = hac_plan_query_round(hac_server_machine(job->server), spec, &plan, err);
    if (status != HAC_OK)
        return status;
    if (job->plan != NULL)
        inherit(plan, job->plan);
    bool first = !job->query->planned && stage != HAC_ROUND_COMPILE;
    hac_job_set_plan(job, plan);
    tell_of_all(job);
    plan->query.rounds = s->rounds + 1;
    s->before = job->query->totals;
    hac_splice_buffers_copy(&s->splice_before, &job->splice);
    job->query->groups_before = s->before.partial_groups;
    hac_query_totals *totals = &job->query->totals;
    totals->needed = totals->groups = totals->group_region = totals->output_bytes = 0;
    job->query->result_room = 0;
    s->round_ns = hac_now_ns();
    if (first)
        hac_query_run_note_plan(job);
    job->query->planned = stage != HAC_ROUND_COMPILE;
    return hac_query_run_set_data(job, err);
}

static hac_status plan_compile(hac_job *job, hac_error *err)
{
    splits *s = job->query->rounds;
    hac_query_spec *spec = &job->query->spec;
    if (s->needs_source) {
        take_splits(job, 1, 0);
        return start(job, HAC_ROUND_COMPILE, err);
    }
    /* without a source, or one of no bytes */
    spec->place = HAC_QUERY_INLINE;
    spec->round.stage = HAC_ROUND_NONE;
    spec->n_sources = 1;
    spec->sources[0] = 0;
    return hac_query_run_plan_compile(job, err);
}

/* Rows of each split as it comes: what needs all of them cannot be. */
static hac_status check_rows(const splits *s, hac_error *err)
{
    const char *why = s->ordered                    ? "in an order"
                      : s->output == OUTPUT_PARQUET ? "as Parquet"
                      : s->output == OUTPUT_TABLE   ? "as a table"
                                                    : NULL;
    return why == NULL ? HAC_OK
                       : hac_fail(err, HAC_INVALID,
                                  "rows of splits cannot be given %s: all input is needed first", why);
}

/* A round for rows over the first split, and those behind it that have at most so many data sets with it. */
static hac_status fit_rows(hac_job *job, uint64_t most, hac_error *err)
{
    splits *s = job->query->rounds;
    hac_query_spec *spec = &job->query->spec;
    take_splits(job, 1, most);
    s->memory.sets = 0;
    for (size_t i = 0; i < s->n_taken; i++)
        s->memory.sets += spec->round.sets[i];
    s->memory.set_bytes = spec->round.set_bytes;
    return hac_round_fit(spec, &s->memory, err);
}

/* Rows take as much memory as their splits, and more than one of these may be too much. */
static hac_status plan_rows(hac_job *job, hac_error *err)
{
    const splits *s = job->query->rounds;
    job->query->spec.round.rows_given = job->query->totals.result_rows;
    hac_status status = fit_rows(job, s->single ? s->queue[0].sets : HAC_ROUND_ROOM_MAX, err);
    if (status == HAC_REFUSED && s->n_taken > 1)
        status = fit_rows(job, s->queue[0].sets, err);
    return status == HAC_OK ? start(job, HAC_ROUND_ROWS, err) : status;
}

/* As soon as it is known that a data set has few groups, and before a carry has been written. */
static void fewer_partitions(hac_job *job)
{
    const splits *s = job->query->rounds;
    hac_query_spec *spec = &job->query->spec;
    uint32_t partitions = hac_round_partitions(spec, &s->memory);
    if (s->memory.carry == 0 && partitions < spec->round.partitions)
        spec->round.partitions = partitions;
}

/* Partials and carry to a carry, or to groups. */
static hac_status plan_merge(hac_job *job, hac_round_stage stage, hac_error *err)
{
    splits *s = job->query->rounds;
    hac_query_spec *spec = &job->query->spec;
    hac_status status = HAC_OK;
    if (s->partials == NULL && !s->tight) /* there was no record */
        status = hac_round_fit(spec, &s->memory, err);
    fewer_partitions(job);
    spec->n_sources = 0;
    spec->bytes = s->memory.held * spec->round.region;
    spec->round.group_region = hac_round_group_region(spec, &s->memory, s->carried);
    return status == HAC_OK ? start(job, stage, err) : status;
}

/* Room for those of the first split, or of as many of its data sets as there is room for. */
static hac_status fit_partials(splits *s, hac_query_spec *spec, hac_error *err)
{
    hac_status status = hac_round_fit(spec, &s->memory, err);
    while (status == HAC_REFUSED && s->all_memory && s->queue[0].file.there && s->memory.sets > 1) {
        s->in_parts = true;
        s->memory.sets /= 2;
        status = hac_round_fit(spec, &s->memory, err);
    }
    return status;
}

static hac_status plan_aggregate(hac_job *job, hac_error *err)
{
    splits *s = job->query->rounds;
    hac_query_spec *spec = &job->query->spec;
    bool some = s->in_parts && s->partials != NULL && s->queue[0].file.there;
    s->memory.sets = some && s->queue[0].sets > spec->round.room ? spec->round.room : s->queue[0].sets;
    s->memory.set_bytes = s->queue[0].set_bytes;
    hac_round_stage next = s->partials != NULL ? hac_round_next(spec, &s->memory) : HAC_ROUND_NONE;
    hac_status status = HAC_OK;
    if (next == HAC_ROUND_CARRY)
        return plan_merge(job, HAC_ROUND_CARRY, err);
    if (next == HAC_ROUND_NONE) {
        hac_pool_clear(&s->partials);
        status = fit_partials(s, spec, err);
    }
    s->part = s->memory.sets < s->queue[0].sets ? (uint32_t)s->memory.sets : 0;
    fewer_partitions(job);
    take_splits(job, ROUND_LARGE, spec->round.room - s->memory.held);
    return status == HAC_OK ? start(job, HAC_ROUND_AGGREGATE, err) : status;
}

/* Nothing is looked for in what comes behind the limit. */
static void pass_over(hac_job *job)
{
    splits *s = job->query->rounds;
    while (s->n_queued > 0 && s->enough)
        answer_first(job);
}

/* What never had a split is an input of no bytes. */
static hac_status plan_nothing(hac_job *job, uint32_t devices, hac_error *err)
{
    hac_query_spec *spec = &job->query->spec;
    spec->place = HAC_QUERY_INLINE;
    spec->round.stage = HAC_ROUND_NONE;
    spec->round.generation = 0;
    spec->n_sources = 1;
    spec->sources[0] = spec->bytes = 0;
    return hac_query_run_next_plan(job, devices, err);
}

static hac_status plan_end(hac_job *job, uint32_t devices, hac_error *err)
{
    splits *s = job->query->rounds;
    if (!s->any)
        return plan_nothing(job, devices, err);
    if (!gives_rows(job) && s->tight && s->memory.held > 0)
        return plan_merge(job, HAC_ROUND_CARRY, err);
    if (!gives_rows(job)) {
        if (s->tight) {
            hac_pool_clear(&s->partials);
            job->query->spec.round.room = 0;
        }
        return plan_merge(job, HAC_ROUND_MERGE, err);
    }
    s->ended = true;
    job->result_bytes = 0; /* its rows went with their splits */
    return HAC_NOT_FOUND;
}

/* A round that did not come to its end is made anew: its splits are there, and the partials before it. */
static void take_back(hac_job *job)
{
    splits *s = job->query->rounds;
    if (s->n_taken > 0 && job->query->compiled) {
        job->query->totals = s->before;
        hac_splice_buffers_copy(&job->splice, &s->splice_before);
    }
    s->n_taken = 0;
}

static hac_status plan_round(hac_job *job, hac_error *err)
{
    const splits *s = job->query->rounds;
    if (s->n_queued > 0)
        return gives_rows(job) ? plan_rows(job, err) : plan_aggregate(job, err);
    if (s->last || s->enough)
        return plan_end(job, job->query->spec.device_mask, err);
    return HAC_AGAIN;
}

/* Within what the job has, if that will do; where even all that is free is too little, it may be more soon.
 */
static hac_status plan_within(hac_job *job, hac_error *err)
{
    hac_query_spec *spec = &job->query->spec;
    hac_status status = plan_round(job, err);
    for (hac_stream_memory_step step = HAC_STREAM_MEMORY_HALF;
         status == HAC_REFUSED && step < HAC_STREAM_MEMORY_STEPS; step++) {
        spec->memory = memory_for(job, step);
        job->query->rounds->all_memory = step == HAC_STREAM_MEMORY_ALL;
        status = plan_round(job, err);
    }
    if (status == HAC_OK)
        hac_stream_memory_planned(job, spec->memory);
    if (status != HAC_REFUSED)
        return status;
    job->query->rounds->n_taken = 0; /* no round over them has begun */
    return hac_stream_memory_must_wait(job) ? HAC_AGAIN : status;
}

static hac_status next_plan(hac_job *job, hac_error *err)
{
    splits *s = job->query->rounds;
    struct hac_query_run *run = job->query;
    if (s->ended)
        return HAC_NOT_FOUND;
    if (hac_devices_usable(&job->server->devices) == 0)
        return hac_fail(err, HAC_FAILED, "no usable OpenCL device: %.400s",
                        hac_devices_why_none(&job->server->devices));
    take_back(job);
    hac_job_clear_run(job);
    if (s->lacking) {
        s->lacking = false;
        return HAC_AGAIN;
    }
    run->spec.device_mask = hac_job_allowed_devices(job);
    run->spec.memory = memory_for(job, HAC_STREAM_MEMORY_OWN);
    s->all_memory = false;
    run->spec.limit = job->memory_limit;
    run->spec.round.beside = splits_most(s);
    if (run->spec.device_mask == 0)
        return hac_fail(err, HAC_FAILED, "no device is left that can run this query");
    if (!run->compiled && (s->n_queued > 0 || !s->needs_source))
        return plan_compile(job, err);
    if (run->compiled && gives_rows(job) && check_rows(s, err) != HAC_OK)
        return HAC_INVALID;
    if (run->compiled)
        pass_over(job);
    return plan_within(job, err);
}

/* ---- what tasks report --------------------------------------------------------------------------------- */

static void end_round(hac_job *job)
{
    splits *s = job->query->rounds;
    s->n_taken = 0;
    s->rounds++;
    hac_job_add_earlier(job, hac_seconds_since(s->round_ns));
}

/* The partials of all splits of the round are there. Values of task reports that are to be added up over
 * rounds are in job->query->totals by now: take_partials of job_query.c adds them, take_back takes them out.
 */
static void aggregated(hac_job *job)
{
    splits *s = job->query->rounds;
    const hac_query_spec *spec = &job->query->spec;
    uint64_t needed = job->query->totals.needed;
    keep(job, HAC_QUERY_BUFFER_PARTIALS, &s->partials);
    s->memory.needed = needed > s->memory.needed ? needed : s->memory.needed;
    job->query->tries = 0;
    for (size_t i = 0; i < s->n_taken; i++)
        s->memory.held += spec->round.sets[i];
    end_splits(job, NULL, 0);
    end_round(job);
}

/* Rows of all splits of the round go with the first one's answer. */
static hac_status gave_rows(hac_job *job, uint64_t before, hac_error *err)
{
    splits *s = job->query->rounds;
    hac_query_totals *totals = &job->query->totals;
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
    s->enough = totals->result_rows >= s->limit;
    job->query->tries = 0;
    end_splits(job, rows, bytes);
    end_round(job);
    return HAC_OK;
}

/* Bytes of a partition's region, where those planned were too few, or so many that memory is short for what
 * follows; 0: they do. */
static uint64_t better_region(const hac_job *job, uint64_t planned)
{
    const hac_query_spec *spec = &job->query->spec;
    uint64_t needed = (job->query->totals.group_region + 63) / 64 * 64;
    bool wasteful = planned > needed + needed / 2 && planned > spec->memory / 16 / spec->round.partitions;
    return needed > planned ? needed : wasteful && needed > 0 ? needed : 0;
}

static hac_status carried(hac_job *job, uint32_t index, hac_error *err)
{
    splits *s = job->query->rounds;
    const hac_query_totals *totals = &job->query->totals;
    uint64_t planned = job->plan->tasks[index].params[HAC_QUERY_PARAM_GROUP_REGION], region;
    if (totals->group_region > INT64_MAX / 8192)
        return hac_fail(err, HAC_INTERNAL, "a partition cannot need that many bytes");
    if ((region = better_region(job, planned)) != 0) {
        job->query->totals.groups = job->query->totals.group_region = 0;
        hac_status status = hac_query_run_resize_groups(job, region, err);
        return status == HAC_OK        ? HAC_AGAIN
               : status == HAC_REFUSED ? hac_query_run_too_many_groups(job, err)
                                       : status;
    }
    keep(job, HAC_QUERY_BUFFER_GROUPS, &s->carry);
    s->carry_region = planned;
    s->carried = totals->group_region;
    s->memory.carry = planned * job->query->spec.round.partitions;
    s->memory.held = 0;
    s->carries++;
    hac_job_add_earlier(job, hac_seconds_since(s->round_ns));
    return HAC_OK;
}

static hac_status end_task(hac_job *job, uint32_t index, hac_error *err)
{
    splits *s = job->query->rounds;
    const hac_plan_task *task = &job->plan->tasks[index];
    uint64_t given = s->before.result_rows;
    if (hac_query_is_codelet(task, "query.carry"))
        return carried(job, index, err);
    if (hac_query_makes_partials(task) && !gives_rows(job)) {
        if (!job->run.replan && hac_query_run_last_of_its_kind(job, index))
            aggregated(job);
        return HAC_OK;
    }
    hac_status status = hac_query_run_task_ended(job, index, err);
    if (status == HAC_REFUSED && s->memory.held > 0 && !s->tight) {
        s->tight = job->run.replan = true; /* the groups alone may do */
        return HAC_OK;
    }
    if (status == HAC_REFUSED && gives_rows(job) && s->n_taken > 1) {
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

/* What a task lacks other jobs may give back: the round is then done again. */
static hac_status task_ended(hac_job *job, uint32_t index, hac_error *err)
{
    hac_status status = end_task(job, index, err);
    if (status != HAC_REFUSED || !hac_stream_memory_must_wait(job))
        return status;
    job->query->rounds->lacking = job->run.replan = true;
    return HAC_OK;
}

/* ---- the end ------------------------------------------------------------------------------------------- */

static void ended(hac_job *job)
{
    splits *s = job->query->rounds;
    if (job->state == HAC_JOB_DONE && job->plan != NULL)
        hac_query_run_note_remarks(job);
    if (job->plan != NULL && s->any)
        tell_of_all(job);
    if (job->query->totals.rows > 0)
        job->spec.items = job->query->totals.rows;
    answer_through(job);
    while (job->state == HAC_JOB_DONE && s->n_queued > 0)
        answer_first(job);
    refuse_all(job);
    hac_pool_clear(&s->partials);
    hac_pool_clear(&s->carry);
    hac_stream_memory_end(job);
}

static void free_state(hac_job *job)
{
    splits *s = job->kind_state;
    hac_stream_memory_end(job);
    for (size_t i = 0; i < s->n_queued; i++)
        hac_waiting_split_drop(job, &s->queue[i]);
    for (size_t i = 0; i < s->n_through; i++)
        hac_waiting_split_drop(job, &s->through[i]);
    hac_pool_clear(&s->partials);
    hac_pool_clear(&s->carry);
    hac_splice_buffers_clear(&s->splice_before);
    hac_query_run_end(job);
    free(s);
    job->kind_state = NULL;
}

static void progress(const hac_job *job, double elapsed, double *ret_rate, char *note, size_t room)
{
    const splits *s = job->query->rounds;
    uint64_t rows = job->query->totals.rows;
    *ret_rate = elapsed > 0 ? (double)rows / elapsed : 0;
    snprintf(note, room, "%.1f MiB, %llu rows so far", (double)s->bytes / (double)(UINT64_C(1) << 20),
             (unsigned long long)rows);
}

static void receipt(const hac_job *job, hac_text *text)
{
    const splits *s = job->query->rounds;
    hac_json_open(text, "query", '{');
    hac_query_run_receipt(job, text);
    hac_json_unsigned(text, "splits", s->answered);
    hac_json_unsigned(text, "rounds", s->rounds);
    hac_json_unsigned(text, "carries", s->carries);
    hac_json_number(text, "round_seconds", job->earlier_seconds);
    hac_json_close(text, '}');
    hac_splice_buffers_json(&job->splice, &s->client, text); /* of all rounds: nobody clears them between */
}

static const hac_job_kind splits_kind = {.flow = "splice",
                                         .next_plan = next_plan,
                                         .buffer = find_buffer,
                                         .task_done = hac_query_run_task_done,
                                         .did_all = hac_query_run_did_all,
                                         .task_ended = task_ended,
                                         .over_limit = over_limit,
                                         .task_failed = hac_query_run_task_failed,
                                         .receipt = receipt,
                                         .free_state = free_state,
                                         .ended = ended,
                                         .answer = answer_through,
                                         .progress = progress,
                                         .has_result = true,
                                         .sets_result_bytes = true,
                                         .sends_data = true,
                                         .user_errors = true,
                                         .in_order = true};

/* ---- requests ------------------------------------------------------------------------------------------ */

static hac_status fill_job(hac_job *job, const Hac__Client__SubmitQuery *request, hac_error *err)
{
    const Hac__Client__QuerySpec *spec = request->spec;
    splits *s = job->kind_state;
    hac_status status = hac_query_run_take_spec(job, spec, err);
    if (status != HAC_OK)
        return status;
    uint32_t format = spec->source->format;
    job->query->rounds = s;
    s->needs_source = ((format == FORMAT_CSV || format == FORMAT_TSV) && spec->source->header) ||
                      (spec->source->infer && spec->schema[0] == '\0');
    s->fixed = format == FORMAT_FIXED;
    s->ordered = spec->order_by[0] != '\0';
    s->output = spec->output_format;
    s->limit = spec->has_limit ? spec->limit : UINT64_MAX;
    snprintf(job->name, sizeof job->name, "%s", request->name);
    status = hac_job_take_options(job, request->options, err);
    if (status == HAC_OK && job->detached)
        status = hac_fail(err, HAC_INVALID,
                          "a job whose input comes in splits cannot be detached: they come "
                          "from its client");
    job->query->spec.fast = job->fast;
    return status;
}

/* What its client is told of splits. */
static void advise(hac_job *job)
{
    uint64_t memory = hac_user_alone(job->user, HAC_SLOT_MEMORY);
    if (job->memory_limit != 0 && job->memory_limit < memory)
        memory = job->memory_limit;
    job->split_bytes = hac_plan_split_bytes(hac_server_machine(job->server), hac_job_allowed_devices(job));
    job->range_bytes = hac_plan_range_bytes(job->split_bytes, memory);
}

hac_status hac_job_splits_submit(hac_session *session, uint64_t serial,
                                 const Hac__Client__SubmitQuery *request, hac_error *err)
{
    hac_job *job = NULL;
    char what[64];
    hac_status status = hac_job_begin(session, &splits_kind, sizeof(splits), &job, err);
    if (status != HAC_OK)
        return status;
    splits *s = job->kind_state;
    hac_stream_memory_begin(job, &s->stream);
    status = fill_job(job, request, err);
    if (status == HAC_OK)
        status = hac_job_admit(session, job, err);
    if (status != HAC_OK) {
        hac_job_free(job);
        return status;
    }
    advise(job);
    const char *format = job->query->spec.format;
    snprintf(what, sizeof what, "%s of %s in splits", job->sorts_rows ? "sort" : "query",
             format != NULL ? format : "data");
    hac_job_start(session, serial, job, false, request->options, what);
    return HAC_OK;
}

static hac_status check_turn(const hac_job *job, hac_error *err)
{
    const splits *s = job->query->rounds;
    if (hac_job_ended(job) && job->state != HAC_JOB_DONE)
        return hac_fail(err, job->code, "%s", job->message);
    bool may_change = job->run.failed; /* what came before may be why: it is answered when that is known */
    if ((job->code != HAC_OK && !may_change) || job->cancelling)
        return hac_fail(err, job->cancelling ? HAC_CANCELLED : job->code, "%s", job->message);
    if (s->last || (s->ended && !s->enough))
        return hac_fail(err, HAC_INVALID, "a split comes behind the last one of job %llu",
                        (unsigned long long)job->id);
    if (s->n_queued == HAC_SPLITS_IN_FLIGHT_MAX)
        return hac_fail(err, HAC_INVALID, "%d splits of job %llu are not answered yet: wait for one",
                        HAC_SPLITS_IN_FLIGHT_MAX, (unsigned long long)job->id);
    return HAC_OK;
}

/* No data, or none that is looked at. */
static void answer_at_once(hac_session *session, uint64_t serial, hac_job *job)
{
    splits *s = job->query->rounds;
    Hac__Client__SplitDone done = HAC__CLIENT__SPLIT_DONE__INIT;
    done.job = job->id;
    done.split = s->given;
    done.enough = s->enough;
    hac_session_send_split_done(session, serial, &done, NULL);
}

hac_status hac_job_splits_buffer(hac_session *session, uint64_t id, uint64_t bytes, hac_pool_buffer **ret,
                                 hac_error *err)
{
    hac_job *job = NULL;
    hac_status status = hac_job_of_session(session, id, &splits_kind, "splits", &job, NULL);
    if (status != HAC_OK || job->stream == NULL) /* it has ended, which its client has not read yet */
        return hac_pool_alloc(session->user, bytes, false, ret, err);
    const splits *s = job->query->rounds;
    bool needed = s->n_queued == 0 && s->n_through == 0;
    return hac_stream_memory_split(job, bytes, needed, ret, &session->retry_seconds, err);
}

/* That no split with data has. */
static uint8_t free_slot(const splits *s)
{
    uint32_t taken = 0;
    uint8_t slot = 0;
    for (size_t i = 0; i < s->n_queued; i++)
        taken |= UINT32_C(1) << s->queue[i].slot;
    while ((taken >> slot & 1) != 0)
        slot++;
    return slot;
}

hac_status hac_job_splits_append(hac_session *session, uint64_t serial,
                                 const Hac__Client__AppendSplit *request, hac_frame *frame, hac_error *err)
{
    hac_job *job = NULL;
    hac_status status = hac_job_of_session(session, request->job, &splits_kind, "splits", &job, err);
    if (status == HAC_OK)
        status = check_turn(job, err);
    if (status != HAC_OK)
        return status;
    splits *s = job->query->rounds;
    split new = {.bytes = request->bytes,
                 .sets = request->sets > 0 ? request->sets : 1, /* whose header is looked at */
                 .set_bytes = request->sets > 0 ? request->set_bytes : HAC_SPLIT_SET_BYTES,
                 .serial = serial,
                 .slot = free_slot(s),
                 .number = s->given};
    if ((request->buffer != 0 || request->in_file) && !s->enough) {
        if (request->in_file && !s->fixed)
            return hac_fail(err, HAC_INVALID, "a split in a file has records of fixed width");
        status = hac_waiting_split_take(session, job, request, frame, &new, err);
        if (status != HAC_OK)
            return status;
        s->queue[s->n_queued++] = new;
        s->any = true;
        s->bytes += request->input_bytes;
        job->bytes_in = s->bytes;
    } else {
        answer_at_once(session, serial, job);
    }
    s->given++;
    s->last |= request->last;
    hac_stream_memory_split_came(job);
    s->client = (hac_splice_client){.reading = request->reading_ns,
                                    .input_wait = request->input_wait_ns,
                                    .device_wait = request->device_wait_ns,
                                    .writing = request->writing_ns};
    hac_scheduler_wake(job);
    return HAC_OK;
}
