/* SPDX-License-Identifier: Apache-2.0 */
#include "group_coded.h"

#include <stdlib.h>
#include <string.h>

#define KEYS_MAX   4
#define SPAN       (UINT64_C(1) << 16) /* of the integers of a key, in steps */
#define STEP_MAX   8                   /* bits: integers may be multiples of 2^step */
#define GROUPS_MAX (UINT64_C(1) << 16) /* 256 KiB, which fits a core's second-level cache */
#define TRIED      (UINT64_C(1) << 17) /* rows after which most groups must have been known */
#define UNKNOWN    (UINT32_C(1) << 31) /* above all numbers */

typedef struct coded_key {
    const hac_column *column; /* of the batch */
    const uint64_t *words;    /* its values */
    bool by_code;             /* numbers are found by the codes of a dictionary, else by integers */
    unsigned bits;            /* of the numbers */
    uint32_t n;               /* numbers given */

    /* By code. With a single key `of_code` has groups + 1 in place of numbers, and 0 for UNKNOWN. */
    uint64_t dictionary;
    uint32_t *of_code; /* for each code, and at `entries` for null */
    uint32_t entries, capacity;
    hac_value_set values; /* numbers of values; null is a value of a group of its own */
    hac_value_list list;

    /* By integer. */
    uint64_t low;       /* the value that of_value[0] is of */
    unsigned step;      /* values differ from `low` by multiples of 2^step */
    uint16_t *of_value; /* SPAN numbers + 1, one for each step; 0: the value has none */
} coded_key;

struct hac_group_coded {
    coded_key keys[KEYS_MAX];
    size_t n_keys;
    hac_memory_budget *budget;
    unsigned bits;    /* of all keys */
    uint32_t *groups; /* group + 1 of each index; 0: unknown */
    bool off;         /* until the table is reset */
    bool never;       /* there are too many groups */
    bool fresh;       /* the last batch had values without numbers, and the next one may */
    uint64_t rows, unknown;
    uint32_t index[HAC_BATCH_ROWS];
    uint16_t rest[HAC_BATCH_ROWS]; /* rows of unknown groups */
    uint64_t gathered[KEYS_MAX][HAC_BATCH_ROWS];
    uint8_t states[KEYS_MAX][HAC_BATCH_ROWS];
};

/* ---- life ---------------------------------------------------------------------------------------------- */

static void forget(struct hac_group_coded *c)
{
    if (c->groups != NULL)
        memset(c->groups, 0, GROUPS_MAX * sizeof *c->groups);
    for (size_t k = 0; k < c->n_keys; k++) {
        coded_key *key = &c->keys[k];
        if (key->of_value != NULL && key->n > 0)
            memset(key->of_value, 0, SPAN * sizeof *key->of_value);
        hac_value_set_reset(&key->values);
        key->list = (hac_value_list){0};
        key->dictionary = 0;
        key->n = 0;
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
    for (size_t k = 0; c != NULL && k < c->n_keys; k++) {
        free(c->keys[k].of_value);
        free(c->keys[k].of_code);
        hac_value_set_clear(&c->keys[k].values);
    }
    if (c != NULL)
        free(c->groups);
    free(c);
}

/* Gathered values have 8 bytes. A single integer is found by group_direct.h as fast, but not its group's
 * number, which only lanes need. */
static bool could_fit(const hac_group_layout *l, bool lanes)
{
    for (size_t k = 0; k < l->n_keys; k++) {
        uint8_t repr = l->keys[k].repr;
        if (repr != HAC_REPR_STRING && repr != HAC_REPR_I64 && repr != HAC_REPR_U64)
            return false;
    }
    if (l->n_keys == 1 && l->keys[0].repr != HAC_REPR_STRING && !lanes)
        return false;
    return l->n_keys > 0 && l->n_keys <= KEYS_MAX && !l->slots;
}

/* NULL: there is no memory, which is no error. */
static struct hac_group_coded *make(hac_group_table *t)
{
    struct hac_group_coded *c = calloc(1, sizeof *c);
    if (c == NULL)
        return NULL;
    c->never = c->off = !could_fit(&t->layout, t->lanes.n > 1);
    if (c->off)
        return c;
    c->n_keys = t->layout.n_keys;
    c->budget = &t->budget;
    for (size_t k = 0; k < c->n_keys; k++)
        c->keys[k].values = (hac_value_set){.budget = &t->budget,
                                            .arena = &t->arena,
                                            .hash_start = t->hash_start,
                                            .repr = t->layout.keys[k].repr};
    if (c->n_keys > 1)
        c->groups = hac_budget_zeros(&t->budget, GROUPS_MAX, sizeof *c->groups, NULL);
    c->never = c->off = c->n_keys > 1 && c->groups == NULL;
    return c;
}

/* ---- integers ------------------------------------------------------------------------------------------ */

/* The index of the value's number; SPAN or more: it has none. Rotated right, so that a value between two
 * steps has bits at the top. */
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
        differ |= key->words[i] ^ value;
    return differ;
}

/* Chooses the range of a key without numbers, for values that differ in the bits `differ`. */
static void choose_range(coded_key *key, uint64_t differ)
{
    key->step = (unsigned)__builtin_ctzll(differ | UINT64_C(1) << STEP_MAX);
    key->low = key->words[0] - (SPAN / 2 << key->step);
}

/* ---- taking a batch ------------------------------------------------------------------------------------ */

/* Makes the array of a dictionary's codes, which knows none yet. False: there is no memory. */
static bool begin_dictionary(struct hac_group_coded *c, coded_key *key)
{
    uint64_t wanted = key->column->entries + UINT64_C(1), size = sizeof *key->of_code;
    if (wanted > key->capacity) {
        uint32_t *of_code =
            wanted > UINT32_MAX / 2
                ? NULL
                : hac_budget_resize(c->budget, key->of_code, key->capacity * size, wanted * size, NULL);
        if (of_code == NULL)
            return false;
        key->of_code = of_code;
        key->capacity = (uint32_t)wanted;
    }
    for (uint64_t i = 0; i < wanted; i++)
        key->of_code[i] = c->n_keys > 1 ? UNKNOWN : 0;
    key->entries = key->column->entries;
    key->dictionary = key->column->dictionary;
    return true;
}

static bool begin_integers(struct hac_group_coded *c, coded_key *key, size_t rows)
{
    if (key->of_value == NULL)
        key->of_value = hac_budget_zeros(c->budget, SPAN, sizeof *key->of_value, NULL);
    if (key->of_value != NULL && key->n == 0)
        choose_range(key, differences(key, rows, key->words[0]));
    return key->of_value != NULL;
}

/* Makes the arrays of all keys ready. False: there is no memory. */
static bool begin(struct hac_group_coded *c, size_t rows)
{
    bool good = true;
    for (size_t k = 0; good && k < c->n_keys; k++) {
        coded_key *key = &c->keys[k];
        if (!key->by_code)
            good = begin_integers(c, key, rows);
        else if (key->dictionary != key->column->dictionary)
            good = begin_dictionary(c, key);
    }
    return good;
}

/* Takes the keys of a batch. False: they are others. */
static bool take(struct hac_group_coded *c, const hac_group_layout *l, const hac_column *columns, size_t rows)
{
    bool differs = false;
    for (size_t k = 0; k < c->n_keys; k++)
        if (columns[k].codes == NULL &&
            (c->n_keys == 1 || l->keys[k].repr == HAC_REPR_STRING || columns[k].states != NULL))
            return false;
    for (size_t k = 0; k < c->n_keys; k++) {
        coded_key *key = &c->keys[k];
        bool by_code = columns[k].codes != NULL;
        differs |= key->n > 0 && key->by_code != by_code;
        key->by_code = by_code;
        key->column = &columns[k];
        key->words = columns[k].values; /* a hac_string_ref has 8 bytes and is aligned in columns */
    }
    if (differs)
        forget(c);
    return begin(c, rows);
}

/* ---- numbers of values --------------------------------------------------------------------------------- */

/* Chooses smaller steps if integers lie between two of them; all numbers are forgotten then. False: none
 * does. */
static bool make_steps_smaller(struct hac_group_coded *c, size_t rows)
{
    uint64_t differ[KEYS_MAX] = {0}, between = 0;
    for (size_t k = 0; k < c->n_keys; k++) {
        uint64_t step = UINT64_C(1) << c->keys[k].step;
        if (c->keys[k].by_code)
            continue;
        differ[k] = differences(&c->keys[k], rows, c->keys[k].low) | step;
        between |= differ[k] & (step - 1);
    }
    if (between == 0)
        return false;
    forget(c);
    if (!begin(c, rows))
        return false;
    for (size_t k = 0; k < c->n_keys; k++)
        if (!c->keys[k].by_code)
            choose_range(&c->keys[k], differ[k]);
    return true;
}

/* Makes the numbers of a key longer by one bit. False: they get too long. */
static bool add_bit(struct hac_group_coded *c, coded_key *key)
{
    if (UINT64_C(2) << c->bits > GROUPS_MAX)
        return false;
    key->bits++;
    c->bits++;
    if (key != &c->keys[0]) /* the numbers of the first key are the highest bits of the index */
        memset(c->groups, 0, GROUPS_MAX * sizeof *c->groups);
    return true;
}

static inline bool is_null(const hac_column *v, size_t row)
{
    return v->states != NULL && v->states[row] != HAC_ROW_OK;
}

/* Gives numbers to entries that have none. False: there are too many. */
static bool number_codes(struct hac_group_coded *c, coded_key *key, size_t rows)
{
    const hac_column *v = key->column;
    for (size_t i = 0; i < rows; i++) {
        bool null = is_null(v, i);
        uint32_t *number = &key->of_code[null ? key->entries : v->codes[i]], found;
        uint64_t words[2] = {0, 0};
        if (*number != UNKNOWN)
            continue;
        if (!null)
            hac_value_words(v, key->values.repr, i, words);
        if (hac_value_set_number(&key->values, &key->list, null, words, &found, NULL) != HAC_OK ||
            (found >> key->bits != 0 && !add_bit(c, key)))
            return false;
        *number = found;
        key->n = key->values.n;
        c->fresh = true;
    }
    return true;
}

/* Gives numbers to integers that have none. False: there are too many, or some integer is outside of the
 * range. */
static bool number_integers(struct hac_group_coded *c, coded_key *key, size_t rows)
{
    for (size_t i = 0; i < rows; i++) {
        uint64_t place = place_of(key, key->words[i]);
        if (place >= SPAN)
            return false;
        if (key->of_value[place] != 0)
            continue;
        if (key->n >= UINT16_MAX || (key->n == UINT32_C(1) << key->bits && !add_bit(c, key)))
            return false;
        key->of_value[place] = (uint16_t)++key->n;
        c->fresh = true;
    }
    return true;
}

static bool number_all(struct hac_group_coded *c, size_t rows)
{
    bool good = true;
    c->fresh = false;
    for (size_t k = 0; good && k < c->n_keys; k++)
        good =
            c->keys[k].by_code ? number_codes(c, &c->keys[k], rows) : number_integers(c, &c->keys[k], rows);
    return good;
}

static bool know_numbers(struct hac_group_coded *c, size_t rows)
{
    return number_all(c, rows) || (make_steps_smaller(c, rows) && number_all(c, rows));
}

/* ---- indices of rows ----------------------------------------------------------------------------------- */

/* Appends a key's numbers to the indices; false: some value has none. */
static bool add_code_numbers(const coded_key *key, size_t rows, uint32_t *index)
{
    const uint32_t *codes = key->column->codes, *of_code = key->of_code;
    const uint8_t *states = key->column->states;
    uint32_t any = 0, entries = key->entries;
    unsigned bits = key->bits;
    for (size_t i = 0; states == NULL && i < rows; i++) {
        uint32_t number = of_code[codes[i]];
        any |= number;
        index[i] = index[i] << bits | number;
    }
    for (size_t i = 0; states != NULL && i < rows; i++) {
        uint32_t number = of_code[states[i] == HAC_ROW_OK ? codes[i] : entries];
        any |= number;
        index[i] = index[i] << bits | number;
    }
    return any < UNKNOWN;
}

static bool add_integer_numbers(const coded_key *key, size_t rows, uint32_t *index)
{
    const coded_key own = *key;
    uint32_t known = 1;
    for (size_t i = 0; i < rows; i++) {
        uint64_t place = place_of(&own, own.words[i]);
        uint32_t number = own.of_value[place & (SPAN - 1)];
        known &= (place < SPAN) & (number != 0);
        index[i] = index[i] << own.bits | (number - 1);
    }
    return known != 0;
}

/* Two keys from dictionaries, the most frequent ones, in one loop. */
static bool add_two_codes(const coded_key *keys, size_t rows, uint32_t *index)
{
    const uint32_t *a = keys[0].column->codes, *b = keys[1].column->codes;
    const uint32_t *of_a = keys[0].of_code, *of_b = keys[1].of_code;
    unsigned bits = keys[1].bits;
    uint32_t any = 0;
    for (size_t i = 0; i < rows; i++) {
        uint32_t x = of_a[a[i]], y = of_b[b[i]];
        any |= x | y;
        index[i] = x << bits | y;
    }
    return any < UNKNOWN;
}

static bool find_index(struct hac_group_coded *c, size_t rows)
{
    const coded_key *keys = c->keys;
    bool known = true;
    if (c->n_keys == 2 && keys[0].by_code && keys[1].by_code && keys[0].column->states == NULL &&
        keys[1].column->states == NULL)
        return add_two_codes(keys, rows, c->index);
    memset(c->index, 0, rows * sizeof *c->index);
    for (size_t k = 0; known && k < c->n_keys; k++)
        known = keys[k].by_code ? add_code_numbers(&keys[k], rows, c->index)
                                : add_integer_numbers(&keys[k], rows, c->index);
    return known;
}

/* The codes of a single key. */
static const uint32_t *single_index(struct hac_group_coded *c, size_t rows)
{
    const hac_column *v = c->keys[0].column;
    if (v->states == NULL)
        return v->codes;
    for (size_t i = 0; i < rows; i++)
        c->index[i] = v->states[i] == HAC_ROW_OK ? v->codes[i] : c->keys[0].entries;
    return c->index;
}

/* ---- groups -------------------------------------------------------------------------------------------- */

/* Sets the numbers of known groups, and c->rest; returns the number of other rows. */
static size_t find_known(struct hac_group_coded *c, const uint32_t *groups, const uint32_t *index,
                         size_t rows, uint32_t *number)
{
    uint32_t known = 1;
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
                            uint32_t *groups, const uint32_t *index, size_t n, hac_error *err)
{
    hac_column keys[KEYS_MAX];
    for (size_t k = 0; k < c->n_keys; k++) {
        keys[k] = columns[k];
        keys[k].values = c->gathered[k];
        keys[k].states = columns[k].states == NULL ? NULL : c->states[k];
        for (size_t i = 0; i < n; i++)
            c->gathered[k][i] = c->keys[k].words[c->rest[i]];
        for (size_t i = 0; keys[k].states != NULL && i < n; i++)
            c->states[k][i] = columns[k].states[c->rest[i]];
    }
    hac_group_keys_load(t, keys, n);
    hac_group_keys_hash(t, n);
    hac_status status = hac_group_find(t, n, err);
    for (size_t i = 0; status == HAC_OK && i < n; i++) {
        uint32_t group = (uint32_t)(t->at[i] / t->layout.stride);
        t->number[c->rest[i]] = group;
        groups[index[c->rest[i]]] = group + 1;
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
    if (c == NULL || c->off || !take(c, &t->layout, columns, rows))
        return HAC_OK;
    bool single = c->n_keys == 1, known = single || (!c->fresh && find_index(c, rows));
    if (!known && !(know_numbers(c, rows) && find_index(c, rows))) {
        c->off = true;
        return HAC_OK;
    }
    const uint32_t *index = single ? single_index(c, rows) : c->index;
    uint32_t *groups = single ? c->keys[0].of_code : c->groups;
    size_t n = find_known(c, groups, index, rows, t->number);
    c->rows += rows;
    c->unknown += n;
    if (c->rows > TRIED && c->unknown > c->rows / 2)
        c->never = c->off = true;
    hac_status status = n > 0 ? find_rest(t, c, columns, groups, index, n, err) : HAC_OK;
    *ret_done = t->numbered = status == HAC_OK;
    return status;
}
