/* SPDX-License-Identifier: Apache-2.0 */
#include "bounds.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "program/op_info.h"

#define ALTERNATIVES_MAX 1024 /* parts of `x = 1 or x = 2 …` */

/* ---- conditions ---------------------------------------------------------------------------------------- */

hac_condition hac_condition_of(const hac_program_slices *slices, size_t at, bool negated)
{
    while (slices->program->instructions[at].op == HAC_OP_NOT) {
        at = slices->operands[at][0];
        negated = !negated;
    }
    return (hac_condition){(uint16_t)at, negated};
}

bool hac_condition_parts(const hac_program_slices *slices, hac_condition condition, bool any,
                         hac_condition ret[2])
{
    unsigned op = slices->program->instructions[condition.at].op;
    if (op != (any != condition.negated ? HAC_OP_OR : HAC_OP_AND))
        return false;
    for (unsigned i = 0; i < 2; i++)
        ret[i] = hac_condition_of(slices, slices->operands[condition.at][i], condition.negated);
    return true;
}

/* ---- making bounds ------------------------------------------------------------------------------------- */

typedef struct finder {
    hac_program_slices *slices;
    hac_bound *ret;
    size_t n;
    hac_error *err;
} finder;

static hac_status add(finder *f, uint16_t column, hac_comparison comparison, const hac_constant *values,
                      size_t n_values)
{
    const hac_program *program = f->slices->program;
    hac_constant *copy = NULL;
    if (n_values > 0) {
        copy = malloc(n_values * sizeof *copy);
        if (copy == NULL)
            return hac_fail_no_memory(f->err);
        memcpy(copy, values, n_values * sizeof *copy);
    }
    f->ret[f->n++] = (hac_bound){
        .column = column,
        .comparison = (uint8_t)comparison,
        .repr = (uint8_t)hac_repr_of(program->inputs[column]),
        .values = copy,
        .n_values = n_values,
        .bytes = program->bytes,
    };
    return HAC_OK;
}

static hac_status add_never(finder *f, uint16_t column)
{
    return add(f, column, HAC_COMPARE_IN, NULL, 0);
}

static hac_status add_not_null(finder *f, uint16_t column)
{
    return add(f, column, HAC_COMPARE_NOT_NULL, NULL, 0);
}

static hac_status add_place(finder *f, uint16_t column, hac_comparison comparison, __int128 place)
{
    hac_constant value = hac_place_constant(f->slices->program->inputs[column], place);
    return add(f, column, comparison, &value, 1);
}

/* ---- comparisons of functions of a column -------------------------------------------------------------- */

/* Adds the bounds of low ≤ f ≤ high. NULL: that end is open. Adds nothing if the function may be in error. */
static hac_status add_range(finder *f, size_t function, uint16_t column, const hac_constant *low,
                            const hac_constant *high)
{
    hac_place from = {.first = true, .last = true}, to = from;
    hac_status status = HAC_OK;
    if (low != NULL)
        status = hac_turning_point_find(f->slices, function, column, HAC_COMPARE_GE, low, &from, f->err);
    if (status == HAC_OK && high != NULL)
        status = hac_turning_point_find(f->slices, function, column, HAC_COMPARE_LE, high, &to, f->err);
    if (status != HAC_OK || from.error || to.error)
        return status;
    if (!from.last || !to.first || (!from.first && !to.last && from.turning_point >= to.turning_point))
        return add_never(f, column);
    if (from.first && to.last)
        return add_not_null(f, column);
    if (!from.first && !to.last && from.turning_point + 1 == to.turning_point)
        return add_place(f, column, HAC_COMPARE_EQ, to.turning_point);
    if (!from.first)
        status = add_place(f, column, HAC_COMPARE_GE, from.turning_point + 1);
    if (status == HAC_OK && !to.last)
        status = add_place(f, column, HAC_COMPARE_LE, to.turning_point);
    return status;
}

/* Adds the bound of not (f ≤ value) or not (f ≥ value): the other side of the turning point. */
static hac_status add_beyond(finder *f, size_t function, uint16_t column, hac_comparison refused,
                             const hac_constant *value)
{
    hac_place place;
    hac_status status = hac_turning_point_find(f->slices, function, column, refused, value, &place, f->err);
    if (status != HAC_OK || place.error)
        return status;
    if (place.first && place.last)
        return add_never(f, column);
    if (!place.first && !place.last)
        return add_not_null(f, column);
    return refused == HAC_COMPARE_LE ? add_place(f, column, HAC_COMPARE_GE, place.turning_point + 1)
                                     : add_place(f, column, HAC_COMPARE_LE, place.turning_point);
}

/* Adds the bound of f <> value, if f has that value at one place or nowhere. */
static hac_status add_other(finder *f, size_t function, uint16_t column, const hac_constant *value)
{
    size_t before = f->n;
    hac_status status = add_range(f, function, column, value, value);
    if (status != HAC_OK || f->n == before)
        return status;
    bool one = f->ret[before].comparison == HAC_COMPARE_EQ;
    while (!one && f->n > before)
        free(f->ret[--f->n].values);
    if (!one)
        return add_not_null(f, column);
    f->ret[before].comparison = HAC_COMPARE_NE;
    return HAC_OK;
}

static hac_status add_comparison(finder *f, size_t function, hac_comparison comparison,
                                 const hac_constant *value)
{
    uint16_t column;
    if (!hac_rises(f->slices, function, &column))
        return HAC_OK;
    if (f->slices->program->instructions[function].op == HAC_OP_COLUMN)
        return add(f, column, comparison, value, 1);
    switch (comparison) {
    case HAC_COMPARE_LT:
        return add_beyond(f, function, column, HAC_COMPARE_GE, value);
    case HAC_COMPARE_GT:
        return add_beyond(f, function, column, HAC_COMPARE_LE, value);
    case HAC_COMPARE_LE:
        return add_range(f, function, column, NULL, value);
    case HAC_COMPARE_GE:
        return add_range(f, function, column, value, NULL);
    case HAC_COMPARE_EQ:
        return add_range(f, function, column, value, value);
    default:
        return add_other(f, function, column, value);
    }
}

/* ---- conditions of one operation ----------------------------------------------------------------------- */

static hac_comparison comparison_of(unsigned op)
{
    switch (op) {
    case HAC_OP_EQ_BOOL:
    case HAC_OP_EQ_I64:
    case HAC_OP_EQ_U64:
    case HAC_OP_EQ_F32:
    case HAC_OP_EQ_F64:
    case HAC_OP_EQ_I128:
    case HAC_OP_EQ_STRING:
        return HAC_COMPARE_EQ;
    case HAC_OP_LT_BOOL:
    case HAC_OP_LT_I64:
    case HAC_OP_LT_U64:
    case HAC_OP_LT_F32:
    case HAC_OP_LT_F64:
    case HAC_OP_LT_I128:
    case HAC_OP_LT_STRING:
        return HAC_COMPARE_LT;
    case HAC_OP_LE_I64:
    case HAC_OP_LE_U64:
    case HAC_OP_LE_F32:
    case HAC_OP_LE_F64:
    case HAC_OP_LE_I128:
    case HAC_OP_LE_STRING:
        return HAC_COMPARE_LE;
    default:
        return HAC_COMPARE_NONE;
    }
}

static hac_comparison opposite(hac_comparison comparison)
{
    static const uint8_t others[] = {[HAC_COMPARE_EQ] = HAC_COMPARE_NE,
                                     [HAC_COMPARE_LT] = HAC_COMPARE_GE,
                                     [HAC_COMPARE_LE] = HAC_COMPARE_GT};
    return (hac_comparison)others[comparison];
}

static hac_comparison mirrored(hac_comparison comparison)
{
    static const uint8_t others[] = {[HAC_COMPARE_EQ] = HAC_COMPARE_EQ, [HAC_COMPARE_NE] = HAC_COMPARE_NE,
                                     [HAC_COMPARE_LT] = HAC_COMPARE_GT, [HAC_COMPARE_LE] = HAC_COMPARE_GE,
                                     [HAC_COMPARE_GT] = HAC_COMPARE_LT, [HAC_COMPARE_GE] = HAC_COMPARE_LE};
    return (hac_comparison)others[comparison];
}

static hac_status find_comparison(finder *f, hac_condition condition, hac_comparison comparison)
{
    const hac_program *program = f->slices->program;
    uint16_t a = f->slices->operands[condition.at][0], b = f->slices->operands[condition.at][1];
    const hac_instruction *left = &program->instructions[a], *right = &program->instructions[b];
    if (condition.negated)
        comparison = opposite(comparison);
    if (a == b && left->op == HAC_OP_COLUMN) { /* the compiler makes this of `i = 1.5` */
        bool holds =
            comparison == HAC_COMPARE_EQ || comparison == HAC_COMPARE_LE || comparison == HAC_COMPARE_GE;
        return holds ? add_not_null(f, left->k) : add_never(f, left->k);
    }
    if (right->op == HAC_OP_CONSTANT)
        return add_comparison(f, a, comparison, &program->constants[right->k]);
    if (left->op == HAC_OP_CONSTANT)
        return add_comparison(f, b, mirrored(comparison), &program->constants[left->k]);
    return HAC_OK;
}

/* The doubles of a list that are exactly an f32, as f32. */
static hac_status add_narrowed(finder *f, uint16_t column, const hac_constant *list, size_t n)
{
    hac_autofree hac_constant *narrowed = calloc(n + 1, sizeof *narrowed);
    size_t kept = 0;
    if (narrowed == NULL)
        return hac_fail_no_memory(f->err);
    for (size_t i = 0; i < n; i++) {
        double wide;
        memcpy(&wide, &list[i].low, sizeof wide);
        float narrow = (float)wide;
        uint32_t bits;
        memcpy(&bits, &narrow, sizeof bits);
        if ((double)narrow == wide || wide != wide)
            narrowed[kept++] = (hac_constant){HAC_REPR_F32, bits, 0};
    }
    return add(f, column, HAC_COMPARE_IN, narrowed, kept);
}

static hac_status find_in(finder *f, hac_condition condition)
{
    const hac_program *program = f->slices->program;
    const hac_constant *list = &program->constants[program->instructions[condition.at].k];
    uint16_t a = f->slices->operands[condition.at][0], column;
    const hac_constant *first = program->constants + list->low;
    bool itself = program->instructions[a].op == HAC_OP_COLUMN;
    bool widened = program->instructions[a].op == HAC_OP_F32_TO_F64 &&
                   program->instructions[f->slices->operands[a][0]].op == HAC_OP_COLUMN;
    if (!hac_rises(f->slices, a, &column))
        return HAC_OK;
    if (condition.negated)
        return itself || widened ? add_not_null(f, column) : HAC_OK;
    if (itself)
        return add(f, column, HAC_COMPARE_IN, first, list->high);
    if (widened)
        return add_narrowed(f, column, first, list->high);
    return list->high == 0 ? HAC_OK : add_range(f, a, column, first, first + list->high - 1);
}

static hac_status find_one(finder *f, hac_condition condition)
{
    const hac_program *program = f->slices->program;
    const hac_instruction *at = &program->instructions[condition.at];
    hac_comparison comparison = comparison_of(at->op);
    const hac_instruction *operand = &program->instructions[f->slices->operands[condition.at][0]];
    hac_constant truth = {HAC_REPR_BOOL, !condition.negated, 0};
    if (comparison != HAC_COMPARE_NONE)
        return find_comparison(f, condition, comparison);
    switch (at->op) {
    case HAC_OP_COLUMN:
        return add(f, at->k, HAC_COMPARE_EQ, &truth, 1);
    case HAC_OP_IS_NULL:
        if (operand->op != HAC_OP_COLUMN)
            return HAC_OK;
        return add(f, operand->k, condition.negated ? HAC_COMPARE_NOT_NULL : HAC_COMPARE_NULL, NULL, 0);
    case HAC_OP_IN_I64:
    case HAC_OP_IN_U64:
    case HAC_OP_IN_F64:
    case HAC_OP_IN_STRING:
        return find_in(f, condition);
    default:
        return HAC_OK;
    }
}

/* ---- `x = 1 or x in (2, 3)` ---------------------------------------------------------------------------- */

typedef struct alternatives {
    uint16_t column;
    hac_constant *values;
    size_t n, n_parts;
    const uint8_t *bytes;
} alternatives;

/* Takes the values of an = or IN of the same column. False: the bound is something else. */
static bool take(alternatives *all, const hac_bound *bound)
{
    if ((bound->comparison != HAC_COMPARE_EQ && bound->comparison != HAC_COMPARE_IN) ||
        (all->n_parts > 0 && all->column != bound->column) || all->n + bound->n_values > ALTERNATIVES_MAX)
        return false;
    if (bound->n_values > 0)
        memcpy(all->values + all->n, bound->values, bound->n_values * sizeof *all->values);
    all->n += bound->n_values;
    all->n_parts++;
    all->column = bound->column;
    all->bytes = bound->bytes;
    return true;
}

static int order_of_values(const void *a, const void *b, void *bytes)
{
    return hac_constant_compare(a, b, bytes);
}

static void sort_values(alternatives *all)
{
    size_t kept = 0;
    qsort_r(all->values, all->n, sizeof *all->values, order_of_values, (void *)(uintptr_t)all->bytes);
    for (size_t i = 0; i < all->n; i++)
        if (kept == 0 || hac_constant_compare(&all->values[kept - 1], &all->values[i], all->bytes) != 0)
            all->values[kept++] = all->values[i];
    all->n = kept;
}

/* *ret_taken: the part is an = or IN of the same column. */
static hac_status take_part(hac_program_slices *slices, hac_condition part, alternatives *all,
                            bool *ret_taken, hac_error *err)
{
    hac_bound bounds[HAC_BOUNDS_EACH];
    finder f = {.slices = slices, .ret = bounds, .err = err};
    hac_status status = find_one(&f, part);
    *ret_taken = status == HAC_OK && f.n == 1 && take(all, &bounds[0]);
    while (f.n > 0)
        free(bounds[--f.n].values);
    return status;
}

static hac_status find_alternatives(finder *f, hac_condition condition)
{
    hac_autofree hac_condition *open = malloc(ALTERNATIVES_MAX * sizeof *open);
    hac_autofree hac_constant *values = malloc(ALTERNATIVES_MAX * sizeof *values);
    alternatives all = {.values = values};
    size_t n = 1, seen = 0;
    if (open == NULL || values == NULL)
        return hac_fail_no_memory(f->err);
    open[0] = condition;
    while (n > 0) {
        hac_condition parts[2], at = open[--n];
        bool taken = false;
        if (++seen > 2 * ALTERNATIVES_MAX)
            return HAC_OK;
        if (hac_condition_parts(f->slices, at, true, parts)) {
            if (n + 2 > ALTERNATIVES_MAX)
                return HAC_OK;
            open[n++] = parts[1];
            open[n++] = parts[0];
            continue;
        }
        hac_status status = take_part(f->slices, at, &all, &taken, f->err);
        if (status != HAC_OK || !taken)
            return status;
    }
    sort_values(&all);
    return add(f, all.column, HAC_COMPARE_IN, all.values, all.n);
}

hac_status hac_bounds_of(hac_program_slices *slices, hac_condition condition, hac_bound ret[HAC_BOUNDS_EACH],
                         size_t *ret_n, hac_error *err)
{
    hac_condition unused[2];
    finder f = {.slices = slices, .ret = ret, .err = err};
    hac_status status = hac_condition_parts(slices, condition, true, unused)
                            ? find_alternatives(&f, condition)
                            : find_one(&f, condition);
    while (status != HAC_OK && f.n > 0)
        free(ret[--f.n].values);
    *ret_n = status == HAC_OK ? f.n : 0;
    return status;
}
