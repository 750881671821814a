/* SPDX-License-Identifier: Apache-2.0 */
#include "query/layout.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STRIDE_MAX (1u << 20)

static const char *const function_names[HAC_AGGREGATE_END] = {
    [HAC_AGGREGATE_COUNT_ROWS] = "count",
    [HAC_AGGREGATE_COUNT] = "count",
    [HAC_AGGREGATE_COUNT_DISTINCT] = "count_distinct",
    [HAC_AGGREGATE_SUM] = "sum",
    [HAC_AGGREGATE_MIN] = "min",
    [HAC_AGGREGATE_MAX] = "max",
    [HAC_AGGREGATE_AVG] = "avg",
    [HAC_AGGREGATE_VARIANCE] = "variance",
    [HAC_AGGREGATE_STDDEV] = "stddev",
    [HAC_AGGREGATE_VARIANCE_POP] = "variance_pop",
    [HAC_AGGREGATE_STDDEV_POP] = "stddev_pop",
    [HAC_AGGREGATE_FIRST] = "first",
    [HAC_AGGREGATE_LAST] = "last",
    [HAC_AGGREGATE_TOP_K] = "top_k",
    [HAC_AGGREGATE_HISTOGRAM] = "histogram",
    [HAC_AGGREGATE_QUANTILE] = "approx_quantile",
    [HAC_AGGREGATE_STRING_LIST] = "string_list",
};

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
    /* several keys that are not packed have their null bits in front */
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

static bool is_number(hac_value_type type)
{
    return hac_kind_is_integer(type.kind) || hac_kind_is_float(type.kind) || type.kind == HAC_KIND_DECIMAL;
}

static hac_accumulator_kind kind_of(const hac_aggregate *a, hac_value_type argument)
{
    switch (a->function) {
    case HAC_AGGREGATE_SUM:
    case HAC_AGGREGATE_AVG:
        return hac_kind_is_float(argument.kind) ? HAC_ACCUMULATOR_SUM_FLOAT : HAC_ACCUMULATOR_SUM;
    case HAC_AGGREGATE_MIN:
        return HAC_ACCUMULATOR_MIN;
    case HAC_AGGREGATE_MAX:
        return HAC_ACCUMULATOR_MAX;
    case HAC_AGGREGATE_VARIANCE:
    case HAC_AGGREGATE_STDDEV:
    case HAC_AGGREGATE_VARIANCE_POP:
    case HAC_AGGREGATE_STDDEV_POP:
        return HAC_ACCUMULATOR_MOMENTS;
    case HAC_AGGREGATE_FIRST:
        return HAC_ACCUMULATOR_FIRST;
    case HAC_AGGREGATE_LAST:
        return HAC_ACCUMULATOR_LAST;
    case HAC_AGGREGATE_COUNT_DISTINCT:
    case HAC_AGGREGATE_TOP_K:
    case HAC_AGGREGATE_STRING_LIST:
        return HAC_ACCUMULATOR_VALUES;
    case HAC_AGGREGATE_QUANTILE:
        return HAC_ACCUMULATOR_QUANTILE;
    case HAC_AGGREGATE_HISTOGRAM:
        return HAC_ACCUMULATOR_HISTOGRAM;
    default:
        return HAC_ACCUMULATOR_NONE;
    }
}

static bool needs_number(hac_accumulator_kind kind)
{
    return kind == HAC_ACCUMULATOR_SUM || kind == HAC_ACCUMULATOR_SUM_FLOAT ||
           kind == HAC_ACCUMULATOR_MOMENTS || kind == HAC_ACCUMULATOR_QUANTILE ||
           kind == HAC_ACCUMULATOR_HISTOGRAM;
}

static uint32_t bytes_of(hac_accumulator_kind kind, hac_repr repr, uint32_t k)
{
    switch (kind) {
    case HAC_ACCUMULATOR_SUM:
    case HAC_ACCUMULATOR_VALUES:
    case HAC_ACCUMULATOR_QUANTILE:
        return 16;
    case HAC_ACCUMULATOR_SUM_FLOAT:
        return 8;
    case HAC_ACCUMULATOR_MIN:
    case HAC_ACCUMULATOR_MAX:
        return repr == HAC_REPR_STRING || repr == HAC_REPR_I128 ? 16 : 8;
    case HAC_ACCUMULATOR_HISTOGRAM:
        return 8 * k;
    default:
        return 24;
    }
}

static hac_status check_parameters(const hac_query *query, size_t index, hac_error *err)
{
    const hac_aggregate *a = &query->aggregate[index];
    char name[HAC_AGGREGATE_NAME_MAX];
    if (a->function == HAC_AGGREGATE_HISTOGRAM &&
        (a->k == 0 || a->k > HAC_HISTOGRAM_MAX || !(a->low < a->high) || !isfinite(a->high - a->low)))
        return hac_fail(err, HAC_INVALID,
                        "%s: a histogram has 1 to %d buckets from a lower to a higher number",
                        hac_aggregate_name(query, index, name), HAC_HISTOGRAM_MAX);
    if (a->function == HAC_AGGREGATE_TOP_K && a->k == 0)
        return hac_fail(err, HAC_INVALID, "%s: the number of values to list is 0",
                        hac_aggregate_name(query, index, name));
    if (a->function == HAC_AGGREGATE_QUANTILE && !(a->low >= 0 && a->low <= 1))
        return hac_fail(err, HAC_INVALID, "%s: a quantile's share is from 0 to 1",
                        hac_aggregate_name(query, index, name));
    return HAC_OK;
}

/* Whether the result's type is one that the function gives for such an argument. */
static bool result_fits(const hac_aggregate *a, hac_value_type argument)
{
    hac_repr repr = hac_repr_of(a->type);
    bool is_float = repr == HAC_REPR_F64 || repr == HAC_REPR_F32;
    bool is_integer = repr == HAC_REPR_I64 || repr == HAC_REPR_U64;
    switch (a->function) {
    case HAC_AGGREGATE_COUNT_ROWS:
    case HAC_AGGREGATE_COUNT:
    case HAC_AGGREGATE_COUNT_DISTINCT:
        return is_integer;
    case HAC_AGGREGATE_SUM:
        return hac_kind_is_float(argument.kind) ? is_float : is_float || is_integer || repr == HAC_REPR_I128;
    case HAC_AGGREGATE_MIN:
    case HAC_AGGREGATE_MAX:
    case HAC_AGGREGATE_FIRST:
    case HAC_AGGREGATE_LAST:
        return hac_value_type_equal(a->type, argument);
    case HAC_AGGREGATE_TOP_K:
    case HAC_AGGREGATE_HISTOGRAM:
    case HAC_AGGREGATE_STRING_LIST:
        return repr == HAC_REPR_STRING;
    default:
        return is_float;
    }
}

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
           (kind != HAC_ACCUMULATOR_HISTOGRAM ||
            (a->k == aggregate->k && !(a->low < aggregate->low) && !(a->low > aggregate->low) &&
             !(a->high < aggregate->high) && !(a->high > aggregate->high)));
}

/* The accumulator of aggregate `index`: one that is there, or a new one. */
static hac_status add_accumulator(hac_group_layout *l, size_t index, hac_error *err)
{
    const hac_query *query = l->query;
    const hac_aggregate *a = &query->aggregate[index];
    char name[HAC_AGGREGATE_NAME_MAX];
    if (a->function >= HAC_AGGREGATE_END)
        return hac_fail(err, HAC_INVALID, "aggregate %zu is none that is known", index + 1);
    if (a->function == HAC_AGGREGATE_COUNT_ROWS && result_fits(a, a->type))
        return HAC_OK;
    if (a->argument < 0 || (size_t)a->argument >= query->rows->n_outputs)
        return hac_fail(err, HAC_INVALID, "%s has no argument", hac_aggregate_name(query, index, name));
    hac_status status = check_parameters(query, index, err);
    if (status != HAC_OK)
        return status;
    uint16_t column = (uint16_t)a->argument;
    hac_value_type type = query->rows->outputs[column].type;
    hac_accumulator_kind kind = kind_of(a, type);
    if (needs_number(kind) && !is_number(type))
        return hac_fail(err, HAC_INVALID, "%s: its argument is no number",
                        hac_aggregate_name(query, index, name));
    if (!hac_value_type_valid(type) || !result_fits(a, type))
        return hac_fail(err, HAC_INVALID, "%s: its type is not what the function gives",
                        hac_aggregate_name(query, index, name));
    int16_t nulls = find_argument(l, column);
    if (kind == HAC_ACCUMULATOR_NONE)
        return HAC_OK;
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
                                 .bytes = bytes_of(kind, repr, a->k),
                                 .k = a->k,
                                 .low = a->low,
                                 .high = a->high};
        if (kind == HAC_ACCUMULATOR_VALUES || kind == HAC_ACCUMULATOR_QUANTILE)
            fresh.set = l->n_sets++;
        l->accumulators[l->n_accumulators++] = fresh;
    }
    l->of_aggregate[index] = (uint8_t)(found + 1);
    return HAC_OK;
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

static hac_plain_sum plain_sum(const hac_group_layout *l)
{
    const hac_accumulator *a = l->accumulators;
    if (l->n_accumulators != 1 || hac_value_size(a->type) != 8)
        return HAC_PLAIN_COUNT;
    if (a->kind == HAC_ACCUMULATOR_SUM_FLOAT && a->repr == HAC_REPR_F64)
        return HAC_PLAIN_F64;
    if (a->kind == HAC_ACCUMULATOR_SUM && a->repr == HAC_REPR_I64)
        return HAC_PLAIN_SIGNED;
    return a->kind == HAC_ACCUMULATOR_SUM && a->repr == HAC_REPR_U64 ? HAC_PLAIN_UNSIGNED : HAC_PLAIN_COUNT;
}

static hac_plain_keys plain_keys(const hac_group_layout *l)
{
    if (l->n_keys != 1 || l->query->rows->n_outputs != 1 + l->n_accumulators ||
        (l->n_accumulators != 0) != (l->plain_sum != HAC_PLAIN_COUNT))
        return HAC_PLAIN_NONE;
    switch (l->query->rows->outputs[0].type.kind) {
    case HAC_KIND_U32:
        return HAC_PLAIN_U32;
    case HAC_KIND_I32:
    case HAC_KIND_DATE:
        return HAC_PLAIN_I32;
    case HAC_KIND_U64:
    case HAC_KIND_I64:
    case HAC_KIND_TIMESTAMP:
        return HAC_PLAIN_64;
    default:
        return HAC_PLAIN_NONE;
    }
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
        status = add_accumulator(&l, i, err);
    if (status == HAC_OK)
        status = place_accumulators(&l, err);
    if (status == HAC_OK)
        l.plain_sum = plain_sum(&l);
    if (status == HAC_OK)
        l.plain = plain_keys(&l);
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
    bool integer = a->repr == HAC_REPR_BOOL || a->repr == HAC_REPR_I64 || a->repr == HAC_REPR_U64;
    bool floating = a->repr == HAC_REPR_F32 || a->repr == HAC_REPR_F64;
    switch (a->kind) {
    case HAC_ACCUMULATOR_SUM:
        return integer;
    case HAC_ACCUMULATOR_SUM_FLOAT:
        return floating;
    case HAC_ACCUMULATOR_MIN:
    case HAC_ACCUMULATOR_MAX:
        return integer || floating;
    default:
        return false;
    }
}

/* ---- empty records ---- */

static void put_extreme(uint8_t *at, hac_repr repr, bool largest)
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

void hac_group_layout_empty(const hac_group_layout *layout, uint8_t *record)
{
    memset(record, 0, layout->stride);
    for (size_t i = 0; i < layout->n_accumulators; i++) {
        const hac_accumulator *a = &layout->accumulators[i];
        if (a->kind == HAC_ACCUMULATOR_MIN || a->kind == HAC_ACCUMULATOR_MAX)
            put_extreme(record + a->offset, a->repr, a->kind == HAC_ACCUMULATOR_MIN);
    }
}

/* ---- names ---- */

/* The output column that is nothing but this aggregate, by its name. */
static const char *column_name(const hac_query *query, size_t index)
{
    const hac_program *p = query->finals;
    for (size_t o = 0; p != NULL && o < p->n_outputs && o < query->outputs.n_fields && o < query->n_visible;
         o++)
        if (hac_program_output_input(p, o) == (int)(query->n_keys + index) &&
            query->outputs.fields[o].name[0] != '\0')
            return query->outputs.fields[o].name;
    return NULL;
}

const char *hac_aggregate_name(const hac_query *query, size_t index, char *ret)
{
    const char *name = column_name(query, index);
    unsigned function = query->aggregate[index].function;
    if (name != NULL)
        snprintf(ret, HAC_AGGREGATE_NAME_MAX, "%s", name);
    else
        snprintf(ret, HAC_AGGREGATE_NAME_MAX, "aggregate %zu (%s)", index + 1,
                 function < HAC_AGGREGATE_END ? function_names[function] : "unknown");
    return ret;
}
