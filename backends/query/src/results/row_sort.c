/* SPDX-License-Identifier: Apache-2.0 */
/* MSD radix sort: entries go to buckets by the highest bits in which their keys differ, and so on within each
 * bucket; small buckets are sorted by merging. */
#include <string.h>

#include "row_keys.h"

#define FEW        12 /* up to this number, insertion sort */
#define MERGED     64 /* up to this number, merge sort */
#define DIGIT_BITS 11
#define BUCKET     16 /* entries that a bucket should have */

typedef struct sorter {
    const hac_row_keys *keys;
    hac_row_entry *space;
    uint64_t counts[1u << DIGIT_BITS];
} sorter;

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

static void deal(sorter *s, hac_row_entry *entries, uint64_t n, unsigned shift, uint64_t mask)
{
    uint64_t sum = 0;
    memset(s->counts, 0, (mask + 1) * sizeof *s->counts);
    for (uint64_t i = 0; i < n; i++)
        s->counts[digit_of(&entries[i], shift, mask)]++;
    for (uint64_t d = 0; d <= mask; d++) {
        uint64_t count = s->counts[d];
        s->counts[d] = sum;
        sum += count;
    }
    for (uint64_t i = 0; i < n; i++)
        s->space[s->counts[digit_of(&entries[i], shift, mask)]++] = entries[i];
    memcpy(entries, s->space, n * sizeof *entries);
}

static void sort(sorter *s, hac_row_entry *entries, uint64_t n)
{
    if (n <= MERGED) {
        merge_sort(s->keys, entries, n, s->space);
        return;
    }
    unsigned top = highest_difference(entries, n);
    if (top == 0) {
        if (!s->keys->complete) /* otherwise they are in order */
            merge_sort(s->keys, entries, n, s->space);
        return;
    }
    unsigned bits = 64 - (unsigned)__builtin_clzll(n / BUCKET);
    bits = bits < DIGIT_BITS ? bits : DIGIT_BITS;
    bits = bits < top ? bits : top;
    unsigned shift = top - bits;
    uint64_t mask = (UINT64_C(1) << bits) - 1;
    deal(s, entries, n, shift, mask);
    for (uint64_t first = 0, end; first < n; first = end) {
        uint64_t digit = digit_of(&entries[first], shift, mask);
        for (end = first + 1; end < n && digit_of(&entries[end], shift, mask) == digit;)
            end++;
        sort(s, entries + first, end - first);
    }
}

void hac_row_sort(const hac_row_keys *keys, hac_row_entry *entries, uint64_t n, hac_row_entry *space)
{
    sorter s = {.keys = keys, .space = space};
    sort(&s, entries, n);
}
