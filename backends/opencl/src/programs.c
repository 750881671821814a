/* SPDX-License-Identifier: Apache-2.0 */
#include "opencl/programs.h"

#include "kernel_sources.h"

static const hac_program_source table[] = {
    {"selftest", "selftest.cl", hac_source_selftest, ""},
    {NULL, NULL, NULL, NULL},
};

const hac_program_source *hac_programs(void)
{
    return table;
}
