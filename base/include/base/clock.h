/* SPDX-License-Identifier: Apache-2.0 */
/* The clock that deadlines and measurements use. It does not jump when the date is set. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Monotonic time in nanoseconds. */
static inline uint64_t hac_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static inline double hac_seconds_since(uint64_t start_ns)
{
    return (double)(hac_now_ns() - start_ns) * 1e-9;
}

#endif
