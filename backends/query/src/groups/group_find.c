/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the groups of keys, and adds new ones. */
#include <string.h>

#include "group_direct.h"
#include "group_internal.h"
#include "sources/string_words.h"

/* Above this size of slots and records, those of a batch are prefetched: they no longer fit a core's
 * cache. */
#define PREFETCH_BYTES (UINT64_C(1) << 18)
#define PREFETCH_AHEAD 16u
#define OUTSIDE_PART   16 /* this part of a batch's keys may lie outside the direct range */

/* ---- one word of keys ---- */

static hac_status insert_word(hac_group_table *t, uint64_t key, uint64_t hash, uint64_t *ret_at,
                              hac_error *err)
{
    hac_status status = HAC_OK;
    if (hac_group_is_full(t))
        status = hac_group_grow_slots(t, err);
    if (status == HAC_OK)
        status = hac_group_new(t, err);
    if (status != HAC_OK)
        return status;
    uint64_t mask = t->n_slots - 1, s = hash & mask;
    while (t->word_slots[s].group != 0)
        s = (s + 1) & mask;
    t->word_slots[s] = (hac_word_slot){.key = key, .group = (uint32_t)t->groups, .tag = (uint32_t)hash};
    *ret_at = (t->groups - 1) * t->layout.stride;
    memcpy(t->records + *ret_at, &key, sizeof key);
    return HAC_OK;
}

static inline bool lookup_word(const hac_word_slot *slots, uint64_t mask, uint64_t stride, uint64_t key,
                               uint64_t hash, uint64_t *ret_at)
{
    for (uint64_t s = hash & mask;; s = (s + 1) & mask) {
        uint32_t group = slots[s].group;
        if (slots[s].key == key && group != 0) {
            *ret_at = (uint64_t)(group - 1) * stride;
            return true;
        }
        if (group == 0)
            return false;
    }
}

/* Finds the groups of rows [first, rows), up to the first row whose group is new; returns its number. */
static size_t find_words(hac_group_table *t, size_t first, size_t rows, const uint64_t *keys)
{
    const hac_word_slot *slots = t->word_slots;
    uint64_t mask = t->n_slots - 1, stride = t->layout.stride;
    for (size_t i = first; i < rows; i++)
        if (!lookup_word(slots, mask, stride, keys[i], t->hash[i], &t->at[i]))
            return i;
    return rows;
}

void hac_group_find_or_put(hac_group_table *t, size_t rows, const uint64_t *keys)
{
    hac_word_slot *slots = t->word_slots;
    uint64_t mask = t->n_slots - 1, stride = t->layout.stride;
    for (size_t i = 0; i < rows; i++) {
        uint64_t key = keys[i], hash = t->hash[i], s = hash & mask;
        if (i + PREFETCH_AHEAD < rows)
            __builtin_prefetch(&slots[t->hash[i + PREFETCH_AHEAD] & mask], 1);
        while (slots[s].group != 0 && slots[s].key != key)
            s = (s + 1) & mask;
        uint32_t group = slots[s].group;
        t->at[i] = group == 0 ? hac_group_put(t, &slots[s], key, hash) : (uint64_t)(group - 1) * stride;
        __builtin_prefetch(t->records + t->at[i] + t->layout.rows_offset, 1);
    }
}

/* The same for a small table and a single key, hashing on the way. A slot's number depends on the hash alone,
 * so the loop waits only for loads. */
static size_t find_words_hashing(hac_group_table *t, size_t first, size_t rows, const uint64_t *keys)
{
    const hac_word_slot *slots = t->word_slots;
    uint64_t mask = t->n_slots - 1, stride = t->layout.stride, start = t->hash_start;
    for (size_t i = first; i < rows; i++) {
        uint64_t hash = hac_hash_word(start, keys[i]);
        if (!lookup_word(slots, mask, stride, keys[i], hash, &t->at[i])) {
            t->hash[i] = hash;
            return i;
        }
    }
    return rows;
}

static bool is_small(const hac_group_table *t)
{
    return t->n_slots != 0 && t->n_slots * sizeof(hac_word_slot) <= PREFETCH_BYTES;
}

/* For keys that are not hashed yet. */
static hac_status find_unhashed(hac_group_table *t, size_t rows, const uint64_t *keys, hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; status == HAC_OK && i < rows; i++) {
        i = find_words_hashing(t, i, rows, keys);
        if (i < rows)
            status = insert_word(t, keys[i], t->hash[i], &t->at[i], err);
    }
    return status;
}

/* For keys of a small range: most groups are found without a hash. */
static hac_status find_direct(hac_group_table *t, size_t rows, const uint64_t *keys, hac_error *err)
{
    uint16_t rest[HAC_BATCH_ROWS];
    size_t n = hac_direct_find(t, keys, rows, rest), outside = 0;
    hac_status status = HAC_OK;
    for (size_t r = 0; status == HAC_OK && r < n; r++) {
        size_t i = rest[r];
        uint64_t hash = hac_hash_word(t->hash_start, keys[i]);
        if (t->n_slots == 0 ||
            !lookup_word(t->word_slots, t->n_slots - 1, t->layout.stride, keys[i], hash, &t->at[i]))
            status = insert_word(t, keys[i], hash, &t->at[i], err);
        if (status == HAC_OK)
            outside += !hac_direct_note(t, keys[i], t->at[i]);
    }
    if (outside > rows / OUTSIDE_PART)
        hac_direct_widen(t, keys, rows);
    return status;
}

hac_status hac_group_find_direct(hac_group_table *t, size_t rows, const uint64_t *keys, bool *ret_done,
                                 hac_error *err)
{
    *ret_done = rows != 0 && hac_direct_ready(t, keys, rows);
    return *ret_done ? find_direct(t, rows, keys, err) : HAC_OK;
}

static hac_status find_by_word(hac_group_table *t, size_t rows, const uint64_t *keys, hac_error *err)
{
    hac_status status = HAC_OK;
    if (t->n_slots != 0 && !is_small(t)) {
        status = hac_group_reserve(t, rows, err);
        if (status == HAC_OK)
            hac_group_find_or_put(t, rows, keys);
        return status;
    }
    for (size_t i = 0; status == HAC_OK && i < rows; i++) {
        if (t->n_slots != 0)
            i = find_words(t, i, rows, keys);
        if (i < rows)
            status = insert_word(t, keys[i], t->hash[i], &t->at[i], err);
    }
    return status;
}

/* ---- any keys ---- */

static bool equal_keys(const hac_group_table *t, const uint8_t *record, size_t row, size_t words)
{
    const hac_group_layout *l = &t->layout;
    uint64_t key[2];
    size_t word = 0;
    if (l->n_keys > 1 && memcmp(record, &t->columns[words][row], 8) != 0)
        return false;
    for (size_t k = 0; k < l->n_keys; k++) {
        uint64_t low = t->columns[word][row];
        if (l->keys[k].bits <= 64) {
            if (memcmp(record + l->keys[k].offset, &low, 8) != 0)
                return false;
            word++;
            continue;
        }
        uint64_t high = t->columns[word + 1][row];
        memcpy(key, record + l->keys[k].offset, sizeof key);
        if (l->keys[k].repr == HAC_REPR_STRING ? !hac_string_words_equal(key, low, high)
                                               : key[0] != low || key[1] != high)
            return false;
        word += 2;
    }
    return true;
}

static hac_status put_keys(hac_group_table *t, uint8_t *record, size_t row, size_t words, hac_error *err)
{
    const hac_group_layout *l = &t->layout;
    size_t word = 0;
    hac_status status = HAC_OK;
    if (l->n_keys > 1)
        memcpy(record, &t->columns[words][row], 8);
    for (size_t k = 0; status == HAC_OK && k < l->n_keys; k++) {
        bool two = l->keys[k].bits > 64;
        uint64_t key[2] = {t->columns[word][row], two ? t->columns[word + 1][row] : 0};
        if (l->keys[k].repr == HAC_REPR_STRING)
            status = hac_group_arena_keep(&t->arena, key, err);
        memcpy(record + l->keys[k].offset, key, two ? 16 : 8);
        word += two ? 2 : 1;
    }
    return status;
}

static hac_status insert_any(hac_group_table *t, size_t row, size_t words, hac_error *err)
{
    hac_status status = HAC_OK;
    if (hac_group_is_full(t))
        status = hac_group_grow_slots(t, err);
    if (status == HAC_OK)
        status = hac_group_new(t, err);
    if (status == HAC_OK)
        status = put_keys(t, hac_group_record(t, t->groups - 1), row, words, err);
    if (status != HAC_OK)
        return status;
    uint64_t mask = t->n_slots - 1, s = t->hash[row] & mask;
    while (t->tag_slots[s].group != 0)
        s = (s + 1) & mask;
    t->tag_slots[s] = (hac_tag_slot){.tag = (uint32_t)t->hash[row], .group = (uint32_t)t->groups};
    t->at[row] = (t->groups - 1) * t->layout.stride;
    return HAC_OK;
}

static bool lookup_any(hac_group_table *t, size_t row, size_t words)
{
    uint64_t mask = t->n_slots - 1;
    uint32_t tag = (uint32_t)t->hash[row];
    for (uint64_t s = tag & mask;; s = (s + 1) & mask) {
        hac_tag_slot slot = t->tag_slots[s];
        if (slot.group == 0)
            return false;
        uint64_t at = (uint64_t)(slot.group - 1) * t->layout.stride;
        if (slot.tag == tag && equal_keys(t, t->records + at, row, words)) {
            t->at[row] = at;
            return true;
        }
    }
}

/* For a single string, the most frequent of the other keys. */
static bool lookup_string(hac_group_table *t, uint64_t low, uint64_t high, uint64_t hash, uint64_t *ret_at)
{
    uint64_t mask = t->n_slots - 1, stride = t->layout.stride;
    uint32_t tag = (uint32_t)hash;
    for (uint64_t s = tag & mask;; s = (s + 1) & mask) {
        hac_tag_slot slot = t->tag_slots[s];
        if (slot.group == 0)
            return false;
        uint64_t key[2], at = (uint64_t)(slot.group - 1) * stride;
        if (slot.tag != tag)
            continue;
        memcpy(key, t->records + at, sizeof key);
        if (hac_string_words_equal(key, low, high)) {
            *ret_at = at;
            return true;
        }
    }
}

/* Finds rows whose string is that of the first slot that their hash leads to. No row waits for another one or
 * for a branch. The caller handles the other rows (a longer probe, a long string, a new group), whose numbers
 * are in *rest; returns how many there are. */
static size_t find_first_slots(hac_group_table *t, size_t rows, uint16_t *rest)
{
    const uint64_t *low = t->columns[0], *high = t->columns[1], *hash = t->hash;
    const hac_tag_slot *slots = t->tag_slots;
    const uint8_t *records = t->records;
    uint64_t mask = t->n_slots - 1, stride = t->layout.stride, *to = t->at;
    size_t n = 0;
    for (size_t i = 0; i < rows; i++) {
        uint32_t group = slots[hash[i] & mask].group;
        uint64_t key[2], at = (uint64_t)(group - (group != 0)) * stride;
        memcpy(key, records + at, sizeof key);
        to[i] = at;
        rest[n] = (uint16_t)i;
        n += ((key[0] ^ low[i]) | (key[1] ^ high[i]) | (group == 0)) != 0;
    }
    return n;
}

static hac_status find_strings(hac_group_table *t, size_t rows, hac_error *err)
{
    uint16_t rest[HAC_BATCH_ROWS];
    bool some = t->n_slots != 0 && t->groups != 0;
    size_t n = some ? find_first_slots(t, rows, rest) : rows;
    hac_status status = HAC_OK;
    for (size_t r = 0; status == HAC_OK && r < n; r++) {
        size_t i = some ? rest[r] : r;
        if (t->n_slots == 0 || !lookup_string(t, t->columns[0][i], t->columns[1][i], t->hash[i], &t->at[i]))
            status = insert_any(t, i, 2, err);
    }
    return status;
}

/* The same for keys of one word each; `n_keys` is a compile-time constant. */
static inline __attribute__((always_inline)) size_t find_first_words(hac_group_table *t, size_t n_keys,
                                                                     size_t rows, uint16_t *rest)
{
    const uint64_t *nulls = t->columns[n_keys], *hash = t->hash;
    const hac_tag_slot *slots = t->tag_slots;
    const uint8_t *records = t->records;
    uint64_t mask = t->n_slots - 1, stride = t->layout.stride, *to = t->at;
    size_t n = 0;
    for (size_t i = 0; i < rows; i++) {
        uint32_t group = slots[hash[i] & mask].group;
        uint64_t at = (uint64_t)(group - (group != 0)) * stride, word, differ;
        memcpy(&differ, records + at, sizeof differ);
        differ = (differ ^ nulls[i]) | (group == 0);
        for (size_t k = 0; k < n_keys; k++) {
            memcpy(&word, records + at + t->layout.keys[k].offset, sizeof word);
            differ |= word ^ t->columns[k][i];
        }
        to[i] = at;
        rest[n] = (uint16_t)i;
        n += differ != 0;
    }
    return n;
}

/* For two or three keys of one word each. */
static hac_status find_few_words(hac_group_table *t, size_t rows, hac_error *err)
{
    uint16_t rest[HAC_BATCH_ROWS];
    bool some = t->n_slots != 0 && t->groups != 0;
    size_t keys = t->layout.n_keys, n = rows;
    hac_status status = HAC_OK;
    if (some)
        n = keys == 2 ? find_first_words(t, 2, rows, rest) : find_first_words(t, 3, rows, rest);
    for (size_t r = 0; status == HAC_OK && r < n; r++) {
        size_t i = some ? rest[r] : r;
        if (t->n_slots == 0 || !lookup_any(t, i, keys))
            status = insert_any(t, i, keys, err);
    }
    return status;
}

static void prefetch_slots(const hac_group_table *t, size_t rows)
{
    uint64_t mask = t->n_slots - 1;
    for (size_t i = 0; i < rows; i++)
        __builtin_prefetch(&t->tag_slots[t->hash[i] & mask]);
}

/* Keys are compared in the records: prefetches the records that the slots point to. */
static void prefetch_records(const hac_group_table *t, size_t from, size_t to)
{
    uint64_t mask = t->n_slots - 1, stride = t->layout.stride;
    for (size_t i = from; i < to; i++) {
        uint32_t group = t->tag_slots[t->hash[i] & mask].group;
        if (group != 0)
            __builtin_prefetch(t->records + (uint64_t)(group - 1) * stride, 1);
    }
}

static hac_status find_any(hac_group_table *t, size_t rows, hac_error *err)
{
    const hac_group_layout *l = &t->layout;
    size_t words = 0;
    for (size_t k = 0; k < l->n_keys; k++)
        words += l->keys[k].bits > 64 ? 2 : 1;
    if (l->n_keys == 1 && l->keys[0].repr == HAC_REPR_STRING)
        return find_strings(t, rows, err);
    if (words == l->n_keys && (words == 2 || words == 3))
        return find_few_words(t, rows, err);
    bool ahead = t->n_slots * sizeof(hac_tag_slot) + t->groups * l->stride > PREFETCH_BYTES;
    hac_status status = HAC_OK;
    if (ahead)
        prefetch_slots(t, rows);
    for (size_t i = 0; status == HAC_OK && i < rows; i++) {
        if (ahead && i % PREFETCH_AHEAD == 0)
            prefetch_records(t, i, i + PREFETCH_AHEAD < rows ? i + PREFETCH_AHEAD : rows);
        if (t->n_slots == 0 || !lookup_any(t, i, words))
            status = insert_any(t, i, words, err);
    }
    return status;
}

/* ---- batches ---- */

/* Rows of the null group need no slot. The other rows are found one by one. */
static hac_status find_with_nulls(hac_group_table *t, size_t rows, hac_error *err)
{
    hac_status status = HAC_OK;
    const uint64_t *columns[2] = {t->columns[0], t->columns[1]};
    const uint8_t *states = t->null_states;
    uint64_t keys[2];
    t->columns[0] = &keys[0];
    t->columns[1] = &keys[1];
    uint64_t first_hash = t->hash[0], first_at = 0;
    for (size_t i = 0; status == HAC_OK && i < rows; i++) {
        if (states[i] != 0) {
            if (t->null_group == HAC_NO_GROUP && (status = hac_group_new(t, err)) == HAC_OK)
                t->null_group = t->groups - 1;
            t->at[i] = t->null_group * t->layout.stride;
            first_at = i == 0 ? t->at[0] : first_at;
            continue;
        }
        keys[0] = columns[0][i];
        keys[1] = t->layout.packed ? 0 : columns[1][i];
        t->hash[0] = i == 0 ? first_hash : t->hash[i];
        status = t->layout.packed ? find_by_word(t, 1, keys, err) : find_any(t, 1, err);
        first_at = i == 0 ? t->at[0] : first_at;
        t->at[i] = t->at[0];
    }
    t->at[0] = first_at;
    t->hash[0] = first_hash;
    t->columns[0] = columns[0];
    t->columns[1] = columns[1];
    return status;
}

void hac_group_find_places(hac_group_table *t, size_t rows)
{
    uint64_t stride = t->layout.stride;
    for (size_t i = 0; i < rows; i++)
        t->at[i] = t->number[i] * stride;
}

static bool all_equal(const uint64_t *at, size_t rows)
{
    uint64_t differ = (at[rows / 2] ^ at[0]) | (at[rows / 3] ^ at[0]) | (at[rows - 1] ^ at[0]);
    if (differ != 0)
        return false;
    for (size_t i = 0; i < rows; i++)
        differ |= at[i] ^ at[0];
    return differ == 0;
}

static bool numbers_equal(const uint32_t *numbers, size_t rows)
{
    uint32_t differ = (numbers[rows / 2] ^ numbers[0]) | (numbers[rows - 1] ^ numbers[0]);
    for (size_t i = 0; differ == 0 && i < rows; i++)
        differ |= numbers[i] ^ numbers[0];
    return differ == 0;
}

void hac_group_note_one_group(hac_group_table *t, size_t rows)
{
    t->one_group = t->groups < 64 && (t->numbered ? numbers_equal(t->number, rows) : all_equal(t->at, rows));
}

hac_status hac_group_find(hac_group_table *t, size_t rows, hac_error *err)
{
    const hac_group_layout *l = &t->layout;
    hac_status status = hac_group_leave_slots(t, err);
    if (status != HAC_OK)
        return status;
    if (l->n_keys == 0) {
        status = hac_group_table_ensure(t, err);
        memset(t->at, 0, rows * sizeof *t->at);
    } else if (t->null_states != NULL) {
        status = find_with_nulls(t, rows, err);
    } else if (l->packed) {
        status = find_by_word(t, rows, t->columns[l->n_keys > 1 ? l->n_keys : 0], err);
    } else {
        status = find_any(t, rows, err);
    }
    hac_group_note_one_group(t, rows);
    return status;
}

static hac_status check_partition(const hac_group_table *t, size_t rows, uint32_t partition, hac_error *err)
{
    uint32_t partitions = t->options.partitions, differ = 0;
    for (size_t i = 0; i < rows; i++)
        differ |= hac_hash_partition(t->hash[i], partitions) ^ partition;
    if (differ != 0)
        return hac_fail(err, HAC_INVALID, "a partial has a group in a partition that it does not belong to");
    return HAC_OK;
}

hac_status hac_group_find_all(hac_group_table *t, const hac_column *columns, size_t rows, uint32_t partition,
                              hac_error *err)
{
    hac_status status = hac_group_leave_slots(t, err);
    if (status != HAC_OK)
        return status;
    hac_group_keys_load(t, columns, rows);
    bool word = t->layout.n_keys == 1 && t->layout.packed && t->null_states == NULL;
    if (word && partition == UINT32_MAX) {
        bool done;
        status = hac_group_find_direct(t, rows, t->columns[0], &done, err);
        if (status != HAC_OK || done)
            return status;
    }
    if (word && partition == UINT32_MAX && is_small(t))
        return find_unhashed(t, rows, t->columns[0], err);
    hac_group_keys_hash(t, rows);
    status = partition == UINT32_MAX ? HAC_OK : check_partition(t, rows, partition, err);
    return status == HAC_OK ? hac_group_find(t, rows, err) : status;
}
