/* SPDX-License-Identifier: Apache-2.0 */
#include "query/codelets.h"

#define CODELET(codelet, min, max, what)                                                                     \
    {                                                                                                        \
        .name = (codelet),                                                                                   \
        .min_spans = (min),                                                                                  \
        .max_spans = (max),                                                                                  \
        .params = HAC_PARAMS_COUNT(hac_query_params),                                                        \
        .check = hac_query_check_##what,                                                                     \
        .run = hac_query_run_##what,                                                                         \
    },

/* clang-format off */
static const hac_codelet table[] = {
    CODELET("query.describe", 1, 2, describe)
    CODELET("query.footer", 0, 1, footer)
    CODELET("query.quotes", 1, 2, quotes)
    CODELET("query.aggregate", 3, 3, aggregate)
    CODELET("query.merge", 2, 3, merge)
    CODELET("query.carry", 3, 3, carry)
    CODELET("query.finish", 2, 2, finish)
    CODELET("query.rows", 3, 3, rows)
    CODELET("query.gather", 2, 2, gather)
    CODELET("query.order", 2, 2, order)
    CODELET("query.join", 2, 2, join)
    CODELET("query.whole", 1, 2, whole)
    {.name = NULL},
};
/* clang-format on */

const hac_codelet *hac_query_codelets(void)
{
    return table;
}
