/* SPDX-License-Identifier: Apache-2.0 */
#include "number_print.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void bytes(void **state)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0 B"},
                 {1, "1 B"},
                 {999, "999 B"},
                 {1023, "1023 B"},
                 {1024, "1 KiB"},
                 {1536, "1.50 KiB"},
                 {1048576, "1 MiB"},
                 {10.5 * 1048576, "10.5 MiB"},
                 {123.4 * 1048576, "123 MiB"},
                 {4.0 * 1073741824, "4 GiB"},
                 {18446744073709551615.0, "16 EiB"},
                 {-1, "-"}};
    char buffer[HAC_NUMBER_PRINT_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(hac_number_print_bytes(cases[i].value, buffer), cases[i].text);
    assert_string_equal(hac_number_print_bytes(NAN, buffer), "-");
    assert_string_equal(hac_number_print_bytes(INFINITY, buffer), "-");
}

static void counts_and_rates(void **state)
{
    char buffer[HAC_NUMBER_PRINT_MAX];
    (void)state;
    assert_string_equal(hac_number_print_count(0, buffer), "0");
    assert_string_equal(hac_number_print_count(999, buffer), "999");
    assert_string_equal(hac_number_print_count(999.6, buffer), "1.00 K");
    assert_string_equal(hac_number_print_count(1000, buffer), "1 K");
    assert_string_equal(hac_number_print_count(16777216, buffer), "16.8 M");
    assert_string_equal(hac_number_print_count(999999, buffer), "1.00 M");
    assert_string_equal(hac_number_print_count(1e30, buffer), "1000000000000000 P");
    assert_string_equal(hac_number_print_rate(1.18e8, buffer), "118 M items/s");
    assert_string_equal(hac_number_print_rate(12, buffer), "12 items/s");
}

static void seconds(void **state)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0 s"},          {1e-9, "1 ns"},      {2.84e-2, "28.4 ms"}, {0.9999, "1.00 s"},
                 {1.5, "1.50 s"},     {99, "99 s"},        {100, "1 min 40 s"},  {3599.6, "1 h 0 min"},
                 {7260, "2 h 1 min"}, {200000, "2 d 7 h"}, {-0.1, "-"},          {1e300, "-"}};
    char buffer[HAC_NUMBER_PRINT_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(hac_number_print_seconds(cases[i].value, buffer), cases[i].text);
}

static void percent(void **state)
{
    char buffer[HAC_NUMBER_PRINT_MAX];
    (void)state;
    assert_string_equal(hac_number_print_percent(0, buffer), "0 %");
    assert_string_equal(hac_number_print_percent(0.021, buffer), "2.1 %");
    assert_string_equal(hac_number_print_percent(0.62, buffer), "62 %");
    assert_string_equal(hac_number_print_percent(1, buffer), "100 %");
    assert_string_equal(hac_number_print_percent(NAN, buffer), "-");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes),
        cmocka_unit_test(counts_and_rates),
        cmocka_unit_test(seconds),
        cmocka_unit_test(percent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
