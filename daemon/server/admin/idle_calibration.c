/* SPDX-License-Identifier: Apache-2.0 */
#include "idle_calibration.h"

#include <string.h>

#include "base/clock.h"
#include "scheduler/rates.h"
#include "shutdown.h"
#include "state.h"

#define IDLE_SECONDS 2.0
#define EXIT_SECONDS 5.0 /* before hacd exits because it is idle, no measurement begins */
#define ATTEMPTS_MAX 4   /* measurements of a device that ended, or were ended, before all was measured */

static bool is_cpu(const hac_server_device *device)
{
    return device->config.kind == HAC_DEVICE_KIND_CPU;
}

/* Whether the speed of the device is known at sorts and at the codelet that aggregates there. */
static bool is_measured(const hac_server *server, const hac_server_device *device)
{
    const char *codelet = is_cpu(device) ? "query.aggregate" : "hash.aggregate";
    return hac_rate_sort(server->models, device, HAC_TYPE_U32) > 0 &&
           hac_rate_table(server->models, device, codelet) > 0;
}

static bool wants_measurement(const hac_server *server, const hac_server_device *device)
{
    return device->state == HAC_DEVICE_READY && !device->retired && device->calibrations < ATTEMPTS_MAX &&
           !is_measured(server, device);
}

static bool is_idle(const hac_server *server)
{
    const hac_jobs *jobs = &server->jobs;
    if (server->probing || server->reload.pending || jobs->draining || server->stopping ||
        hac_jobs_unfinished(jobs) > 0 || hac_builders_urgent(&server->builders))
        return false;
    for (size_t i = 0; i < server->devices.count; i++)
        if (server->devices.items[i]->building)
            return false;
    return hac_shutdown_idle_left(server) > EXIT_SECONDS &&
           hac_seconds_since(jobs->idle_since_ns) > IDLE_SECONDS;
}

int hac_idle_calibration_next(const hac_server *server)
{
    if (!server->config.calibrate_when_idle || !is_idle(server))
        return -1;
    for (size_t i = 0; i < server->devices.count; i++)
        if (wants_measurement(server, server->devices.items[i]))
            return (int)i;
    return -1;
}

const char *hac_idle_calibration_state(const hac_server *server, uint32_t index)
{
    const hac_server_device *device = server->devices.items[index];
    const hacd_job *job = server->jobs.by_itself;
    if (is_measured(server, device))
        return "measured";
    if (!server->config.calibrate_when_idle)
        return "off";
    if (job != NULL && (job->device_mask >> index & 1) != 0)
        return "measuring";
    return device->calibrations < ATTEMPTS_MAX ? "waiting" : "given up";
}
