/* SPDX-License-Identifier: Apache-2.0 */
/* The value `a` of the row with the smallest or largest `b`. Of rows with equal b the smallest a is kept, so
 * that the order in which rows are added does not matter. */
#include "accumulator.h"

typedef enum kept {
    NOTHING = 0,
    NULL_A,  /* b, and an a that is null */
    BOTH_SET /* both */
} kept;

/* Words are ordered (hac_ordered_words). */
typedef struct pair {
    uint64_t kept;
    uint64_t a[2], b[2];
} pair;

/* While a batch is added, strings of pairs with this bit in `kept` lie in the batch. */
#define BORROWED UINT64_C(4)

/* Whether `x` is to be kept in place of `old`. */
static bool better(const hac_accumulator *a, const pair *x, const pair *old)
{
    if ((old->kept & ~BORROWED) == NOTHING)
        return true;
    int order = hac_ordered_compare(a->second_repr, x->b, old->b);
    if (order != 0)
        return (order < 0) == (a->kind == HAC_ACCUMULATOR_ARG_MIN);
    if (x->kept == NULL_A || (old->kept & ~BORROWED) == NULL_A)
        return x->kept != NULL_A && (old->kept & ~BORROWED) == NULL_A;
    return hac_ordered_compare(a->repr, x->a, old->a) < 0;
}

/* Copies the pair's strings into the table's arena. */
static hac_status own(hac_group_table *t, const hac_accumulator *a, pair *p, hac_error *err)
{
    hac_status status = HAC_OK;
    p->kept &= ~BORROWED;
    if (a->second_repr == HAC_REPR_STRING)
        status = hac_group_arena_keep(&t->arena, p->b, err);
    if (status == HAC_OK && a->repr == HAC_REPR_STRING && p->kept == BOTH_SET)
        status = hac_group_arena_keep(&t->arena, p->a, err);
    return status;
}

static hac_status add_pairs(hac_group_table *t, const hac_accumulate_batch *b, const hac_accumulator *a,
                            const hac_column *v, hac_error *err)
{
    const hac_column *by = &b->columns[a->second];
    hac_status status = HAC_OK;
    for (size_t i = 0; i < b->rows; i++) {
        pair *to = PLACE(pair, b, a->offset, i);
        pair x = {.kept = v->states != NULL && v->states[i] != 0 ? NULL_A : BOTH_SET};
        if (by->states != NULL && by->states[i] != 0)
            continue;
        hac_ordered_words(by, a->second_repr, i, x.b);
        if (x.kept == BOTH_SET)
            hac_ordered_words(v, a->repr, i, x.a);
        if (!better(a, &x, to))
            continue;
        *to = x;
        to->kept |= BORROWED;
    }
    for (size_t i = 0; status == HAC_OK && i < b->rows; i++) {
        pair *to = PLACE(pair, b, a->offset, i);
        if ((to->kept & BORROWED) != 0)
            status = own(t, a, to, err);
    }
    return status;
}

static hac_status merge_pairs(hac_group_table *t, const hac_accumulate_batch *b, const hac_accumulator *a,
                              const uint8_t *from, hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; status == HAC_OK && i < b->rows; i++) {
        pair *to = PLACE(pair, b, a->offset, i);
        pair x = *FROM(pair, b, a->offset, from, i);
        if (x.kept > BOTH_SET)
            return hac_fail(err, HAC_INVALID, "a partial's pair of values is damaged");
        if (x.kept == NOTHING || !better(a, &x, to))
            continue;
        *to = x;
        status = own(t, a, to, err);
    }
    return status;
}

static size_t pair_strings(const hac_accumulator *a, uint8_t *accumulator, uint64_t **ret)
{
    pair *p = (pair *)(void *)accumulator;
    size_t n = 0;
    if (p->kept == BOTH_SET && a->repr == HAC_REPR_STRING)
        ret[n++] = p->a;
    if (p->kept != NOTHING && a->second_repr == HAC_REPR_STRING)
        ret[n++] = p->b;
    return n;
}

static hac_status pair_result(const hac_result_cell *cell, const hac_accumulator *a, const uint8_t *from,
                              hac_error *err)
{
    const pair *p = (const pair *)(const void *)from;
    (void)a;
    (void)err;
    if (p->kept == BOTH_SET)
        hac_group_put_ordered(&cell->t->results->text, cell->v, cell->row, p->a);
    else
        hac_group_put_null(cell->v, cell->row);
    return HAC_OK;
}

_Static_assert(sizeof(pair) == 40, "as hac_accumulator_info has it");

const hac_accumulator_ops hac_accumulator_arg_min = {
    .strings = pair_strings, .add = add_pairs, .merge = merge_pairs, .result = pair_result};
const hac_accumulator_ops hac_accumulator_arg_max = {
    .strings = pair_strings, .add = add_pairs, .merge = merge_pairs, .result = pair_result};
