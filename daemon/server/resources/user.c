/* SPDX-License-Identifier: Apache-2.0 */
#include "user.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AT_WORK_NS 1000000000u

void hac_users_init(hac_users *users, const uint64_t total[HAC_SLOTS], const hac_user_limits *limits,
                    void (*forget)(void *context, struct hac_pool_buffer *buffer), void *context)
{
    memset(users, 0, sizeof *users);
    hac_list_init(&users->list);
    memcpy(users->total, total, sizeof users->total);
    users->limits = *limits;
    users->next_buffer = 1;
    users->forget = forget;
    users->context = context;
}

void hac_users_deinit(hac_users *users)
{
    hac_user *user = NULL;
    hac_list_for_each (user, &users->list, hac_user, link) {
        assert(user->references == 0);
        hac_user_release(user, HAC_SLOT_MEMORY, user->kept_bytes);
        hac_user_free(user);
    }
    for (int slot = 0; slot < HAC_SLOTS; slot++)
        assert(users->held[slot] == 0 && users->holders[slot] == 0);
}

void hac_user_name(uid_t uid, hac_user_place place, char ret[HAC_USER_NAME_SIZE])
{
    if (hac_user_place_equal(place, HAC_PLACE_ANYWHERE))
        snprintf(ret, HAC_USER_NAME_SIZE, "%u", (unsigned)uid);
    else
        snprintf(ret, HAC_USER_NAME_SIZE, "%u.%016llx%016llx", (unsigned)uid, (unsigned long long)place.high,
                 (unsigned long long)place.low);
}

static hac_status get(hac_users *users, hac_user_key key, bool of_daemon, const hac_user_limits *limits,
                      hac_user **ret, hac_error *err)
{
    const hac_user_place place = key.administers || of_daemon ? HAC_PLACE_ANYWHERE : key.place;
    hac_user *user = NULL;
    hac_list_for_each (user, &users->list, hac_user, link) {
        if (user->uid == key.uid && hac_user_place_equal(user->place, place) &&
            user->administers == key.administers && user->of_daemon == of_daemon) {
            user->references++;
            *ret = user;
            return HAC_OK;
        }
    }
    user = calloc(1, sizeof *user);
    if (user == NULL)
        return hac_fail_no_memory(err);
    user->users = users;
    user->number = ++users->n_accounts;
    user->uid = key.uid;
    user->place = place;
    user->administers = key.administers;
    user->of_daemon = of_daemon;
    hac_user_name(key.uid, place, user->learner);
    user->references = 1;
    user->limits = *limits;
    hac_list_init(&user->buffers);
    hac_list_init(&user->idle);
    hac_list_init(&user->reservations);
    hac_list_append(&users->list, &user->link);
    *ret = user;
    return HAC_OK;
}

hac_status hac_user_get(hac_users *users, hac_user_key key, hac_user **ret, hac_error *err)
{
    return get(users, key, false, &users->limits, ret, err);
}

hac_status hac_user_get_daemon(hac_users *users, uid_t uid, hac_user **ret, hac_error *err)
{
    static const hac_user_limits unlimited = {
        .memory = UINT64_MAX, .jobs = UINT32_MAX, .descriptors = UINT32_MAX, .share = 1};
    return get(users, (hac_user_key){.uid = uid}, true, &unlimited, ret, err);
}

void hac_user_set_groups(hac_user *user, gid_t *groups, size_t n_groups)
{
    free(user->groups);
    user->groups = groups;
    user->n_groups = n_groups;
}

void hac_user_ref(hac_user *user)
{
    user->references++;
}

void hac_user_unref(hac_user *user)
{
    assert(user->references > 0);
    user->references--;
}

void hac_user_free(hac_user *user)
{
    assert(hac_list_empty(&user->buffers) && hac_list_empty(&user->idle));
    for (int slot = 0; slot < HAC_SLOTS; slot++)
        assert(user->held[slot] == 0);
    assert(user->active_jobs == 0);
    hac_list_remove(&user->link);
    free(user->groups);
    free(user);
}

/* ---- the books ---------------------------------------------------------------------------------------- */

static uint64_t own_limit(const hac_user *user, hacd_slot slot)
{
    switch (slot) {
    case HAC_SLOT_MEMORY:
        return user->limits.memory;
    case HAC_SLOT_DESCRIPTORS:
    case HAC_SLOT_UNREAD:
        return user->limits.descriptors;
    case HAC_SLOT_CONNECTIONS:
        return user->limits.connections;
    default:
        return user->limits.jobs;
    }
}

/* Whether the user takes part in sharing the total. Pages that only a client keeps do not count: they last as
 * long as hacd, and would lessen everybody's part for all that time. */
static bool is_holder(const hac_user *user, hacd_slot slot)
{
    return user->held[slot] > (slot == HAC_SLOT_MEMORY ? user->kept_bytes : 0);
}

/* What the others hold of the total. What hacd's own account holds is not in it. */
static uint64_t held_by_others(const hac_user *user, hacd_slot slot)
{
    return user->users->held[slot] - (user->of_daemon ? 0 : user->held[slot]);
}

/* The most that the user may hold of the total now: a fair share of what the others have left. */
static uint64_t fair_part(const hac_user *user, hacd_slot slot, uint64_t others)
{
    const hac_users *users = user->users;
    if (user->of_daemon)
        return users->total[slot];
    uint64_t theirs = held_by_others(user, slot);
    uint64_t left = theirs - others < users->total[slot] ? users->total[slot] - (theirs - others) : 0;
    uint64_t n = users->holders[slot] + !is_holder(user, slot);
    return left / (n > 2 ? n : 2);
}

uint64_t hac_user_max(const hac_user *user, hacd_slot slot)
{
    uint64_t limit = own_limit(user, slot), half = user->users->total[slot] / 2;
    return limit < half ? limit : half;
}

uint64_t hac_user_available(const hac_user *user, hacd_slot slot, uint64_t own, uint64_t others)
{
    uint64_t part = fair_part(user, slot, others), limit = own_limit(user, slot);
    uint64_t max = part < limit ? part : limit, held = user->held[slot] - own;
    return held < max ? max - held : 0;
}

/* The text of a refusal: which limit, and what the user can do. */
static hac_status refuse(hac_user *user, hacd_slot slot, uint64_t amount, hac_error *err)
{
    static const char *const what[] = {" MiB of memory", " descriptors in hacd", " connections", " jobs",
                                       " descriptors that clients have not read"};
    const char *unit = slot == HAC_SLOT_MEMORY ? " MiB" : "";
    static const char *const remedy[] = {
        "free buffers or results, or try again when other jobs have ended",
        "free buffers, or try again when other jobs have ended",
        "close some, or try again later",
        "fetch and release results, or try again when some have ended",
        "read what hacd has sent",
    };
    unsigned shift = slot == HAC_SLOT_MEMORY ? 20 : 0;
    uint64_t limit = own_limit(user, slot), held = user->held[slot] >> shift;
    user->refused[slot]++;
    user->refusal.slot = slot;
    user->refusal.hopeless = amount > hac_user_max(user, slot);
    if (amount > limit)
        return hac_fail(err, HAC_REFUSED,
                        "%llu%s alone would exceed this user's limit of %llu%s; hacd.yaml has the limits",
                        (unsigned long long)(amount >> shift), unit, (unsigned long long)(limit >> shift),
                        what[slot]);
    if (user->held[slot] > limit - amount)
        return hac_fail(err, HAC_REFUSED,
                        "%llu%s more would exceed this user's limit of %llu%s (%llu%s in use); %s",
                        (unsigned long long)(amount >> shift), unit, (unsigned long long)(limit >> shift),
                        what[slot], (unsigned long long)held, unit, remedy[slot]);
    if (user->refusal.hopeless)
        return hac_fail(
            err, HAC_REFUSED,
            "%llu%s alone would exceed what one user gets of hacd's %llu%s, half of it; hacd.yaml has "
            "the limits",
            (unsigned long long)(amount >> shift), unit,
            (unsigned long long)(user->users->total[slot] >> shift), what[slot]);
    return hac_fail(
        err, HAC_REFUSED,
        "%llu%s more would exceed this user's part, now %llu%s, of hacd's %llu%s, of which other users "
        "hold %llu%s; %s",
        (unsigned long long)(amount >> shift), unit, (unsigned long long)(fair_part(user, slot, 0) >> shift),
        unit, (unsigned long long)(user->users->total[slot] >> shift), what[slot],
        (unsigned long long)(held_by_others(user, slot) >> shift), unit, remedy[slot]);
}

hac_status hac_user_refuse_aside(hac_user *user, hacd_slot slot, uint64_t amount, uint64_t aside,
                                 hac_error *err)
{
    user->refused[slot]++;
    user->refusal.slot = slot;
    user->refusal.hopeless = false;
    return hac_fail(
        err, HAC_REFUSED,
        "%llu MiB more would exceed this user's limit of %llu MiB of memory (%llu MiB in use, and "
        "%llu MiB kept for jobs that read streams); try again when other jobs have ended",
        (unsigned long long)(amount >> 20), (unsigned long long)(own_limit(user, slot) >> 20),
        (unsigned long long)(user->held[slot] >> 20), (unsigned long long)(aside >> 20));
}

hac_status hac_user_charge(hac_user *user, hacd_slot slot, uint64_t amount, hac_error *err)
{
    if (amount > hac_user_available(user, slot, 0, 0))
        return refuse(user, slot, amount, err);
    if (amount == 0)
        return HAC_OK;
    if (!user->of_daemon) {
        user->users->holders[slot] += !is_holder(user, slot);
        user->users->held[slot] += amount;
    }
    user->held[slot] += amount;
    return HAC_OK;
}

void hac_user_release(hac_user *user, hacd_slot slot, uint64_t amount)
{
    assert(user->held[slot] >= amount);
    bool was_holder = is_holder(user, slot);
    user->held[slot] -= amount;
    if (user->of_daemon)
        return;
    assert(user->users->held[slot] >= amount);
    user->users->held[slot] -= amount;
    user->users->holders[slot] -= was_holder && !is_holder(user, slot);
}

void hac_user_keep(hac_user *user, uint64_t bytes)
{
    bool was_holder = is_holder(user, HAC_SLOT_MEMORY);
    user->kept_bytes += bytes;
    user->users->holders[HAC_SLOT_MEMORY] -= was_holder && !is_holder(user, HAC_SLOT_MEMORY);
}

bool hac_user_is_administrator(const hac_user *user)
{
    return user->administers || user->of_daemon ||
           (!user->users->own_is_ordinary && user->uid == geteuid() &&
            hac_user_place_equal(user->place, user->users->own_place));
}

const char *hac_user_learner(const hac_user *user)
{
    return hac_user_is_administrator(user) ? NULL : user->learner;
}

bool hac_user_has_access(const hac_user *user)
{
    return user->limits.connections > 0 && user->limits.jobs > 0;
}

bool hac_user_has_others(const hac_user *user, uint64_t now_ns)
{
    const hac_user *other = NULL;
    hac_list_for_each (other, &user->users->list, hac_user, link)
        if (other != user && (other->active_jobs > 0 || now_ns < other->loop.worked_ns + AT_WORK_NS))
            return true;
    return false;
}

/* ---- device time -------------------------------------------------------------------------------------- */

void hac_user_spend(hac_user *user, double seconds)
{
    user->device_seconds += seconds;
    user->virtual_time += seconds / user->limits.share;
}

void hac_user_activate(hac_user *user, double others)
{
    if (!isinf(others) && user->virtual_time < others)
        user->virtual_time = others;
}
