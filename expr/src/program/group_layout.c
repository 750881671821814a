/* SPDX-License-Identifier: Apache-2.0 */
#include "expr/group_layout.h"

#include <stdlib.h>
#include <string.h>

#define STRIDE_MAX (1u << 20)

/* ---- kinds of accumulators ---- */

#define INFO(kind, name, ...) [HAC_ACCUMULATOR_##kind] = {__VA_ARGS__},
static const hac_accumulator_info infos[HAC_ACCUMULATOR_END] = {HAC_ACCUMULATORS(INFO)};
#undef INFO

const hac_accumulator_info *hac_accumulator_info_of(const hac_accumulator *a)
{
    return &infos[a->kind];
}

/* Bytes in a record, for an argument of type `repr` and the aggregate's parameter `k`. */
static uint32_t accumulator_bytes(hac_accumulator_kind kind, hac_repr repr, uint32_t k)
{
    if (infos[kind].bytes != 0)
        return infos[kind].bytes;
    if (kind == HAC_ACCUMULATOR_HISTOGRAM)
        return 8 * k;
    return repr == HAC_REPR_STRING || repr == HAC_REPR_I128 ? 16 : 8;
}

/* ---- keys ---- */

static unsigned key_bits(hac_value_type type)
{
    return hac_kind_is_text(type.kind) ? 128 : (unsigned)hac_value_size(type) * 8;
}

static hac_status place_keys(const hac_query *query, hac_group_layout *l, hac_error *err)
{
    unsigned bits = query->n_keys == 1 ? 0 : (unsigned)query->n_keys;
    l->n_keys = query->n_keys;
    for (size_t i = 0; i < l->n_keys; i++) {
        hac_value_type type = query->rows->outputs[i].type;
        if (!hac_value_type_valid(type))
            return hac_fail(err, HAC_INVALID, "key %zu has no type", i + 1);
        l->keys[i].repr = (uint8_t)hac_repr_of(type);
        l->keys[i].bits = (uint8_t)key_bits(type);
        l->strings |= hac_kind_is_text(type.kind);
        bits += key_bits(type);
    }
    l->packed = bits <= 64;
    /* several keys that are not packed begin with a word of null bits */
    uint32_t at = l->packed ? 0 : (l->n_keys > 1 ? 1 : 0);
    unsigned bit = 0;
    for (size_t i = 0; i < l->n_keys; i++) {
        l->keys[i].offset = l->packed ? bit : at * 8;
        bit += l->keys[i].bits + 1u;
        at += l->keys[i].bits > 64 ? 2 : 1;
    }
    l->key_words = l->packed ? (l->n_keys == 0 ? 0 : 1) : at;
    return HAC_OK;
}

/* ---- accumulators ---- */

static int16_t find_argument(hac_group_layout *l, uint16_t column)
{
    for (size_t i = 0; i < l->n_arguments; i++)
        if (l->arguments[i] == column)
            return (int16_t)i;
    l->arguments[l->n_arguments] = column;
    return (int16_t)l->n_arguments++;
}

static bool same_accumulator(const hac_accumulator *a, hac_accumulator_kind kind, uint16_t column,
                             const hac_aggregate *aggregate)
{
    return a->kind == kind && a->column == column &&
           (a->second_type.kind == HAC_KIND_NONE || a->second == (uint16_t)aggregate->second) &&
           (kind != HAC_ACCUMULATOR_HISTOGRAM ||
            (a->k == aggregate->k && hac_constant_equal(&a->low, &aggregate->low) &&
             hac_constant_equal(&a->high, &aggregate->high)));
}

/* Finds or adds the accumulator of aggregate `index`. */
static void add_accumulator(hac_group_layout *l, size_t index)
{
    const hac_query *query = l->query;
    const hac_aggregate *a = &query->aggregate[index];
    if (a->argument < 0)
        return;
    uint16_t column = (uint16_t)a->argument;
    hac_value_type type = query->rows->outputs[column].type;
    hac_accumulator_kind kind = hac_aggregate_info_of(a->function)->accumulator;
    int16_t nulls = find_argument(l, column);
    if (kind == HAC_ACCUMULATOR_NONE)
        return;
    size_t found = 0;
    while (found < l->n_accumulators && !same_accumulator(&l->accumulators[found], kind, column, a))
        found++;
    if (found == l->n_accumulators) {
        hac_repr repr = hac_repr_of(type);
        hac_accumulator fresh = {.kind = (uint8_t)kind,
                                 .repr = (uint8_t)repr,
                                 .nulls = nulls,
                                 .column = column,
                                 .type = type,
                                 .bytes = accumulator_bytes(kind, repr, a->k),
                                 .k = a->k,
                                 .low = a->low,
                                 .high = a->high};
        if (hac_aggregate_info_of(a->function)->second != HAC_SECOND_NONE) {
            fresh.second = (uint16_t)a->second;
            fresh.second_type = query->rows->outputs[a->second].type;
            fresh.second_repr = (uint8_t)hac_repr_of(fresh.second_type);
        }
        if (infos[kind].set)
            fresh.set = l->n_sets++;
        if (infos[kind].all)
            fresh.set = l->n_value_columns++;
        l->accumulators[l->n_accumulators++] = fresh;
    }
    l->of_aggregate[index] = (uint8_t)(found + 1);
}

static hac_status place_accumulators(hac_group_layout *l, hac_error *err)
{
    l->rows_offset = l->key_words * 8;
    uint64_t at = l->rows_offset + 8 + 8 * (uint64_t)l->n_arguments;
    for (size_t i = 0; i < l->n_accumulators; i++) {
        l->accumulators[i].offset = (uint32_t)at;
        at += l->accumulators[i].bytes;
        if (at > STRIDE_MAX)
            return hac_fail(err, HAC_INVALID, "the aggregates take more than 1 MiB a group");
    }
    l->stride = (uint32_t)at;
    return HAC_OK;
}

static hac_fixed_sum fixed_sum(const hac_group_layout *l)
{
    const hac_accumulator *a = l->accumulators;
    if (l->n_accumulators == 1 && a->kind == HAC_ACCUMULATOR_SQUARES && a->repr == HAC_REPR_F64)
        return HAC_FIXED_SQUARES;
    if (l->n_accumulators != 1 || a->kind != HAC_ACCUMULATOR_SUM)
        return HAC_FIXED_COUNT;
    if (a->repr == HAC_REPR_F64)
        return HAC_FIXED_F64;
    if (a->repr == HAC_REPR_I64)
        return HAC_FIXED_SIGNED;
    return a->repr == HAC_REPR_U64 ? HAC_FIXED_UNSIGNED : HAC_FIXED_COUNT;
}

/* One integer key, and no figures beside those of `fixed_sum`. */
static bool has_slots(const hac_group_layout *l)
{
    return l->n_keys == 1 && (l->keys[0].repr == HAC_REPR_I64 || l->keys[0].repr == HAC_REPR_U64) &&
           l->n_arguments == l->n_accumulators &&
           (l->n_accumulators != 0) == (l->fixed_sum != HAC_FIXED_COUNT);
}

static hac_fixed_keys fixed_keys(const hac_group_layout *l)
{
    if (!l->slots || l->query->rows->n_outputs != 1 + l->n_accumulators ||
        (l->n_accumulators != 0 && hac_value_size(l->accumulators[0].type) != 8))
        return HAC_FIXED_NONE;
    const hac_kind_info *kind = &hac_kinds[l->query->rows->outputs[0].type.kind];
    if (kind->class != HAC_CLASS_INTEGER && kind->class != HAC_CLASS_TIME)
        return HAC_FIXED_NONE;
    hac_fixed_keys of_4 = kind->is_signed ? HAC_FIXED_I32 : HAC_FIXED_U32;
    return kind->bytes == 8 ? HAC_FIXED_64 : kind->bytes == 4 ? of_4 : HAC_FIXED_NONE;
}

hac_status hac_group_layout_init(const hac_query *query, hac_group_layout *ret, hac_error *err)
{
    hac_group_layout l = {.query = query};
    if (query->rows == NULL || query->n_keys > HAC_QUERY_KEYS_MAX || query->n_keys > query->rows->n_outputs ||
        query->n_aggregates > UINT8_MAX - 1)
        return hac_fail(err, HAC_INVALID, "the query has too many keys or aggregates");
    size_t n = query->n_aggregates == 0 ? 1 : query->n_aggregates;
    l.arguments = calloc(n, sizeof *l.arguments);
    l.accumulators = calloc(n, sizeof *l.accumulators);
    l.of_aggregate = calloc(n, 1);
    hac_status status = place_keys(query, &l, err);
    if (l.arguments == NULL || l.accumulators == NULL || l.of_aggregate == NULL)
        status = hac_fail_no_memory(err);
    for (size_t i = 0; status == HAC_OK && i < query->n_aggregates; i++)
        add_accumulator(&l, i);
    if (status == HAC_OK)
        status = place_accumulators(&l, err);
    if (status == HAC_OK) {
        l.fixed_sum = fixed_sum(&l);
        l.slots = has_slots(&l);
        l.fixed = fixed_keys(&l);
    }
    if (status != HAC_OK)
        hac_group_layout_clear(&l);
    else
        *ret = l;
    return status;
}

void hac_group_layout_clear(hac_group_layout *layout)
{
    free(layout->arguments);
    free(layout->accumulators);
    free(layout->of_aggregate);
    memset(layout, 0, sizeof *layout);
}

bool hac_accumulator_fits_device(const hac_accumulator *a)
{
    bool word = a->repr == HAC_REPR_BOOL || a->repr == HAC_REPR_I64 || a->repr == HAC_REPR_U64 ||
                a->repr == HAC_REPR_F32 || a->repr == HAC_REPR_F64;
    return word && infos[a->kind].on_device;
}
