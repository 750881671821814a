/* SPDX-License-Identifier: Apache-2.0 */
/* The group table's data, and functions that its files share. Lower files come first: group_memory.h,
 * value_set.h, value_column.h, group_slots, group_lanes, group_keys, group_find, accumulators/, then
 * group_table. */
#ifndef QUERY_GROUP_INTERNAL_H
#define QUERY_GROUP_INTERNAL_H

#include "codelet/hash.h"
#include "exact_sums.h"
#include "expr/group_layout.h"
#include "group_lanes.h"
#include "group_memory.h"
#include "query/group_table.h"
#include "query/partial.h"
#include "value_column.h"
#include "value_set.h"

/* Records consist of 64-bit words, so 128-bit sums are aligned to 8 bytes. */
typedef __int128 hac_i128 __attribute__((aligned(8)));

#define HAC_NO_GROUP UINT64_MAX

/* ---- the table ---- */

/* A slot for keys of one word. */
typedef struct hac_word_slot {
    uint64_t key;
    uint32_t group; /* number + 1; 0: free */
    uint32_t tag;   /* low bits of the hash */
} hac_word_slot;

/* A slot for other keys, which are in the record. */
typedef struct hac_tag_slot {
    uint32_t tag, group;
} hac_tag_slot;

/* Groups of keys of a small range (group_direct.h). */
typedef struct hac_direct {
    uint32_t *groups;   /* group + 1 of key `low` + i; 0: unknown */
    uint64_t low, span; /* range of keys; span 0: there is no array yet */
    bool off;           /* not used: the keys are too far apart */
} hac_direct;

/* A group's slot, and the upper half of its hash, which determines its partition. */
typedef struct hac_fixed_place {
    uint32_t slot, hash;
} hac_fixed_place;

/* Records that are slots themselves (fixed_slots.h). */
typedef struct hac_fixed_slots {
    uint8_t *memory;         /* of the records, which begin at a cache line */
    uint8_t *records;        /* n records; a row count of 0 marks a free one, which is all zeros */
    hac_fixed_place *places; /* one for each group */
    uint64_t n, capacity;    /* slots: a power of two or 0; capacity of `places` */
    uint64_t used;           /* groups that were in slots */
    bool on;                 /* the groups are in slots, not in the table's records */
    bool off;                /* not possible for these groups, until the table is reset */
    bool unindexed;          /* the groups are back in records, and word_slots does not lead to them */
    bool limbs;              /* sums are limbs (exact_limbs.h), not windows */
    uint64_t since;          /* rows since that last changed */
} hac_fixed_slots;

struct hac_group_table {
    hac_group_layout layout;
    hac_group_options options;
    uint64_t hash_start;
    hac_memory_budget budget;

    uint8_t *empty; /* a record without rows */
    uint8_t *records;
    uint64_t groups, capacity; /* records */
    uint64_t null_group;       /* group of a single null key; HAC_NO_GROUP: none */
    union {
        hac_word_slot *word_slots; /* if layout.packed */
        hac_tag_slot *tag_slots;
    };
    uint64_t n_slots; /* a power of two */
    hac_fixed_slots slots;
    hac_direct direct;
    hac_group_arena arena;
    hac_value_set *sets;
    hac_value_column *value_columns;
    hac_exact_sums exact;
    hac_lanes lanes;
    hac_buckets *buckets; /* one for each accumulator, of histogram.c; NULL: none was needed yet */

    /* The current batch: the keys' words, column by column, then the packed word (or, in the general layout,
     * the null bits); hashes; the offset of each row's record. */
    uint64_t *words;
    const uint64_t *columns[2 * HAC_QUERY_KEYS_MAX + 1];
    const uint8_t *nulls[HAC_QUERY_KEYS_MAX]; /* for each key, a byte a row; NULL: no nulls */
    uint64_t hash[HAC_BATCH_ROWS];
    uint64_t at[HAC_BATCH_ROWS];
    uint32_t number[HAC_BATCH_ROWS]; /* of each row's group, if `numbered`; then `at` may not be set */
    bool numbered;
    const uint8_t *null_states;        /* single key: rows of the null group */
    bool one_group;                    /* all rows of the batch belong to one group */
    struct hac_group_coded *coded;     /* of group_coded.c */
    struct repeats *repeats;           /* of group_repeats.c */
    unsigned repeats_pause;            /* batches that group_repeats.c skips */
    void *scratch;                     /* of partial_merge.c */
    void *pieces;                      /* rows of the current pass, as columns */
    struct hac_group_results *results; /* of group_results.c */
};

/* ---- group_table.c ---- */

/* Adds rows. All must belong to `partition` (else HAC_INVALID); UINT32_MAX: any partition. */
HAC_MUST_USE hac_status hac_group_add(hac_group_table *t, const hac_column *columns, size_t rows,
                                      uint32_t partition, hac_error *err);

/* With passes: the rows of the current one, as columns that are valid until the next call. */
HAC_MUST_USE hac_status hac_group_keep_pass(hac_group_table *t, const hac_column *columns, size_t rows,
                                            const hac_column **ret, size_t *ret_rows, hac_error *err);

static inline uint8_t *hac_group_record(const hac_group_table *t, uint64_t group)
{
    return t->records + group * t->layout.stride;
}

/* x · y. The compiler is kept from knowing that a factor is not negative, because GCC then multiplies three
 * times, and otherwise once. */
static inline hac_i128 hac_multiply(int64_t x, int64_t y)
{
    __asm__("" : "+r"(x), "+r"(y));
    return (hac_i128)x * y;
}

/* Windows are kept so small that no sum overflows (accumulators/exact_units.c). */
static inline void hac_sum_add(hac_i128 *sum, hac_i128 value)
{
    *sum = (hac_i128)((unsigned __int128)*sum + (unsigned __int128)value);
}

/* Records have few words: a loop is faster than a call of memcpy. */
static inline void hac_group_copy_record(uint8_t *to, const uint8_t *from, uint64_t stride)
{
    for (uint64_t i = 0; i < stride; i += 8)
        memcpy(to + i, from + i, 8);
}

/* ---- group_slots.c ---- */

HAC_MUST_USE hac_status hac_group_grow_slots(hac_group_table *t, hac_error *err);
HAC_MUST_USE hac_status hac_group_grow_records(hac_group_table *t, hac_error *err);
/* For keys of one word: makes room for `rows` more groups, slots included. */
HAC_MUST_USE hac_status hac_group_reserve(hac_group_table *t, size_t rows, hac_error *err);

/* Makes room for `rows` more records. */
HAC_MUST_USE hac_status hac_group_reserve_records(hac_group_table *t, size_t rows, hac_error *err);
/* Fills word_slots for all groups. */
HAC_MUST_USE hac_status hac_group_index(hac_group_table *t, hac_error *err);

static inline size_t hac_group_slot_bytes(const hac_group_table *t)
{
    return t->layout.packed ? sizeof(hac_word_slot) : sizeof(hac_tag_slot);
}

/* A probe that has to go on is a mispredicted branch, so small tables are kept sparse. In large tables,
 * sparse slots would cost cache misses. */
static inline bool hac_group_is_full(const hac_group_table *t)
{
    uint64_t bytes = t->n_slots * hac_group_slot_bytes(t);
    unsigned spare = bytes < (UINT64_C(1) << 17) ? 8 : (bytes < (UINT64_C(1) << 18) ? 3 : 2);
    return t->groups * spare >= t->n_slots;
}

/* Adds a group without rows; the caller fills in its keys. */
static inline hac_status hac_group_new(hac_group_table *t, hac_error *err)
{
    if (t->groups == t->capacity) {
        hac_status status = hac_group_grow_records(t, err);
        if (status != HAC_OK)
            return status;
    }
    hac_group_copy_record(hac_group_record(t, t->groups), t->empty, t->layout.stride);
    t->groups++;
    return HAC_OK;
}

/* Adds a group in the free slot `slot`; there is room. Returns the offset of its record. */
static inline uint64_t hac_group_put(hac_group_table *t, hac_word_slot *slot, uint64_t key, uint64_t hash)
{
    uint64_t stride = t->layout.stride, at = t->groups * stride;
    memcpy(t->records + at, &key, sizeof key);
    hac_group_copy_record(t->records + at + sizeof key, t->empty + sizeof key, stride - sizeof key);
    t->groups++;
    *slot = (hac_word_slot){.key = key, .group = (uint32_t)t->groups, .tag = (uint32_t)hash};
    return at;
}

/* ---- group_keys.c ---- */

/* Sets the words of a batch's keys. */
void hac_group_keys_load(hac_group_table *t, const hac_column *columns, size_t rows);
/* The same for records outside the table, which begin with the keys, as in a partial. `null_row`: the row
 * whose single key is null, else SIZE_MAX. */
void hac_group_keys_load_records(hac_group_table *t, const uint8_t *records, size_t rows, size_t null_row);
void hac_group_keys_hash(hac_group_table *t, size_t rows);
/* Reads one key's words from a record and returns whether it is null. `null`: the record is the null group
 * (single key). */
bool hac_group_record_key(const hac_group_layout *l, const uint8_t *record, size_t k, bool null,
                          uint64_t ret[2]);
/* Reads a column's value as two words; a string points into the column's bytes. */
void hac_value_words(const hac_column *v, hac_repr repr, size_t row, uint64_t ret[2]);

/* ---- group_find.c ---- */

/* Finds the groups of the batch's words and sets t->at; adds new groups. */
HAC_MUST_USE hac_status hac_group_find(hac_group_table *t, size_t rows, hac_error *err);
/* Loads and hashes the keys of rows, then as hac_group_find. `partition` as in hac_group_add. */
HAC_MUST_USE hac_status hac_group_find_all(hac_group_table *t, const hac_column *columns, size_t rows,
                                           uint32_t partition, hac_error *err);
/* For keys of one word of a small range (group_direct.h) whose groups are in the table's records: as
 * hac_group_find_all, without a hash. *ret_done is false for other keys: then nothing was done. */
HAC_MUST_USE hac_status hac_group_find_direct(hac_group_table *t, size_t rows, const uint64_t *keys,
                                              bool *ret_done, hac_error *err);
/* Sets t->at from t->number, and for keys of one word t->number from t->at. */
void hac_group_find_places(hac_group_table *t, size_t rows);
/* Sets t->one_group from t->number or t->at. */
void hac_group_note_one_group(hac_group_table *t, size_t rows);
/* As hac_group_find for keys of one word with t->hash set, in a table that fits no cache: slots and records
 * are prefetched. There is room for all new groups. */
void hac_group_find_or_put(hac_group_table *t, size_t rows, const uint64_t *keys);

/* ---- group_repeats.c ---- */

/* As hac_group_find_all for batches in which most rows have strings at the address of an earlier row.
 * *ret_done is false if this is another batch: then nothing was done. Leaves t->hash undefined. */
HAC_MUST_USE hac_status hac_group_find_repeats(hac_group_table *t, const hac_column *columns, size_t rows,
                                               bool *ret_done, hac_error *err);

/* ---- group_values.c ---- */

/* Reads a numeric value as f64. */
double hac_number(const hac_column *v, hac_value_type type, hac_repr repr, size_t row);
double hac_group_power_of_ten(unsigned digits);

/* Strings of a batch of results. */
typedef struct hac_group_text {
    uint8_t *data;
    uint64_t n, capacity;
    bool broken; /* no memory, or more bytes than refs can address */
} hac_group_text;

void hac_group_text_add(hac_group_text *text, const void *bytes, size_t n);
/* Appends the text of a value in two words. */
void hac_group_text_value(hac_group_text *text, hac_value_type type, const uint64_t words[2]);

/* Sets row `row` of a column: to a key or a value in words (hac_value_words), to null, to a number. */
void hac_group_put_words(hac_group_text *text, hac_column *v, size_t row, const uint64_t words[2]);
void hac_group_put_null(hac_column *v, size_t row);
void hac_group_put_f64(hac_column *v, size_t row, double value);

/* Ordered words: floats are the integers of hac_order_f64 in place of their bits, other values are as they
 * are. */
void hac_words_to_ordered(hac_repr repr, uint64_t words[2]);
/* As hac_value_words, ordered; -0.0 is below 0.0. */
void hac_ordered_words(const hac_column *v, hac_repr repr, size_t row, uint64_t ret[2]);
/* Below, above or equal to 0 as x is below, above or equal to y. */
int hac_ordered_compare(hac_repr repr, const uint64_t x[2], const uint64_t y[2]);
void hac_group_put_ordered(hac_group_text *text, hac_column *v, size_t row, const uint64_t words[2]);

/* ---- accumulators/ ---- */

HAC_MUST_USE hac_status hac_group_accumulate(hac_group_table *t, const hac_column *columns, size_t rows,
                                             hac_error *err);
/* Adds the counts and accumulators of `n` records `from` to the table's records at offsets at[i]. Pointers in
 * `from` have been checked. Values of sets are not merged here. */
HAC_MUST_USE hac_status hac_group_merge_records(hac_group_table *t, const uint64_t *at, const uint8_t *from,
                                                size_t n, hac_error *err);
struct hac_result_cell;
/* Stores a sum or a count. HAC_FAILED: it does not fit the type. */
HAC_MUST_USE hac_status hac_group_put_sum(const struct hac_result_cell *cell, hac_i128 sum, hac_error *err);

/* ---- accumulators/exact_units.c ---- */

/* Removes all digits and units. */
void hac_exact_reset(hac_group_table *t);
/* What the values of a batch have in common. */
typedef enum hac_exact_batch {
    HAC_EXACT_MISFIT, /* some do not fit their windows */
    HAC_EXACT_FIT,    /* all do */
    HAC_EXACT_LIMBS   /* and they are in t->exact.limbs */
} hac_exact_batch;

/* For sums of f64 in slots (hac_group_layout.slots): prepares the table for a batch. Only sums without
 * squares have limbs. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_exact_ready(hac_group_table *t, const uint8_t *values, size_t rows,
                                        hac_exact_batch *ret, hac_error *err);
/* Gives the windows of `n` records, in which they have the units `from` (one for each accumulator), the
 * table's units. Windows that are too large for that are zero then, and kept aside until hac_exact_put_loose,
 * when t->at leads to the groups of these records. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_exact_align(hac_group_table *t, const hac_exact_units *from, uint8_t *records,
                                        size_t n, hac_error *err);
HAC_MUST_USE hac_status hac_exact_put_loose(hac_group_table *t, hac_error *err);

/* ---- group_results.c ---- */

/* A batch of results. */
struct hac_group_results {
    hac_group_text text;
    size_t n;
    uint8_t *memory; /* for each column, 16 · HAC_BATCH_ROWS bytes of values and HAC_BATCH_ROWS states */
};

void hac_group_results_free(struct hac_group_results *results);

/* ---- fixed_slots.c ---- */

/* Brings groups to the table's records: from slots and lanes, so that they can be read (settle), or from
 * slots, so that they can be added to with hac_group_find (leave_slots). */
HAC_MUST_USE hac_status hac_group_settle(hac_group_table *t, hac_error *err);
HAC_MUST_USE hac_status hac_group_leave_slots(hac_group_table *t, hac_error *err);

/* Makes sums in slots that are limbs windows again, as they have to be to be read. */
void hac_fixed_slots_join(hac_group_table *t);

/* ---- partial_writer.c ---- */

/* Bytes of a value in a window, and of a string. */
#define HAC_STRING_CELL 16u
size_t hac_partial_stored_size(hac_value_type type);
/* Finds the offsets of each column's values and states (0: no states) in a window; returns the offset of the
 * strings. */
uint64_t hac_partial_window_places(const hac_partial_window *window, uint32_t partitions,
                                   const hac_value_type *types, size_t n_columns, uint64_t *ret_values,
                                   uint64_t *ret_states);

/* ---- partial_groups.c ---- */

/* Writes the groups section from offset `at` of the region on and fills its fields of *header; bytes beyond
 * `capacity` are only counted. header->bytes is the end of the partial. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_group_write(hac_group_table *t, uint8_t *region, uint64_t at, uint64_t capacity,
                                        hac_partial_header *header, hac_error *err);

#endif
