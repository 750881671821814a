/* SPDX-License-Identifier: Apache-2.0 */
/* Limbs of f64 compared with integers of 128 bits: every implementation, units at both ends, all remainders
 * of rows, and values that have no limbs. */
#include <math.h>

#include "base/random.h"
#include "base/test_support.h"

#include "groups/exact_limbs.h"

typedef __int128 wide;

static uint64_t seed = 1;

/* A value of up to 80 bits, less a few, as an integer and as an f64 in units; the f64 is exact. */
static wide draw(void)
{
    uint64_t r = hac_random_u64(&seed);
    wide mantissa = (wide)(r >> 11 >> hac_random_u64(&seed) % 54);
    wide value = mantissa << hac_random_u64(&seed) % 27;
    if (r % 8 == 0) /* halfway between two multiples of the upper limb */
        value = ((wide)(r >> 50) << HAC_LIMB_BITS) + ((wide)1 << (HAC_LIMB_BITS - 1));
    if (r % 8 == 1)
        value = ((wide)1 << 80) - ((wide)1 << 40); /* the largest but a few */
    return (r & 1024) != 0 ? -value : value;
}

static void check(hac_limbs_converter *convert, size_t rows, int32_t unit)
{
    static double values[72];
    static wide wanted[72];
    static hac_limbs limbs[72];
    for (size_t i = 0; i < rows; i++) {
        wanted[i] = draw();
        values[i] = ldexp((double)wanted[i], unit);
        if (wanted[i] == 0 && i % 2 == 0)
            values[i] = -0.0;
    }
    assert_true(convert((const uint8_t *)values, rows, unit, limbs));
    for (size_t i = 0; i < rows; i++)
        assert_true(hac_limbs_join(&limbs[i]) == wanted[i]);
    if (rows == 0)
        return;
    const double strange[] = {INFINITY,
                              -INFINITY,
                              NAN,
                              -NAN,
                              unit <= 900 ? ldexp(1.0, unit + 81) : INFINITY,
                              unit <= 900 ? -ldexp(1.0, unit + 93) : INFINITY,
                              unit > -1074 ? ldexp(1.0, unit - 1) : NAN,
                              unit > -1074 ? -ldexp(3.0, unit - 1) : NAN};
    for (size_t s = 0; s < sizeof strange / sizeof *strange; s++) {
        size_t at = hac_random_u64(&seed) % rows;
        double before = values[at];
        values[at] = strange[s];
        assert_false(convert((const uint8_t *)values, rows, unit, limbs));
        values[at] = before;
    }
}

static void test_conversion(void **state)
{
    static const int32_t units[] = {-1074, -1073, -1000, -40, 0, 100, HAC_LIMB_UNIT_MAX};
    (void)state;
    hac_limbs_converter *convert;
    for (size_t k = 0; (convert = hac_limbs_converter_at(k)) != NULL; k++)
        for (size_t u = 0; u < sizeof units / sizeof *units; u++)
            for (size_t rows = 0; rows < 70; rows++)
                check(convert, rows, units[u]);
}

static void test_units(void **state)
{
    (void)state;
    const double one = 1.0;
    hac_limbs limbs[4];
    assert_true(hac_limbs_convert((const uint8_t *)&one, 1, -10, limbs));
    assert_false(hac_limbs_convert((const uint8_t *)&one, 1, -1075, limbs));
    assert_false(hac_limbs_convert((const uint8_t *)&one, 1, HAC_LIMB_UNIT_MAX + 1, limbs));
}

/* The largest sums that a limb has to take. */
static void test_sums(void **state)
{
    (void)state;
    hac_limbs sum, value;
    wide largest = (wide)HAC_LIMB_MAX << HAC_LIMB_BITS, row = ((wide)1 << 80) + ((wide)1 << 39);
    assert_true(hac_limbs_split(largest, &sum));
    assert_true(hac_limbs_join(&sum) == largest);
    value = (hac_limbs){{INT64_C(1) << 39, INT64_C(1) << 40}};
    for (int i = 0; i < HAC_LIMB_ROWS; i++)
        hac_limbs_add((uint8_t *)&sum, &value);
    assert_true(hac_limbs_join(&sum) == largest + HAC_LIMB_ROWS * row);
    assert_false(hac_limbs_split(largest + ((wide)1 << HAC_LIMB_BITS), &sum));
    assert_true(hac_limbs_split(-largest, &sum));
    assert_false(hac_limbs_split(-largest - 1, &sum));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conversion),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
