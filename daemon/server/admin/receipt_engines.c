/* SPDX-License-Identifier: Apache-2.0 */
#include "receipt_engines.h"

#include <stdio.h>
#include <string.h>

#define HOST_ENGINE "host C"

static const hac_server_device *device_of(const hacd_job *job, uint32_t plan_device)
{
    return job->jobs->devices->items[hacd_job_device(job, plan_device)];
}

hac_device_use hac_receipt_use(const hacd_job *job, uint32_t plan_device)
{
    hac_device_use use = {0};
    if (job->earlier.uses != NULL)
        use = job->earlier.uses[hacd_job_device(job, plan_device)];
    for (size_t i = 0; i < job->run.n_records; i++)
        if (job->run.records[i].device == plan_device)
            hac_device_use_add(&use, &job->run.records[i]);
    return use;
}

static const char *kernel_engine(const hac_server_device *device)
{
    return device->simt ? "lock-step kernels" : "block kernels";
}

/* "cores 0, 1 of the host", "any core of the host" */
static void describe_host_cores(const hac_server_device *device, char *ret, size_t capacity)
{
    const hac_device_config *config = &device->config;
    size_t used = (size_t)snprintf(ret, capacity, "%s", config->n_affinity == 0 ? "any core" : "cores");
    for (size_t i = 0; i < config->n_affinity && used < capacity; i++)
        used +=
            (size_t)snprintf(ret + used, capacity - used, "%s%u", i == 0 ? " " : ", ", config->affinity[i]);
    if (used < capacity)
        snprintf(ret + used, capacity - used, " of the host");
}

/* A CPU device is cores of the host. */
static void describe_device_cores(const hac_server_device *device, char *ret, size_t capacity)
{
    if (device->on_host_cores && device->config.kind == HAC_DEVICE_KIND_CPU)
        describe_host_cores(device, ret, capacity);
    else
        snprintf(ret, capacity, "%s", device->config.name);
}

static void add_engine(hac_text *t, const char *engine, const char *cores, uint64_t tasks, double seconds)
{
    if (tasks == 0)
        return;
    hac_json_open(t, NULL, '{');
    hac_json_string(t, "engine", engine);
    hac_json_string(t, "runs_on", cores);
    hac_json_unsigned(t, "tasks", tasks);
    hac_json_number(t, "seconds", seconds);
    hac_json_close(t, '}');
}

void hac_receipt_engines(const hacd_job *job, uint32_t plan_device, const hac_device_use *use, hac_text *t)
{
    const hac_server_device *device = device_of(job, plan_device);
    char cores[256];
    hac_json_open(t, "engines", '[');
    describe_device_cores(device, cores, sizeof cores);
    add_engine(t, kernel_engine(device), cores, use->kernel_pieces, use->kernel_busy);
    describe_host_cores(device, cores, sizeof cores);
    add_engine(t, HOST_ENGINE, cores, use->pieces - use->kernel_pieces, use->busy - use->kernel_busy);
    hac_json_close(t, ']');
}

static void add_line(hac_text *t, const char *device, const char *engine, const char *cores, uint64_t tasks,
                     double seconds)
{
    if (tasks > 0)
        hac_text_addf(t, "  %s: %llu task%s in %s on %s, %.3f ms.\n", device, (unsigned long long)tasks,
                      tasks == 1 ? "" : "s", engine, cores, seconds * 1e3);
}

void hac_receipt_engines_text(const hacd_job *job, uint32_t plan_device, const hac_device_use *use,
                              hac_text *t)
{
    const hac_server_device *device = device_of(job, plan_device);
    char cores[256];
    describe_device_cores(device, cores, sizeof cores);
    add_line(t, device->config.name, kernel_engine(device), cores, use->kernel_pieces, use->kernel_busy);
    describe_host_cores(device, cores, sizeof cores);
    add_line(t, device->config.name, HOST_ENGINE, cores, use->pieces - use->kernel_pieces,
             use->busy - use->kernel_busy);
}

/* ---- why no kernels ran -------------------------------------------------------------------------------- */

static bool any_kernels(const hacd_job *job, uint64_t *ret_tasks)
{
    uint64_t kernels = 0;
    *ret_tasks = 0;
    for (uint32_t d = 0; d < job->plan->n_devices; d++) {
        hac_device_use use = hac_receipt_use(job, d);
        kernels += use.kernel_pieces;
        *ret_tasks += use.pieces;
    }
    return kernels > 0;
}

/* A candidate by kernels that has a price; else the first one without a price. NULL: none is listed. */
static const hac_plan_candidate *find_by_kernels(const hac_plan *plan)
{
    const hac_plan_candidate *first = NULL;
    for (size_t i = 0; i < plan->n_candidates; i++) {
        const hac_plan_candidate *c = &plan->candidates[i];
        if (!c->by_kernels)
            continue;
        if (c->seconds >= 0)
            return c;
        first = first == NULL ? c : first;
    }
    return first;
}

static void why_by_price(const hac_plan *plan, char *ret, size_t capacity)
{
    const hac_plan_candidate *kernels = find_by_kernels(plan);
    if (kernels == NULL) {
        snprintf(ret, capacity,
                 "no device was found that could run them; `hacctl devices` says what each lacks");
        return;
    }
    const char *why = kernels->reason;
    if (kernels->seconds >= 0)
        snprintf(ret, capacity,
                 "host codelets were predicted to take %.3f ms, kernels %.3f ms (%s); `--engine device` runs "
                 "kernels",
                 plan->predicted_seconds * 1e3, kernels->seconds * 1e3, why);
    else if (kernels->cause == HAC_CAUSE_NOT_ASKED)
        snprintf(ret, capacity, "%s; without `--engine host` the faster engine runs", why);
    else
        snprintf(ret, capacity, "%s; another query or device can change that", why);
}

static void why_of_query(const hac_query_info *query, const hac_plan *plan, char *ret, size_t capacity)
{
    if (query->remark[0] != '\0')
        snprintf(ret, capacity, "%s; another query or device can change that", query->remark);
    else if (query->engine == HAC_PLAN_ENGINE_WHOLE)
        snprintf(ret, capacity,
                 "the input is small, so one task in C does it all; larger input runs in parts, which "
                 "kernels can aggregate");
    else if (query->engine == HAC_PLAN_ENGINE_ROWS)
        snprintf(ret, capacity,
                 "nothing is aggregated, and there are no kernels for that; a query with aggregates "
                 "can run kernels");
    else
        why_by_price(plan, ret, capacity);
}

static void why_of_sub_operators(const hacd_job *job, char *ret, size_t capacity)
{
    bool cpus_only = true;
    for (uint32_t d = 0; d < job->plan->n_devices; d++)
        cpus_only &= device_of(job, d)->config.kind == HAC_DEVICE_KIND_CPU;
    if (cpus_only)
        snprintf(ret, capacity,
                 "CPUs run the host codelets of sub-operators; `--kernels`, or a device that is no CPU, runs "
                 "kernels where there are some");
    else
        snprintf(ret, capacity, "these sub-operators have no kernels, or none for their values; others have");
}

bool hac_receipt_why_no_kernels(const hacd_job *job, char *ret, size_t capacity)
{
    const hac_plan *plan = job->plan;
    uint64_t tasks;
    if (plan == NULL || any_kernels(job, &tasks) || tasks == 0)
        return false;
    if (job->n_by_host > 0)
        snprintf(ret, capacity, "they failed: %s; `hacctl devices` says whether a program cannot be built",
                 job->by_host_reason);
    else if (hac_plan_is_query(plan))
        why_of_query(&plan->query, plan, ret, capacity);
    else if (plan->flow == HAC_FLOW_OPSPLIT)
        why_of_sub_operators(job, ret, capacity);
    else
        snprintf(ret, capacity, "this job has no tasks that have kernels");
    return true;
}
