/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A word of 64 bits stands for each entry: the highest bits in which keys differ, and the entry's number
 * below them. Words are sorted instead of entries, which are three times as long, and each entry is moved
 * once. Entries whose bits in the words are equal are sorted again, by the bits in which they differ, and
 * compared where their keys are equal.
 *
 * Words are different from each other. They are sorted by an MSD radix sort: dealt to buckets by a digit,
 * from one array to the other, and then within each bucket.
 */
#include <string.h>

#include "row_keys.h"

#define FEW        24 /* up to this number, insertion sort */
#define MERGED     64 /* entries up to this number are merged without words */
#define DIGIT_BITS 8  /* the buckets' ends, which are written in turn, fit the nearest cache and its TLB */
#define BUCKET     16 /* words that a bucket should have, if it is sorted further */

typedef unsigned __int128 sort_bits;

/* ---- by comparing ---- */

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

/* ---- words ---- */

/* Where the differing bits of keys are in the words: bits [0, number_bits) are the number of the entry. */
typedef struct word_layout {
    unsigned shift;            /* of the key, to the bits in the words */
    unsigned top, number_bits; /* bits [number_bits, top) are the key's */
    unsigned low;              /* the words differ in bits [low, top) of the key's */
    bool decides;              /* no differing bit is left out */
} word_layout;

static unsigned lowest_bit(sort_bits bits)
{
    uint64_t low = (uint64_t)bits;
    return low != 0 ? (unsigned)__builtin_ctzll(low) : 64 + (unsigned)__builtin_ctzll((uint64_t)(bits >> 64));
}

/* False: all keys are equal. */
static bool lay_out(const hac_row_entry *entries, uint64_t n, word_layout *ret)
{
    uint64_t high = 0, low = 0;
    for (uint64_t i = 1; i < n; i++) {
        high |= entries[i].high ^ entries[0].high;
        low |= entries[i].low ^ entries[0].low;
    }
    if ((high | low) == 0)
        return false;
    sort_bits differ = (sort_bits)high << 64 | low;
    unsigned top = high != 0 ? 128 - (unsigned)__builtin_clzll(high) : 64 - (unsigned)__builtin_clzll(low);
    unsigned bits = top - lowest_bit(differ);
    ret->number_bits = 64 - (unsigned)__builtin_clzll(n);
    ret->decides = bits <= 64 - ret->number_bits;
    bits = ret->decides ? bits : 64 - ret->number_bits;
    ret->shift = top - bits;
    ret->top = ret->number_bits + bits;
    ret->low = ret->number_bits + lowest_bit(differ >> ret->shift);
    return true;
}

static void make_words(const hac_row_entry *entries, uint64_t n, const word_layout *layout, uint64_t *ret)
{
    for (uint64_t i = 0; i < n; i++) {
        sort_bits key = (sort_bits)entries[i].high << 64 | entries[i].low;
        ret[i] = (uint64_t)(key >> layout->shift) << layout->number_bits | i;
    }
}

static void sort_few_words(uint64_t *words, uint64_t n)
{
    for (uint64_t i = 1; i < n; i++) {
        uint64_t moved = words[i], j = i;
        for (; j > 0 && words[j - 1] > moved; j--)
            words[j] = words[j - 1];
        words[j] = moved;
    }
}

/* Moves the words to `to` by their digit; ends[d] is where those of digit d end. False: all have the same
 * one, and nothing is moved. */
static bool deal(const uint64_t *words, uint64_t n, unsigned shift, uint64_t mask, uint64_t *to,
                 uint64_t *ends)
{
    uint64_t sum = 0;
    memset(ends, 0, (mask + 1) * sizeof *ends);
    for (uint64_t i = 0; i < n; i++)
        ends[words[i] >> shift & mask]++;
    if (ends[words[0] >> shift & mask] == n)
        return false;
    for (uint64_t d = 0; d <= mask; d++) {
        uint64_t count = ends[d];
        ends[d] = sum;
        sum += count;
    }
    for (uint64_t i = 0; i < n; i++)
        to[ends[words[i] >> shift & mask]++] = words[i];
    return true;
}

/* Sorts words that differ in bits [low, top), and are in the order of the bits below; the result is there, or
 * with `moved` in `other`, which has as many. */
static void sort_words(uint64_t *words, uint64_t n, unsigned top, unsigned low, uint64_t *other, bool moved)
{
    uint64_t ends[1u << DIGIT_BITS];
    uint64_t mask = 0;
    bool dealt = false;
    while (n > FEW && top > low && !dealt) {
        unsigned bits = top - low;
        if (bits > DIGIT_BITS || n >> bits == 0) {
            bits = 64 - (unsigned)__builtin_clzll(n / BUCKET + 1);
            bits = bits < DIGIT_BITS ? bits : DIGIT_BITS;
        }
        top -= bits;
        mask = (UINT64_C(1) << bits) - 1;
        dealt = deal(words, n, top, mask, other, ends);
    }
    if (!dealt) {
        if (top > low)
            sort_few_words(words, n);
        if (moved)
            memcpy(other, words, n * sizeof *words);
        return;
    }
    if (top == low) { /* all buckets are in order */
        if (!moved)
            memcpy(words, other, n * sizeof *words);
        return;
    }
    for (uint64_t d = 0, first = 0; d <= mask; first = ends[d++])
        if (ends[d] > first)
            sort_words(other + first, ends[d] - first, top, low, words + first, !moved);
}

/* ---- entries ---- */

static void sort_range(const hac_row_keys *keys, hac_row_entry *entries, uint64_t n, uint64_t *words,
                       hac_row_entry *space);

/* Sorts few entries, or entries with equal keys. */
static void merge_alike(const hac_row_keys *keys, hac_row_entry *entries, uint64_t n, hac_row_entry *space)
{
    if (n <= MERGED || !keys->complete) /* otherwise they are in order */
        merge_sort(keys, entries, n, space);
}

/* Writes the entries to `ret` in the order of their words, which are written to `words`. */
static void sort_by_words(const hac_row_entry *entries, uint64_t n, const word_layout *layout,
                          uint64_t *words, hac_row_entry *ret)
{
    uint64_t mask = (UINT64_C(1) << layout->number_bits) - 1;
    make_words(entries, n, layout, words);
    sort_words(words, n, layout->top, layout->low, (uint64_t *)(void *)ret, false);
    for (uint64_t i = 0; i < n; i++)
        ret[i] = entries[words[i] & mask];
}

/* Sorts the entries whose words have equal bits of keys. Their words are overwritten, and as much of `space`
 * as there are. */
static void sort_equal(const hac_row_keys *keys, const word_layout *layout, uint64_t *words, uint64_t n,
                       hac_row_entry *entries, hac_row_entry *space)
{
    if (layout->decides && keys->complete)
        return;
    for (uint64_t first = 0, end; first < n; first = end) {
        uint64_t bits = words[first] >> layout->number_bits;
        for (end = first + 1; end < n && words[end] >> layout->number_bits == bits; end++)
            ;
        if (end > first + 1)
            sort_range(keys, entries + first, end - first, words + first, space);
    }
}

/* Sorts entries in their place. Each call from sort_equal has other bits to sort by: there are few. */
static void sort_range(const hac_row_keys *keys, hac_row_entry *entries, uint64_t n, uint64_t *words,
                       hac_row_entry *space)
{
    word_layout layout;
    if (n <= MERGED || !lay_out(entries, n, &layout)) {
        merge_alike(keys, entries, n, space);
        return;
    }
    sort_by_words(entries, n, &layout, words, space);
    memcpy(entries, space, n * sizeof *entries);
    sort_equal(keys, &layout, words, n, entries, space);
}

hac_row_entry *hac_row_sort(const hac_row_keys *keys, hac_row_entry *entries, uint64_t n,
                            hac_row_entry *space)
{
    word_layout layout;
    uint64_t *words = (uint64_t *)(void *)(space + n);
    if (n <= MERGED || !lay_out(entries, n, &layout)) {
        merge_alike(keys, entries, n, space);
        return entries;
    }
    sort_by_words(entries, n, &layout, words, space);
    sort_equal(keys, &layout, words, n, space, entries);
    return space;
}
