/* SPDX-License-Identifier: Apache-2.0 */
/* Strings at the same address are equal. In columns read from a dictionary most rows of a batch repeat the
 * address of an earlier row and have its group. Only the other rows are hashed and looked up. */
#include <stdlib.h>
#include <string.h>

#include "group_internal.h"

#define SLOTS    1024 /* a power of two, above HAC_BATCH_ROWS / 2 */
#define KEYS_MAX 4
#define TRIED    128 /* rows after which half of them must be repeats */
#define PAUSE    31  /* batches that are skipped after one with few repeats */

typedef struct repeats {
    const uint64_t *words[KEYS_MAX]; /* for each row, the address of its string, or its integer */
    size_t n_keys;
    uint16_t fresh[HAC_BATCH_ROWS]; /* rows that repeat no earlier row */
    size_t n_fresh;
    uint16_t of[HAC_BATCH_ROWS]; /* for each row, the index in `fresh` of the row that it is or repeats */
    uint16_t slots[SLOTS];       /* 1 + index in fresh */
    uint64_t gathered[KEYS_MAX][HAC_BATCH_ROWS];
    uint64_t at[HAC_BATCH_ROWS];
} repeats;

/* True if all keys have 64 bits and no nulls, and one is a string. */
static bool fits(const hac_group_table *t, const hac_column *columns, repeats *r)
{
    bool string = false;
    r->n_keys = t->layout.n_keys;
    if (r->n_keys == 0 || r->n_keys > KEYS_MAX)
        return false;
    for (size_t k = 0; k < r->n_keys; k++) {
        uint8_t repr = t->layout.keys[k].repr;
        if ((repr != HAC_REPR_STRING && repr != HAC_REPR_I64 && repr != HAC_REPR_U64) ||
            columns[k].states != NULL)
            return false;
        string |= repr == HAC_REPR_STRING;
        r->words[k] = columns[k].values; /* a hac_string_ref has 8 bytes and is aligned in columns */
    }
    return string;
}

static inline __attribute__((always_inline)) bool same(const repeats *r, size_t n_keys, size_t a, size_t b)
{
    uint64_t differ = 0;
    for (size_t k = 0; k < n_keys; k++)
        differ |= r->words[k][a] ^ r->words[k][b];
    return differ == 0;
}

static inline __attribute__((always_inline)) size_t slot_of(const repeats *r, size_t n_keys, size_t row)
{
    uint64_t h = 0;
    for (size_t k = 0; k < n_keys; k++)
        h = (h ^ r->words[k][row]) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(h >> 48) & (SLOTS - 1);
}

/* False: there are too few repeats. */
static inline __attribute__((always_inline)) bool sort_out_keys(repeats *r, size_t n_keys, size_t rows)
{
    memset(r->slots, 0, sizeof r->slots);
    r->n_fresh = 0;
    for (size_t i = 0; i < rows; i++) {
        size_t slot = slot_of(r, n_keys, i);
        while (r->slots[slot] != 0 && !same(r, n_keys, r->fresh[r->slots[slot] - 1], i))
            slot = (slot + 1) & (SLOTS - 1);
        if (r->slots[slot] == 0) {
            r->fresh[r->n_fresh++] = (uint16_t)i;
            r->slots[slot] = (uint16_t)r->n_fresh;
            if (r->n_fresh > TRIED / 2 && 2 * r->n_fresh > i)
                return false;
        }
        r->of[i] = (uint16_t)(r->slots[slot] - 1);
    }
    return true;
}

/* Specialised for one and two keys. */
static bool sort_out(repeats *r, size_t rows)
{
    return r->n_keys == 1   ? sort_out_keys(r, 1, rows)
           : r->n_keys == 2 ? sort_out_keys(r, 2, rows)
                            : sort_out_keys(r, r->n_keys, rows);
}

static hac_status find_fresh(hac_group_table *t, const hac_column *columns, repeats *r, size_t rows,
                             hac_error *err)
{
    hac_column keys[KEYS_MAX];
    for (size_t k = 0; k < r->n_keys; k++) {
        keys[k] = columns[k];
        keys[k].values = r->gathered[k];
        for (size_t i = 0; i < r->n_fresh; i++)
            r->gathered[k][i] = r->words[k][r->fresh[i]];
    }
    hac_group_keys_load(t, keys, r->n_fresh);
    hac_group_keys_hash(t, r->n_fresh);
    hac_status status = hac_group_find(t, r->n_fresh, err);
    memcpy(r->at, t->at, r->n_fresh * sizeof *r->at);
    for (size_t i = 0; i < rows; i++)
        t->at[i] = r->at[r->of[i]];
    return status;
}

hac_status hac_group_find_repeats(hac_group_table *t, const hac_column *columns, size_t rows, bool *ret_done,
                                  hac_error *err)
{
    *ret_done = false;
    if (!t->layout.strings || rows < TRIED || t->repeats_pause > 0) {
        t->repeats_pause -= t->repeats_pause > 0;
        return HAC_OK;
    }
    if (t->repeats == NULL)
        t->repeats = aligned_alloc(64, (sizeof *t->repeats + 63) / 64 * 64);
    if (t->repeats == NULL)
        return hac_fail_no_memory(err);
    if (!fits(t, columns, t->repeats))
        return HAC_OK;
    if (!sort_out(t->repeats, rows)) {
        t->repeats_pause = PAUSE;
        return HAC_OK;
    }
    *ret_done = true;
    return find_fresh(t, columns, t->repeats, rows, err);
}
