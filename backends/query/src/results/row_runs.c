/* SPDX-License-Identifier: Apache-2.0 */
#include "row_runs.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* ---- making runs ---- */

/* Restores a heap with the largest entry on top: moves entries[0] to its place. */
static void sift(const hac_row_keys *keys, hac_row_entry *heap, uint64_t n)
{
    hac_row_entry top = heap[0];
    uint64_t i = 0;
    for (uint64_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && hac_row_compare(keys, &heap[child + 1], &heap[child]) > 0)
            child++;
        if (hac_row_compare(keys, &heap[child], &top) <= 0)
            break;
        heap[i] = heap[child];
    }
    heap[i] = top;
}

/* A descending array is a heap. */
static void reverse(hac_row_entry *sorted, uint64_t n)
{
    for (uint64_t i = 0; i < n / 2; i++) {
        hac_row_entry swap = sorted[i];
        sorted[i] = sorted[n - 1 - i];
        sorted[n - 1 - i] = swap;
    }
}

/* From a heap to ascending order. */
static void sort_heap(const hac_row_keys *keys, hac_row_entry *heap, uint64_t n)
{
    for (; n > 1; n--) {
        hac_row_entry largest = heap[0];
        heap[0] = heap[n - 1];
        sift(keys, heap, n - 1);
        heap[n - 1] = largest;
    }
}

/* Adds a block's rows to the `keep` smallest so far. There are *n; from `keep` on they are a heap. */
static void keep_smallest(const hac_row_keys *keys, size_t block, uint64_t keep, hac_row_entry *kept,
                          uint64_t *n, hac_row_entry *space)
{
    hac_row_entry next[HAC_BATCH_ROWS];
    hac_row_keys_of_block(keys, block, next);
    for (uint32_t i = 0; i < keys->rows->blocks[block].rows; i++) {
        if (*n < keep) {
            kept[(*n)++] = next[i];
            if (*n == keep) {
                const hac_row_entry *sorted = hac_row_sort(keys, kept, *n, space);
                if (sorted != kept)
                    memcpy(kept, sorted, *n * sizeof *kept);
                reverse(kept, *n);
            }
        } else if (keep > 0 && hac_row_compare(keys, &next[i], &kept[0]) < 0) {
            kept[0] = next[i];
            sift(keys, kept, *n);
        }
    }
}

hac_status hac_row_run_make(const hac_row_keys *keys, size_t first_block, size_t n_blocks, uint64_t keep,
                            hac_row_entry **ret, uint64_t *ret_n, hac_error *err)
{
    uint64_t rows = 0, n = 0;
    for (size_t b = 0; b < n_blocks; b++)
        rows += keys->rows->blocks[first_block + b].rows;
    bool all = rows <= keep;
    uint64_t capacity = all ? rows : keep;
    hac_autofree hac_row_entry *entries = malloc((capacity + 1) * sizeof *entries);
    hac_autofree hac_row_entry *space = malloc(HAC_ROW_SORT_SPACE(capacity) * sizeof *space);
    if (entries == NULL || space == NULL)
        return hac_fail_no_memory(err);
    for (size_t b = first_block; b < first_block + n_blocks; b++) {
        if (!all) {
            keep_smallest(keys, b, keep, entries, &n, space);
            continue;
        }
        hac_row_keys_of_block(keys, b, entries + n);
        n += keys->rows->blocks[b].rows;
    }
    *ret_n = n;
    if (all && hac_row_sort(keys, entries, n, space) == space) {
        hac_row_entry *shrunk = realloc(space, (n + 1) * sizeof *space); /* runs are kept for long */
        *ret = shrunk != NULL ? shrunk : space;
        space = NULL;
        return HAC_OK;
    }
    if (!all)
        sort_heap(keys, entries, n);
    *ret = hac_steal_ptr(entries);
    return HAC_OK;
}

/* ---- stretches of the order ---- */

uint64_t hac_row_runs_rows(const hac_row_runs *runs)
{
    uint64_t sum = 0;
    for (size_t r = 0; r < runs->n; r++)
        sum += runs->runs[r].n;
    return sum;
}

/* Copies an entry; its place becomes one of the reader's, whatever the entry says. */
static inline hac_row_entry entry_of(const hac_row_runs *runs, const hac_row_run *run, uint64_t i)
{
    hac_row_entry entry = run->entries[i];
    uint64_t block = entry.at / HAC_BATCH_ROWS, row = entry.at % HAC_BATCH_ROWS;
    if (block >= run->n_blocks)
        block = 0;
    block += run->first_block;
    if (row >= runs->keys->rows->blocks[block].rows)
        row = 0;
    entry.at = block * HAC_BATCH_ROWS + row;
    return entry;
}

/* The number of entries among [low, high) of a run, plus `low`, that come before `pivot`. */
static uint64_t before(const hac_row_runs *runs, const hac_row_run *run, uint64_t low, uint64_t high,
                       const hac_row_entry *pivot)
{
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        hac_row_entry entry = entry_of(runs, run, middle);
        if (hac_row_compare(runs->keys, &entry, pivot) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/*
 * Finds where rank `rank` divides each run: low[r] entries of run r are among the first `rank` rows. Between
 * low[r] and high[r] it is open where; each turn halves the longest of these stretches, by the rank of its
 * middle, and shortens the others. `middle` is scratch memory; all three have runs->n elements.
 */
static void divide(const hac_row_runs *runs, uint64_t rank, uint64_t *low, uint64_t *high, uint64_t *middle)
{
    for (size_t r = 0; r < runs->n; r++) {
        low[r] = 0;
        high[r] = runs->runs[r].n < rank ? runs->runs[r].n : rank;
    }
    for (;;) {
        size_t longest = 0;
        uint64_t below = 0;
        for (size_t r = 1; r < runs->n; r++)
            longest = high[r] - low[r] > high[longest] - low[longest] ? r : longest;
        if (runs->n == 0 || high[longest] == low[longest])
            return;
        uint64_t at = low[longest] + (high[longest] - low[longest]) / 2;
        hac_row_entry pivot = entry_of(runs, &runs->runs[longest], at);
        for (size_t r = 0; r < runs->n; r++) {
            middle[r] = r == longest ? at : before(runs, &runs->runs[r], low[r], high[r], &pivot);
            below += middle[r];
        }
        if (below < rank) { /* the pivot is among the first, too */
            memcpy(low, middle, runs->n * sizeof *low);
            low[longest] = at + 1;
        } else {
            memcpy(high, middle, runs->n * sizeof *high);
        }
    }
}

hac_status hac_row_runs_order(const hac_row_runs *runs, uint64_t first, uint64_t end, uint64_t **ret,
                              uint64_t *ret_n, hac_error *err)
{
    hac_autofree uint64_t *places = malloc((4 * runs->n + 1) * sizeof *places);
    if (places == NULL)
        return hac_fail_no_memory(err);
    uint64_t *from = places, *to = from + runs->n, *high = to + runs->n, n = 0, k = 0;
    divide(runs, first, from, high, high + runs->n);
    divide(runs, end, to, high, high + runs->n);
    for (size_t r = 0; r < runs->n; r++) {
        to[r] = to[r] > from[r] ? to[r] : from[r];
        n += to[r] - from[r];
    }
    hac_autofree hac_row_entry *entries = malloc((n + HAC_ROW_SORT_SPACE(n)) * sizeof *entries);
    hac_autofree uint64_t *order = malloc((n + 1) * sizeof *order);
    if (entries == NULL || order == NULL)
        return hac_fail_no_memory(err);
    for (size_t r = 0; r < runs->n; r++)
        for (uint64_t i = from[r]; i < to[r]; i++)
            entries[k++] = entry_of(runs, &runs->runs[r], i);
    const hac_row_entry *sorted = hac_row_sort(runs->keys, entries, n, entries + n);
    for (uint64_t i = 0; i < n; i++)
        order[i] = sorted[i].at;
    *ret = hac_steal_ptr(order);
    *ret_n = n;
    return HAC_OK;
}
