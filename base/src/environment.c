/* SPDX-License-Identifier: Apache-2.0 */
#include "base/environment.h"

#include <stddef.h>
#include <string.h>

bool hac_environment_keeps(const char *variable)
{
    static const char *const kept[] = {
        "HOME=",    "PATH=", "LANG=", "LD_LIBRARY_PATH=", "XDG_", "HAC_", "OCL_ICD_", "POCL_",
        "RUSTICL_", "LP_",   "CUDA_"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (strncmp(variable, kept[i], strlen(kept[i])) == 0)
            return true;
    return false;
}
