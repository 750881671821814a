/* SPDX-License-Identifier: Apache-2.0 */
#include "expr/query_facts.h"

#include <string.h>

#include "base/format.h"
#include "base/query_layout.h"
#include "expr/distinct_query.h"
#include "expr/group_layout.h"

static bool is_exact_everywhere(const hac_query *q)
{
    return (q->filter == NULL || hac_program_exact(q->filter)) && hac_program_exact(q->rows);
}

static bool fits_device(const hac_query *q)
{
    return (q->filter == NULL || hac_program_fits_device(q->filter)) && hac_program_fits_device(q->rows) &&
           q->aggregates && is_exact_everywhere(q);
}

static unsigned wants_of(hac_aggregate_function function)
{
    switch (function) {
    case HAC_AGGREGATE_COUNT:
        return HAC_WANTS_NULLS;
    case HAC_AGGREGATE_MIN:
        return HAC_WANTS_MIN;
    case HAC_AGGREGATE_MAX:
        return HAC_WANTS_MAX;
    default:
        return 0;
    }
}

bool hac_query_statistics_answer(const hac_query *q, uint8_t *wants)
{
    if (!q->aggregates || q->n_keys > 0 || q->filter != NULL)
        return false;
    if (wants != NULL)
        memset(wants, 0, q->columns.n_fields);
    for (size_t i = 0; i < q->n_aggregates; i++) {
        const hac_aggregate *a = &q->aggregate[i];
        if (a->function == HAC_AGGREGATE_COUNT_ROWS)
            continue;
        int input = a->argument < 0 ? -1 : hac_program_output_input(q->rows, (size_t)a->argument);
        unsigned wanted = wants_of(a->function);
        if (input < 0 || wanted == 0)
            return false;
        if (wants != NULL)
            wants[input] |= (uint8_t)wanted;
    }
    return true;
}

bool hac_query_wants_first(const hac_query *q)
{
    return !q->aggregates && q->n_order > 0 && q->limit > 0 && q->limit <= HAC_FIRST_ROWS_MAX;
}

bool hac_query_ends_early(const hac_query *q)
{
    return !q->aggregates && q->n_order == 0 && q->n_limit_by == 0 && q->limit != UINT64_MAX;
}

static bool uses_f64(const hac_program *program)
{
    bool some = false;
    for (size_t i = 0; program != NULL && i < program->n_registers; i++)
        some |= program->registers[i] == HAC_REPR_F64;
    return some;
}

static uint64_t flags_of(const hac_query *q)
{
    uint64_t flags = 0;
    flags |= q->aggregates ? HAC_COMPILED_AGGREGATES : 0;
    /* The chunk with a row group's first row answers for the group, and kernels would read the others. */
    bool answered = q->source.format == HAC_INPUT_PARQUET && hac_query_statistics_answer(q, NULL);
    flags |= answered ? HAC_COMPILED_STATISTICS : fits_device(q) ? HAC_COMPILED_FITS_DEVICE : 0;
    flags |= is_exact_everywhere(q) ? 0 : HAC_COMPILED_HOST_FUNCTION;
    flags |= hac_format_has_quotes(q->source.format) ? HAC_COMPILED_NEEDS_QUOTES : 0;
    flags |= uses_f64(q->filter) || uses_f64(q->rows) ? HAC_COMPILED_NEEDS_F64 : 0;
    return flags;
}

/* Adds what the accumulators need of a device. */
static uint64_t with_accumulators(uint64_t flags, const hac_group_layout *layout)
{
    for (size_t i = 0; i < layout->n_accumulators; i++) {
        const hac_accumulator *a = &layout->accumulators[i];
        if (!hac_accumulator_fits_device(a))
            flags = (flags & ~(uint64_t)HAC_COMPILED_FITS_DEVICE) | HAC_COMPILED_HOST_AGGREGATE;
        if (a->repr == HAC_REPR_F32 || a->repr == HAC_REPR_F64) /* floats are ordered and added up as f64 */
            flags |= HAC_COMPILED_NEEDS_F64;
        if (a->kind != HAC_ACCUMULATOR_SUM)
            flags |= HAC_COMPILED_NEEDS_ATOMICS;
    }
    return flags;
}

static uint64_t output_bytes(const hac_query *q)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < q->n_visible; i++)
        sum += hac_kind_is_text(q->outputs.fields[i].type.kind) ? 17 : 13;
    return sum;
}

/* Largest size of an output row as text of any format, without the bytes of its texts. */
static uint64_t output_max(const hac_query *q)
{
    static const uint8_t widest[HAC_KIND_END] = {
        [HAC_KIND_BOOL] = 5,       [HAC_KIND_I8] = 4,
        [HAC_KIND_I16] = 6,        [HAC_KIND_I32] = 11,
        [HAC_KIND_I64] = 20,       [HAC_KIND_U8] = 3,
        [HAC_KIND_U16] = 5,        [HAC_KIND_U32] = 10,
        [HAC_KIND_U64] = 20,       [HAC_KIND_F32] = 16,
        [HAC_KIND_F64] = 25,       [HAC_KIND_DATE] = 12,
        [HAC_KIND_TIMESTAMP] = 32, [HAC_KIND_DECIMAL] = HAC_DECIMAL_DIGITS_MAX + 3};
    _Static_assert(HAC_KIND_END == HAC_KIND_BYTES + 1, "a new kind has a row here");
    uint64_t sum = 0;
    for (size_t i = 0; i < q->n_visible; i++) {
        sum += widest[q->outputs.fields[i].type.kind] + 4; /* what is around it */
        sum += q->output == HAC_RESULT_JSON ? strlen(q->outputs.fields[i].name) + 4 : 0;
    }
    return sum;
}

static bool gives_text(const hac_query *q)
{
    bool text = false;
    for (size_t i = 0; i < q->n_visible; i++)
        text |= hac_kind_is_text(q->outputs.fields[i].type.kind);
    return text;
}

/* Size of a row of query.rows. */
static uint64_t row_bytes(const hac_query *q)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < q->outputs.n_fields; i++)
        sum += hac_repr_of(q->outputs.fields[i].type) == HAC_REPR_STRING
                   ? 24
                   : hac_repr_size(hac_repr_of(q->outputs.fields[i].type)) + 1;
    return sum;
}

static hac_status read_pairs(const hac_query *q, uint64_t *ret_keys, uint64_t *ret_bytes, hac_error *err)
{
    hac_distinct_query distinct;
    hac_group_layout layout;
    hac_distinct_query_init(q, &distinct);
    hac_status status = hac_group_layout_init(&distinct.pairs, &layout, err);
    if (status != HAC_OK)
        return status;
    *ret_keys = layout.n_keys;
    *ret_bytes = layout.stride;
    hac_group_layout_clear(&layout);
    return HAC_OK;
}

/* Whether sizes of row groups in bytes, or of blocks, were chosen: parts of a result do not know them. */
static bool sizes_groups(const hac_parquet_settings *settings)
{
    const uint64_t usual = UINT64_C(128) << 20;
    return (settings->group_bytes != 0 && settings->group_bytes != usual) ||
           (settings->block_bytes != 0 && settings->block_bytes != usual);
}

static bool has_one_result(const hac_query *q)
{
    return q->output == HAC_RESULT_TABLE || q->n_limit_by > 0 ||
           (q->output == HAC_RESULT_PARQUET && sizes_groups(&q->parquet));
}

hac_status hac_query_facts_read(const hac_query *q, hac_query_facts *ret, hac_error *err)
{
    uint64_t group_bytes = row_bytes(q), flags = flags_of(q), keys = q->n_keys;
    if (q->aggregates) {
        hac_group_layout layout;
        hac_status status = hac_group_layout_init(q, &layout, err);
        if (status != HAC_OK)
            return status;
        group_bytes = layout.stride;
        flags = with_accumulators(flags, &layout);
        hac_group_layout_clear(&layout);
    }
    if (hac_query_counts_distinct(q)) { /* the tables and partials are those of another query */
        hac_status status = read_pairs(q, &keys, &group_bytes, err);
        if (status != HAC_OK)
            return status;
    }
    flags |= gives_text(q) ? HAC_COMPILED_GIVES_TEXT : 0;
    flags |= hac_query_wants_first(q) ? HAC_COMPILED_FIRST_ROWS : 0;
    *ret = (hac_query_facts){.flags = flags | (has_one_result(q) ? HAC_COMPILED_ONE_RESULT : 0),
                             .keys = keys,
                             .group_bytes = group_bytes,
                             .output_bytes = output_bytes(q),
                             .output_max = output_max(q)};
    hac_query_shape_read(q, &ret->shape, &ret->same);
    return HAC_OK;
}
