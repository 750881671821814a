/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "group_internal.h"

static hac_status put_rows(hac_group_table *t, const uint64_t *const *figures, const hac_exact_units *units,
                           size_t n, hac_error *err)
{
    const hac_group_layout *l = &t->layout;
    hac_autofree uint8_t *record = calloc(1, l->stride + 8);
    if (record == NULL)
        return hac_fail_no_memory(err);
    hac_status status = HAC_OK;
    for (size_t i = 0; status == HAC_OK && i < n; i++) {
        memcpy(record + l->rows_offset, figures[i], l->stride - l->rows_offset);
        status = hac_exact_align(t, units != NULL ? units : t->exact.units, record, 1, err);
        for (size_t k = 0; k < t->exact.n_loose; k++)
            t->exact.loose[k].row = i;
        if (status == HAC_OK)
            status = hac_group_merge_records(t, &t->at[i], record, 1, err);
        if (status == HAC_OK)
            status = hac_exact_put_loose(t, err);
    }
    return status;
}

/* With passes: one group at a time, because groups of other passes are ignored. */
static hac_status put_of_pass(hac_group_table *t, const hac_column *columns, const uint64_t *const *figures,
                              const hac_exact_units *units, size_t n, hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; status == HAC_OK && i < n; i++) {
        const hac_column *kept;
        size_t rows;
        hac_column one[HAC_PROGRAM_OUTPUTS_MAX];
        size_t n_columns = t->layout.query->rows->n_outputs;
        for (size_t c = 0; c < n_columns; c++) {
            size_t size = hac_repr_size(hac_repr_of(columns[c].type));
            one[c] = columns[c];
            one[c].values = (uint8_t *)columns[c].values + i * size;
            one[c].states = columns[c].states == NULL ? NULL : columns[c].states + i;
        }
        status = hac_group_keep_pass(t, one, 1, &kept, &rows, err);
        if (status != HAC_OK || rows == 0)
            continue;
        hac_group_keys_load(t, kept, 1);
        hac_group_keys_hash(t, 1);
        status = hac_group_find(t, 1, err);
        if (status == HAC_OK)
            status = put_rows(t, &figures[i], units, 1, err);
    }
    return status;
}

hac_status hac_group_table_put(hac_group_table *table, const hac_column *columns,
                               const uint64_t *const *figures, const hac_exact_units *units, size_t n,
                               hac_error *err)
{
    hac_status status = hac_group_table_ensure(table, err);
    if (status != HAC_OK || n == 0)
        return status;
    if (table->options.passes > 1)
        return put_of_pass(table, columns, figures, units, n, err);
    hac_group_keys_load(table, columns, n);
    hac_group_keys_hash(table, n);
    status = hac_group_find(table, n, err);
    return status == HAC_OK ? put_rows(table, figures, units, n, err) : status;
}
