/* SPDX-License-Identifier: Apache-2.0 */
#include "plain.h"

#include "accumulate_few.h"
#include "plain_slots.h"

/* Slots of so many bytes lie in a near cache; of more, those of the next rows are fetched ahead. */
#define NEAR_BYTES (UINT64_C(1) << 18)
#define FETCHED    12

/* Row `i` of the keys, as the word that the table has. */
static inline __attribute__((always_inline)) uint64_t key_at(const uint8_t *keys, hac_plain_keys form,
                                                             size_t i)
{
    uint32_t narrow;
    uint64_t wide;
    if (form == HAC_PLAIN_64) {
        memcpy(&wide, keys + i * 8, sizeof wide);
        return wide;
    }
    memcpy(&narrow, keys + i * 4, sizeof narrow);
    return form == HAC_PLAIN_U32 ? narrow : (uint64_t)(int64_t)(int32_t)narrow;
}

/* ---- groups ---- */

/* Row `i` of the values; `form` is a constant. */
static inline __attribute__((always_inline)) void add_row(uint8_t *record, hac_plain_figures f,
                                                          const uint8_t *values, size_t i, hac_plain_sum form)
{
    double number;
    uint64_t word;
    ++*(uint64_t *)(void *)(record + f.rows);
    if (form == HAC_PLAIN_F64) {
        memcpy(&number, values + i * sizeof number, sizeof number);
        *(double *)(void *)(record + f.sum) += number;
    } else if (form != HAC_PLAIN_COUNT) {
        memcpy(&word, values + i * sizeof word, sizeof word);
        hac_sum_add((hac_i128 *)(void *)(record + f.sum),
                    form == HAC_PLAIN_SIGNED ? (int64_t)word : (hac_i128)word);
    }
}

/* Whether hashes are of a partition, as bits that differ: no more than two instructions a row. */
typedef struct partition_check {
    uint64_t wanted, differ;
    unsigned shift; /* of the bits that tell partitions, less 32 */
} partition_check;

static partition_check begin_check(const hac_group_table *t, uint32_t partition)
{
    unsigned shift = 32 - (unsigned)__builtin_ctz(t->options.partitions);
    return (partition_check){.wanted = (uint64_t)partition << shift << 32, .shift = shift};
}

static uint32_t end_check(partition_check c)
{
    return (uint32_t)(c.differ >> 32 >> c.shift);
}

/* Out of the loops: what they need in registers stays there. */
static __attribute__((noinline)) void put(hac_group_table *t, uint64_t slot, uint64_t hash)
{
    hac_plain_slots_put(t, slot, hash);
}

/* The slot of a key; which is new where it is free. */
static inline __attribute__((always_inline)) uint8_t *
find_slot(hac_group_table *t, uint8_t *slots, uint64_t mask, hac_plain_figures f, uint64_t key, uint64_t hash)
{
    for (uint64_t place = hash & mask;; place = (place + 1) & mask) {
        uint8_t *slot = slots + place * f.stride;
        uint64_t found, rows;
        memcpy(&found, slot, sizeof found);
        memcpy(&rows, slot + f.rows, sizeof rows);
        if (__builtin_expect(found == key && rows != 0, 1))
            return slot;
        if (rows == 0) {
            memcpy(slot, &key, sizeof key);
            put(t, place, hash);
            return slot;
        }
    }
}

/* Looked up and added in one go; returns what differs from the partition. There is room for all. */
static inline __attribute__((always_inline)) uint32_t add_near(hac_group_table *t, hac_plain_figures f,
                                                               const uint8_t *keys, hac_plain_keys form,
                                                               const uint8_t *values, hac_plain_sum sum,
                                                               size_t rows, uint32_t partition)
{
    uint8_t *slots = t->slots.records;
    uint64_t mask = t->slots.n - 1, start = t->hash_start;
    partition_check check = begin_check(t, partition);
    for (size_t i = 0; i < rows; i++) {
        uint64_t key = key_at(keys, form, i), hash = hac_hash_word(start, key);
        check.differ |= hash ^ check.wanted;
        add_row(find_slot(t, slots, mask, f, key, hash), f, values, i, sum);
    }
    return end_check(check);
}

/* The same for slots that no near cache holds: those of FETCHED rows are fetched ahead. */
static inline __attribute__((always_inline)) uint32_t add_far(hac_group_table *t, hac_plain_figures f,
                                                              const uint8_t *keys, hac_plain_keys form,
                                                              const uint8_t *values, hac_plain_sum sum,
                                                              size_t rows, uint32_t partition)
{
    uint8_t *slots = t->slots.records;
    uint64_t mask = t->slots.n - 1, start = t->hash_start, *hashes = t->hash;
    partition_check check = begin_check(t, partition);
    for (size_t i = 0; i < rows; i++) {
        hashes[i] = hac_hash_word(start, key_at(keys, form, i));
        check.differ |= hashes[i] ^ check.wanted;
    }
    size_t last = rows > FETCHED ? rows - FETCHED : 0;
    for (size_t i = 0; i < last; i++) {
        __builtin_prefetch(slots + (hashes[i + FETCHED] & mask) * f.stride, 1);
        add_row(find_slot(t, slots, mask, f, key_at(keys, form, i), hashes[i]), f, values, i, sum);
    }
    for (size_t i = last; i < rows; i++)
        add_row(find_slot(t, slots, mask, f, key_at(keys, form, i), hashes[i]), f, values, i, sum);
    return end_check(check);
}

/* Into the table's own records, where its groups are: hashes, records, figures of the batch. */
static inline __attribute__((always_inline)) uint32_t add_apart(hac_group_table *t, hac_plain_figures f,
                                                                const uint8_t *keys, hac_plain_keys form,
                                                                const uint8_t *values, hac_plain_sum sum,
                                                                size_t rows, uint32_t partition)
{
    partition_check check = begin_check(t, partition);
    for (size_t i = 0; i < rows; i++) {
        t->words[i] = key_at(keys, form, i);
        t->hash[i] = hac_hash_word(t->hash_start, t->words[i]);
        check.differ |= t->hash[i] ^ check.wanted;
    }
    hac_group_find_or_put(t, rows, t->words);
    for (size_t i = 0; i < rows; i++)
        add_row(t->records + t->at[i], f, values, i, sum);
    return end_check(check);
}

/* ---- few groups ---- */

/* Keys of so few groups are compared with all of them, several rows at a time: less than a look-up a row. */
#define COMPARED_MOST 8

_Static_assert(COMPARED_MOST <= HAC_FEW_GROUPS, "sums of few groups");

/* The groups that rows are compared with: key and number + 1; 0: none. */
typedef struct compared {
    uint64_t keys[COMPARED_MOST];
    uint32_t narrow[COMPARED_MOST]; /* the same of keys of four bytes */
    uint32_t groups[COMPARED_MOST];
} compared;

static void list_groups(const hac_group_table *t, compared *ret)
{
    *ret = (compared){0};
    for (uint32_t g = 0; g < t->groups; g++) {
        if (g == t->null_group)
            continue;
        memcpy(&ret->keys[g], hac_group_record(t, g), sizeof ret->keys[g]);
        ret->narrow[g] = (uint32_t)ret->keys[g];
        ret->groups[g] = g + 1;
    }
}

/* The group of each row; false: some row's is none of these. `n` and `form` are constants. */
static inline __attribute__((always_inline)) bool
compare_keys(const compared *c, size_t n, hac_plain_keys form, const uint8_t *keys, size_t rows, uint8_t *ret)
{
    uint32_t strange = 0;
    for (size_t i = 0; i < rows; i++) {
        uint32_t group = 0, narrow;
        if (form == HAC_PLAIN_64) {
            uint64_t key = key_at(keys, form, i);
            for (size_t g = 0; g < n; g++)
                group |= key == c->keys[g] ? c->groups[g] : 0;
        } else {
            memcpy(&narrow, keys + i * sizeof narrow, sizeof narrow);
            for (size_t g = 0; g < n; g++)
                group |= narrow == c->narrow[g] ? c->groups[g] : 0;
        }
        ret[i] = (uint8_t)(group - 1);
        strange |= group - 1;
    }
    return strange < COMPARED_MOST;
}

static bool find_compared(const hac_group_table *t, const uint8_t *keys, size_t rows, hac_few *ret)
{
    compared c;
    list_groups(t, &c);
    ret->groups = t->groups;
    ret->rows = rows;
    if (t->layout.plain == HAC_PLAIN_64)
        return t->groups <= 4 ? compare_keys(&c, 4, HAC_PLAIN_64, keys, rows, ret->of)
                              : compare_keys(&c, COMPARED_MOST, HAC_PLAIN_64, keys, rows, ret->of);
    return t->groups <= 4 ? compare_keys(&c, 4, HAC_PLAIN_U32, keys, rows, ret->of)
                          : compare_keys(&c, COMPARED_MOST, HAC_PLAIN_U32, keys, rows, ret->of);
}

static void sum_floats(const hac_group_table *t, uint32_t offset, const hac_few *few, const uint8_t *values)
{
    double sums[COMPARED_MOST] = {0}, number;
    for (size_t g = 0; g < few->groups; g++)
        memcpy(&sums[g], hac_group_record(t, g) + offset, sizeof *sums);
    for (size_t i = 0; i < few->rows; i++) {
        memcpy(&number, values + i * sizeof number, sizeof number);
        sums[few->of[i]] += number;
    }
    for (size_t g = 0; g < few->groups; g++)
        memcpy(hac_group_record(t, g) + offset, &sums[g], sizeof *sums);
}

static void sum_integers(hac_group_table *t, uint32_t offset, const hac_few *few, const uint8_t *values)
{
    int64_t *copy = (int64_t *)t->words; /* which is aligned, and nobody else's */
    hac_i128 sums[HAC_FEW_GROUPS];
    memcpy(copy, values, few->rows * sizeof *copy);
    hac_few_sum(few, copy, 1, sums);
    for (size_t g = 0; g < few->groups; g++)
        hac_sum_add((hac_i128 *)(void *)(hac_group_record(t, g) + offset), sums[g]);
}

/* One batch of a table of few groups. False: nothing was done. */
static bool add_few(hac_group_table *t, hac_plain_figures f, const uint8_t *const *values, size_t rows)
{
    hac_few few;
    uint64_t counts[HAC_FEW_GROUPS];
    hac_plain_sum sum = t->layout.plain_sum;
    if (t->slots.on || t->groups == 0 || t->groups > COMPARED_MOST || sum == HAC_PLAIN_UNSIGNED ||
        !find_compared(t, values[0], rows, &few))
        return false;
    hac_few_count(&few, counts);
    for (size_t g = 0; g < few.groups; g++)
        *(uint64_t *)(void *)(hac_group_record(t, g) + f.rows) += counts[g];
    if (sum == HAC_PLAIN_F64)
        sum_floats(t, f.sum, &few, values[1]);
    else if (sum == HAC_PLAIN_SIGNED)
        sum_integers(t, f.sum, &few, values[1]);
    return true;
}

/* ---- rows ---- */

/* One batch. */
static inline __attribute__((always_inline)) uint32_t add_batch(hac_group_table *t, hac_plain_figures f,
                                                                const uint8_t *const *values,
                                                                hac_plain_sum sum, size_t rows,
                                                                uint32_t partition)
{
    const uint8_t *summed = sum == HAC_PLAIN_COUNT ? NULL : values[1];
    const hac_plain_figures s = hac_plain_figures_of(sum);
    bool near = t->slots.n * s.stride <= NEAR_BYTES;
#define ADD(form)                                                                                            \
    (!t->slots.on ? add_apart(t, f, values[0], form, summed, sum, rows, partition)                           \
     : near       ? add_near(t, s, values[0], form, summed, sum, rows, partition)                            \
                  : add_far(t, s, values[0], form, summed, sum, rows, partition))
    switch (t->layout.plain) {
    case HAC_PLAIN_U32:
        return ADD(HAC_PLAIN_U32);
    case HAC_PLAIN_I32:
        return ADD(HAC_PLAIN_I32);
    default:
        return ADD(HAC_PLAIN_64);
    }
#undef ADD
}

/* Loops of their own for each sum. */
static uint32_t add_sums(hac_group_table *t, hac_plain_figures f, const uint8_t *const *values, size_t rows,
                         uint32_t partition)
{
    switch (t->layout.plain_sum) {
    case HAC_PLAIN_F64:
        return add_batch(t, f, values, HAC_PLAIN_F64, rows, partition);
    case HAC_PLAIN_SIGNED:
        return add_batch(t, f, values, HAC_PLAIN_SIGNED, rows, partition);
    case HAC_PLAIN_UNSIGNED:
        return add_batch(t, f, values, HAC_PLAIN_UNSIGNED, rows, partition);
    default:
        return add_batch(t, f, values, HAC_PLAIN_COUNT, rows, partition);
    }
}

/* A few groups stay in the table's records, where add_few has them. Those that came back from slots to be
 * read are looked up again. */
static hac_status make_room(hac_group_table *t, size_t rows, hac_error *err)
{
    bool slots = false;
    hac_status status = t->slots.unindexed ? hac_group_leave_slots(t, err) : HAC_OK;
    if (status != HAC_OK)
        return status;
    if (t->slots.on || t->groups > COMPARED_MOST)
        status = hac_plain_slots_ready(t, rows, &slots, err);
    return status == HAC_OK && !slots ? hac_group_reserve(t, rows, err) : status;
}

hac_status hac_plain_add(hac_group_table *t, const uint8_t *const *values, size_t rows, uint32_t partition,
                         hac_error *err)
{
    const hac_group_layout *l = &t->layout;
    const hac_plain_figures f = {.stride = l->stride,
                                 .rows = l->rows_offset,
                                 .sum = l->plain_sum == HAC_PLAIN_COUNT ? 0 : l->accumulators[0].offset};
    size_t width = hac_value_size(l->query->rows->outputs[0].type);
    uint32_t differ = 0;
    for (size_t first = 0, n; first < rows; first += n) {
        n = rows - first < HAC_BATCH_ROWS ? rows - first : HAC_BATCH_ROWS;
        const uint8_t *part[HAC_PLAIN_COLUMNS] = {values[0] + first * width};
        if (l->plain_sum != HAC_PLAIN_COUNT)
            part[1] = values[1] + first * sizeof(uint64_t);
        if (partition == UINT32_MAX && add_few(t, f, part, n))
            continue;
        hac_status status = make_room(t, n, err);
        if (status != HAC_OK)
            return status;
        differ |= add_sums(t, f, part, n, partition);
    }
    if (partition != UINT32_MAX && differ != 0)
        return hac_fail(err, HAC_INVALID, "a partial has a row in a partition that it does not belong to");
    return HAC_OK;
}

/* ---- groups of partials ---- */

/* Adds a group's record to another; false: the sum leaves 128 bits. `form` is a constant. */
static inline __attribute__((always_inline)) bool add_record(uint8_t *record, hac_plain_figures f,
                                                             const uint8_t *from, hac_plain_sum form)
{
    uint64_t *counts = (uint64_t *)(void *)(record + f.rows);
    const uint64_t *more = (const uint64_t *)(const void *)(from + f.rows);
    hac_i128 *sum = (hac_i128 *)(void *)(record + f.sum), next;
    counts[0] += more[0];
    if (form == HAC_PLAIN_COUNT)
        return true;
    counts[1] += more[1];
    if (form == HAC_PLAIN_F64) {
        *(double *)(void *)(record + f.sum) += *(const double *)(const void *)(from + f.sum);
        return true;
    }
    if (__builtin_add_overflow(*sum, *(const hac_i128 *)(const void *)(from + f.sum), &next))
        return false;
    *sum = next;
    return true;
}

/* The hashes, to t->hash; whether all groups are of the partition and have rows: the slot of one without
 * would be free. */
static hac_status check_groups(hac_group_table *t, hac_plain_figures f, const uint8_t *records, size_t n,
                               uint32_t partition, hac_error *err)
{
    partition_check check = begin_check(t, partition);
    bool empty = false;
    for (size_t i = 0; i < n; i++, records += f.stride) {
        uint64_t key, rows;
        memcpy(&key, records, sizeof key);
        memcpy(&rows, records + f.rows, sizeof rows);
        t->hash[i] = hac_hash_word(t->hash_start, key);
        check.differ |= t->hash[i] ^ check.wanted;
        empty |= rows == 0;
    }
    if (end_check(check) != 0)
        return hac_fail(err, HAC_INVALID, "a partial has a group in a partition that it does not belong to");
    return empty ? hac_fail(err, HAC_INVALID, "a partial has a group without rows") : HAC_OK;
}

static inline __attribute__((always_inline)) hac_status merge_groups(hac_group_table *t,
                                                                     const uint8_t *records, size_t n,
                                                                     hac_plain_sum form, uint32_t partition,
                                                                     hac_error *err)
{
    const hac_plain_figures f = hac_plain_figures_of(form);
    uint8_t *slots = t->slots.records;
    uint64_t mask = t->slots.n - 1;
    hac_status status = check_groups(t, f, records, n, partition, err);
    for (size_t i = 0; status == HAC_OK && i < n; i++, records += f.stride) {
        uint64_t key, ahead = t->hash[i + FETCHED < n ? i + FETCHED : i];
        memcpy(&key, records, sizeof key);
        __builtin_prefetch(slots + (ahead & mask) * f.stride, 1);
        if (!add_record(find_slot(t, slots, mask, f, key, t->hash[i]), f, records, form))
            status = hac_group_overflow(t, 0, err);
    }
    return status;
}

hac_status hac_plain_merge(hac_group_table *t, const uint8_t *records, size_t n, uint32_t partition,
                           hac_error *err)
{
    switch (t->layout.plain_sum) {
    case HAC_PLAIN_F64:
        return merge_groups(t, records, n, HAC_PLAIN_F64, partition, err);
    case HAC_PLAIN_COUNT:
        return merge_groups(t, records, n, HAC_PLAIN_COUNT, partition, err);
    default: /* sums of 128 bits are signed, whatever is summed */
        return merge_groups(t, records, n, HAC_PLAIN_SIGNED, partition, err);
    }
}

/* ---- partitions ---- */

static inline __attribute__((always_inline)) void find_partitions(const hac_group_table *t,
                                                                  const uint8_t *keys, hac_plain_keys form,
                                                                  size_t rows, uint16_t *ret,
                                                                  uint32_t *counts)
{
    uint32_t partitions = t->options.partitions;
    for (size_t i = 0; i < rows; i++) {
        uint32_t p = hac_hash_partition(hac_hash_word(t->hash_start, key_at(keys, form, i)), partitions);
        ret[i] = (uint16_t)p;
        counts[p]++;
    }
}

void hac_plain_partitions(const hac_group_table *t, const uint8_t *keys, size_t rows, uint16_t *ret,
                          uint32_t *counts)
{
    switch (t->layout.plain) {
    case HAC_PLAIN_U32:
        find_partitions(t, keys, HAC_PLAIN_U32, rows, ret, counts);
        break;
    case HAC_PLAIN_I32:
        find_partitions(t, keys, HAC_PLAIN_I32, rows, ret, counts);
        break;
    default:
        find_partitions(t, keys, HAC_PLAIN_64, rows, ret, counts);
    }
}
