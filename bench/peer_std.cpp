// SPDX-License-Identifier: Apache-2.0
// The peer std::sort.
#include <algorithm>
#include <cstdint>

#define PEER(T, name)                                                                                        \
    extern "C" void std_sort_##name(void *keys, uint64_t n)                                                  \
    {                                                                                                        \
        std::sort(static_cast<T *>(keys), static_cast<T *>(keys) + n);                                       \
    }                                                                                                        \
    extern "C" void std_argsort_##name(const void *keys, uint64_t *index, uint64_t n)                        \
    {                                                                                                        \
        const T *k = static_cast<const T *>(keys);                                                           \
        for (uint64_t i = 0; i < n; i++)                                                                     \
            index[i] = i;                                                                                    \
        std::sort(index, index + n, [k](uint64_t a, uint64_t b) { return k[a] < k[b]; });                    \
    }

PEER(uint32_t, u32)
PEER(int32_t, i32)
PEER(float, f32)
PEER(uint64_t, u64)
PEER(int64_t, i64)
PEER(double, f64)
