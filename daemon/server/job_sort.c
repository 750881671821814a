/* SPDX-License-Identifier: Apache-2.0 */
#include "job_sort.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/type.h"
#include "job_input.h"
#include "server.h"
#include "sort_memory.h"

/* Unmeasured devices are probed with a part of the real input, a power of two as the split rule wants its
 * tuning set, when the sort is large enough to be worth it. */
#define PROBE_PAYS_FROM (UINT64_C(1) << 20)
#define PROBE_ITEMS_MAX (UINT64_C(1) << 20)
#define PROBE_PART      16 /* of the input */

/* Where a sort job stands: probes of device 0, 1, …, then the sort itself. */
typedef struct sort_state {
    uint32_t next_probe; /* device to look at next */
    bool warmed;         /* it has run its probe once: the first run is not learnt from */
    bool probing;        /* the plan that runs is a probe */
    bool sorted;         /* the sort's own plan has been made */
} sort_state;

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

typedef struct search {
    const char *device_key, *family; /* "radix." or "bitonic." */
    hac_type type;
    bool found;
} search;

static void look_at(void *context, const hac_model_entry *entry)
{
    search *s = context;
    s->found |= entry->type == s->type && strcmp(entry->device_key, s->device_key) == 0 &&
                strncmp(entry->codelet, s->family, strlen(s->family)) == 0;
}

static bool allowed(const hac_job *job, uint32_t index)
{
    return hac_device_usable(job->server->devices.items[index]) && !(job->excluded & (1u << index)) &&
           (job->device_mask == 0 || (job->device_mask & (1u << index)));
}

/* Whether neither profile nor models know anything of this device's sort of that type. */
static bool unmeasured(const hac_job *job, uint32_t index)
{
    const hac_server_device *device = job->server->devices.items[index];
    char fixed[HAC_NAME_MAX];
    if (!allowed(job, index))
        return false;
    snprintf(fixed, sizeof fixed, "sort.%s", hac_type_name(job->spec.type));
    for (size_t i = 0; i < device->config.n_capability; i++)
        if (strcmp(device->config.capability[i].key, fixed) == 0)
            return false;
    search s = {device->key, job->spec.algorithm == HAC_SORT_BITONIC ? "bitonic." : "radix.", job->spec.type,
                false};
    hac_model_each(job->server->models, look_at, &s);
    return !s.found;
}

static unsigned candidates(const hac_job *job)
{
    unsigned n = 0;
    for (uint32_t d = 0; d < job->server->devices.count; d++)
        n += allowed(job, d);
    return n;
}

/* What the user's quota leaves for the plan's buffers; while other jobs run, no matter: this one can wait. */
static uint64_t quota_room(const hac_job *job, uint64_t items)
{
    uint64_t room = hac_pool_room(job->user);
    if (job->user->active_jobs > 1)
        return UINT64_MAX;
    if (job->input != NULL) /* it is held already, and part of the plan */
        room += items * (hac_type_size(job->spec.type) + job->spec.payload_bytes);
    return room;
}

static hac_status replace_plan(hac_job *job, const hac_sort_spec *spec, hac_error *err)
{
    hac_plan *plan = NULL;
    hac_status status = hac_plan_sort_in_room(hac_server_machine(job->server), spec, job->server->sorts,
                                              job->memory_limit, quota_room(job, spec->items), &plan, err);
    if (status != HAC_OK)
        return status;
    hac_job_set_plan(job, plan);
    return HAC_OK;
}

static uint64_t probe_items(uint64_t items)
{
    uint64_t probe = PROBE_ITEMS_MAX;
    while (probe > items / PROBE_PART)
        probe /= 2;
    return probe;
}

/* A small sort of part of the input on one device alone; HAC_NOT_FOUND when no device needs it (any more). */
static hac_status plan_probe(hac_job *job, sort_state *state, hac_error *err)
{
    if (job->spec.inline_data || job->spec.items < PROBE_PAYS_FROM || candidates(job) < 2)
        return HAC_NOT_FOUND;
    for (; state->next_probe < job->server->devices.count; state->next_probe++, state->warmed = false) {
        uint32_t device = state->next_probe;
        if (!unmeasured(job, device))
            continue;
        hac_sort_spec spec = job->spec;
        spec.items = probe_items(job->spec.items);
        spec.payload_bytes = 0;
        spec.scheme = HAC_SCHEME_NONE;
        if (spec.algorithm == HAC_SORT_AUTO)
            spec.algorithm = HAC_SORT_RADIX;
        spec.fold = HAC_FOLD_AUTO;
        spec.device_mask = 1u << device;
        hac_status status = replace_plan(job, &spec, err);
        if (status == HAC_OK) {
            bool second = state->warmed;
            state->warmed = !second;
            state->next_probe += second;
            if (second)
                return HAC_OK;
            hac_job_note(job, "probes %s with %llu keys of the input",
                         job->server->devices.items[device]->config.name, (unsigned long long)spec.items);
            return HAC_OK;
        }
        hac_job_note(job, "%s cannot be probed: %s", job->server->devices.items[device]->config.name,
                     err != NULL ? err->message : "");
    }
    return HAC_NOT_FOUND;
}

static void note_plan(hac_job *job)
{
    char devices[256];
    hac_plan_name_devices(job->plan, devices, sizeof devices);
    hac_job_note(job, "plan: %s, %zu tasks, %.3f ms predicted, on %s", job->plan->sort.algorithm,
                 job->plan->n_tasks, job->plan->predicted_seconds * 1e3, devices);
}

static hac_status next_plan(hac_job *job, hac_error *err)
{
    sort_state *state = job->kind_state;
    if (!job->restart && state->sorted)
        return HAC_NOT_FOUND;
    if (hac_devices_usable(&job->server->devices) == 0)
        return hac_fail(err, HAC_FAILED, "no usable OpenCL device: %.400s",
                        hac_devices_why_none(&job->server->devices));
    if (!job->restart || state->probing) {
        hac_status status = plan_probe(job, state, err);
        state->probing = status == HAC_OK;
        if (status != HAC_NOT_FOUND)
            return status;
    }
    hac_sort_spec spec = job->spec;
    spec.device_mask = hac_job_allowed_devices(job);
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

void hac_job_sort_trim(hac_job *job, uint32_t task, const Hac__Executor__Done *done)
{
    uint64_t used = done->n_values > 1 ? done->values[1] : 0;
    if (strcmp(job->plan->tasks[task].codelet, "radix.scan") != 0)
        return;
    for (size_t t = 0; used > 0 && t < job->plan->n_tasks; t++) {
        hac_plan_task *leaf = &job->plan->tasks[t];
        if (strncmp(leaf->codelet, "radix.leaf", strlen("radix.leaf")) == 0 &&
            job->run.tasks[t].claimed == 0 && used < leaf->count)
            leaf->count = used;
    }
}

static void task_done(hac_job *job, uint32_t task, const Hac__Executor__Done *done)
{
    hac_job_sort_trim(job, task, done);
    if (!job->spec.inline_data)
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

/* What several devices took together, where nothing else was in the way. */
static void ended(hac_job *job)
{
    const sort_state *state = job->kind_state;
    const hac_run *run = &job->run;
    bool alone = job->server->n_active == 0 && job->retries == 0 && job->restarts == 0 && run->fresh == 0;
    if (job->state == HAC_JOB_DONE && job->plan != NULL && state->sorted && alone && job->build_seconds == 0)
        hac_sort_learn(job->server->models, hac_server_machine(job->server), job->plan,
                       (double)(job->ended_ns - run->started_ns) * 1e-9);
}

static void free_state(hac_job *job)
{
    free(job->kind_state);
}

/* By the plan that would be made now. */
static double estimate(const hac_job *job)
{
    hac_sort_spec spec = job->spec;
    hac_plan *plan = NULL;
    spec.device_mask = hac_job_allowed_devices(job);
    if (spec.device_mask == 0 || hac_plan_sort(hac_server_machine(job->server), &spec, &plan, NULL) != HAC_OK)
        return 0;
    double seconds = plan->predicted_seconds;
    hac_plan_free(plan);
    return seconds;
}

static const hac_job_kind sort_kind = {.flow = "sort",
                                       .estimate = estimate,
                                       .next_plan = next_plan,
                                       .task_done = task_done,
                                       .free_state = free_state,
                                       .ended = ended,
                                       .has_result = true};

/* ---- submission -------------------------------------------------------------------------------------- */

static hac_status take_descriptor(hac_job *job, const Hac__Client__Input *input, hac_frame *frame,
                                  hac_error *err)
{
    const char *name = job->name[0] != '\0' ? job->name : "the input";
    job->spec.descriptor_offset = input->offset;
    job->spec.descriptor_end = input->offset + input->bytes;
    job->spec.from_descriptor = true;
    return hac_job_take_descriptor(job, input, name, frame, err);
}

static hac_status take_data(hac_job *job, const Hac__Client__Input *input, hac_error *err)
{
    hac_status status = hac_job_charge_inline(job, input->data.len, err);
    if (status != HAC_OK)
        return status;
    job->data = malloc(input->data.len + 1);
    if (job->data == NULL)
        return hac_fail_no_memory(err);
    if (input->data.len > 0) /* else there may be no pointer */
        memcpy(job->data, input->data.data, input->data.len);
    job->data_bytes = input->data.len;
    job->spec.inline_data = true;
    return HAC_OK;
}

static hac_status take_input(hac_session *session, hac_job *job, const Hac__Client__Input *input,
                             hac_frame *frame, hac_error *err)
{
    size_t size = hac_type_size(job->spec.type);
    snprintf(job->name, sizeof job->name, "%s", input->name);
    if (input->bytes % size != 0)
        return hac_fail(err, HAC_FAILED, "%s is %llu bytes, not a multiple of %zu (%s)",
                        job->name[0] != '\0' ? job->name : "the input", (unsigned long long)input->bytes,
                        size, hac_type_name(job->spec.type));
    job->spec.items = input->bytes / size;
    job->bytes_in = input->bytes;
    switch (input->where_case) {
    case HAC__CLIENT__INPUT__WHERE_BUFFER:
        job->input_offset = input->offset;
        return hac_job_take_buffer(session, input->buffer, input->offset, input->bytes, "input", &job->input,
                                   err);
    case HAC__CLIENT__INPUT__WHERE_DESCRIPTOR:
        return take_descriptor(job, input, frame, err);
    default:
        return take_data(job, input, err);
    }
}

static hac_status take_payload(hac_session *session, hac_job *job, const Hac__Client__Input *payload,
                               hac_error *err)
{
    uint64_t bytes = 0;
    if (payload == NULL)
        return job->spec.payload_bytes == 0
                   ? HAC_OK
                   : hac_fail(err, HAC_INVALID, "payload_bytes is set without a payload");
    if (payload->where_case != HAC__CLIENT__INPUT__WHERE_BUFFER || job->input == NULL)
        return hac_fail(err, HAC_INVALID, "keys with a payload have to lie in pool buffers");
    if (__builtin_mul_overflow(job->spec.items, (uint64_t)job->spec.payload_bytes, &bytes) ||
        payload->bytes != bytes)
        return hac_fail(err, HAC_INVALID, "the payload has %llu bytes; %llu keys of %u bytes each are wanted",
                        (unsigned long long)payload->bytes, (unsigned long long)job->spec.items,
                        job->spec.payload_bytes);
    job->payload_offset = payload->offset;
    return hac_job_take_buffer(session, payload->buffer, payload->offset, bytes, "payload", &job->payload,
                               err);
}

static hac_status fill_job(hac_session *session, hac_job *job, const Hac__Client__SubmitSort *request,
                           hac_frame *frame, hac_error *err)
{
    hac_status status = hac_sort_spec_read(request->spec, &job->spec, err);
    if (status == HAC_OK)
        status = take_input(session, job, request->input, frame, err);
    if (status == HAC_OK)
        status = take_payload(session, job, request->payload, err);
    return status == HAC_OK ? hac_job_take_options(job, request->options, err) : status;
}

hac_status hac_job_sort_submit(hac_session *session, uint64_t serial, const Hac__Client__SubmitSort *request,
                               hac_frame *frame, hac_error *err)
{
    hac_job *job = NULL;
    hac_status status = hac_job_begin(session, &sort_kind, sizeof(sort_state), &job, err);
    if (status != HAC_OK)
        return status;
    status = fill_job(session, job, request, frame, err);
    if (status == HAC_OK)
        status = hac_job_admit(session, job, err);
    if (status != HAC_OK) {
        hac_job_free(job);
        return status;
    }
    char what[64];
    snprintf(what, sizeof what, "sort of %llu %s", (unsigned long long)job->spec.items,
             hac_type_name(job->spec.type));
    hac_job_start(session, serial, job, job->spec.inline_data, request->options, what);
    return HAC_OK;
}
