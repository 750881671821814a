/* SPDX-License-Identifier: Apache-2.0 */
#include "limit_by_few.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/cleanup.h"
#include "codelet/threads.h"
#include "limit_by.h"
#include "row_keys.h"

#define EACH_MAX   8       /* a group's keys are in an array that is sorted by insertion */
#define RANGES_MAX 8       /* a range must see several rows of most groups */
#define RANGE_MIN  131072u /* rows */
#define FEW        65536u  /* keys, or rows that are left, that are always few enough */
#define PROBES_MAX 64      /* slots that are tried */
#define SLOTS_MIN  1024u   /* a power of two */
#define GROUPS_MAX UINT32_MAX
#define AHEAD      16 /* rows whose slots are fetched in advance */

typedef unsigned __int128 sort_key;

/* Where rows find their group. */
typedef struct group_slot {
    uint64_t hash;
    uint64_t last;  /* with keys: the upper word of the group's last one; rows above it are not left */
    uint32_t group; /* + 1; 0: free */
} group_slot;

/* The groups of rows that were seen. */
typedef struct groups {
    const hac_query *query;
    const hac_rows_reader *rows;
    bool single; /* the hash of a row that is not null says all of its one column */
    group_slot *slots;
    uint64_t n_slots;
    group_slot null_slot; /* with `single` */
    uint64_t *first;      /* for each group, the place of a row */
    uint32_t *count;
    /* limit_each of each group, ascending; while there are fewer, the largest key there is. NULL: not kept */
    sort_key *keys;
    uint32_t n, capacity;
} groups;

/* The rows of a range that may be left. */
typedef struct limit_range {
    size_t first_block, n_blocks;
    uint64_t rows;
    groups g;
    hac_row_entry *left;
    uint32_t *group; /* of each */
    uint64_t n, capacity;
    bool given_up;
} limit_range;

typedef struct few {
    const hac_query *query;
    const hac_rows_reader *rows;
    hac_row_keys keys;
    limit_range ranges[RANGES_MAX];
    size_t n_ranges;
} few;

/* ---- groups -------------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t h) /* a permutation of all words */
{
    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return h ^ h >> 32;
}

/* Of a value in the form of hac_rows_value; a string's depends on all its bytes. */
static inline uint64_t hash_value(hac_repr repr, const uint64_t words[2])
{
    if (repr == HAC_REPR_STRING)
        return XXH3_64bits((const void *)(uintptr_t)words[0], words[1]);
    uint64_t word = hac_row_order_word(repr, words);
    return repr == HAC_REPR_I128 ? mix(word) ^ words[0] : word;
}

/* The hashes of a row's columns so far, and whether its last column is null. */
static inline void add_hash(uint64_t *hash, bool *null, bool first, uint64_t value, bool value_null)
{
    uint64_t before = first ? 0 : mix(*hash + *null);
    *hash = before ^ (value_null ? 0 : value);
    *null = value_null;
}

static uint64_t hash_row(const groups *g, uint64_t at, bool *ret_null)
{
    uint64_t hash = 0, words[2];
    for (size_t i = 0; i < g->query->n_limit_by; i++) {
        uint16_t column = g->query->limit_by[i];
        bool null = hac_rows_value(g->rows, at / HAC_BATCH_ROWS, (uint32_t)(at % HAC_BATCH_ROWS), column,
                                   words) != HAC_ROW_OK;
        uint64_t value = null ? 0 : hash_value((hac_repr)g->rows->repr[column], words);
        add_hash(&hash, ret_null, i == 0, value, null);
    }
    return mix(hash);
}

/* The same for all rows of a block. */
static void hash_rows(const groups *g, size_t block, uint64_t *hashes, bool *nulls)
{
    const hac_rows_place *place = &g->rows->blocks[block];
    for (size_t i = 0; i < g->query->n_limit_by; i++) {
        uint16_t c = g->query->limit_by[i];
        const hac_rows_column_place *column = &place->columns[c];
        hac_repr repr = (hac_repr)g->rows->repr[c];
        bool integers = (repr == HAC_REPR_I64 || repr == HAC_REPR_U64) && column->states == 0;
        const uint8_t *from = place->region + column->values;
        uint64_t words[2], sign = repr == HAC_REPR_I64 ? UINT64_C(1) << 63 : 0;
        for (uint32_t row = 0; integers && row < place->rows; row++) {
            memcpy(words, from + row * sizeof *words, sizeof *words);
            add_hash(&hashes[row], &nulls[row], i == 0, words[0] ^ sign, false);
        }
        for (uint32_t row = 0; !integers && row < place->rows; row++) {
            bool null = hac_rows_value(g->rows, block, row, c, words) != HAC_ROW_OK;
            uint64_t value = null ? 0 : hash_value(repr, words);
            add_hash(&hashes[row], &nulls[row], i == 0, value, null);
        }
    }
    for (uint32_t row = 0; row < place->rows; row++)
        hashes[row] = mix(hashes[row]);
}

static void groups_init(const hac_query *query, const hac_rows_reader *rows, groups *ret)
{
    hac_repr repr = (hac_repr)rows->repr[query->limit_by[0]];
    *ret = (groups){.query = query, .rows = rows};
    ret->single = query->n_limit_by == 1 && repr != HAC_REPR_STRING && repr != HAC_REPR_I128;
}

static void groups_clear(groups *g)
{
    free(g->slots);
    free(g->first);
    free(g->count);
    free(g->keys);
}

static bool grow_slots(groups *g)
{
    uint64_t n = g->n_slots == 0 ? SLOTS_MIN : 2 * g->n_slots;
    group_slot *slots = calloc(n, sizeof *slots);
    if (slots == NULL)
        return false;
    for (uint64_t i = 0; i < g->n_slots; i++) {
        if (g->slots[i].group == 0)
            continue;
        uint64_t at = g->slots[i].hash & (n - 1);
        while (slots[at].group != 0)
            at = (at + 1) & (n - 1);
        slots[at] = g->slots[i];
    }
    free(g->slots);
    g->slots = slots;
    g->n_slots = n;
    return true;
}

static bool grow_groups(groups *g, bool with_keys)
{
    uint32_t capacity = g->capacity == 0 ? SLOTS_MIN : 2 * g->capacity;
    uint64_t *first = realloc(g->first, capacity * sizeof *first);
    g->first = first != NULL ? first : g->first;
    uint32_t *count = realloc(g->count, capacity * sizeof *count);
    g->count = count != NULL ? count : g->count;
    sort_key *keys = NULL;
    if (with_keys) {
        keys = realloc(g->keys, capacity * g->query->limit_each * sizeof *keys);
        g->keys = keys != NULL ? keys : g->keys;
    }
    g->capacity = first != NULL && count != NULL && (keys != NULL || !with_keys) ? capacity : g->capacity;
    return g->capacity == capacity;
}

static void add_group(groups *g, group_slot *slot, uint64_t hash, uint64_t at)
{
    uint64_t each = g->query->limit_each;
    if (g->keys != NULL)
        memset(g->keys + g->n * each, UINT8_MAX, each * sizeof *g->keys);
    g->first[g->n] = at;
    g->count[g->n] = 0;
    *slot = (group_slot){.hash = hash, .last = UINT64_MAX, .group = ++g->n};
}

/* The slot of a row's group, with room for one more group; NULL: hashes collide too often. */
static group_slot *find_slot(groups *g, uint64_t hash, bool null, uint64_t at)
{
    if (g->single && null) {
        if (g->null_slot.group == 0)
            add_group(g, &g->null_slot, hash, at);
        return &g->null_slot;
    }
    uint64_t mask = g->n_slots - 1, i = hash & mask;
    for (unsigned probes = 0; probes < PROBES_MAX; probes++, i = (i + 1) & mask) {
        group_slot *slot = &g->slots[i];
        if (slot->group == 0) {
            add_group(g, slot, hash, at);
            return slot;
        }
        if (slot->hash == hash &&
            (g->single || hac_limit_by_alike(g->query, g->rows, g->first[slot->group - 1], at)))
            return slot;
    }
    return NULL;
}

/* Makes room for `more` groups. */
static bool reserve(groups *g, uint32_t more, bool with_keys)
{
    bool good = true;
    while (good && g->n + UINT64_C(1) * more > g->capacity)
        good = grow_groups(g, with_keys);
    while (good && 2 * ((uint64_t)g->n + more) > g->n_slots)
        good = grow_slots(g);
    return good;
}

/* ---- rows of a range ----------------------------------------------------------------------------------- */

static sort_key key_of(const hac_row_entry *entry)
{
    return (sort_key)entry->high << 64 | entry->low;
}

/* Whether the row may be left, by the keys of its group so far; takes its key if it is among the smallest. */
static bool take_key(groups *g, uint32_t group, sort_key key, bool complete)
{
    uint64_t each = g->query->limit_each, i;
    sort_key *keys = g->keys + group * each;
    if (key > keys[each - 1]) /* of fewer keys the last one is the largest there is */
        return false;
    if (key == keys[each - 1] && g->count[group] == each)
        return !complete;
    for (i = g->count[group] == each ? each - 1 : g->count[group]++; i > 0 && keys[i - 1] > key; i--)
        keys[i] = keys[i - 1];
    keys[i] = key;
    return true;
}

/* Drops rows which later rows of their groups have displaced. */
static void compact(limit_range *r)
{
    uint64_t n = 0, each = r->g.query->limit_each;
    for (uint64_t i = 0; i < r->n; i++) {
        uint32_t group = r->group[i];
        if (key_of(&r->left[i]) > r->g.keys[(group + UINT64_C(1)) * each - 1])
            continue;
        r->left[n] = r->left[i];
        r->group[n++] = group;
    }
    r->n = n;
}

static uint64_t left_max(const limit_range *r)
{
    return r->rows / 4 + FEW;
}

/* Makes room for the rows of a block. False: there is no memory, or with `given_up` too many are left. */
static bool reserve_left(limit_range *r)
{
    if (r->n + HAC_BATCH_ROWS <= r->capacity)
        return true;
    compact(r);
    r->given_up = r->n > left_max(r);
    if (r->given_up || 2 * (r->n + HAC_BATCH_ROWS) <= r->capacity)
        return !r->given_up;
    uint64_t capacity = 4 * (r->n + HAC_BATCH_ROWS);
    hac_row_entry *left = realloc(r->left, capacity * sizeof *left);
    r->left = left != NULL ? left : r->left;
    uint32_t *group = realloc(r->group, capacity * sizeof *group);
    r->group = group != NULL ? group : r->group;
    if (left == NULL || group == NULL)
        return false;
    r->capacity = capacity;
    return true;
}

/* A row that may be left, by what its slot says. */
typedef struct candidate {
    group_slot *slot;
    const hac_row_entry *entry;
} candidate;

/* Finds the groups of a block's rows, for which there is room, and lists rows that may be left. False: too
 * many rows or groups. */
static bool find_candidates(limit_range *r, const hac_row_entry *entries, const uint64_t *hashes,
                            const bool *nulls, uint32_t rows, candidate *ret, size_t *ret_n)
{
    groups *g = &r->g;
    const group_slot *slots = g->slots;
    uint64_t mask = g->n_slots - 1, each = g->query->limit_each;
    size_t n = 0;
    for (uint32_t i = 0; i < rows; i++) {
        if (i + AHEAD < rows)
            __builtin_prefetch(&slots[hashes[i + AHEAD] & mask]);
        group_slot *slot = find_slot(g, hashes[i], nulls[i], entries[i].at);
        if (slot == NULL)
            return false;
        ret[n] = (candidate){slot, &entries[i]};
        if (entries[i].high > slot->last)
            continue;
        __builtin_prefetch(&g->keys[slot->group * each - 1], 1);
        n++;
    }
    *ret_n = n;
    return g->n * each <= left_max(r);
}

/* As reserve_left. */
static bool read_block(const few *f, limit_range *r, size_t block)
{
    hac_row_entry entries[HAC_BATCH_ROWS];
    candidate found[HAC_BATCH_ROWS];
    uint64_t hashes[HAC_BATCH_ROWS], each = f->query->limit_each;
    bool nulls[HAC_BATCH_ROWS];
    uint32_t rows = f->rows->blocks[block].rows;
    size_t n = 0;
    hac_row_keys_of_block(&f->keys, block, entries);
    hash_rows(&r->g, block, hashes, nulls);
    if (!reserve(&r->g, rows, true))
        return false;
    r->given_up = !find_candidates(r, entries, hashes, nulls, rows, found, &n);
    for (size_t i = 0; i < n && !r->given_up; i++) {
        uint32_t group = found[i].slot->group - 1;
        if (!take_key(&r->g, group, key_of(found[i].entry), f->keys.complete))
            continue;
        found[i].slot->last = (uint64_t)(r->g.keys[(group + UINT64_C(1)) * each - 1] >> 64);
        r->left[r->n] = *found[i].entry;
        r->group[r->n++] = group;
    }
    return !r->given_up;
}

static hac_status read_range(void *context, uint64_t item, unsigned worker, hac_error *err)
{
    const few *f = context;
    limit_range *r = &((few *)context)->ranges[item];
    bool good = true;
    (void)worker;
    for (size_t b = 0; good && b < r->n_blocks; b++)
        good = reserve_left(r) && read_block(f, r, r->first_block + b);
    if (!good && !r->given_up)
        return hac_fail_no_memory(err);
    if (good)
        compact(r);
    return HAC_OK;
}

/* ---- all rows ------------------------------------------------------------------------------------------ */

static void divide(few *f)
{
    uint64_t n = f->rows->rows / RANGE_MIN + 1, threads = hac_pool_threads();
    n = n < threads ? n : threads;
    n = n < RANGES_MAX ? n : RANGES_MAX;
    size_t block = 0;
    for (uint64_t i = 0; i < n; i++) {
        limit_range *r = &f->ranges[f->n_ranges++];
        size_t end = (size_t)(f->rows->n_blocks * (i + 1) / n);
        r->first_block = block;
        r->n_blocks = end - block;
        groups_init(f->query, f->rows, &r->g);
        for (; block < end; block++)
            r->rows += f->rows->blocks[block].rows;
    }
}

/* Puts the rows that the ranges left into `order`, the first ones of each group. */
static hac_status pick(const few *f, const hac_row_entry *left, uint64_t n, uint64_t *order, uint64_t *ret_n,
                       bool *ret_done, hac_error *err)
{
    groups g;
    uint64_t kept = 0;
    bool good = true, collide = false;
    groups_init(f->query, f->rows, &g);
    for (uint64_t i = 0; i < n && good && !collide; i++) {
        bool null = false;
        uint64_t hash = hash_row(&g, left[i].at, &null);
        good = reserve(&g, 1, false);
        const group_slot *slot = good ? find_slot(&g, hash, null, left[i].at) : NULL;
        collide = good && slot == NULL;
        if (slot != NULL && g.count[slot->group - 1]++ < f->query->limit_each)
            order[kept++] = left[i].at;
    }
    groups_clear(&g);
    *ret_done = good && !collide;
    *ret_n = *ret_done ? kept : *ret_n;
    return good ? HAC_OK : hac_fail_no_memory(err);
}

static hac_status sort_and_pick(const few *f, uint64_t *order, uint64_t *ret_n, bool *ret_done,
                                hac_error *err)
{
    uint64_t n = 0;
    for (size_t i = 0; i < f->n_ranges; i++)
        n += f->ranges[i].n;
    hac_autofree hac_row_entry *left = malloc((n + HAC_ROW_SORT_SPACE(n)) * sizeof *left);
    if (left == NULL)
        return hac_fail_no_memory(err);
    n = 0;
    for (size_t i = 0; i < f->n_ranges; i++) {
        if (f->ranges[i].n > 0)
            memcpy(left + n, f->ranges[i].left, f->ranges[i].n * sizeof *left);
        n += f->ranges[i].n;
    }
    return pick(f, hac_row_sort(&f->keys, left, n, left + n), n, order, ret_n, ret_done, err);
}

hac_status hac_limit_by_few(const hac_query *query, const hac_rows_reader *rows, uint64_t *order,
                            uint64_t *ret_n, bool *ret_done, hac_error *err)
{
    *ret_done = false;
    if (query->limit_each == 0 || query->limit_each > EACH_MAX || rows->rows >= GROUPS_MAX ||
        query->limit < rows->rows)
        return HAC_OK;
    few *f = calloc(1, sizeof *f);
    if (f == NULL)
        return hac_fail_no_memory(err);
    f->query = query;
    f->rows = rows;
    hac_row_keys_init(query, rows, &f->keys);
    divide(f);
    hac_status status = hac_pool_run(f->n_ranges, read_range, f, err);
    bool given_up = false;
    for (size_t i = 0; i < f->n_ranges; i++)
        given_up |= f->ranges[i].given_up;
    if (status == HAC_OK && !given_up)
        status = sort_and_pick(f, order, ret_n, ret_done, err);
    for (size_t i = 0; i < f->n_ranges; i++) {
        groups_clear(&f->ranges[i].g);
        free(f->ranges[i].left);
        free(f->ranges[i].group);
    }
    free(f);
    return status;
}
