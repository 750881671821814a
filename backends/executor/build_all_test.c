/* SPDX-License-Identifier: Apache-2.0 */
/* The builder with all programs of a device: minutes where the compiler is slow. Needs PoCL. */
#include <stdlib.h>
#include <string.h>

#include "test_child.h"

static char *programs, *scratch;
static test_setup setup;

static int make_directories(void **state)
{
    (void)state;
    programs = test_make_directory();
    scratch = test_make_directory();
    setup = (test_setup){.program_directory = programs, .scratch_directory = scratch};
    return 0;
}

static int remove_directories(void **state)
{
    (void)state;
    test_remove_directory(programs);
    test_remove_directory(scratch);
    return 0;
}

static void send_build(test_child *child, const char *program)
{
    char *list[1] = {(char *)(uintptr_t)program};
    Hac__Executor__Build build;
    hac__executor__build__init(&build);
    build.programs = list;
    build.n_programs = program != NULL;
    Hac__Executor__Command command;
    hac__executor__command__init(&command);
    command.what_case = HAC__EXECUTOR__COMMAND__WHAT_BUILD;
    command.build = &build;
    test_send(child, &command, NULL, 0);
}

/* What is asked for while others are being built comes next. */
static void test_urgent_one_first(void **state)
{
    (void)state;
    char *fresh = test_make_directory();
    test_setup with = setup;
    with.program_directory = fresh;
    const char *list[] = {"selftest", "bitonic.block.64", "bitonic.block.32"};
    test_child *child = test_start("--build");
    test_send_setup(child, &with);
    for (size_t i = 0; i < 3; i++) /* each in front of the ones before, as they are all there at the start */
        send_build(child, list[2 - i]);
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
    test_send_setup(child, &setup);
    send_build(child, NULL);
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
    return cmocka_run_group_tests(tests, make_directories, remove_directories);
}
