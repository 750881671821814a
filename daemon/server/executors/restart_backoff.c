/* SPDX-License-Identifier: Apache-2.0 */
#include "restart_backoff.h"

#include <stdio.h>

#include "base/clock.h"

#define BACKOFF_FIRST        0.1 /* seconds */
#define BACKOFF_MAX          30.0
#define DEATHS_TO_QUARANTINE 5
#define QUARANTINE_SECONDS   60.0

/* When the costs of the failed starts since the last successful one add up to this, the device is
 * quarantined. */
#define START_COST_MAX 20

static const unsigned start_cost[] = {
    [HAC_START_NOT_CREATED] = 1,
    [HAC_START_KILLED] = 1,
    [HAC_START_DIED] = 3,  /* seven of them take 6 s with their back-offs */
    [HAC_START_HUNG] = 10, /* half a minute each */
};

static void wait_seconds(hac_server_device *device, double seconds)
{
    device->retry_at_ns = hac_now_ns() + (uint64_t)(seconds * 1e9);
}

bool hac_restart_allowed(const hac_server_device *device)
{
    return device->retry_at_ns <= hac_now_ns();
}

void hac_restart_pause(hac_server_device *device)
{
    wait_seconds(device, BACKOFF_FIRST);
}

static double backoff(unsigned deaths)
{
    double seconds = BACKOFF_FIRST;
    for (unsigned i = 1; i < deaths && seconds < BACKOFF_MAX; i++)
        seconds *= 2;
    return seconds < BACKOFF_MAX ? seconds : BACKOFF_MAX;
}

void hac_restart_after_death(const hac_devices *devices, uint32_t index, const char *how,
                             const hac_log_subject *about)
{
    hac_server_device *device = devices->items[index];
    device->deaths++;
    double seconds = backoff(device->deaths);
    if (device->deaths >= DEATHS_TO_QUARANTINE && hac_devices_usable(devices) > 1) {
        device->state = HAC_DEVICE_QUARANTINED;
        seconds = QUARANTINE_SECONDS;
        snprintf(device->reason, sizeof device->reason, "%u executors in a row died, the last one %s",
                 device->deaths, how);
    }
    wait_seconds(device, seconds);
    hac_log_record(HAC_LOG_WARNING, HAC_EVENT_EXECUTOR_DIED, about,
                   "executor of %s %s; the next one starts in %.1f s at the earliest", device->config.name,
                   how, seconds);
}

void hac_restart_after_failed_start(hac_server_device *device, hac_start_failure failure, const char *how)
{
    if (failure == HAC_START_NOT_CREATED) /* no death follows that would make the device wait */
        wait_seconds(device, BACKOFF_FIRST * (1 + device->start_cost / 2.0));
    device->start_cost += start_cost[failure];
    if (device->start_cost < START_COST_MAX)
        return;
    device->state = HAC_DEVICE_QUARANTINED;
    wait_seconds(device, QUARANTINE_SECONDS);
    snprintf(device->reason, sizeof device->reason, "no executor of it gets ready; the last one %.400s", how);
    const hac_log_subject about = hac_log_device(device->config.name);
    hac_log_record(HAC_LOG_ERROR, HAC_EVENT_DEVICE_RESTS, &about, "device %s is quarantined for %.0f s: %s",
                   device->config.name, QUARANTINE_SECONDS, device->reason);
}

void hac_restart_succeeded(hac_server_device *device)
{
    device->start_cost = 0;
}

void hac_restart_forget_deaths(hac_server_device *device)
{
    device->deaths = 0;
}

void hac_restart_end_quarantine(hac_server_device *device)
{
    if (device->state != HAC_DEVICE_QUARANTINED || !hac_restart_allowed(device))
        return;
    device->state = HAC_DEVICE_READY;
    device->reason[0] = '\0';
    device->deaths = DEATHS_TO_QUARANTINE - 1;
    if (device->start_cost >= START_COST_MAX)
        device->start_cost = START_COST_MAX - 1;
}
