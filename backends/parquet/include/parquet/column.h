/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the values of one column, one row group after the other, in pieces of up to HAC_BATCH_ROWS rows.
 * Pages are read, checked (CRC), decompressed and decoded as they are needed: a page that is skipped
 * completely is not decompressed. Memory: one compressed and one decompressed page, and the dictionary; for
 * strings, as many pages as a batch spans, up to four times the limit of one page.
 *
 * Values have the form that expressions use (expr/column.h): widened to their representation, with one state
 * a row. A column of lists or maps has JSON text, or what hac_parquet_leaf_as says of a part; it has no
 * codes. Of the text of a batch there may be up to four times the limit of one page.
 */
#ifndef PARQUET_COLUMN_H
#define PARQUET_COLUMN_H

#include "expr/column.h"
#include "parquet/file.h"

typedef struct hac_parquet_column hac_parquet_column;

/* Counters for the job's report. */
typedef struct hac_parquet_counters {
    uint64_t pages, pages_skipped; /* pages whose headers were read; pages of these that were skipped */
    uint64_t bytes_skipped;        /* stored bytes of the skipped pages */
    uint64_t bytes_read, bytes_decompressed, bytes_decoded;
    double read_seconds, decompress_seconds, decode_seconds;
} hac_parquet_counters;

/* Limits the pages that columns read together by one thread hold in memory. Small pages always fit. Not all
 * columns can hold a large page at once: a few bytes can claim a large decompressed size. */
typedef struct hac_parquet_memory {
    uint64_t max; /* bytes above HAC_PARQUET_COLUMN_BYTES for each column; a single column may have more */
    uint64_t used;
} hac_parquet_memory;

#define HAC_PARQUET_COLUMN_BYTES (UINT64_C(8) << 20)

/* Reads the values of file->leaves[leaf] as `as` says, which is that leaf or what hac_parquet_leaf_as made of
 * it. HAC_INVALID: values of this leaf cannot be read. Borrows the file; copies *as. */
HAC_MUST_USE hac_status hac_parquet_column_new(const hac_parquet_file *file, size_t leaf,
                                               const hac_parquet_leaf *as, hac_parquet_column **ret,
                                               hac_error *err);
void hac_parquet_column_free(hac_parquet_column *column);

/* Whether some value of the column may get a state that is neither HAC_ROW_OK nor HAC_ROW_NULL. Statistics
 * may tell that none does: all values lie between two that the type has. */
bool hac_parquet_column_may_fail(const hac_parquet_column *column);

/* Counts the column's memory in `memory`, which outlives the column. Reading fails with HAC_FAILED above the
 * limit. */
void hac_parquet_column_share(hac_parquet_column *column, hac_parquet_memory *memory);

/* Begins the chunk of a row group at its first row. All functions below fail with HAC_FAILED if the chunk is
 * damaged ("row group 3, column price, page 2: its checksum is wrong"), with HAC_IO or with HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_parquet_column_begin(hac_parquet_column *column, size_t group, hac_error *err);

/* Skips rows. Pages are skipped by their headers, because an offset index may be wrong. */
HAC_MUST_USE hac_status hac_parquet_column_skip(hac_parquet_column *column, uint64_t rows, hac_error *err);

/*
 * Reads the next `rows` rows (at most HAC_BATCH_ROWS, and not beyond the row group). With `selection`, only
 * the rows that it lists are returned: n_selected row numbers in ascending order, counted from the first row.
 * ret->codes may be an array of HAC_BATCH_ROWS. It is filled, and ret->dictionary and ret->entries are set,
 * if all values are entries of the row group's dictionary; else ret->dictionary is 0 and ret->codes NULL.
 * ret->values and ret->states are the caller's arrays. States are always set; *ret_marked is true if some
 * state is not HAC_ROW_OK. For strings, ret->bytes belongs to the column and is valid until its next call. A
 * value that the type does not have (a timestamp out of range, a decimal with too many digits) gets the state
 * HAC_ROW_RANGE, a timestamp that is no whole number of microseconds HAC_ROW_PRECISION.
 */
HAC_MUST_USE hac_status hac_parquet_column_read(hac_parquet_column *column, size_t rows,
                                                const uint16_t *selection, size_t n_selected, hac_column *ret,
                                                bool *ret_marked, hac_error *err);

/*
 * Reads the elements of the next rows of a column that was made for HAC_LIST_UNNEST, one after the other: up
 * to HAC_BATCH_ROWS, and those of at most `rows` rows. Element i belongs to row ret_rows_of[i], counted from
 * the first row; *ret_rows is the number of rows that are complete, and the next call goes on in the row
 * behind them. ret->values and ret->states are the caller's arrays; strings are as above.
 */
HAC_MUST_USE hac_status hac_parquet_column_unnest(hac_parquet_column *column, size_t rows, hac_column *ret,
                                                  uint16_t *ret_rows_of, size_t *ret_elements,
                                                  size_t *ret_rows, bool *ret_marked, hac_error *err);

/* Reads the dictionary codes of the next `rows` rows without consuming the rows. *ret_codes has one code a
 * row (undefined if the row is null), *ret_states has HAC_ROW_OK or HAC_ROW_NULL; both belong to the column
 * and are valid until its next call. HAC_NOT_FOUND: some of these rows are in a page without codes. */
HAC_MUST_USE hac_status hac_parquet_column_codes(hac_parquet_column *column, size_t rows,
                                                 const uint32_t **ret_codes, const uint8_t **ret_states,
                                                 hac_error *err);

/* Looks up of[codes[i]] for `rows` of these codes. `of` has one byte for each entry, and at least 16. */
#define HAC_PARQUET_JUDGED_MIN 16
void hac_parquet_column_judge(const hac_parquet_column *column, const uint8_t *of, const uint32_t *codes,
                              size_t rows, uint8_t *ret);

/* Reads entries [first, first + rows) of the dictionary of these codes, like rows. All codes are below
 * *ret_entries. *ret_serial changes whenever the dictionary does. */
void hac_parquet_column_dictionary(const hac_parquet_column *column, uint32_t *ret_entries,
                                   uint64_t *ret_serial);
HAC_MUST_USE hac_status hac_parquet_column_entries(hac_parquet_column *column, uint32_t first, size_t rows,
                                                   hac_column *ret, bool *ret_marked, hac_error *err);

void hac_parquet_column_counters(const hac_parquet_column *column, hac_parquet_counters *ret);

#endif
