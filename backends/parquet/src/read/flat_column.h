/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads one leaf that has a value or a null in each row. The functions are those of parquet/column.h, where
 * they are described.
 *
 * A leaf within a list has *slots* instead, one after the other: each has a value or none, and its levels say
 * whether it begins a row (list_column.h makes rows of them). Of such a leaf only the functions with slots,
 * `begin`, `share` and `counters` may be called.
 */
#ifndef PARQUET_FLAT_COLUMN_H
#define PARQUET_FLAT_COLUMN_H

#include "parquet/column.h"

typedef struct hac_flat_column hac_flat_column;

HAC_MUST_USE hac_status hac_flat_column_new(const hac_parquet_file *file, size_t leaf,
                                            const hac_parquet_leaf *as, hac_flat_column **ret,
                                            hac_error *err);
void hac_flat_column_free(hac_flat_column *column);
bool hac_flat_column_may_fail(const hac_flat_column *column);
void hac_flat_column_share(hac_flat_column *column, hac_parquet_memory *memory);
HAC_MUST_USE hac_status hac_flat_column_begin(hac_flat_column *column, size_t group, hac_error *err);
HAC_MUST_USE hac_status hac_flat_column_skip(hac_flat_column *column, uint64_t rows, hac_error *err);
HAC_MUST_USE hac_status hac_flat_column_read(hac_flat_column *column, size_t rows, const uint16_t *selection,
                                             size_t n_selected, hac_column *ret, bool *ret_marked,
                                             hac_error *err);
HAC_MUST_USE hac_status hac_flat_column_codes(hac_flat_column *column, size_t rows,
                                              const uint32_t **ret_codes, const uint8_t **ret_states,
                                              hac_error *err);
void hac_flat_column_judge(const hac_flat_column *column, const uint8_t *of, const uint32_t *codes,
                           size_t rows, uint8_t *ret);
void hac_flat_column_dictionary(const hac_flat_column *column, uint32_t *ret_entries, uint64_t *ret_serial);
HAC_MUST_USE hac_status hac_flat_column_entries(hac_flat_column *column, uint32_t first, size_t rows,
                                                hac_column *ret, bool *ret_marked, hac_error *err);
void hac_flat_column_counters(const hac_flat_column *column, hac_parquet_counters *ret);

/* ---- slots ---- */

/* The number of slots of the row group that are left, as the footer says. */
uint64_t hac_flat_column_slots_left(const hac_flat_column *column);

/* Reads the next slots: one to `max` (at most HAC_BATCH_ROWS), *ret_n, and not beyond a page. ret->values,
 * ret->states and the levels are the caller's arrays with room for HAC_BATCH_ROWS. Strings are valid until
 * the next call. With `levels_only`, no values are returned. */
HAC_MUST_USE hac_status hac_flat_column_slots(hac_flat_column *column, size_t max, bool levels_only,
                                              hac_column *ret, uint8_t *ret_repetition,
                                              uint8_t *ret_definition, size_t *ret_n, hac_error *err);

/* After the last slot: checks that no pages with values follow. */
HAC_MUST_USE hac_status hac_flat_column_end(hac_flat_column *column, hac_error *err);

#endif
