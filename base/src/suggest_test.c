/* SPDX-License-Identifier: Apache-2.0 */
#include "base/suggest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char *const names[] = {"sort", "pipe", "explain", "parquet convert", ""};

static const char *name_at(const void *list, size_t i)
{
    return ((const char *const *)list)[i];
}

static const char *meant(const char *name)
{
    return hac_suggest(name, names, sizeof(names) / sizeof(names[0]), name_at);
}

static void test_one_slip_in_three_letters(void **state)
{
    (void)state;
    static const char *const slips[][2] = {{"sort", "sort"},       {"SORT", "sort"},
                                           {"srot", "sort"},       {"sorts", "sort"},
                                           {"sor", "sort"},        {"sart", "sort"},
                                           {"explian", "explain"}, {"xeplian", "explain"},
                                           {"eplain", "explain"},  {"parquetconvert", "parquet convert"}};
    for (size_t i = 0; i < sizeof(slips) / sizeof(slips[0]); i++) {
        assert_non_null(meant(slips[i][0]));
        assert_string_equal(meant(slips[i][0]), slips[i][1]);
    }
    static const char *const others[] = {"nope", "st", "s", "xs", "explosive", "convert"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_null(meant(others[i]));
}

static void test_long_names(void **state)
{
    (void)state;
    char name[200];
    memset(name, 'x', sizeof(name));
    for (size_t length = 60; length < sizeof(name); length++) {
        name[length] = '\0';
        assert_null(meant(name));
        const char *const same[] = {name};
        const char *found = hac_suggest(name, same, 1, name_at);
        assert_ptr_equal(found, length <= 64 ? name : NULL);
        name[length] = 'x';
    }
}

static void test_text(void **state)
{
    (void)state;
    char text[HAC_SUGGEST_TEXT_MAX];
    assert_string_equal(hac_suggest_text("pip", names, 3, name_at, text),
                        "there are: sort, pipe, explain (did you mean pipe?)");
    assert_string_equal(hac_suggest_text("nope", names, 3, name_at, text), "there are: sort, pipe, explain");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_slip_in_three_letters),
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
