/* SPDX-License-Identifier: Apache-2.0 */
#include "expr/query.h"

#include <stdlib.h>

void hac_query_free(hac_query *query)
{
    if (query == NULL)
        return;
    hac_schema_clear(&query->columns);
    hac_schema_clear(&query->outputs);
    hac_program_free(query->filter);
    hac_program_free(query->rows);
    hac_program_free(query->finals);
    free(query->positions);
    free(query->aggregate);
    free(query->order);
    free(query->widths);
    free(query);
}

bool hac_query_order_matters(const hac_query *query)
{
    for (size_t i = 0; i < query->n_aggregates; i++) {
        const hac_aggregate *a = &query->aggregate[i];
        bool real = a->argument >= 0 && query->rows->outputs[a->argument].type.kind == HAC_KIND_F64;
        switch (a->function) {
        case HAC_AGGREGATE_SUM:
        case HAC_AGGREGATE_AVG: /* of integers and decimals the sum is exact */
            if (real)
                return true;
            break;
        case HAC_AGGREGATE_VARIANCE:
        case HAC_AGGREGATE_STDDEV:
        case HAC_AGGREGATE_VARIANCE_POP:
        case HAC_AGGREGATE_STDDEV_POP:
        case HAC_AGGREGATE_FIRST:
        case HAC_AGGREGATE_LAST:
        case HAC_AGGREGATE_QUANTILE:
        case HAC_AGGREGATE_STRING_LIST:
            return true;
        default:
            break;
        }
    }
    return false;
}
