/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op.index: distinct values in ascending order, and each row's position among them. Fixed-width values become
 * unsigned integers in the same order. If these lie close together (ids), a bit for each possible value is
 * counted; otherwise they go through a hash table. All input is read once into memory of its own.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "codelet/hash.h"
#include "codelet/threads.h"
#include "op_index.h"

#define DENSE_RANGE 64   /* maximum bits of range for each row */
#define STEP        4096 /* rows that a thread takes at a time */

hac_status hac_op_check_of_index(const hac_op_request *r, hac_error *err)
{
    bool text = r->v[2].form == HAC_VECTOR_SPARSE_TEXT;
    if (r->n == 4)
        return hac_fail(err, HAC_INVALID, "3 or 5 operands are needed");
    if (text ? r->v[1].form != HAC_VECTOR_SPARSE_TEXT : !hac_op_is_dense(&r->v[1]))
        return hac_op_fail(err, 1, "the distinct values are not of the form of x");
    HAC_OP_TRY(hac_op_need_columns(r, 1, 1, err));
    for (size_t from = 2; from < r->n; from += 2) {
        size_t id = from == 2 ? 0 : 3;
        if ((r->v[from].form == HAC_VECTOR_SPARSE_TEXT) != text || (!text && !hac_op_is_dense(&r->v[from])))
            return hac_op_fail(err, from, "it is not of the form of the distinct values");
        HAC_OP_TRY(hac_op_need_kind(r, from, r->v[1].kind, err));
        HAC_OP_TRY(hac_op_need_columns(r, from, 1, err));
        HAC_OP_TRY(hac_op_need_dense(r, id, err));
        HAC_OP_TRY(hac_op_need_kind(r, id, HAC_KIND_U32, err));
        HAC_OP_TRY(hac_op_need_columns(r, id, 1, err));
        HAC_OP_TRY(hac_op_need_rows(r, id, r->v[from].rows, err));
    }
    return HAC_OK;
}

/* ---- fixed-width values as ordered integers ---- */

/* Floats in order: all NaNs are equal and last; -0.0 is 0.0. */
static uint64_t ordered_float(uint64_t bits, unsigned width)
{
    uint64_t sign = UINT64_C(1) << (width - 1), ones = sign | (sign - 1);
    uint64_t infinity = width == 64 ? UINT64_C(0x7ff0000000000000) : UINT64_C(0x7f800000);
    if ((bits & ~sign & ones) > infinity)
        return ones;
    if (bits == sign)
        bits = 0;
    return bits & sign ? ~bits & ones : bits | sign;
}

static uint64_t float_of(uint64_t key, unsigned width)
{
    uint64_t sign = UINT64_C(1) << (width - 1), ones = sign | (sign - 1);
    if (key == ones)
        return width == 64 ? UINT64_C(0x7ff8000000000000) : UINT64_C(0x7fc00000);
    return key & sign ? key & ~sign : ~key & ones;
}

static inline uint64_t key_of(uint64_t bits, unsigned kind)
{
    switch (kind) {
    case HAC_KIND_I32:
        return bits ^ UINT64_C(1) << 31;
    case HAC_KIND_I64:
        return bits ^ UINT64_C(1) << 63;
    case HAC_KIND_F32:
        return ordered_float(bits, 32);
    case HAC_KIND_F64:
        return ordered_float(bits, 64);
    default:
        return bits;
    }
}

/* `kind` is a constant at each call, so that each kind has its own loop. */
static inline __attribute__((always_inline)) void keys_of(const hac_op_vector *x, unsigned kind,
                                                          uint64_t first, uint64_t count, uint64_t *key)
{
    const uint64_t *wide = (const uint64_t *)(const void *)x->values + first;
    const uint32_t *narrow = (const uint32_t *)(const void *)x->values + first;
    if (x->size == 8)
        for (uint64_t i = 0; i < count; i++)
            key[i] = key_of(hac_op_once_u64(wide + i), kind);
    else
        for (uint64_t i = 0; i < count; i++)
            key[i] = key_of(hac_op_once_u32(narrow + i), kind);
}

static void read_keys(const hac_op_vector *x, uint64_t first, uint64_t count, uint64_t *key)
{
    switch (x->kind) {
    case HAC_KIND_BOOL:
        for (uint64_t i = 0; i < count; i++)
            key[i] = __atomic_load_n(x->values + first + i, __ATOMIC_RELAXED) != 0;
        return;
    case HAC_KIND_I32:
        keys_of(x, HAC_KIND_I32, first, count, key);
        return;
    case HAC_KIND_I64:
        keys_of(x, HAC_KIND_I64, first, count, key);
        return;
    case HAC_KIND_F32:
        keys_of(x, HAC_KIND_F32, first, count, key);
        return;
    case HAC_KIND_F64:
        keys_of(x, HAC_KIND_F64, first, count, key);
        return;
    default:
        keys_of(x, HAC_KIND_NONE, first, count, key);
    }
}

static void put_value(const hac_op_vector *to, uint64_t row, uint64_t key)
{
    uint64_t bits = key;
    if (to->kind == HAC_KIND_I32)
        bits = key ^ UINT64_C(1) << 31;
    else if (to->kind == HAC_KIND_I64)
        bits = key ^ UINT64_C(1) << 63;
    else if (to->kind == HAC_KIND_F32)
        bits = float_of(key, 32);
    else if (to->kind == HAC_KIND_F64)
        bits = float_of(key, 64);
    memcpy(hac_op_at(to, row), &bits, to->size);
}

/* The rows of x, followed by those of x2. */
typedef struct keys {
    uint64_t *key;
    uint64_t n, min, max;
} keys;

typedef struct index_reading {
    const hac_op_vector *x;
    uint64_t *key;
    uint64_t min[HAC_POOL_MAX], max[HAC_POOL_MAX]; /* for each thread */
} index_reading;

static hac_status read_some(void *context, uint64_t first, uint64_t count, unsigned worker, hac_error *err)
{
    index_reading *r = context;
    uint64_t *key = r->key + first, min = r->min[worker], max = r->max[worker];
    (void)err;
    read_keys(r->x, first, count, key);
    for (uint64_t i = 0; i < count; i++) {
        min = key[i] < min ? key[i] : min;
        max = key[i] > max ? key[i] : max;
    }
    r->min[worker] = min;
    r->max[worker] = max;
    return HAC_OK;
}

static hac_status read_all(const hac_op_request *r, keys *k, hac_error *err)
{
    uint64_t n = r->v[2].rows + (r->n > 3 ? r->v[4].rows : 0);
    *k = (keys){.key = hac_op_alloc(n, sizeof *k->key), .n = n, .min = UINT64_MAX};
    if (k->key == NULL)
        return hac_fail_no_memory(err);
    index_reading of = {.key = k->key};
    memset(of.min, 0xff, sizeof of.min);
    for (size_t x = 2; x < r->n; x += 2) {
        of.x = &r->v[x];
        HAC_OP_TRY(hac_op_for_rows(0, of.x->rows, STEP, read_some, &of, err));
        of.key += of.x->rows;
    }
    for (unsigned i = 0; i < HAC_POOL_MAX; i++) {
        k->min = of.min[i] < k->min ? of.min[i] : k->min;
        k->max = of.max[i] > k->max ? of.max[i] : k->max;
    }
    return HAC_OK;
}

/* ---- by bits ---- */

/* The number of bits before each word. Returns their sum. */
static uint64_t count_words(const uint64_t *bits, uint64_t words, uint32_t *before)
{
    uint64_t sum = 0;
    for (uint64_t w = 0; w < words; w++) {
        before[w] = (uint32_t)sum;
        sum += (uint64_t)__builtin_popcountll(bits[w]);
    }
    return sum;
}

/* How keys become ids. */
typedef struct lookup {
    uint32_t *ids;
    const uint64_t *key, *bits;
    const uint32_t *before;
    /* number of each value in the range; NULL: the range is larger than the number of rows */
    const uint32_t *numbers;
    uint64_t min;
} lookup;

static hac_status write_some(void *context, uint64_t first, uint64_t count, unsigned worker, hac_error *err)
{
    lookup l = *(const lookup *)context;
    (void)worker;
    (void)err;
    for (uint64_t row = first; row < first + count; row++) {
        uint64_t b = l.key[row] - l.min;
        if (l.numbers != NULL) {
            l.ids[row] = l.numbers[b];
            continue;
        }
        uint64_t below = l.bits[b / 64] & ((UINT64_C(1) << b % 64) - 1);
        l.ids[row] = l.before[b / 64] + (uint32_t)__builtin_popcountll(below);
    }
    return HAC_OK;
}

static hac_status index_by_bits(const hac_op_request *r, const keys *k, uint64_t *ret_distinct,
                                hac_error *err)
{
    uint64_t span = k->max - k->min, words = span / 64 + 1;
    hac_autofree uint64_t *bits = calloc(words, sizeof *bits);
    hac_autofree uint32_t *before = calloc(words, sizeof *before);
    hac_autofree uint32_t *numbers = span < k->n ? hac_op_alloc(span + 1, sizeof *numbers) : NULL;
    if (bits == NULL || before == NULL)
        return hac_fail_no_memory(err);
    for (uint64_t i = 0; i < k->n; i++) {
        uint64_t b = k->key[i] - k->min, bit = UINT64_C(1) << b % 64;
        /* without this test, the next keys of the word would wait for the store */
        if ((bits[b / 64] & bit) == 0)
            bits[b / 64] |= bit;
    }
    *ret_distinct = count_words(bits, words, before);
    if (*ret_distinct > r->v[1].rows || *ret_distinct > UINT32_MAX)
        return HAC_OK;
    uint64_t at = 0;
    for (uint64_t w = 0; w < words; w++)
        for (uint64_t left = bits[w]; left != 0; left &= left - 1) {
            uint64_t b = w * 64 + (uint64_t)__builtin_ctzll(left);
            if (numbers != NULL)
                numbers[b] = (uint32_t)at;
            put_value(&r->v[1], at++, k->min + b);
        }
    lookup l = {.key = k->key, .bits = bits, .before = before, .numbers = numbers, .min = k->min};
    for (size_t x = 2; x < r->n; x += 2) {
        l.ids = hac_op_index_ids(r, x);
        HAC_OP_TRY(hac_op_for_rows(0, r->v[x].rows, STEP, write_some, &l, err));
        l.key += r->v[x].rows;
    }
    return HAC_OK;
}

/* ---- by hashing ---- */

typedef struct index_slot {
    uint64_t key;
    uint32_t number; /* 1 + position of the first appearance; 0: free */
} index_slot;

typedef struct numbering {
    index_slot *slots;
    uint64_t start; /* seed of the hashes */
    uint64_t mask, n;
    uint64_t *distinct; /* in the order of their first appearance */
    uint64_t capacity;
} numbering;

static void numbering_clear(numbering *t)
{
    free(t->slots);
    free(t->distinct);
}

static index_slot *find_slot(const numbering *t, uint64_t key)
{
    uint64_t i = hac_hash_word(t->start, key) & t->mask;
    while (t->slots[i].number != 0 && t->slots[i].key != key)
        i = (i + 1) & t->mask;
    return &t->slots[i];
}

static hac_status grow(numbering *t, hac_error *err)
{
    uint64_t n = t->slots == NULL ? 1024 : (t->mask + 1) * 2;
    index_slot *slots = calloc(n, sizeof *slots);
    uint64_t *distinct = realloc(t->distinct, n / 2 * sizeof *distinct);
    if (distinct != NULL)
        t->distinct = distinct;
    if (slots == NULL || distinct == NULL) {
        free(slots);
        return hac_fail_no_memory(err);
    }
    index_slot *before = t->slots;
    t->slots = slots;
    t->mask = n - 1;
    t->capacity = n / 2;
    for (uint64_t i = 0; before != NULL && i < n / 2; i++)
        if (before[i].number != 0)
            *find_slot(t, before[i].key) = before[i];
    free(before);
    return HAC_OK;
}

/* Replaces each key by the number of its first appearance. */
static hac_status number_keys(keys *k, numbering *t, hac_error *err)
{
    for (uint64_t i = 0; i < k->n; i++) {
        if (t->n == t->capacity)
            HAC_OP_TRY(grow(t, err));
        index_slot *s = find_slot(t, k->key[i]);
        if (s->number == 0) {
            if (t->n == UINT32_MAX)
                return hac_fail(err, HAC_UNSUPPORTED, "more than 2^32 - 1 distinct values");
            t->distinct[t->n++] = k->key[i];
            *s = (index_slot){.key = k->key[i], .number = (uint32_t)t->n};
        }
        k->key[i] = s->number - 1;
    }
    return HAC_OK;
}

typedef struct ranked_key {
    uint64_t key;
    uint32_t number;
} ranked_key;

static int by_key(const void *a, const void *b)
{
    const ranked_key *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static hac_status index_by_hash(const hac_op_request *r, keys *k, uint64_t *ret_distinct, hac_error *err)
{
    hac_cleanup(numbering_clear) numbering t = {.start = hac_op_index_hash_start()};
    HAC_OP_TRY(number_keys(k, &t, err));
    *ret_distinct = t.n;
    if (t.n > r->v[1].rows)
        return HAC_OK;
    hac_autofree ranked_key *order = hac_op_alloc(t.n, sizeof *order);
    hac_autofree uint32_t *ranks = hac_op_alloc(t.n, sizeof *ranks);
    if (order == NULL || ranks == NULL)
        return hac_fail_no_memory(err);
    for (uint64_t i = 0; i < t.n; i++)
        order[i] = (ranked_key){.key = t.distinct[i], .number = (uint32_t)i};
    qsort(order, t.n, sizeof *order, by_key);
    for (uint64_t i = 0; i < t.n; i++) {
        ranks[order[i].number] = (uint32_t)i;
        put_value(&r->v[1], i, order[i].key);
    }
    hac_op_put_ids(r, k->key, ranks);
    return HAC_OK;
}

static hac_status index_values(const hac_op_request *r, uint64_t *ret_distinct, hac_error *err)
{
    keys k;
    hac_status status = read_all(r, &k, err);
    if (status == HAC_OK && k.n != 0) {
        uint64_t range = k.max - k.min;
        status = range / DENSE_RANGE <= k.n ? index_by_bits(r, &k, ret_distinct, err)
                                            : index_by_hash(r, &k, ret_distinct, err);
    }
    free(k.key);
    return status;
}

hac_status hac_op_do_index(hac_op_request *r, uint64_t *values, size_t *n_values, hac_error *err)
{
    uint64_t distinct = 0, bytes = 0;
    if (r->v[2].form == HAC_VECTOR_SPARSE_TEXT)
        HAC_OP_TRY(hac_op_index_texts(r, &distinct, &bytes, err));
    else
        HAC_OP_TRY(index_values(r, &distinct, err));
    values[0] = values[1] = r->v[0].rows;
    values[2] = distinct;
    values[3] = r->v[2].form == HAC_VECTOR_SPARSE_TEXT ? bytes : distinct;
    *n_values = 4;
    return HAC_OK;
}
