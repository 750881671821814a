/* SPDX-License-Identifier: Apache-2.0 */
#include "restart_backoff.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"

#define BACKOFF_FIRST     0.1 /* seconds */
#define BACKOFF_MAX       30.0
#define SHORTAGE_MAX      5.0
#define HOLD_BACK_SECONDS 5.0
#define DEATHS_TO_REST    5
#define REST_SECONDS      60.0

/* When the costs of the failed starts since the last successful one add up to this, the device rests. */
#define START_COST_MAX 20

static const unsigned start_cost[] = {
    [HAC_START_NOT_CREATED] = 1, [HAC_START_NO_PROCESS] = 1,
    [HAC_START_KILLED] = 1,      [HAC_START_DIED] = 3, /* seven of them take 6 s with their back-offs */
    [HAC_START_HUNG] = 10,                             /* half a minute each */
};

static hac_server_device *device_of(const hac_restart *at)
{
    return at->devices->items[at->device];
}

static hac_user_failures *failures_of(const hac_restart *at)
{
    return &at->user->failures[at->device];
}

static uint64_t after(double seconds)
{
    return hac_now_ns() + (uint64_t)(seconds * 1e9);
}

static double backoff(unsigned n, double max)
{
    double seconds = BACKOFF_FIRST;
    for (unsigned i = 1; i < n && seconds < max; i++)
        seconds *= 2;
    return seconds < max ? seconds : max;
}

/* ---- waits -------------------------------------------------------------------------------------------- */

bool hac_restart_allowed(const hac_restart *at)
{
    uint64_t now = hac_now_ns();
    return device_of(at)->retry_at_ns <= now && failures_of(at)->retry_at_ns <= now;
}

void hac_restart_pause(const hac_restart *at)
{
    failures_of(at)->retry_at_ns = after(BACKOFF_FIRST);
}

void hac_restart_pause_longer(const hac_restart *at)
{
    hac_user_failures *own = failures_of(at);
    own->retry_at_ns = after(backoff(++own->shortages, SHORTAGE_MAX));
}

bool hac_restart_may_hold_back(const hac_restart *at)
{
    hac_user_failures *own = failures_of(at);
    if (own->held_back_ns == 0)
        own->held_back_ns = hac_now_ns();
    if (hac_seconds_since(own->held_back_ns) < HOLD_BACK_SECONDS)
        return true;
    own->held_back_ns = 0;
    hac_restart_pause_longer(at);
    return false;
}

/* ---- failures ----------------------------------------------------------------------------------------- */

/* Notes whose failure it is, before the device's counters grow. */
static void blame(const hac_restart *at)
{
    hac_server_device *device = device_of(at);
    const hac_user_key who = {at->user->uid, at->user->place, at->user->administers};
    if (device->deaths == 0 && device->start_cost == 0) {
        device->failed_user = who;
        device->failed_for_all = false;
    }
    const hac_user_key *first = &device->failed_user;
    device->failed_for_all |= first->uid != who.uid || !hac_user_place_equal(first->place, who.place) ||
                              first->administers != who.administers;
}

static void rest_for_user(const hac_restart *at)
{
    at->user->resting |= 1u << at->device;
    failures_of(at)->retry_at_ns = after(REST_SECONDS);
}

static void rest_for_all(const hac_restart *at, const char *reason)
{
    hac_server_device *device = device_of(at);
    device->state = HAC_DEVICE_QUARANTINED;
    device->retry_at_ns = after(REST_SECONDS);
    snprintf(device->reason, sizeof device->reason, "%s", reason);
}

void hac_restart_after_death(const hac_restart *at, const char *how, const hac_log_subject *about)
{
    hac_server_device *device = device_of(at);
    hac_user_failures *own = failures_of(at);
    char reason[sizeof device->reason];
    blame(at);
    device->deaths++;
    own->deaths++;
    double seconds = backoff(own->deaths, BACKOFF_MAX);
    own->retry_at_ns = after(seconds);
    snprintf(reason, sizeof reason, "%u executors in a row died, the last one %.400s", device->deaths, how);
    if (device->failed_for_all && device->deaths >= DEATHS_TO_REST && hac_devices_usable(at->devices) > 1) {
        rest_for_all(at, reason);
        seconds = REST_SECONDS;
    } else if (own->deaths >= DEATHS_TO_REST && hac_devices_usable_by(at->devices, at->user) > 1) {
        rest_for_user(at);
        snprintf(own->reason, sizeof own->reason, "%u of your executors in a row died, the last one %.180s",
                 own->deaths, how);
        seconds = REST_SECONDS;
    }
    hac_log_record(HAC_LOG_WARNING, HAC_EVENT_EXECUTOR_DIED, about,
                   "executor of %s %s; the next one starts in %.1f s at the earliest", device->config.name,
                   how, seconds);
}

void hac_restart_after_failed_start(const hac_restart *at, hac_start_failure failure, const char *how)
{
    hac_server_device *device = device_of(at);
    hac_user_failures *own = failures_of(at);
    char reason[sizeof device->reason];
    if (failure != HAC_START_NO_PROCESS) {
        blame(at);
        device->start_cost += start_cost[failure];
    }
    if (failure <= HAC_START_NO_PROCESS) /* no death follows that would make the next one wait */
        own->retry_at_ns = after(BACKOFF_FIRST * (1 + own->start_cost / 2.0));
    device->failed_for_all |= failure == HAC_START_NOT_CREATED;
    own->start_cost += start_cost[failure];
    snprintf(reason, sizeof reason, "no executor of it gets ready; the last one %.400s", how);
    const hac_log_subject about = hac_log_device(device->config.name);
    if (device->failed_for_all && device->start_cost >= START_COST_MAX) {
        rest_for_all(at, reason);
        hac_log_record(HAC_LOG_ERROR, HAC_EVENT_DEVICE_RESTS, &about,
                       "device %s is quarantined for %.0f s: %s", device->config.name, REST_SECONDS, reason);
    } else if (own->start_cost >= START_COST_MAX) {
        rest_for_user(at);
        snprintf(own->reason, sizeof own->reason, "%.255s", reason);
        hac_log_record(HAC_LOG_ERROR, HAC_EVENT_DEVICE_RESTS, &about,
                       "device %s is quarantined for uid %u for %.0f s: %s", device->config.name,
                       at->user->uid, REST_SECONDS, reason);
    }
}

/* ---- success ------------------------------------------------------------------------------------------ */

void hac_restart_succeeded(const hac_restart *at)
{
    hac_user_failures *own = failures_of(at);
    device_of(at)->start_cost = own->start_cost = 0;
    own->shortages = 0;
    own->held_back_ns = 0;
}

void hac_restart_forget_deaths(const hac_restart *at)
{
    device_of(at)->deaths = failures_of(at)->deaths = 0;
}

/* ---- the end of a rest -------------------------------------------------------------------------------- */

static void be_careful(unsigned *deaths, unsigned *cost)
{
    *deaths = DEATHS_TO_REST - 1;
    if (*cost >= START_COST_MAX)
        *cost = START_COST_MAX - 1;
}

static void end_rests_of(hac_user *user, size_t n_devices)
{
    for (size_t i = 0; i < n_devices; i++) {
        hac_user_failures *own = &user->failures[i];
        if ((user->resting >> i & 1) == 0 || own->retry_at_ns > hac_now_ns())
            continue;
        user->resting &= ~(1u << i);
        own->reason[0] = '\0';
        be_careful(&own->deaths, &own->start_cost);
    }
}

void hac_restart_end_rests(const hac_devices *devices, hac_users *users)
{
    for (size_t i = 0; i < devices->count; i++) {
        hac_server_device *device = devices->items[i];
        if (device->state != HAC_DEVICE_QUARANTINED || device->retry_at_ns > hac_now_ns())
            continue;
        device->state = HAC_DEVICE_READY;
        device->reason[0] = '\0';
        be_careful(&device->deaths, &device->start_cost);
    }
    hac_user *user = NULL;
    hac_list_for_each (user, &users->list, hac_user, link)
        if (user->resting != 0)
            end_rests_of(user, devices->count);
}

void hac_restart_forget_device(hac_users *users, uint32_t device)
{
    hac_user *user = NULL;
    hac_list_for_each (user, &users->list, hac_user, link) {
        user->resting &= ~(1u << device);
        memset(&user->failures[device], 0, sizeof user->failures[device]);
    }
}
