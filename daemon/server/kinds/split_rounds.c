/* SPDX-License-Identifier: Apache-2.0 */
#include "split_rounds.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/query_layout.h"
#include "jobs/plan_buffers.h"

/* A round takes waiting splits until it has ROUND_LARGE splits and, with the next one, would have more than
 * ROUND_BYTES. */
#define ROUND_BYTES (UINT64_C(16) << 20)
#define ROUND_LARGE 2

/* A merge needs memory for four times the carry: the old one, the new one, the partials and the result. */
#define CARRY_ALL 4
/* The size of clients' splits when memory is short: a little over 1 MiB. */
#define SPLIT_MIN (UINT64_C(17) << 16)

static uint64_t bytes_of(const hac_pool_buffer *buffer)
{
    return buffer != NULL ? buffer->bytes : 0;
}

/* Bytes that partials, carry, groups and result may take together: the job's limit, or the user's memory,
 * minus the splits. */
uint64_t hac_split_rounds_memory(const hacd_job *job, hac_stream_memory_step step)
{
    const hacd_splits *s = job->kind_state;
    uint64_t capacity = hac_stream_memory_for_plan(job, step, CARRY_ALL * bytes_of(s->carry)), own = 0;
    for (size_t i = 0; i < s->n_queued; i++)
        own += bytes_of(s->queue[i].buffer);
    own = job->memory_limit > own ? job->memory_limit - own : 1;
    return job->memory_limit != 0 && own < capacity ? own : capacity | 1;
}

/* Maximum bytes of the splits that exist at a time: libhac has five, each as large as the largest so far. */
uint64_t hac_split_rounds_splits_bytes(const hacd_splits *s)
{
    uint64_t largest = SPLIT_MIN;
    for (size_t i = 0; i < s->n_queued; i++) {
        uint64_t bytes = bytes_of(s->queue[i].buffer);
        largest = bytes > largest ? bytes : largest;
    }
    return 5 * largest;
}

/* Only the number of groups is unknown; everything else is known from the start. */
hac_status hac_split_rounds_over_limit(hacd_job *job, uint64_t needed, hac_error *err)
{
    const hacd_splits *s = job->kind_state;
    bool groups = hac_query_of(job)->spec.keys > 0 && (s->memory.held > 0 || s->carry != NULL);
    if (groups)
        return hac_query_run_too_many_groups(job, err);
    for (size_t i = 0; i < s->n_taken; i++) {
        uint64_t bytes = bytes_of(s->queue[i].buffer);
        needed -= bytes < needed ? bytes : needed;
    }
    needed = hac_query_with_splits(needed, hac_split_rounds_splits_bytes(s));
    return hac_fail(
        err, HAC_REFUSED,
        "the job needs %llu KiB in all with splits of this size, above its limit of %llu KiB; give "
        "it more memory or smaller splits (--split-size)",
        (unsigned long long)(needed + 1023) >> 10, (unsigned long long)job->memory_limit >> 10);
}

bool hac_split_rounds_gives_rows(const hacd_job *job)
{
    return (hac_query_of(job)->spec.flags & HAC_COMPILED_AGGREGATES) == 0;
}

/* Chooses the splits of the next round: the first, and more whose data sets fit, until `large` splits or a
 * round's bytes are reached. */
static void take_splits(hacd_job *job, size_t large, uint64_t capacity)
{
    hacd_splits *s = job->kind_state;
    hac_query_spec *spec = &hac_query_of(job)->spec;
    uint64_t bytes = 0, sets = 0;
    spec->round.set_bytes = 0;
    s->n_taken = 0;
    while (s->n_taken < s->n_queued && s->n_taken < HAC_ROUND_SPLITS_MAX) {
        const hac_waiting_split *next = &s->queue[s->n_taken];
        bool enough = s->n_taken >= large && bytes + next->bytes > ROUND_BYTES;
        if (s->n_taken > 0 && (enough || sets + next->sets > capacity))
            break;
        uint32_t n = s->part != 0 ? s->part : next->sets;
        spec->sources[s->n_taken] = s->part != 0 ? n * next->file.set_bytes : next->bytes;
        spec->round.sets[s->n_taken] = n;
        spec->round.files[s->n_taken] = next->file;
        spec->round.slots[s->n_taken] = next->slot;
        if (next->set_bytes > spec->round.set_bytes)
            spec->round.set_bytes = next->set_bytes;
        free(hac_query_of(job)->names[next->slot]);
        hac_query_of(job)->names[next->slot] = strdup(next->name);
        bytes += spec->sources[s->n_taken];
        sets += n;
        s->n_taken++;
        if (s->part != 0)
            break;
    }
    spec->n_sources = s->n_taken;
    spec->bytes = bytes;
}

/* The job's report describes only its last plan. So a plan that merges takes over the devices and the
 * candidates of the plan that aggregated. */
static void inherit(hac_plan *plan, hac_plan *from)
{
    plan->query.hash = from->query.hash; /* of all rounds */
    if (plan->n_candidates > 0 || from->n_candidates == 0)
        return;
    plan->candidates = from->candidates;
    plan->n_candidates = from->n_candidates;
    from->candidates = NULL;
    from->n_candidates = 0;
    plan->k = from->k;
    plan->k_source = from->k_source;
    plan->query.hot_keys = from->query.hot_keys;
    plan->query.engine = from->query.engine;
    memcpy(plan->query.remark, from->query.remark, sizeof plan->query.remark);
    for (size_t d = 0; d < from->n_devices; d++) {
        size_t at = 0;
        while (at < plan->n_devices && plan->devices[at].machine_index != from->devices[d].machine_index)
            at++;
        if (at == HAC_DEVICES_MAX)
            continue;
        plan->devices[at] = from->devices[d];
        plan->n_devices += at == plan->n_devices;
    }
}

/* The job's report describes the plan of its current round, or its last one. This gives that plan the sizes
 * of the whole input. */
void hac_split_rounds_describe_all(hacd_job *job)
{
    const hacd_splits *s = job->kind_state;
    hac_query_info *info = &job->plan->query;
    info->bytes = s->bytes;
    info->sources = 1;
}

static hac_status start(hacd_job *job, hac_round_stage stage, hac_error *err)
{
    hac_query_spec *spec = &hac_query_of(job)->spec;
    hacd_splits *s = job->kind_state;
    hac_plan *plan = NULL;
    spec->compiled_bytes = hac_query_of(job)->query_bytes;
    spec->round.stage = stage;
    spec->round.generation = (stage == HAC_ROUND_ROWS ? s->rounds : s->carries) + 1;
    spec->round.held = s->memory.held;
    spec->round.carry = s->carry_region;
    if (spec->n_sources == 0)
        spec->n_sources = 1;
    hac_status status = hac_plan_query_round(hac_machine_view_now(job->jobs->machine), spec, &plan, err);
    if (status != HAC_OK)
        return status;
    if (job->plan != NULL)
        inherit(plan, job->plan);
    bool first = !hac_query_of(job)->planned;
    hacd_job_set_plan(job, plan);
    hac_split_rounds_describe_all(job);
    plan->query.rounds = s->rounds + 1;
    s->before = hac_query_of(job)->totals;
    hac_splice_buffers_copy(&s->splice_before, &job->splice);
    hac_query_of(job)->groups_before = s->before.partial_groups;
    hac_query_totals *totals = &hac_query_of(job)->totals;
    totals->needed = totals->groups = totals->group_region = totals->output_bytes = 0;
    hac_query_of(job)->result_capacity = 0;
    s->round_ns = hac_now_ns();
    if (first)
        hac_query_run_note_plan(job);
    hac_query_of(job)->planned = true;
    return hac_query_run_set_data(job, err);
}

/* Fails for output that needs all rows before the first one is written: a query without aggregation returns
 * the rows of each split when the split has been read. */
hac_status hac_split_rounds_check_rows(const hacd_splits *s, hac_error *err)
{
    const char *why = s->ordered                        ? "in an order"
                      : s->output == HAC_RESULT_PARQUET ? "as Parquet"
                      : s->output == HAC_RESULT_TABLE   ? "as a table"
                                                        : NULL;
    return why == NULL ? HAC_OK
                       : hac_fail(err, HAC_INVALID,
                                  "rows of splits cannot be given %s: all input is needed first", why);
}

/* Fits a round for rows: the first split, and more splits with at most `max` data sets in all. */
static hac_status fit_rows(hacd_job *job, uint64_t max, hac_error *err)
{
    hacd_splits *s = job->kind_state;
    hac_query_spec *spec = &hac_query_of(job)->spec;
    take_splits(job, 1, max);
    s->memory.sets = 0;
    for (size_t i = 0; i < s->n_taken; i++)
        s->memory.sets += spec->round.sets[i];
    s->memory.set_bytes = spec->round.set_bytes;
    return hac_round_fit(spec, &s->memory, err);
}

/* Plans a round for rows. If the rows of several splits do not fit into memory, the round takes fewer
 * splits. */
static hac_status plan_rows(hacd_job *job, hac_error *err)
{
    const hacd_splits *s = job->kind_state;
    hac_query_of(job)->spec.round.rows_given = s->passed;
    hac_status status = fit_rows(job, s->single ? s->queue[0].sets : HAC_ROUND_CAPACITY_MAX, err);
    if (status == HAC_REFUSED && s->n_taken > 1)
        status = fit_rows(job, s->queue[0].sets, err);
    return status == HAC_OK ? start(job, HAC_ROUND_ROWS, err) : status;
}

/* Takes fewer partitions once it is known that a data set has few groups, unless a carry has been written. */
static void fewer_partitions(hacd_job *job)
{
    const hacd_splits *s = job->kind_state;
    hac_query_spec *spec = &hac_query_of(job)->spec;
    uint32_t partitions = hac_round_partitions(spec, &s->memory);
    if (s->memory.carry == 0 && partitions < spec->round.partitions)
        spec->round.partitions = partitions;
}

/* Merges partials and carry into a carry, or into the final groups. */
static hac_status plan_merge(hacd_job *job, hac_round_stage stage, hac_error *err)
{
    hacd_splits *s = job->kind_state;
    hac_query_spec *spec = &hac_query_of(job)->spec;
    hac_status status = HAC_OK;
    if (s->partials == NULL && !s->tight) /* there was no record */
        status = hac_round_fit(spec, &s->memory, err);
    fewer_partitions(job);
    spec->n_sources = 0;
    spec->bytes = s->memory.held * spec->round.region;
    spec->round.group_region = hac_round_group_region(spec, &s->memory, s->carried);
    return status == HAC_OK ? start(job, stage, err) : status;
}

/* Fits the partials of the first split, or of as many of its data sets as possible. */
static hac_status fit_partials(hacd_splits *s, hac_query_spec *spec, hac_error *err)
{
    hac_status status = hac_round_fit(spec, &s->memory, err);
    while (status == HAC_REFUSED && s->all_memory && s->queue[0].file.there && s->memory.sets > 1) {
        s->in_parts = true;
        s->memory.sets /= 2;
        status = hac_round_fit(spec, &s->memory, err);
    }
    return status;
}

static hac_status plan_aggregate(hacd_job *job, hac_error *err)
{
    hacd_splits *s = job->kind_state;
    hac_query_spec *spec = &hac_query_of(job)->spec;
    bool some = s->in_parts && s->partials != NULL && s->queue[0].file.there;
    s->memory.sets =
        some && s->queue[0].sets > spec->round.capacity ? spec->round.capacity : s->queue[0].sets;
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
    take_splits(job, ROUND_LARGE, spec->round.capacity - s->memory.held);
    return status == HAC_OK ? start(job, HAC_ROUND_AGGREGATE, err) : status;
}

/* A job that never had a split has an input of 0 bytes. */
static hac_status plan_nothing(hacd_job *job, uint32_t devices, hac_error *err)
{
    hac_query_spec *spec = &hac_query_of(job)->spec;
    spec->place = HAC_QUERY_INLINE;
    spec->round.stage = HAC_ROUND_NONE;
    spec->round.generation = 0;
    spec->n_sources = 1;
    spec->sources[0] = spec->bytes = 0;
    return hac_query_run_next_plan(job, devices, err);
}

static hac_status plan_end(hacd_job *job, uint32_t devices, hac_error *err)
{
    hacd_splits *s = job->kind_state;
    if (!s->any)
        return plan_nothing(job, devices, err);
    if (!hac_split_rounds_gives_rows(job) && s->tight && s->memory.held > 0)
        return plan_merge(job, HAC_ROUND_CARRY, err);
    if (!hac_split_rounds_gives_rows(job)) {
        if (s->tight) {
            hac_pool_clear(&s->partials);
            hac_query_of(job)->spec.round.capacity = 0;
        }
        return plan_merge(job, HAC_ROUND_MERGE, err);
    }
    s->ended = true;
    job->result_bytes = 0; /* its rows went with their hacd_splits */
    return HAC_NOT_FOUND;
}

static hac_status plan_round(hacd_job *job, hac_error *err)
{
    const hacd_splits *s = job->kind_state;
    if (s->n_queued > 0)
        return hac_split_rounds_gives_rows(job) ? plan_rows(job, err) : plan_aggregate(job, err);
    if (s->last || s->enough)
        return plan_end(job, hac_query_of(job)->spec.device_mask, err);
    return HAC_AGAIN;
}

/* Plans within the memory that the job has, if possible. If even all free memory is too little, there may be
 * more soon. */
hac_status hac_split_rounds_plan(hacd_job *job, hac_error *err)
{
    hac_query_spec *spec = &hac_query_of(job)->spec;
    hac_status status = plan_round(job, err);
    for (hac_stream_memory_step step = HAC_STREAM_MEMORY_HALF;
         status == HAC_REFUSED && step < HAC_STREAM_MEMORY_STEPS; step++) {
        spec->memory = hac_split_rounds_memory(job, step);
        ((hacd_splits *)job->kind_state)->all_memory = step == HAC_STREAM_MEMORY_ALL;
        status = plan_round(job, err);
    }
    if (status == HAC_OK)
        hac_stream_memory_planned(job, spec->memory);
    if (status != HAC_REFUSED)
        return status;
    ((hacd_splits *)job->kind_state)->n_taken = 0; /* no round with them has begun */
    return hac_stream_memory_must_wait(job) ? HAC_AGAIN : status;
}
