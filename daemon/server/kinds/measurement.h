/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measurements of devices: runs of sorts and queries over random numbers that an executor makes. The kinds
 * `calibrate` (job_calibrate.c) and `tune` (job_tune.c) decide what is measured, and keep the times.
 */
#ifndef SERVER_MEASUREMENT_H
#define SERVER_MEASUREMENT_H

#include "query_run.h"
#include "submission.h"

/* What one run does: sorts `items` keys of `type`, or groups that many rows by `keys` keys. */
typedef struct hac_workload {
    hac_type type;
    uint64_t items;
    hac_sort_algorithm algorithm;
    uint32_t keys; /* number of distinct keys, a power of two; 0: a sort */
    bool kernels;  /* of a query: device kernels, else host codelets */
} hac_workload;

/* The beginning of kind_state in these kinds. */
typedef struct hac_measurement {
    hac_query_holder query; /* the query that is being measured */
    bool filled;
    uint32_t keys;                       /* the input holds numbers below it; 0: any numbers */
    Hac__Client__CompiledQuery compiled; /* base/calibrate_layout.h; its bytes are owned */
} hac_measurement;

/* Takes the query (base/calibrate_layout.h), and the memory of the input. `job->device_mask` must be set. */
HAC_MUST_USE hac_status hac_measurement_take(hacd_job *job, const Hac__Client__CompiledQuery *query,
                                             hac_error *err);

/* The devices that the request names; all usable ones if it names none. */
HAC_MUST_USE hac_status hac_measurement_devices(hacd_job *job, const Hac__Client__SubmitCalibrate *request,
                                                hac_error *err);

/* Sets the plan that fills the input with random bytes, or with numbers below `keys` if that is not 0, on one
 * device of `mask`. */
HAC_MUST_USE hac_status hac_measurement_fill(hacd_job *job, uint32_t mask, uint32_t keys, hac_error *err);

/* Sets the first plan of a run on the devices of `mask`. The input must be filled for the workload's keys. */
HAC_MUST_USE hac_status hac_measurement_begin(hacd_job *job, uint32_t mask, const hac_workload *workload,
                                              hac_error *err);

/* A plan of the run has been executed. Sets the next one, or returns HAC_NOT_FOUND: the run is over. */
HAC_MUST_USE hac_status hac_measurement_go_on(hacd_job *job, uint32_t mask, const hac_workload *workload,
                                              hac_error *err);

/* For hacd_job_kind. */
void hac_measurement_task_done(hacd_job *job, uint32_t task, const Hac__Executor__Done *done);
hac_status hac_measurement_task_ended(hacd_job *job, uint32_t task, hac_error *err);
bool hac_measurement_task_failed(hacd_job *job, uint32_t task, const Hac__Executor__Done *done);
void hac_measurement_free(hacd_job *job);

#endif
