/* SPDX-License-Identifier: Apache-2.0 */
/* The builder with all programs of a device: minutes where the compiler is slow. Needs PoCL. */
#include <stdlib.h>
#include <string.h>

#include "test_child.h"

/* What is asked for while others are being built comes next. */
static void test_urgent_one_first(void **state)
{
    (void)state;
    char *fresh = test_make_directory();
    test_setup with = test_usual;
    with.program_directory = fresh;
    const char *list[] = {"selftest", "bitonic.block.64", "bitonic.block.32"};
    test_child *child = test_start("--build");
    test_send_setup(child, &with);
    for (size_t i = 0; i < 3; i++) /* each in front of the ones before, as they are all there at the start */
        test_send_build(child, &list[2 - i], 1);
    for (size_t i = 0; i < 3; i++) {
        Hac__Executor__Built *built = test_expect(child, HAC__EXECUTOR__REPORT__WHAT_BUILT)->built;
        assert_string_equal(built->program, list[i]);
        assert_int_equal(built->code, HAC_OK);
        assert_int_equal(built->of, 3);
        print_message("%s: %.0f ms\n", built->program, built->seconds * 1e3);
    }
    test_expect(child, HAC__EXECUTOR__REPORT__WHAT_BUILD_END);
    assert_int_equal(test_end(child), 0);
    test_remove_directory(fresh);
}

/* Without names: everything that this device's codelets use, and nothing of the other style. */
static void test_everything(void **state)
{
    (void)state;
    test_child *child = test_start("--build");
    test_send_setup(child, &test_usual);
    test_send_build(child, NULL, 0);
    uint32_t done = 0, of = 1;
    while (done < of) {
        Hac__Executor__Built *built = test_expect(child, HAC__EXECUTOR__REPORT__WHAT_BUILT)->built;
        if (built->code != HAC_OK || built->n_failures > 0)
            fail_msg("%s: %s%s", built->program, built->message,
                     built->n_failures > 0 ? built->failures[0] : "");
        assert_null(strstr(built->program, "simt"));
        print_message("%s: %.0f ms\n", built->program, built->seconds * 1e3);
        done = built->done;
        of = built->of;
    }
    Hac__Executor__Report *end = test_expect(child, HAC__EXECUTOR__REPORT__WHAT_BUILD_END);
    assert_string_equal(end->build_end->self_test, "");
    assert_int_equal(test_end(child), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_urgent_one_first),
        cmocka_unit_test(test_everything),
    };
    return cmocka_run_group_tests(tests, test_make_directories, test_remove_directories);
}
