/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"
#include "base/type.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/test_support.h"

static const hac_type all_types[] = {HAC_TYPE_U32, HAC_TYPE_I32, HAC_TYPE_F32,
                                     HAC_TYPE_U64, HAC_TYPE_I64, HAC_TYPE_F64};
#define N_TYPES (sizeof all_types / sizeof *all_types)

static uint64_t map(hac_type type, hac_key_order order, uint64_t bits)
{
    return hac_type_size(type) == 4 ? hac_key_map32(order, (uint32_t)bits) : hac_key_map64(order, bits);
}

static uint64_t unmap(hac_type type, hac_key_order order, uint64_t mapped)
{
    return hac_type_size(type) == 4 ? hac_key_unmap32(order, (uint32_t)mapped)
                                    : hac_key_unmap64(order, mapped);
}

static double to_double(hac_type type, uint64_t bits)
{
    double wide;
    float narrow;
    uint32_t low = (uint32_t)bits;
    memcpy(&wide, &bits, sizeof wide);
    memcpy(&narrow, &low, sizeof narrow);
    return type == HAC_TYPE_F32 ? (double)narrow : wide;
}

/* -1, 0, 1 by the rule in words: -0.0 before +0.0, NaNs last; two NaNs have no order here (2). */
static int compare_floats(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b) ? 2 : isnan(a) ? 1 : -1;
    if (a == b)
        return (signbit(b) != 0) - (signbit(a) != 0);
    return a < b ? -1 : 1;
}

static int compare(hac_type type, uint64_t a, uint64_t b)
{
    switch (type) {
    case HAC_TYPE_U32:
        return ((uint32_t)a > (uint32_t)b) - ((uint32_t)a < (uint32_t)b);
    case HAC_TYPE_I32:
        return ((int32_t)a > (int32_t)b) - ((int32_t)a < (int32_t)b);
    case HAC_TYPE_U64:
        return (a > b) - (a < b);
    case HAC_TYPE_I64:
        return ((int64_t)a > (int64_t)b) - ((int64_t)a < (int64_t)b);
    default:
        return a == b ? 0 : compare_floats(to_double(type, a), to_double(type, b));
    }
}

#define MAX_SAMPLES 512

/* Every boundary of both widths and every kind of float, and patterns at random. */
static size_t fill_samples(uint64_t samples[MAX_SAMPLES], hac_type type)
{
    static const float f32[] = {0.0f,    -0.0f,       1.0f,     -1.0f,     FLT_MIN,      -FLT_MIN,
                                FLT_MAX, -FLT_MAX,    INFINITY, -INFINITY, FLT_TRUE_MIN, -FLT_TRUE_MIN,
                                NAN,     FLT_EPSILON, 1e10f,    -1e10f};
    static const double f64[] = {0.0,     -0.0,        1.0,      -1.0,      DBL_MIN,      -DBL_MIN,
                                 DBL_MAX, -DBL_MAX,    INFINITY, -INFINITY, DBL_TRUE_MIN, -DBL_TRUE_MIN,
                                 NAN,     DBL_EPSILON, 1e300,    -1e300};
    uint64_t mask = hac_type_size(type) == 4 ? UINT32_MAX : UINT64_MAX, seed = 1;
    size_t n = 0;
    for (size_t i = 0; i < sizeof f32 / sizeof *f32; i++) {
        uint32_t narrow;
        memcpy(&narrow, &f32[i], sizeof narrow);
        samples[n++] = narrow;
        memcpy(&samples[n++], &f64[i], sizeof(double));
    }
    /* each sign's first and last NaN, infinity and its neighbours, and the largest denormal */
    static const uint64_t tops[] = {0x7f800000,
                                    0xff800000,
                                    UINT64_C(0x7ff0000000000000),
                                    UINT64_C(0xfff0000000000000),
                                    0x80000000,
                                    UINT64_C(0x8000000000000000)};
    for (size_t i = 0; i < sizeof tops / sizeof *tops; i++)
        for (int delta = -2; delta <= 2; delta++)
            samples[n++] = tops[i] + (uint64_t)(int64_t)delta;
    static const uint64_t others[] = {0x7fffffff,
                                      0xffffffff,
                                      0x007fffff,
                                      0x807fffff,
                                      0x7fc00000,
                                      0xffc00000,
                                      UINT64_C(0x7fffffffffffffff),
                                      UINT64_MAX,
                                      UINT64_C(0x000fffffffffffff),
                                      UINT64_C(0x800fffffffffffff),
                                      UINT64_C(0xfff8000000000000)};
    memcpy(samples + n, others, sizeof others);
    n += sizeof others / sizeof *others;
    while (n < MAX_SAMPLES)
        samples[n++] = hac_random_u64(&seed);
    for (size_t i = 0; i < n; i++)
        samples[i] &= mask;
    return n;
}

static void check_pair(hac_type type, hac_key_order up, hac_key_order down, uint64_t a, uint64_t b)
{
    uint64_t ua = map(type, up, a), ub = map(type, up, b);
    uint64_t da = map(type, down, a), db = map(type, down, b);
    int wanted = compare(type, a, b);
    assert_int_equal(ua < ub, db < da); /* descending is the exact reverse */
    if (wanted == 2)
        assert_true(ua != ub);
    else {
        assert_int_equal((ua > ub) - (ua < ub), wanted);
        assert_int_equal((db > da) - (db < da), wanted);
    }
}

static void test_order_of_all_types(void **state)
{
    (void)state;
    static uint64_t samples[MAX_SAMPLES];
    for (size_t t = 0; t < N_TYPES; t++) {
        hac_key_order up = hac_key_order_of(all_types[t], false), down = hac_key_order_of(all_types[t], true);
        size_t n = fill_samples(samples, all_types[t]);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                check_pair(all_types[t], up, down, samples[i], samples[j]);
    }
}

static void test_unmap_undoes_map(void **state)
{
    (void)state;
    static uint64_t samples[MAX_SAMPLES];
    for (size_t t = 0; t < 2 * N_TYPES; t++) {
        hac_type type = all_types[t / 2];
        hac_key_order order = hac_key_order_of(type, t % 2 == 1);
        size_t n = fill_samples(samples, type);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(unmap(type, order, map(type, order, samples[i])), samples[i]);
            assert_int_equal(map(type, order, unmap(type, order, samples[i])), samples[i]);
        }
    }
}

/* All f32 patterns in a stride, walked in the order they should have: the map must rise strictly. */
static void test_f32_patterns_rise(void **state)
{
    (void)state;
    const uint32_t stride = 509;
    hac_key_order order = hac_key_order_of(HAC_TYPE_F32, false);
    uint64_t last = 0, steps = 0;
    bool first = true;
    for (uint64_t i = 0; i <= UINT32_MAX; i += stride) {
        uint32_t rank = (uint32_t)i, bits;
        if (rank <= 0x7f800000) /* -infinity … -0.0 */
            bits = 0xff800000 - rank;
        else if (rank <= 0xff000001) /* +0.0 … +infinity */
            bits = rank - 0x7f800001;
        else if (rank - 0xff000002 < 0x7fffff) /* NaNs of positive sign */
            bits = 0x7f800001 + (rank - 0xff000002);
        else
            continue;
        uint32_t mapped = hac_key_map32(order, bits);
        if (!first && mapped <= last)
            fail_msg("%08x maps to %08x, not above %08llx", bits, mapped, (unsigned long long)last);
        if (hac_key_unmap32(order, mapped) != bits)
            fail_msg("%08x does not come back", bits);
        last = mapped;
        first = false;
        steps++;
    }
    assert_true(steps > 8000000);
}

static void test_extremes(void **state)
{
    (void)state;
    hac_key_order f32 = hac_key_order_of(HAC_TYPE_F32, false), f64 = hac_key_order_of(HAC_TYPE_F64, false);
    assert_int_equal(hac_key_map32(f32, 0xff800000), 0); /* -infinity is the least of all */
    assert_int_equal(hac_key_map64(f64, UINT64_C(0xfff0000000000000)), 0);
    hac_key_order down = hac_key_order_of(HAC_TYPE_U32, true);
    assert_int_equal(hac_key_map32(down, UINT32_MAX), 0);
    assert_int_equal(hac_key_map32(hac_key_order_of(HAC_TYPE_I32, false), 0x80000000), 0);
}

static void test_names_and_sizes(void **state)
{
    (void)state;
    for (size_t t = 0; t < N_TYPES; t++) {
        const char *name = hac_type_name(all_types[t]);
        assert_int_equal(hac_type_from_name(name), all_types[t]);
        assert_int_equal(hac_type_size(all_types[t]), atoi(name + 1) / 8);
        assert_int_equal(hac_type_is_float(all_types[t]), name[0] == 'f');
    }
    assert_int_equal(hac_type_from_name("none"), HAC_TYPE_NONE);
    assert_int_equal(hac_type_from_name("u16"), HAC_TYPE_NONE);
    assert_int_equal(hac_type_from_name(""), HAC_TYPE_NONE);
    assert_int_equal(hac_type_size((hac_type)99), 0);
    assert_int_equal(hac_type_size((hac_type)-1), 0);
    assert_string_equal(hac_type_name((hac_type)99), "none");
    assert_false(hac_type_is_float((hac_type)99));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_of_all_types), cmocka_unit_test(test_unmap_undoes_map),
        cmocka_unit_test(test_f32_patterns_rise),  cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_names_and_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
