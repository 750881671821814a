/* SPDX-License-Identifier: Apache-2.0 */
/* pocl_builtins.cl has everything that sorts and the self-test call, in both styles. Otherwise they would be
 * compiled twice (program.c). */
#include <stdio.h>
#include <stdlib.h>

#include "base/test_support.h"
#include "device_internal.h"
#include "kernel_sources.h"
#include "opencl/codelets.h"

/* The options of program.c; no kernels are made. */
static void compile(hac_device *device, const hac_program_source *source)
{
    const char *texts[] = {hac_source_pocl_builtins, source->source};
    char options[512];
    cl_int code;
    cl_program program = clCreateProgramWithSource(device->context, 2, texts, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    snprintf(options, sizeof options, "-cl-std=CL1.2 " HAC_SHORT_HEADER_OPTIONS "%s", source->options);
    code = clCompileProgram(program, 1, &device->id, options, 0, NULL, NULL, NULL, NULL);
    if (code != CL_SUCCESS)
        print_error("%s (%s) is not compiled with pocl_builtins.cl\n", source->name, source->file);
    clReleaseProgram(program);
    assert_int_equal(code, CL_SUCCESS);
}

static void test_all_are_there(void **state)
{
    (void)state;
    hac_device *device = NULL;
    hac_device_options options = {.platform = "Portable Computing Language"};
    hac_error err = HAC_ERROR_NONE;
    if (hac_device_open(hac_programs(), &options, &device, &err) != HAC_OK)
        skip();
    for (const hac_program_source *s = hac_programs(); s->name != NULL; s++)
        if (hac_program_has_short_header(device, s))
            compile(device, s);
    hac_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_are_there)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
