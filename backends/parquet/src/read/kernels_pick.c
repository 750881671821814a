/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

size_t hac_parquet_kernels_all(const hac_parquet_kernels *ret[3])
{
    size_t n = 0;
    ret[n++] = &hac_parquet_kernels_baseline;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
        __builtin_cpu_supports("fma") && __builtin_cpu_supports("popcnt"))
        ret[n++] = &hac_parquet_kernels_x86_64_v3;
#endif
    return n;
}

const hac_parquet_kernels *hac_parquet_kernels_get(void)
{
    const hac_parquet_kernels *all[3];
    return all[hac_parquet_kernels_all(all) - 1];
}
