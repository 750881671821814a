/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sort keys of rows: the items of order by as up to 128 bits whose unsigned order is the rows' order.
 *
 * Each item is one bit that is 1 for null, then the value: as many bits as its type has, in an
 * order-preserving form, inverted if the item is descending. A string is its first bytes, padded with zeros;
 * if more items follow, a byte with its length follows the bytes. After a string that is longer than its
 * bytes in the key, the rest of the key is 0. Rows with equal keys are therefore compared in full, unless all
 * items are numbers that fit the key.
 */
#ifndef QUERY_ROW_KEYS_H
#define QUERY_ROW_KEYS_H

#include "query/rows.h"

#define HAC_KEY_ITEMS_MAX 64 /* an item takes at least two bits */

typedef struct hac_key_item {
    uint8_t repr, position; /* position: of the item's first bit in the key */
    uint8_t bits;           /* of the value */
    uint8_t text_bytes;     /* of a string, without its length */
    bool sized;             /* the byte with the string's length follows */
    bool descending;
    uint16_t column;
} hac_key_item;

typedef struct hac_row_keys {
    const hac_query *query;
    const hac_rows_reader *rows;
    hac_key_item items[HAC_KEY_ITEMS_MAX];
    size_t n_items; /* in the key; the query may have more */
    size_t open;    /* equal keys: the items before this one are equal */
    bool complete;  /* equal keys: all items are equal */
} hac_row_keys;

/* A row to be sorted. `at` is block · HAC_BATCH_ROWS + row; among equal rows the order is that of `at`. */
typedef struct hac_row_entry {
    uint64_t high, low; /* the key */
    uint64_t at;
} hac_row_entry;

_Static_assert(sizeof(hac_row_entry) == HAC_ROWS_ENTRY_BYTES, "the entries of a region's run");

/* For query->order; `rows` is read by the functions below. */
void hac_row_keys_init(const hac_query *query, const hac_rows_reader *rows, hac_row_keys *ret);

/* Makes the entries of a block's rows. */
void hac_row_keys_of_block(const hac_row_keys *keys, size_t block, hac_row_entry *ret);

/* Lists the rows of a batch that may come before the row with the key `last`, by the first item alone, whose
 * column is `column`. Where equal keys are equal rows, rows like `last` come behind it. Returns their
 * number. */
size_t hac_row_keys_before(const hac_row_keys *keys, const hac_column *column, size_t rows,
                           const hac_row_entry *last, uint16_t *ret);

/* A value of the form of hac_rows_value that is neither null nor a string, as a word of its order; of an
 * I128, only the upper word. Equal values have equal words. */
uint64_t hac_row_order_word(hac_repr repr, const uint64_t words[2]);

/* Compares two values of the form of hac_rows_value that are not null, as order by does: -1, 0 or 1. */
int hac_row_compare_values(hac_repr repr, const uint64_t a[2], const uint64_t b[2]);

/* Compares what equal keys leave open, then `at`: -1, 0 or 1. */
int hac_row_compare_open(const hac_row_keys *keys, uint64_t a, uint64_t b);

static inline int hac_row_compare(const hac_row_keys *keys, const hac_row_entry *a, const hac_row_entry *b)
{
    if (a->high != b->high)
        return a->high < b->high ? -1 : 1;
    if (a->low != b->low)
        return a->low < b->low ? -1 : 1;
    return hac_row_compare_open(keys, a->at, b->at);
}

/* Sorts entries. Equal entries must be in the order of `at`, and stay so. Returns where the sorted entries
 * are: `entries`, or the start of `space`, which has HAC_ROW_SORT_SPACE(n) entries; the other one is
 * overwritten. Terminates even if rows change meanwhile. */
#define HAC_ROW_SORT_SPACE(n) ((n) + (n) / 3 + 1)
hac_row_entry *hac_row_sort(const hac_row_keys *keys, hac_row_entry *entries, uint64_t n,
                            hac_row_entry *space);

#endif
