/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of the group table share: group_table.c (memory, slots, probing), group_keys.c (keys as
 * words, hashes), accumulate.c (rows to accumulators), value_set.c, group_merge.c (partials),
 * group_results.c.
 */
#ifndef QUERY_GROUP_INTERNAL_H
#define QUERY_GROUP_INTERNAL_H

#include "query/group_table.h"
#include "query/hash.h"
#include "query/layout.h"
#include "query/partial.h"

/* Records are of 64-bit words, 128-bit sums lie at multiples of 8. */
typedef __int128 hac_i128 __attribute__((aligned(8)));

#define HAC_NO_GROUP UINT64_MAX

/* ---- memory that strings are copied to ---- */

typedef struct hac_arena_block {
    struct hac_arena_block *next;
    size_t used, room;
    uint8_t data[];
} hac_arena_block;

/* ---- distinct values of groups, with counts ---- */

typedef struct hac_value_entry {
    uint64_t words[2];
    uint64_t count;
    uint32_t next; /* entry of the same group + 1, in the order of their coming; 0: the last */
    uint32_t group;
} hac_value_entry;

typedef struct hac_value_set {
    hac_value_entry *entries;
    uint32_t n, room;
    struct hac_value_slot {
        uint32_t tag, entry; /* entry + 1; 0: free */
    } * slots;
    uint64_t mask;
} hac_value_set;

/* The accumulator of a set in a record. */
typedef struct hac_value_list {
    uint32_t first, last; /* entries + 1 */
    uint64_t n;
} hac_value_list;

/* ---- the table ---- */

/* One word of keys. */
typedef struct hac_word_slot {
    uint64_t key;
    uint32_t group; /* + 1; 0: free */
    uint32_t tag;   /* low bits of the hash */
} hac_word_slot;

/* Any keys; they are in the record. */
typedef struct hac_tag_slot {
    uint32_t tag, group;
} hac_tag_slot;

/* Groups of keys of a small range (group_direct.h). */
typedef struct hac_direct {
    uint32_t *groups;   /* of key `low` + i: group + 1; 0: none is known */
    uint64_t low, span; /* keys; span 0: there is no array yet */
    bool off;           /* keys are too far apart */
} hac_direct;

/* Where a group is, and the upper half of its hash, which says its partition. */
typedef struct hac_plain_place {
    uint32_t slot, hash;
} hac_plain_place;

/* Records that are slots themselves (plain_slots.h). */
typedef struct hac_plain_slots {
    uint8_t *records;        /* n of the layout's stride; zeros where the count of rows is 0: free */
    hac_plain_place *places; /* of each group */
    uint64_t n, room;        /* slots, a power of two or 0; places */
    uint64_t used;           /* groups that were here */
    bool on;                 /* the groups are here, and not in the table's records */
    bool off;                /* not for these groups: until the table is reset */
    bool unindexed;          /* the groups came back, and word_slots does not lead to them */
} hac_plain_slots;

struct hac_group_table {
    hac_group_layout layout;
    hac_group_options options;
    uint64_t hash_start;
    uint64_t used; /* bytes of memory, of options.memory */

    uint8_t *empty; /* a record without rows */
    uint8_t *records;
    uint64_t groups, room; /* records */
    uint64_t null_group;   /* of a single key; HAC_NO_GROUP */
    union {
        hac_word_slot *word_slots; /* layout.packed */
        hac_tag_slot *tag_slots;
    };
    uint64_t n_slots; /* a power of two */
    hac_plain_slots slots;
    hac_direct direct;
    hac_arena_block *arena;
    hac_value_set *sets;

    /* of the batch in work: words of keys, a column after the other, null bits first (general layout) or the
     * packed word last; hashes; where each row's record is */
    uint64_t *words;
    const uint64_t *columns[2 * HAC_QUERY_KEYS_MAX + 1];
    const uint8_t *nulls[HAC_QUERY_KEYS_MAX]; /* of each key, a byte a row; NULL: none */
    uint64_t hash[HAC_BATCH_ROWS];
    uint64_t at[HAC_BATCH_ROWS];
    const uint8_t *null_states;        /* of a single key: rows whose group is the null group */
    bool one_group;                    /* all rows of the batch are of one group */
    int overflow;                      /* accumulator + 1 whose sum left 128 bits */
    struct repeats *repeats;           /* of group_repeats.c */
    unsigned repeats_pause;            /* batches that it leaves out */
    void *scratch;                     /* of partial_merge.c */
    void *pieces;                      /* vectors of rows that a pass keeps */
    struct hac_group_results *results; /* of group_results.c */
};

/* ---- group_table.c ---- */

/* Reallocates and counts; NULL: no memory, or over the limit (err is filled). */
void *hac_group_resize(hac_group_table *t, void *old, uint64_t old_bytes, uint64_t bytes, hac_error *err);
uint8_t *hac_group_arena_alloc(hac_group_table *t, size_t bytes, hac_error *err);
/* A long string's characters are copied; words[1] then points to the copy. */
HAC_MUST_USE hac_status hac_arena_keep(hac_group_table *t, uint64_t words[2], hac_error *err);
/* From the batch's words to t->at; new groups are made. */
HAC_MUST_USE hac_status hac_group_find(hac_group_table *t, size_t rows, hac_error *err);
/* `partition`: all rows must be of it (HAC_INVALID); UINT32_MAX: any. */
HAC_MUST_USE hac_status hac_group_add(hac_group_table *t, const hac_vector *columns, size_t rows,
                                      uint32_t partition, hac_error *err);

/* With passes: the rows of this one, as vectors that are valid until the next call. */
HAC_MUST_USE hac_status hac_group_keep_pass(hac_group_table *t, const hac_vector *columns, size_t rows,
                                            const hac_vector **ret, size_t *ret_rows, hac_error *err);

static inline uint8_t *hac_group_record(const hac_group_table *t, uint64_t group)
{
    return t->records + group * t->layout.stride;
}

/* 2^63 rows of 64 bits stay within 128. Only a sum that another process made up can leave them: it wraps. */
static inline void hac_sum_add(hac_i128 *sum, hac_i128 value)
{
    *sum = (hac_i128)((unsigned __int128)*sum + (unsigned __int128)value);
}

/* Records are of whole words, mostly few: a call costs more than the copy. */
static inline void hac_group_copy_record(uint8_t *to, const uint8_t *from, uint64_t stride)
{
    for (uint64_t i = 0; i < stride; i += 8)
        memcpy(to + i, from + i, 8);
}

/* Tables of one word of keys. Room for `rows` more groups: */
HAC_MUST_USE hac_status hac_group_reserve(hac_group_table *t, size_t rows, hac_error *err);

/* Room for `rows` more records. */
HAC_MUST_USE hac_status hac_group_reserve_records(hac_group_table *t, size_t rows, hac_error *err);
/* Makes word_slots lead to all groups. */
HAC_MUST_USE hac_status hac_group_index(hac_group_table *t, hac_error *err);

/* A new group in the free slot `slot`; there is room. Returns where its record is. */
static inline uint64_t hac_group_put(hac_group_table *t, hac_word_slot *slot, uint64_t key, uint64_t hash)
{
    uint64_t stride = t->layout.stride, at = t->groups * stride;
    memcpy(t->records + at, &key, sizeof key);
    hac_group_copy_record(t->records + at + sizeof key, t->empty + sizeof key, stride - sizeof key);
    t->groups++;
    *slot = (hac_word_slot){.key = key, .group = (uint32_t)t->groups, .tag = (uint32_t)hash};
    return at;
}

/* From a batch of keys and t->hash to t->at, for a table that no cache holds: slots are fetched ahead, and
 * the records that are found; there is room for whatever is new. */
void hac_group_find_or_put(hac_group_table *t, size_t rows, const uint64_t *keys);

/* ---- group_keys.c ---- */

/* Words of the keys of a batch, and their hashes. */
void hac_group_keys_load(hac_group_table *t, const hac_vector *columns, size_t rows);
/* The same from records that are not the table's (keys first, as in a partial); `null_row`: the row whose
 * single key is null, else SIZE_MAX. */
void hac_group_keys_load_records(hac_group_table *t, const uint8_t *records, size_t rows, size_t null_row);
void hac_group_keys_hash(hac_group_table *t, size_t rows);
/* One key's words of a record, and whether it is null; `null` is what the group's number says (single key).
 */
bool hac_group_record_key(const hac_group_layout *l, const uint8_t *record, size_t k, bool null,
                          uint64_t ret[2]);
/* A vector's value as two words (strings point into the vector's bytes). */
void hac_value_words(const hac_vector *v, hac_repr repr, size_t row, uint64_t ret[2]);

/* ---- group_repeats.c ---- */

/* As hac_group_find, keys and hashes included, where most rows have strings at the places of an earlier row.
 * *ret_done is false, and nothing was done, where not; t->hash is not of the rows afterwards. */
HAC_MUST_USE hac_status hac_group_find_repeats(hac_group_table *t, const hac_vector *columns, size_t rows,
                                               bool *ret_done, hac_error *err);

/* ---- accumulate.c ---- */

HAC_MUST_USE hac_status hac_group_accumulate(hac_group_table *t, const hac_vector *columns, size_t rows,
                                             hac_error *err);
/* Adds the accumulators of `from` to those of the record `to`; its pointers have been checked. */
HAC_MUST_USE hac_status hac_group_merge_record(hac_group_table *t, uint8_t *to, const uint8_t *from,
                                               hac_error *err);
hac_status hac_group_overflow(const hac_group_table *t, size_t accumulator, hac_error *err);
/* A numeric value as f64. */
double hac_number(const hac_vector *v, hac_value_type type, hac_repr repr, size_t row);
double hac_group_power_of_ten(unsigned digits);
/* Rounded to HAC_QUANTILE_BITS, as a word. */
uint64_t hac_quantile_word(double value);

/* ---- group_results.c, group_texts.c ---- */

/* The strings of a batch of results. */
typedef struct hac_group_text {
    uint8_t *data;
    uint64_t n, room;
    bool broken; /* no memory, or more than a batch's references reach */
} hac_group_text;

void hac_group_text_add(hac_group_text *text, const void *bytes, size_t n);
/* The text of a value that is two words. */
void hac_group_text_value(hac_group_text *text, hac_value_type type, const uint64_t words[2]);
HAC_MUST_USE hac_status hac_group_top_k(const hac_group_table *t, const hac_accumulator *a, uint32_t k,
                                        const hac_value_list *list, hac_group_text *text, hac_error *err);
void hac_group_string_list(const hac_group_table *t, const hac_accumulator *a, const hac_value_list *list,
                           hac_group_text *text);
void hac_group_histogram(const hac_accumulator *a, const uint64_t *counts, hac_group_text *text);
HAC_MUST_USE hac_status hac_group_quantile(const hac_group_table *t, const hac_accumulator *a, double share,
                                           const hac_value_list *list, double *ret, hac_error *err);
void hac_group_results_free(struct hac_group_results *results);

/* ---- plain_slots.c ---- */

/* The groups are in the table's records afterwards, to be read; to be added to with hac_group_find as well:
 */
HAC_MUST_USE hac_status hac_group_settle(hac_group_table *t, hac_error *err);
HAC_MUST_USE hac_status hac_group_leave_slots(hac_group_table *t, hac_error *err);

/* ---- value_set.c ---- */

HAC_MUST_USE hac_status hac_value_set_add(hac_group_table *t, const hac_accumulator *a, uint64_t group,
                                          const uint64_t words[2], uint64_t count, hac_error *err);
void hac_value_set_clear(hac_group_table *t, hac_value_set *set);
void hac_value_set_reset(hac_value_set *set);

/* ---- partial_writer.c ---- */

/* Bytes of a value in a window, and of a string. */
#define HAC_STRING_CELL 16u
size_t hac_partial_stored_size(hac_value_type type);
/* Where in a window each column's values and states are (states 0: none); returns where the strings begin. */
uint64_t hac_partial_window_places(const hac_partial_window *window, uint32_t partitions,
                                   const hac_value_type *types, size_t n_columns, uint64_t *ret_values,
                                   uint64_t *ret_states);

/* ---- partial_groups.c ---- */

/* Writes the groups section behind `at` bytes of the region and fills its fields of *header; what does not
 * fit in `room` is only counted. header->bytes is the end of all. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_group_write(hac_group_table *t, uint8_t *region, uint64_t at, uint64_t room,
                                        hac_partial_header *header, hac_error *err);

#endif
