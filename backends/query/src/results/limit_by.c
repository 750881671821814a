/* SPDX-License-Identifier: Apache-2.0 */
#include "limit_by.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "row_keys.h"

/* The order of the query within rows that are alike. */
static hac_status order_of_groups(const hac_query *query, hac_query *ret, hac_error *err)
{
    size_t n = query->n_limit_by;
    hac_order_item *items = calloc(n + query->n_order + 1, sizeof *items);
    if (items == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < n; i++)
        items[i] = (hac_order_item){query->limit_by[i], false};
    if (query->n_order > 0)
        memcpy(items + n, query->order, query->n_order * sizeof *items);
    *ret = *query;
    ret->order = items;
    ret->n_order = n + query->n_order;
    return HAC_OK;
}

static bool same_value(const hac_rows_reader *rows, size_t column, uint64_t a, uint64_t b)
{
    uint64_t x[2], y[2];
    uint8_t state = hac_rows_value(rows, a / HAC_BATCH_ROWS, (uint32_t)(a % HAC_BATCH_ROWS), column, x);
    if (state != hac_rows_value(rows, b / HAC_BATCH_ROWS, (uint32_t)(b % HAC_BATCH_ROWS), column, y))
        return false;
    return state != HAC_ROW_OK || hac_row_compare_values(rows->repr[column], x, y) == 0;
}

bool hac_limit_by_alike(const hac_query *query, const hac_rows_reader *rows, uint64_t a, uint64_t b)
{
    for (size_t i = 0; i < query->n_limit_by; i++)
        if (!same_value(rows, query->limit_by[i], a, b))
            return false;
    return true;
}

/* Marks the first rows of each group: `grouped` has all rows, those that are alike one behind the other. */
static void mark_first(const hac_query *query, const hac_rows_reader *rows, const uint64_t *grouped,
                       uint64_t n, uint8_t *marks)
{
    uint64_t seen = 0;
    for (uint64_t i = 0; i < n; i++) {
        seen = i > 0 && hac_limit_by_alike(query, rows, grouped[i - 1], grouped[i]) ? seen + 1 : 0;
        if (seen < query->limit_each)
            marks[grouped[i] / 8] |= (uint8_t)(1u << (grouped[i] % 8));
    }
}

hac_status hac_limit_by(const hac_query *query, const hac_rows_reader *rows, hac_order_all order_all,
                        uint64_t *order, uint64_t n, uint64_t *ret_n, hac_error *err)
{
    hac_query groups;
    hac_autofree uint64_t *grouped = malloc((n + 1) * sizeof *grouped);
    hac_autofree uint8_t *marks = calloc(rows->n_blocks + 1, HAC_BATCH_ROWS / 8);
    if (grouped == NULL || marks == NULL)
        return hac_fail_no_memory(err);
    hac_status status = order_of_groups(query, &groups, err);
    if (status != HAC_OK)
        return status;
    if (n > 0)
        status = order_all(&groups, rows, grouped, n, err);
    free(groups.order);
    if (status != HAC_OK)
        return status;
    mark_first(query, rows, grouped, n, marks);
    uint64_t kept = 0;
    for (uint64_t i = 0; i < n; i++)
        if ((marks[order[i] / 8] >> (order[i] % 8) & 1) != 0)
            order[kept++] = order[i];
    *ret_n = kept;
    return HAC_OK;
}
