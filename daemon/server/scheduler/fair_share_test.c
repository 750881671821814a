/* SPDX-License-Identifier: Apache-2.0 */
/* Fair queueing with made-up executors: one user per device at a time, and shares by used time. */
#include <math.h>

#include "base/clock.h"
#include "base/test_support.h"
#include "fair_share.h"

#define USERS 6

typedef struct fixture {
    hac_users users;
    hac_executors executors;
    hac_user *user[USERS];
    hac_executor of[USERS];
    hac_devices devices;
    hac_server_device device;
} fixture;

static void set_up(fixture *f, unsigned n)
{
    static const uint64_t total[HAC_SLOTS] = {1024, 1024, 1024, 1024, 1024};
    static const hac_user_limits limits = {1024, 1024, 1024, 1024, 1};
    hac_users_init(&f->users, total, &limits, NULL, NULL);
    f->device = (hac_server_device){.config.kind = HAC_DEVICE_KIND_FPGA};
    f->devices.items[3] = &f->device;
    f->executors = (hac_executors){.devices = &f->devices};
    hac_list_init(&f->executors.list);
    for (unsigned i = 0; i < n; i++) {
        assert_int_equal(hac_user_get(&f->users, (hac_user_key){.uid = i}, &f->user[i], NULL), HAC_OK);
        f->of[i] = (hac_executor){.user = f->user[i], .device = 3, .state = HAC_EXECUTOR_READY};
        hac_list_append(&f->executors.list, &f->of[i].link);
    }
}

static void tear_down(fixture *f, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        f->user[i]->active_jobs = 0;
        hac_user_unref(f->user[i]);
    }
    hac_users_deinit(&f->users);
}

static void come(fixture *f, unsigned who)
{
    double min = hac_fair_share_min_time(&f->users);
    f->user[who]->active_jobs = 1;
    hac_user_activate(f->user[who], min);
}

static void begin_task(fixture *f, unsigned who, double seconds)
{
    hac_executor *e = &f->of[who];
    if (e->n_in_flight++ == 0) {
        e->busy_since_ns = hac_now_ns();
        e->was_queued = false;
    }
    e->in_flight_seconds += seconds;
}

static void end_task(fixture *f, unsigned who, double seconds)
{
    f->of[who].was_queued = --f->of[who].n_in_flight > 0;
    f->of[who].in_flight_seconds -= seconds;
    f->of[who].busy_since_ns = hac_now_ns();
    hac_user_spend(f->user[who], seconds);
}

/* One round in which each user with work would start a task. Returns who started one; -1: nobody. */
static int round_of(fixture *f, double seconds)
{
    int began = -1;
    hac_fair_share_begin(&f->users);
    for (hac_user *u = hac_fair_share_next(&f->users); u != NULL; u = hac_fair_share_next(&f->users)) {
        if (!hac_fair_share_may(&f->executors, &f->of[u->uid], seconds, seconds))
            continue;
        assert_int_equal(began, -1); /* one user at a time */
        began = (int)u->uid;
        begin_task(f, u->uid, seconds);
    }
    hac_fair_share_end(&f->users);
    return began;
}

/* Users with tasks of 1 to 100 ms and different shares: each gets device time by its share. */
static void test_shares(void **state)
{
    (void)state;
    static const double length[USERS] = {0.001, 0.01, 0.1, 0.05, 0.002, 0.03};
    fixture f;
    double spent = 0, shares = 0;
    set_up(&f, USERS);
    f.user[1]->limits.share = 2;
    f.user[2]->limits.share = 0.5;
    for (unsigned i = 0; i < USERS; i++) {
        come(&f, i);
        shares += f.user[i]->limits.share;
    }
    while (spent < 200) {
        hac_fair_share_begin(&f.users);
        int who = -1;
        for (hac_user *u = hac_fair_share_next(&f.users); u != NULL; u = hac_fair_share_next(&f.users)) {
            if (!hac_fair_share_may(&f.executors, &f.of[u->uid], length[u->uid], 1))
                continue;
            assert_int_equal(who, -1);
            who = (int)u->uid;
            begin_task(&f, u->uid, length[who]);
        }
        hac_fair_share_end(&f.users);
        assert_int_not_equal(who, -1);
        end_task(&f, (unsigned)who, length[who]);
        spent += length[who];
    }
    for (unsigned i = 0; i < USERS; i++) {
        double part = f.user[i]->device_seconds / spent, due = f.user[i]->limits.share / shares;
        assert_true(fabs(part / due - 1) < 0.05);
    }
    tear_down(&f, USERS);
}

/* A late user does not catch up on what others had before, and the others do not wait until it has. */
static void test_coming_late(void **state)
{
    (void)state;
    fixture f;
    set_up(&f, 2);
    come(&f, 0);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(round_of(&f, 0.1), 0);
        end_task(&f, 0, 0.1);
    }
    come(&f, 1);
    unsigned turns[2] = {0, 0};
    for (int i = 0; i < 100; i++) {
        int who = round_of(&f, 0.1);
        turns[who]++;
        end_task(&f, (unsigned)who, 0.1);
    }
    assert_int_equal(turns[0], 50);
    assert_int_equal(turns[1], 50);
    tear_down(&f, 2);
}

/* A short job beside a long one with two tasks in flight waits for the running task only. */
static void test_waits_for_one_task(void **state)
{
    (void)state;
    fixture f;
    set_up(&f, 3);
    come(&f, 0);
    assert_int_equal(round_of(&f, 10), 0);
    assert_int_equal(round_of(&f, 10), 0); /* nobody waits, so another task is queued */
    come(&f, 1);
    hac_fair_share_begin(&f.users);
    while (hac_fair_share_next(&f.users) != NULL)
        ;
    assert_false(hac_fair_share_may(&f.executors, &f.of[1], 0.001, 0.001));
    assert_false(hac_fair_share_may(&f.executors, &f.of[0], 10, 10)); /* no third task */
    hac_fair_share_end(&f.users);
    end_task(&f, 0, 10); /* the queued task runs now */
    assert_int_equal(round_of(&f, 0.001), 1);
    come(&f, 2);
    hac_fair_share_begin(&f.users);
    assert_false(hac_fair_share_may(&f.executors, &f.of[2], 0.001, 0.001)); /* no third user beside them */
    hac_fair_share_end(&f.users);
    end_task(&f, 1, 0.001);
    end_task(&f, 0, 10);
    assert_int_equal(round_of(&f, 10), 2);
    hac_fair_share_begin(&f.users);
    assert_false(hac_fair_share_may(&f.executors, &f.of[0], 10, 10)); /* it waits, */
    hac_fair_share_end(&f.users);
    hac_fair_share_begin(&f.users);
    assert_false(
        hac_fair_share_may(&f.executors, &f.of[2], 10, 10)); /* so nothing long is queued before its task */
    hac_fair_share_end(&f.users);
    end_task(&f, 2, 10);
    tear_down(&f, 3);
}

/* The device does not change hands with every small task. */
static void test_quantum(void **state)
{
    (void)state;
    fixture f;
    unsigned changes = 0;
    int last = -1;
    set_up(&f, 2);
    come(&f, 0);
    come(&f, 1);
    for (int i = 0; i < 100000; i++) {
        for (int who = 0; who >= 0 && f.of[0].n_in_flight + f.of[1].n_in_flight < 8;) {
            who = round_of(&f, 1e-5);
            changes += who >= 0 && who != last;
            last = who >= 0 ? who : last;
        }
        end_task(&f, f.of[0].n_in_flight > 0 ? 0 : 1, 1e-5);
    }
    double a = f.user[0]->device_seconds, b = f.user[1]->device_seconds;
    assert_true(fabs(a - b) < 0.005);
    assert_true(changes < (a + b) / 1e-3);
    tear_down(&f, 2);
}

/* A user for whom no executor can be started, as those of others take all places, waits like the others: they
 * leave the device to the user, and their executors become idle and make place. */
static void test_without_executor(void **state)
{
    (void)state;
    fixture f;
    set_up(&f, 2);
    come(&f, 0);
    assert_int_equal(round_of(&f, 0.01), 0);
    end_task(&f, 0, 0.01);
    f.user[1]->active_jobs = 1; /* less virtual time: came at once */
    hac_fair_share_begin(&f.users);
    assert_ptr_equal(hac_fair_share_next(&f.users), f.user[1]);
    hac_fair_share_wait(f.user[1], 3);
    assert_ptr_equal(hac_fair_share_next(&f.users), f.user[0]);
    assert_false(hac_fair_share_may(&f.executors, &f.of[0], 0.01, 0.01));
    hac_fair_share_end(&f.users);
    assert_true(f.user[1]->waits == 1u << 3 && f.user[1]->waits_since_ns[3] > 0);
    tear_down(&f, 2);
}

static bool may_begin(fixture *f, unsigned who, double seconds)
{
    hac_fair_share_begin(&f->users);
    bool may = hac_fair_share_may(&f->executors, &f->of[who], seconds, seconds);
    hac_fair_share_end(&f->users);
    return may;
}

/* As if all that there is had begun that much earlier. */
static void pass_time(fixture *f, double seconds)
{
    uint64_t ns = (uint64_t)(seconds * 1e9);
    for (unsigned i = 0; i < USERS && f->user[i] != NULL; i++) {
        f->of[i].busy_since_ns -= ns;
        f->user[i]->waits_since_ns[3] -= ns;
    }
}

/* Seconds from the time when the user began to wait. */
static double asks_again_in(const fixture *f, unsigned who)
{
    return (double)(f->executors.again_ns - f->user[who]->waits_since_ns[3]) * 1e-9;
}

/* On a processor the tasks of those who wait run beside a long one: short ones soon, others after a while and
 * not beside any number. */
static void test_beside(void **state)
{
    (void)state;
    fixture f = {.users.list.next = NULL};
    set_up(&f, USERS);
    f.executors.watch_ns = 1; /* the timer is set: no loop is needed */
    f.device.config.kind = HAC_DEVICE_KIND_CPU;
    for (unsigned i = 0; i < USERS; i++)
        come(&f, i);
    begin_task(&f, 0, 100);
    pass_time(&f, 100);
    assert_false(may_begin(&f, 1, 1));
    assert_true(fabs(asks_again_in(&f, 1) - 0.2) < 0.001);
    assert_false(may_begin(&f, 2, 0.001));
    assert_true(fabs(asks_again_in(&f, 2) - 0.01) < 0.001);
    pass_time(&f, 0.02);
    hac_fair_share_begin(&f.users); /* both ask */
    assert_false(hac_fair_share_may(&f.executors, &f.of[1], 1, 1));
    assert_true(hac_fair_share_may(&f.executors, &f.of[2], 0.001, 0.001));
    hac_fair_share_end(&f.users);
    assert_true(f.of[2].goes_beside && !f.of[0].overlapped);
    pass_time(&f, 0.2);
    assert_true(may_begin(&f, 1, 1));
    assert_true(f.of[1].goes_beside && f.of[0].overlapped);
    begin_task(&f, 1, 1);
    end_task(&f, 1, 1);
    assert_true(may_begin(&f, 1, 1)); /* it need not wait for the same task again */
    for (unsigned i = 1; i < 4; i++)
        begin_task(&f, i, 100);
    pass_time(&f, 100);
    assert_false(may_begin(&f, 4, 1) || may_begin(&f, 5, 0.001));
    pass_time(&f, 100);
    hac_fair_share_begin(&f.users);
    assert_false(hac_fair_share_may(&f.executors, &f.of[4], 1, 1)); /* too many */
    assert_true(hac_fair_share_may(&f.executors, &f.of[5], 0.001, 0.001));
    hac_fair_share_end(&f.users);
    tear_down(&f, USERS);
}

/* Users whose short tasks run beside one another, so that the device is never free, do not keep a user with
 * longer ones waiting, however many they are. */
static void check_streams(unsigned n, hac_device_kind kind)
{
    fixture f = {.users.list.next = NULL};
    unsigned oldest = 0, turns = 0;
    set_up(&f, n + 1);
    f.executors.watch_ns = 1; /* the timer is set: no loop is needed */
    f.device.config.kind = kind;
    for (unsigned i = 0; i <= n; i++)
        come(&f, i);
    for (unsigned i = 0; i < n; i++) {
        begin_task(&f, i, 0.02);
        hac_user_spend(f.user[i], 1);
    }
    bool began = false;
    for (; !began && turns < 100; turns++) {
        bool all = true;
        for (unsigned i = 0; i < n; i++)
            all = all && f.of[i].n_in_flight > 0;
        if (all) {
            end_task(&f, oldest, 0.02);
            oldest = (oldest + 1) % n;
        }
        hac_fair_share_begin(&f.users);
        for (hac_user *u = hac_fair_share_next(&f.users); u != NULL; u = hac_fair_share_next(&f.users)) {
            double seconds = u->uid < n ? 0.02 : 1;
            if (f.of[u->uid].n_in_flight > 0 ||
                !hac_fair_share_may(&f.executors, &f.of[u->uid], seconds, seconds))
                continue;
            begin_task(&f, u->uid, seconds);
            began = began || u->uid == n;
        }
        hac_fair_share_end(&f.users);
        pass_time(&f, 0.011);
    }
    assert_true(turns >= 18 && turns <= 21); /* 0.2 s after the first one */
    tear_down(&f, n + 1);
}

static void test_streams(void **state)
{
    (void)state;
    check_streams(2, HAC_DEVICE_KIND_CPU);
    check_streams(2, HAC_DEVICE_KIND_ARM);
    check_streams(5, HAC_DEVICE_KIND_GPU); /* more than may run beside a task that is not short */
}

/* A user who may not go beside a task because another one comes first does not ask again and again. */
static void test_asks_again(void **state)
{
    (void)state;
    fixture f = {.users.list.next = NULL};
    set_up(&f, 3);
    f.executors.watch_ns = 1; /* the timer is set: no loop is needed */
    f.device.config.kind = HAC_DEVICE_KIND_CPU;
    for (unsigned i = 0; i < 3; i++)
        come(&f, i);
    hac_user_spend(f.user[1], 1);
    begin_task(&f, 0, 100);
    assert_false(may_begin(&f, 1, 1));
    assert_true(fabs(asks_again_in(&f, 1) - 0.2) < 0.001);
    pass_time(&f, 0.3);
    f.executors.again_ns = 0;
    hac_fair_share_begin(&f.users);
    hac_fair_share_wait(f.user[2], 3);
    assert_false(hac_fair_share_may(&f.executors, &f.of[1], 1, 1));
    hac_fair_share_end(&f.users);
    assert_int_equal(f.executors.again_ns, 0);
    assert_true(may_begin(&f, 1, 1));
    tear_down(&f, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_coming_late),
        cmocka_unit_test(test_waits_for_one_task),
        cmocka_unit_test(test_quantum),
        cmocka_unit_test(test_without_executor),
        cmocka_unit_test(test_beside),
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_asks_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
