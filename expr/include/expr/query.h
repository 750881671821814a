/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries: the texts of a user (hac_query_text) compiled to programs:
 *
 *   source columns ─ filter ─▶ rows that count ─ rows ─▶ keys, arguments
 *       ─ aggregation ─▶ groups: keys, results ─ finals ─▶ output columns, then hidden columns: what the
 *         order and `having` need
 *
 * Without aggregates and group-by, `rows` makes the output columns and the hidden columns, and `finals` is
 * NULL. A compiled query travels as bytes. Its reader verifies it (hac_query_read).
 */
#ifndef EXPR_QUERY_H
#define EXPR_QUERY_H

#include <hac/query.h>

#include "expr/aggregate.h"
#include "expr/program.h"
#include "expr/schema.h"

#define HAC_QUERY_KEYS_MAX   64
#define HAC_ORDER_MAX        64 /* items of the order */
#define HAC_QUERY_NO_OUTPUT  UINT16_MAX
#define HAC_RECORD_BYTES_MAX (HAC_COLUMNS_MAX * 16) /* of a fixed-width record */

/* How a source is parsed. */
typedef struct hac_source_options {
    hac_input_format format;
    bool inferred; /* the types of the columns were inferred from the first records; errors mention this */
    hac_input_options options;
    /* The columns are all that the first records of all inputs have, and the query takes all of them with
     * `*`: a record with a value of another name is an error. */
    bool all_names;
} hac_source_options;

/* For HAC_RESULT_PARQUET. 0 is the default of each. */
typedef struct hac_parquet_settings {
    uint8_t compression; /* hac_compression */
    uint64_t group_bytes, group_rows, block_bytes;
} hac_parquet_settings;

/* A query as the user wrote it. A text that the user did not give is NULL or "". */
typedef struct hac_query_text {
    const char *schema, *where, *group_by, *having, *select, *order_by;
    bool distinct; /* rows of the result that are equal appear once */
    bool
        select_only; /* the columns of the result are those of `select`, as in SQL: keys do not precede them */
    uint64_t limit;  /* UINT64_MAX: no limit */
    uint64_t offset; /* rows of the result that are left out, from the first one on */
    const char *limit_by;
    uint64_t limit_each; /* rows that have the same values of `limit_by`, before `limit` and `offset` */
    /* The rows of WITH: the other texts see the columns that `with_select` names in place of the source's,
     * of the rows for which `with_where` is true. NULL: all columns and rows of the source. */
    const char *with_select, *with_where;
    const char *path_columns; /* a schema: columns whose values are in the names of folders */
    /* A sort: the result has the fields of the source as they are written there, whatever their types;
     * `order_by` sees values of the types. Without effect on formats of results that have types. */
    bool keeps_fields;
    hac_result_format output;
    hac_parquet_settings parquet;
    hac_source_options source;
} hac_query_text;

typedef struct hac_order_item {
    uint16_t column; /* index into hac_query.outputs, hidden columns included */
    bool descending;
} hac_order_item;

typedef struct hac_query {
    hac_source_options source;
    hac_schema columns; /* the columns of the source that the query uses; those in paths come last */
    /* The position of each column in the schema as written, which is also its position in a table and in a
     * source without header. HAC_INPUT_FIXED: the byte of a record at which the column begins. Of a column in
     * paths: schema_columns. */
    uint16_t *positions;
    size_t schema_columns; /* number of columns of the schema as written, without those in paths;
                          * HAC_INPUT_FIXED: bytes of a record */
    uint8_t *widths;       /* HAC_INPUT_LENGTHS: hac_value_size of each column of the schema; else NULL */
    hac_program *filter;   /* has one bool output; NULL: the query keeps all rows */
    /* Outputs: n_keys keys, then the arguments of the aggregates. Without aggregation: the output columns. */
    hac_program *rows;
    hac_program *finals; /* inputs: the keys, then the results of the aggregates; NULL: no aggregation */
    bool aggregates;     /* the query aggregates; without keys it has one group */
    size_t n_keys;
    hac_aggregate *aggregate;
    size_t n_aggregates;
    hac_schema outputs; /* the output columns, then hidden columns, which have no name */
    size_t n_visible;   /* number of output columns */
    /* The bool output that is true for the groups of the result; HAC_QUERY_NO_OUTPUT: all groups. */
    uint16_t having;
    hac_order_item *order;
    size_t n_order;
    /* The first rows in the order, of which the first `offset` are left out: steps before the last one keep
     * no more. With limit_by it is UINT64_MAX. */
    uint64_t limit;
    uint64_t offset;
    /* Indices into outputs: of the rows that have the same values in these columns the result has the first
     * `limit_each`, then of all of these the first `limit_after`, `offset` included. */
    uint16_t *limit_by;
    size_t n_limit_by;
    uint64_t limit_each, limit_after;
    hac_result_format output;
    hac_parquet_settings parquet;
    size_t left_out; /* columns that `*` leaves out because they cannot be read; not part of the bytes */
    bool pairs;    /* the last key is x of count(distinct x) (expr/distinct_query.h); not part of the bytes */
    bool headless; /* csv: the result continues another result and has no header; not part of the bytes */
} hac_query;

/*
 * Compiles a query. HAC_INVALID: the message begins with the option ("--where: character 7: …") and says what
 * was expected; for an unknown name it lists the names that exist. `header` has the names of the first file's
 * columns (csv, tsv), as strings; for parquet, tables and inferred columns (source.inferred) it also has
 * their types. NULL: the source does not say what its columns are. A schema gives types to the columns that
 * it lists, and leaves the others as they are.
 */
HAC_MUST_USE hac_status hac_query_compile(const hac_query_text *text, const hac_schema *header,
                                          hac_query **ret, hac_error *err);
void hac_query_free(hac_query *query);

/* The number of columns that are read from the file: those before the columns in paths. */
size_t hac_query_columns_in_file(const hac_query *query);

/* Whether the texts ask for an aggregation, as far as can be told before the columns are known. */
bool hac_query_text_aggregates(const hac_query_text *text);

/* Whether the texts, which have a schema, ask for columns that it does not list: by name, or all of them. */
bool hac_query_text_names_other(const hac_query_text *text);

/* Whether the texts have `* exclude (…)`, by any of its names. */
bool hac_query_text_excludes(const hac_query_text *text);

/* Converts a query to bytes, and back. Reading verifies the whole query, including its programs. HAC_INVALID:
 * the bytes are not a valid query, or the query is too long. */
HAC_MUST_USE hac_status hac_query_write(const hac_query *query, hac_text *ret, hac_error *err);
HAC_MUST_USE hac_status hac_query_read(const uint8_t *data, size_t bytes, hac_query **ret, hac_error *err);

/* The reference page of the language (docs/expressions.md), made from the table of functions. */
void hac_expression_reference(hac_text *ret);
/* The words of SQL (docs/sql-words.md), made from the tables that the parser reads. */
void hac_sql_words_page(hac_text *ret);

#endif
