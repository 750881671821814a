/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

unsigned hac_metrics_device(hac_metrics *metrics, const char *name)
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
    return &metrics->devices[hac_metrics_device(metrics, name)];
}

/* ---- tasks -------------------------------------------------------------------------------------------- */

static void note_splice(hac_device_metrics *device, const uint64_t *values)
{
    const uint64_t max = UINT64_C(1) << 48; /* an executor may report nonsense */
    uint64_t v[HAC_SPLICE_N_VALUES];
    for (unsigned i = 0; i < HAC_SPLICE_N_VALUES; i++)
        v[i] = values[i] < max ? values[i] : max;
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
        hac_histogram_add(&metrics->turn_seconds, hac_bounds_turn,
                          turn > idle ? (double)(turn - idle) * 1e-9 : 0);
    }
    metrics->turn_ns = now_ns;
    metrics->idle_ns = idle_ns;
}
