/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The values of one column, a row group after the other, in pieces of up to HAC_BATCH_ROWS rows. Pages are
 * read, checked (CRC), decompressed and decoded as they are needed: a page that is skipped whole is not
 * decompressed. Memory: a page compressed and one uncompressed, the dictionary; of strings as many pages as a
 * batch goes over, up to four times the limit of one.
 *
 * Values come as expressions want them (expr/vector.h): widened to their representation, a state a row.
 */
#ifndef PARQUET_COLUMN_H
#define PARQUET_COLUMN_H

#include "expr/vector.h"
#include "parquet/file.h"

typedef struct hac_parquet_column hac_parquet_column;

/* What was done, for the receipt. */
typedef struct hac_parquet_counters {
    uint64_t pages, pages_skipped; /* whose headers were read; of these not read further */
    uint64_t bytes_skipped;        /* of those, as stored */
    uint64_t bytes_read, bytes_decompressed, bytes_decoded;
    double read_seconds, decompress_seconds, decode_seconds;
} hac_parquet_counters;

/* What columns that are read side by side, by one thread, hold of their pages: small pages always fit, of
 * large ones (a few bytes may say that they are decompressed to so many) not all columns can have one at a
 * time. */
typedef struct hac_parquet_memory {
    uint64_t most; /* bytes beyond HAC_PARQUET_COLUMN_BYTES a column; one column alone may have more */
    uint64_t used;
} hac_parquet_memory;

#define HAC_PARQUET_COLUMN_BYTES (UINT64_C(8) << 20)

/* HAC_INVALID: the leaf's values are not read. Borrows the file. */
HAC_MUST_USE hac_status hac_parquet_column_new(const hac_parquet_file *file, size_t leaf,
                                               hac_parquet_column **ret, hac_error *err);
void hac_parquet_column_free(hac_parquet_column *column);

/* Counts the column in `memory`, which outlives it. Reading fails with HAC_FAILED where there is too little.
 */
void hac_parquet_column_share(hac_parquet_column *column, hac_parquet_memory *memory);

/* Begins the chunk of a row group, at its first row. Everything below fails with HAC_FAILED where the chunk
 * is damaged: "row group 3, column price, page 2: its checksum is wrong"; HAC_IO; HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_parquet_column_begin(hac_parquet_column *column, size_t group, hac_error *err);

/* Leaves out rows. Pages are left out by their headers: an offset index may lie. */
HAC_MUST_USE hac_status hac_parquet_column_skip(hac_parquet_column *column, uint64_t rows, hac_error *err);

/*
 * The next `rows` rows (≤ HAC_BATCH_ROWS, and no more than the row group has left). With `selection` only the
 * rows it names count, ascending, counted from the first of these: n_selected values are given, side by side.
 * ret->values and ret->states are the caller's arrays; states is filled always, *ret_marked says whether one
 * of them is not HAC_ROW_OK. ret->bytes of strings is the column's, and valid until its next call. A value
 * that the type does not have (a timestamp beyond its range, a decimal with more digits) has the state
 * HAC_ROW_RANGE.
 */
HAC_MUST_USE hac_status hac_parquet_column_read(hac_parquet_column *column, size_t rows,
                                                const uint16_t *selection, size_t n_selected, hac_vector *ret,
                                                bool *ret_marked, hac_error *err);

/*
 * The codes of the next `rows` rows, without going on: the rows are still to be read or skipped. *ret_codes
 * has one a row (undefined where the row is null), *ret_states HAC_ROW_OK or HAC_ROW_NULL; both are the
 * column's, valid until its next call. HAC_NOT_FOUND: some of these rows are in a page without codes.
 */
HAC_MUST_USE hac_status hac_parquet_column_codes(hac_parquet_column *column, size_t rows,
                                                 const uint32_t **ret_codes, const uint8_t **ret_states,
                                                 hac_error *err);

/* of[codes[i]] of `rows` of those codes, none of a row that is null; `of` has a byte an entry, and 16 at
 * least. */
#define HAC_PARQUET_JUDGED_LEAST 16
void hac_parquet_column_judge(const hac_parquet_column *column, const uint8_t *of, const uint32_t *codes,
                              size_t rows, uint8_t *ret);

/* The dictionary that those codes are of: entries [first, first + rows) like rows; all codes are below
 * *ret_entries. `*ret_serial` is another number whenever the dictionary is another one. */
void hac_parquet_column_dictionary(const hac_parquet_column *column, uint32_t *ret_entries,
                                   uint64_t *ret_serial);
HAC_MUST_USE hac_status hac_parquet_column_entries(hac_parquet_column *column, uint32_t first, size_t rows,
                                                   hac_vector *ret, bool *ret_marked, hac_error *err);

void hac_parquet_column_counters(const hac_parquet_column *column, hac_parquet_counters *ret);

#endif
