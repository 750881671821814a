/* SPDX-License-Identifier: Apache-2.0 */
#include "expr/distinct_query.h"

static const hac_value_type count_type = {.kind = HAC_KIND_I64};

bool hac_query_counts_distinct(const hac_query *query)
{
    bool some = false;
    if (!query->aggregates || query->rows == NULL || query->n_keys >= HAC_QUERY_KEYS_MAX ||
        query->rows->n_outputs != query->n_keys + 1)
        return false;
    for (size_t i = 0; i < query->n_aggregates; i++) {
        unsigned function = query->aggregate[i].function;
        if (function != HAC_AGGREGATE_COUNT_DISTINCT && function != HAC_AGGREGATE_COUNT &&
            function != HAC_AGGREGATE_COUNT_ROWS)
            return false;
        some |= function == HAC_AGGREGATE_COUNT_DISTINCT;
    }
    return some;
}

static hac_distinct_sum sum_of(const hac_aggregate *aggregate)
{
    switch (aggregate->function) {
    case HAC_AGGREGATE_COUNT_DISTINCT:
        return HAC_DISTINCT_DISTINCT;
    case HAC_AGGREGATE_COUNT:
        return HAC_DISTINCT_VALUES;
    default:
        return HAC_DISTINCT_ROWS;
    }
}

static bool needs(const hac_query *query, hac_distinct_sum sum)
{
    for (size_t i = 0; i < query->n_aggregates; i++)
        if (sum_of(&query->aggregate[i]) == sum)
            return true;
    return false;
}

size_t hac_distinct_sum_index(const hac_query *query, size_t index)
{
    hac_distinct_sum sum = sum_of(&query->aggregate[index]);
    size_t before = 0;
    for (unsigned s = 0; s < (unsigned)sum; s++)
        before += needs(query, (hac_distinct_sum)s);
    return before;
}

void hac_distinct_query_init(const hac_query *query, hac_distinct_query *ret)
{
    size_t n = query->n_keys;
    ret->rows_of_pair =
        (hac_aggregate){.function = HAC_AGGREGATE_COUNT_ROWS, .argument = -1, .type = count_type};
    ret->pairs = *query;
    ret->pairs.pairs = true;
    ret->pairs.n_keys = n + 1;
    ret->pairs.aggregate = &ret->rows_of_pair;
    ret->pairs.n_aggregates = 1;
    for (size_t k = 0; k < n; k++)
        ret->outputs[k] = query->rows->outputs[k];
    size_t n_sums = 0;
    for (unsigned sum = 0; sum < HAC_DISTINCT_SUMS; sum++) {
        if (!needs(query, (hac_distinct_sum)sum))
            continue;
        ret->of[n_sums] = (hac_distinct_sum)sum;
        ret->outputs[n + n_sums] = (hac_program_output){.type = count_type};
        ret->sums[n_sums] = (hac_aggregate){.function = HAC_AGGREGATE_SUM,
                                            .argument = (int16_t)(n + n_sums),
                                            .second = -1,
                                            .type = count_type};
        n_sums++;
    }
    ret->counted = (hac_program){.outputs = ret->outputs, .n_outputs = n + n_sums};
    ret->counts = *query;
    ret->counts.rows = &ret->counted;
    ret->counts.aggregate = ret->sums;
    ret->counts.n_aggregates = n_sums;
}
