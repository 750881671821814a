/* SPDX-License-Identifier: Apache-2.0 */
#include "group_coded.h"

#include <stdlib.h>
#include <string.h>

#define KEYS_MAX   4
#define SPAN       (UINT64_C(1) << 16) /* of a key's values, in steps */
#define STEP_MAX   8                   /* bits: offsets of strings of one length are multiples of 2^step */
#define GROUPS_MAX (UINT64_C(1) << 16) /* 256 KiB, which fits a core's second-level cache */
#define TRIED      (UINT64_C(1) << 17) /* rows after which most groups must have been known */

typedef struct coded_key {
    const uint64_t *words; /* of the batch: integers, or hac_string_refs */
    bool text;
    uint64_t dictionary;
    uint64_t low;    /* the value that codes[0] is of */
    unsigned step;   /* values differ from `low` by multiples of 2^step */
    uint16_t *codes; /* SPAN codes + 1, one for each step; 0: the value has none */
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
    bool fresh;       /* the last batch had values without codes, and the next one may */
    uint64_t rows, unknown;
    uint32_t index[HAC_BATCH_ROWS];
    uint16_t rest[HAC_BATCH_ROWS]; /* rows of unknown groups */
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

/* The index of the value's code; SPAN or more: it has none. Rotated right, so that a value between two steps
 * has bits at the top. */
static inline uint64_t place_of(const coded_key *key, uint64_t value)
{
    uint64_t place = value - key->low;
    return place >> key->step | place << (-key->step & 63);
}

/* The bits in which values of the batch differ from `value`. */
static uint64_t differences(const coded_key *key, size_t rows, uint64_t value)
{
    uint64_t differ = 0;
    for (size_t i = 0; i < rows; i++)
        differ |= value_of(key, i) ^ value;
    return differ;
}

/* Chooses the range of a key without codes, for values that differ in the bits `differ`. */
static void choose_range(coded_key *key, uint64_t differ)
{
    key->step = (unsigned)__builtin_ctzll(differ | UINT64_C(1) << STEP_MAX);
    key->low = value_of(key, 0) - (SPAN / 2 << key->step);
}

/* Takes the keys of a batch. False: they are others. */
static bool take(struct hac_group_coded *c, const hac_column *columns, size_t rows)
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
            choose_range(key, differences(key, rows, value_of(key, 0)));
    }
    return true;
}

/* Chooses smaller steps if values lie between two of them; all codes are forgotten then. False: none does. */
static bool make_steps_smaller(struct hac_group_coded *c, size_t rows)
{
    uint64_t differ[KEYS_MAX], between = 0;
    for (size_t k = 0; k < c->n_keys; k++) {
        uint64_t step = UINT64_C(1) << c->keys[k].step;
        differ[k] = differences(&c->keys[k], rows, c->keys[k].low) | step;
        between |= differ[k] & (step - 1);
    }
    if (between == 0)
        return false;
    forget(c);
    for (size_t k = 0; k < c->n_keys; k++)
        choose_range(&c->keys[k], differ[k]);
    return true;
}

/* Makes the codes of a key longer by one bit. False: they get too long. */
static bool add_bit(struct hac_group_coded *c, coded_key *key)
{
    if (UINT64_C(2) << c->bits > GROUPS_MAX)
        return false;
    key->bits++;
    c->bits++;
    if (key != &c->keys[0]) /* the codes of the first key are the highest bits of the index */
        memset(c->groups, 0, GROUPS_MAX * sizeof *c->groups);
    return true;
}

/* Gives a code to values that have none. False: there are too many, or some value is outside of the range. */
static bool give_codes(struct hac_group_coded *c, coded_key *key, size_t rows)
{
    for (size_t i = 0; i < rows; i++) {
        uint64_t place = place_of(key, value_of(key, i));
        if (place >= SPAN)
            return false;
        if (key->codes[place] != 0)
            continue;
        if (key->n >= UINT16_MAX || (key->n == UINT32_C(1) << key->bits && !add_bit(c, key)))
            return false;
        key->codes[place] = (uint16_t)++key->n;
        c->fresh = true;
    }
    return true;
}

static bool give_all_codes(struct hac_group_coded *c, size_t rows)
{
    bool good = true;
    c->fresh = false;
    for (size_t k = 0; good && k < c->n_keys; k++)
        good = give_codes(c, &c->keys[k], rows);
    return good;
}

static bool know_codes(struct hac_group_coded *c, size_t rows)
{
    return give_all_codes(c, rows) || (make_steps_smaller(c, rows) && give_all_codes(c, rows));
}

/* Appends the key's codes to the indices; false: some value has none. `text` and `first` are compile-time
 * constants. */
static inline __attribute__((always_inline)) bool add_codes(const coded_key *key, bool text, bool first,
                                                            size_t rows, uint32_t *index)
{
    const coded_key own = *key;
    uint32_t known = 1;
    for (size_t i = 0; i < rows; i++) {
        uint64_t place = place_of(&own, text ? (uint32_t)own.words[i] : own.words[i]);
        uint32_t code = own.codes[place & (SPAN - 1)];
        known &= (place < SPAN) & (code != 0);
        index[i] = first ? code - 1 : index[i] << own.bits | (code - 1);
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

/* Sets t->number for known groups, and c->rest; returns the number of other rows. */
static size_t find_known(hac_group_table *t, struct hac_group_coded *c, size_t rows)
{
    const uint32_t *groups = c->groups, *index = c->index;
    uint32_t *number = t->number, known = 1;
    size_t n = 0;
    for (size_t i = 0; i < rows; i++) {
        uint32_t group = groups[index[i]];
        number[i] = group - 1;
        known &= group != 0;
    }
    for (size_t i = 0; !known && i < rows; i++) {
        c->rest[n] = (uint16_t)i;
        n += groups[index[i]] == 0;
    }
    return n;
}

/* Finds the groups of the other rows in the slots, and notes them. */
static hac_status find_rest(hac_group_table *t, struct hac_group_coded *c, const hac_column *columns,
                            size_t n, hac_error *err)
{
    hac_column keys[KEYS_MAX];
    for (size_t k = 0; k < c->n_keys; k++) {
        keys[k] = columns[k];
        keys[k].values = c->gathered[k];
        for (size_t i = 0; i < n; i++)
            c->gathered[k][i] = c->keys[k].words[c->rest[i]];
    }
    hac_group_keys_load(t, keys, n);
    hac_group_keys_hash(t, n);
    hac_status status = hac_group_find(t, n, err);
    for (size_t i = 0; status == HAC_OK && i < n; i++) {
        uint32_t group = (uint32_t)(t->at[i] / t->layout.stride);
        t->number[c->rest[i]] = group;
        c->groups[c->index[c->rest[i]]] = group + 1;
    }
    return status;
}

hac_status hac_group_find_coded(hac_group_table *t, const hac_column *columns, size_t rows, bool *ret_done,
                                hac_error *err)
{
    *ret_done = false;
    if (t->coded == NULL)
        t->coded = make(t);
    struct hac_group_coded *c = t->coded;
    if (c == NULL || c->off || !take(c, columns, rows))
        return HAC_OK;
    bool known = !c->fresh && find_index(c, rows);
    if (!known && !(know_codes(c, rows) && find_index(c, rows))) {
        c->off = true;
        return HAC_OK;
    }
    size_t n = find_known(t, c, rows);
    c->rows += rows;
    c->unknown += n;
    if (c->rows > TRIED && c->unknown > c->rows / 2)
        c->never = c->off = true;
    hac_status status = n > 0 ? find_rest(t, c, columns, n, err) : HAC_OK;
    *ret_done = t->numbered = status == HAC_OK;
    return status;
}
