/* SPDX-License-Identifier: Apache-2.0 */
#include "fair_share.h"

#include <math.h>

#include "base/clock.h"

/* A waiting user goes first if the virtual time of the others is ahead by more than this. */
#define QUANTUM_SECONDS 2e-3
/* While other users wait, at most this much work is queued on an executor. */
#define QUEUED_SECONDS_MAX 1e-3
/* A running task keeps a waiting user from the device for WAIT_NS, or for SHORT_WAIT_NS if the waiting user's
 * task takes at most SHORT_SECONDS. After that, both tasks run at the same time. */
#define WAIT_NS       UINT64_C(200000000)
#define SHORT_WAIT_NS UINT64_C(10000000)
#define SHORT_SECONDS 25e-3
/* A task that is not short runs beside tasks of at most this many other users. */
#define BESIDE_MAX 3

_Static_assert(HAC_DEVICES_MAX <= HAC_USER_DEVICES_MAX, "a bit and a time for each device");

void hac_fair_share_begin(hac_users *users)
{
    hac_user *user = NULL;
    hac_list_for_each (user, &users->list, hac_user, link) {
        user->asked = 0;
        user->had_turn = false;
    }
}

hac_user *hac_fair_share_next(hac_users *users)
{
    hac_user *best = NULL, *user = NULL;
    hac_list_for_each (user, &users->list, hac_user, link)
        if (user->active_jobs > 0 && !user->had_turn &&
            (best == NULL || user->virtual_time < best->virtual_time))
            best = user;
    if (best != NULL)
        best->had_turn = true;
    return best;
}

void hac_fair_share_end(hac_users *users)
{
    hac_user *user = NULL;
    hac_list_for_each (user, &users->list, hac_user, link)
        user->waits &= user->asked;
}

double hac_fair_share_min_time(const hac_users *users)
{
    double min = INFINITY;
    const hac_user *user = NULL;
    hac_list_for_each (user, &users->list, hac_user, link)
        if (user->active_jobs > 0 && user->virtual_time < min)
            min = user->virtual_time;
    return min;
}

double hac_fair_share_backlog(const hac_executors *executors, uint32_t device, const hac_user *user)
{
    double seconds = 0;
    const hac_executor *other = NULL;
    hac_list_for_each (other, &executors->list, hac_executor, link)
        if (other->device == device && other->user != user && other->n_in_flight > 0)
            seconds += fmax(other->in_flight_seconds - hac_seconds_since(other->busy_since_ns), 0);
    return seconds;
}

/* The time until which the running task of `other` keeps the user from the device. The wait is counted from
 * the start of the task or from the start of the user's wait, whichever is later. If others were already let
 * in beside the task, the wait is counted from the start of the task. A short task that overtook the user
 * does not restart the wait of a user with longer tasks; otherwise a stream of short tasks could keep this
 * user waiting for ever. */
static uint64_t held_until(const hac_executor *other, const hac_user *user, bool is_short)
{
    uint64_t waits_since =
        (user->waits >> other->device & 1) != 0 ? user->waits_since_ns[other->device] : hac_now_ns();
    uint64_t since = other->busy_since_ns;
    if (!other->overlapped && (waits_since > since || (other->overtook && !is_short)))
        since = waits_since;
    return since + (is_short ? SHORT_WAIT_NS : WAIT_NS);
}

/* The time from which the user may use the device:
 *
 *     0             now: nobody else works there. One task of another user is ignored if it is that user's
 *                   last task there, was queued, and began while this user was already waiting.
 *     UINT64_MAX    not before a task has ended
 *     other         from this time on, the user's tasks run at the same time as those of others
 */
static uint64_t free_at(const hac_executors *executors, const hac_user *user, uint32_t device, bool is_short)
{
    unsigned queued = 0, beside = 0;
    uint64_t at = 0;
    bool waits = (user->waits >> device & 1) != 0;
    const hac_executor *other = NULL;
    hac_list_for_each (other, &executors->list, hac_executor, link) {
        if (other->device != device || other->user == user || other->n_in_flight == 0)
            continue;
        bool last = other->n_in_flight == 1 && other->was_queued;
        if (waits && last && other->busy_since_ns > user->waits_since_ns[device] && queued++ == 0)
            continue;
        uint64_t until = held_until(other, user, is_short);
        at = until > at ? until : at;
        beside += !other->overtook && !other->is_side;
    }
    if (at > 0 && (!hac_device_has_time_slices(executors->devices->items[device]) ||
                   (!is_short && beside > BESIDE_MAX)))
        return UINT64_MAX;
    return at;
}

/* Whether another user waits for the device whose virtual time is smaller by more than QUANTUM_SECONDS. */
static bool is_overtaken(const hac_user *user, uint32_t device)
{
    const hac_user *other = NULL;
    hac_list_for_each (other, &user->users->list, hac_user, link)
        if (other != user && (other->asked >> device & 1) != 0 &&
            (user->virtual_time - other->virtual_time) * user->limits.share > QUANTUM_SECONDS)
            return true;
    return false;
}

static bool somebody_waits(const hac_user *user, uint32_t device)
{
    const hac_user *other = NULL;
    hac_list_for_each (other, &user->users->list, hac_user, link)
        if (other != user && other->active_jobs > 0 && (other->waits >> device & 1) != 0)
            return true;
    return false;
}

void hac_fair_share_wait(hac_user *user, uint32_t device)
{
    uint32_t bit = 1u << device;
    user->asked |= bit;
    if ((user->waits & bit) == 0)
        user->waits_since_ns[device] = hac_now_ns();
    user->waits |= bit;
}

/* Marks the running tasks of other users on this device as overlapped: they take longer than they would
 * alone. */
static void overlap(const hac_executors *executors, const hac_executor *executor)
{
    hac_executor *other = NULL;
    hac_list_for_each (other, &executors->list, hac_executor, link)
        if (other->device == executor->device && other->user != executor->user && other->n_in_flight > 0)
            other->overlapped = true;
}

bool hac_fair_share_may(hac_executors *executors, hac_executor *executor, double predicted,
                        double task_seconds)
{
    hac_user *user = executor->user;
    uint32_t device = executor->device, bit = 1u << device;
    bool is_short = task_seconds <= SHORT_SECONDS;
    uint64_t at = free_at(executors, user, device, is_short);
    uint64_t now = hac_now_ns();
    bool in_time = at <= now, overtakes = in_time && is_overtaken(user, device);
    bool may = in_time && ((at > 0 && is_short) || !overtakes);
    if (may && executor->n_in_flight > 0 && somebody_waits(user, device) &&
        executor->in_flight_seconds + predicted > QUEUED_SECONDS_MAX)
        return false; /* the user keeps the turn, and queues more when the tasks there have ended */
    if (may) {
        user->waits &= ~bit;
        executor->goes_beside = at > 0;
        executor->overtook = overtakes;
        if (at > 0 && !is_short)
            overlap(executors, executor);
        return true;
    }
    if (executor->n_in_flight > 0)
        return false;        /* the user works there, so the user does not wait */
    executor->used_ns = now; /* the executor is wanted: it must not be ended as idle */
    hac_fair_share_wait(user, device);
    /* otherwise the answer changes when a task ends, not as time passes */
    if (at > now && at != UINT64_MAX)
        hac_executors_ask_again(executors, at);
    return false;
}
