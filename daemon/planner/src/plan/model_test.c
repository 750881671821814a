/* SPDX-License-Identifier: Apache-2.0 */
#include "planner/model.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static hac_model_set *new_set(void)
{
    hac_model_set *set = NULL;
    assert_int_equal(hac_model_set_new(&set, NULL), HAC_OK);
    return set;
}

static void record(hac_model_set *set, double units, double seconds)
{
    hac_model_record(set, "cpu", "radix.leaf", HAC_TYPE_U32, units, seconds, false);
}

static void record_disturbed(hac_model_set *set, double units, double seconds, bool together,
                             hac_disturbance disturbance)
{
    hac_model_record_disturbed(set, "cpu", "radix.leaf", HAC_TYPE_U32, units, seconds, together, disturbance);
}

static hac_prediction predict(const hac_model_set *set, double units)
{
    return hac_model_predict(set, "cpu", "radix.leaf", HAC_TYPE_U32, units, false);
}

static void assert_near(double a, double b, double relative)
{
    if (!(fabs(a - b) <= relative * fabs(b)))
        fail_msg("%g is not within %g of %g", a, relative, b);
}

static void test_nothing_learnt(void **state)
{
    (void)state;
    hac_model_set *set = new_set();
    assert_int_equal(predict(set, 1000).samples, 0);
    assert_int_equal(hac_model_predict(NULL, "cpu", "x", HAC_TYPE_U32, 1, false).samples, 0);
    record(set, 1000, NAN);
    record(set, 1000, -1);
    record(set, INFINITY, 1);
    record(set, 0, 1);
    record(set, -5, 1);
    assert_int_equal(predict(set, 1000).samples, 0);
    assert_false(hac_model_set_dirty(set));
    hac_model_set_free(set);
    hac_model_set_free(NULL);
}

/* Nothing is borrowed from another device, codelet or type. */
static void test_keys(void **state)
{
    (void)state;
    hac_model_set *set = new_set();
    record(set, 1e6, 1e-3);
    assert_int_equal(predict(set, 1e6).samples, 1);
    assert_int_equal(hac_model_predict(set, "gpu", "radix.leaf", HAC_TYPE_U32, 1e6, false).samples, 0);
    assert_int_equal(hac_model_predict(set, "cpu", "radix.count", HAC_TYPE_U32, 1e6, false).samples, 0);
    assert_int_equal(hac_model_predict(set, "cpu", "radix.leaf", HAC_TYPE_U64, 1e6, false).samples, 0);
    assert_near(hac_model_predict(set, "cpu", "radix.leaf", HAC_TYPE_U32, 1e6, true).seconds, 1e-3, 1e-9);
    for (int i = 0; i < 3; i++) { /* one or two runs together do not outrank what is known of it alone */
        assert_near(hac_model_predict(set, "cpu", "radix.leaf", HAC_TYPE_U32, 1e6, true).seconds, 1e-3, 1e-9);
        hac_model_record(set, "cpu", "radix.leaf", HAC_TYPE_U32, 1e6, 3e-3, true);
    }
    assert_near(hac_model_predict(set, "cpu", "radix.leaf", HAC_TYPE_U32, 1e6, true).seconds, 3e-3, 1e-9);
    /* … nor at quite another size */
    assert_near(hac_model_predict(set, "cpu", "radix.leaf", HAC_TYPE_U32, 1e9, true).seconds, 1.0, 1e-6);
    assert_near(predict(set, 1e6).seconds, 1e-3, 1e-9);
    for (int i = 0; i < 5000; i++) /* nor for ever: working together would never be tried again */
        hac_model_record(set, "cpu", "io.read", HAC_TYPE_NONE, 1e6, 1e-3, false);
    assert_near(hac_model_predict(set, "cpu", "radix.leaf", HAC_TYPE_U32, 1e6, true).seconds, 1e-3, 1e-9);
    hac_model_record(set, "cpu", "radix.leaf", HAC_TYPE_U32, 1e6, 3e-3, true);
    assert_near(hac_model_predict(set, "cpu", "radix.leaf", HAC_TYPE_U32, 1e6, true).seconds, 3e-3, 1e-9);
    hac_model_set_free(set);
}

typedef struct totals {
    unsigned entries, samples, outliers;
} totals;

static void count(void *context, const hac_model_entry *entry)
{
    totals *t = context;
    t->entries++;
    t->samples += entry->samples;
    t->outliers += entry->outliers;
}

/* StarPU #50: a 190 µs kernel that was recorded at 70–100 ms a few times. */
static void test_outliers(void **state)
{
    (void)state;
    hac_model_set *set = new_set();
    unsigned seed = 1;
    for (int i = 0; i < 31; i++)
        record(set, 1e6,
               i % 4 == 1 ? 0.07 + i * 1e-3 : 190e-6 * (1 + 0.02 * (rand_r(&seed) % 100 / 100.0 - 0.5)));
    hac_prediction p = predict(set, 1e6);
    assert_near(p.seconds, 190e-6, 0.02);
    assert_true(p.relative_error < 0.02);
    totals t = {0, 0, 0};
    hac_model_each(set, count, &t);
    assert_int_equal(t.entries, 1);
    assert_int_equal(t.outliers, 8);
    assert_int_equal(t.samples, 23);
    hac_model_set_free(set);
}

static void record_job(hac_model_set *set, uint64_t job, unsigned samples, double seconds)
{
    hac_model_set_job(set, job);
    for (unsigned i = 0; i < samples; i++)
        record(set, 1e6, seconds);
}

/* A device that was busy while its first job was measured is seen right after another one. */
static void test_wrong_jobs(void **state)
{
    (void)state;
    for (unsigned wrong = 1; wrong <= 40; wrong += 13) {
        hac_model_set *set = new_set();
        record_job(set, 1, wrong, 20e-3);
        assert_near(predict(set, 1e6).seconds, 20e-3, 1e-9);
        assert_true(predict(set, 1e6).stale);
        record_job(set, 2, 1, 1e-3);
        assert_near(predict(set, 1e6).seconds, 1e-3, 1e-9); /* of two the faster one */
        assert_true(predict(set, 1e6).stale);
        record_job(set, 3, 1, 1e-3);
        assert_near(predict(set, 1e6).seconds, 1e-3, 1e-9);
        record_job(set, 4, 1, 1e-3);
        assert_false(predict(set, 1e6).stale);
        hac_model_set_free(set);
    }
}

/* One disturbed job changes nothing, however many samples it has; three in turn do, and so do three after. */
static void test_jobs_contradict(void **state)
{
    (void)state;
    hac_model_set *set = new_set();
    uint64_t job = 0;
    for (int i = 0; i < 5; i++)
        record_job(set, ++job, 7, 1e-3);
    record_job(set, ++job, 100, 5e-3);
    assert_near(predict(set, 1e6).seconds, 1e-3, 1e-9);
    assert_true(predict(set, 1e6).stale);
    record_job(set, ++job, 100, 1e-3);
    assert_false(predict(set, 1e6).stale);
    for (int i = 0; i < 3; i++) {
        assert_near(predict(set, 1e6).seconds, 1e-3, 1e-9);
        record_job(set, ++job, 1, 5e-3);
    }
    assert_near(predict(set, 1e6).seconds, 5e-3, 1e-9);
    for (int i = 0; i < 3; i++) {
        assert_near(predict(set, 1e6).seconds, 5e-3, 1e-9);
        record_job(set, ++job, 1, 1e-3);
    }
    assert_near(predict(set, 1e6).seconds, 1e-3, 1e-9);
    for (int i = 0; i < 4; i++) /* jobs that differ to both sides prove nothing */
        record_job(set, ++job, 1, i % 2 != 0 ? 9e-3 : 1e-4);
    assert_near(predict(set, 1e6).seconds, 1e-3, 1e-9);
    hac_model_set_free(set);
}

/* Work that has fixed costs only takes as long for four times the units: that is no contradiction. */
static void test_fixed_costs_are_no_contradiction(void **state)
{
    (void)state;
    hac_model_set *set = new_set();
    for (uint64_t job = 1; job < 12; job++) {
        hac_model_set_job(set, job);
        record(set, job < 8 ? 1100 : 4000, 1e-3);
    }
    totals t = {0, 0, 0};
    hac_model_each(set, count, &t);
    assert_int_equal(t.samples + t.outliers, 11);
    hac_model_set_free(set);
}

/* A device that is not used is due again after 8 jobs of its family, then after 16, 32 … */
static void test_due(void **state)
{
    (void)state;
    hac_model_set *set = new_set();
    uint64_t job = 0;
    while (job < 3)
        record_job(set, ++job, 1, 1e-3);
    for (unsigned wanted = 8; wanted <= 64; wanted *= 2) {
        unsigned passed = 0;
        while (!predict(set, 1e6).stale) {
            hac_model_set_job(set, ++job);
            hac_model_record(set, "cpu", "io.read", HAC_TYPE_NONE, 1e6, 1, false);   /* another family, */
            hac_model_record(set, "cpu", "radix.leaf", HAC_TYPE_U64, 1e6, 1, false); /* another type */
            assert_true(job % 2 != 0 || !predict(set, 1e6).stale);
            if (job % 2 != 0)
                continue;
            hac_model_record(set, "gpu", "radix.whole", HAC_TYPE_U32, 1e6, 1, false);
            hac_model_record(set, "gpu", "radix.whole", HAC_TYPE_U32, 1e6, 1, false);
            passed++;
        }
        assert_int_equal(passed, wanted);
        record_job(set, ++job, 1, 1e-3);
    }
    hac_model_set_free(set);
}

#define USELESS (HAC_COLD + 1)

/* What the jobs of a device that is measured only when it is due are like. */
typedef struct habit {
    unsigned alone;   /* jobs that measure it alone at first, as `calibrate` does */
    unsigned quality; /* hac_disturbance, or USELESS */
    bool together;
    double units;
    double seconds[2]; /* of 1e6 units, in turn */
} habit;

/* Of 200 jobs, how many measure the device because it is due. */
static unsigned count_explorations(const habit *h)
{
    hac_model_set *set = new_set();
    unsigned explored = 0;
    for (uint64_t job = 1; job <= h->alone; job++)
        record_job(set, job, 1, 1e-3);
    for (uint64_t job = h->alone + 1; job <= h->alone + 200; job++) {
        hac_model_set_job(set, job);
        hac_prediction p = predict(set, 1e6);
        bool due = p.samples == 0 || p.stale;
        double seconds = h->seconds[explored % 2] * h->units / 1e6;
        explored += due;
        if (due && h->quality == USELESS)
            hac_model_note_attempt(set, "cpu", "radix.leaf", HAC_TYPE_U32, h->units);
        else if (due)
            record_disturbed(set, h->units, seconds, h->together, (hac_disturbance)h->quality);
        hac_model_record(set, "gpu", "radix.leaf", HAC_TYPE_U32, 1e6, 1, false);
    }
    hac_model_set_free(set);
    return explored;
}

/* However the pieces of an explored device are measured, it is explored in nine of 200 jobs at most. */
static void test_bounded_exploration(void **state)
{
    (void)state;
    static const double units[] = {1e6, 1.1e6, 5e6, 3e5, 2e4, 1e3, 70};
    static const double seconds[][2] = {{1e-3, 1e-3}, {2e-3, 2e-3}, {30e-3, 30e-3}, {1e-4, 1e-4}};
    for (unsigned alone = 0; alone <= 5; alone++)
        for (unsigned i = 0; i < 4 * 2 * 7 * 4; i++) {
            habit h = {alone, i % 4, i / 4 % 2 != 0, units[i / 8 % 7], {0}};
            memcpy(h.seconds, seconds[i / 56], sizeof(h.seconds));
            if (alone == 0 && (h.units * 64 < 1e6 || h.quality == USELESS))
                continue; /* nothing else is known, and such pieces say nothing of 1e6 units */
            unsigned explored = count_explorations(&h);
            if (explored < 2 || explored > 9)
                fail_msg("%u jobs alone, then of quality %u, %s, %g units, %g s: explored %u times", alone,
                         h.quality, h.together ? "together" : "alone", h.units, h.seconds[0], explored);
        }
}

/* A device whose times vary always contradicts itself. It is not measured by each job. */
static void test_restless(void **state)
{
    (void)state;
    for (unsigned alone = 0; alone <= 5; alone++) {
        habit h = {alone, HAC_UNDISTURBED, false, 1e6, {5e-3, 1e-3}};
        assert_in_range(count_explorations(&h), 2, 20);
    }
}

/* A better sample begins anew: two disturbed jobs and a good one do not make a device known. */
static void test_disturbed_jobs_prove_little(void **state)
{
    (void)state;
    hac_model_set *set = new_set();
    for (uint64_t job = 1; job <= 3; job++) {
        hac_model_set_job(set, job);
        hac_model_record_disturbed(set, "cpu", "radix.leaf", HAC_TYPE_U32, 1e6, 1, true, HAC_COLD);
        assert_int_equal(predict(set, 1e6).stale, job < 3);
    }
    for (uint64_t job = 4; job <= 6; job++) {
        record_job(set, job, 1, 1e-3);
        assert_int_equal(predict(set, 1e6).stale, job < 6);
    }
    hac_model_set_free(set);
}

/* A device that changes for good is followed within a window. */
static void test_drift(void **state)
{
    (void)state;
    hac_model_set *set = new_set();
    for (int i = 0; i < 40; i++)
        record(set, 1e6, 1e-3);
    for (int i = 0; i < 31; i++)
        record(set, 1e6, 2e-3);
    assert_near(predict(set, 1e6).seconds, 2e-3, 1e-9);
    hac_model_set_free(set);
}

/* seconds = 20 µs + units / 1e9: sizes between the learnt ones are met within a few percent. */
static void test_interpolation(void **state)
{
    (void)state;
    hac_model_set *set = new_set();
    for (int e = 10; e <= 26; e += 2)
        for (int i = 0; i < 5; i++)
            record(set, ldexp(1, e), 20e-6 + ldexp(1, e) / 1e9);
    for (double units = 1024; units < 6e7; units *= 1.37)
        assert_near(predict(set, units).seconds, 20e-6 + units / 1e9, 0.15);
    assert_near(predict(set, ldexp(1, 28)).seconds, ldexp(1, 28) / 1e9, 0.05);
    hac_model_set_free(set);
}

/* What starting costs is no rate: four sorts of two keys must not make one of a hundred million look like
 * hours. */
static void test_small_says_nothing_of_large(void **state)
{
    (void)state;
    hac_model_set *set = new_set();
    for (int i = 0; i < 4; i++)
        record(set, 2, 1e-4);
    assert_near(predict(set, 2).seconds, 1e-4, 1e-9);
    assert_near(predict(set, 100).seconds, 5e-3, 1e-9);
    assert_int_equal(predict(set, 1e8).samples, 0);
    for (int i = 0; i < 3; i++) /* what is known of about that size, if only of working together, says more */
        hac_model_record(set, "cpu", "radix.leaf", HAC_TYPE_U32, 1e8, 0.5, true);
    assert_near(predict(set, 1e8).seconds, 0.5, 1e-9);
    assert_int_equal(predict(set, 1e12).samples, 0);
    record(set, 5e3, 5e-3); /* of a program that was just loaded, into new pages */
    assert_int_equal(predict(set, 1e12).samples, 0);
    record(set, 1e6, 2e-3); /* long enough to be work */
    assert_near(predict(set, 1e9).seconds, 2.0, 1e-6);
    hac_model_set_free(set);
}

/* A first piece is better than nothing, until there is anything better. */
static void test_disturbed(void **state)
{
    (void)state;
    hac_model_set *set = new_set();
    record_disturbed(set, 1e6, 30e-3, true, HAC_COLD); /* one piece, beside others: it counts */
    assert_near(predict(set, 1e6).seconds, 30e-3, 1e-9);
    assert_int_equal(predict(set, 1e6).disturbance, HAC_COLD);
    assert_near(predict(set, 5e6).seconds, 150e-3, 1e-9);
    assert_int_equal(predict(set, 1e9).samples, 0);          /* but not for what is far larger */
    record_disturbed(set, 3e5, 3e-3, true, HAC_FRESH_PAGES); /* a smaller piece, but a better sample */
    assert_near(predict(set, 1e6).seconds, 10e-3, 1e-9);
    assert_int_equal(predict(set, 1e6).disturbance, HAC_FRESH_PAGES);
    for (int i = 0; i < 20; i++)
        record_disturbed(set, 3e5, 3e-3, true, HAC_FRESH_PAGES);
    record_disturbed(set, 3e5, 1e-3, true, HAC_UNDISTURBED); /* one is worth more than those twenty */
    record_disturbed(set, 3e5, 3e-3, true, HAC_FRESH_PAGES);
    assert_near(predict(set, 3e5).seconds, 1e-3, 1e-9);
    record_disturbed(set, 1e6, 5e-3, false, HAC_COLD); /* alone, but worse than what is known beside others */
    assert_near(predict(set, 3e5).seconds, 1e-3, 1e-9);
    record_disturbed(set, 1e6, 2e-3, false, HAC_UNDISTURBED);
    assert_near(predict(set, 1e6).seconds, 2e-3, 1e-9);
    assert_int_equal(predict(set, 1e6).disturbance, HAC_UNDISTURBED);
    hac_model_set_free(set);
}

static void test_bounded(void **state)
{
    (void)state;
    hac_model_set *set = new_set();
    char key[64];
    for (int i = 0; i < 5000; i++) {
        snprintf(key, sizeof(key), "device %d", i * 7919 % 5000);
        hac_model_record(set, key, "c", HAC_TYPE_U32, 100, 1, false);
    }
    totals t = {0, 0, 0};
    hac_model_each(set, count, &t);
    assert_int_equal(t.entries, 4096);
    assert_int_equal(hac_model_predict(set, key, "c", HAC_TYPE_U32, 100, false).samples, 1);
    assert_int_equal(hac_model_predict(set, "device 0", "c", HAC_TYPE_U32, 100, false).samples, 0);
    char long_key[400];
    memset(long_key, 'x', sizeof(long_key) - 1);
    long_key[sizeof(long_key) - 1] = '\0';
    hac_model_record(set, long_key, "c", HAC_TYPE_U32, 100, 1, false);
    assert_int_equal(hac_model_predict(set, long_key, "c", HAC_TYPE_U32, 100, false).samples, 0);
    hac_model_set_free(set);
}

static hac_model_set *filled(void)
{
    hac_model_set *set = new_set();
    unsigned seed = 9;
    static const char *const keys[] = {"cpu pocl 3.1\t2 threads", "gpu 100%\nodd", "ünïcode"};
    for (int i = 0; i < 900; i++)
        hac_model_record_disturbed(
            set, keys[rand_r(&seed) % 3], rand_r(&seed) % 2 ? "radix.leaf" : "bitonic.tail.index",
            (hac_type)(rand_r(&seed) % 7), 1 + rand_r(&seed) % 100000, 1e-6 * (1 + rand_r(&seed) % 1000),
            rand_r(&seed) % 2, (hac_disturbance)(rand_r(&seed) % 3));
    return set;
}

/* What one learner records takes the place neither of shared buckets nor of another learner's. */
static void test_learners(void **state)
{
    (void)state;
    hac_model_set *set = new_set();
    char key[64];
    assert_null(hac_model_learner("op.csr"));
    assert_string_equal(hac_model_learner("op.csr@61001"), "61001");
    for (int i = 0; i < 3000; i++) {
        snprintf(key, sizeof(key), "device %d", i);
        hac_model_record(set, key, "c", HAC_TYPE_U32, 100, 1, false);
    }
    hac_model_record(set, "device 0", "c@2", HAC_TYPE_U32, 100, 1, false);
    for (int i = 0; i < 9000; i++) {
        snprintf(key, sizeof(key), "device %d", i);
        hac_model_record(set, key, "c@1", HAC_TYPE_U32, 100, 1, false);
    }
    totals t = {0, 0, 0};
    hac_model_each(set, count, &t);
    assert_int_equal(t.entries, 3000 + 1 + 256);
    assert_int_equal(hac_model_predict(set, "device 0", "c", HAC_TYPE_U32, 100, false).samples, 1);
    assert_int_equal(hac_model_predict(set, "device 0", "c@2", HAC_TYPE_U32, 100, false).samples, 1);
    assert_int_equal(hac_model_predict(set, "device 8999", "c@1", HAC_TYPE_U32, 100, false).samples, 1);
    for (int i = 3000; i < 4500; i++) { /* shared ones drive out those of learners, then each other */
        snprintf(key, sizeof(key), "device %d", i);
        hac_model_record(set, key, "c", HAC_TYPE_U32, 100, 1, false);
    }
    hac_model_record(set, "device 0", "c@3", HAC_TYPE_U32, 100, 1, false);
    assert_int_equal(hac_model_predict(set, "device 0", "c@3", HAC_TYPE_U32, 100, false).samples, 0);
    assert_int_equal(hac_model_predict(set, "device 500", "c", HAC_TYPE_U32, 100, false).samples, 1);
    hac_model_set_free(set);
}

/* Each query makes narrow models: they drive out each other, of a learner and of all, and no others. */
static void test_narrow_go_first(void **state)
{
    (void)state;
    hac_model_set *set = new_set();
    char codelet[64];
    hac_model_record(set, "device", "c", HAC_TYPE_U32, 100, 1, false);
    hac_model_record(set, "device", "c@1", HAC_TYPE_U32, 100, 1, false);
    for (int i = 0; i < 9000; i++) {
        snprintf(codelet, sizeof(codelet), i % 2 == 0 ? "c=%x@1" : "c=%x", i);
        hac_model_record(set, "device", codelet, HAC_TYPE_U32, 100, 1, false);
        assert_int_equal(hac_model_predict(set, "device", codelet, HAC_TYPE_U32, 100, false).samples, 1);
    }
    assert_int_equal(hac_model_predict(set, "device", "c", HAC_TYPE_U32, 100, false).samples, 1);
    assert_int_equal(hac_model_predict(set, "device", "c@1", HAC_TYPE_U32, 100, false).samples, 1);
    hac_model_set_free(set);
}

static void test_round_trip(void **state)
{
    (void)state;
    hac_model_set *set = filled(), *copy = new_set();
    char *text = NULL, *again = NULL;
    size_t bytes = 0, bytes_again = 0, skipped = 99;
    assert_true(hac_model_set_dirty(set));
    assert_int_equal(hac_model_set_write(set, &text, &bytes, NULL), HAC_OK);
    assert_false(hac_model_set_dirty(set));
    assert_int_equal(hac_model_set_read(copy, text, bytes, &skipped, NULL), HAC_OK);
    assert_int_equal(skipped, 0);
    assert_false(hac_model_set_dirty(copy));
    assert_int_equal(hac_model_set_write(copy, &again, &bytes_again, NULL), HAC_OK);
    assert_int_equal(bytes, bytes_again);
    assert_memory_equal(text, again, bytes);
    free(text);
    free(again);
    hac_model_set_free(set);
    hac_model_set_free(copy);
}

/* Any damaged byte costs at most its own line (two if it is a line's end), and nothing wrong gets in. */
static void test_damage(void **state)
{
    (void)state;
    hac_model_set *set = filled();
    char *text = NULL;
    size_t bytes = 0;
    totals whole = {0, 0, 0};
    hac_model_each(set, count, &whole);
    assert_int_equal(hac_model_set_write(set, &text, &bytes, NULL), HAC_OK);
    unsigned seed = 4;
    for (int round = 0; round < 300; round++) {
        char *copy = malloc(bytes);
        assert_non_null(copy);
        memcpy(copy, text, bytes);
        size_t at = 13 + (size_t)rand_r(&seed) % (bytes - 13), cut = bytes, skipped = 0;
        if (round % 3 == 0)
            cut = at + 1;
        else
            copy[at] = (char)(copy[at] ^ (1 + rand_r(&seed) % 255));
        hac_model_set *back = new_set();
        assert_int_equal(hac_model_set_read(back, copy, cut, &skipped, NULL), HAC_OK);
        totals t = {0, 0, 0};
        hac_model_each(back, count, &t);
        if (cut == bytes)
            assert_true(skipped >= 1 && skipped <= 2 && t.entries >= whole.entries - 2 &&
                        t.entries < whole.entries);
        assert_true(skipped <= 2);
        hac_model_set_free(back);
        free(copy);
    }
    assert_int_equal(hac_model_set_read(set, "hac-models 2\n", 13, NULL, NULL), HAC_UNSUPPORTED);
    assert_int_equal(hac_model_set_read(set, "", 0, NULL, NULL), HAC_UNSUPPORTED);
    free(text);
    hac_model_set_free(set);
}

/* The check sum of a line, as docs of the format (model.c) have it: FNV-1a. */
static uint32_t fnv(const char *text)
{
    uint32_t h = 2166136261u;
    for (; *text != '\0'; text++)
        h = (h ^ (unsigned char)*text) * 16777619u;
    return h;
}

/* Reads a file of that one line, with its check sum; returns how many models it held, `t` what they are of.
 */
static size_t read_one(const char *line, totals *t)
{
    char text[4096];
    size_t skipped = 99;
    int n = snprintf(text, sizeof text, "hac-models 1\n%s\t%08" PRIx32 "\n", line, fnv(line));
    assert_in_range(n, 1, sizeof text - 1);
    hac_model_set *set = new_set();
    assert_int_equal(hac_model_set_read(set, text, (size_t)n, &skipped, NULL), HAC_OK);
    *t = (totals){0, 0, 0};
    hac_model_each(set, count, t);
    assert_int_equal(skipped + t->entries, 1);
    hac_model_set_free(set);
    return t->entries;
}

/* A line with a right check sum that no hacd has written costs itself, and teaches nothing. */
static void test_wrong_lines(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",
        "cpu",
        "cpu\tc\tu32\talone",             /* no samples */
        "cpu\tc\tu32\talone\t",           /* … none of them */
        "cpu\tc\tu32\talone\t~~~1:1",     /* no such disturbance */
        "cpu\tc\tu32\talone\t1:1\tmore",  /* a field too many */
        "\tc\tu32\talone\t1:1",           /* no device */
        "cpu\t\tu32\talone\t1:1",         /* no codelet */
        "cpu\tc\tu33\talone\t1:1",        /* no such type */
        "cpu\tc\tu32\tbeside\t1:1",       /* neither alone nor together */
        "cpu\tc\tu32\talone\t:1",         /* no units */
        "cpu\tc\tu32\talone\t1",          /* no seconds */
        "cpu\tc\tu32\talone\t1;1",        /* */
        "cpu\tc\tu32\talone\t1:",         /* */
        "cpu\tc\tu32\talone\t1:1x",       /* */
        "cpu\tc\tu32\talone\t0:1",        /* what cannot have been measured */
        "cpu\tc\tu32\talone\t-1:1",       /* */
        "cpu\tc\tu32\talone\t1:-1",       /* */
        "cpu\tc\tu32\talone\tnan:1",      /* */
        "cpu\tc\tu32\talone\t1:inf",      /* */
        "cpu\tc\tu32\talone\t1e30:1",     /* */
        "cpu\tc\tu32\talone\t1:1e9",      /* */
        "cpu\tc\tu32\talone\t1:1 2:2 3:", /* one wrong sample of three */
        "cp%\tc\tu32\talone\t1:1",        /* escapes: cut off, */
        "cp%4\tc\tu32\talone\t1:1",       /* */
        "cp%4/\tc\tu32\talone\t1:1",      /* of what is no digit, */
        "cp%4:\tc\tu32\talone\t1:1",      /* */
        "cp%@4\tc\tu32\talone\t1:1",      /* */
        "cp%G4\tc\tu32\talone\t1:1",      /* */
        "cp%00u\tc\tu32\talone\t1:1",     /* of a byte that ends texts */
    };
    totals t;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(read_one(wrong[i], &t), 0);
    static const char *const right[] = {
        "cpu\tc\tu32\talone\t1:1",
        "cpu\tc\tnone\ttogether\t1:1",
        "c%09%25%7Fu\tc\tu32\talone\t1.5e3:0",
    };
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        assert_int_equal(read_one(right[i], &t), 1);
        assert_int_equal(t.samples, 1);
    }
    char line[1024];
    memset(line, 'x', sizeof line);
    for (int fits = 0; fits < 2; fits++) { /* a device's key that has just, or just not, room */
        snprintf(line + 160 - fits, sizeof line - 160, "\tc\tu32\talone\t1:1");
        assert_int_equal(read_one(line, &t), (size_t)fits);
        memset(line, 'x', sizeof line);
    }
}

/* A check sum is 8 digits, and nothing behind them. */
static void test_wrong_sums(void **state)
{
    (void)state;
    static const char line[] = "cpu\tc\tu32\talone\t1:1";
    static const char *const forms[] = {"%s\t%08" PRIx32 "\n", "%s\t%09" PRIx32 "\n", "%s\t%08" PRIx32 " \n",
                                        "%s\t%08" PRIx32, "%s %08" PRIx32 "\n"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char text[256] = "hac-models 1\n";
        size_t skipped = 99, header = strlen(text);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        int n = snprintf(text + header, sizeof text - header, forms[i], line, fnv(line));
#pragma GCC diagnostic pop
        hac_model_set *set = new_set();
        assert_int_equal(hac_model_set_read(set, text, header + (size_t)n, &skipped, NULL), HAC_OK);
        assert_int_equal(skipped, i == 0 ? 0 : 1);
        hac_model_set_free(set);
    }
}

/* Work of any size is learnt: what is under the smallest bucket or over the largest goes into those. */
static void test_extreme_sizes(void **state)
{
    (void)state;
    hac_model_set *set = new_set();
    record(set, 1e-100, 1e-6);
    record(set, 1e29, 1e8);
    assert_near(predict(set, 1e29).seconds, 1e8, 1e-6);
    assert_true(predict(set, 1).samples > 0);
    assert_int_equal(predict(set, NAN).samples, 0);
    assert_int_equal(predict(set, INFINITY).samples, 0);
    assert_int_equal(predict(set, -1).samples, 0);
    assert_int_equal(hac_model_recall(set, "cpu", "radix.leaf", HAC_TYPE_U32, NAN).samples, 0);
    assert_int_equal(hac_model_recall(NULL, "cpu", "radix.leaf", HAC_TYPE_U32, 1).samples, 0);
    totals before = {0, 0, 0}, after = {0, 0, 0};
    hac_model_each(set, count, &before);
    record(set, 1e30, 1); /* and what cannot be is not */
    record(set, 1, 1e9);
    hac_model_record(set, "", "c", HAC_TYPE_U32, 1, 1, false);
    hac_model_record(set, "cpu", "", HAC_TYPE_U32, 1, 1, false);
    hac_model_record(set, "cpu", "c", HAC_TYPE_COUNT, 1, 1, false);
    hac_model_each(set, count, &after);
    assert_int_equal(after.samples, before.samples);
    assert_int_equal(before.entries, 2);
    hac_model_set_free(set);
}

static hac_prediction predict_narrow(const hac_model_set *set, double units)
{
    return hac_model_predict_narrow(set, "cpu", "radix.leaf", HAC_TYPE_U32, units, false);
}

/* A narrow model has few samples: it says nothing of much smaller work, nor what a device does warm. */
static void test_narrow(void **state)
{
    (void)state;
    hac_model_set *set = new_set();
    assert_int_equal(hac_model_predict_narrow(NULL, "cpu", "x", HAC_TYPE_U32, 1, false).samples, 0);
    assert_int_equal(predict_narrow(set, 1e6).samples, 0);
    hac_model_record_disturbed(set, "cpu", "radix.leaf", HAC_TYPE_U32, 1e6, 9e-3, false, HAC_COLD);
    assert_int_equal(predict(set, 1e6).samples, 1);
    assert_int_equal(predict_narrow(set, 1e6).samples, 0);
    hac_model_record_disturbed(set, "cpu", "radix.leaf", HAC_TYPE_U32, 1e6, 3e-3, false, HAC_FRESH_PAGES);
    assert_near(predict_narrow(set, 1e6).seconds, 3e-3, 1e-9);
    assert_near(predict_narrow(set, 1e8).seconds, 0.3, 1e-9);
    assert_near(predict_narrow(set, 1e5).seconds, 3e-4, 1e-9);
    assert_int_equal(predict(set, 1e4).samples, 1);
    assert_int_equal(predict_narrow(set, 1e4).samples, 0);
    hac_model_record(set, "cpu", "other", HAC_TYPE_U32, 1e6, 1e-3, true); /* beside others only */
    assert_int_equal(hac_model_predict_narrow(set, "cpu", "other", HAC_TYPE_U32, 1e6, false).samples, 1);
    assert_true(hac_model_is_narrow("c#1") && hac_model_is_narrow("c.csv=1@u") &&
                !hac_model_is_narrow("c.csv@u"));
    hac_model_set_free(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_learnt),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_outliers),
        cmocka_unit_test(test_drift),
        cmocka_unit_test(test_interpolation),
        cmocka_unit_test(test_small_says_nothing_of_large),
        cmocka_unit_test(test_disturbed),
        cmocka_unit_test(test_bounded),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_wrong_lines),
        cmocka_unit_test(test_wrong_sums),
        cmocka_unit_test(test_extreme_sizes),
        cmocka_unit_test(test_learners),
        cmocka_unit_test(test_narrow_go_first),
        cmocka_unit_test(test_narrow),
        cmocka_unit_test(test_wrong_jobs),
        cmocka_unit_test(test_jobs_contradict),
        cmocka_unit_test(test_due),
        cmocka_unit_test(test_bounded_exploration),
        cmocka_unit_test(test_restless),
        cmocka_unit_test(test_disturbed_jobs_prove_little),
        cmocka_unit_test(test_fixed_costs_are_no_contradiction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
