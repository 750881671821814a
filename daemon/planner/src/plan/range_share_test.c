/* SPDX-License-Identifier: Apache-2.0 */
#include "planner/range_share.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define MAX  4
#define TRIP 1e-4 /* seconds from a piece's end to the next one's start when nothing was queued */

/* An executor in a range that is played through: it runs one piece and has one waiting at most. */
typedef struct player {
    double speed;      /* items a second in truth */
    double free_at;    /* when it has ended all it has */
    double ends[2];    /* of its pieces in flight */
    uint64_t items[2]; /* of them */
    unsigned n;
    double busy; /* seconds worked */
    uint64_t done;
} player;

typedef struct outcome {
    double seconds;
    unsigned pieces;
} outcome;

static void give(player *p, double now, uint64_t items)
{
    double start = p->n > 0 ? p->free_at : now + TRIP;
    p->free_at = start + (double)items / p->speed;
    p->ends[p->n] = p->free_at;
    p->items[p->n++] = items;
}

static void look(const player *p, const double *planned, size_t n, double now, hac_range_sharer *ret)
{
    for (size_t d = 0; d < n; d++) {
        bool measured = p[d].busy > 0;
        double rate = measured ? (double)p[d].done / p[d].busy : planned[d];
        ret[d] = (hac_range_sharer){true,  true, measured, rate, p[d].n > 0 ? fmax(p[d].free_at - now, 0) : 0,
                                    false, false};
    }
}

/* Ends the piece that is done first; false when none is in flight. */
static bool next_end(player *p, size_t n, double *now)
{
    player *first = NULL;
    for (size_t d = 0; d < n; d++)
        if (p[d].n > 0 && (first == NULL || p[d].ends[0] < first->ends[0]))
            first = &p[d];
    if (first == NULL)
        return false;
    *now = first->ends[0];
    first->busy += (double)first->items[0] / first->speed;
    first->done += first->items[0];
    first->ends[0] = first->ends[1];
    first->items[0] = first->items[1];
    first->n--;
    return true;
}

/* Plays a range through: `speed` is what the devices do, `planned` what was thought. */
static outcome play(const double *speed, const double *planned, size_t n, uint64_t items, uint64_t grain)
{
    player p[MAX] = {{0}};
    outcome o = {0, 0};
    uint64_t left = items;
    for (size_t d = 0; d < n; d++)
        p[d].speed = speed[d];
    do {
        for (bool any = true; any && left > 0;) {
            any = false;
            for (size_t d = 0; d < n && left > 0; d++) {
                hac_range_sharer sharers[MAX];
                look(p, planned, n, o.seconds, sharers);
                uint64_t some = p[d].n < 2 ? hac_range_share_next(sharers, n, d, p[d].n > 0, left, grain) : 0;
                assert_true(some <= left && (some % grain == 0 || some == left));
                if (some == 0)
                    continue;
                give(&p[d], o.seconds, some);
                left -= some;
                o.pieces++;
                any = true;
            }
        }
    } while (next_end(p, n, &o.seconds));
    assert_true(left == 0); /* it never gets stuck */
    return o;
}

static double ideal(const double *speed, size_t n, uint64_t items)
{
    double sum = 0;
    for (size_t d = 0; d < n; d++)
        sum += speed[d];
    return (double)items / sum;
}

static void test_devices_end_together(void **state)
{
    (void)state;
    const double pairs[][2] = {{1e6, 1e6}, {3e6, 1e6}, {10e6, 1e6}, {1e6, 1.7e6}};
    for (size_t i = 0; i < 4; i++) {
        outcome o = play(pairs[i], pairs[i], 2, 20000, 1);
        assert_true(o.seconds < ideal(pairs[i], 2, 20000) + 5e-4);
        assert_true(o.pieces < 40);
    }
    const double four[] = {4e6, 2e6, 1e6, 1e6};
    assert_true(play(four, four, 4, 100000, 1).seconds < ideal(four, 4, 100000) + 6e-4);
}

/* The first pieces go by the plan, the others by what is measured. */
static void test_a_wrong_plan_is_corrected(void **state)
{
    (void)state;
    const double speed[] = {3e6, 1e6}, equal[] = {2e6, 2e6}, turned[] = {2e6, 3e6};
    assert_true(play(speed, equal, 2, 40000, 1).seconds < ideal(speed, 2, 40000) * 1.05 + 5e-4);
    assert_true(play(speed, turned, 2, 40000, 1).seconds < ideal(speed, 2, 40000) * 1.25 + 5e-4);
}

/* Coarse grains: the slow device's last one does not outlast what the fast one would have done instead. */
static void test_no_late_grain(void **state)
{
    (void)state;
    const double speed[] = {1000, 333}; /* a grain is 1 ms on the fast one, 3 ms on the slow one */
    for (uint64_t grains = 1; grains <= 64; grains++) {
        double seconds = play(speed, speed, 2, grains, 1).seconds;
        assert_true(seconds < ideal(speed, 2, grains) + 1.6e-3);
        assert_true(seconds < (double)grains / 1000 + 2 * TRIP * (double)grains);
    }
    const hac_range_sharer sharers[] = {{true, true, true, 1000, 0.5e-3, false, false},
                                        {true, true, true, 100, 0, false, false}};
    assert_int_equal(hac_range_share_next(sharers, 2, 1, false, 5, 1), 0);
    assert_int_equal(hac_range_share_next(sharers, 2, 1, false, 50, 1), 3);
    assert_int_equal(hac_range_share_next(sharers, 2, 0, true, 1, 1), 0); /* it waits for its own end first */
    assert_int_equal(hac_range_share_next(sharers, 2, 0, false, 1, 1), 1);
}

/* Near the end each is given all of its part, to the nearest grain, and not grain by grain. */
static void test_last_pieces(void **state)
{
    (void)state;
    const hac_range_sharer alike[] = {{true, true, true, 11000, 0, false, false},
                                      {true, true, true, 9000, 0, false, false}};
    assert_int_equal(hac_range_share_next(alike, 2, 0, false, 11, 1), 6); /* of 6.05 */
    assert_int_equal(hac_range_share_next(alike, 2, 1, false, 11, 1), 5);
    assert_int_equal(hac_range_share_next(alike, 2, 0, false, 3, 1), 2); /* of 1.65 */
    assert_int_equal(hac_range_share_next(alike, 2, 0, false, 1, 1), 1);
    assert_int_equal(hac_range_share_next(alike, 2, 0, false, 101, 1), 44); /* of 55.5: 4 ms are left */
    const hac_range_sharer busy[] = {{true, true, true, 1e4, 2e-4, false, false},
                                     {true, true, true, 1e4, 0, false, false}};
    assert_int_equal(hac_range_share_next(busy, 2, 1, false, 3, 1),
                     3); /* 100 us after the other has ended at all */
    assert_int_equal(hac_range_share_next(busy, 2, 0, true, 2, 1), 0);
    for (uint64_t items = 5000; items < 20000; items += 37) {
        const double speed[] = {1e6, 1e6};
        outcome o = play(speed, speed, 2, items, 50);
        assert_true(o.pieces <= 10);
        assert_true(o.seconds < ideal(speed, 2, items) + 2.5e-4);
    }
}

/* Whatever the figures are, somebody who is ready is busy or takes a piece. */
static void test_never_stuck(void **state)
{
    (void)state;
    srand(1);
    for (int round = 0; round < 20000; round++) {
        hac_range_sharer s[MAX] = {{0}};
        size_t n = 1 + (size_t)rand() % MAX, ready = 0, working = 0;
        uint64_t left = 1 + (uint64_t)rand() % 1000, grain = 1 + (uint64_t)rand() % 50;
        for (size_t d = 0; d < n; d++) {
            s[d] =
                (hac_range_sharer){true, rand() % 4 != 0,          rand() % 2 != 0, pow(10, rand() % 12 - 4),
                                   0,    d > 0 && rand() % 3 == 0, rand() % 3 == 0};
            s[d].busy = s[d].ready && rand() % 2 ? pow(10, rand() % 8 - 7) : 0;
            ready += s[d].ready;
        }
        for (size_t d = 0; d < n; d++)
            if (s[d].ready && (s[d].busy > 0 || hac_range_share_next(s, n, d, false, left, grain) > 0))
                working++;
        assert_true(ready == 0 || working > 0);
    }
    const hac_range_sharer idle[] = {{true, true, false, 0, 0, false, false},
                                     {true, true, false, 0, 0, false, false}}; /* nothing is known */
    assert_true(hac_range_share_next(idle, 2, 0, false, 10, 1) > 0);
}

/* A guessed rate costs no more than a short piece, whichever it is. */
static void test_explored(void **state)
{
    (void)state;
    for (double guess = 1; guess < 1e7; guess *= 10) {
        const hac_range_sharer s[] = {{true, true, true, 1000, 0, false, false},
                                      {true, true, false, guess, 0, true, false}};
        const hac_range_sharer alone[] = {s[0], {true, false, false, 1, 0, true, false}};
        uint64_t piece = hac_range_share_next(s, 2, 1, false, 1000, 2); /* the other needs a second for it */
        assert_int_equal(piece, guess < 10 ? 0 : guess < 80 ? 2 : fmin(1000, floor(guess * 0.025) * 2));
        assert_int_equal(hac_range_share_next(s, 2, 1, true, 1000, 2), 0); /* one at a time */
        /* the other one does not count on it */
        assert_int_equal(hac_range_share_next(s, 2, 0, false, 1000, 2),
                         hac_range_share_next(alone, 2, 0, false, 1000, 2));
    }
    const hac_range_sharer only[] = {{true, true, false, 1000, 0, true, false}};
    assert_int_equal(hac_range_share_next(only, 1, 0, false, 100, 1), 100);
}

/* Until a guess is corrected, little depends on it. */
static void test_guessed(void **state)
{
    (void)state;
    hac_range_sharer s[] = {{true, true, false, 1000, 0, false, true},
                            {true, true, true, 1000, 0, false, false}};
    assert_int_equal(hac_range_share_next(s, 2, 0, false, 160, 1), 10); /* an eighth of its 80 */
    assert_int_equal(hac_range_share_next(s, 2, 0, true, 160, 1), 0);
    s[0].measured = true;
    assert_int_equal(hac_range_share_next(s, 2, 0, false, 160, 1), 64);
    assert_true(hac_range_share_next(s, 2, 0, true, 160, 1) > 0);
}

static void test_alone(void **state)
{
    (void)state;
    const hac_range_sharer one[] = {{true, true, false, 1000, 0, false, false},
                                    {false, false, false, 0, 0, false, false}};
    assert_int_equal(hac_range_share_next(one, 2, 0, false, 100, 1), 100);
    assert_int_equal(hac_range_share_next(one, 2, 0, false, 100000, 1),
                     250); /* so that a cancel takes effect */
    assert_int_equal(hac_range_share_next(one, 2, 0, true, 100000, 100), 200);
    assert_int_equal(hac_range_share_next(one, 2, 0, false, 100000, 1000), 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_devices_end_together),
        cmocka_unit_test(test_a_wrong_plan_is_corrected),
        cmocka_unit_test(test_no_late_grain),
        cmocka_unit_test(test_last_pieces),
        cmocka_unit_test(test_never_stuck),
        cmocka_unit_test(test_explored),
        cmocka_unit_test(test_guessed),
        cmocka_unit_test(test_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
