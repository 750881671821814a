/* SPDX-License-Identifier: Apache-2.0 */
#include "fair_share.h"

#include <math.h>

#include "base/clock.h"

#define QUANTUM_SECONDS    2e-3 /* how far a user may be ahead before another user's small tasks go first */
#define QUEUED_SECONDS_MAX 1e-3 /* of work that may be queued while others wait */

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

/* Whether the user may have the device: nobody else works there, or only the last task of another user is
 * left, which was queued after others and began while the user was already waiting. */
static bool is_free_for(const hac_executors *executors, const hac_user *user, uint32_t device)
{
    unsigned busy = 0;
    bool waits = (user->waits >> device & 1) != 0;
    const hac_executor *other = NULL;
    hac_list_for_each (other, &executors->list, hac_executor, link) {
        if (other->device != device || other->user == user || other->n_in_flight == 0)
            continue;
        bool last = other->n_in_flight == 1 && other->was_queued;
        if (!waits || !last || other->busy_since_ns <= user->waits_since_ns[device])
            return false;
        busy++;
    }
    return busy <= 1;
}

/* Whether somebody with less virtual time waits for the device. */
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

bool hac_fair_share_may(const hac_executors *executors, hac_executor *executor, double predicted)
{
    hac_user *user = executor->user;
    uint32_t device = executor->device, bit = 1u << device;
    bool may = is_free_for(executors, user, device) && !is_overtaken(user, device);
    if (may && executor->n_in_flight > 0 && somebody_waits(user, device) &&
        executor->in_flight_seconds + predicted > QUEUED_SECONDS_MAX)
        return false; /* its turn goes on when its tasks there have ended */
    if (may) {
        user->waits &= ~bit;
        return true;
    }
    if (executor->n_in_flight > 0)
        return false;                 /* it works there now, so it does not wait */
    executor->used_ns = hac_now_ns(); /* the executor is wanted: it must not be ended as idle */
    hac_fair_share_wait(user, device);
    return false;
}
