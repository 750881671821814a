/* SPDX-License-Identifier: Apache-2.0 */
/* Minimum and maximum. Floats are kept in the order of hac_order_f64. */
#include "accumulator.h"
#include "sources/string_words.h"

/* ---- empty records ---- */

static void put_end(uint8_t *at, hac_repr repr, bool largest)
{
    int64_t word = largest ? INT64_MAX : INT64_MIN;
    uint64_t unsigned_word = largest ? UINT64_MAX : 0;
    if (repr == HAC_REPR_STRING) {
        memset(at, 0xff, 16);
    } else if (repr == HAC_REPR_I128) {
        uint64_t low = largest ? UINT64_MAX : 0;
        memcpy(at, &low, 8);
        memcpy(at + 8, &word, 8);
    } else if (repr == HAC_REPR_U64 || repr == HAC_REPR_BOOL) {
        memcpy(at, &unsigned_word, 8);
    } else {
        memcpy(at, &word, 8);
    }
}

static void empty_min(const hac_accumulator *a, uint8_t *ret)
{
    put_end(ret, a->repr, true);
}

static void empty_max(const hac_accumulator *a, uint8_t *ret)
{
    put_end(ret, a->repr, false);
}

/* ---- adding ---- */

#define DEFINE_MIN_MAX(name, stored, value_type, expression)                                                 \
    static void min_##name(const hac_accumulate_batch *b, uint32_t offset, const value_type *v,              \
                           const uint8_t *states)                                                            \
    {                                                                                                        \
        EACH_VALUE(states, b->rows, stored *to = PLACE(stored, b, offset, i); stored x = (expression);       \
                   *to = x < *to ? x : *to)                                                                  \
    }                                                                                                        \
    static void max_##name(const hac_accumulate_batch *b, uint32_t offset, const value_type *v,              \
                           const uint8_t *states)                                                            \
    {                                                                                                        \
        EACH_VALUE(states, b->rows, stored *to = PLACE(stored, b, offset, i); stored x = (expression);       \
                   *to = x > *to ? x : *to)                                                                  \
    }

DEFINE_MIN_MAX(i64, int64_t, int64_t, v[i])
DEFINE_MIN_MAX(u64, uint64_t, uint64_t, v[i])
DEFINE_MIN_MAX(bool, uint64_t, uint8_t, (uint64_t)(v[i] != 0))
DEFINE_MIN_MAX(f64, int64_t, double, hac_order_f64(v[i]))
DEFINE_MIN_MAX(f32, int64_t, float, hac_order_f64((double)v[i]))
DEFINE_MIN_MAX(i128, hac_i128, hac_i128, v[i])

static hac_status keep_string(hac_group_table *t, uint64_t *to, const uint64_t words[2], bool largest,
                              hac_error *err)
{
    uint64_t copy[2] = {words[0], words[1]};
    if (to[0] != HAC_STRING_NONE) {
        int order = hac_string_words_compare(words, to);
        if (largest ? order <= 0 : order >= 0)
            return HAC_OK;
    }
    hac_status status = hac_group_arena_keep(&t->arena, copy, err);
    if (status == HAC_OK)
        memcpy(to, copy, sizeof copy);
    return status;
}

static hac_status add_strings(hac_group_table *t, const hac_accumulate_batch *b, const hac_accumulator *a,
                              const hac_column *v, hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; status == HAC_OK && i < b->rows; i++) {
        uint64_t words[2];
        if (v->states != NULL && v->states[i] != 0)
            continue;
        hac_value_words(v, a->repr, i, words);
        status = keep_string(t, PLACE(uint64_t, b, a->offset, i), words, a->kind == HAC_ACCUMULATOR_MAX, err);
    }
    return status;
}

#define ADD(name) (largest ? max_##name : min_##name)(b, a->offset, v->values, v->states)

static hac_status add_min_max(hac_group_table *t, const hac_accumulate_batch *b, const hac_accumulator *a,
                              const hac_column *v, hac_error *err)
{
    bool largest = a->kind == HAC_ACCUMULATOR_MAX;
    switch (a->repr) {
    case HAC_REPR_STRING:
        return add_strings(t, b, a, v, err);
    case HAC_REPR_BOOL:
        ADD(bool);
        break;
    case HAC_REPR_U64:
        ADD(u64);
        break;
    case HAC_REPR_F32:
        ADD(f32);
        break;
    case HAC_REPR_F64:
        ADD(f64);
        break;
    case HAC_REPR_I128:
        ADD(i128);
        break;
    default:
        ADD(i64);
    }
    return HAC_OK;
}

/* ---- merging ---- */

static void merge_words(const hac_accumulator *a, uint8_t *to, const uint8_t *from)
{
    bool largest = a->kind == HAC_ACCUMULATOR_MAX, take;
    if (a->repr == HAC_REPR_I128)
        take = largest ? *(const hac_i128 *)(const void *)from > *(hac_i128 *)(void *)to
                       : *(const hac_i128 *)(const void *)from < *(hac_i128 *)(void *)to;
    else if (a->repr == HAC_REPR_U64 || a->repr == HAC_REPR_BOOL)
        take = largest ? *(const uint64_t *)(const void *)from > *(uint64_t *)(void *)to
                       : *(const uint64_t *)(const void *)from < *(uint64_t *)(void *)to;
    else
        take = largest ? *(const int64_t *)(const void *)from > *(int64_t *)(void *)to
                       : *(const int64_t *)(const void *)from < *(int64_t *)(void *)to;
    if (take)
        memcpy(to, from, a->bytes);
}

static hac_status merge_string(hac_group_table *t, const hac_accumulator *a, uint8_t *to, const uint8_t *from,
                               hac_error *err)
{
    const uint64_t *words = (const uint64_t *)(const void *)from;
    if (words[0] == HAC_STRING_NONE)
        return HAC_OK;
    return keep_string(t, (uint64_t *)(void *)to, words, a->kind == HAC_ACCUMULATOR_MAX, err);
}

static hac_status merge_min_max(hac_group_table *t, const hac_accumulate_batch *b, const hac_accumulator *a,
                                const uint8_t *from, hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; status == HAC_OK && i < b->rows; i++) {
        uint8_t *to = PLACE(uint8_t, b, a->offset, i);
        if (a->repr == HAC_REPR_STRING)
            status = merge_string(t, a, to, FROM(uint8_t, b, a->offset, from, i), err);
        else
            merge_words(a, to, FROM(uint8_t, b, a->offset, from, i));
    }
    return status;
}

/* ---- results ---- */

static size_t min_max_strings(const hac_accumulator *a, uint8_t *accumulator, uint64_t **ret)
{
    ret[0] = (uint64_t *)(void *)accumulator;
    return a->repr == HAC_REPR_STRING && ret[0][0] != HAC_STRING_NONE;
}

static hac_status min_max_result(const hac_result_cell *cell, const hac_accumulator *a, const uint8_t *from,
                                 hac_error *err)
{
    const uint64_t *words = (const uint64_t *)(const void *)from;
    (void)a;
    (void)err;
    hac_group_put_ordered(&cell->t->results->text, cell->v, cell->row, words);
    return HAC_OK;
}

const hac_accumulator_ops hac_accumulator_min = {.strings = min_max_strings,
                                                 .empty = empty_min,
                                                 .add = add_min_max,
                                                 .merge = merge_min_max,
                                                 .result = min_max_result};
const hac_accumulator_ops hac_accumulator_max = {.strings = min_max_strings,
                                                 .empty = empty_max,
                                                 .add = add_min_max,
                                                 .merge = merge_min_max,
                                                 .result = min_max_result};
