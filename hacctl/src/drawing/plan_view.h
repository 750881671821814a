/* SPDX-License-Identifier: Apache-2.0 */
/* What drawings need of a plan, read from its JSON. Names point into that JSON. */
#ifndef HACCTL_PLAN_VIEW_H
#define HACCTL_PLAN_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "base/error.h"

enum { HAC_PLAN_VIEW_DEVICES_MAX = 64, HAC_PLAN_VIEW_PARTS_MAX = 8, HAC_PLAN_VIEW_STEPS_MAX = 21 };

typedef struct hac_plan_view_task {
    const char *stage;
    uint64_t devices;               /* a bit for each device that may run it */
    bool range;                     /* divided among these devices; else one of them runs all of it */
    double start, seconds;          /* predicted */
    unsigned step_first, step_last; /* steps of the sorting network that it runs; 0: none */
    unsigned item_first, item_count;
    bool side_by_side; /* other devices run the same steps at the same time */
} hac_plan_view_task;

typedef struct hac_plan_view {
    const char *flow, *k_source;
    double k, rounds, seconds; /* NAN: does not apply */
    const char *device_names[HAC_PLAN_VIEW_DEVICES_MAX];
    double shares[HAC_PLAN_VIEW_DEVICES_MAX];
    size_t n_devices;
    hac_plan_view_task *tasks;
    size_t n_tasks;
    double tasks_omitted; /* tasks of a very large plan that its JSON does not list */
    bool is_one_task;     /* a single task, which any of several devices may run */

    /* Sorts of arrays; `algorithm` is NULL for other plans. */
    const char *algorithm, *type, *scheme;
    double items, weaker_items, N;
    bool descending, argsort;

    /* A bitonic network small enough to be drawn. */
    bool is_small_network;
    unsigned n, n_steps; /* of 2^n items */
    struct hac_plan_view_part {
        size_t device;
        unsigned first, items;
        double k;
    } parts[HAC_PLAN_VIEW_PARTS_MAX];
    size_t n_parts;
    bool folded[HAC_PLAN_VIEW_STEPS_MAX + 1]; /* by step */
    size_t n_folded, n_corun;
} hac_plan_view;

HAC_MUST_USE hac_status hac_plan_view_read(const cJSON *plan, hac_plan_view *ret, hac_error *err);
void hac_plan_view_clear(hac_plan_view *view);

/* The device whose colour the task has: the only one that may run it, else the first of the plan. */
size_t hac_plan_view_task_device(const hac_plan_view_task *task);

#endif
