/* SPDX-License-Identifier: Apache-2.0 */
#include "job_why.h"

#include <stdio.h>
#include <string.h>

#include "job_parts.h"
#include "receipt_engines.h"
#include "state.h"

/* Whether a task of the job waits for a builder of this device. */
static bool awaits_program(const hacd_job *job, uint32_t plan_device, const hac_server_device *device)
{
    if (hacd_job_ended(job) || job->run.tasks == NULL)
        return false;
    for (size_t i = 0; i < job->plan->n_tasks; i++) {
        const hac_task_state *task = &job->run.tasks[i];
        if ((task->awaits >> plan_device & 1) != 0 && task->builds[plan_device] == device->builds)
            return true;
    }
    return false;
}

static void why_waiting(hac_text *t, const hac_server *server, const hacd_job *job)
{
    unsigned running, waiting;
    hac_jobs_count(&server->jobs, &running, &waiting);
    if (job->state == HAC_JOB_QUEUED && !job->waiting)
        hac_text_addf(t, "It is queued: %u job%s before it%s.\n", running, running == 1 ? " runs" : "s run",
                      server->probing ? ", and devices are being probed" : "");
    if (job->state == HAC_JOB_QUEUED && job->restart)
        hac_text_add(
            t, "It waits until this user's other jobs have ended: there is too little memory beside them.\n");
    if (hacd_job_waits_for_memory(job))
        hac_text_add(
            t, "It waits for memory, which other jobs and buffers of this user have: those that came before "
               "it get theirs first.\n");
    else if (job->waiting)
        hac_text_add(t, "It waits for its client to send more of its input.\n");
    if (job->state == HAC_JOB_QUEUED && job->kind->measures && hac_builders_urgent(&server->builders))
        hac_text_add(t, "It measures, and waits until no kernels are being built any more.\n");
    for (uint32_t i = 0; job->plan != NULL && i < job->plan->n_devices; i++) {
        const hac_server_device *d = server->devices.items[job->plan->devices[i].machine_index];
        if (d->n_wanted == 0 || !awaits_program(job, i, d))
            continue;
        hac_text_add(t, "It waits for ");
        for (size_t w = 0; w < d->n_wanted; w++)
            hac_text_addf(t, "%s%s", w > 0 ? ", " : "", d->wanted[w]);
        hac_text_addf(t, " to be built for %s (%s).\n", d->config.name,
                      d->build_note[0] ? d->build_note : "starting");
    }
}

/* The devices that did the work, or will. If the plan has one task that any of several devices may run, only
 * the records tell. */
static void why_devices(hac_text *t, const hacd_job *job)
{
    const hac_plan *plan = job->plan;
    char devices[1024];
    hac_plan_name_devices(plan, devices, sizeof devices);
    if (hac_plan_is_one_task(plan) && job->run.n_records > 0)
        snprintf(devices, sizeof devices, "%s",
                 plan->devices[job->run.records[job->run.n_records - 1].device].name);
    bool began = job->started_ns != 0;
    hac_text_addf(t, "It %s on %s", !hacd_job_ended(job) ? "runs" : began ? "ran" : "was to run", devices);
}

static void why_candidates(hac_text *t, const hac_plan *plan)
{
    if (plan->n_candidates == 0)
        return;
    hac_text_add(t, "What was considered:\n");
    for (size_t i = 0; i < plan->n_candidates; i++) {
        const hac_plan_candidate *c = &plan->candidates[i];
        char text[HAC_CANDIDATE_REASON_MAX];
        const char *reason = hac_candidate_reason(c, text, sizeof text);
        if (c->seconds >= 0)
            hac_text_addf(t, "  %c %-44s %10.3f ms  %s\n", c->chosen ? '*' : ' ', c->name, c->seconds * 1e3,
                          reason);
        else
            hac_text_addf(t, "    %-44s %13s  %s\n", c->name, "–", reason);
    }
}

static void why_excluded(hac_text *t, const hac_server_device *device)
{
    hac_text_add(t, "it failed during this job; see the log\n");
    for (size_t i = 0; i < device->n_failed_programs; i++)
        hac_text_addf(t, "  its program %s cannot be built: %s\n", device->failed_programs[i].name,
                      device->failed_programs[i].reason);
}

/* Each device that the plan does not use, and why. */
static void why_not(hac_text *t, const hac_server *server, const hacd_job *job)
{
    for (uint32_t i = 0; i < server->devices.count; i++) {
        const hac_server_device *d = server->devices.items[i];
        bool used = false;
        for (size_t p = 0; p < job->plan->n_devices; p++)
            used |= strcmp(job->plan->devices[p].name, d->config.name) == 0;
        if (used || d->retired)
            continue;
        hac_text_addf(t, "Why not %s: ", d->config.name);
        if (!hac_devices_may_use(&server->devices, i, job->user))
            hac_text_addf(t, "it is %s: %s\n", hac_device_state_name(&server->devices, i, job->user),
                          hac_device_reason(&server->devices, i, job->user));
        else if (job->device_mask != 0 && !(job->device_mask & (1u << i)))
            hac_text_add(t, "--devices left it out\n");
        else if (job->excluded & (1u << i))
            why_excluded(t, d);
        else
            hac_text_add(t, "no candidate that uses it was predicted to be faster (above)\n");
    }
}

static void why_engine(hac_text *t, const hac_plan *plan)
{
    static const char *const engines[HAC_N_PLAN_ENGINES] = {
        [HAC_PLAN_ENGINE_WHOLE] = "all in one task",
        [HAC_PLAN_ENGINE_ROWS] = "in chunks, without aggregation",
        [HAC_PLAN_ENGINE_HOST] = "in chunks, with host codelets",
        [HAC_PLAN_ENGINE_DEVICE] = "in chunks, with device kernels",
        [HAC_PLAN_ENGINE_MIXED] = "in chunks, with host codelets on CPUs and kernels on the other devices"};
    if (plan->sort.algorithm[0] != '\0')
        hac_text_addf(t, " with the %s algorithm%s%s", plan->sort.algorithm,
                      plan->sort.scheme[0] ? ", scheme " : "", plan->sort.scheme);
    if (engines[plan->query.engine] != NULL)
        hac_text_addf(t, " %s", engines[plan->query.engine]);
    hac_text_add(t, ".\n");
}

/* What ran on each device's behalf, and where; and why kernels did not run. */
static void why_engines(hac_text *t, const hacd_job *job)
{
    char why[400];
    for (uint32_t d = 0; d < job->plan->n_devices; d++) {
        hac_device_use use = hac_receipt_use(job, d);
        hac_receipt_engines_text(job, d, &use, t);
    }
    bool not_run = hac_receipt_why_no_kernels(job, why, sizeof why);
    if (not_run)
        hac_text_addf(t, "No kernels ran: %s.\n", why);
    if (job->plan->query.remark[0] != '\0' && (!not_run || strstr(why, job->plan->query.remark) == NULL))
        hac_text_addf(t, "Note: %s.\n", job->plan->query.remark);
}

static double input_and_result(const hac_plan *plan)
{
    double bytes = 0;
    for (size_t i = 0; i < plan->n_buffers; i++)
        if (plan->buffers[i].role != HAC_BUFFER_WORK)
            bytes += (double)plan->buffers[i].bytes;
    return bytes;
}

hac_status hac_job_why(const hac_server *server, const hacd_job *job, char **ret, size_t *ret_bytes,
                       hac_error *err)
{
    hac_text t = HAC_TEXT_NONE;
    hac_text_addf(&t, "Job %llu (%s) is %s", (unsigned long long)job->id, hac_flow_name(job->flow),
                  hacd_job_state_name(hacd_job_state_for_all(job)));
    hac_text_addf(&t, job->message[0] != '\0' && job->state != HAC_JOB_DONE ? ": %s.\n" : ".\n",
                  job->message);
    const hacd_job *run = hac_job_parts_run(job);
    if (run != NULL)
        hac_text_addf(&t, "It %s of an opsplit run: `hacctl why %llu` explains the run.\n",
                      hac_job_parts_role(job), (unsigned long long)run->id);
    why_waiting(&t, server, job);
    if (job->plan != NULL) {
        const hac_plan *plan = job->plan;
        why_devices(&t, job);
        why_engine(&t, plan);
        if (plan->n_buffers > 0)
            hac_text_addf(&t, "%s take %.1f MiB; input and result are %.1f MiB of them.\n",
                          plan->query.rounds > 0 ? "The buffers of its last round" : "Its buffers",
                          (double)hac_plan_memory(plan) / (1 << 20), input_and_result(plan) / (1 << 20));
        if (plan->k > 0)
            hac_text_addf(&t, "Capability ratio k = %.3f, from the %s.\n", plan->k, plan->k_source);
        why_engines(&t, job);
        why_candidates(&t, plan);
        why_not(&t, server, job);
        if (job->state == HAC_JOB_DONE)
            hac_text_addf(&t, "Predicted %.3f ms, measured %.3f ms.\n",
                          (plan->predicted_seconds + job->earlier.predicted) * 1e3,
                          hacd_job_run_seconds(job) * 1e3);
        if (job->build_seconds > 0)
            hac_text_addf(
                &t, "Of the %.1f s since it came, %.1f s went to building kernels (once for this device).\n",
                hacd_job_seconds(job), job->build_seconds);
    }
    if (job->retries > 0 || job->restarts > 0)
        hac_text_addf(
            &t,
            "%u task%s lost with an executor, and it started over %u time%s; `hacctl log %llu` tells more.\n",
            job->retries, job->retries == 1 ? " was" : "s were", job->restarts, job->restarts == 1 ? "" : "s",
            (unsigned long long)job->id);
    return hac_text_finish(&t, ret, ret_bytes, err);
}
