/* SPDX-License-Identifier: Apache-2.0 */
#include "job_ops.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/op_layout.h"
#include "job_input.h"
#include "server.h"

#define VALUES_MOST 4 /* of a task, that are handed on */

/* What the tasks have given back so far; pieces of one add up. */
typedef struct op_result {
    uint8_t n;
    uint64_t values[VALUES_MOST];
} op_result;

typedef struct ops_state {
    Hac__Client__SubmitOps *ops; /* a copy of the request */
    hac_ops_spec spec;           /* borrows from it */
    uint64_t sizes[HAC_OPS_BUFFERS_MAX];
    op_result *results;
    bool planned;
} ops_state;

/* ---- the request -------------------------------------------------------------------------------------- */

static void read_task(const Hac__Client__OpTask *from, hac_op_spec *ret)
{
    *ret = (hac_op_spec){.codelet = from->codelet,
                         .name = from->name[0] != '\0' ? from->name : from->codelet,
                         .pin = from->pin,
                         .type = (hac_type)from->type,
                         .first = from->first,
                         .count = from->count,
                         .grain = from->grain,
                         .n_spans = from->n_spans,
                         .after = from->after,
                         .n_after = from->n_after,
                         .units = from->units,
                         .memory = from->memory,
                         .call = from->call.data,
                         .call_bytes = from->call.len};
    for (size_t s = 0; s < from->n_spans; s++) {
        const Hac__Client__OpSpan *span = from->spans[s];
        ret->spans[s] =
            (hac_plan_span){.buffer = (uint8_t)span->buffer,
                            .access = span->written ? HAC_PLAN_WRITE : HAC_PLAN_READ,
                            .offset = span->offset,
                            .bytes = span->bytes,
                            .touch_first = span->touch_bytes > 0 ? span->touch_first : span->offset,
                            .touch_end = span->touch_bytes > 0 ? span->touch_first + span->touch_bytes
                                                               : span->offset + span->bytes};
    }
}

hac_status hac_ops_spec_read(const Hac__Client__SubmitOps *ops, const uint64_t *sizes, size_t n_buffers,
                             hac_ops_spec *ret, hac_error *err)
{
    hac_op_spec *tasks = calloc(ops->n_tasks + 1, sizeof *tasks);
    if (tasks == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < ops->n_tasks; i++)
        read_task(ops->tasks[i], &tasks[i]);
    *ret = (hac_ops_spec){.tasks = tasks,
                          .n_tasks = ops->n_tasks,
                          .sizes = sizes,
                          .n_buffers = n_buffers,
                          .policy = ops->policy == HAC__CLIENT__OP_POLICY__OP_POLICY_RULE ? HAC_OPS_RULE
                                                                                          : HAC_OPS_MEASURED,
                          .threshold = ops->threshold,
                          .kernels = ops->kernels};
    return HAC_OK;
}

/* ---- the job ------------------------------------------------------------------------------------------ */

static uint32_t allowed_devices(const hac_job *job)
{
    uint32_t all = (uint32_t)((UINT64_C(1) << job->server->devices.count) - 1);
    return (job->device_mask != 0 ? job->device_mask : all) & ~job->excluded;
}

static hac_status next_plan(hac_job *job, hac_error *err)
{
    ops_state *state = job->kind_state;
    hac_plan *plan = NULL;
    if (state->planned && !job->restart && !job->run.replan)
        return HAC_NOT_FOUND;
    if (hac_devices_usable(&job->server->devices) == 0)
        return hac_fail(err, HAC_FAILED, "no usable OpenCL device: %.400s",
                        hac_devices_why_none(&job->server->devices));
    state->spec.device_mask = allowed_devices(job);
    if (state->spec.device_mask == 0)
        return hac_fail(err, HAC_FAILED, "no device is left that can run these sub-operators");
    hac_status status = hac_plan_ops(hac_server_machine(job->server), &state->spec, &plan, err);
    if (status != HAC_OK)
        return status;
    memset(state->results, 0, state->spec.n_tasks * sizeof *state->results);
    hac_job_set_plan(job, plan);
    state->planned = true;
    if (!job->quick)
        hac_job_note(job, "plan: %zu sub-operators, %.3f ms predicted", plan->n_tasks,
                     plan->predicted_seconds * 1e3);
    return HAC_OK;
}

static void task_done(hac_job *job, uint32_t task, const Hac__Executor__Done *done)
{
    ops_state *state = job->kind_state;
    op_result *result = &state->results[task];
    size_t n = done->n_values < VALUES_MOST ? done->n_values : VALUES_MOST;
    for (size_t i = 0; i < n; i++)
        result->values[i] += done->values[i];
    result->n = (uint8_t)(n > result->n ? n : result->n);
}

/* A sub-operator that failed is named; what an output lacks room for is the client's to give. */
static bool task_failed(hac_job *job, uint32_t task, const Hac__Executor__Done *done)
{
    bool of_data = done->code == HAC_FAILED || done->code == HAC_INVALID || done->code == HAC_REFUSED;
    if (job->code != HAC_OK)
        return true; /* another one was first, and says why */
    if (!of_data)
        return false;
    const ops_state *state = job->kind_state;
    job->code = (hac_status)done->code;
    snprintf(job->message, sizeof job->message, "%.120s: %.380s", state->spec.tasks[task].name,
             done->message);
    return true;
}

/* All tasks' values, in the client's order: of each their number, then they. */
static hac_status give_results(hac_job *job, hac_error *err)
{
    const ops_state *state = job->kind_state;
    size_t room = state->spec.n_tasks * (1 + sizeof state->results->values), used = 0;
    free(job->result_data);
    job->result_data = malloc(room + 1);
    if (job->result_data == NULL)
        return hac_fail_no_memory(err);
    for (size_t t = 0; t < state->spec.n_tasks; t++) {
        const op_result *result = &state->results[t];
        job->result_data[used++] = result->n;
        memcpy(job->result_data + used, result->values, result->n * sizeof result->values[0]);
        used += result->n * sizeof result->values[0];
    }
    job->result_data_bytes = job->result_bytes = used;
    return HAC_OK;
}

static hac_status task_ended(hac_job *job, uint32_t task, hac_error *err)
{
    (void)task;
    bool last = job->run.n_done + 1 == job->plan->n_tasks;
    return last ? give_results(job, err) : HAC_OK;
}

static void receipt(const hac_job *job, hac_text *text)
{
    const ops_state *state = job->kind_state;
    const hac_ops_spec *spec = &state->spec;
    hac_json_open(text, "opsplit", '{');
    hac_json_string(text, "policy", spec->policy == HAC_OPS_RULE ? "rule" : "measured");
    hac_json_unsigned(text, "threshold", spec->threshold > 0 ? spec->threshold : HAC_OPS_THRESHOLD);
    hac_json_open(text, "sub_operators", '[');
    for (size_t t = 0; job->plan != NULL && t < job->plan->n_candidates; t++) {
        hac_json_open(text, NULL, '{');
        hac_json_string(text, "name", spec->tasks[t].name);
        hac_json_string(text, "codelet", spec->tasks[t].codelet);
        hac_json_unsigned(text, "memory", spec->tasks[t].memory);
        hac_json_string(text, "reason", job->plan->candidates[t].reason);
        hac_json_close(text, '}');
    }
    hac_json_close(text, ']');
    hac_json_close(text, '}');
}

static void free_state(hac_job *job)
{
    ops_state *state = job->kind_state;
    if (state == NULL)
        return;
    if (state->ops != NULL)
        hac__client__submit_ops__free_unpacked(state->ops, NULL);
    free((void *)(uintptr_t)state->spec.tasks);
    free(state->results);
    free(state);
    job->kind_state = NULL;
}

static const hac_job_kind ops_kind = {.flow = "opsplit",
                                      .next_plan = next_plan,
                                      .task_done = task_done,
                                      .task_ended = task_ended,
                                      .task_failed = task_failed,
                                      .receipt = receipt,
                                      .free_state = free_state,
                                      .has_result = true,
                                      .sets_result_bytes = true,
                                      .user_errors = true};

/* ---- submission --------------------------------------------------------------------------------------- */

/* The request lives no longer than its frame. */
static hac_status copy_request(const Hac__Client__SubmitOps *request, Hac__Client__SubmitOps **ret,
                               hac_error *err)
{
    size_t bytes = protobuf_c_message_get_packed_size(&request->base);
    hac_autofree uint8_t *packed = malloc(bytes + 1);
    if (packed == NULL)
        return hac_fail_no_memory(err);
    protobuf_c_message_pack(&request->base, packed);
    *ret = hac__client__submit_ops__unpack(NULL, bytes, packed);
    return *ret != NULL ? HAC_OK : hac_fail_no_memory(err);
}

static hac_status take_buffers(hac_session *session, hac_job *job, hac_error *err)
{
    ops_state *state = job->kind_state;
    hac_status status = HAC_OK;
    for (size_t i = 0; i < state->ops->n_buffers && status == HAC_OK; i++) {
        char what[32];
        snprintf(what, sizeof what, "vector %zu", i);
        status = hac_job_take_buffer(session, state->ops->buffers[i], 0, 0, what, &job->shared[i], err);
        if (status == HAC_OK)
            state->sizes[i] = job->shared[i]->bytes;
    }
    return status;
}

static hac_status fill_job(hac_session *session, hac_job *job, const Hac__Client__SubmitOps *request,
                           hac_error *err)
{
    ops_state *state = job->kind_state;
    hac_status status = copy_request(request, &state->ops, err);
    if (status == HAC_OK)
        status = take_buffers(session, job, err);
    if (status == HAC_OK)
        status = hac_ops_spec_read(state->ops, state->sizes, state->ops->n_buffers, &state->spec, err);
    if (status != HAC_OK)
        return status;
    state->results = calloc(state->spec.n_tasks + 1, sizeof *state->results);
    if (state->results == NULL)
        return hac_fail_no_memory(err);
    snprintf(job->name, sizeof job->name, "%s", request->name);
    for (size_t i = 0; i < state->spec.n_tasks; i++)
        job->bytes_in += state->spec.tasks[i].memory;
    return hac_job_take_options(job, request->options, err);
}

hac_status hac_job_ops_submit(hac_session *session, uint64_t serial, const Hac__Client__SubmitOps *request,
                              hac_error *err)
{
    hac_job *job = NULL;
    char what[64];
    hac_status status = hac_job_begin(session, &ops_kind, sizeof(ops_state), &job, err);
    if (status != HAC_OK)
        return status;
    status = fill_job(session, job, request, err);
    if (status == HAC_OK)
        status = hac_job_admit(session, job, err);
    if (status != HAC_OK) {
        hac_job_free(job);
        return status;
    }
    snprintf(what, sizeof what, "%zu sub-operators", request->n_tasks);
    hac_job_start(session, serial, job, true, request->options, what);
    return HAC_OK;
}
