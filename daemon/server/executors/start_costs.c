/* SPDX-License-Identifier: Apache-2.0 */
#include "start_costs.h"

#include <math.h>
#include <stdio.h>

#define START_ASSUMED 0.05 /* seconds, before an executor of the device was seen starting */
#define COLD_SUFFIX   "#cold"

/* A collision costs one sample. */
static uint64_t kind_bit(const hac_plan_task *task)
{
    uint64_t h = 14695981039346656037u ^ task->type; /* FNV-1a */
    for (const char *c = task->codelet; *c != '\0'; c++)
        h = (h ^ (unsigned char)*c) * 1099511628211u;
    return UINT64_C(1) << (h >> 58);
}

bool hac_executor_is_cold(hac_executor *executor, const hac_plan_task *task)
{
    uint64_t bit = kind_bit(task);
    bool cold = !(executor->warm & bit);
    executor->warm |= bit;
    return cold;
}

static void name_model(const hac_plan_task *task, char ret[HAC_MODEL_NAME_MAX])
{
    snprintf(ret, HAC_MODEL_NAME_MAX, "%.64s%s", task->codelet, COLD_SUFFIX);
}

void hac_start_costs_note_cold(hac_model_set *models, const hac_server_device *device,
                               const hac_plan_task *task, double seconds)
{
    char name[HAC_MODEL_NAME_MAX];
    if (task->model != NULL && hac_model_learner(task->model) != NULL)
        return;
    name_model(task, name);
    hac_model_record(models, device->key, name, task->type, 1, fmax(seconds, 0), false);
}

static double cold_seconds(const hac_model_set *models, const hac_server_device *device, uint64_t warm,
                           const hac_plan *plan, size_t plan_device)
{
    double seconds = 0;
    const char *last = NULL;
    for (size_t t = 0; t < plan->n_tasks; t++) {
        const hac_plan_task *task = &plan->tasks[t];
        if (!(task->device_mask >> plan_device & 1) || task->codelet == last)
            continue;
        last = task->codelet;
        uint64_t bit = kind_bit(task);
        char name[HAC_MODEL_NAME_MAX];
        name_model(task, name);
        if (!(warm & bit))
            seconds += hac_model_predict(models, device->key, name, task->type, 1, false).seconds;
        warm |= bit;
    }
    return seconds;
}

double hac_start_costs_of_executor(const hac_executors *executors, uint32_t device, const hac_user *user)
{
    const hac_executor *executor = hac_executor_find(executors, device, user);
    double start = executors->devices->items[device]->start_seconds;
    return executor != NULL && executor->state == HAC_EXECUTOR_READY ? 0 : start > 0 ? start : START_ASSUMED;
}

void hac_start_costs_add(const hac_executors *executors, const hac_model_set *models, const hac_user *user,
                         hac_plan *plan)
{
    double first = INFINITY;
    for (size_t d = 0; d < plan->n_devices; d++) {
        uint32_t index = plan->devices[d].machine_index;
        const hac_server_device *device = executors->devices->items[index];
        const hac_executor *executor = hac_executor_find(executors, index, user);
        bool ready = executor != NULL && executor->state == HAC_EXECUTOR_READY;
        double seconds = hac_start_costs_of_executor(executors, index, user);
        if (!plan->devices[d].explored)
            first = fmin(first, seconds + cold_seconds(models, device, ready ? executor->warm : 0, plan, d));
    }
    plan->start_seconds = isfinite(first) ? first : 0;
    plan->predicted_seconds += plan->start_seconds;
}
