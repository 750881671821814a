/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside a source: what the formats share. A format fills `rows` rows: the text formats give every column's
 * field as a ref into `bytes`, which value.c then converts; the others give values.
 */
#ifndef QUERY_SOURCE_PARTS_H
#define QUERY_SOURCE_PARTS_H

#include "base/value_text.h"
#include "query/source.h"
#include "records.h"

typedef struct hac_source_column {
    hac_value_type type;
    hac_repr repr;
    const char *name;
    size_t name_bytes;
    size_t place;         /* field of a record, byte of a record (fixed), column of the table */
    void *values;         /* HAC_BATCH_ROWS, aligned */
    uint8_t *states;      /* likewise */
    hac_string_ref *refs; /* text formats; of a column of text they are the values, in all formats */
    bool marked;          /* some state is not HAC_ROW_OK */
    bool missing;         /* of this batch it has no values: hac_source_reads */
    const uint8_t *bytes; /* strings: what the refs point into */
} hac_source_column;

typedef struct hac_source_format {
    bool text;
    hac_status (*open)(hac_source *source, hac_error *err);
    hac_status (*begin)(hac_source *source, uint64_t first, uint64_t end, bool inside_quotes, hac_error *err);
    /* Fills rows (perhaps none). HAC_NOT_FOUND: the chunk is through. */
    hac_status (*next)(hac_source *source, hac_error *err);
    /* Which record begins at `position`, from 1; 0: that cannot be found out. NULL: records are lines. */
    uint64_t (*number)(hac_source *source, uint64_t position);
} hac_source_format;

/* Of the line before, what stood before the n-th value: its name with quotes and colon, and blanks; the next
 * line is likely alike. lead_bytes 0: unknown. And the column of that name, -1: none is asked for. */
typedef struct hac_json_key {
    uint32_t lead_bytes;
    int32_t column;
    uint8_t lead[56];
} hac_json_key;
#define HAC_JSON_KEYS 64

struct hac_source {
    const hac_query *query;
    const hac_table *table;
    const hac_source_format *format;
    hac_source_place place;
    hac_source_column *columns;
    size_t n_columns;
    hac_vector *vectors;
    void *memory; /* of the columns */

    size_t rows;                     /* of the batch */
    uint64_t starts[HAC_BATCH_ROWS]; /* where each begins: a byte, or a row of the table */
    bool dropped[HAC_BATCH_ROWS];    /* rows with errors, under skip_errors */
    size_t n_dropped;
    uint64_t skipped;
    hac_error late;   /* to be reported by the next call; code HAC_OK: none */
    uint64_t late_at; /* of the record that it is about */

    hac_records records; /* text; its window: fixed */
    size_t n_fields;     /* of a csv or tsv record */
    uint64_t data_start; /* behind byte order mark and header */
    uint64_t next, end;  /* fixed: bytes, table: rows */
    hac_json_key *keys;  /* jsonl: HAC_JSON_KEYS */
    size_t null_bytes;   /* length of null_text */
    struct hac_parquet_source *parquet;
    struct hac_lengths *lengths;
    struct hac_typed *typed;
};

extern const hac_source_format hac_format_delimited; /* csv, tsv */
extern const hac_source_format hac_format_lines;     /* lines, kv */
extern const hac_source_format hac_format_words;
extern const hac_source_format hac_format_jsonl;
extern const hac_source_format hac_format_fixed;
extern const hac_source_format hac_format_table;
extern const hac_source_format hac_format_parquet;
extern const hac_source_format hac_format_lengths;
extern const hac_source_format hac_format_typedbytes;
void hac_parquet_source_free(hac_source *source);
void hac_typed_free(struct hac_typed *typed);

/* Text of a column is null, or a ref. */
static inline void hac_source_null(hac_source_column *column, size_t row)
{
    column->refs[row] = (hac_string_ref){0, 0};
    column->states[row] = HAC_ROW_NULL;
    column->marked = true;
}

/* `begin` of formats whose records can be found from the first one on only: a chunk begins where a record
 * does, which is certain of splits, and of sources that are one chunk. */
hac_status hac_source_begin_whole(hac_source *source, uint64_t first, uint64_t end, bool inside_quotes,
                                  hac_error *err);

/* A record that cannot be read, and why; `column`: the name of the one that it is about, or NULL. True: it is
 * counted and left out. False: the format stops here; the error comes when the rows before it, which may be
 * in error themselves, are through. */
bool hac_source_bad_record(hac_source *source, uint64_t position, const char *column, const char *fmt, ...)
    HAC_PRINTF(4, 5);
/* The same of row `row` of those that were read, when a column's value is looked at: the row is left out; or
 * the batch ends before it. Columns are looked at in order, so that the first error is the one reported. */
void hac_source_bad_value(hac_source *source, size_t row, const hac_source_column *column, const char *fmt,
                          ...) HAC_PRINTF(4, 5);
/* The record at `position` cannot be read, and nobody can tell where the next one begins: fails the job,
 * under skip_errors too, when the rows before it are through. */
void hac_source_lost(hac_source *source, uint64_t position, const char *fmt, ...) HAC_PRINTF(3, 4);
#define HAC_LOST_TEXT "; it cannot be skipped, as nobody can tell where the next record begins"

/* Turns the refs of all columns that are not strings into values. HAC_FAILED: the first that is none; under
 * skip_errors its row is marked as dropped. */
hac_status hac_source_convert(hac_source *source, hac_error *err);
/* Takes the dropped rows out of the batch and counts them. */
void hac_source_drop(hac_source *source);

/* Text as a value of a column that is not a string: row `row` of it. hac_source_text_problem: why it is none,
 * for a message. */
hac_text_status hac_source_parse(const hac_source_column *column, const char *text, size_t bytes, size_t row);
#define HAC_TEXT_PROBLEM_MAX 192
const char *hac_source_text_problem(const hac_source_column *column, const char *text, size_t bytes,
                                    hac_text_status status, char ret[HAC_TEXT_PROBLEM_MAX]);

/* Rows whose decimal has more digits than its type are in error. */
void hac_source_check_decimals(hac_source *source, const hac_source_column *column);

/* Reads the header (csv, tsv) with records at the source's start; its fields are in *ret, data begins at
 * *ret_end. */
hac_status hac_source_read_header(hac_records *records, hac_record_view *ret, uint64_t *ret_end,
                                  hac_error *err);
/* The scan of a delimited format, and the text of one field, unescaped in place. */
hac_scan hac_delimited_scan(const hac_source_options *options);
hac_string_ref hac_delimited_field(const hac_source_options *options, const hac_record_view *view,
                                   uint32_t ordinal, size_t field, size_t n_fields, bool *ret_null);
/* The names in the first `sample` objects of a jsonl source, in the order in which they first come, as string
 * columns. HAC_FAILED: a line that is no object (not under skip_errors), a value that is an object or array,
 * no name at all, or too many. */
HAC_MUST_USE hac_status hac_jsonl_names(const hac_source_options *options, const hac_source_place *place,
                                        uint64_t sample, hac_schema *ret, hac_error *err);

/* A name of the header, as a column's. */
void hac_header_name(const hac_record_view *view, hac_string_ref ref, char ret[HAC_FIELD_NAME_MAX]);

#endif
