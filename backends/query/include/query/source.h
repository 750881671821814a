/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources: one chunk of a file, of text in memory, or of a table, as batches of rows. A chunk of text owns
 * the records that start in [first_byte, end_byte): reading begins at the first record start in it and goes
 * on past its end until its last record is whole. All bytes are untrusted. Records of lengths and typedbytes
 * cannot be found from anywhere: a chunk of these begins where a record does, and only
 * splits have more than one (HAC_INVALID).
 *
 *   csv    RFC 4180, LF or CR LF. An unquoted empty field is null in every type, "" is an empty
 *          string. A quote inside an unquoted field, or one that is never closed, fails the job even
 *          under skip_errors: nobody can tell where the next record begins. Empty lines are skipped
 *          where there is more than one column; in one column they are nulls. A byte order mark is
 *          skipped (tsv and jsonl likewise).
 *   tsv    \t \n \r \\ are escapes, a backslash before anything else stays. \N is null; an empty
 *          field is an empty string, or null in a column of another type.
 *   jsonl  one object a line; empty lines are skipped. A missing name is null; of a name that comes
 *          twice the last counts. A string is read as its column's type, and so is the text of a
 *          number, true or false; NaN, Infinity and -Infinity are taken. Objects and arrays are
 *          errors where a column asks for them, and more than 512 deep. Half a surrogate pair is one.
 *   lines  LF or CR LF. kv: likewise; without a TAB the value is null.
 *   words  as the contract has them; a byte order mark is part of a word.
 *   fixed  the source's size is a multiple of the record's.
 *   lengths   a length of four bytes and that many bytes: the schema's columns, as in fixed; text has a
 * length of its own in front, but the last column, if it is text, is what is left. A record that is too short
 *          or has bytes left over is in error. A length beyond the source's end fails the job even under
 *          skip_errors.
 *   typedbytes   a key and a value in turn: columns 0 and 1; or of more than two columns the value is a
 * vector or list of those from 1 on (missing ones are null). Whole numbers are taken where they fit exactly,
 *          floats into f32 and f64, bool, text as in csv; numbers become text in a column of strings. No text
 * is null in columns of other types. What is not typed bytes, or nested more than 64 deep, fails the job even
 * under skip_errors. parquet  rows of row groups; columns by name, of the very type. What the filter rules
 * out is left out early, where that is cheaper (hac_source_filtered). table  columns by position, of the very
 * type. A string that does not lie within its column fails the job even under skip_errors.
 *
 * Blanks around a value that is not a string do not count. A record has at most 64 MiB and 65,535
 * fields.
 */
#ifndef QUERY_SOURCE_H
#define QUERY_SOURCE_H

#include "base/table.h"
#include "expr/query.h"
#include "parquet/column.h"
#include "parquet/prune.h"
#include "query/stages.h"

typedef struct hac_source hac_source;

/* Where the bytes are. */
typedef struct hac_source_place {
    int fd;                /* -1: in memory */
    uint64_t fd_offset;    /* of the source's first byte in the file */
    const uint8_t *memory; /* text or table */
    uint64_t bytes;        /* of the source (table: of its memory); what a file has beyond is ignored, less is
                            * an error */
    const hac_parquet_file *parquet; /* of such a source: opened */
    uint64_t stamp;                  /* of its file, before the footer was read; 0: not known */
    /* A split: chunks begin where records do. */
    bool split;
    uint64_t head;         /* bytes of the header's line in front of the records */
    uint64_t lines_before; /* of the source it is from, before byte `head`: lines, or records */
} hac_source_place;

/* What was not done, and what it took. */
typedef struct hac_source_counters {
    uint64_t skipped;     /* records with errors */
    uint64_t passed_over; /* rows that the filter ruled out before they were in a batch */
    hac_parquet_counters columns;
    hac_parquet_pruned pruned;
    uint64_t bytes_pruned; /* as stored, of row groups that were left out whole */
} hac_source_counters;

/* A source for the query's columns. `table` describes columns in place->memory (HAC_FORMAT_TABLE), else NULL.
 * For csv and tsv with a header, reads it and finds the columns by name (HAC_INVALID: one is missing).
 * Borrows all. */
HAC_MUST_USE hac_status hac_source_open(const hac_query *query, const hac_source_place *place,
                                        const hac_table *table, hac_source **ret, hac_error *err);
void hac_source_free(hac_source *source);

/* The names in the header of a csv or tsv source, all of type string; for query.compile without or with a
 * schema. There may be more than HAC_FIELDS_MAX; long ones are cut to HAC_FIELD_NAME_MAX. HAC_INVALID: the
 * source is empty. */
HAC_MUST_USE hac_status hac_source_header(const hac_source_options *options, const hac_source_place *place,
                                          hac_schema *ret, hac_error *err);

/* Number of double quotes in [first_byte, end_byte) (csv): with the sum over everything before a chunk its
 * parity says whether the chunk begins inside a quoted field. Memory speed. */
HAC_MUST_USE hac_status hac_source_quotes(const hac_source_place *place, uint64_t first_byte,
                                          uint64_t end_byte, uint64_t *ret, hac_error *err);

/* Begins a chunk: bytes [first, end) of the source, or rows of a table or of parquet's row groups.
 * `inside_quotes` as found by the quotes. */
HAC_MUST_USE hac_status hac_source_begin(hac_source *source, uint64_t first, uint64_t end, bool inside_quotes,
                                         hac_error *err);

/*
 * The next batch (1 … HAC_BATCH_ROWS rows) of the chunk: query->columns, in order. Vectors are writable and
 * valid until the next call. HAC_NOT_FOUND: the chunk is through. HAC_FAILED: malformed input, with file
 * position: "line 1234, column price: 'abc' is not a number (f64)"; with skip_errors such records are counted
 * and left out.
 */
HAC_MUST_USE hac_status hac_source_next(hac_source *source, hac_batch *ret, hac_error *err);

/* Where row `row` of the last batch begins, for messages: "line 1234", "row 17". `ret` has room for 32 bytes.
 * May read the source from its start to count lines: for the way into an error only. */
void hac_source_where(hac_source *source, size_t row, char *ret);

/* Of batches for which hac_source_filtered is true only the columns that `program` reads are wanted: the
 * others have no values. Without it all have. Before the first batch. */
void hac_source_reads(hac_source *source, const hac_program *program);

/* Whether the query's filter is true for all rows of the last batch, as the source has seen to. */
bool hac_source_filtered(const hac_source *source);

/* Records left out so far; all that is counted, added to *counters. */
uint64_t hac_source_skipped(const hac_source *source);
void hac_source_count(const hac_source *source, hac_source_counters *counters);
/* What bringing the bytes of text and of fixed records into memory took so far; of other sources nothing. */
hac_stage hac_source_reading(const hac_source *source);
/* As values of a task: hac_read_value (base/query_layout.h). */
void hac_source_put_counters(const hac_source_counters *counters, uint64_t *ret);

#endif
