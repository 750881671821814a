/* SPDX-License-Identifier: Apache-2.0 */
/* Key patterns of the benchmarks, as bytes of any element type. */
#ifndef BENCH_PATTERNS_H
#define BENCH_PATTERNS_H

#include <hac/type.h>
#include <stdbool.h>
#include <stdint.h>

/* Fills `keys` with n keys of `type`: random, sorted, reversed, equal, few (100 distinct), zipf (exponent 1
 * over 2^20 values), skewed (random to the 8th power), nearly (95 % sorted). false: no such pattern. */
bool bench_fill(const char *pattern, hac_type type, void *keys, uint64_t n, uint64_t seed);

#endif
