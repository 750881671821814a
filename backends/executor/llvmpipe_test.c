/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mesa's llvmpipe (through rusticl) ends every loop after 65,535 iterations and reports success. The
 * known-answer test must detect that, the codelet must not be used then, and the profile's limit must make
 * the device usable. The test is skipped, with a message, if Mesa is not installed or no longer does that.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hac/type.h>

#include "base/cleanup.h"
#include "base/memfd.h"
#include "codelet/codelet.h"
#include "codelets.h"
#include "opencl/codelets.h"
#include "opencl/device.h"
#include "opencl/device_open.h"
#include "tests/test_child.h"

static bool has_llvmpipe(void)
{
    hac_autofree hac_device_listing *list = NULL;
    size_t count = 0;
    if (hac_device_list(&list, &count, NULL) != HAC_OK)
        return false;
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].platform, "rusticl") == 0 && strncmp(list[i].name, "llvmpipe", 8) == 0)
            return true;
    return false;
}

static hac_status self_test(uint32_t limit, hac_error *err)
{
    hac_device *device = NULL;
    hac_device_options options = {.platform = "rusticl", .max_loop_iterations = limit};
    if (hac_device_open(hac_programs(), &options, &device, err) != HAC_OK)
        fail_msg("%s", err->message);
    hac_status status = hac_codelet_find("selftest.sum")->known_answer(device, HAC_TYPE_U32, err);
    hac_device_close(device);
    return status;
}

static void test_cut_is_seen(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    assert_int_equal(self_test(0, &err), HAC_DEVICE);
    assert_non_null(strstr(err.message, "65535"));
    assert_non_null(strstr(err.message, "max_loop_iterations"));
}

static void test_limit_helps(void **state)
{
    (void)state;
    hac_error err = HAC_ERROR_NONE;
    if (self_test(65535, &err) != HAC_OK)
        fail_msg("%s", err.message);
}

static Hac__Executor__Report *build(test_child *child)
{
    test_send_build(child, (const char *[]){"selftest"}, 1);
    return test_expect(child, HAC__EXECUTOR__REPORT__WHAT_BUILT);
}

/* Runs the self-test's codelet on zeros in an executor. Its answer is valid until the child is freed. */
static Hac__Executor__Done *run_sum(test_child *child)
{
    void *memory = test_add_buffer(child, 1, 4096);
    hac_memfd_unmap(memory, 4096);
    Hac__Executor__Span span, *spans[] = {&span};
    hac__executor__span__init(&span);
    span.buffer = 1;
    span.bytes = 4096;
    char codelet[] = "selftest.sum";
    Hac__Executor__Run run;
    hac__executor__run__init(&run);
    run.task = 1;
    run.codelet = codelet;
    run.type = HAC_TYPE_U32;
    run.count = 1024;
    run.spans = spans;
    run.n_spans = 1;
    Hac__Executor__Command command;
    hac__executor__command__init(&command);
    command.what_case = HAC__EXECUTOR__COMMAND__WHAT_RUN;
    command.run = &run;
    test_send(child, &command, NULL, 0);
    return test_expect(child, HAC__EXECUTOR__REPORT__WHAT_DONE)->done;
}

/* Builder and executor together. With `limit` 0 the failure is recorded, recalled and respected. */
static void build_and_run(uint32_t limit, bool works)
{
    test_setup setup = test_defaults;
    setup.platform = "rusticl";
    setup.jit = true;
    setup.max_loop_iterations = limit;
    for (int round = 0; round < 2; round++) { /* built, then found */
        test_child *builder = test_start("--build");
        test_send_setup(builder, &setup);
        Hac__Executor__Report *report = build(builder);
        assert_int_equal(report->built->code, HAC_OK);
        assert_int_equal(report->built->n_failures, works ? 0 : 1);
        if (!works)
            assert_non_null(strstr(report->built->failures[0], "selftest.sum u32: "));
        report = test_expect(builder, HAC__EXECUTOR__REPORT__WHAT_BUILD_END);
        assert_int_equal(report->build_end->self_test[0] == '\0', works);
        assert_int_equal(test_end(builder), 0);
    }
    test_child *executor = test_start(NULL);
    test_send_setup(executor, &setup);
    test_expect(executor, HAC__EXECUTOR__REPORT__WHAT_READY);
    for (int round = 0; round < 2; round++) {
        Hac__Executor__Done *done = run_sum(executor);
        assert_int_equal(done->code, works ? HAC_OK : HAC_DEVICE);
        if (!works)
            assert_non_null(strstr(done->message, "65535"));
        Hac__Executor__BufferRemove remove;
        hac__executor__buffer_remove__init(&remove);
        remove.buffer = 1;
        Hac__Executor__Command command;
        hac__executor__command__init(&command);
        command.what_case = HAC__EXECUTOR__COMMAND__WHAT_BUFFER_REMOVE;
        command.buffer_remove = &remove;
        test_send(executor, &command, NULL, 0);
    }
    assert_int_equal(test_end(executor), 0);
}

static void test_failed_codelet_is_not_run(void **state)
{
    (void)state;
    build_and_run(0, false);
}

static void test_runs_within_the_limit(void **state)
{
    (void)state;
    build_and_run(65535, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut_is_seen),
        cmocka_unit_test(test_limit_helps),
        cmocka_unit_test(test_failed_codelet_is_not_run),
        cmocka_unit_test(test_runs_within_the_limit),
    };
    if (!has_llvmpipe()) {
        printf("SKIPPED: there is no llvmpipe (install mesa-opencl-icd)\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, test_make_directories, test_remove_directories);
}
