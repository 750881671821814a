/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text_forms.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void check(size_t bytes, const char *plain, const char *text, const char *wanted)
{
    if (bytes != strlen(wanted) || memcmp(plain, wanted, bytes) != 0)
        fail_msg("%s: '%.*s' and not '%s'", text, (int)bytes, plain, wanted);
}

static void number(hac_decimal_sign decimal, hac_thousands thousands, const char *text, const char *wanted)
{
    char plain[HAC_FORM_TEXT_MAX];
    check(hac_plain_number(text, strlen(text), decimal, thousands, plain), plain, text, wanted);
}

static void test_numbers(void **state)
{
    (void)state;
    number(HAC_DECIMAL_COMMA, HAC_THOUSANDS_NONE, "12,5", "12.5");
    number(HAC_DECIMAL_COMMA, HAC_THOUSANDS_NONE, "-0,5e3", "-0.5e3");
    number(HAC_DECIMAL_COMMA, HAC_THOUSANDS_NONE, "12.5", "");
    number(HAC_DECIMAL_COMMA, HAC_THOUSANDS_NONE, "1,2,3", "");
    number(HAC_DECIMAL_COMMA, HAC_THOUSANDS_NONE, ",5", ".5");
    number(HAC_DECIMAL_COMMA, HAC_THOUSANDS_NONE, "inf", "inf");
    number(HAC_DECIMAL_COMMA, HAC_THOUSANDS_POINT, "1.234.567,89", "1234567.89");
    number(HAC_DECIMAL_COMMA, HAC_THOUSANDS_POINT, "1234567,89", "1234567.89");
    number(HAC_DECIMAL_COMMA, HAC_THOUSANDS_POINT, "+123.456", "+123456");
    number(HAC_DECIMAL_POINT, HAC_THOUSANDS_COMMA, "1,234.5", "1234.5");
    number(HAC_DECIMAL_AUTO, HAC_THOUSANDS_AUTO, "1234.5", "1234.5");
    number(HAC_DECIMAL_AUTO, HAC_THOUSANDS_AUTO, "1,234.5", "");
    number(HAC_DECIMAL_POINT, HAC_THOUSANDS_SPACE, "1\u00a0234\u202f567 890.5", "1234567890.5");
    number(HAC_DECIMAL_POINT, HAC_THOUSANDS_APOSTROPHE, "1'234\u2019567", "1234567");
    static const char *const wrong[] = {"1,23",   "12,3456", "1234,567", "0,123",   ",123",
                                        "1,,234", "1,234,5", "1,234,",   "1.5,000", "1,234.5.6"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        number(HAC_DECIMAL_POINT, HAC_THOUSANDS_COMMA, wrong[i], "");
    char long_text[HAC_FORM_TEXT_MAX + 1];
    memset(long_text, '1', sizeof long_text);
    long_text[HAC_FORM_TEXT_MAX] = '\0';
    number(HAC_DECIMAL_COMMA, HAC_THOUSANDS_NONE, long_text, "");
    number(HAC_DECIMAL_COMMA, HAC_THOUSANDS_NONE, long_text + 1, long_text + 1);
}

static void test_number_forms(void **state)
{
    static const struct {
        const char *text, *plain;
        hac_decimal_sign decimal;
        hac_number_form form;
    } cases[] = {
        {"1.234,5", "1234.5", HAC_DECIMAL_COMMA, {HAC_THOUSANDS_POINT, true, false}},
        {"1.234.567", "1234567", HAC_DECIMAL_COMMA, {HAC_THOUSANDS_POINT, false, true}},
        {"1.234", "1.234", HAC_DECIMAL_POINT, {HAC_THOUSANDS_NONE, true, false}},
        {"1.234 567", "", HAC_DECIMAL_COMMA, {HAC_THOUSANDS_POINT, false, false}},
        {"12", "12", HAC_DECIMAL_COMMA, {HAC_THOUSANDS_NONE, false, false}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hac_number_form form;
        char plain[HAC_FORM_TEXT_MAX];
        size_t n = hac_number_form_of(cases[i].text, strlen(cases[i].text), cases[i].decimal, &form, plain);
        check(n, plain, cases[i].text, cases[i].plain);
        assert_true(n == 0 ||
                    (form.thousands == cases[i].form.thousands && form.fraction == cases[i].form.fraction &&
                     form.several == cases[i].form.several));
    }
}

static void date(hac_date_order order, const char *text, const char *wanted)
{
    char plain[HAC_FORM_TEXT_MAX];
    check(hac_plain_date(text, strlen(text), order, plain), plain, text, wanted);
}

static void test_dates(void **state)
{
    (void)state;
    date(HAC_DATES_DMY, "31.12.2024", "2024-12-31");
    date(HAC_DATES_DMY, "1/2/2024", "2024-02-01");
    date(HAC_DATES_MDY, "1/2/2024", "2024-01-02");
    date(HAC_DATES_MDY, "12-31-2024", "2024-12-31");
    date(HAC_DATES_AUTO, "31.12.2024", "");
    date(HAC_DATES_YMD, "31.12.2024", "");
    date(HAC_DATES_AUTO, "2024/12/31", "2024-12-31");
    date(HAC_DATES_DMY, "2024-1-5", "2024-01-05");
    date(HAC_DATES_DMY, "2024.1.5", "");
    date(HAC_DATES_DMY, "31.12.2024 13:05:09.5+01", "2024-12-31 13:05:09.5+01");
    date(HAC_DATES_DMY, "31.12.2024 9:05", "2024-12-31 09:05");
    date(HAC_DATES_MDY, "1/2/2024 1:05 PM", "2024-01-02 13:05");
    date(HAC_DATES_MDY, "1/2/2024 12:05:30am", "2024-01-02 00:05:30");
    date(HAC_DATES_MDY, "1/2/2024 12:00 pm", "2024-01-02 12:00");
    date(HAC_DATES_MDY, "1/2/2024 11 PM", "2024-01-02 23:00");
    static const char *const wrong[] = {
        "31.12.24", "31.12/2024",  "31 12 2024",        "131.12.2024",      "31.12.20241", "31.12.",
        "",         "31.12.2024x", "1/2/2024 13:05 PM", "1/2/2024 0:05 AM", "1/2/2024 PM", "1/2/2024 "};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        date(HAC_DATES_DMY, wrong[i], "");
    assert_int_equal(hac_date_separator("1/2/2024 x", 10), '/');
    assert_int_equal(hac_date_separator("2024/2/1", 8), '\0');
    assert_int_equal(hac_date_separator("1.2.3", 5), '\0');
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_numbers), cmocka_unit_test(test_number_forms),
                                       cmocka_unit_test(test_dates)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
