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
    free(query->limit_by);
    free(query->widths);
    free(query);
}

size_t hac_query_columns_in_file(const hac_query *query)
{
    size_t n = 0;
    while (n < query->columns.n_fields && !query->columns.fields[n].in_path)
        n++;
    return n;
}
