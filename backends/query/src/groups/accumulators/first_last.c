/* SPDX-License-Identifier: Apache-2.0 */
/* The first and the last value that is not null. */
#include "accumulator.h"

typedef struct one_value {
    uint64_t set, words[2];
} one_value;

static hac_status keep_value(hac_group_table *t, const hac_accumulator *a, one_value *to,
                             const uint64_t words[2], hac_error *err)
{
    uint64_t copy[2] = {words[0], words[1]};
    hac_status status = a->repr == HAC_REPR_STRING ? hac_group_arena_keep(&t->arena, copy, err) : HAC_OK;
    if (status == HAC_OK)
        *to = (one_value){.set = 1, .words = {copy[0], copy[1]}};
    return status;
}

static hac_status add_first(hac_group_table *t, const hac_accumulate_batch *b, const hac_accumulator *a,
                            const hac_column *v, hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; status == HAC_OK && i < b->rows; i++) {
        one_value *to = PLACE(one_value, b, a->offset, i);
        uint64_t words[2];
        if (to->set != 0 || (v->states != NULL && v->states[i] != 0))
            continue;
        hac_value_words(v, a->repr, i, words);
        status = keep_value(t, a, to, words, err);
    }
    return status;
}

/* Only the last value of a group in the batch is kept, because strings are copied. The loop runs backwards;
 * `set` is 2 for groups whose value this batch has set. */
static hac_status add_last(hac_group_table *t, const hac_accumulate_batch *b, const hac_accumulator *a,
                           const hac_column *v, hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t i = b->rows; status == HAC_OK && i-- > 0;) {
        one_value *to = PLACE(one_value, b, a->offset, i);
        uint64_t words[2];
        if (to->set == 2 || (v->states != NULL && v->states[i] != 0))
            continue;
        hac_value_words(v, a->repr, i, words);
        status = keep_value(t, a, to, words, err);
        to->set = 2;
    }
    for (size_t i = 0; i < b->rows; i++) {
        one_value *to = PLACE(one_value, b, a->offset, i);
        to->set = to->set != 0;
    }
    return status;
}

static hac_status merge_value(hac_group_table *t, const hac_accumulate_batch *b, const hac_accumulator *a,
                              const uint8_t *from, hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; status == HAC_OK && i < b->rows; i++) {
        const one_value *value = FROM(one_value, b, a->offset, from, i);
        one_value *old = PLACE(one_value, b, a->offset, i);
        if (value->set != 0 && (a->kind == HAC_ACCUMULATOR_LAST || old->set == 0))
            status = keep_value(t, a, old, value->words, err);
    }
    return status;
}

static size_t value_strings(const hac_accumulator *a, uint8_t *accumulator, uint64_t **ret)
{
    one_value *value = (one_value *)(void *)accumulator;
    ret[0] = value->words;
    return a->repr == HAC_REPR_STRING && value->set != 0;
}

static hac_status value_result(const hac_result_cell *cell, const hac_accumulator *a, const uint8_t *from,
                               hac_error *err)
{
    const one_value *value = (const one_value *)(const void *)from;
    (void)a;
    (void)err;
    hac_group_put_words(&cell->t->results->text, cell->v, cell->row, value->words);
    return HAC_OK;
}

_Static_assert(sizeof(one_value) == 24, "as hac_accumulator_info has it");

const hac_accumulator_ops hac_accumulator_first = {
    .strings = value_strings, .add = add_first, .merge = merge_value, .result = value_result};
const hac_accumulator_ops hac_accumulator_last = {
    .strings = value_strings, .add = add_last, .merge = merge_value, .result = value_result};
