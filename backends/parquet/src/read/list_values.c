/* SPDX-License-Identifier: Apache-2.0 */
#include "list_values.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static hac_status slots_new(const hac_parquet_file *file, size_t leaf, hac_value_type type,
                            hac_list_slots **ret, hac_error *err)
{
    hac_parquet_leaf as = file->leaves[leaf];
    as.type = type.kind != HAC_KIND_NONE ? type : as.type;
    hac_list_slots *slots = aligned_alloc(64, (sizeof *slots + 63) / 64 * 64);
    if (slots == NULL)
        return hac_fail_no_memory(err);
    memset(slots, 0, sizeof *slots);
    slots->list_definition = as.list_definition;
    slots->values = (hac_column){.type = as.type, .values = slots->memory, .states = slots->states};
    *ret = slots; /* freed by its owner */
    return hac_flat_column_new(file, leaf, &as, &slots->column, err);
}

hac_status hac_list_values_new(const hac_parquet_file *file, size_t leaf, hac_value_type element,
                               hac_list_values *ret, hac_error *err)
{
    const hac_nested *nested = &file->leaves[leaf].nested;
    bool map = nested->kind == HAC_NESTED_MAP;
    *ret = (hac_list_values){.n = map ? 2 : 1, .name = file->leaves[leaf].name};
    if (element.kind == HAC_KIND_NONE)
        element = nested->element;
    hac_status status = HAC_OK;
    if (map)
        status = slots_new(file, leaf, nested->key, &ret->slots[0], err);
    if (status == HAC_OK)
        status = slots_new(file, leaf + map, element, &ret->slots[map], err);
    return status;
}

void hac_list_values_clear(hac_list_values *values)
{
    for (size_t i = 0; i < values->n; i++) {
        if (values->slots[i] != NULL)
            hac_flat_column_free(values->slots[i]->column);
        free(values->slots[i]);
    }
    *values = (hac_list_values){.n = 0};
}

hac_status hac_list_values_begin(hac_list_values *values, size_t group, hac_error *err)
{
    hac_status status = HAC_OK;
    values->group = group;
    for (size_t i = 0; i < values->n && status == HAC_OK; i++) {
        values->slots[i]->n = values->slots[i]->at = 0;
        status = hac_flat_column_begin(values->slots[i]->column, group, err);
    }
    return status;
}

static hac_status damaged(const hac_list_values *v, const char *what, hac_error *err)
{
    return hac_fail(err, HAC_FAILED, "row group %zu, column %s: %s", v->group, v->name, what);
}

/* *ret: whether there is another slot, which is then read. */
static hac_status fill(const hac_list_values *v, hac_list_slots *s, bool *ret, hac_error *err)
{
    *ret = s->at < s->n;
    if (*ret || hac_flat_column_slots_left(s->column) == 0)
        return HAC_OK;
    s->n = s->at = 0;
    *ret = true;
    return hac_flat_column_slots(s->column, HAC_BATCH_ROWS, v->levels_only, &s->values, s->repetition,
                                 s->definition, &s->n, err);
}

/* The next slot of each leaf. The slots of a map's keys and values must have the same form. */
static hac_status look(hac_list_values *v, bool *ret_there, hac_error *err)
{
    bool there[2] = {false, false};
    for (size_t i = 0; i < v->n; i++) {
        hac_status status = fill(v, v->slots[i], &there[i], err);
        if (status != HAC_OK)
            return status;
    }
    *ret_there = there[0];
    if (v->n < 2 || (!there[0] && !there[1]))
        return HAC_OK;
    const hac_list_slots *a = v->slots[0], *b = v->slots[1];
    uint8_t x = a->definition[a->at], y = b->definition[b->at];
    bool like = there[0] && there[1] && a->repetition[a->at] == b->repetition[b->at] &&
                (x < a->list_definition ? x == y : y >= b->list_definition);
    return like ? HAC_OK : damaged(v, "the keys and the values of the map do not go together", err);
}

static void use(hac_list_values *v)
{
    for (size_t i = 0; i < v->n; i++)
        v->slots[i]->at++;
}

hac_status hac_list_values_row(hac_list_values *v, hac_list_step *ret, hac_error *err)
{
    bool there = false;
    hac_status status = look(v, &there, err);
    const hac_list_slots *s = v->slots[0];
    if (status == HAC_OK && !there)
        return damaged(v, "the column chunk has fewer rows than the row group", err);
    if (status != HAC_OK)
        return status;
    uint8_t definition = s->definition[s->at];
    if (s->repetition[s->at] != 0)
        return damaged(v, "a repetition level continues a row that has not begun", err);
    if (definition >= s->list_definition) {
        *ret = HAC_LIST_STEP_ELEMENT;
        return HAC_OK;
    }
    *ret = definition + 1 == s->list_definition ? HAC_LIST_STEP_EMPTY : HAC_LIST_STEP_NULL;
    use(v);
    return HAC_OK;
}

hac_status hac_list_values_next(hac_list_values *v, hac_list_step *ret, hac_error *err)
{
    bool there = false;
    use(v);
    hac_status status = look(v, &there, err);
    const hac_list_slots *s = v->slots[0];
    *ret = HAC_LIST_STEP_END;
    if (status != HAC_OK || !there || s->repetition[s->at] == 0)
        return status;
    *ret = HAC_LIST_STEP_ELEMENT;
    return s->definition[s->at] >= s->list_definition
               ? HAC_OK
               : damaged(v, "a list that has elements has a slot without one", err);
}

hac_status hac_list_values_end(hac_list_values *v, hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; i < v->n && status == HAC_OK; i++) {
        const hac_list_slots *s = v->slots[i];
        if (s->at < s->n || hac_flat_column_slots_left(s->column) > 0)
            return damaged(v, "the column chunk has more rows than the row group", err);
        status = hac_flat_column_end(s->column, err);
    }
    return status;
}
