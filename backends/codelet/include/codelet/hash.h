/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hash of a group's keys, which is the same on every device and determines the group's partition. Its
 * seed is random for each job, so that nobody can prepare keys that collide.
 *
 *     h = hac_hash_start(seed)
 *     for each key column, in order:
 *         null          h = hac_hash_word(h, HAC_HASH_NULL)
 *         16-byte value h = hac_hash_word(hac_hash_word(h, low word), high word)
 *         string        h = hac_hash_string_words(h, its two words)
 *         else          h = hac_hash_word(h, word)
 *
 * A value's word is defined by hac_hash_… below: sign-extended integers, the bits of floats with one NaN and
 * one zero. The top bits of h are the partition, its low bits select a table's slot, bits between them the
 * pass.
 */
#ifndef QUERY_HASH_H
#define QUERY_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HAC_HASH_NULL UINT64_C(0xa0761d6478bd642f)
#define HAC_HASH_K    UINT64_C(0xe7037ed1a0b428db)

/* High and low half of the 128-bit product, folded (OpenCL C: mul_hi(a, b) ^ (a * b)). */
static inline uint64_t hac_hash_multiply(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

static inline uint64_t hac_hash_start(uint64_t seed)
{
    return hac_hash_multiply(seed ^ UINT64_C(0x8ebc6af09c88c6e3), UINT64_C(0x589965cc75374cc3));
}

static inline uint64_t hac_hash_word(uint64_t h, uint64_t word)
{
    return hac_hash_multiply(h ^ word, HAC_HASH_K);
}

/* Bits of a float as a key: -0.0 is 0.0, all NaNs are one. */
static inline uint64_t hac_hash_f64(double value)
{
    uint64_t bits;
    value = value != value ? (double)__builtin_nanf("") : value + 0.0;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline uint64_t hac_hash_f32(float value)
{
    uint32_t bits;
    value = value != value ? __builtin_nanf("") : value + 0.0f;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

uint64_t hac_hash_long_string(uint64_t h, const uint8_t *bytes, size_t n);

/* A string in two words, as in tables, in partials and while it is hashed: the low 32 bits of the first word
 * are the length. Up to 12 characters follow, padded with zeros. A longer string has its first 4 characters
 * there, and the second word is the address of all characters (in a partial: an offset). */
#define HAC_STRING_SHORT 12

static inline uint64_t hac_hash_string_words(uint64_t h, uint64_t low, uint64_t high)
{
    if ((uint32_t)low > HAC_STRING_SHORT)
        return hac_hash_long_string(h, (const uint8_t *)(uintptr_t)high, (uint32_t)low);
    return hac_hash_word(hac_hash_word(h, low), high);
}

#define HAC_PARTITIONS_MAX 4096u

/* The partition of a hash; `partitions` is a power of two up to HAC_PARTITIONS_MAX. With k times more
 * partitions, each partition is split into k adjacent ones. */
static inline uint32_t hac_hash_partition(uint64_t h, uint32_t partitions)
{
    return (uint32_t)((h >> 32) * partitions >> 32);
}

/* The key-range pass of a hash. */
static inline uint32_t hac_hash_pass(uint64_t h, uint32_t passes)
{
    return (uint32_t)(((h >> 20) & UINT32_MAX) * passes >> 32);
}

#endif
