/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include <hac/hac.h>

static void every_option_is_complete(void **state)
{
    (void)state;
    for (int i = 0; i < HAC_OPT_COUNT; i++) {
        const hac_option *o = hac_option_get((hac_option_id)i);
        assert_non_null(o->name);
        assert_int_equal(hac_option_find(o->name), i); /* names are unique */
        assert_non_null(o->help);
        for (int j = 0; j < i; j++)
            assert_true(o->letter == 0 || o->letter != hac_option_get((hac_option_id)j)->letter);
    }
    assert_int_equal(hac_option_find("nonsense"), HAC_OPT_COUNT);
}

/* hac_args_choice returns a choice's index as libhac's number. */
static void choices_are_in_the_order_of_libhac(void **state)
{
    (void)state;
    assert_string_equal(hac_option_get(HAC_OPT_ALGORITHM)->choices, "auto bitonic radix");
    assert_int_equal(HAC_SORT_AUTO, 0);
    assert_int_equal(HAC_SORT_BITONIC, 1);
    assert_int_equal(HAC_SORT_RADIX, 2);
    assert_string_equal(hac_option_get(HAC_OPT_SCHEME)->choices, "auto proportional lower upper none");
    assert_int_equal(HAC_SCHEME_AUTO, 0);
    assert_int_equal(HAC_SCHEME_PROPORTIONAL, 1);
    assert_int_equal(HAC_SCHEME_LOWER, 2);
    assert_int_equal(HAC_SCHEME_UPPER, 3);
    assert_int_equal(HAC_SCHEME_NONE, 4);
    assert_string_equal(hac_option_get(HAC_OPT_CODEC)->choices, "zstd none snappy gzip lz4");
    assert_int_equal(HAC_COMPRESSION_ZSTD, 0);
    assert_int_equal(HAC_COMPRESSION_NONE, 1);
    assert_int_equal(HAC_COMPRESSION_SNAPPY, 2);
    assert_int_equal(HAC_COMPRESSION_GZIP, 3);
    assert_int_equal(HAC_COMPRESSION_LZ4, 4);
    assert_int_equal(hac_option_choice(HAC_OPT_CODEC, "lz4"), 4);
    assert_int_equal(hac_option_choice(HAC_OPT_CODEC, "lz"), -1);
    assert_int_equal(hac_option_choice(HAC_OPT_CODEC, "lz4 "), -1);
}

static void nearest(void **state)
{
    (void)state;
    assert_string_equal(hac_option_nearest(hac_options_for(HAC_FOR_SORT), "desending"), "descending");
    assert_string_equal(hac_option_nearest(hac_options_for(HAC_FOR_SORT), "argsrot"), "argsort");
    assert_null(hac_option_nearest(hac_options_in(HAC_SECTION_GLOBAL), "desending"));
    assert_null(hac_option_nearest(hac_options_for(HAC_FOR_SORT), "k")); /* no option of the set is near */
    assert_null(hac_option_nearest(hac_options_for(HAC_FOR_SORT), ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_option_is_complete),
        cmocka_unit_test(choices_are_in_the_order_of_libhac),
        cmocka_unit_test(nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
