/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "job.h"

const char *const hac_metrics_flows[HAC_METRICS_FLOWS] = {"sort",    "mapreduce", "splice", "parquet",
                                                          "opsplit", "calibrate", "tune",   "other"};

const double hac_bounds_seconds[] = {1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1,     0.3,
                                     1,    3,    10,   30,   100,  1000, INFINITY};
const double hac_bounds_ratio[] = {0.1,  0.25, 0.5,  0.7, 0.8, 0.9, 0.95, 1,
                                   1.05, 1.1,  1.25, 1.5, 2,   4,   10,   INFINITY};
const double hac_bounds_fill[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1, INFINITY};
const double hac_bounds_turn[] = {3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1, INFINITY};

void hac_histogram_add(hac_histogram *histogram, const double *bounds, double value)
{
    unsigned i = 0;
    if (!isfinite(value) || value < 0)
        return;
    while (value > bounds[i])
        i++;
    histogram->counts[i]++;
    histogram->sum += value;
}

static hac_flow_metrics *flow_of(hac_metrics *metrics, const char *flow)
{
    unsigned i = 0;
    while (i + 1 < HAC_METRICS_FLOWS && strcmp(hac_metrics_flows[i], flow) != 0)
        i++;
    return &metrics->flows[i];
}

/* By name, not by index: devices come and go with a reload. */
static unsigned device_index(hac_metrics *metrics, const char *name)
{
    for (unsigned i = 0; i < metrics->n_devices; i++)
        if (strcmp(metrics->devices[i].name, name) == 0)
            return i;
    if (metrics->n_devices == HAC_METRICS_DEVICES_MAX)
        return HAC_METRICS_DEVICES_MAX - 1;
    bool last = metrics->n_devices == HAC_METRICS_DEVICES_MAX - 1;
    hac_device_metrics *device = &metrics->devices[metrics->n_devices];
    snprintf(device->name, sizeof device->name, "%s", last ? "other" : name);
    return metrics->n_devices++;
}

static hac_device_metrics *device_of(hac_metrics *metrics, const char *name)
{
    return &metrics->devices[device_index(metrics, name)];
}

/* ---- jobs --------------------------------------------------------------------------------------------- */

/* What each device did of the items that were shared out, and what was planned. */
static void note_shares(hac_metrics *metrics, hac_flow_metrics *flow, const hac_job *job)
{
    const hac_plan *plan = job->plan;
    double items[HAC_PLAN_MAX_DEVICES] = {0}, all = 0;
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
        unsigned index = device_index(metrics, plan->devices[d].name);
        flow->planned[index] = (float)plan->devices[d].share;
        flow->measured[index] = (float)(items[d] / all);
        flow->shared |= UINT64_C(1) << index;
    }
}

static double seconds_between(uint64_t from_ns, uint64_t to_ns)
{
    return to_ns > from_ns ? (double)(to_ns - from_ns) * 1e-9 : 0;
}

static void note_done(hac_metrics *metrics, hac_flow_metrics *flow, const hac_job *job)
{
    hac_histogram_add(&flow->run_seconds, hac_bounds_seconds,
                      seconds_between(job->started_ns, job->ended_ns));
    flow->bytes_out +=
        job->rows_bytes + (job->result_bytes != 0 ? job->result_bytes : job->result_data_bytes);
    if (job->plan == NULL)
        return;
    double measured = job->earlier_seconds;
    if (job->run.started_ns != 0)
        measured += seconds_between(job->run.started_ns, job->ended_ns);
    double predicted = job->plan->predicted_seconds + job->earlier_predicted;
    if (predicted > 0 && measured > 0)
        hac_histogram_add(&flow->prediction_ratio, hac_bounds_ratio, predicted / measured);
    if (job->plan->k > 0)
        flow->k = job->plan->k;
    note_shares(metrics, flow, job);
}

void hac_metrics_job(hac_metrics *metrics, const hac_job *job)
{
    hac_flow_metrics *flow = flow_of(metrics, hac_job_flow(job));
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

void hac_metrics_job_ended(hac_metrics *metrics, const hac_job *job)
{
    flow_of(metrics, hac_job_flow(job))->ended[job->state - HAC_JOB_DONE]++;
}

/* ---- tasks -------------------------------------------------------------------------------------------- */

static void note_splice(hac_device_metrics *device, const uint64_t *values)
{
    const uint64_t most = UINT64_C(1) << 48; /* an executor may lie */
    uint64_t v[HAC_SPLICE_N_VALUES];
    for (unsigned i = 0; i < HAC_SPLICE_N_VALUES; i++)
        v[i] = values[i] < most ? values[i] : most;
    if (v[HAC_SPLICE_BLOCKS] == 0 && v[HAC_SPLICE_SETS] == 0)
        return;
    device->splices = true;
    device->blocks += v[HAC_SPLICE_BLOCKS];
    device->bytes += v[HAC_SPLICE_BLOCK_BYTES];
    device->pauses += v[HAC_SPLICE_PAUSES];
    device->triggers += v[HAC_SPLICE_TRIGGERS];
    if (v[HAC_SPLICE_CAPACITY] > 0)
        hac_histogram_add(&device->fill, hac_bounds_fill,
                          (double)v[HAC_SPLICE_FILL] / (double)v[HAC_SPLICE_CAPACITY]);
    for (unsigned i = 0; i < HAC_SPLICE_N_STAGES; i++)
        device->stage_seconds[i] += (double)v[HAC_SPLICE_STAGES + i * HAC_SPLICE_STAGE_VALUES] * 1e-9;
}

void hac_metrics_task(hac_metrics *metrics, const char *name, double predicted, double seconds,
                      const uint64_t *values)
{
    hac_device_metrics *device = device_of(metrics, name);
    if (!(seconds >= 0 && seconds < 1e9 && predicted >= 0 && predicted < 1e9))
        return;
    device->busy_seconds += seconds;
    device->predicted_seconds += predicted;
    if (predicted > 0 && seconds > 0)
        hac_histogram_add(&device->prediction_ratio, hac_bounds_ratio, predicted / seconds);
    if (values != NULL)
        note_splice(device, values);
}

void hac_metrics_task_ended(hac_metrics *metrics, const char *name, bool lost)
{
    hac_device_metrics *device = device_of(metrics, name);
    device->tasks += !lost;
    device->lost += lost;
}

/* ---- executors, the loop ------------------------------------------------------------------------------ */

void hac_metrics_executor_started(hac_metrics *metrics, const char *name)
{
    device_of(metrics, name)->starts++;
}

void hac_metrics_executor_ended(hac_metrics *metrics, const char *name, hac_executor_end how)
{
    device_of(metrics, name)->ends[how]++;
}

void hac_metrics_turn(hac_metrics *metrics, uint64_t now_ns, uint64_t idle_ns)
{
    if (metrics->turn_ns != 0) {
        uint64_t turn = now_ns - metrics->turn_ns, idle = idle_ns - metrics->idle_ns;
        hac_histogram_add(&metrics->turn_seconds, hac_bounds_turn, seconds_between(idle, turn));
    }
    metrics->turn_ns = now_ns;
    metrics->idle_ns = idle_ns;
}
