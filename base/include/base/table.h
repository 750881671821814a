/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table in memory: columns in one pool buffer, each laid out as the Arrow format has it, so that Arrow
 * columns come in and go out as plain copies or none. Everything about a table that somebody else has filled
 * in is checked by hac_table_check before a value is read.
 *
 *   validity  bitmap: bit i%8 of byte i/8 is 1 where row i is not null; absent (offset
 *             HAC_TABLE_NONE) where there are no nulls
 *   values    bool: a bitmap; fixed width: rows × hac_value_size; string: (rows + 1) int32 or int64
 *             offsets into `bytes`, ascending, the first ≥ 0, also where rows are null; bytes has the same
 * offsets
 *   bytes     string: the characters
 *
 * Every part starts at a multiple of 64 bytes.
 */
#ifndef BASE_TABLE_H
#define BASE_TABLE_H

#include "base/limits.h"
#include "base/value.h"

#define HAC_TABLE_NONE UINT64_MAX

typedef struct hac_table_column {
    hac_value_type type;
    bool large;        /* string, bytes: 64-bit offsets */
    uint64_t validity; /* offsets in the table's memory; HAC_TABLE_NONE where there is no such part */
    uint64_t values;
    uint64_t bytes, n_bytes;
} hac_table_column;

typedef struct hac_table {
    uint64_t rows;
    size_t n_columns;
    hac_table_column *columns; /* borrowed */
} hac_table;

/* Whether every part lies within `bytes` of memory and starts at a multiple of 64. Does not look at the
 * memory: string offsets are judged where they are read (hac_table_string). Of a column that a query uses
 * each row that is read is: an offset out of order fails the query, be the row null or left out by the
 * filter. HAC_INVALID names column and part. */
HAC_MUST_USE hac_status hac_table_check(const hac_table *table, uint64_t bytes, hac_error *err);

/* Row `row` of a string column of `memory`; false when its offsets are not in order or outside of its bytes.
 */
bool hac_table_string(const hac_table_column *column, const uint8_t *memory, uint64_t row,
                      const uint8_t **ret, uint64_t *ret_bytes);

#endif
