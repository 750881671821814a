/* SPDX-License-Identifier: Apache-2.0 */
#include "job_metrics.h"

/* What each device did of the range tasks, and what was planned. */
static void note_shares(hac_metrics *metrics, hac_flow_metrics *flow, const hacd_job *job)
{
    const hac_plan *plan = job->plan;
    double items[HAC_DEVICES_MAX] = {0}, all = 0;
    for (size_t i = 0; i < job->run.n_records; i++) {
        const hac_run_record *r = &job->run.records[i];
        if (r->lost || !plan->tasks[r->task].range)
            continue;
        items[r->device] += (double)r->count;
        all += (double)r->count;
    }
    if (plan->n_devices < 2 || all <= 0)
        return;
    flow->shared = 0;
    for (size_t d = 0; d < plan->n_devices; d++) {
        unsigned index = hac_metrics_device(metrics, plan->devices[d].name);
        flow->planned[index] = (float)plan->devices[d].share;
        flow->measured[index] = (float)(items[d] / all);
        flow->shared |= UINT64_C(1) << index;
    }
}

static double seconds_between(uint64_t from_ns, uint64_t to_ns)
{
    return to_ns > from_ns ? (double)(to_ns - from_ns) * 1e-9 : 0;
}

static void note_done(hac_metrics *metrics, hac_flow_metrics *flow, const hacd_job *job)
{
    hac_histogram_add(&flow->run_seconds, hac_bounds_seconds,
                      seconds_between(job->started_ns, job->ended_ns));
    flow->bytes_out +=
        job->rows_bytes + (job->result_bytes != 0 ? job->result_bytes : job->result_data_bytes);
    if (job->plan == NULL)
        return;
    double measured = job->earlier.seconds;
    if (job->run.started_ns != 0)
        measured += seconds_between(job->run.started_ns, job->ended_ns);
    double predicted = job->plan->predicted_seconds + job->earlier.predicted;
    if (predicted > 0 && measured > 0)
        hac_histogram_add(&flow->prediction_ratio, hac_bounds_ratio, predicted / measured);
    if (job->plan->k > 0)
        flow->k = job->plan->k;
    note_shares(metrics, flow, job);
}

void hacd_job_metrics_ended(const hacd_job *job)
{
    hac_metrics *metrics = job->jobs->metrics;
    hac_flow_metrics *flow = &metrics->flows[job->flow];
    flow->bytes_in += job->bytes_in;
    flow->retries += job->retries;
    flow->restarts += job->restarts;
    flow->build_seconds += job->build_seconds;
    if (job->started_ns != 0)
        hac_histogram_add(&flow->queue_seconds, hac_bounds_seconds,
                          seconds_between(job->submitted_ns, job->started_ns));
    if (job->state == HAC_JOB_DONE)
        note_done(metrics, flow, job);
}

void hacd_job_metrics_ended_for_all(const hacd_job *job)
{
    job->jobs->metrics->flows[job->flow].ended[job->state - HAC_JOB_DONE]++;
}
