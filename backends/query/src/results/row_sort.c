/* SPDX-License-Identifier: Apache-2.0 */
/* MSD radix sort: entries go to buckets by the highest bits in which their keys differ, from one array to the
 * other and so on within each bucket; small buckets are sorted by merging. */
#include <string.h>

#include "row_keys.h"

#define FEW        24 /* up to this number, insertion sort */
#define MERGED     64 /* up to this number, merge sort */
#define DIGIT_BITS 8  /* the buckets' ends, which are written in turn, fit the nearest cache and its TLB */
#define BUCKET     16 /* entries that a bucket should have */

/* For keys that decide alone: of equal ones, the first stays the first. */
static void sort_few_keys(hac_row_entry *entries, uint64_t n)
{
    for (uint64_t i = 1; i < n; i++) {
        hac_row_entry moved = entries[i];
        unsigned __int128 key = (unsigned __int128)moved.high << 64 | moved.low;
        uint64_t j = i;
        for (; j > 0 && ((unsigned __int128)entries[j - 1].high << 64 | entries[j - 1].low) > key; j--)
            entries[j] = entries[j - 1];
        entries[j] = moved;
    }
}

static void sort_few(const hac_row_keys *keys, hac_row_entry *entries, uint64_t n)
{
    for (uint64_t i = 1; i < n; i++) {
        hac_row_entry moved = entries[i];
        uint64_t j = i;
        for (; j > 0 && hac_row_compare(keys, &entries[j - 1], &moved) > 0; j--)
            entries[j] = entries[j - 1];
        entries[j] = moved;
    }
}

/* Not qsort: another process can change rows while they are compared, and not every glibc's qsort survives an
 * inconsistent order; it also allocates memory. */
static void merge_sort(const hac_row_keys *keys, hac_row_entry *entries, uint64_t n, hac_row_entry *space)
{
    uint64_t half = n / 2, i = 0, j = half;
    if (n <= FEW) {
        if (keys->complete)
            sort_few_keys(entries, n);
        else
            sort_few(keys, entries, n);
        return;
    }
    merge_sort(keys, entries, half, space);
    merge_sort(keys, entries + half, n - half, space);
    if (hac_row_compare(keys, &entries[half - 1], &entries[half]) < 0)
        return;
    memcpy(space, entries, half * sizeof *entries);
    for (uint64_t k = 0; i < half; k++)
        entries[k] = j == n || hac_row_compare(keys, &space[i], &entries[j]) < 0 ? space[i++] : entries[j++];
}

/* The digit whose lowest bit has the number `shift`. */
static inline uint64_t digit_of(const hac_row_entry *entry, unsigned shift, uint64_t mask)
{
    if (shift >= 64)
        return entry->high >> (shift - 64) & mask;
    uint64_t word = entry->low >> shift;
    if (shift > 64 - DIGIT_BITS)
        word |= entry->high << (64 - shift);
    return word & mask;
}

/* The number of the highest bit in which keys differ, plus 1; 0: all keys are equal. */
static unsigned highest_difference(const hac_row_entry *entries, uint64_t n)
{
    uint64_t high = 0, low = 0;
    for (uint64_t i = 1; i < n; i++) {
        high |= entries[i].high ^ entries[0].high;
        low |= entries[i].low ^ entries[0].low;
    }
    return high != 0  ? 128 - (unsigned)__builtin_clzll(high)
           : low != 0 ? 64 - (unsigned)__builtin_clzll(low)
                      : 0;
}

/* Moves the entries to `to` by their digit; ends[d] is where those of digit d end. */
static void deal(const hac_row_entry *entries, uint64_t n, unsigned shift, uint64_t mask, hac_row_entry *to,
                 uint64_t *ends)
{
    uint64_t sum = 0;
    memset(ends, 0, (mask + 1) * sizeof *ends);
    for (uint64_t i = 0; i < n; i++)
        ends[digit_of(&entries[i], shift, mask)]++;
    for (uint64_t d = 0; d <= mask; d++) {
        uint64_t count = ends[d];
        ends[d] = sum;
        sum += count;
    }
    for (uint64_t i = 0; i < n; i++)
        to[ends[digit_of(&entries[i], shift, mask)]++] = entries[i];
}

/* Sorts `entries`; the result is there, or with `moved` in `other`, which has room for as many. */
static void sort(const hac_row_keys *keys, hac_row_entry *entries, uint64_t n, hac_row_entry *other,
                 bool moved)
{
    uint64_t ends[1u << DIGIT_BITS];
    unsigned top = n <= MERGED ? 0 : highest_difference(entries, n);
    if (top == 0) {
        if (n <= MERGED || !keys->complete) /* otherwise they are in order */
            merge_sort(keys, entries, n, other);
        if (moved)
            memcpy(other, entries, n * sizeof *entries);
        return;
    }
    unsigned bits = 64 - (unsigned)__builtin_clzll(n / BUCKET);
    bits = bits < DIGIT_BITS ? bits : DIGIT_BITS;
    bits = bits < top ? bits : top;
    uint64_t mask = (UINT64_C(1) << bits) - 1;
    deal(entries, n, top - bits, mask, other, ends);
    for (uint64_t d = 0, first = 0; d <= mask; first = ends[d++])
        if (ends[d] > first)
            sort(keys, other + first, ends[d] - first, entries + first, !moved);
}

void hac_row_sort(const hac_row_keys *keys, hac_row_entry *entries, uint64_t n, hac_row_entry *space)
{
    sort(keys, entries, n, space, false);
}
