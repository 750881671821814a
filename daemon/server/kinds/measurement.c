/* SPDX-License-Identifier: Apache-2.0 */
#include "measurement.h"

#include <stdlib.h>
#include <string.h>

#include "base/calibrate_layout.h"
#include "base/io_layout.h"
#include "sort_memory.h"

#define FILL_GRAIN (UINT64_C(1) << 16)

static hac_status plan_fill(hacd_job *job, uint32_t devices, uint32_t keys, hac_plan **ret, hac_error *err)
{
    uint64_t mask = keys == 0 ? UINT64_MAX : (uint64_t)(keys - 1) << 32 | (keys - 1);
    hac_plan *plan = NULL;
    uint8_t buffer = 0;
    uint32_t index = 0;
    hac_status status = hac_plan_new(HAC_FLOW_CALIBRATE, &plan, err);
    if (status == HAC_OK)
        status = hac_plan_add_buffer(plan, "in", HAC_BUFFER_INPUT, HAC_CALIBRATE_ITEMS * 8, &buffer, err);
    if (status != HAC_OK) {
        hac_plan_free(plan);
        return status;
    }
    for (uint32_t i = 0; i < job->jobs->devices->count && plan->n_devices == 0; i++) {
        if (!(devices & ~job->excluded & (1u << i)))
            continue;
        snprintf(plan->devices[0].name, sizeof plan->devices[0].name, "%s",
                 job->jobs->devices->items[i]->config.name);
        plan->devices[0].machine_index = i;
        plan->devices[0].share = 1;
        plan->n_devices = 1;
    }
    if (plan->n_devices == 0) {
        hac_plan_free(plan);
        return hac_fail(err, HAC_FAILED, "no device is left to measure");
    }
    hac_plan_task task = {
        .codelet = "data.random",
        .type = HAC_TYPE_U64,
        .count = HAC_CALIBRATE_ITEMS,
        .device_mask = 1,
        .repeatable = true,
        .range = job->by_itself, /* in pieces, between which it can be ended */
        .grain = FILL_GRAIN,
        .n_spans = 1,
        .stage = "random keys",
        .spans = {{.buffer = buffer, .access = HAC_WRITE, .bytes = HAC_CALIBRATE_ITEMS * 8}},
        .units = (double)HAC_CALIBRATE_ITEMS,
        .predicted_seconds = 0.05};
    HAC_SET_PARAMS(&task, &(hac_data_random_params){.seed = 1, .mask = mask});
    status = hac_plan_add_task(plan, &task, NULL, 0, &index, err);
    if (status != HAC_OK) {
        hac_plan_free(plan);
        return status;
    }
    *ret = plan;
    return HAC_OK;
}

hac_status hac_measurement_fill(hacd_job *job, uint32_t mask, uint32_t keys, hac_error *err)
{
    hac_measurement *measurement = job->kind_state;
    hac_plan *plan = NULL;
    hac_status status = plan_fill(job, mask, keys, &plan, err);
    if (status != HAC_OK)
        return status;
    measurement->filled = true;
    measurement->keys = keys;
    hacd_job_set_plan(job, plan);
    return HAC_OK;
}

static hac_status plan_sort(hacd_job *job, uint32_t mask, const hac_workload *workload, hac_plan **ret,
                            hac_error *err)
{
    hac_sort_spec spec = {.type = workload->type,
                          .items = workload->items,
                          .algorithm = workload->algorithm,
                          .device_mask = mask};
    if (mask & job->excluded)
        return hac_fail(err, HAC_FAILED, "a device of this measurement has failed; see above");
    job->items = workload->items;
    job->type = workload->type;
    return hac_plan_sort(hac_machine_view_now(job->jobs->machine), &spec, ret, err);
}

/* Over the table in the input, whose columns have places for HAC_CALIBRATE_ITEMS rows. */
static hac_status begin_query(hacd_job *job, const hac_workload *workload, hac_error *err)
{
    const hac_measurement *measurement = job->kind_state;
    const hac_query_over query = {&measurement->compiled, workload->items, 8 * workload->items,
                                  8 * HAC_CALIBRATE_ITEMS, workload->keys};
    return hac_query_run_begin(job, &query, workload->kernels, err);
}

/* The query's next plan. HAC_NOT_FOUND: the query is done. HAC_UNSUPPORTED: the plan uses another engine than
 * the one to be measured. */
static hac_status plan_query(hacd_job *job, uint32_t mask, const hac_workload *workload, hac_error *err)
{
    if (mask & job->excluded)
        return hac_fail(err, HAC_UNSUPPORTED, "a device of this measurement has failed; see above");
    hac_status status = hac_query_run_next_plan(job, mask, err);
    hac_plan_engine engine = status == HAC_OK ? job->plan->query.engine : HAC_PLAN_ENGINE_NONE;
    if (engine == HAC_PLAN_ENGINE_NONE ||
        engine == (workload->kernels ? HAC_PLAN_ENGINE_DEVICE : HAC_PLAN_ENGINE_HOST))
        return status;
    return hac_fail(err, HAC_UNSUPPORTED, "device kernels cannot run on %s",
                    job->jobs->devices->items[__builtin_ctz(mask)]->config.name);
}

/* A sort replaces the current plan; a query makes its plans itself. */
hac_status hac_measurement_begin(hacd_job *job, uint32_t mask, const hac_workload *workload, hac_error *err)
{
    hac_plan *plan = NULL;
    hac_query_run_end(job);
    hac_status status =
        workload->keys != 0 ? begin_query(job, workload, err) : plan_sort(job, mask, workload, &plan, err);
    if (status == HAC_OK && workload->keys != 0)
        return plan_query(job, mask, workload, err);
    if (status == HAC_OK)
        hacd_job_set_plan(job, plan);
    return status;
}

hac_status hac_measurement_go_on(hacd_job *job, uint32_t mask, const hac_workload *workload, hac_error *err)
{
    return workload->keys != 0 ? plan_query(job, mask, workload, err) : HAC_NOT_FOUND;
}

/* ---- what tasks report -------------------------------------------------------------------------------- */

void hac_measurement_task_done(hacd_job *job, uint32_t task, const Hac__Executor__Done *done)
{
    if (hac_query_of(job) != NULL)
        hac_query_run_task_done(job, task, done);
    else
        hac_sort_trim(job, task, done);
}

hac_status hac_measurement_task_ended(hacd_job *job, uint32_t task, hac_error *err)
{
    return hac_query_of(job) != NULL ? hac_query_run_task_ended(job, task, err) : HAC_OK;
}

bool hac_measurement_task_failed(hacd_job *job, uint32_t task, const Hac__Executor__Done *done)
{
    return hac_query_of(job) != NULL && hac_query_run_task_failed(job, task, done);
}

/* ---- begin and end ------------------------------------------------------------------------------------ */

hac_status hac_measurement_devices(hacd_job *job, const Hac__Client__SubmitCalibrate *request, hac_error *err)
{
    const hac_devices *devices = job->jobs->devices;
    hac_status status =
        hac_devices_mask(devices, request->devices, request->n_devices, &job->device_mask, err);
    for (uint32_t i = 0; status == HAC_OK && request->n_devices == 0 && i < devices->count; i++)
        job->device_mask |= hac_device_usable(devices->items[i]) ? 1u << i : 0;
    if (status == HAC_OK && job->device_mask == 0)
        return hac_fail(err, HAC_FAILED, "no device is usable: %s", devices->problem);
    return status;
}

hac_status hac_measurement_take(hacd_job *job, const Hac__Client__CompiledQuery *query, hac_error *err)
{
    hac_measurement *measurement = job->kind_state;
    measurement->compiled = *query;
    measurement->compiled.query = (ProtobufCBinaryData){0, NULL};
    if (!hac_query_keep_bytes(&measurement->compiled.query.data, &measurement->compiled.query.len,
                              &query->query))
        return hac_fail_no_memory(err);
    return hac_pool_alloc(job->user, HAC_CALIBRATE_ITEMS * 8, false, &job->input, err);
}

void hac_measurement_free(hacd_job *job)
{
    hac_measurement *measurement = job->kind_state;
    hac_query_run_end(job);
    free(measurement->compiled.query.data);
}
