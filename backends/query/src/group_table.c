/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "group_direct.h"
#include "plain_slots.h"
#include "string_words.h"

#define FIRST_SLOTS  1024u
#define FIRST_GROUPS 256u
/* Above so many bytes of slots and records a batch's are fetched ahead: they no longer lie in a core's cache.
 */
#define PREFETCH_BYTES (UINT64_C(1) << 18)
#define PREFETCH_AHEAD 16u
#define OUTSIDE_PART   16 /* of a batch's keys may lie outside of the range of most */
#define ARENA_MIN      4096u
#define ARENA_MAX      (1u << 20)

HAC_DEFINE_CLEANUP(hac_group_table *, hac_group_table_free)

/* ---- memory ---- */

static hac_status over_limit(const hac_group_table *t, hac_error *err)
{
    return hac_fail(err, HAC_NO_MEMORY, "the groups need more than the %llu bytes of memory that they have",
                    (unsigned long long)t->options.memory);
}

void *hac_group_resize(hac_group_table *t, void *old, uint64_t old_bytes, uint64_t bytes, hac_error *err)
{
    bool overflown = bytes == 0; /* nobody asks for nothing */
    if (overflown || bytes > t->options.memory || t->used - old_bytes > t->options.memory - bytes) {
        over_limit(t, err);
        return NULL;
    }
    void *memory = realloc(old, bytes);
    if (memory == NULL)
        hac_fail_no_memory(err);
    else
        t->used += bytes - old_bytes;
    return memory;
}

uint8_t *hac_group_arena_alloc(hac_group_table *t, size_t bytes, hac_error *err)
{
    hac_arena_block *block = t->arena;
    if (block == NULL || block->room - block->used < bytes) {
        size_t room = block == NULL ? ARENA_MIN : (block->room < ARENA_MAX ? block->room * 2 : ARENA_MAX);
        room = bytes > room ? bytes : room;
        hac_arena_block *fresh = hac_group_resize(t, NULL, 0, sizeof *fresh + room, err);
        if (fresh == NULL)
            return NULL;
        *fresh = (hac_arena_block){.next = block, .room = room};
        t->arena = block = fresh;
    }
    block->used += bytes;
    return block->data + block->used - bytes;
}

hac_status hac_arena_keep(hac_group_table *t, uint64_t words[2], hac_error *err)
{
    uint32_t n = (uint32_t)words[0];
    if (n <= HAC_STRING_SHORT)
        return HAC_OK;
    uint8_t *copy = hac_group_arena_alloc(t, n, err);
    if (copy == NULL)
        return HAC_NO_MEMORY;
    memcpy(copy, (const void *)(uintptr_t)words[1], n);
    words[1] = (uint64_t)(uintptr_t)copy;
    return HAC_OK;
}

static void clear_arena(hac_group_table *t)
{
    for (hac_arena_block *b = t->arena, *next; b != NULL; b = next) {
        next = b->next;
        t->used -= sizeof *b + b->room;
        free(b);
    }
    t->arena = NULL;
}

static size_t slot_bytes(const hac_group_table *t)
{
    return t->layout.packed ? sizeof(hac_word_slot) : sizeof(hac_tag_slot);
}

hac_status hac_group_table_new(const hac_query *query, const hac_group_options *options,
                               hac_group_table **ret, hac_error *err)
{
    if (options->partitions == 0 || options->partitions > 4096 ||
        (options->partitions & (options->partitions - 1)) != 0)
        return hac_fail(err, HAC_INVALID, "%u partitions; a power of two up to 4096 is possible",
                        options->partitions);
    if (options->passes > 1 && options->pass >= options->passes)
        return hac_fail(err, HAC_INVALID, "pass %u of %u", options->pass, options->passes);
    hac_cleanup(hac_group_table_free_cleanup) hac_group_table *t = calloc(1, sizeof *t);
    if (t == NULL)
        return hac_fail_no_memory(err);
    t->options = *options;
    t->null_group = HAC_NO_GROUP;
    t->hash_start = hac_hash_start(options->seed);
    hac_status status = hac_group_layout_init(query, &t->layout, err);
    if (status != HAC_OK)
        return status;
    /* columns' words, the compared word, and the null bytes of hac_group_keys_load_records */
    size_t words = t->layout.key_words + 2 * t->layout.n_keys + 4;
    t->words = aligned_alloc(64, words * HAC_BATCH_ROWS * sizeof *t->words);
    t->sets = calloc(t->layout.n_sets + 1, sizeof *t->sets);
    t->empty = malloc(t->layout.stride);
    if (t->words == NULL || t->sets == NULL || t->empty == NULL)
        return hac_fail_no_memory(err);
    hac_group_layout_empty(&t->layout, t->empty);
    *ret = hac_steal_ptr(t);
    return HAC_OK;
}

void hac_group_table_free(hac_group_table *t)
{
    if (t == NULL)
        return;
    for (uint32_t i = 0; t->sets != NULL && i < t->layout.n_sets; i++)
        hac_value_set_clear(t, &t->sets[i]);
    clear_arena(t);
    free(t->sets);
    free(t->empty);
    free(t->words);
    free(t->word_slots);
    free(t->direct.groups);
    free(t->records);
    free(t->slots.records);
    free(t->slots.places);
    free(t->scratch);
    free(t->repeats);
    free(t->pieces);
    hac_group_results_free(t->results);
    hac_group_layout_clear(&t->layout);
    free(t);
}

void hac_group_table_reset(hac_group_table *t)
{
    if (t->n_slots != 0)
        memset(t->word_slots, 0, t->n_slots * slot_bytes(t));
    hac_plain_slots_reset(t);
    hac_direct_reset(&t->direct);
    for (uint32_t i = 0; i < t->layout.n_sets; i++)
        hac_value_set_reset(&t->sets[i]);
    clear_arena(t);
    t->groups = 0;
    t->null_group = HAC_NO_GROUP;
}

uint64_t hac_group_table_groups(const hac_group_table *table)
{
    return table->groups;
}

/* ---- growing ---- */

static void rehash(hac_group_table *t, void *slots, uint64_t n)
{
    uint64_t mask = n - 1;
    for (uint64_t i = 0; t->layout.packed && i < t->n_slots; i++) {
        if (t->word_slots[i].group == 0)
            continue;
        hac_word_slot *to = slots;
        uint64_t s = t->word_slots[i].tag & mask;
        while (to[s].group != 0)
            s = (s + 1) & mask;
        to[s] = t->word_slots[i];
    }
    for (uint64_t i = 0; !t->layout.packed && i < t->n_slots; i++) {
        if (t->tag_slots[i].group == 0)
            continue;
        hac_tag_slot *to = slots;
        uint64_t s = t->tag_slots[i].tag & mask;
        while (to[s].group != 0)
            s = (s + 1) & mask;
        to[s] = t->tag_slots[i];
    }
}

static hac_status grow_slots(hac_group_table *t, hac_error *err)
{
    uint64_t n = t->n_slots == 0 ? FIRST_SLOTS : t->n_slots * 2, bytes = n * slot_bytes(t);
    if (n > UINT64_C(1) << 32)
        return hac_fail(err, HAC_NO_MEMORY, "a table has more than 2^31 groups");
    if (bytes > t->options.memory || t->used > t->options.memory - bytes)
        return over_limit(t, err);
    void *slots = calloc(n, slot_bytes(t));
    if (slots == NULL)
        return hac_fail_no_memory(err);
    rehash(t, slots, n);
    free(t->word_slots);
    t->word_slots = slots;
    t->used += bytes - t->n_slots * slot_bytes(t);
    t->n_slots = n;
    return HAC_OK;
}

static hac_status grow_records(hac_group_table *t, hac_error *err)
{
    uint64_t room = t->room == 0 ? FIRST_GROUPS : t->room * 2, stride = t->layout.stride;
    if (t->room == 0 && stride > 4096)
        room = 4;
    uint8_t *records = hac_group_resize(t, t->records, t->room * stride, room * stride, err);
    if (records == NULL)
        return HAC_NO_MEMORY;
    t->records = records;
    t->room = room;
    return HAC_OK;
}

/* A new, empty group; its keys are the caller's to fill in. */
static hac_status new_group(hac_group_table *t, hac_error *err)
{
    if (t->groups == t->room) {
        hac_status status = grow_records(t, err);
        if (status != HAC_OK)
            return status;
    }
    hac_group_copy_record(hac_group_record(t, t->groups), t->empty, t->layout.stride);
    t->groups++;
    return HAC_OK;
}

hac_status hac_group_table_ensure(hac_group_table *t, hac_error *err)
{
    if (t->layout.n_keys != 0 || t->groups != 0)
        return HAC_OK;
    return new_group(t, err);
}

/*
 * A probe that has to go on is a mispredicted branch: small tables are kept sparse. Large ones would pay for
 * it with cache misses.
 */
static bool is_full(const hac_group_table *t)
{
    uint64_t bytes = t->n_slots * slot_bytes(t);
    unsigned spare = bytes < (UINT64_C(1) << 17) ? 8 : (bytes < (UINT64_C(1) << 18) ? 3 : 2);
    return t->groups * spare >= t->n_slots;
}

/* ---- one word of keys ---- */

static hac_status insert_word(hac_group_table *t, uint64_t key, uint64_t hash, uint64_t *ret_at,
                              hac_error *err)
{
    hac_status status = HAC_OK;
    if (is_full(t))
        status = grow_slots(t, err);
    if (status == HAC_OK)
        status = new_group(t, err);
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

/* Finds rows [first, rows) up to one that is of no group yet; returns its number. */
static size_t find_words(hac_group_table *t, size_t first, size_t rows, const uint64_t *keys)
{
    const hac_word_slot *slots = t->word_slots;
    uint64_t mask = t->n_slots - 1, stride = t->layout.stride;
    for (size_t i = first; i < rows; i++)
        if (!lookup_word(slots, mask, stride, keys[i], t->hash[i], &t->at[i]))
            return i;
    return rows;
}

hac_status hac_group_reserve_records(hac_group_table *t, size_t rows, hac_error *err)
{
    hac_status status = HAC_OK;
    while (status == HAC_OK && t->groups + rows > t->room)
        status = grow_records(t, err);
    return status;
}

hac_status hac_group_reserve(hac_group_table *t, size_t rows, hac_error *err)
{
    hac_status status = HAC_OK;
    while (status == HAC_OK && (t->n_slots == 0 || is_full(t) || (t->groups + rows) * 2 > t->n_slots))
        status = grow_slots(t, err);
    return status == HAC_OK ? hac_group_reserve_records(t, rows, err) : status;
}

hac_status hac_group_index(hac_group_table *t, hac_error *err)
{
    if (t->n_slots != 0)
        memset(t->word_slots, 0, t->n_slots * slot_bytes(t));
    hac_status status = hac_group_reserve(t, 0, err);
    for (uint64_t g = 0; status == HAC_OK && g < t->groups; g++) {
        uint64_t key, mask = t->n_slots - 1;
        memcpy(&key, hac_group_record(t, g), sizeof key);
        uint64_t hash = hac_hash_word(t->hash_start, key), s = hash & mask;
        while (t->word_slots[s].group != 0)
            s = (s + 1) & mask;
        t->word_slots[s] = (hac_word_slot){.key = key, .group = (uint32_t)g + 1, .tag = (uint32_t)hash};
    }
    return status;
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

/*
 * The same for a small table and a single key: hashed on the way. A slot's number comes from the hash alone,
 * so nothing waits for anything but the loads.
 */
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

/* Keys whose hashes are not there yet. */
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

/* Keys of a small range: most groups are found without a hash. */
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
            status = hac_arena_keep(t, key, err);
        memcpy(record + l->keys[k].offset, key, two ? 16 : 8);
        word += two ? 2 : 1;
    }
    return status;
}

static hac_status insert_any(hac_group_table *t, size_t row, size_t words, hac_error *err)
{
    hac_status status = HAC_OK;
    if (is_full(t))
        status = grow_slots(t, err);
    if (status == HAC_OK)
        status = new_group(t, err);
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

/* A single string: the most frequent of the others. */
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

/*
 * Rows whose string is that of the first slot that their hash leads to. No row waits for another, nor for a
 * branch: what else there may be (a probe that goes on, a long string, a new group) is left to the caller.
 * Returns how many rows are in *rest.
 */
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

static void prefetch_slots(const hac_group_table *t, size_t rows)
{
    uint64_t mask = t->n_slots - 1;
    for (size_t i = 0; i < rows; i++)
        __builtin_prefetch(&t->tag_slots[t->hash[i] & mask]);
}

/* The records are looked at to compare keys: those that the slots point to are fetched ahead, too. */
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

/* Rows of the null group are found without the slots; the others are taken together and put back. */
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
            if (t->null_group == HAC_NO_GROUP && (status = new_group(t, err)) == HAC_OK)
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

static bool all_equal(const uint64_t *at, size_t rows)
{
    uint64_t differ = (at[rows / 2] ^ at[0]) | (at[rows / 3] ^ at[0]) | (at[rows - 1] ^ at[0]);
    if (differ != 0)
        return false;
    for (size_t i = 0; i < rows; i++)
        differ |= at[i] ^ at[0];
    return differ == 0;
}

static void note_one_group(hac_group_table *t, size_t rows)
{
    t->one_group = t->groups < 64 && all_equal(t->at, rows);
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
    note_one_group(t, rows);
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

static hac_status find_all(hac_group_table *t, const hac_vector *columns, size_t rows, uint32_t partition,
                           hac_error *err)
{
    hac_status status = hac_group_leave_slots(t, err);
    if (status != HAC_OK)
        return status;
    hac_group_keys_load(t, columns, rows);
    bool word = t->layout.n_keys == 1 && t->layout.packed && t->null_states == NULL;
    if (word && partition == UINT32_MAX && hac_direct_ready(t, t->columns[0], rows))
        return find_direct(t, rows, t->columns[0], err);
    if (word && partition == UINT32_MAX && is_small(t))
        return find_unhashed(t, rows, t->columns[0], err);
    hac_group_keys_hash(t, rows);
    status = partition == UINT32_MAX ? HAC_OK : check_partition(t, rows, partition, err);
    return status == HAC_OK ? hac_group_find(t, rows, err) : status;
}

hac_status hac_group_add(hac_group_table *t, const hac_vector *columns, size_t rows, uint32_t partition,
                         hac_error *err)
{
    bool found = false;
    hac_status status =
        partition == UINT32_MAX ? hac_group_find_repeats(t, columns, rows, &found, err) : HAC_OK;
    if (status == HAC_OK && !found)
        status = find_all(t, columns, rows, partition, err);
    if (status == HAC_OK)
        note_one_group(t, rows);
    if (status == HAC_OK)
        status = hac_group_accumulate(t, columns, rows, err);
    return status;
}

/* ---- passes ---- */

static void copy_row(hac_vector *to, size_t n, const hac_vector *from, size_t row, size_t size)
{
    memcpy((uint8_t *)to->values + n * size, (const uint8_t *)from->values + row * size, size);
    if (from->states != NULL)
        to->states[n] = from->states[row];
}

/* The rows whose hash is of this pass, as vectors of their own. */
hac_status hac_group_keep_pass(hac_group_table *t, const hac_vector *columns, size_t rows,
                               const hac_vector **ret, size_t *ret_rows, hac_error *err)
{
    size_t n_columns = t->layout.query->rows->n_outputs, n = 0;
    size_t values = n_columns * 16 * HAC_BATCH_ROWS, states = n_columns * HAC_BATCH_ROWS;
    if (t->pieces == NULL)
        t->pieces = malloc(n_columns * sizeof(hac_vector) + values + states + 64);
    if (t->pieces == NULL)
        return hac_fail_no_memory(err);
    hac_vector *kept = t->pieces;
    uint8_t *memory = (uint8_t *)(kept + n_columns);
    memory += -(uintptr_t)memory & 15;
    for (size_t c = 0; c < n_columns; c++) {
        kept[c] = columns[c];
        kept[c].values = memory + c * 16 * HAC_BATCH_ROWS;
        kept[c].states = columns[c].states == NULL ? NULL : memory + values + c * HAC_BATCH_ROWS;
    }
    hac_group_keys_load(t, columns, rows);
    hac_group_keys_hash(t, rows);
    for (size_t i = 0; i < rows; i++) {
        if (hac_hash_pass(t->hash[i], t->options.passes) != t->options.pass)
            continue;
        for (size_t c = 0; c < n_columns; c++)
            copy_row(&kept[c], n, &columns[c], i, hac_repr_size(hac_repr_of(columns[c].type)));
        n++;
    }
    *ret = kept;
    *ret_rows = n;
    return HAC_OK;
}

hac_status hac_group_table_add(hac_group_table *table, const hac_vector *columns, size_t rows, hac_error *err)
{
    if (table->options.passes > 1) {
        hac_status status = hac_group_keep_pass(table, columns, rows, &columns, &rows, err);
        if (status != HAC_OK)
            return status;
    }
    return rows == 0 ? HAC_OK : hac_group_add(table, columns, rows, UINT32_MAX, err);
}
