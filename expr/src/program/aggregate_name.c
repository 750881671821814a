/* SPDX-License-Identifier: Apache-2.0 */
/* Names of aggregates for messages. */
#include <stdio.h>

#include "expr/group_layout.h"

/* The name of the output column that is just this aggregate; NULL if there is none. */
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
    const hac_aggregate_info *info = hac_aggregate_info_of(query->aggregate[index].function);
    if (name != NULL)
        snprintf(ret, HAC_AGGREGATE_NAME_MAX, "%s", name);
    else
        snprintf(ret, HAC_AGGREGATE_NAME_MAX, "aggregate %zu (%s)", index + 1,
                 info != NULL ? info->name : "unknown");
    return ret;
}
