/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "hash_job.h"
#include "query/partial.h"

static uint64_t key_form(const hac_expr_plan *plan, size_t output)
{
    if (plan->string_inputs[output] >= 0)
        return KEY_STRING;
    switch (hac_repr_of(plan->types[output])) {
    case HAC_REPR_F32:
        return KEY_F32;
    case HAC_REPR_F64:
        return KEY_F64;
    default:
        return KEY_PLAIN;
    }
}

/* ACC_… of an accumulator; -1: devices do not have it. */
static int form_of(const hac_accumulator *a)
{
    static const int8_t forms[][HAC_REPR_END] = {
        /*                          none bool              i64             u64               f32 f64 */
        [HAC_ACCUMULATOR_SUM] = {-1, ACC_SUM_UNSIGNED, ACC_SUM_SIGNED, ACC_SUM_UNSIGNED, -1, ACC_SUM_F64, -1,
                                 -1},
        [HAC_ACCUMULATOR_MIN] = {-1, ACC_MIN_UNSIGNED, ACC_MIN_SIGNED, ACC_MIN_UNSIGNED, ACC_MIN_F32,
                                 ACC_MIN_F64, -1, -1},
        [HAC_ACCUMULATOR_MAX] = {-1, ACC_MAX_UNSIGNED, ACC_MAX_SIGNED, ACC_MAX_UNSIGNED, ACC_MAX_F32,
                                 ACC_MAX_F64, -1, -1},
    };
    if (!hac_accumulator_fits_device(a))
        return -1;
    return forms[a->kind][a->repr];
}

static hac_status check(const hac_hash_shape *shape, const hac_expr_plan *plan, const hac_query *query,
                        const hac_group_layout *layout, hac_error *err)
{
    (void)shape;
    char name[HAC_AGGREGATE_NAME_MAX], type[HAC_VALUE_TYPE_NAME_MAX];
    size_t first = query->filter != NULL ? 1 : 0;
    for (size_t i = 0; i < layout->n_accumulators; i++) {
        const hac_accumulator *a = &layout->accumulators[i];
        size_t aggregate = 0;
        while (aggregate + 1 < query->n_aggregates && layout->of_aggregate[aggregate] != i + 1)
            aggregate++;
        if (form_of(a) < 0)
            return hac_fail(err, HAC_UNSUPPORTED, "devices cannot compute %s of %s",
                            hac_aggregate_name(query, aggregate, name), hac_value_type_name(a->type, type));
    }
    for (size_t k = 0; k < query->n_keys; k++)
        if (hac_repr_of(plan->types[first + k]) == HAC_REPR_I128)
            return hac_fail(err, HAC_UNSUPPORTED, "devices have no keys of 128 bits");
    return HAC_OK;
}

static void put_keys(hac_hash_shape *shape, const hac_expr_plan *plan, const hac_query *query, size_t first)
{
    uint64_t *keys = shape->words + shape->words[SHAPE_KEYS];
    bool simple = query->n_keys <= 1;
    for (size_t k = 0; k < query->n_keys; k++) {
        keys[3 * k] = plan->outputs[first + k];
        keys[3 * k + 1] = key_form(plan, first + k);
        keys[3 * k + 2] = (uint64_t)(unsigned)plan->string_inputs[first + k];
        shape->strings |= keys[3 * k + 1] == KEY_STRING;
    }
    shape->words[SHAPE_SIMPLE] = simple && !shape->strings;
}

static void put_accumulators(hac_hash_shape *shape, const hac_expr_plan *plan, const hac_group_layout *layout,
                             size_t first)
{
    uint64_t *args = shape->words + shape->words[SHAPE_ARGS], *accs = shape->words + shape->words[SHAPE_ACCS];
    for (size_t i = 0; i < layout->n_arguments; i++) {
        args[2 * i] = plan->outputs[first + layout->arguments[i]];
        args[2 * i + 1] = shape->tail + 1 + i;
    }
    for (size_t i = 0; i < layout->n_accumulators; i++) {
        const hac_accumulator *a = &layout->accumulators[i];
        int form = form_of(a);
        accs[4 * i] = (uint64_t)form;
        accs[4 * i + 1] = plan->outputs[first + a->column];
        accs[4 * i + 2] = shape->tail + (a->offset - layout->rows_offset) / 8;
        shape->floats |= a->repr == HAC_REPR_F32 || a->repr == HAC_REPR_F64;
        shape->wide_extremes |= a->kind != HAC_ACCUMULATOR_SUM;
    }
}

/* A group's record before any row; it follows the keys. */
static hac_status put_empty(hac_hash_shape *shape, const hac_group_layout *layout, hac_error *err)
{
    uint8_t *record = malloc(layout->stride);
    if (record == NULL)
        return hac_fail_no_memory(err);
    hac_group_layout_empty(layout, record);
    memcpy(shape->words + shape->words[SHAPE_EMPTY], record + layout->rows_offset,
           layout->stride - layout->rows_offset);
    free(record);
    return HAC_OK;
}

hac_status hac_hash_shape_init(hac_hash_shape *shape, hac_expr_plan *plan, const hac_query *query,
                               const hac_group_layout *layout, hac_error *err)
{
    size_t first = query->filter != NULL ? 1 : 0;
    *shape = (hac_hash_shape){.words = NULL};
    hac_status status = check(shape, plan, query, layout, err);
    if (status != HAC_OK)
        return status;
    shape->tail = (uint32_t)(PAIR_KEYS + query->n_keys);
    shape->stride = shape->tail + (layout->stride - layout->rows_offset) / 8;
    size_t args = SHAPE_WORDS + 3 * query->n_keys, accs = args + 2 * layout->n_arguments;
    size_t empty = accs + 4 * layout->n_accumulators;
    shape->n_words = (empty + shape->stride + 7) / 8 * 8;
    shape->words = hac_hash_alloc(shape->n_words * 8);
    if (shape->words == NULL)
        return hac_fail_no_memory(err);
    memset(shape->words, 0, shape->n_words * 8);
    uint64_t *w = shape->words;
    w[SHAPE_STRIDE] = shape->stride;
    w[SHAPE_TAIL] = shape->tail;
    w[SHAPE_N_KEYS] = query->n_keys;
    w[SHAPE_N_ARGS] = layout->n_arguments;
    w[SHAPE_N_ACCS] = layout->n_accumulators;
    w[SHAPE_KEYS] = SHAPE_WORDS;
    w[SHAPE_ARGS] = args;
    w[SHAPE_ACCS] = accs;
    w[SHAPE_EMPTY] = empty;
    w[SHAPE_FILTER] = query->filter != NULL ? plan->outputs[0] : UINT64_MAX;
    put_keys(shape, plan, query, first);
    put_accumulators(shape, plan, layout, first);
    if (hac_hash_units_init(shape) != HAC_OK)
        return hac_fail_no_memory(err);
    return put_empty(shape, layout, err);
}

void hac_hash_shape_clear(hac_hash_shape *shape)
{
    free(shape->words);
    free(shape->misfits);
    free(shape->units);
    free(shape->needed);
    *shape = (hac_hash_shape){.words = NULL};
}
