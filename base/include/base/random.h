/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stdint.h>

/*
 * The next 64 bits of the sequence that STATE, any number, stands for: splitmix64. Not for secrets.
 * Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014; constants of S. Vigna.
 */
static inline uint64_t hac_random_u64(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

#endif
