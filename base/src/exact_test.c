/* SPDX-License-Identifier: Apache-2.0 */
/* Exact sums against Python's fractions, bit for bit: by windows with each unit, by digits, and by both. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/exact.h"
#include "base/exact_number.h"
#include "base/random.h"

#define VALUES_MAX 6

static const struct {
    unsigned n;
    double values[VALUES_MAX], sum, mean, variance, deviation;
} cases[] = {
#include "exact_cases.inc"
};
#define N_CASES (sizeof cases / sizeof *cases)

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void assert_same(double got, double wanted)
{
    if (bits_of(got) != bits_of(wanted))
        fail_msg("%a instead of %a", got, wanted);
}

/* A sum of values and of their squares, whose windows have the unit `unit`. */
typedef struct sums {
    int unit;
    uint64_t sum[HAC_EXACT_SUM_WORDS], squares[HAC_EXACT_PRODUCT_WORDS];
    int64_t sum_digits[HAC_EXACT_DIGITS], square_digits[HAC_EXACT_DIGITS];
} sums;

static void put_digits(int64_t *digits, uint64_t x, uint64_t y, int exponent, bool negative)
{
    unsigned first, n;
    int64_t some[HAC_EXACT_SPLIT_MAX];
    n = hac_exact_split(x, y, exponent, negative, &first, some);
    for (unsigned i = 0; i < n; i++)
        digits[first + i] += some[i];
}

static void add(sums *s, double value)
{
    uint64_t bits = bits_of(value), words[HAC_EXACT_PRODUCT_WORDS], m = hac_exact_mantissa(bits);
    int exponent = hac_exact_exponent(bits);
    if (hac_exact_fits(bits, s->unit, HAC_EXACT_PRODUCT_REACH)) {
        hac_exact_words(bits, s->unit, words);
        hac_exact_add2(s->sum, words);
        hac_exact_product(bits, bits, s->unit, s->unit, words);
        hac_exact_add3(s->squares, words);
        return;
    }
    put_digits(s->sum_digits, m, 1, exponent, hac_exact_sign(bits) != 0);
    put_digits(s->square_digits, m, m, 2 * exponent, false);
}

static void total(const uint64_t *words, uint32_t n, int unit, const int64_t *digits, hac_exact_number *ret)
{
    hac_exact_number window;
    hac_exact_set_window(&window, words, n, unit);
    hac_exact_set_digits(ret, digits);
    hac_exact_sum(ret, ret, &window);
}

static void check_case(size_t c, int unit)
{
    sums s = {.unit = unit};
    hac_exact_number sum, squares, n, square, spread;
    for (unsigned i = 0; i < cases[c].n; i++)
        add(&s, cases[c].values[i]);
    total(s.sum, HAC_EXACT_SUM_WORDS, unit, s.sum_digits, &sum);
    total(s.squares, HAC_EXACT_PRODUCT_WORDS, 2 * unit, s.square_digits, &squares);
    assert_same(hac_exact_round(&sum), cases[c].sum);
    hac_exact_set_u64(&n, cases[c].n);
    assert_same(hac_exact_quotient(&sum, &n), cases[c].mean);
    hac_exact_times(&square, &sum, &sum);
    hac_exact_times(&spread, &squares, &n);
    hac_exact_difference(&spread, &spread, &square);
    hac_exact_times(&square, &n, &n);
    assert_same(hac_exact_quotient(&spread, &square), cases[c].variance);
    assert_same(hac_exact_root(&spread, &square), cases[c].deviation);
}

static void sums_are_those_of_fractions(void **state)
{
    (void)state;
    for (size_t c = 0; c < N_CASES; c++) {
        int low = HAC_EXACT_EXPONENT_MAX, high = HAC_EXACT_EXPONENT_MIN;
        for (unsigned i = 0; i < cases[c].n; i++) {
            int exponent = hac_exact_exponent(bits_of(cases[c].values[i]));
            low = exponent < low ? exponent : low;
            high = exponent > high ? exponent : high;
        }
        check_case(c, hac_exact_unit(low, high, HAC_EXACT_PRODUCT_REACH));
        for (int unit = HAC_EXACT_EXPONENT_MIN; unit <= HAC_EXACT_EXPONENT_MAX; unit += 31)
            check_case(c, unit);
    }
}

static void windows_round_as_numbers_do(void **state)
{
    uint64_t seed = 7;
    (void)state;
    for (int i = 0; i < 20000; i++) {
        uint64_t words[2] = {hac_random_u64(&seed), hac_random_u64(&seed)};
        int exponent = (int)(hac_random_u64(&seed) % 2200) - 1100;
        hac_exact_number number;
        words[1] = (uint64_t)((int64_t)words[1] >> hac_random_u64(&seed) % 64);
        words[0] &= UINT64_MAX << hac_random_u64(&seed) % 64;
        hac_exact_set_window(&number, words, 2, exponent);
        assert_same(hac_exact_round_window(words, exponent), hac_exact_round(&number));
    }
}

static void an_f32_has_the_bits_of_its_f64(void **state)
{
    uint64_t seed = 9;
    (void)state;
    for (int i = 0; i < 100000; i++) {
        uint32_t bits = (uint32_t)hac_random_u64(&seed) & (i % 5 == 0 ? 0x807fffffu : UINT32_MAX);
        float value;
        memcpy(&value, &bits, sizeof value);
        if (isnan(value))
            assert_true(!hac_exact_finite(hac_exact_of_f32(bits)) && hac_exact_of_f32(bits) << 12 != 0);
        else
            assert_int_equal(hac_exact_of_f32(bits), bits_of((double)value));
    }
}

/* A chosen unit takes all values that it was chosen for, if any unit does. */
static void units_take_what_they_were_chosen_for(void **state)
{
    (void)state;
    for (int low = HAC_EXACT_EXPONENT_MIN; low <= HAC_EXACT_EXPONENT_MAX; low++)
        for (int wide = 0; wide <= 60 && low + wide <= HAC_EXACT_EXPONENT_MAX; wide++) {
            int reach = wide <= HAC_EXACT_PRODUCT_REACH ? HAC_EXACT_PRODUCT_REACH : HAC_EXACT_SUM_REACH;
            int unit = hac_exact_unit(low, low + wide, reach);
            assert_true(unit >= HAC_EXACT_EXPONENT_MIN && unit <= HAC_EXACT_EXPONENT_MAX);
            assert_true(unit + reach >= low + wide);
            if (wide <= reach)
                assert_true(unit <= low);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_fractions),
        cmocka_unit_test(windows_round_as_numbers_do),
        cmocka_unit_test(an_f32_has_the_bits_of_its_f64),
        cmocka_unit_test(units_take_what_they_were_chosen_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
