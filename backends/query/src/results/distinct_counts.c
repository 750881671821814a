/* SPDX-License-Identifier: Apache-2.0 */
#include "distinct_counts.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "codelet/progress.h"

/* The outputs of `counts` that are not keys, for a batch of pairs. */
typedef struct pair_sums {
    int64_t of[HAC_DISTINCT_SUMS][HAC_BATCH_ROWS];
} pair_sums;

static void set_columns(const hac_distinct_query *distinct, pair_sums *s, hac_column *columns)
{
    for (size_t i = 0; i < distinct->counts.n_aggregates; i++)
        columns[i] = (hac_column){.type = {.kind = HAC_KIND_I64}, .values = s->of[distinct->of[i]]};
}

/* Without keys all pairs belong to one group: only their number matters. */
static hac_status add_totals(const hac_distinct_query *distinct, hac_group_table *pairs,
                             hac_group_table *counts, pair_sums *s, hac_error *err)
{
    hac_column columns[HAC_DISTINCT_SUMS];
    hac_group_pair_counts all;
    hac_status status = hac_group_table_count_pairs(pairs, &all, err);
    if (status != HAC_OK)
        return status;
    s->of[HAC_DISTINCT_ROWS][0] = (int64_t)all.rows;
    s->of[HAC_DISTINCT_VALUES][0] = (int64_t)(all.rows - all.null_rows);
    s->of[HAC_DISTINCT_DISTINCT][0] = (int64_t)(all.pairs - (all.null_rows != 0));
    set_columns(distinct, s, columns);
    return hac_group_table_add(counts, columns, 1, err);
}

static hac_status add_batch(const hac_distinct_query *distinct, hac_group_table *counts, hac_column *columns,
                            pair_sums *s, size_t n, hac_error *err)
{
    size_t n_keys = distinct->counts.n_keys;
    const uint64_t *rows = columns[n_keys].values;
    const uint8_t *null = columns[n_keys].states;
    for (size_t i = 0; i < n; i++) {
        s->of[HAC_DISTINCT_ROWS][i] = (int64_t)rows[i];
        s->of[HAC_DISTINCT_VALUES][i] = null[i] ? 0 : (int64_t)rows[i];
        s->of[HAC_DISTINCT_DISTINCT][i] = !null[i];
    }
    set_columns(distinct, s, columns + n_keys);
    return hac_group_table_add(counts, columns, n, err);
}

hac_status hac_distinct_counts_add(const hac_distinct_query *distinct, hac_group_table *pairs,
                                   hac_group_table *counts, hac_error *err)
{
    size_t n_keys = distinct->counts.n_keys;
    uint64_t all = hac_group_table_groups(pairs);
    hac_autofree pair_sums *s = malloc(sizeof *s);
    hac_autofree hac_column *columns = calloc(n_keys + HAC_DISTINCT_SUMS, sizeof *columns);
    if (s == NULL || columns == NULL)
        return hac_fail_no_memory(err);
    if (n_keys == 0)
        return add_totals(distinct, pairs, counts, s, err);
    hac_status status = HAC_OK;
    for (uint64_t first = 0; status == HAC_OK && first < all; first += HAC_BATCH_ROWS) {
        size_t n = all - first < HAC_BATCH_ROWS ? (size_t)(all - first) : HAC_BATCH_ROWS;
        status = hac_group_table_pairs(pairs, first, n, columns, err);
        if (status == HAC_OK)
            status = add_batch(distinct, counts, columns, s, n, err);
        hac_progress_step();
    }
    return status;
}
