/* SPDX-License-Identifier: Apache-2.0 */
#include "turns.h"

#include <math.h>

#include "base/clock.h"

#define QUANTUM_SECONDS 2e-3 /* by which a user may be ahead before small tasks of another go first */
#define BEHIND_SECONDS  1e-3 /* of work that may be queued while others wait */

_Static_assert(HAC_DEVICES_MAX <= HAC_USER_DEVICES_MAX, "a bit and a time for each device");

void hac_turns_begin(hac_users *users)
{
    hac_user *user = NULL;
    hac_list_for_each (user, &users->list, hac_user, link) {
        user->asked = 0;
        user->had_turn = false;
    }
}

hac_user *hac_turns_next(hac_users *users)
{
    hac_user *best = NULL, *user = NULL;
    hac_list_for_each (user, &users->list, hac_user, link)
        if (user->active_jobs > 0 && !user->had_turn && (best == NULL || user->turn < best->turn))
            best = user;
    if (best != NULL)
        best->had_turn = true;
    return best;
}

void hac_turns_end(hac_users *users)
{
    hac_user *user = NULL;
    hac_list_for_each (user, &users->list, hac_user, link)
        user->waits &= user->asked;
}

double hac_turns_least(const hac_users *users)
{
    double least = INFINITY;
    const hac_user *user = NULL;
    hac_list_for_each (user, &users->list, hac_user, link)
        if (user->active_jobs > 0 && user->turn < least)
            least = user->turn;
    return least;
}

double hac_turns_backlog(const hac_executors *executors, uint32_t device, const hac_user *user)
{
    double seconds = 0;
    const hac_executor *other = NULL;
    hac_list_for_each (other, &executors->list, hac_executor, link)
        if (other->device == device && other->user != user && other->n_in_flight > 0)
            seconds += fmax(other->in_flight_seconds - hac_seconds_since(other->busy_since_ns), 0);
    return seconds;
}

/* Whether others leave the device to the user: none works there, or only the last task of one is left, which
 * was queued behind another and began while the user waited already. */
static bool is_free_for(const hac_executors *executors, const hac_user *user, uint32_t device)
{
    unsigned busy = 0;
    bool waits = (user->waits >> device & 1) != 0;
    const hac_executor *other = NULL;
    hac_list_for_each (other, &executors->list, hac_executor, link) {
        if (other->device != device || other->user == user || other->n_in_flight == 0)
            continue;
        bool last = other->n_in_flight == 1 && other->behind;
        if (!waits || !last || other->busy_since_ns <= user->waits_since_ns[device])
            return false;
        busy++;
    }
    return busy <= 1;
}

/* Whether somebody who waits for the device comes before the user. */
static bool is_overtaken(const hac_user *user, uint32_t device)
{
    const hac_user *other = NULL;
    hac_list_for_each (other, &user->users->list, hac_user, link)
        if (other != user && (other->asked >> device & 1) != 0 &&
            (user->turn - other->turn) * user->limits.share > QUANTUM_SECONDS)
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

bool hac_turns_may(const hac_executors *executors, hac_executor *executor, double predicted)
{
    hac_user *user = executor->user;
    uint32_t device = executor->device, bit = 1u << device;
    bool may = is_free_for(executors, user, device) && !is_overtaken(user, device);
    if (may && executor->n_in_flight > 0 && somebody_waits(user, device) &&
        executor->in_flight_seconds + predicted > BEHIND_SECONDS)
        return false; /* its turn goes on when what it has there has ended */
    if (may) {
        user->waits &= ~bit;
        return true;
    }
    if (executor->n_in_flight > 0)
        return false;                 /* it works there now: that is no waiting */
    executor->used_ns = hac_now_ns(); /* it is wanted: not for the idle to be let go */
    user->asked |= bit;
    if ((user->waits & bit) == 0)
        user->waits_since_ns[device] = hac_now_ns();
    user->waits |= bit;
    return false;
}
