/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "expr/query_facts.h"
#include "parquet_state.h"
#include "query_machine.h"

/* ---- the cut ---- */

void hac_parquet_leave_cut(parquet_source *p)
{
    p->found.n = p->n_filter;
    p->found.n_bounds = p->n_filter_bounds;
    hac_cut_filter_clear(&p->cut);
}

/* Rows that are left out must not be errors: neither their values nor what is made of these. */
bool hac_parquet_may_cut(const hac_source *source, size_t column)
{
    const parquet_source *p = source->state;
    if (!p->applied || p->fails || !p->readers[column].prunes ||
        !hac_cut_filter_can(source->columns[column].type) || hac_program_may_fail(source->query->rows))
        return false;
    for (size_t i = 0; i < source->n_columns; i++)
        if (p->readers[i].column != NULL && hac_parquet_column_may_fail(p->readers[i].column))
            return false;
    return p->readers[column].column != NULL;
}

bool hac_parquet_source_rank(const hac_source *source, size_t column, bool descending, uint64_t rows,
                             hac_constant *ret, const uint8_t **ret_bytes)
{
    const parquet_source *p = source->state;
    return source->query->filter == NULL && !hac_parquet_unnests(source) && p->readers[column].prunes &&
           hac_parquet_rank(p->file, p->readers[column].leaf, p->first_group, p->end_group, rows, descending,
                            ret, ret_bytes);
}

hac_status hac_parquet_set_cut(hac_source *source, const hac_source_cut *cut, hac_error *err)
{
    parquet_source *p = source->state;
    conjunct *c = &p->conjuncts[p->n_filter];
    hac_parquet_leave_cut(p);
    hac_machine_c_free(c->machine);
    c->machine = NULL;
    c->verdicts.known = false;
    hac_status status = hac_cut_filter_make(cut, source->columns[cut->column].type, &p->cut, err);
    if (status == HAC_OK)
        status = hac_query_machine(p->cut.found.conjuncts[0].program, &c->machine, err);
    if (status != HAC_OK)
        return status;
    size_t n_bounds = p->n_filter_bounds + p->cut.found.n_bounds;
    hac_bound *bounds = realloc(p->found.bounds, (n_bounds + 1) * sizeof *bounds);
    if (bounds == NULL)
        return hac_fail_no_memory(err);
    p->found.bounds = bounds;
    for (size_t i = 0; i < p->cut.found.n_bounds; i++) {
        bounds[p->n_filter_bounds + i] = p->cut.found.bounds[i];
        bounds[p->n_filter_bounds + i].conjunct = (uint16_t)p->n_filter;
    }
    p->found.n_bounds = n_bounds;
    p->found.conjuncts[p->found.n++] = p->cut.found.conjuncts[0];
    c->conjunct = &p->found.conjuncts[p->n_filter];
    p->leaves[cut->column] = p->readers[cut->column].leaf;
    return HAC_OK;
}

/* ---- answers ---- */

static unsigned asked_of(uint8_t wants)
{
    return ((wants & HAC_WANTS_MIN) != 0 ? HAC_PARQUET_ASK_MIN : 0u) |
           ((wants & HAC_WANTS_MAX) != 0 ? HAC_PARQUET_ASK_MAX : 0u);
}

hac_status hac_parquet_let_answer(hac_source *source, const uint8_t *wants, hac_error *err)
{
    parquet_source *p = source->state;
    for (size_t i = 0; i < source->n_columns; i++) {
        const column_reader *r = &p->readers[i];
        if (r->column == NULL || !r->prunes || hac_parquet_column_may_fail(r->column))
            return HAC_OK;
    }
    p->wants = malloc(source->n_columns + 1);
    if (p->wants == NULL)
        return hac_fail_no_memory(err);
    memcpy(p->wants, wants, source->n_columns);
    return HAC_OK;
}

bool hac_parquet_is_answered(const hac_source *source, size_t group)
{
    const parquet_source *p = source->state;
    hac_parquet_answer answer;
    if (p->wants == NULL)
        return false;
    for (size_t i = 0; i < source->n_columns; i++)
        if (!hac_parquet_answers(p->file, group, p->readers[i].leaf, asked_of(p->wants[i]), &answer))
            return false;
    return true;
}

/* Leaves out a row group; the chunk that has its first row gives the answer. */
hac_status hac_parquet_note_answer(parquet_source *p, hac_error *err)
{
    if (p->row != p->file->groups[p->group].first_row)
        return HAC_OK;
    if (p->n_answered == p->answers_capacity) {
        size_t capacity = 2 * p->answers_capacity + 8,
               *answered = realloc(p->answered, capacity * sizeof *answered);
        if (answered == NULL)
            return hac_fail_no_memory(err);
        p->answered = answered;
        p->answers_capacity = capacity;
    }
    p->answered[p->n_answered++] = p->group;
    p->groups_answered++;
    return HAC_OK;
}

static void put_constant(hac_source_column *column, size_t row, const hac_constant *value,
                         const uint8_t *bytes, const uint8_t *base)
{
    uint64_t words[2] = {value->low, value->high};
    hac_string_ref ref = {0, (uint32_t)value->high};
    size_t size = hac_repr_size(column->repr);
    if (column->repr == HAC_REPR_STRING)
        ref.offset = (uint32_t)(bytes - base + (ptrdiff_t)value->low); /* a footer has less than 4 GiB */
    memcpy((uint8_t *)column->values + row * size,
           column->repr == HAC_REPR_STRING ? (const void *)&ref : (const void *)words, size);
}

/* Two rows: the smallest value and the largest one, or whichever is wanted. */
static void put_answer(hac_source_column *column, uint8_t wants, const hac_parquet_answer *answer)
{
    if (!answer->any || (wants & (HAC_WANTS_MIN | HAC_WANTS_MAX)) == 0) {
        memset(column->values, 0, 2 * hac_repr_size(column->repr));
        memset(column->states, HAC_ROW_NULL, 2);
        column->marked = true;
        return;
    }
    bool min = (wants & HAC_WANTS_MIN) != 0, max = (wants & HAC_WANTS_MAX) != 0;
    const uint8_t *low = min ? answer->min_bytes : answer->max_bytes, *high = max ? answer->max_bytes : low;
    const uint8_t *base = low < high ? low : high;
    put_constant(column, 0, min ? &answer->min : &answer->max, low, base);
    put_constant(column, 1, max ? &answer->max : &answer->min, high, base);
    column->bytes = base;
}

bool hac_parquet_next_answer(hac_source *source, uint64_t *ret_rows, uint64_t *ret_nulls)
{
    parquet_source *p = source->state;
    if (p->answers_given == p->n_answered)
        return false;
    size_t group = p->answered[p->answers_given++];
    for (size_t i = 0; i < source->n_columns; i++) {
        hac_parquet_answer answer = {.any = false};
        (void)hac_parquet_answers(p->file, group, p->readers[i].leaf, asked_of(p->wants[i]), &answer);
        ret_nulls[i] = answer.nulls;
        put_answer(&source->columns[i], p->wants[i], &answer);
        source->columns[i].missing = false;
    }
    *ret_rows = p->file->groups[group].rows;
    source->rows = 2;
    return true;
}
