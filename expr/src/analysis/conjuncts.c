/* SPDX-License-Identifier: Apache-2.0 */
#include "expr/conjuncts.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "bounds.h"
#include "program/op_info.h"

HAC_DEFINE_CLEANUP(hac_program_builder *, hac_program_builder_free)

/* ---- splitting -------------------------------------------------------------------------------------- */

typedef struct parts {
    hac_condition at[HAC_CONJUNCTS_MAX];
    size_t n;
    uint8_t
        *seen; /* for each definition: 1 if it is a conjunct, 2 if its negation is; duplicates count once */
} parts;

static void remove_part(parts *p, size_t i)
{
    memmove(&p->at[i], &p->at[i + 1], (--p->n - i) * sizeof *p->at);
}

static bool is_new(const parts *p, hac_condition condition)
{
    uint8_t bit = condition.negated ? 2 : 1;
    bool seen = (p->seen[condition.at] & bit) != 0;
    p->seen[condition.at] |= bit;
    return !seen;
}

static void split(const hac_program_slices *slices, parts *p)
{
    hac_condition two[2];
    size_t i = 0;
    p->at[p->n++] = hac_condition_of(slices, hac_program_slices_output(slices, 0), false);
    is_new(p, p->at[0]);
    while (i < p->n) {
        if (p->n == HAC_CONJUNCTS_MAX || !hac_condition_parts(slices, p->at[i], false, two)) {
            i++;
            continue;
        }
        remove_part(p, i);
        for (unsigned k = 2; k-- > 0;) {
            if (!is_new(p, two[k]))
                continue;
            memmove(&p->at[i + 1], &p->at[i], (p->n++ - i) * sizeof *p->at);
            p->at[i] = two[k];
        }
    }
}

/* ---- programs ------------------------------------------------------------------------------------------ */

static void describe(const hac_program *program, hac_conjunct *ret)
{
    bool reads[HAC_PROGRAM_INPUTS_MAX] = {false};
    ret->fails = hac_program_may_fail(program);
    hac_program_reads(program, reads);
    for (size_t i = 0; i < program->n_inputs; i++)
        if (reads[i])
            ret->columns[ret->n_columns++] = (uint16_t)i;
}

static hac_status make_program(hac_program_slices *slices, hac_condition condition,
                               hac_program_builder *builder, hac_program **ret, hac_error *err)
{
    const hac_program *filter = slices->program;
    for (size_t i = 0; i < filter->n_inputs; i++)
        if (filter->inputs[i].kind != HAC_KIND_NONE)
            hac_program_builder_input(builder, i, filter->inputs[i]);
    hac_value_id value = hac_program_slice_copy(slices, condition.at, builder);
    if (condition.negated)
        value = hac_program_builder_op(builder, HAC_OP_NOT, value, 0, 0, 0);
    hac_program_builder_output(builder, value, filter->outputs[0].type);
    return hac_program_builder_finish(builder, ret, err);
}

static hac_status make_conjunct(hac_program_slices *slices, hac_condition condition,
                                hac_program_builder *builder, hac_conjuncts *ret, hac_error *err)
{
    hac_conjunct *conjunct = &ret->conjuncts[ret->n];
    hac_status status = make_program(slices, condition, builder, &conjunct->program, err);
    if (status != HAC_OK)
        return status;
    describe(conjunct->program, conjunct);
    hac_bound *bounds = ret->bounds + ret->n_bounds;
    size_t n = 0;
    status = hac_bounds_of(slices, condition, bounds, &n, err);
    for (size_t i = 0; i < n; i++)
        bounds[i].conjunct = (uint16_t)ret->n;
    if (n > 0)
        conjunct->fails = false;
    ret->n_bounds += n;
    ret->n++;
    return status;
}

static hac_status make_all(hac_program_slices *slices, const parts *p, hac_conjuncts *ret, hac_error *err)
{
    hac_cleanup(hac_program_builder_free_cleanup) hac_program_builder *builder = NULL;
    ret->conjuncts = calloc(p->n + 1, sizeof *ret->conjuncts);
    ret->bounds = calloc(p->n * HAC_BOUNDS_EACH + 1, sizeof *ret->bounds);
    if (ret->conjuncts == NULL || ret->bounds == NULL)
        return hac_fail_no_memory(err);
    hac_status status = hac_program_builder_new(&builder, err);
    for (size_t i = 0; status == HAC_OK && i < p->n; i++)
        status = make_conjunct(slices, p->at[i], builder, ret, err);
    return status;
}

hac_status hac_conjuncts_find(const hac_program *filter, hac_conjuncts *ret, hac_error *err)
{
    hac_cleanup(hac_program_slices_clear) hac_program_slices slices = {0};
    hac_cleanup(hac_conjuncts_clear) hac_conjuncts made = {0};
    if (filter->n_outputs != 1 || filter->outputs[0].type.kind != HAC_KIND_BOOL)
        return hac_fail(err, HAC_INVALID, "a filter has one result, true or false");
    hac_autofree uint8_t *seen = calloc(filter->n_instructions + 1, 1);
    hac_status status = hac_program_slices_find(filter, &slices, err);
    if (status != HAC_OK || seen == NULL)
        return seen == NULL ? hac_fail_no_memory(err) : status;
    parts p = {.seen = seen};
    split(&slices, &p);
    status = make_all(&slices, &p, &made, err);
    if (status != HAC_OK)
        return status;
    *ret = made;
    made = (hac_conjuncts){0};
    return HAC_OK;
}

bool hac_conjuncts_fail(const hac_conjuncts *conjuncts)
{
    for (size_t i = 0; i < conjuncts->n; i++)
        if (conjuncts->conjuncts[i].fails)
            return true;
    return false;
}

void hac_conjuncts_clear(hac_conjuncts *conjuncts)
{
    for (size_t i = 0; i < conjuncts->n; i++)
        hac_program_free(conjuncts->conjuncts[i].program);
    for (size_t i = 0; i < conjuncts->n_bounds; i++)
        free(conjuncts->bounds[i].values);
    free(conjuncts->conjuncts);
    free(conjuncts->bounds);
    *conjuncts = (hac_conjuncts){0};
}
