/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a column with a list or a map in each row, or a part of it. The functions are those of
 * parquet/column.h, where they are described. */
#ifndef PARQUET_LIST_COLUMN_H
#define PARQUET_LIST_COLUMN_H

#include "parquet/column.h"

typedef struct hac_list_column hac_list_column;

HAC_MUST_USE hac_status hac_list_column_new(const hac_parquet_file *file, size_t leaf,
                                            const hac_parquet_leaf *as, hac_list_column **ret,
                                            hac_error *err);
void hac_list_column_free(hac_list_column *column);
bool hac_list_column_may_fail(const hac_list_column *column);
void hac_list_column_share(hac_list_column *column, hac_parquet_memory *memory);
HAC_MUST_USE hac_status hac_list_column_begin(hac_list_column *column, size_t group, hac_error *err);
HAC_MUST_USE hac_status hac_list_column_skip(hac_list_column *column, uint64_t rows, hac_error *err);
HAC_MUST_USE hac_status hac_list_column_read(hac_list_column *column, size_t rows, const uint16_t *selection,
                                             size_t n_selected, hac_column *ret, bool *ret_marked,
                                             hac_error *err);
HAC_MUST_USE hac_status hac_list_column_unnest(hac_list_column *column, size_t rows, hac_column *ret,
                                               uint16_t *ret_rows_of, size_t *ret_elements, size_t *ret_rows,
                                               bool *ret_marked, hac_error *err);
void hac_list_column_counters(const hac_list_column *column, hac_parquet_counters *ret);

#endif
