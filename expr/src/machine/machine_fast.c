/* SPDX-License-Identifier: Apache-2.0 */
/* Machines with the loops for this processor. A file of its own, so that a library that only folds constants
 * (hac_machine_c_new_once) is linked without the loops of each instruction set. */
#include "expr/machine.h"
#include "machine_parts.h"

const hac_kernels *hac_kernels_best(void)
{
#if defined(__x86_64__)
#if defined(HAC_KERNELS_V4)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma"))
        return hac_kernels_x86_64_v4;
#endif
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
        __builtin_cpu_supports("fma") && __builtin_cpu_supports("popcnt"))
        return hac_kernels_x86_64_v3;
#endif
    return hac_kernels_baseline;
}

hac_status hac_machine_c_new(const hac_program *program, size_t string_bytes, hac_machine_c **ret,
                             hac_error *err)
{
    return hac_machine_c_new_with(program, string_bytes, hac_kernels_best(), ret, err);
}
