/* SPDX-License-Identifier: Apache-2.0 */
#include "fixed_rows.h"

#include "accumulators/exact_rows.h"
#include "fixed_slots.h"

/* The slots of so many groups fit a near cache, wherever they lie. Those of more are prefetched. */
#define NEAR_GROUPS 2048
#define FETCHED     12

/* Sums of so few groups are faster as limbs in slots than as windows in records that are found directly. */
#define NEAR_LIMBS 256

#define LIMB_SETS 4

/* Key `i` as the word that the table stores. */
static inline __attribute__((always_inline)) uint64_t key_at(const uint8_t *keys, hac_fixed_keys form,
                                                             size_t i)
{
    uint32_t narrow;
    uint64_t wide;
    if (form == HAC_FIXED_64) {
        memcpy(&wide, keys + i * 8, sizeof wide);
        return wide;
    }
    memcpy(&narrow, keys + i * 4, sizeof narrow);
    return form == HAC_FIXED_U32 ? narrow : (uint64_t)(int64_t)(int32_t)narrow;
}

/* ---- groups ---- */

/* An f64 that fits, in units; of a misfit, 0. */
static inline __attribute__((always_inline)) hac_i128 fitting(uint64_t bits, const int64_t *scales)
{
    int64_t fraction = (int64_t)((bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52);
    return hac_multiply(fraction, scales[bits >> 52]);
}

/* What is added to a record besides the count. */
typedef enum added {
    ADD_NOTHING,
    ADD_SIGNED,
    ADD_UNSIGNED,
    ADD_SCALED,    /* f64 to windows */
    ADD_CONVERTED, /* limbs to windows */
    ADD_LIMBS,     /* limbs to limbs */
    ADD_SQUARES    /* f64 and their squares to windows */
} added;

/* Adds an f64 that fits to a window, and its square to the window that follows. */
static inline __attribute__((always_inline)) void add_square(uint8_t *sum, uint64_t bits,
                                                             const int64_t *scales)
{
    uint64_t m = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    int64_t scale = scales[bits >> 52];
    uint64_t factor = (uint64_t)scale * (uint64_t)scale; /* below 2^55, by HAC_EXACT_PRODUCT_REACH */
    unsigned __int128 square = (unsigned __int128)m * m;
    unsigned __int128 low = (unsigned __int128)(uint64_t)square * factor;
    unsigned __int128 high = (unsigned __int128)(uint64_t)(square >> 64) * factor + (low >> 64);
    const uint64_t words[HAC_EXACT_PRODUCT_WORDS] = {(uint64_t)low, (uint64_t)high, (uint64_t)(high >> 64)};
    hac_sum_add((hac_i128 *)(void *)sum, hac_multiply((int64_t)m, scale));
    hac_exact_add_words3((uint64_t *)(void *)(sum + sizeof(hac_i128)), words);
}

/* Value `i`. `form` is a compile-time constant. */
static inline __attribute__((always_inline)) void add_row(uint8_t *record, hac_fixed_figures f,
                                                          const uint8_t *values, size_t i, added form)
{
    uint64_t word;
    ++*(uint64_t *)(void *)(record + f.rows);
    if (form == ADD_NOTHING)
        return;
    const hac_limbs *limbs = (const hac_limbs *)(const void *)values; /* of the forms that have some */
    if (form == ADD_LIMBS) {
        hac_limbs_add(record + f.sum, &limbs[i]);
        return;
    }
    if (form == ADD_CONVERTED) {
        hac_sum_add((hac_i128 *)(void *)(record + f.sum), hac_limbs_join(&limbs[i]));
        return;
    }
    memcpy(&word, values + i * sizeof word, sizeof word);
    if (form == ADD_SQUARES) {
        add_square(record + f.sum, word, f.scales);
        return;
    }
    hac_sum_add((hac_i128 *)(void *)(record + f.sum), form == ADD_SCALED   ? fitting(word, f.scales)
                                                      : form == ADD_SIGNED ? (int64_t)word
                                                                           : (hac_i128)word);
}

/* Checks whether hashes belong to a partition, by collecting the bits that differ: at most two instructions a
 * row. */
typedef struct partition_check {
    uint64_t wanted, differ;
    unsigned shift; /* of the bits that determine the partition, less 32 */
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

/* Not inlined: the loops keep their registers. */
static __attribute__((noinline)) void put(hac_group_table *t, uint64_t slot, uint64_t hash)
{
    hac_fixed_slots_put(t, slot, hash);
}

/* Returns the slot of a key: a free slot if the key is new. */
static inline __attribute__((always_inline)) uint8_t *
find_slot(hac_group_table *t, uint8_t *slots, uint64_t mask, hac_fixed_figures f, uint64_t key, uint64_t hash)
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

/* Looks rows up and adds them in one loop; returns the bits that differ from the partition. The table has
 * enough free slots. */
static inline __attribute__((always_inline)) uint32_t add_near(hac_group_table *t, hac_fixed_figures f,
                                                               const uint8_t *keys, hac_fixed_keys form,
                                                               const uint8_t *values, added sum, size_t rows,
                                                               uint32_t partition)
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

/* The same for slots that fit no near cache: the slots of the next FETCHED rows are prefetched. */
static inline __attribute__((always_inline)) uint32_t add_far(hac_group_table *t, hac_fixed_figures f,
                                                              const uint8_t *keys, hac_fixed_keys form,
                                                              const uint8_t *values, added sum, size_t rows,
                                                              uint32_t partition)
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

/* Adds a batch to the table's own records when the groups are there: hashes, records, accumulators. */
static inline __attribute__((always_inline)) uint32_t add_apart(hac_group_table *t, hac_fixed_figures f,
                                                                const uint8_t *keys, hac_fixed_keys form,
                                                                const uint8_t *values, added sum, size_t rows,
                                                                uint32_t partition)
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

/* If there are at most this many groups, each key is compared with all of them, several rows at a time; that
 * is faster than a look-up. */
#define COMPARED_MAX 8

_Static_assert(COMPARED_MAX <= HAC_FEW_GROUPS, "sums of few groups");

/* The groups that rows are compared with: key, and number + 1 (0: unused). */
typedef struct compared {
    uint64_t keys[COMPARED_MAX];
    uint32_t narrow[COMPARED_MAX]; /* the keys again, if they have four bytes */
    uint32_t groups[COMPARED_MAX];
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

/* Finds the group of each row; false: some row has none of these. `n` and `form` are compile-time
 * constants. */
static inline __attribute__((always_inline)) bool
compare_keys(const compared *c, size_t n, hac_fixed_keys form, const uint8_t *keys, size_t rows, uint8_t *ret)
{
    uint32_t strange = 0;
    for (size_t i = 0; i < rows; i++) {
        uint32_t group = 0, narrow;
        if (form == HAC_FIXED_64) {
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
    return strange < COMPARED_MAX;
}

static bool find_compared(const hac_group_table *t, hac_fixed_keys form, const uint8_t *keys, size_t rows,
                          hac_few *ret)
{
    compared c;
    list_groups(t, &c);
    ret->groups = t->groups;
    ret->rows = rows;
    if (form == HAC_FIXED_64)
        return t->groups <= 4 ? compare_keys(&c, 4, HAC_FIXED_64, keys, rows, ret->of)
                              : compare_keys(&c, COMPARED_MAX, HAC_FIXED_64, keys, rows, ret->of);
    return t->groups <= 4 ? compare_keys(&c, 4, HAC_FIXED_U32, keys, rows, ret->of)
                          : compare_keys(&c, COMPARED_MAX, HAC_FIXED_U32, keys, rows, ret->of);
}

static void sum_floats(const hac_group_table *t, hac_fixed_figures f, const hac_few *few,
                       const uint8_t *values)
{
    hac_i128 sums[2][COMPARED_MAX] = {{0}};
    uint64_t bits;
    for (size_t i = 0; i < few->rows; i++) {
        memcpy(&bits, values + i * sizeof bits, sizeof bits);
        sums[i % 2][few->of[i]] += fitting(bits, f.scales);
    }
    for (size_t g = 0; g < few->groups; g++)
        hac_sum_add((hac_i128 *)(void *)(hac_group_record(t, g) + f.sum), sums[0][g] + sums[1][g]);
}

/* Rows go to several sets of sums in turn (accumulate_few.h). */
static void sum_limbs(const hac_group_table *t, uint32_t offset, const hac_few *few, const hac_limbs *limbs)
{
    hac_limbs sums[LIMB_SETS][COMPARED_MAX] = {{{{0}}}};
    size_t i = 0;
    for (; i + LIMB_SETS <= few->rows; i += LIMB_SETS)
        for (size_t s = 0; s < LIMB_SETS; s++)
            hac_limbs_add((uint8_t *)&sums[s][few->of[i + s]], &limbs[i + s]);
    for (; i < few->rows; i++)
        hac_limbs_add((uint8_t *)&sums[0][few->of[i]], &limbs[i]);
    for (size_t g = 0; g < few->groups; g++) {
        for (size_t s = 1; s < LIMB_SETS; s++)
            hac_limbs_add((uint8_t *)&sums[0][g], &sums[s][g]);
        hac_sum_add((hac_i128 *)(void *)(hac_group_record(t, g) + offset), hac_limbs_join(&sums[0][g]));
    }
}

static void sum_squares(const hac_group_table *t, hac_fixed_figures f, const hac_few *few,
                        const uint8_t *values)
{
    struct {
        uint64_t sum[HAC_EXACT_SUM_WORDS], squares[HAC_EXACT_PRODUCT_WORDS];
    } sums[2][COMPARED_MAX] = {{{{0}, {0}}}};
    uint64_t bits;
    for (size_t i = 0; i < few->rows; i++) {
        memcpy(&bits, values + i * sizeof bits, sizeof bits);
        add_square((uint8_t *)&sums[i % 2][few->of[i]], bits, f.scales);
    }
    for (size_t s = 0; s < 2; s++)
        for (size_t g = 0; g < few->groups; g++) {
            uint8_t *to = hac_group_record(t, g) + f.sum;
            hac_exact_add2((uint64_t *)(void *)to, sums[s][g].sum);
            hac_exact_add3((uint64_t *)(void *)(to + sizeof(hac_i128)), sums[s][g].squares);
        }
}

static void sum_integers(hac_group_table *t, uint32_t offset, const hac_few *few, const uint8_t *values)
{
    int64_t *copy = (int64_t *)t->words; /* an aligned copy that no other process can change */
    hac_i128 sums[HAC_FEW_GROUPS];
    memcpy(copy, values, few->rows * sizeof *copy);
    hac_few_sum(few, copy, 1, sums);
    for (size_t g = 0; g < few->groups; g++)
        hac_sum_add((hac_i128 *)(void *)(hac_group_record(t, g) + offset), sums[g]);
}

/* Adds one batch to a table with few groups. False: nothing was done. */
static bool add_few(hac_group_table *t, hac_fixed_figures f, const uint8_t *const *values, size_t rows,
                    bool limbs)
{
    hac_few few;
    uint64_t counts[HAC_FEW_GROUPS];
    hac_fixed_sum sum = t->layout.fixed_sum;
    if (t->slots.on || t->groups == 0 || t->groups > COMPARED_MAX || sum == HAC_FIXED_UNSIGNED ||
        !find_compared(t, f.keys, values[0], rows, &few))
        return false;
    hac_few_count(&few, counts);
    for (size_t g = 0; g < few.groups; g++)
        *(uint64_t *)(void *)(hac_group_record(t, g) + f.rows) += counts[g];
    if (sum == HAC_FIXED_F64 && limbs)
        sum_limbs(t, f.sum, &few, t->exact.limbs);
    else if (sum == HAC_FIXED_F64)
        sum_floats(t, f, &few, values[1]);
    else if (sum == HAC_FIXED_SQUARES)
        sum_squares(t, f, &few, values[1]);
    else if (sum == HAC_FIXED_SIGNED)
        sum_integers(t, f.sum, &few, values[1]);
    return true;
}

/* ---- keys of a small range ---- */

/* Adds rows whose records are known. */
static inline __attribute__((always_inline)) void add_found(hac_group_table *t, hac_fixed_figures f,
                                                            const uint8_t *values, added sum, size_t rows)
{
    uint8_t *records = t->records;
    const uint64_t *at = t->at;
    for (size_t i = 0; i < rows; i++)
        add_row(records + at[i], f, values, i, sum);
}

/* Adds one batch to records that are found without a hash. *ret_done is false if the keys are too far apart,
 * or if the groups are in slots. */
static hac_status add_direct(hac_group_table *t, hac_fixed_figures f, const uint8_t *const *values,
                             size_t rows, bool limbs, bool *ret_done, hac_error *err)
{
    bool near =
        t->layout.fixed_sum == HAC_FIXED_F64 && limbs && t->groups > COMPARED_MAX && t->groups <= NEAR_LIMBS;
    *ret_done = false;
    if (t->slots.on || t->slots.unindexed || t->direct.off || (near && !t->slots.off))
        return HAC_OK;
    for (size_t i = 0; i < rows; i++) /* a copy that no other process can change */
        t->words[i] = f.keys == HAC_FIXED_U32   ? key_at(values[0], HAC_FIXED_U32, i)
                      : f.keys == HAC_FIXED_I32 ? key_at(values[0], HAC_FIXED_I32, i)
                                                : key_at(values[0], HAC_FIXED_64, i);
    hac_status status = hac_group_find_direct(t, rows, t->words, ret_done, err);
    if (status != HAC_OK || !*ret_done)
        return status;
    const uint8_t *converted = (const uint8_t *)t->exact.limbs;
    switch (t->layout.fixed_sum) {
    case HAC_FIXED_F64:
        if (limbs)
            add_found(t, f, converted, ADD_CONVERTED, rows);
        else
            add_found(t, f, values[1], ADD_SCALED, rows);
        break;
    case HAC_FIXED_SQUARES:
        add_found(t, f, values[1], ADD_SQUARES, rows);
        break;
    case HAC_FIXED_SIGNED:
        add_found(t, f, values[1], ADD_SIGNED, rows);
        break;
    case HAC_FIXED_UNSIGNED:
        add_found(t, f, values[1], ADD_UNSIGNED, rows);
        break;
    default:
        add_found(t, f, NULL, ADD_NOTHING, rows);
    }
    return HAC_OK;
}

/* ---- rows ---- */

/* Finds the rows' records in t->at and counts the rows. */
static uint32_t add_counts_apart(hac_group_table *t, hac_fixed_figures f, const uint8_t *keys, size_t rows,
                                 uint32_t partition)
{
    switch (f.keys) {
    case HAC_FIXED_U32:
        return add_apart(t, f, keys, HAC_FIXED_U32, NULL, ADD_NOTHING, rows, partition);
    case HAC_FIXED_I32:
        return add_apart(t, f, keys, HAC_FIXED_I32, NULL, ADD_NOTHING, rows, partition);
    default:
        return add_apart(t, f, keys, HAC_FIXED_64, NULL, ADD_NOTHING, rows, partition);
    }
}

/* Adds one batch. `form` and `sum` are compile-time constants. */
static inline __attribute__((always_inline)) uint32_t add_batch(hac_group_table *t, hac_fixed_figures f,
                                                                const uint8_t *keys, const uint8_t *values,
                                                                hac_fixed_sum form, added sum, size_t rows,
                                                                uint32_t partition)
{
    hac_fixed_figures s = hac_fixed_figures_of(form);
    s.scales = f.scales;
    bool near = t->groups <= NEAR_GROUPS;
#define ADD(form)                                                                                            \
    (!t->slots.on                                                                                            \
         ? add_apart(t, f, keys, form, values, sum == ADD_LIMBS ? ADD_CONVERTED : sum, rows, partition)      \
     : near ? add_near(t, s, keys, form, values, sum, rows, partition)                                       \
            : add_far(t, s, keys, form, values, sum, rows, partition))
    switch (f.keys) {
    case HAC_FIXED_U32:
        return ADD(HAC_FIXED_U32);
    case HAC_FIXED_I32:
        return ADD(HAC_FIXED_I32);
    default:
        return ADD(HAC_FIXED_64);
    }
#undef ADD
}

/* Adds limbs, to limbs if that is possible. */
static uint32_t add_limbs(hac_group_table *t, hac_fixed_figures f, const uint8_t *keys, size_t rows,
                          uint32_t partition)
{
    const uint8_t *limbs = (const uint8_t *)t->exact.limbs;
    hac_fixed_slots *s = &t->slots;
    if (s->on && s->limbs && s->since + rows > HAC_LIMB_ROWS)
        hac_fixed_slots_join(t);
    if (s->on && !s->limbs && (t->groups <= HAC_BATCH_ROWS || s->since / 4 >= t->groups))
        (void)hac_fixed_slots_split(t); /* which costs about as much as two rows for each group */
    s->since += rows;
    if (!s->on || s->limbs)
        return add_batch(t, f, keys, limbs, HAC_FIXED_F64, ADD_LIMBS, rows, partition);
    return add_batch(t, f, keys, limbs, HAC_FIXED_F64, ADD_CONVERTED, rows, partition);
}

/* Specialised for each kind of sum. */
static uint32_t add_sums(hac_group_table *t, hac_fixed_figures f, const uint8_t *const *values, size_t rows,
                         bool limbs, uint32_t partition)
{
    switch (t->layout.fixed_sum) {
    case HAC_FIXED_F64:
        if (limbs)
            return add_limbs(t, f, values[0], rows, partition);
        hac_fixed_slots_join(t);
        t->slots.since += rows;
        return add_batch(t, f, values[0], values[1], HAC_FIXED_F64, ADD_SCALED, rows, partition);
    case HAC_FIXED_SQUARES:
        return add_batch(t, f, values[0], values[1], HAC_FIXED_SQUARES, ADD_SQUARES, rows, partition);
    case HAC_FIXED_SIGNED:
        return add_batch(t, f, values[0], values[1], HAC_FIXED_SIGNED, ADD_SIGNED, rows, partition);
    case HAC_FIXED_UNSIGNED:
        return add_batch(t, f, values[0], values[1], HAC_FIXED_UNSIGNED, ADD_UNSIGNED, rows, partition);
    default:
        return add_batch(t, f, values[0], NULL, HAC_FIXED_COUNT, ADD_NOTHING, rows, partition);
    }
}

/* If there are only a few groups, they stay in the table's records, where add_few finds them. Groups that
 * came back from slots to be read are looked up again. */
static hac_status make_room(hac_group_table *t, size_t rows, hac_error *err)
{
    bool slots = false;
    hac_status status = t->slots.unindexed ? hac_group_leave_slots(t, err) : HAC_OK;
    if (status != HAC_OK)
        return status;
    if (t->slots.on || t->groups > COMPARED_MAX)
        status = hac_fixed_slots_ready(t, rows, &slots, err);
    return status == HAC_OK && !slots ? hac_group_reserve(t, rows, err) : status;
}

/* Adds a batch with values that do not fit their windows. */
static hac_status add_misfits(hac_group_table *t, hac_fixed_figures f, const uint8_t *const *values,
                              size_t rows, uint32_t partition, uint32_t *differ, hac_error *err)
{
    uint64_t bits;
    const hac_column v = {.type = t->layout.accumulators->type, .values = &bits};
    const hac_column *columns[2] = {&v, NULL};
    hac_status status = hac_group_leave_slots(t, err);
    if (status == HAC_OK)
        status = hac_group_reserve(t, rows, err);
    if (status != HAC_OK)
        return status;
    *differ |= add_counts_apart(t, f, values[0], rows, partition);
    for (size_t i = 0; status == HAC_OK && i < rows; i++) {
        const hac_accumulate_batch b = {.at = &t->at[i], .rows = 1, .stride = t->layout.stride};
        memcpy(&bits, values[1] + i * sizeof bits, sizeof bits);
        if (f.scales[bits >> 52] != 0 && t->layout.fixed_sum == HAC_FIXED_SQUARES)
            add_square(t->records + t->at[i] + f.sum, bits, f.scales);
        else if (f.scales[bits >> 52] != 0)
            hac_sum_add((hac_i128 *)(void *)(t->records + t->at[i] + f.sum), fitting(bits, f.scales));
        else
            status = hac_exact_add_beside(t, &b, t->layout.accumulators, columns, 0, err);
    }
    return status;
}

static hac_fixed_figures figures_of(const hac_group_layout *l, hac_fixed_keys keys)
{
    return (hac_fixed_figures){.stride = l->stride,
                               .rows = l->rows_offset,
                               .sum = l->fixed_sum == HAC_FIXED_COUNT ? 0 : l->accumulators[0].offset,
                               .keys = keys};
}

/* Adds at most HAC_BATCH_ROWS rows. Bits in which their hashes differ from the partition's are set in
 * *differ. */
static hac_status add_part(hac_group_table *t, hac_fixed_figures f, const uint8_t *const *part, size_t rows,
                           uint32_t partition, uint32_t *differ, hac_error *err)
{
    hac_fixed_sum sum = t->layout.fixed_sum;
    hac_exact_batch fit = HAC_EXACT_FIT;
    hac_status status = HAC_OK;
    if (sum == HAC_FIXED_F64 || sum == HAC_FIXED_SQUARES) {
        status = hac_exact_ready(t, part[1], rows, &fit, err);
        f.scales = t->exact.scales;
    }
    if (status == HAC_OK && fit == HAC_EXACT_MISFIT)
        return add_misfits(t, f, part, rows, partition, differ, err);
    if (status == HAC_OK && partition == UINT32_MAX && add_few(t, f, part, rows, fit == HAC_EXACT_LIMBS))
        return HAC_OK;
    bool done = false;
    if (status == HAC_OK && partition == UINT32_MAX)
        status = add_direct(t, f, part, rows, fit == HAC_EXACT_LIMBS, &done, err);
    if (status != HAC_OK || done)
        return status;
    status = make_room(t, rows, err);
    if (status == HAC_OK)
        *differ |= add_sums(t, f, part, rows, fit == HAC_EXACT_LIMBS, partition);
    return status;
}

static hac_status check_differ(uint32_t partition, uint32_t differ, hac_error *err)
{
    if (partition != UINT32_MAX && differ != 0)
        return hac_fail(err, HAC_INVALID, "a partial has a row in a partition that it does not belong to");
    return HAC_OK;
}

hac_status hac_fixed_rows_add(hac_group_table *t, const uint8_t *const *values, size_t rows,
                              uint32_t partition, hac_error *err)
{
    const hac_group_layout *l = &t->layout;
    const hac_fixed_figures f = figures_of(l, l->fixed);
    size_t width = hac_value_size(l->query->rows->outputs[0].type);
    uint32_t differ = 0;
    hac_status status = HAC_OK;
    for (size_t first = 0, n; status == HAC_OK && first < rows; first += n) {
        n = rows - first < HAC_BATCH_ROWS ? rows - first : HAC_BATCH_ROWS;
        const uint8_t *part[HAC_FIXED_COLUMNS] = {values[0] + first * width};
        if (l->fixed_sum != HAC_FIXED_COUNT)
            part[1] = values[1] + first * sizeof(uint64_t);
        status = add_part(t, f, part, n, partition, &differ, err);
    }
    return status == HAC_OK ? check_differ(partition, differ, err) : status;
}

hac_status hac_fixed_rows_add_batch(hac_group_table *t, const hac_column *columns, size_t rows,
                                    uint32_t partition, hac_error *err)
{
    const hac_group_layout *l = &t->layout;
    const uint8_t *part[HAC_FIXED_COLUMNS] = {columns[0].values};
    uint32_t differ = 0;
    if (l->n_accumulators != 0)
        part[1] = columns[l->accumulators[0].column].values;
    hac_status status = add_part(t, figures_of(l, HAC_FIXED_64), part, rows, partition, &differ, err);
    return status == HAC_OK ? check_differ(partition, differ, err) : status;
}

/* ---- groups of partials ---- */

/* Adds a group's record to another. `form` is a compile-time constant. */
static inline __attribute__((always_inline)) void add_record(uint8_t *record, hac_fixed_figures f,
                                                             const uint8_t *from, added form)
{
    const hac_i128 *window = (const hac_i128 *)(const void *)(from + f.sum);
    hac_limbs limbs;
    uint64_t *counts = (uint64_t *)(void *)(record + f.rows);
    const uint64_t *more = (const uint64_t *)(const void *)(from + f.rows);
    counts[0] += more[0];
    if (form == ADD_NOTHING)
        return;
    counts[1] += more[1];
    if (form == ADD_SQUARES) {
        hac_sum_add((hac_i128 *)(void *)(record + f.sum), *window);
        hac_exact_add3((uint64_t *)(void *)(record + f.sum + sizeof *window),
                       (const uint64_t *)(const void *)(window + 1));
        return;
    }
    if (form == ADD_LIMBS && hac_limbs_split(*window, &limbs)) /* as the caller knows */
        hac_limbs_add(record + f.sum, &limbs);
    else
        hac_sum_add((hac_i128 *)(void *)(record + f.sum), *window);
}

/* Computes t->hash and checks that all groups belong to the partition and have rows: a slot without rows
 * would count as free. */
static hac_status check_groups(hac_group_table *t, hac_fixed_figures f, const uint8_t *records, size_t n,
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
                                                                     added form, uint32_t partition,
                                                                     hac_error *err)
{
    const hac_fixed_figures f = hac_fixed_figures_of(form == ADD_NOTHING   ? HAC_FIXED_COUNT
                                                     : form == ADD_SQUARES ? HAC_FIXED_SQUARES
                                                                           : HAC_FIXED_SIGNED);
    uint8_t *slots = t->slots.records;
    uint64_t mask = t->slots.n - 1;
    hac_status status = check_groups(t, f, records, n, partition, err);
    for (size_t i = 0; status == HAC_OK && i < n; i++, records += f.stride) {
        uint64_t key, ahead = t->hash[i + FETCHED < n ? i + FETCHED : i];
        memcpy(&key, records, sizeof key);
        __builtin_prefetch(slots + (ahead & mask) * f.stride, 1);
        add_record(find_slot(t, slots, mask, f, key, t->hash[i]), f, records, form);
    }
    return status;
}

/* Whether the limbs of all sums are below those of MERGED_ROWS rows. */
#define MERGED_ROWS 4
static bool have_limbs(const uint8_t *records, size_t n)
{
    const hac_fixed_figures f = hac_fixed_figures_of(HAC_FIXED_F64);
    uint64_t large = 0;
    for (size_t i = 0; i < n; i++, records += f.stride) {
        int64_t top;
        memcpy(&top, records + f.sum + 8, sizeof top);
        large |= (uint64_t)top + (UINT64_C(1) << (2 * HAC_LIMB_BITS - 64));
    }
    return large >> (2 * HAC_LIMB_BITS - 64 + 1) == 0;
}

hac_status hac_fixed_rows_merge(hac_group_table *t, const uint8_t *records, size_t n, uint32_t partition,
                                hac_error *err)
{
    if (t->layout.fixed_sum == HAC_FIXED_COUNT)
        return merge_groups(t, records, n, ADD_NOTHING, partition, err);
    if (t->layout.fixed_sum == HAC_FIXED_SQUARES)
        return merge_groups(t, records, n, ADD_SQUARES, partition, err);
    if (t->groups == 0 && t->layout.fixed_sum == HAC_FIXED_F64)
        (void)hac_fixed_slots_split(t);
    if (t->slots.limbs && have_limbs(records, n) && t->slots.since + MERGED_ROWS * n <= HAC_LIMB_ROWS) {
        t->slots.since += MERGED_ROWS * n;
        return merge_groups(t, records, n, ADD_LIMBS, partition, err);
    }
    hac_fixed_slots_join(t);
    t->slots.since += n;
    return merge_groups(t, records, n, ADD_SIGNED, partition, err); /* all sums are 128 bits */
}

/* ---- partitions ---- */

static inline __attribute__((always_inline)) void find_partitions(const hac_group_table *t,
                                                                  const uint8_t *keys, hac_fixed_keys form,
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

void hac_fixed_rows_partitions(const hac_group_table *t, const uint8_t *keys, size_t rows, uint16_t *ret,
                               uint32_t *counts)
{
    switch (t->layout.fixed) {
    case HAC_FIXED_U32:
        find_partitions(t, keys, HAC_FIXED_U32, rows, ret, counts);
        break;
    case HAC_FIXED_I32:
        find_partitions(t, keys, HAC_FIXED_I32, rows, ret, counts);
        break;
    default:
        find_partitions(t, keys, HAC_FIXED_64, rows, ret, counts);
    }
}
