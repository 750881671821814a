/* SPDX-License-Identifier: Apache-2.0 */
#include "job_sort.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/type.h"
#include "executors/start_costs.h"
#include "sort_memory.h"
#include "submission.h"

/* A sort job first probes devices 0, 1, …, then sorts. */
typedef struct sort_state {
    hac_sort_spec spec;
    hac_pool_buffer *payload; /* held; NULL: none */
    uint64_t payload_offset;
    hac_sort_probe probe; /* of the device to look at next */
    bool probing;         /* the running plan is a probe */
    bool sorted;          /* the plan of the sort itself has been made */
} sort_state;

static hac_sort_spec *spec_of(const hacd_job *job)
{
    return &((sort_state *)job->kind_state)->spec;
}

hac_status hac_sort_spec_read(const Hac__Client__SortSpec *from, hac_sort_spec *ret, hac_error *err)
{
    memset(ret, 0, sizeof *ret);
    ret->type = (hac_type)from->type;
    if (hac_type_size(ret->type) == 0)
        return hac_fail(err, HAC_INVALID, "unknown type; one of u32 i32 f32 u64 i64 f64 is wanted");
    ret->descending = from->descending;
    ret->argsort = from->argsort;
    ret->algorithm = (hac_sort_algorithm)from->algorithm;
    ret->scheme = (hac_sort_scheme)from->scheme;
    ret->fold = (hac_sort_fold)from->fold;
    ret->payload_bytes = from->payload_bytes;
    ret->n_fold_steps = from->n_fold_steps;
    for (size_t i = 0; i < from->n_fold_steps; i++)
        ret->fold_steps[i] = from->fold_steps[i];
    return HAC_OK;
}

/* ---- plans ------------------------------------------------------------------------------------------- */

static bool allowed(const hacd_job *job, uint32_t index)
{
    return hac_devices_may_use(job->jobs->devices, index, job->user) && !(job->excluded & (1u << index)) &&
           (job->device_mask == 0 || (job->device_mask & (1u << index)));
}

static unsigned candidates(const hacd_job *job)
{
    unsigned n = 0;
    for (uint32_t d = 0; d < job->jobs->devices->count; d++)
        n += allowed(job, d);
    return n;
}

/* The memory that the user's quota leaves for the plan. While other jobs of the user run, the quota does not
 * count: the job can wait. */
static uint64_t quota_left(const hacd_job *job, uint64_t items)
{
    uint64_t available = hac_pool_available(job->user);
    if (job->user->active_jobs > 1)
        return UINT64_MAX;
    if (job->input != NULL) /* it is held already, and part of the plan */
        available += items * (hac_type_size(spec_of(job)->type) + spec_of(job)->payload_bytes);
    return available;
}

static hac_status replace_plan(hacd_job *job, const hac_sort_spec *spec, hac_error *err)
{
    hac_plan *plan = NULL;
    hac_status status =
        hac_sort_plan_in_quota(hac_machine_view_now(job->jobs->machine), spec, job->jobs->sorts,
                               job->memory_limit, quota_left(job, spec->items), &plan, err);
    if (status != HAC_OK)
        return status;
    hacd_job_set_plan(job, plan);
    return HAC_OK;
}

/* The items of the next probe; 0: no device needs one. */
static uint64_t find_probe(hacd_job *job, hac_sort_probe *probe, const hac_plan *plan)
{
    const hac_machine *machine = hac_machine_view_now(job->jobs->machine);
    for (; probe->device < job->jobs->devices->count;
         *probe = (hac_sort_probe){.device = probe->device + 1}) {
        probe->start_seconds = hac_start_costs_of_executor(job->jobs->executors, probe->device, job->user);
        uint64_t items =
            allowed(job, probe->device) ? hac_sort_probe_items(machine, spec_of(job), plan, probe) : 0;
        if (items > 0)
            return items;
    }
    return 0;
}

/* Plans a small sort of part of the input on one device. HAC_NOT_FOUND: no device needs a probe. */
static hac_status plan_probe(hacd_job *job, sort_state *state, hac_error *err)
{
    hac_cleanup(hac_plan_free_cleanup) hac_plan *plan = NULL;
    hac_sort_spec spec = *spec_of(job);
    spec.device_mask = hacd_job_allowed_devices(job);
    hac_sort_probe *probe = &state->probe;
    if (!hac_sort_may_probe(&spec) || probe->device >= job->jobs->devices->count || candidates(job) < 2 ||
        hac_plan_sort(hac_machine_view_now(job->jobs->machine), &spec, &plan, NULL) != HAC_OK)
        return HAC_NOT_FOUND;
    for (uint64_t items = find_probe(job, probe, plan); items > 0; items = find_probe(job, probe, plan)) {
        const char *name = job->jobs->devices->items[probe->device]->config.name;
        spec = hac_sort_probe_spec(spec_of(job), probe->device, items);
        hac_status status = replace_plan(job, &spec, err);
        if (status == HAC_OK) {
            if (items != probe->items)
                hacd_job_note(job, "probes %s with %llu keys of the input", name, (unsigned long long)items);
            probe->runs++;
            probe->items = items;
            return HAC_OK;
        }
        hacd_job_note(job, "%s cannot be probed: %s", name, err != NULL ? err->message : "");
        *probe = (hac_sort_probe){.device = probe->device + 1};
    }
    return HAC_NOT_FOUND;
}

/* A device that the job left while it was probed is not probed by each later job. */
static void note_failure(hacd_job *job, const sort_state *state)
{
    uint32_t device = state->probe.device;
    bool failed = state->probing && (job->excluded >> device & 1) != 0;
    if (failed) {
        hac_model_set_job(job->jobs->models, job->id);
        hac_sort_probe_failed(job->jobs->models, job->jobs->devices->items[device]->key, &state->spec);
    }
}

static void note_plan(hacd_job *job)
{
    char devices[256];
    hac_plan_name_devices(job->plan, devices, sizeof devices);
    hacd_job_note(job, "plan: %s, %zu tasks, %.3f ms predicted, on %s", job->plan->sort.algorithm,
                  job->plan->n_tasks, job->plan->predicted_seconds * 1e3, devices);
}

static hac_status next_plan(hacd_job *job, hac_error *err)
{
    sort_state *state = job->kind_state;
    if (!job->restart && state->sorted)
        return HAC_NOT_FOUND;
    hac_status usable = hacd_job_check_devices(job, err);
    if (usable != HAC_OK)
        return usable;
    note_failure(job, state);
    if (!job->restart || state->probing) {
        hac_status status = plan_probe(job, state, err);
        state->probing = status == HAC_OK;
        if (status != HAC_NOT_FOUND)
            return status;
    }
    hac_sort_spec spec = *spec_of(job);
    spec.device_mask = hacd_job_allowed_devices(job);
    if (spec.device_mask == 0)
        return hac_fail(err, HAC_FAILED, "no device is left that can run this sort");
    hac_status status = replace_plan(job, &spec, err);
    if (status != HAC_OK)
        return status;
    state->sorted = true;
    if (!job->quick)
        note_plan(job);
    return HAC_OK;
}

static void task_done(hacd_job *job, uint32_t task, const Hac__Executor__Done *done)
{
    hac_sort_trim(job, task, done);
    if (!spec_of(job)->inline_data)
        return;
    free(job->result_data);
    job->result_data = malloc(done->data.len + 1);
    if (job->result_data == NULL) {
        job->code = HAC_NO_MEMORY;
        snprintf(job->message, sizeof job->message, "out of memory");
        return;
    }
    if (done->data.len > 0)
        memcpy(job->result_data, done->data.data, done->data.len);
    job->result_data_bytes = job->result_bytes = done->data.len;
}

/* Learns what several devices took together, if nothing disturbed them. */
static void ended(hacd_job *job)
{
    sort_state *state = job->kind_state;
    const hacd_plan_run *run = &job->run;
    bool alone = job->jobs->n_active == 0 && job->retries == 0 && job->restarts == 0 && run->fresh == 0;
    hac_model_set_job(job->jobs->models, job->id);
    if (job->state == HAC_JOB_DONE && job->plan != NULL && state->sorted && alone && job->build_seconds == 0)
        hac_sort_learn(job->jobs->models, hac_machine_view_now(job->jobs->machine), job->plan,
                       (double)(job->ended_ns - run->started_ns) * 1e-9);
    hac_pool_clear(&state->payload);
}

static void free_state(hacd_job *job)
{
    sort_state *state = job->kind_state;
    hac_pool_clear(&state->payload);
}

static hac_pool_buffer *find_buffer(const hacd_job *job, const hac_plan_buffer *wanted, uint64_t *ret_offset)
{
    const sort_state *state = job->kind_state;
    if (strcmp(wanted->name, "payload") != 0)
        return NULL;
    *ret_offset = state->payload_offset;
    return state->payload;
}

/* By the plan that would be made now. */
static double estimate(const hacd_job *job)
{
    hac_sort_spec spec = *spec_of(job);
    hac_plan *plan = NULL;
    spec.device_mask = hacd_job_allowed_devices(job);
    if (spec.device_mask == 0 ||
        hac_plan_sort(hac_machine_view_now(job->jobs->machine), &spec, &plan, NULL) != HAC_OK)
        return 0;
    double seconds = plan->predicted_seconds;
    hac_plan_free(plan);
    return seconds;
}

/* ---- submission -------------------------------------------------------------------------------------- */

static hac_status take_descriptor(hacd_job *job, const Hac__Client__Input *input, hac_frame *frame,
                                  hac_error *err)
{
    const char *name = job->name[0] != '\0' ? job->name : "the input";
    spec_of(job)->descriptor_offset = input->offset;
    spec_of(job)->descriptor_end = input->offset + input->bytes;
    spec_of(job)->from_descriptor = true;
    return hac_submission_take_descriptor(job, input, name, frame, err);
}

static hac_status take_data(hacd_job *job, const Hac__Client__Input *input, hac_error *err)
{
    hac_status status = hacd_job_charge_inline(job, input->data.len, err);
    if (status != HAC_OK)
        return status;
    job->data = malloc(input->data.len + 1);
    if (job->data == NULL)
        return hac_fail_no_memory(err);
    if (input->data.len > 0) /* else the pointer may be NULL */
        memcpy(job->data, input->data.data, input->data.len);
    job->data_bytes = input->data.len;
    spec_of(job)->inline_data = true;
    return HAC_OK;
}

static hac_status take_input(hac_session *session, hacd_job *job, const Hac__Client__Input *input,
                             hac_frame *frame, hac_error *err)
{
    size_t size = hac_type_size(spec_of(job)->type);
    hac_utf8_copy_line(job->name, sizeof job->name, input->name);
    if (input->bytes % size != 0)
        return hac_fail(err, HAC_FAILED, "%s is %llu bytes, not a multiple of %zu (%s)",
                        job->name[0] != '\0' ? job->name : "the input", (unsigned long long)input->bytes,
                        size, hac_type_name(spec_of(job)->type));
    spec_of(job)->items = input->bytes / size;
    job->bytes_in = input->bytes;
    switch (input->where_case) {
    case HAC__CLIENT__INPUT__WHERE_BUFFER:
        job->input_offset = input->offset;
        return hac_submission_take_buffer(session, input->buffer, input->offset, input->bytes, "input",
                                          &job->input, err);
    case HAC__CLIENT__INPUT__WHERE_DESCRIPTOR:
        return take_descriptor(job, input, frame, err);
    default:
        return take_data(job, input, err);
    }
}

static hac_status take_payload(hac_session *session, hacd_job *job, const Hac__Client__Input *payload,
                               hac_error *err)
{
    uint64_t bytes = 0;
    if (payload == NULL)
        return spec_of(job)->payload_bytes == 0
                   ? HAC_OK
                   : hac_fail(err, HAC_INVALID, "payload_bytes is set without a payload");
    if (payload->where_case != HAC__CLIENT__INPUT__WHERE_BUFFER || job->input == NULL)
        return hac_fail(err, HAC_INVALID, "keys with a payload have to lie in pool buffers");
    if (__builtin_mul_overflow(spec_of(job)->items, (uint64_t)spec_of(job)->payload_bytes, &bytes) ||
        payload->bytes != bytes)
        return hac_fail(err, HAC_INVALID, "the payload has %llu bytes; %llu keys of %u bytes each are wanted",
                        (unsigned long long)payload->bytes, (unsigned long long)spec_of(job)->items,
                        spec_of(job)->payload_bytes);
    sort_state *state = job->kind_state;
    state->payload_offset = payload->offset;
    return hac_submission_take_buffer(session, payload->buffer, payload->offset, bytes, "payload",
                                      &state->payload, err);
}

static hac_status fill(hac_submission *from, hacd_job *job, hac_error *err)
{
    const Hac__Client__SubmitSort *request = from->request->submit_sort;
    hac_status status = hac_sort_spec_read(request->spec, spec_of(job), err);
    if (status == HAC_OK)
        status = take_input(from->session, job, request->input, from->frame, err);
    if (status == HAC_OK)
        status = take_payload(from->session, job, request->payload, err);
    const hac_sort_spec *spec = spec_of(job);
    job->items = spec->items;
    job->type = spec->type;
    job->from_descriptor = spec->from_descriptor;
    job->inline_data = from->inline_input = spec->inline_data;
    snprintf(from->what, sizeof from->what, "sort of %llu %s", (unsigned long long)spec_of(job)->items,
             hac_type_name(spec_of(job)->type));
    return status;
}

static const hacd_job_kind sort_kind = {.flow = HAC_FLOW_SORT,
                                        .state_bytes = sizeof(sort_state),
                                        .fill = fill,
                                        .estimate = estimate,
                                        .next_plan = next_plan,
                                        .task_done = task_done,
                                        .buffer = find_buffer,
                                        .free_state = free_state,
                                        .ended = ended,
                                        .has_result = true};

hac_status hacd_job_sort_submit(hac_submission *from, hac_error *err)
{
    return hac_submission_submit(from, &sort_kind, from->request->submit_sort->options, err);
}
