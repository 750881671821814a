/* SPDX-License-Identifier: Apache-2.0 */
#include "base/histogram.h"

#include <float.h>
#include <math.h>

#include "base/test_support.h"

static const hac_value_type f64 = {HAC_KIND_F64, 0, 0}, i64 = {HAC_KIND_I64, 0, 0},
                            u64 = {HAC_KIND_U64, 0, 0};

static void make(hac_constant_number low, hac_constant_number high, uint32_t k, hac_value_type type,
                 hac_buckets *ret)
{
    assert_true(hac_buckets_init(&low, &high, k, type, ret));
}

static uint64_t of_f64(const hac_buckets *b, double x)
{
    return hac_bucket_of(b, hac_bucket_key_of_f64(x), x);
}

static hac_constant_number whole(int64_t value)
{
    return hac_constant_decimal(value, 0);
}

/* Whole numbers 0 … k - 1, and the same hundredths, in k buckets: one each. */
static void test_one_each(void **unused)
{
    (void)unused;
    for (uint32_t k = 1; k <= 1000; k++) {
        hac_buckets reals, integers, unsigned_integers, hundredths, wide, parts;
        make(whole(0), whole(k), k, f64, &reals);
        make(hac_constant_real(0), hac_constant_real(k), k, i64, &integers);
        make(whole(0), whole(k), k, u64, &unsigned_integers);
        make(whole(0), hac_constant_decimal(k, 2), k, (hac_value_type){HAC_KIND_DECIMAL, 10, 2}, &hundredths);
        make(hac_constant_decimal(0, 4), hac_constant_decimal(k, 2), k,
             (hac_value_type){HAC_KIND_DECIMAL, 38, 2}, &wide);
        make(whole(0), hac_constant_decimal(k, 2), k, f64, &parts);
        for (uint32_t i = 0; i < k; i++) {
            assert_int_equal(of_f64(&reals, i), i);
            assert_int_equal(hac_bucket_of(&integers, i, i), i);
            assert_int_equal(hac_bucket_of(&unsigned_integers, hac_bucket_key_of_u64(i), i), i);
            assert_int_equal(hac_bucket_of(&hundredths, i, i / 100.0), i);
            assert_int_equal(hac_bucket_of_wide(&wide, i, i / 100.0), i);
            /* the quotient is the nearest double of i / 100 */
            assert_int_equal(of_f64(&parts, i / 100.0), i);
        }
        assert_int_equal(of_f64(&reals, k), k - 1);
        assert_int_equal(hac_bucket_of(&integers, k, k), k - 1);
        assert_int_equal(hac_bucket_of(&integers, k + 1, k + 1), HAC_NO_BUCKET);
        assert_int_equal(hac_bucket_of(&integers, -1, -1), HAC_NO_BUCKET);
        hac_buckets *const all[] = {&reals, &integers, &unsigned_integers, &hundredths, &wide, &parts};
        for (size_t i = 0; i < 6; i++)
            hac_buckets_clear(all[i]);
    }
}

static void test_large_integers(void **unused)
{
    const int64_t base = INT64_C(9007199254740992);
    hac_buckets b;
    (void)unused;
    make(whole(base), whole(base + 4), 4, i64, &b);
    for (int64_t i = 0; i <= 4; i++)
        assert_int_equal(hac_bucket_of(&b, base + i, (double)(base + i)), i < 4 ? i : 3);
    hac_buckets_clear(&b);
    make(whole(base + 1), whole(base + 2), 1, i64, &b); /* ends that are one double */
    assert_int_equal(hac_bucket_of(&b, base, (double)base), HAC_NO_BUCKET);
    assert_int_equal(hac_bucket_of(&b, base + 1, (double)base), 0);
    assert_int_equal(hac_bucket_of(&b, base + 3, (double)base), HAC_NO_BUCKET);
    hac_buckets_clear(&b);
    make(hac_constant_real(-1e300), hac_constant_real(1e300), 2, i64, &b);
    assert_int_equal(hac_bucket_of(&b, INT64_MIN, -0x1p63), 0);
    assert_int_equal(hac_bucket_of(&b, -1, -1), 0);
    assert_int_equal(hac_bucket_of(&b, 0, 0), 1);
    assert_int_equal(hac_bucket_of(&b, INT64_MAX, 0x1p63), 1);
    hac_buckets_clear(&b);
    make(hac_constant_real(1e19), hac_constant_real(1e300), 3, i64, &b);
    assert_int_equal(hac_bucket_of(&b, INT64_MAX, 0x1p63), HAC_NO_BUCKET);
    hac_buckets_clear(&b);
    make(whole(-5), hac_constant_real(0x1p66), 2, u64, &b);
    assert_int_equal(hac_bucket_of(&b, hac_bucket_key_of_u64(0), 0), 0);
    assert_int_equal(hac_bucket_of(&b, hac_bucket_key_of_u64(UINT64_MAX), 0x1p64), 0);
    hac_buckets_clear(&b);
}

static void test_wide_range(void **unused)
{
    hac_buckets b;
    (void)unused;
    make(hac_constant_real(-1e308), hac_constant_real(1e308), 2, f64, &b);
    assert_int_equal(of_f64(&b, -1e308), 0);
    assert_int_equal(of_f64(&b, -DBL_TRUE_MIN), 0);
    assert_int_equal(of_f64(&b, -0.0), 1);
    assert_int_equal(of_f64(&b, 1e308), 1);
    assert_int_equal(of_f64(&b, 1.1e308), HAC_NO_BUCKET);
    assert_int_equal(of_f64(&b, (double)INFINITY), HAC_NO_BUCKET);
    hac_buckets_clear(&b);
    make(hac_constant_real(-DBL_MAX), hac_constant_real(DBL_MAX), 1000, f64, &b);
    assert_int_equal(of_f64(&b, -DBL_MAX), 0);
    assert_int_equal(of_f64(&b, DBL_MAX), 999);
    assert_int_equal(of_f64(&b, 0), 500);
    hac_buckets_clear(&b);
    make(hac_constant_real(0), hac_constant_real(DBL_TRUE_MIN), 1000, f64,
         &b); /* borders 0 × 501, then the minimum */
    assert_int_equal(of_f64(&b, 0), 500);
    assert_int_equal(of_f64(&b, DBL_TRUE_MIN), 999);
    hac_buckets_clear(&b);
}

/* The double of a key. */
static double of_key(int64_t key)
{
    int64_t bits = key ^ (int64_t)((uint64_t)(key >> 63) >> 1);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* No double is nearer to a border than ours. Its products with k fit the 64 bits of a long double. */
static void test_borders(void **unused)
{
    static const double ends[][2] = {{0, 1},  {-0.5, 1},    {-1, 2},
                                     {0, 97}, {1000, 1001}, {0x1p-1000, 0x1p-990}};
    (void)unused;
    for (size_t e = 0; e < sizeof ends / sizeof *ends; e++)
        for (uint32_t k = 1; k < 200; k++) {
            hac_buckets b;
            make(hac_constant_real(ends[e][0]), hac_constant_real(ends[e][1]), k, f64, &b);
            assert_int_equal(b.n, k);
            for (uint32_t i = 0; i < k; i++) {
                long double sum = (long double)ends[e][0] * (k - i) + (long double)ends[e][1] * i;
                double border = of_key(b.border[i]);
                long double error = fabsl(border * (long double)k - sum);
                assert_true(error <= fabsl(nextafter(border, -HUGE_VAL) * (long double)k - sum));
                assert_true(error <= fabsl(nextafter(border, HUGE_VAL) * (long double)k - sum));
            }
            hac_buckets_clear(&b);
        }
}

static void test_constants(void **unused)
{
    (void)unused;
    hac_constant_number tenth = hac_constant_decimal(1, 1), real = hac_constant_real(0.1),
                        minus = hac_constant_decimal(-3, 1);
    assert_true(tenth.real == 0.1 && minus.real == -0.3);
    assert_true(hac_constant_less(&tenth, &real)); /* the double 0.1 is a little more than a tenth */
    assert_false(hac_constant_less(&real, &tenth));
    assert_true(hac_constant_less(&minus, &tenth));
    assert_true(hac_constant_equal(&tenth, &(hac_constant_number){.digits = 100, .scale = 3}));
    hac_int128 nines = 0;
    for (int i = 0; i < 38; i++)
        nines = nines * 10 + 9;
    assert_true(hac_constant_decimal(nines, 38).real == 1 && hac_constant_decimal(nines, 0).real == 1e38);
    assert_true(hac_constant_decimal(1, 38).real == 1e-38);
    assert_true(hac_constant_decimal(INT64_C(9007199254740993), 0).real == 9007199254740992.0);
    assert_true(hac_constant_decimal(INT64_C(9007199254740995), 0).real == 9007199254740996.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_each),   cmocka_unit_test(test_large_integers),
        cmocka_unit_test(test_wide_range), cmocka_unit_test(test_borders),
        cmocka_unit_test(test_constants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
