/* SPDX-License-Identifier: Apache-2.0 */
/* Whose failures make a device rest, and for whom. Time does not pass here: tests end waits themselves. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/test_support.h"
#include "restart_backoff.h"

#define DEVICES 2
#define USERS   3

typedef struct world {
    hac_users users;
    hac_user *user[USERS];
    hac_server_device device[DEVICES];
    hac_devices devices;
} world;

static const hac_log_subject nothing;

static void begin(world *w)
{
    static const uint64_t total[HAC_SLOTS];
    static const hac_user_limits limits = {.share = 1};
    memset(w, 0, sizeof *w);
    hac_users_init(&w->users, total, &limits, NULL, NULL);
    for (unsigned u = 0; u < USERS; u++)
        assert_int_equal(hac_user_get(&w->users, (hac_user_key){.uid = 100 + u}, &w->user[u], NULL), HAC_OK);
    for (unsigned d = 0; d < DEVICES; d++) {
        w->device[d].state = HAC_DEVICE_READY;
        w->devices.items[w->devices.count++] = &w->device[d];
    }
}

static void end(world *w)
{
    for (unsigned u = 0; u < USERS; u++)
        hac_user_unref(w->user[u]);
    hac_users_deinit(&w->users);
}

static hac_restart at(world *w, unsigned user, uint32_t device)
{
    return (hac_restart){&w->devices, device, w->user[user]};
}

static void die(world *w, unsigned user, unsigned times)
{
    const hac_restart place = at(w, user, 0);
    for (unsigned i = 0; i < times; i++)
        hac_restart_after_death(&place, "exited with status 1", &nothing);
}

static bool works(world *w, unsigned user)
{
    const hac_restart place = at(w, user, 0);
    return hac_devices_may_use(&w->devices, 0, w->user[user]) && hac_restart_allowed(&place);
}

static void end_waits(world *w)
{
    for (unsigned d = 0; d < DEVICES; d++) {
        w->device[d].retry_at_ns = 0;
        for (unsigned u = 0; u < USERS; u++)
            w->user[u]->failures[d].retry_at_ns = 0;
    }
    hac_restart_end_rests(&w->devices, &w->users);
}

/* However often one user's executors die, or do not start, the device works for the others. */
static void test_one_user(void **state)
{
    (void)state;
    world w;
    begin(&w);
    die(&w, 0, 1);
    assert_false(works(&w, 0));
    assert_true(works(&w, 1));
    end_waits(&w);
    assert_true(works(&w, 0));
    die(&w, 0, 50);
    const hac_restart place = at(&w, 0, 0);
    for (int i = 0; i < 50; i++)
        hac_restart_after_failed_start(&place, HAC_START_DIED, "exited with status 1");
    assert_false(hac_devices_may_use(&w.devices, 0, w.user[0]));
    assert_string_equal(hac_device_state_name(&w.devices, 0, w.user[0]), "quarantined");
    assert_non_null(strstr(hac_device_reason(&w.devices, 0, w.user[0]), "exited with status 1"));
    assert_string_equal(hac_device_state_name(&w.devices, 0, w.user[1]), "ready");
    assert_string_equal(hac_device_state_name(&w.devices, 0, NULL), "ready");
    assert_true(works(&w, 1));
    end_waits(&w);
    assert_true(works(&w, 0));
    die(&w, 0, 1); /* after a rest, one is enough */
    assert_false(hac_devices_may_use(&w.devices, 0, w.user[0]));
    hac_restart_forget_device(&w.users, 0);
    assert_true(works(&w, 0));
    end(&w);
}

static void test_several_users(void **state)
{
    (void)state;
    world w;
    begin(&w);
    die(&w, 0, 4);
    assert_true(works(&w, 2));
    die(&w, 1, 1);
    assert_int_equal(w.device[0].state, HAC_DEVICE_QUARANTINED);
    assert_false(works(&w, 2));
    end_waits(&w);
    assert_true(works(&w, 2));
    end(&w);
}

/* A user whose account is freed and made again between failures is still one user. */
static void test_account_again(void **state)
{
    (void)state;
    world w;
    begin(&w);
    for (int i = 0; i < 10; i++) {
        die(&w, 0, 1);
        hac_user_unref(w.user[0]);
        hac_user_free(w.user[0]);
        assert_int_equal(hac_user_get(&w.users, (hac_user_key){.uid = 100}, &w.user[0], NULL), HAC_OK);
    }
    assert_int_equal(w.device[0].state, HAC_DEVICE_READY);
    assert_true(works(&w, 1));
    die(&w, 1, 1);
    assert_int_equal(w.device[0].state, HAC_DEVICE_QUARANTINED);
    end(&w);
}

/* Somebody's success shows that the device is not at fault. */
static void test_success_between(void **state)
{
    (void)state;
    world w;
    begin(&w);
    for (int i = 0; i < 10; i++) {
        die(&w, 0, 3);
        die(&w, 1, 1);
        const hac_restart place = at(&w, 2, 0);
        hac_restart_forget_deaths(&place);
    }
    assert_int_equal(w.device[0].state, HAC_DEVICE_READY);
    assert_true(works(&w, 2));
    end(&w);
}

/* The last device that a user has does not rest because executors die, but because none starts. */
static void test_last_device(void **state)
{
    (void)state;
    world w;
    begin(&w);
    w.device[1].state = HAC_DEVICE_UNUSABLE;
    die(&w, 0, 20);
    die(&w, 1, 20);
    assert_true(hac_devices_may_use(&w.devices, 0, w.user[0]));
    assert_true(works(&w, 2));
    const hac_restart place = at(&w, 2, 0);
    w.device[0].deaths = 0; /* nobody has failed */
    for (int i = 0; i < 7; i++)
        hac_restart_after_failed_start(&place, HAC_START_DIED, "exited with status 1");
    assert_false(hac_devices_may_use(&w.devices, 0, w.user[2]));
    assert_true(hac_devices_may_use(&w.devices, 0, w.user[0]));
    end(&w);
}

/* hacd's own start of an executor has nothing to do with its user. */
static void test_not_created(void **state)
{
    (void)state;
    world w;
    begin(&w);
    const hac_restart place = at(&w, 0, 0);
    for (int i = 0; i < 20; i++)
        hac_restart_after_failed_start(&place, HAC_START_NOT_CREATED, "cannot start");
    assert_int_equal(w.device[0].state, HAC_DEVICE_QUARANTINED);
    end(&w);
}

/* Want of threads counts for nobody, and each further time the user waits longer. */
static void test_shortages(void **state)
{
    (void)state;
    world w;
    begin(&w);
    const hac_restart place = at(&w, 0, 0);
    uint64_t before = 0;
    for (int i = 0; i < 100; i++) {
        uint64_t now = hac_now_ns();
        hac_restart_pause_longer(&place);
        uint64_t wait = w.user[0]->failures[0].retry_at_ns - now;
        assert_true(wait + 50000000u > before && wait < 5100000000u);
        before = wait;
    }
    assert_true(before > 4900000000u);
    assert_true(works(&w, 1));
    assert_true(hac_devices_may_use(&w.devices, 0, w.user[0]));
    assert_true(hac_restart_may_hold_back(&place));
    w.user[0]->failures[0].held_back_ns -= 6000000000u;
    assert_false(hac_restart_may_hold_back(&place));
    assert_false(works(&w, 0));
    hac_restart_succeeded(&place);
    assert_int_equal(w.user[0]->failures[0].shortages, 0);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_user),        cmocka_unit_test(test_several_users),
        cmocka_unit_test(test_success_between), cmocka_unit_test(test_last_device),
        cmocka_unit_test(test_not_created),     cmocka_unit_test(test_shortages),
        cmocka_unit_test(test_account_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
