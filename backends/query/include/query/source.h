/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources: read one chunk of a file, of text in memory, or of a table as batches of rows. A chunk of text
 * owns the records that start in [first_byte, end_byte): reading begins at the first start of a record in it
 * and continues past its end until its last record is complete. All bytes are untrusted. Records of lengths
 * and typedbytes cannot be found from the middle of a source: their chunks begin where a record does, and
 * only splits have more than one chunk (HAC_INVALID).
 *
 *   csv         RFC 4180, LF or CR LF. An unquoted empty field is null in every type, "" is an empty string.
 *               A quote inside an unquoted field, or one that is never closed, fails the job even with
 *               skip_errors, because the next record cannot be found. Empty lines are skipped if there is
 *               more than one column; in a single column they are nulls.
 *   tsv         \t \n \r \\ are escapes; a backslash before any other character stays. \N is null; an empty
 *               field is an empty string, or null in a column of another type.
 *   jsonl       one object a line; empty lines are skipped. A missing name is null; if a name comes twice,
 *               the last value counts. A string is converted to its column's type, and so is the text of a
 *               number, true or false; NaN, Infinity and -Infinity are accepted. Objects and arrays are
 *               errors where a column asks for them, and when nested more than 512 deep. Half a surrogate
 *               pair is an error.
 *   lines, kv   LF or CR LF. kv: a line without a TAB has a null value.
 *   words       as the contract defines them.
 *   clf, syslog fixed columns. A time becomes text that timestamps are read from. Empty lines are skipped.
 *   logfmt      columns by key; a value is converted to its column's type, an empty one is null but in text.
 *   fixed       the source's size is a multiple of the record's.
 *   lengths     a length of four bytes and that many bytes: the schema's columns as in fixed. Each text
 *               begins with its own length, except that the last column, if it is text, is the rest of the
 *               record. A record that is too short or has bytes left over is in error. A length beyond the
 *               source's end fails the job even with skip_errors.
 *   typedbytes  alternating keys and values: columns 0 and 1. With more than two columns the value is a
 *               vector or list of columns 1 and up (missing ones are null). Integers are accepted where they
 *               fit exactly, floats in f32 and f64, bool, text as in csv; numbers become text in a string
 *               column. Empty text is null in columns of other types. Bytes that are not typed bytes, or
 *               nested more than 64 deep, fail the job even with skip_errors.
 *   parquet     rows of row groups; columns by name, with exactly the file's type. Rows that the filter rules
 *               out are skipped early if that is cheaper (hac_source_filtered).
 *   table       columns by position, with exactly the table's type. A string outside its column's bytes fails
 *               the job even with skip_errors.
 *
 * A byte order mark at the beginning of text is skipped, except in splits, whose client has left it out.
 * Blanks around values that are not strings are ignored. A record has at most 64 MiB and 65,535 fields.
 */
#ifndef QUERY_SOURCE_H
#define QUERY_SOURCE_H

#include "base/table.h"
#include "expr/query.h"
#include "parquet/column.h"
#include "parquet/prune.h"
#include "query/stage_counters.h"

typedef struct hac_source hac_source;

/* Where a source's bytes are. */
typedef struct hac_source_place {
    int fd;                /* -1: in memory */
    uint64_t fd_offset;    /* offset of the source's first byte in the file */
    const uint8_t *memory; /* text or table */
    /* bytes of the source (table: of its memory). More bytes in a file are ignored, fewer are an error. */
    uint64_t bytes;
    const hac_parquet_file *parquet; /* parquet: the opened file */
    uint64_t stamp;                  /* parquet: stamp of the file before the footer was read; 0: unknown */
    /* A split: chunks begin where records do. */
    bool split;
    uint64_t head;         /* bytes of the header line before the records */
    uint64_t lines_before; /* lines or records before byte `head` in the source that the split is from */
    const char
        *path; /* folders with keys (base/folder_keys.h), for the query's columns in paths; may be NULL */
    size_t path_bytes;
} hac_source_place;

/* Counters of a source. */
typedef struct hac_source_counters {
    uint64_t skipped;     /* records with errors that were skipped */
    uint64_t passed_over; /* rows that the filter ruled out before they were in a batch */
    hac_parquet_counters columns;
    hac_parquet_pruned pruned;
    uint64_t groups_answered; /* row groups that hac_source_next_answer gave the results of */
    uint64_t bytes_pruned;    /* stored bytes of row groups that were skipped completely */
} hac_source_counters;

/* Opens a source for the query's columns. `table` describes the columns in place->memory (HAC_FORMAT_TABLE),
 * else it is NULL. For csv and tsv with a header, reads the header and finds the columns by name
 * (HAC_INVALID: one is missing). Borrows its arguments. */
HAC_MUST_USE hac_status hac_source_open(const hac_query *query, const hac_source_place *place,
                                        const hac_table *table, hac_source **ret, hac_error *err);
void hac_source_free(hac_source *source);

/* The names in the header of a csv or tsv source, as string columns. There may be more than HAC_FIELDS_MAX;
 * long names are cut to HAC_FIELD_NAME_MAX. HAC_INVALID: the source is empty. */
HAC_MUST_USE hac_status hac_source_header(const hac_source_options *options, const hac_source_place *place,
                                          hac_schema *ret, hac_error *err);

/* The number of double quotes in [first_byte, end_byte) (csv). The parity of the sum over all bytes before a
 * chunk tells whether the chunk begins inside a quoted field. Runs at memory speed. */
HAC_MUST_USE hac_status hac_source_quotes(const hac_source_place *place, uint64_t first_byte,
                                          uint64_t end_byte, uint64_t *ret, hac_error *err);

/* Begins a chunk: bytes [first, end) of the source, or rows of a table or of parquet's row groups.
 * `inside_quotes`: see hac_source_quotes. */
HAC_MUST_USE hac_status hac_source_begin(hac_source *source, uint64_t first, uint64_t end, bool inside_quotes,
                                         hac_error *err);

/*
 * Returns the chunk's next batch of 1 … HAC_BATCH_ROWS rows: query->columns, in order. The columns are
 * writable and valid until the next call. HAC_NOT_FOUND: the chunk has no more rows. HAC_FAILED: malformed
 * input, with its place: "line 1234, column price: 'abc' is not a number (f64)"; with skip_errors such
 * records are counted and skipped.
 */
HAC_MUST_USE hac_status hac_source_next(hac_source *source, hac_batch *ret, hac_error *err);

/* Takes all rows that are left in the chunk without reading them, if the query has neither columns nor a
 * filter and the source says how many rows it has (a Parquet file). False: read them. */
bool hac_source_take_rows(hac_source *source, uint64_t *ret_rows);

/* Names row `row` of the last batch for messages: "line 1234", "row 17". `ret` has room for 32 bytes. May
 * read the source from its start to count lines: only for errors. */
void hac_source_where(hac_source *source, size_t row, char *ret);

/*
 * An end of the rows that count, in the order of a column: rows behind `value` do not count (above it, or
 * with `descending` below it; nulls are behind all values). Values compare as in expr/conjuncts.h.
 */
typedef struct hac_source_cut {
    size_t column; /* of query->columns */
    bool descending;
    bool with_equal;    /* rows with the value itself count */
    hac_constant value; /* a string is bytes[low … low + high) */
    const uint8_t *bytes;
} hac_source_cut;

/* Whether the source leaves out rows behind a cut through the column before it reads all their columns, and
 * no row that it leaves out would be an error of the query. */
bool hac_source_may_cut(const hac_source *source, size_t column);
/* A value that at least `rows` rows of the source that count are not behind. False: only reading tells. */
bool hac_source_rank(const hac_source *source, size_t column, bool descending, uint64_t rows,
                     hac_constant *ret, const uint8_t **ret_bytes);
/* Sets the cut, instead of the last one, for batches from the next one on; needs hac_source_may_cut. Rows
 * behind the cut may still be in batches. Copies what it needs. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_source_set_cut(hac_source *source, const hac_source_cut *cut, hac_error *err);

/* The numbers of the last batch's rows in the source, ascending; NULL: the format does not number rows. Valid
 * until the next batch. */
uint64_t *hac_source_numbers(hac_source *source);
/* After hac_source_begin of a format that numbers rows: of the chunk only the rows with these numbers, n
 * ascending ones that pass the filter, are read and counted, from now on. Borrows `numbers` until the next
 * hac_source_begin. */
void hac_source_want(hac_source *source, const uint64_t *numbers, size_t n);

/* Lets the source leave out row groups of a Parquet file whose statistics hold all that the query wants of
 * them: wants[i] for column i of the query, HAC_WANTS_… bits (expr/query_facts.h). *Statistics rows* stand
 * for the rows that are left out (hac_source_next_answer). Call it before the first batch. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_source_answer(hac_source *source, const uint8_t *wants, hac_error *err);
/* Whether the source leaves out the rows of this row group, after hac_source_answer. */
bool hac_source_is_answered(const hac_source *source, size_t group);
/* Call it after the last batch of a chunk, for each row group that was left out. *ret gets two statistics
 * rows: the minimum and the maximum of each wanted column, or null if the column has no values. *ret_rows is
 * the number of rows of the row group, ret_nulls[i] the number of nulls in column i. HAC_NOT_FOUND: there are
 * no more. */
HAC_MUST_USE hac_status hac_source_next_answer(hac_source *source, hac_batch *ret, uint64_t *ret_rows,
                                               uint64_t *ret_nulls);

/* Says that batches for which hac_source_filtered is true need only the columns that `program` reads: the
 * other columns then have no values. Without this call all columns have values. Call it before the first
 * batch. */
void hac_source_reads(hac_source *source, const hac_program *program);

/* Whether the source has applied the query's filter: it is true for all rows of the last batch. */
bool hac_source_filtered(const hac_source *source);

/* The number of records skipped so far; all counters, added to *counters. */
uint64_t hac_source_skipped(const hac_source *source);
void hac_source_count(const hac_source *source, hac_source_counters *counters);
/* Time spent on reading bytes of text and fixed records into memory; zero for other sources. */
hac_stage hac_source_reading(const hac_source *source);
/* Stores the counters as values of a task (hac_read_value in base/query_layout.h). */
void hac_source_put_counters(const hac_source_counters *counters, uint64_t *ret);

#endif
