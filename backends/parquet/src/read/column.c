/* SPDX-License-Identifier: Apache-2.0 */
/* A column is read by one of two readers: with a value in each row, or with a list. */
#include "parquet/column.h"

#include <stdlib.h>

#include "base/error.h"
#include "flat_column.h"
#include "list_column.h"

struct hac_parquet_column {
    hac_flat_column *flat; /* NULL: … */
    hac_list_column *list; /* … this one */
};

hac_status hac_parquet_column_new(const hac_parquet_file *file, size_t leaf, const hac_parquet_leaf *as,
                                  hac_parquet_column **ret, hac_error *err)
{
    if (leaf >= file->n_leaves)
        return hac_fail(err, HAC_INVALID, "column %zu of %zu", leaf, file->n_leaves);
    if (as->type.kind == HAC_KIND_NONE)
        return hac_fail(err, HAC_INVALID, "column %s is not read: %s", as->name, as->why);
    hac_parquet_column *column = calloc(1, sizeof *column);
    if (column == NULL)
        return hac_fail_no_memory(err);
    hac_status status = as->nested.kind != HAC_NESTED_NONE
                            ? hac_list_column_new(file, leaf, as, &column->list, err)
                            : hac_flat_column_new(file, leaf, as, &column->flat, err);
    if (status == HAC_OK)
        *ret = column;
    else
        free(column);
    return status;
}

void hac_parquet_column_free(hac_parquet_column *column)
{
    if (column == NULL)
        return;
    hac_flat_column_free(column->flat);
    hac_list_column_free(column->list);
    free(column);
}

bool hac_parquet_column_may_fail(const hac_parquet_column *column)
{
    return column->list != NULL ? hac_list_column_may_fail(column->list)
                                : hac_flat_column_may_fail(column->flat);
}

void hac_parquet_column_share(hac_parquet_column *column, hac_parquet_memory *memory)
{
    if (column->list != NULL)
        hac_list_column_share(column->list, memory);
    else
        hac_flat_column_share(column->flat, memory);
}

hac_status hac_parquet_column_begin(hac_parquet_column *column, size_t group, hac_error *err)
{
    return column->list != NULL ? hac_list_column_begin(column->list, group, err)
                                : hac_flat_column_begin(column->flat, group, err);
}

hac_status hac_parquet_column_skip(hac_parquet_column *column, uint64_t rows, hac_error *err)
{
    return column->list != NULL ? hac_list_column_skip(column->list, rows, err)
                                : hac_flat_column_skip(column->flat, rows, err);
}

hac_status hac_parquet_column_read(hac_parquet_column *column, size_t rows, const uint16_t *selection,
                                   size_t n_selected, hac_column *ret, bool *ret_marked, hac_error *err)
{
    return column->list != NULL
               ? hac_list_column_read(column->list, rows, selection, n_selected, ret, ret_marked, err)
               : hac_flat_column_read(column->flat, rows, selection, n_selected, ret, ret_marked, err);
}

hac_status hac_parquet_column_unnest(hac_parquet_column *column, size_t rows, hac_column *ret,
                                     uint16_t *ret_rows_of, size_t *ret_elements, size_t *ret_rows,
                                     bool *ret_marked, hac_error *err)
{
    if (column->list == NULL)
        return hac_fail(err, HAC_INTERNAL, "a column without lists cannot be unnested");
    return hac_list_column_unnest(column->list, rows, ret, ret_rows_of, ret_elements, ret_rows, ret_marked,
                                  err);
}

hac_status hac_parquet_column_codes(hac_parquet_column *column, size_t rows, const uint32_t **ret_codes,
                                    const uint8_t **ret_states, hac_error *err)
{
    return column->list != NULL ? HAC_NOT_FOUND
                                : hac_flat_column_codes(column->flat, rows, ret_codes, ret_states, err);
}

void hac_parquet_column_judge(const hac_parquet_column *column, const uint8_t *of, const uint32_t *codes,
                              size_t rows, uint8_t *ret)
{
    hac_flat_column_judge(column->flat, of, codes, rows, ret);
}

void hac_parquet_column_dictionary(const hac_parquet_column *column, uint32_t *ret_entries,
                                   uint64_t *ret_serial)
{
    hac_flat_column_dictionary(column->flat, ret_entries, ret_serial);
}

hac_status hac_parquet_column_entries(hac_parquet_column *column, uint32_t first, size_t rows,
                                      hac_column *ret, bool *ret_marked, hac_error *err)
{
    return hac_flat_column_entries(column->flat, first, rows, ret, ret_marked, err);
}

void hac_parquet_column_counters(const hac_parquet_column *column, hac_parquet_counters *ret)
{
    if (column->list != NULL)
        hac_list_column_counters(column->list, ret);
    else
        hac_flat_column_counters(column->flat, ret);
}
