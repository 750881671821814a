// SPDX-License-Identifier: Apache-2.0
// The peer x86-simd-sort, from a checkout named at build time (-I its src): one thread, or two with OpenMP.
#include <cstddef>
#include <cstdint>

#include "x86simdsort-static-incl.h"

#ifdef _OPENMP
#include <omp.h>
#endif

#define PEER(T, name)                                                                                        \
    extern "C" void x86simdsort_sort_##name(void *keys, uint64_t n)                                          \
    {                                                                                                        \
        x86simdsortStatic::qsort(static_cast<T *>(keys), n, true, false);                                    \
    }                                                                                                        \
    extern "C" void x86simdsort_argsort_##name(const void *keys, uint64_t *index, uint64_t n)                \
    {                                                                                                        \
        for (uint64_t i = 0; i < n; i++)                                                                     \
            index[i] = i;                                                                                    \
        x86simdsortStatic::argsort(static_cast<T *>(const_cast<void *>(keys)),                               \
                                   reinterpret_cast<std::size_t *>(index), n, true, false);                  \
    }

PEER(uint32_t, u32)
PEER(int32_t, i32)
PEER(float, f32)
PEER(uint64_t, u64)
PEER(int64_t, i64)
PEER(double, f64)
