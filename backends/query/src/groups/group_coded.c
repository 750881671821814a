/* SPDX-License-Identifier: Apache-2.0 */
#include "group_coded.h"

#include <stdlib.h>
#include <string.h>

#define KEYS_MAX   4
#define SPAN       (UINT64_C(1) << 16) /* of a key's values */
#define GROUPS_MAX (UINT64_C(1) << 16) /* 256 KiB, which fits a core's second-level cache */
#define TRIED      (UINT64_C(1) << 17) /* rows after which most groups must have been known */

typedef struct coded_key {
    const uint64_t *words; /* of the batch: integers, or hac_string_refs */
    bool text;
    uint64_t dictionary;
    uint64_t low;    /* the value that codes[0] is of */
    uint16_t *codes; /* SPAN codes + 1; 0: the value has none */
    unsigned bits;   /* of the codes' number */
    uint32_t n;      /* codes */
} coded_key;

struct hac_group_coded {
    coded_key keys[KEYS_MAX];
    size_t n_keys;
    unsigned bits;    /* of all keys */
    uint32_t *groups; /* group + 1 of each index; 0: unknown */
    bool off;         /* until the table is reset */
    bool never;       /* there are too many groups */
    uint64_t rows, unknown;
    uint32_t index[HAC_BATCH_ROWS];
    uint16_t rest[HAC_BATCH_ROWS]; /* rows of unknown groups */
    uint64_t at[HAC_BATCH_ROWS];
    uint64_t gathered[KEYS_MAX][HAC_BATCH_ROWS];
};

/* ---- life ---------------------------------------------------------------------------------------------- */

static void forget(struct hac_group_coded *c)
{
    memset(c->groups, 0, GROUPS_MAX * sizeof *c->groups);
    for (size_t k = 0; k < c->n_keys; k++) {
        if (c->keys[k].n > 0)
            memset(c->keys[k].codes, 0, SPAN * sizeof *c->keys[k].codes);
        c->keys[k].n = 0;
    }
}

void hac_group_coded_reset(struct hac_group_coded *c)
{
    if (c == NULL)
        return;
    if (!c->never)
        forget(c);
    c->off = c->never;
}

void hac_group_coded_retry(struct hac_group_coded *c)
{
    if (c != NULL && c->off)
        hac_group_coded_reset(c);
}

void hac_group_coded_free(struct hac_group_coded *c)
{
    for (size_t k = 0; c != NULL && k < c->n_keys; k++)
        free(c->keys[k].codes);
    if (c != NULL)
        free(c->groups);
    free(c);
}

/* Keys of one word that are found by the array of group_direct.h need no codes. */
static bool could_fit(const hac_group_layout *l)
{
    bool several = l->n_keys > 1;
    for (size_t k = 0; k < l->n_keys; k++) {
        uint8_t repr = l->keys[k].repr;
        if (repr != HAC_REPR_STRING && repr != HAC_REPR_I64 && repr != HAC_REPR_U64)
            return false;
        several |= repr == HAC_REPR_STRING;
    }
    return several && l->n_keys <= KEYS_MAX && !l->slots;
}

/* NULL: there is no memory, which is no error. */
static struct hac_group_coded *make(hac_group_table *t)
{
    size_t n = t->layout.n_keys;
    struct hac_group_coded *c = calloc(1, sizeof *c);
    if (c == NULL)
        return NULL;
    c->never = c->off = !could_fit(&t->layout);
    if (c->off)
        return c;
    bool there = true;
    c->n_keys = n;
    c->groups = hac_budget_zeros(&t->budget, GROUPS_MAX, sizeof *c->groups, NULL);
    for (size_t k = 0; k < n; k++) {
        c->keys[k].text = t->layout.keys[k].repr == HAC_REPR_STRING;
        c->keys[k].codes = hac_budget_zeros(&t->budget, SPAN, sizeof *c->keys[k].codes, NULL);
        there &= c->keys[k].codes != NULL;
    }
    c->never = c->off = !there || c->groups == NULL;
    return c;
}

/* ---- codes --------------------------------------------------------------------------------------------- */

static inline uint64_t value_of(const coded_key *key, size_t row)
{
    return key->text ? (uint32_t)key->words[row] : key->words[row];
}

/* Takes the keys of a batch. False: they are others. */
static bool take(struct hac_group_coded *c, const hac_column *columns)
{
    for (size_t k = 0; k < c->n_keys; k++)
        if (columns[k].states != NULL || (c->keys[k].text && columns[k].dictionary == 0))
            return false;
    for (size_t k = 0; k < c->n_keys; k++) {
        coded_key *key = &c->keys[k];
        key->words = columns[k].values; /* a hac_string_ref has 8 bytes and is aligned in columns */
        if (key->text && key->dictionary != columns[k].dictionary)
            forget(c);
    }
    for (size_t k = 0; k < c->n_keys; k++) {
        coded_key *key = &c->keys[k];
        key->dictionary = columns[k].dictionary;
        if (key->n == 0)
            key->low = value_of(key, 0) - SPAN / 2;
    }
    return true;
}

/* Gives a code to values that have none. False: there are too many. */
static bool give_codes(struct hac_group_coded *c, coded_key *key, size_t rows)
{
    for (size_t i = 0; i < rows; i++) {
        uint16_t *code = &key->codes[value_of(key, i) - key->low];
        if (*code != 0)
            continue;
        if (key->n == UINT32_C(1) << key->bits) {
            if (UINT64_C(2) << c->bits > GROUPS_MAX || key->n >= UINT16_MAX)
                return false;
            key->bits++;
            c->bits++;
            memset(c->groups, 0, GROUPS_MAX * sizeof *c->groups);
        }
        *code = (uint16_t)++key->n;
    }
    return true;
}

/* Whether all values are in the key's range. */
static bool is_inside(const coded_key *key, size_t rows)
{
    uint64_t inside = 1;
    for (size_t i = 0; i < rows; i++)
        inside &= value_of(key, i) - key->low < SPAN;
    return inside != 0;
}

static bool know_codes(struct hac_group_coded *c, size_t rows)
{
    for (size_t k = 0; k < c->n_keys; k++)
        if (!is_inside(&c->keys[k], rows) || !give_codes(c, &c->keys[k], rows))
            return false;
    return true;
}

/* Appends the key's codes to the indices; false: some value has none. `text` and `first` are compile-time
 * constants. */
static inline __attribute__((always_inline)) bool add_codes(const coded_key *key, bool text, bool first,
                                                            size_t rows, uint32_t *index)
{
    uint64_t low = key->low;
    uint32_t known = 1;
    for (size_t i = 0; i < rows; i++) {
        uint64_t place = (text ? (uint32_t)key->words[i] : key->words[i]) - low;
        uint32_t code = key->codes[place & (SPAN - 1)];
        known &= (place < SPAN) & (code != 0);
        index[i] = first ? code - 1 : index[i] << key->bits | (code - 1);
    }
    return known != 0;
}

static bool find_index(struct hac_group_coded *c, size_t rows)
{
    const coded_key *keys = c->keys;
    bool known = keys[0].text ? add_codes(&keys[0], true, true, rows, c->index)
                              : add_codes(&keys[0], false, true, rows, c->index);
    for (size_t k = 1; known && k < c->n_keys; k++)
        known = keys[k].text ? add_codes(&keys[k], true, false, rows, c->index)
                             : add_codes(&keys[k], false, false, rows, c->index);
    return known;
}

/* ---- groups -------------------------------------------------------------------------------------------- */

/* Fills t->at for known groups, and c->rest; returns the number of other rows. */
static size_t find_known(hac_group_table *t, struct hac_group_coded *c, size_t rows)
{
    uint64_t stride = t->layout.stride, *at = t->at;
    size_t n = 0;
    for (size_t i = 0; i < rows; i++) {
        uint32_t group = c->groups[c->index[i]];
        at[i] = group * stride - stride;
        c->rest[n] = (uint16_t)i;
        n += group == 0;
    }
    return n;
}

/* Finds the groups of the other rows in the slots, and notes them. */
static hac_status find_rest(hac_group_table *t, struct hac_group_coded *c, const hac_column *columns,
                            size_t rows, size_t n, hac_error *err)
{
    hac_column keys[KEYS_MAX];
    memcpy(c->at, t->at, rows * sizeof *c->at);
    for (size_t k = 0; k < c->n_keys; k++) {
        keys[k] = columns[k];
        keys[k].values = c->gathered[k];
        for (size_t i = 0; i < n; i++)
            c->gathered[k][i] = c->keys[k].words[c->rest[i]];
    }
    hac_group_keys_load(t, keys, n);
    hac_group_keys_hash(t, n);
    hac_status status = hac_group_find(t, n, err);
    if (status != HAC_OK)
        return status;
    for (size_t i = 0; i < n; i++) {
        c->at[c->rest[i]] = t->at[i];
        c->groups[c->index[c->rest[i]]] = (uint32_t)(t->at[i] / t->layout.stride) + 1;
    }
    memcpy(t->at, c->at, rows * sizeof *c->at);
    return HAC_OK;
}

hac_status hac_group_find_coded(hac_group_table *t, const hac_column *columns, size_t rows, bool *ret_done,
                                hac_error *err)
{
    *ret_done = false;
    if (t->coded == NULL)
        t->coded = make(t);
    struct hac_group_coded *c = t->coded;
    if (c == NULL || c->off || !take(c, columns))
        return HAC_OK;
    if (!find_index(c, rows) && !(know_codes(c, rows) && find_index(c, rows))) {
        c->off = true;
        return HAC_OK;
    }
    size_t n = find_known(t, c, rows);
    c->rows += rows;
    c->unknown += n;
    if (c->rows > TRIED && c->unknown > c->rows / 2)
        c->never = c->off = true;
    *ret_done = true;
    return n > 0 ? find_rest(t, c, columns, rows, n, err) : HAC_OK;
}
