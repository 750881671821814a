/* SPDX-License-Identifier: Apache-2.0 */
/* Counters for hacd's metrics, all zero when hacd starts. Counting costs a few additions where things happen.
 * What can be looked up (queue, users, executors) is looked up when somebody asks for metrics. */
#ifndef SERVER_METRICS_H
#define SERVER_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/query_layout.h"
#include "planner/plan.h"

#define HAC_METRICS_BUCKETS_MAX 16
#define HAC_METRICS_DEVICES_MAX 64 /* names ever seen; later ones are counted as "other" */
#define HAC_METRICS_STATUSES    16 /* error codes */

typedef struct hac_histogram {
    /* per bucket, not cumulative; the last one counts values beyond all bounds */
    uint64_t counts[HAC_METRICS_BUCKETS_MAX];
    double sum;
} hac_histogram;

typedef enum hac_executor_end {
    HAC_END_ASKED = 0, /* idle, or hacd is stopping */
    HAC_END_HUNG,
    HAC_END_SIGKILL, /* SIGKILL that hacd did not send */
    HAC_END_SIGNAL,
    HAC_END_EXIT,
    HAC_N_ENDS
} hac_executor_end;

typedef enum hac_refusal {
    HAC_REFUSAL_LIMIT = 0,
    HAC_REFUSAL_DESCRIPTORS,
    HAC_REFUSAL_ERROR,
    HAC_N_REFUSALS
} hac_refusal;
typedef enum hac_http_result {
    HAC_HTTP_SERVED = 0,
    HAC_HTTP_REFUSED,
    HAC_HTTP_LATE,
    HAC_N_HTTP_RESULTS
} hac_http_result;

typedef struct hac_flow_metrics {
    uint64_t ended[3]; /* done, failed, cancelled */
    uint64_t bytes_in, bytes_out, retries, restarts;
    hac_histogram queue_seconds, run_seconds, prediction_ratio;
    double build_seconds, k;                 /* `k` of the last job that has one; 0: none yet */
    float planned[HAC_METRICS_DEVICES_MAX];  /* planned shares of the last job that was split */
    float measured[HAC_METRICS_DEVICES_MAX]; /* measured shares of that job */
    uint64_t shared;                         /* bit mask of the devices of that job */
} hac_flow_metrics;

typedef struct hac_device_metrics {
    char name[64];
    uint64_t tasks, lost, starts, ends[HAC_N_ENDS];
    double busy_seconds, predicted_seconds;
    hac_histogram prediction_ratio, fill;
    uint64_t pauses, triggers, blocks, bytes;
    double stage_seconds[HAC_SPLICE_N_STAGES];
    bool splices;
} hac_device_metrics;

typedef struct hac_metrics {
    hac_flow_metrics flows[HAC_N_FLOWS];
    hac_device_metrics devices[HAC_METRICS_DEVICES_MAX];
    unsigned n_devices;
    uint64_t accepted, cut, requests;
    uint64_t refused_connections[HAC_N_REFUSALS];
    uint64_t refused[HAC_METRICS_STATUSES]; /* requests, by error code */
    uint64_t http[HAC_N_HTTP_RESULTS];
    hac_histogram turn_seconds;
    uint64_t turn_ns, idle_ns; /* at the end of the last turn */
} hac_metrics;

/* ---- hooks ---- */

/* The index of a device, by name: a reload adds and removes devices. */
unsigned hac_metrics_device(hac_metrics *metrics, const char *name);
/* A task has succeeded after `seconds`. `values` are what a splice reports (base/query_layout.h); NULL: none.
 */
void hac_metrics_task(hac_metrics *metrics, const char *device, double predicted, double seconds,
                      const uint64_t *values);
void hac_metrics_task_ended(hac_metrics *metrics, const char *device, bool lost);
void hac_metrics_executor_started(hac_metrics *metrics, const char *device);
void hac_metrics_executor_ended(hac_metrics *metrics, const char *device, hac_executor_end how);
/* A turn of the loop has ended. `idle_ns` is the time that the loop has waited since its start. */
void hac_metrics_turn(hac_metrics *metrics, uint64_t now_ns, uint64_t idle_ns);

void hac_histogram_add(hac_histogram *histogram, const double *bounds, double value);

/* Upper bounds of the buckets, terminated by INFINITY. */
extern const double hac_bounds_seconds[], hac_bounds_ratio[], hac_bounds_fill[], hac_bounds_turn[];

#endif
