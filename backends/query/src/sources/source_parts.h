/* SPDX-License-Identifier: Apache-2.0 */
/* The internals of a source, which the readers of all formats share. A reader fills a batch of `rows` rows.
 * Readers of text set the `refs` of every column, which point into `bytes`; text_values.c converts them to
 * values. Other readers set the values. */
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
    size_t place;                   /* field of a record; byte of a record (fixed); column of the table */
    void *values;                   /* HAC_BATCH_ROWS, aligned */
    uint8_t *states;                /* HAC_BATCH_ROWS */
    hac_string_ref *refs;           /* text formats; for string columns of all formats, the values */
    bool inferred;                  /* hac_field.inferred */
    bool lacking;                   /* hac_field.lacking */
    bool member;                    /* hac_field.member */
    uint8_t part;                   /* hac_field.part */
    const char *argument;           /* hac_field.argument */
    const hac_input_options *forms; /* text: how numbers and dates are written */
    bool marked;                    /* some state is not HAC_ROW_OK */
    bool missing;                   /* this batch has no values of the column (hac_source_reads) */
    const uint8_t *bytes;           /* strings: base of the refs */
    uint64_t dictionary;            /* hac_column.dictionary; with `codes`, 0: there are none in this batch */
    uint32_t *codes, entries;       /* hac_column.codes, and memory for them; NULL: the format has none */
} hac_source_column;

/* A reader of one format. Functions that may be NULL say so. */
typedef struct hac_source_format {
    /* Size of source->state, which is zero when `open` is called. It is freed after `close`. */
    size_t state_bytes;
    hac_status (*open)(hac_source *source, hac_error *err);
    hac_status (*begin)(hac_source *source, uint64_t first, uint64_t end, bool inside_quotes, hac_error *err);
    /* Fills a batch of rows, which may be empty. HAC_NOT_FOUND: the chunk has no more rows. */
    hac_status (*next)(hac_source *source, hac_error *err);
    /* Skips the remaining rows of the chunk, without reading a column, and returns their number. NULL: the
     * rows must be read to be counted. */
    uint64_t (*take_rows)(hac_source *source);
    /* The number of the record that begins at `position`, counted from 1; 0: it cannot be determined. NULL:
     * records are lines. */
    uint64_t (*number)(hac_source *source, uint64_t position);
    /* As hac_source_reads. NULL: batches always have all columns. */
    void (*reads)(hac_source *source, const hac_program *program);
    /* As hac_source_may_cut, hac_source_rank and hac_source_set_cut. NULL: the source is never cut. */
    bool (*may_cut)(const hac_source *source, size_t column);
    bool (*rank)(const hac_source *source, size_t column, bool descending, uint64_t rows, hac_constant *ret,
                 const uint8_t **ret_bytes);
    hac_status (*set_cut)(hac_source *source, const hac_source_cut *cut, hac_error *err);
    /* As hac_source_want. NULL: the format does not number rows. */
    void (*want)(hac_source *source, const uint64_t *numbers, size_t n);
    /* As hac_source_answer, hac_source_is_answered and hac_source_next_answer, which writes its two
     * statistics rows into the columns. NULL: the format has no statistics. */
    hac_status (*answer)(hac_source *source, const uint8_t *wants, hac_error *err);
    bool (*is_answered)(const hac_source *source, size_t group);
    bool (*next_answer)(hac_source *source, uint64_t *ret_rows, uint64_t *ret_nulls);
    /* Adds what this format counts; may be NULL. */
    void (*counters)(const hac_source *source, hac_source_counters *counters);
    /* Frees what `state` points to, also after `open` has failed; may be NULL. */
    void (*close)(hac_source *source);
} hac_source_format;

struct hac_source {
    const hac_query *query;
    const hac_table *table;
    const hac_source_format *format;
    hac_source_place place;
    hac_source_column *columns;
    size_t n_columns;             /* that are read from the file */
    struct hac_path_values *path; /* the columns after them; NULL: none */
    hac_column *batch_columns;
    void *memory; /* memory of the columns */

    size_t rows;                     /* rows of the batch */
    uint64_t starts[HAC_BATCH_ROWS]; /* where each row begins: a byte, or a row of the table */
    bool dropped[HAC_BATCH_ROWS];    /* rows with errors, under skip_errors */
    size_t n_dropped;
    uint64_t skipped;
    hac_error late;   /* the error that the next call reports; code HAC_OK: none */
    uint64_t late_at; /* position of the record in error */

    hac_records records;       /* text; binary formats use its window only */
    uint64_t data_start;       /* text: after the byte order mark and the header */
    uint64_t next, end;        /* binary formats: bytes not read yet; table: rows */
    bool filtered;             /* hac_source_filtered */
    bool repeats;              /* several rows may have the same number, that of a row of the file */
    size_t unnested;           /* the column of text whose arrays make the rows; SIZE_MAX: none */
    struct hac_unnest *unnest; /* NULL: none */
    void *state;               /* of the format */
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
extern const hac_source_format hac_format_log_lines; /* clf, syslog */
extern const hac_source_format hac_format_logfmt;

/* Sets a text column's row to null. */
static inline void hac_source_null(hac_source_column *column, size_t row)
{
    column->refs[row] = (hac_string_ref){0, 0};
    column->states[row] = HAC_ROW_NULL;
    column->marked = true;
}

/* The function `begin` for formats whose records can only be found from the first one on. A chunk must begin
 * where a record does: always true for splits, and for sources with a single chunk. */
hac_status hac_source_begin_whole(hac_source *source, uint64_t first, uint64_t end, bool inside_quotes,
                                  hac_error *err);

/* The functions `open` and `begin` for formats whose records are lines, whatever the lines hold. */
HAC_MUST_USE hac_status hac_source_open_lines(hac_source *source, hac_error *err);
HAC_MUST_USE hac_status hac_source_begin_lines(hac_source *source, uint64_t first, uint64_t end,
                                               bool inside_quotes, hac_error *err);

/* Reports a record that cannot be read. `column` is the name of the column in error, or NULL. True: the
 * record is counted and skipped. False: the reader stops; the error is reported after the rows before it,
 * which may have errors themselves. */
bool hac_source_bad_record(hac_source *source, uint64_t position, const char *column, const char *fmt, ...)
    HAC_PRINTF(4, 5);
/* The same for the value of a column in row `row` of the batch: the row is dropped, or the batch ends before
 * it. Columns are converted in order, so that the first error is the one reported. */
void hac_source_bad_value(hac_source *source, size_t row, const hac_source_column *column, const char *fmt,
                          ...) HAC_PRINTF(4, 5);
/* The record at `position` cannot be read, and the next one cannot be found. Fails the job, even with
 * skip_errors, after the rows before it. */
void hac_source_lost(hac_source *source, uint64_t position, const char *fmt, ...) HAC_PRINTF(3, 4);
/* Names the record at `position` for messages: "line 17". `ret` has room for 32 bytes. */
void hac_source_name_position(hac_source *source, uint64_t position, char *ret);
#define HAC_LOST_TEXT "; it cannot be skipped, as nobody can tell where the next record begins"

/* Whether a record may have no values of other names than the columns': the query has to take all. */
bool hac_source_takes_all(const hac_source *source);
/* Describes a value of another name that a record has nevertheless. `type`: how --schema could read it. */
#define HAC_UNKNOWN_NAME_MAX 480
void hac_source_unknown_name(const char *name, const char *type, char ret[HAC_UNKNOWN_NAME_MAX]);

/* Converts the refs of all columns that are not strings to values. HAC_FAILED: the first one that is not a
 * value; with skip_errors its row is marked as dropped. */
hac_status hac_source_convert(hac_source *source, hac_error *err);
/* Removes the dropped rows from the batch and counts them. */
void hac_source_drop(hac_source *source);

/* Whether the value of a column of numbers is written as codes are: 007 or +49. Among the first values it
 * would have made the column one of text. */
bool hac_source_is_code(const hac_source_column *column, const char *text, size_t bytes);
/* Parses text as the value of row `row` of a column that is not a string. hac_source_text_problem describes
 * why a text is not a value. */
hac_text_status hac_source_parse(const hac_source_column *column, const char *text, size_t bytes, size_t row);
#define HAC_TEXT_PROBLEM_MAX 256
const char *hac_source_text_problem(const hac_source_column *column, const char *text, size_t bytes,
                                    hac_text_status status, char ret[HAC_TEXT_PROBLEM_MAX]);

/* Reports rows whose decimal has more digits than its type. */
void hac_source_check_decimals(hac_source *source, const hac_source_column *column);

/* Reads the header of a csv or tsv source. *ret has its fields; the data begins at *ret_end. */
hac_status hac_source_read_header(hac_records *records, hac_records_view *ret, uint64_t *ret_end,
                                  hac_error *err);
/* How to scan a delimited format; and the text of one field, unescaped in place. */
hac_scan hac_delimited_scan(const hac_source_options *options);
hac_string_ref hac_delimited_field(const hac_source_options *options, const hac_records_view *view,
                                   uint32_t ordinal, size_t field, size_t n_fields, bool *ret_null);
/* Adds the columns of the next `sample` records to the schema, which has room for HAC_COLUMNS_MAX. */
typedef hac_status hac_source_note(const hac_source_options *options, hac_records *records, uint64_t sample,
                                   hac_schema *schema, hac_error *err);
/* The columns of the first `sample` lines of a source, as `note` finds them. */
HAC_MUST_USE hac_status hac_source_line_names(const hac_source_options *options,
                                              const hac_source_place *place, uint64_t sample,
                                              hac_source_note *note, hac_schema *ret, hac_error *err);
/* The names in the first `sample` objects of a jsonl source, in order of appearance, as string columns.
 * HAC_FAILED: a line is not an object (unless skip_errors), a value is an object or array, there is no name,
 * or there are too many. */
HAC_MUST_USE hac_status hac_jsonl_names(const hac_source_options *options, const hac_source_place *place,
                                        uint64_t sample, hac_schema *ret, hac_error *err);

/* The same of a logfmt source: the keys of its first lines. */
HAC_MUST_USE hac_status hac_logfmt_names(const hac_source_options *options, const hac_source_place *place,
                                         uint64_t sample, hac_schema *ret, hac_error *err);

/* Copies a name of the header as a column's name. */
void hac_header_name(const hac_records_view *view, hac_string_ref ref, char ret[HAC_FIELD_NAME_MAX]);
/* The names of a header as string columns (expr/column_names.h). */
HAC_MUST_USE hac_status hac_delimited_names(const hac_source_options *options, const hac_records_view *view,
                                            hac_schema *ret, hac_error *err);

#endif
