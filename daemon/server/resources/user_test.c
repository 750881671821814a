/* SPDX-License-Identifier: Apache-2.0 */
/* Accounting of users: fair shares by the numbers, and random use against an independent model. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/test_support.h"
#include "user.h"

#define USERS 8

static const hac_user_limits unlimited = {
    .memory = UINT64_MAX / 4, .connections = 1u << 30, .jobs = 1u << 30, .descriptors = 1u << 30, .share = 1};
static const uint64_t total[HAC_SLOTS] = {1024, 1024, 1024, 1024, 1024};

static hac_user *add(hac_users *users, uid_t uid)
{
    hac_user *user = NULL;
    assert_int_equal(hac_user_get(users, (hac_user_key){.uid = uid}, &user, NULL), HAC_OK);
    return user;
}

static uint64_t take_all(hac_user *user, hacd_slot slot)
{
    uint64_t available = hac_user_available(user, slot, 0, 0);
    assert_int_equal(hac_user_charge(user, slot, available + 1, NULL), HAC_REFUSED);
    assert_int_equal(hac_user_charge(user, slot, available, NULL), HAC_OK);
    return available;
}

/* A half, then 1/(n + 1) of what n others have left. */
static void test_fair_parts(void **state)
{
    (void)state;
    hac_users users;
    hac_user *user[USERS];
    uint64_t free_before = 1024, taken[USERS];
    hac_users_init(&users, total, &unlimited, NULL, NULL);
    for (unsigned n = 0; n < USERS; n++) {
        user[n] = add(&users, n);
        taken[n] = take_all(user[n], HAC_SLOT_MEMORY);
        assert_int_equal(taken[n], free_before / (n == 0 ? 2 : n + 1));
        free_before -= taken[n];
    }
    assert_int_equal(taken[0], 512);
    assert_int_equal(taken[1], 256);
    assert_int_equal(taken[2], 85);
    for (unsigned n = 0; n < USERS; n++) {
        hac_user_release(user[n], HAC_SLOT_MEMORY, taken[n]);
        hac_user_unref(user[n]);
    }
    hac_users_deinit(&users);
}

/* n hostile users take whatever they can get, in every order. A user who comes then still gets 1/(n + 1) of
 * what is free, and something is free. */
static void test_honest_beside_hostile(void **state)
{
    (void)state;
    const uint64_t large[HAC_SLOTS] = {1u << 30, 1u << 20, 1u << 20, 1u << 20, 1u << 20};
    for (unsigned n = 1; n <= 32; n++) {
        hac_users users;
        hac_user *hostile[32];
        uint64_t left = large[HAC_SLOT_MEMORY];
        hac_users_init(&users, large, &unlimited, NULL, NULL);
        for (unsigned i = 0; i < n; i++)
            hostile[i] = add(&users, 1000 + i);
        for (unsigned round = 0; round < 20; round++)
            for (unsigned i = 0; i < n; i++)
                assert_int_equal(hac_user_charge(hostile[i], HAC_SLOT_MEMORY,
                                                 hac_user_available(hostile[i], HAC_SLOT_MEMORY, 0, 0), NULL),
                                 HAC_OK);
        left -= users.held[HAC_SLOT_MEMORY];
        hac_user *honest = add(&users, 1);
        uint64_t part = hac_user_available(honest, HAC_SLOT_MEMORY, 0, 0);
        assert_true(left > 0);
        assert_int_equal(part, left / (n + 1));
        for (unsigned i = 0; i < n; i++) {
            hac_user_release(hostile[i], HAC_SLOT_MEMORY, hostile[i]->held[HAC_SLOT_MEMORY]);
            hac_user_unref(hostile[i]);
        }
        hac_user_unref(honest);
        hac_users_deinit(&users);
    }
}

static void test_own_limit(void **state)
{
    (void)state;
    hac_users users;
    hac_error err = HAC_ERROR_NONE;
    hac_users_init(&users, total, &unlimited, NULL, NULL);
    hac_user *user = add(&users, 1);
    user->limits.jobs = 3;
    assert_int_equal(hac_user_charge(user, HAC_SLOT_JOBS, 3, &err), HAC_OK);
    assert_int_equal(hac_user_charge(user, HAC_SLOT_JOBS, 1, &err), HAC_REFUSED);
    assert_non_null(strstr(err.message, "this user's limit of 3 jobs (3 in use)"));
    assert_false(user->refusal.hopeless);
    assert_int_equal(hac_user_charge(user, HAC_SLOT_JOBS, UINT64_MAX, &err), HAC_REFUSED);
    assert_true(user->refusal.hopeless && user->refusal.slot == HAC_SLOT_JOBS);
    assert_non_null(strstr(err.message, "alone would exceed this user's limit of 3 jobs"));
    assert_null(strstr(err.message, "try again"));
    assert_int_equal(hac_user_charge(user, HAC_SLOT_CONNECTIONS, 513, &err), HAC_REFUSED);
    assert_non_null(
        strstr(err.message, "513 alone would exceed what one user gets of hacd's 1024 connections"));
    assert_true(user->refusal.hopeless && user->refusal.slot == HAC_SLOT_CONNECTIONS);
    assert_int_equal(hac_user_charge(user, HAC_SLOT_CONNECTIONS, 500, &err), HAC_OK);
    assert_int_equal(hac_user_charge(user, HAC_SLOT_CONNECTIONS, 13, &err), HAC_REFUSED);
    assert_non_null(strstr(err.message, "this user's part, now 512, of hacd's 1024 connections"));
    assert_false(user->refusal.hopeless);
    hac_user_release(user, HAC_SLOT_CONNECTIONS, 500);
    user->limits.jobs = 2; /* a reload lowers the limit: nothing is taken away, nothing is granted */
    assert_int_equal(hac_user_available(user, HAC_SLOT_JOBS, 0, 0), 0);
    assert_int_equal(hac_user_charge(user, HAC_SLOT_JOBS, 0, &err), HAC_OK);
    hac_user_release(user, HAC_SLOT_JOBS, 3);
    user->limits.jobs = 0;
    assert_false(hac_user_has_access(user));
    hac_user_unref(user);
    hac_users_deinit(&users);
}

/* The documented rule, with its own bookkeeping. */
static bool granted(uint64_t held[USERS][HAC_SLOTS], unsigned who, int slot, uint64_t amount)
{
    uint64_t theirs = 0, n = 1;
    for (unsigned u = 0; u < USERS; u++) {
        theirs += u != who ? held[u][slot] : 0;
        n += u != who && held[u][slot] > 0;
    }
    return held[who][slot] + amount <= (1024 - theirs) / (n < 2 ? 2 : n);
}

/* A million charges and releases: each is granted exactly if the model says so, and everything is released.
 */
static void test_random_use(void **state)
{
    (void)state;
    hac_users users;
    hac_user *user[USERS];
    uint64_t held[USERS][HAC_SLOTS] = {{0}};
    unsigned seed = 7, granted_count = 0;
    hac_users_init(&users, total, &unlimited, NULL, NULL);
    for (unsigned u = 0; u < USERS; u++)
        user[u] = add(&users, u);
    for (int i = 0; i < 1000000; i++) {
        unsigned u = (unsigned)rand_r(&seed) % USERS;
        int slot = rand_r(&seed) % HAC_SLOTS;
        uint64_t amount = (uint64_t)rand_r(&seed) % (rand_r(&seed) % 4 == 0 ? 600 : 40);
        if (rand_r(&seed) % 2 == 0) {
            amount = amount < held[u][slot] ? amount : held[u][slot];
            hac_user_release(user[u], (hacd_slot)slot, amount);
            held[u][slot] -= amount;
        } else {
            bool may = amount == 0 || granted(held, u, slot, amount);
            assert_int_equal(hac_user_charge(user[u], (hacd_slot)slot, amount, NULL) == HAC_OK, may);
            held[u][slot] += may ? amount : 0;
            granted_count += may;
        }
        assert_int_equal(user[u]->held[slot], held[u][slot]);
    }
    assert_true(granted_count > 100000);
    for (unsigned u = 0; u < USERS; u++) {
        for (int slot = 0; slot < HAC_SLOTS; slot++)
            hac_user_release(user[u], (hacd_slot)slot, held[u][slot]);
        hac_user_unref(user[u]);
    }
    for (int slot = 0; slot < HAC_SLOTS; slot++)
        assert_true(users.held[slot] == 0 && users.holders[slot] == 0);
    hac_users_deinit(&users);
}

static void test_turns(void **state)
{
    (void)state;
    hac_users users;
    hac_users_init(&users, total, &unlimited, NULL, NULL);
    hac_user *a = add(&users, 1), *b = add(&users, 2);
    a->limits.share = 2;
    hac_user_activate(a, INFINITY);
    hac_user_spend(a, 6);
    assert_true(a->device_seconds == 6 && a->virtual_time == 3);
    hac_user_activate(b, a->virtual_time); /* being away earns no credit */
    assert_true(b->virtual_time == 3);
    hac_user_spend(b, 1);
    hac_user_activate(b, a->virtual_time); /* nor does coming a second time */
    assert_true(b->virtual_time == 4);
    hac_user_unref(a);
    hac_user_unref(b);
    hac_users_deinit(&users);
}

/* What hacd does by itself takes nothing from users, and is not limited by what they hold. */
static void test_account_of_daemon(void **state)
{
    (void)state;
    hac_users users;
    hac_user *own = NULL, *again = NULL;
    const hac_user_limits none = {.share = 1};
    hac_users_init(&users, total, &none, NULL, NULL);
    hac_user *user = add(&users, 1000);
    assert_int_equal(hac_user_get_daemon(&users, 1000, &own, NULL), HAC_OK);
    assert_ptr_not_equal(own, user);
    assert_int_equal(hac_user_get_daemon(&users, 1000, &again, NULL), HAC_OK);
    assert_ptr_equal(again, own);
    assert_ptr_equal(add(&users, 1000), user);
    user->limits = unlimited;
    for (hacd_slot slot = HAC_SLOT_MEMORY; slot <= HAC_SLOT_DESCRIPTORS; slot++) {
        assert_int_equal(hac_user_charge(own, slot, 800, NULL), HAC_OK);
        assert_int_equal(users.held[slot], 0);
        assert_int_equal(take_all(user, slot), 512);
        assert_int_equal(hac_user_charge(own, slot, 224, NULL), HAC_OK);
        assert_int_equal(hac_user_charge(own, slot, 1, NULL), HAC_REFUSED); /* more than the machine has */
        hac_user_release(user, slot, 512);
        hac_user_release(own, slot, 1024);
    }
    hac_user_unref(again);
    hac_user_unref(own);
    hac_user_unref(user);
    hac_user_unref(user);
    hac_users_deinit(&users);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fair_parts), cmocka_unit_test(test_honest_beside_hostile),
        cmocka_unit_test(test_own_limit),  cmocka_unit_test(test_random_use),
        cmocka_unit_test(test_turns),      cmocka_unit_test(test_account_of_daemon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
