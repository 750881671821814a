/* SPDX-License-Identifier: Apache-2.0 */
/* Contests between made-up settings: with equal ones nothing is kept, slow and fast ones are told apart,
 * under noise of the size that shared machines have. */
#include <math.h>
#include <string.h>

#include "base/test_support.h"
#include "tune_contest.h"

#define WORKLOADS 5

/* xorshift64*: the same numbers in every run */
static uint64_t state = 88172645463325252u;

static double random_unit(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (double)((state * UINT64_C(2685821657736338717)) >> 11) / 9007199254740992.0;
}

/* A made-up device: seconds of each workload with each candidate, and noise. */
typedef struct device {
    double factor[HAC_CONTEST_CANDIDATES_MAX]; /* of all workloads; 0: it cannot run them */
    double noise; /* a workload takes up to this fraction longer, and a visit as a whole as well */
    double drift; /* each visit makes the machine slower by this fraction */
    size_t visits;
} device;

static void visit(device *d, size_t candidate, double *ret)
{
    double busy = (1 + d->noise * random_unit()) * (1 + d->drift * (double)d->visits++);
    for (size_t w = 0; w < WORKLOADS; w++)
        ret[w] = 0.01 * (double)(w + 1) * d->factor[candidate] * busy * (1 + d->noise * random_unit());
}

static hac_contest_verdict hold(device *d, size_t n, hac_contest *contest)
{
    size_t candidate, visits = 0;
    memset(contest, 0, sizeof *contest);
    contest->n_candidates = n;
    contest->n_workloads = WORKLOADS;
    while (hac_contest_next(contest, &candidate)) {
        double seconds[WORKLOADS];
        assert_true(candidate < n);
        visit(d, candidate, seconds);
        hac_contest_end_visit(contest, d->factor[candidate] > 0 ? seconds : NULL);
        assert_true(++visits <= HAC_CONTEST_SCREENINGS * n + 2 * HAC_CONTEST_ROUNDS);
    }
    return hac_contest_judge(contest);
}

static device equal(size_t n, double noise)
{
    device d = {.noise = noise};
    for (size_t c = 0; c < n; c++)
        d.factor[c] = 1;
    return d;
}

/* What `tune` did before kept a different one of equal settings in each of six runs. */
static void test_nothing_differs(void **unused)
{
    (void)unused;
    hac_contest contest;
    static const double noises[] = {0.001, 0.1, 0.4, 1.0};
    for (size_t i = 0; i < sizeof noises / sizeof *noises; i++) {
        size_t kept = 0;
        for (int run = 0; run < 500; run++) {
            device d = equal(9, noises[i]);
            kept += hold(&d, 9, &contest).kept;
        }
        assert_true(kept <= 15); /* 11/1024 of 500 is 5; 15 or more have a chance below 1 in 5,000 */
    }
}

/* A machine that becomes slower and slower favours neither. */
static void test_drift(void **unused)
{
    (void)unused;
    hac_contest contest;
    size_t kept = 0;
    for (int run = 0; run < 500; run++) {
        device d = equal(3, 0.2);
        d.drift = 0.02;
        kept += hold(&d, 3, &contest).kept;
    }
    assert_true(kept <= 15);
}

/* The better setting is found when the present one is slow on purpose. */
static void test_a_slow_one(void **unused)
{
    (void)unused;
    hac_contest contest;
    for (int run = 0; run < 200; run++) {
        device d = equal(4, 0.2);
        d.factor[0] = 2;
        d.factor[1] = 3;
        d.factor[2] = 2.5;
        hac_contest_verdict verdict = hold(&d, 4, &contest);
        assert_int_equal(contest.challenger, 3);
        assert_true(verdict.kept && verdict.wins >= 9);
        assert_true(verdict.score > 0.4 && verdict.score < 0.6);
    }
}

/* A gain of 15 % is mostly found on a machine whose times vary by 40 %. */
static void test_a_small_gain(void **unused)
{
    (void)unused;
    hac_contest contest;
    size_t kept = 0;
    for (int run = 0; run < 200; run++) {
        device d = equal(4, 0.2);
        d.factor[2] = 0.85;
        kept += hold(&d, 4, &contest).kept && contest.challenger == 2;
    }
    assert_true(kept > 120);
    device quiet = equal(4, 0.001);
    quiet.factor[3] = 0.98; /* below what a change is worth */
    assert_false(hold(&quiet, 4, &contest).kept);
    assert_int_equal(contest.challenger, 3);
    assert_int_equal(contest.n_rounds, HAC_CONTEST_ROUNDS);
    quiet.factor[3] = 0.95;
    assert_true(hold(&quiet, 4, &contest).kept);
}

/* A slower candidate costs no rounds. */
static void test_no_challenger(void **unused)
{
    (void)unused;
    hac_contest contest;
    device d = equal(3, 0.001);
    d.factor[1] = 1.2;
    d.factor[2] = 1.5;
    hac_contest_verdict verdict = hold(&d, 3, &contest);
    assert_false(verdict.kept);
    assert_true(verdict.score == 0 && contest.challenger == 0 && contest.n_rounds == 0);
    assert_int_equal(d.visits, 6);
    assert_true(fabs(hac_contest_screening_score(&contest, 2) - 1.5) < 0.01);
}

/* Candidates that cannot run a workload are out; if the present settings cannot, the contest is over. */
static void test_out(void **unused)
{
    (void)unused;
    hac_contest contest;
    device d = equal(4, 0.001);
    d.factor[1] = d.factor[3] = 0;
    d.factor[2] = 0.5;
    assert_true(hold(&d, 4, &contest).kept);
    assert_true(contest.out[1] && contest.out[3] && contest.challenger == 2);
    d.factor[0] = 0;
    assert_false(hold(&d, 4, &contest).kept);
    assert_int_equal(contest.n_rounds, 0);
    device alone = equal(1, 0);
    assert_false(hold(&alone, 1, &contest).kept);
    assert_int_equal(alone.visits, 0);
}

/* One workload that becomes much slower outweighs the others' gain. */
static void test_a_workload_loses(void **unused)
{
    (void)unused;
    hac_contest contest = {.n_candidates = 2, .n_workloads = 2};
    size_t candidate;
    while (hac_contest_next(&contest, &candidate)) {
        double seconds[2] = {candidate == 1 ? 0.5 : 1, candidate == 1 ? 1.2 : 1};
        hac_contest_end_visit(&contest, seconds);
    }
    hac_contest_verdict verdict = hac_contest_judge(&contest);
    assert_false(verdict.kept);
    assert_int_equal(verdict.wins, HAC_CONTEST_ROUNDS);
    assert_true(verdict.worst == 1.2 && verdict.worst_of == 1);
}

/* Each of the two goes first in half of the rounds. */
static void test_order(void **unused)
{
    (void)unused;
    hac_contest contest = {.n_candidates = 3, .n_workloads = 1};
    size_t candidate, n = 0;
    static const size_t wanted[] = {0, 1, 2, 2, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1};
    while (hac_contest_next(&contest, &candidate)) {
        double seconds = candidate == 1 ? 0.5 : 1;
        if (n < sizeof wanted / sizeof *wanted)
            assert_int_equal(candidate, wanted[n]);
        n++;
        hac_contest_end_visit(&contest, &seconds);
    }
    assert_int_equal(n, 6 + 2 * HAC_CONTEST_ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_differs),  cmocka_unit_test(test_drift),
        cmocka_unit_test(test_a_slow_one),       cmocka_unit_test(test_a_small_gain),
        cmocka_unit_test(test_no_challenger),    cmocka_unit_test(test_out),
        cmocka_unit_test(test_a_workload_loses), cmocka_unit_test(test_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
