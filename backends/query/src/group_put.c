/* SPDX-License-Identifier: Apache-2.0 */
#include "query/group_put.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "group_internal.h"

static hac_status put_rows(hac_group_table *t, const uint64_t *const *figures, size_t n, hac_error *err)
{
    const hac_group_layout *l = &t->layout;
    hac_autofree uint8_t *record = calloc(1, l->stride + 8);
    if (record == NULL)
        return hac_fail_no_memory(err);
    hac_status status = HAC_OK;
    for (size_t i = 0; status == HAC_OK && i < n; i++) {
        memcpy(record + l->rows_offset, figures[i], l->stride - l->rows_offset);
        status = hac_group_merge_record(t, t->records + t->at[i], record, err);
    }
    return status;
}

/* One group at a time: those of other passes are left out. */
static hac_status put_of_pass(hac_group_table *t, const hac_vector *columns, const uint64_t *const *figures,
                              size_t n, hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; status == HAC_OK && i < n; i++) {
        const hac_vector *kept;
        size_t rows;
        hac_vector one[HAC_PROGRAM_OUTPUTS_MAX];
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
            status = put_rows(t, &figures[i], 1, err);
    }
    return status;
}

hac_status hac_group_table_put(hac_group_table *table, const hac_vector *columns,
                               const uint64_t *const *figures, size_t n, hac_error *err)
{
    hac_status status = hac_group_table_ensure(table, err);
    if (status != HAC_OK || n == 0)
        return status;
    if (table->options.passes > 1)
        return put_of_pass(table, columns, figures, n, err);
    hac_group_keys_load(table, columns, n);
    hac_group_keys_hash(table, n);
    status = hac_group_find(table, n, err);
    return status == HAC_OK ? put_rows(table, figures, n, err) : status;
}
