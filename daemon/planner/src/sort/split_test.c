/* SPDX-License-Identifier: Apache-2.0 */
#include "split.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Side-by-side steps of a part, from first principles: marks step by step whether a comparator of the network
 * crosses a boundary of the part. The network is walked comparator by comparator. */
static bool independent(uint64_t items, unsigned n, uint32_t step, uint64_t first, uint64_t count)
{
    uint32_t at = 0;
    for (unsigned q = 1; q <= n; q++) {
        for (unsigned r = q; r >= 1; r--) {
            if (++at != step)
                continue;
            for (uint64_t i = 0; i < items; i++) {
                uint64_t block = i >> r << r;
                uint64_t partner =
                    r == q ? block + (UINT64_C(1) << r) - 1 - (i - block) : i ^ (UINT64_C(1) << (r - 1));
                if (partner >= items)
                    continue;
                bool mine = i >= first && i < first + count,
                     other = partner >= first && partner < first + count;
                if (mine != other)
                    return false;
            }
            return true;
        }
    }
    fail();
    return false;
}

static void assert_runs(unsigned n, unsigned S, const uint32_t (*expected)[2], size_t count)
{
    uint32_t runs[64][2];
    assert_int_equal(hac_split_corun(n, S, NULL), count);
    assert_int_equal(hac_split_corun(n, S, runs), count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(runs[i][0], expected[i][0]);
        assert_int_equal(runs[i][1], expected[i][1]);
    }
}

/* The flow's table, to the digit: n = 4, k = 0.6. */
static void test_table(void **state)
{
    (void)state;
    static const uint32_t proportional[][2] = {{1, 1}, {3, 3}, {6, 6}, {10, 10}};
    static const uint32_t lower[][2] = {{1, 3}, {5, 6}, {9, 10}};
    static const uint32_t upper[][2] = {{1, 6}, {8, 10}};
    const double capability[][2] = {{1e8, 0.6e8}, {1, 0.6}, {3, 1.8}, {1.2e8, 7.2e7}};
    for (size_t i = 0; i < 4; i++) {
        hac_split split;
        hac_split_make(capability[i], 2, 16, HAC_SCHEME_PROPORTIONAL, &split);
        assert_int_equal(split.weaker, 6);
        assert_runs(split.n, split.S, proportional, 4);
        hac_split_make(capability[i], 2, 16, HAC_SCHEME_LOWER, &split);
        assert_int_equal(split.weaker, 4);
        assert_runs(split.n, split.S, lower, 3);
        hac_split_make(capability[i], 2, 16, HAC_SCHEME_UPPER, &split);
        assert_int_equal(split.weaker, 8);
        assert_runs(split.n, split.S, upper, 2);
        assert_int_equal(split.parts[0].N, 1);
        assert_int_equal(split.parts[0].device, 1);
        assert_int_equal(split.parts[1].device, 0);
        hac_split_make(capability[i], 2, 16, HAC_SCHEME_NONE, &split);
        assert_int_equal(split.weaker, 0);
        assert_int_equal(split.S, 0);
    }
}

/* k on the bounds of N, as quotients of integers so that the exact answer is known: k = a/b, share a/(a+b).
 */
static void test_exponent(void **state)
{
    (void)state;
    assert_int_equal(hac_split_exponent(1), 1);
    for (unsigned b = 1; b <= 300; b++) {
        for (unsigned a = 1; a <= b; a++) {
            int N = 1; /* 1/2^(N+1) ≤ a/(a+b) */
            while (((uint64_t)a << (N + 1)) < a + b)
                N++;
            assert_int_equal(hac_split_exponent((double)a / b), N);
        }
    }
}

/* Two devices, powers of two: 2^(n-N), 2^(n-N-1) and the nearest even integer, in exact integer arithmetic.
 */
static void test_two_devices(void **state)
{
    (void)state;
    for (unsigned b = 1; b <= 40; b++) {
        for (unsigned a = 1; a <= b; a++) {
            const double capability[2] = {(double)b * 1e7 / 3, (double)a * 1e7 / 3};
            int N = hac_split_exponent((double)a / b);
            for (unsigned n = 0; n <= 24; n++) {
                uint64_t m = UINT64_C(1) << n;
                uint64_t upper = (unsigned)N <= n ? m >> N : 0;
                if (a == b && n == 0)
                    upper = 0; /* the strongest device keeps the one item */
                uint64_t doubled = m * a / (a + b),
                         rest = m * a % (a + b); /* share·m = doubled + rest/(a+b) */
                uint64_t even = doubled % 2 == 0 ? doubled : rest > 0 ? doubled + 1 : doubled - 1;
                hac_split split;
                hac_split_make(capability, 2, m, HAC_SCHEME_UPPER, &split);
                assert_int_equal(split.weaker, upper);
                if (upper > 0)
                    assert_int_equal(split.S, n - (unsigned)N);
                hac_split_make(capability, 2, m, HAC_SCHEME_LOWER, &split);
                assert_int_equal(split.weaker, upper / 2);
                hac_split_make(capability, 2, m, HAC_SCHEME_PROPORTIONAL, &split);
                assert_int_equal(split.weaker, even);
            }
        }
    }
}

static void check_parts(const hac_split *split, hac_sort_scheme scheme)
{
    uint64_t at = 0;
    for (size_t p = 0; p < split->n_parts; p++) {
        const hac_split_part *part = &split->parts[p];
        bool weaker = p + 1 < split->n_parts;
        assert_int_equal(part->first, at);
        at += part->items;
        if (weaker && p > 0)
            assert_true(part->items <= split->parts[p - 1].items);
        if (weaker && scheme == HAC_SCHEME_PROPORTIONAL)
            assert_int_equal(part->items % 2, 0);
        if (weaker && scheme != HAC_SCHEME_PROPORTIONAL) {
            assert_int_equal(part->items & (part->items - 1), 0);
            assert_true(part->items <= split->parts[split->n_parts - 1].items);
        }
    }
    assert_int_equal(at, split->items);
}

/* Any number of devices and items: the parts tile the items, and S is right comparator by comparator. */
static void test_many_devices(void **state)
{
    (void)state;
    srand(7);
    for (int round = 0; round < 1500; round++) {
        size_t devices = 1 + (size_t)(rand() % (round % 8 == 0 ? 16 : 4));
        uint64_t m = 1 + (uint64_t)(rand() % 130);
        double capability[16];
        for (size_t d = 0; d < devices; d++)
            capability[d] = rand() % 3 == 0 ? 1e8 : 1e6 * (1 + rand() % 100);
        for (hac_sort_scheme scheme = HAC_SCHEME_PROPORTIONAL; scheme <= HAC_SCHEME_NONE; scheme++) {
            hac_split split;
            hac_split_make(capability, devices, m, scheme, &split);
            check_parts(&split, scheme);
            for (size_t p = 0; p < split.n_parts; p++) {
                const hac_split_part *part = &split.parts[p];
                for (uint32_t step = 1; step <= hac_network_steps(split.n) && part->items > 0; step++) {
                    unsigned q, r;
                    hac_network_locate(step, &q, &r);
                    assert_int_equal(hac_network_step(q, r), step);
                    if (r <= part->S)
                        assert_true(independent(m, split.n, step, part->first, part->items));
                }
            }
        }
    }
}

/* The runs are exactly the steps in which the weaker part is independent (powers of two: no step escapes). */
static void test_runs(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= 7; n++) {
        uint64_t m = UINT64_C(1) << n;
        for (uint64_t c = 1; c < m; c++) {
            uint32_t runs[64][2];
            unsigned S = (unsigned)__builtin_ctzll(c);
            size_t n_runs = hac_split_corun(n, S, runs);
            for (uint32_t step = 1; step <= hac_network_steps(n); step++) {
                bool listed = false;
                for (size_t i = 0; i < n_runs; i++)
                    listed |= runs[i][0] <= step && step <= runs[i][1];
                assert_int_equal(listed, independent(m, n, step, 0, c));
            }
            for (size_t i = 1; i < n_runs; i++)
                assert_true(runs[i][0] > runs[i - 1][1] + 1);
        }
    }
}

/* Figures of the flow's paragraph on more than two devices. */
static void test_three_equal(void **state)
{
    (void)state;
    const double capability[3] = {1e8, 1e8, 1e8};
    hac_split split;
    hac_split_make(capability, 3, 32, HAC_SCHEME_UPPER, &split);
    assert_int_equal(split.parts[0].items, 8);
    assert_int_equal(split.parts[1].items, 8);
    assert_int_equal(split.parts[2].items, 16);
    assert_int_equal(split.parts[2].device, 0);
    assert_int_equal(split.parts[0].S, 3);
    assert_int_equal(split.parts[2].S, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),       cmocka_unit_test(test_exponent),
        cmocka_unit_test(test_two_devices), cmocka_unit_test(test_many_devices),
        cmocka_unit_test(test_runs),        cmocka_unit_test(test_three_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
