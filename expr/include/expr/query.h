/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A QUERY, compiled: what flows B, C and E run. From the texts that a user gave (hac_query_text) to programs:
 *
 *   source columns ─ filter ─▶ rows that count ─ rows ─▶ keys, arguments
 *       ─ aggregation ─▶ groups: keys, results ─ finals ─▶ output columns, then hidden ones to order by
 *
 * Without aggregates and group-by, `rows` makes the output columns (then the hidden ones) itself and `finals`
 * is NULL. A compiled query travels as bytes; whoever reads it verifies it (hac_query_read).
 */
#ifndef EXPR_QUERY_H
#define EXPR_QUERY_H

#include "expr/program.h"
#include "expr/schema.h"

#define HAC_QUERY_TEXT_MAX   30721 /* of each text, with its zero */
#define HAC_QUERY_KEYS_MAX   64
#define HAC_RECORD_BYTES_MAX (HAC_FIELDS_MAX * 16) /* of a record of fixed width */
#define HAC_QUERY_BYTES_MAX  32768                 /* of a compiled query: it travels in messages */

typedef enum hac_format {
    HAC_FORMAT_NONE = 0,
    HAC_FORMAT_TABLE, /* hac_table: columns in memory */
    HAC_FORMAT_CSV,
    HAC_FORMAT_TSV, /* TAB between fields, \t \n \\ \N escaped, no quotes */
    HAC_FORMAT_JSONL,
    HAC_FORMAT_LINES, /* one column `line` */
    HAC_FORMAT_WORDS, /* one column `word` */
    HAC_FORMAT_KV,    /* `key` and `value`, cut at the first TAB */
    HAC_FORMAT_FIXED, /* records of fixed-width binary values */
    HAC_FORMAT_PARQUET,
    HAC_FORMAT_LENGTHS,    /* records of binary values with their length in front */
    HAC_FORMAT_TYPEDBYTES, /* Hadoop's typed bytes: a key and a value a record */
    HAC_FORMAT_END
} hac_format;

typedef enum hac_output_format {
    HAC_OUTPUT_CSV = 0,
    HAC_OUTPUT_JSON,  /* one object a line */
    HAC_OUTPUT_TABLE, /* hac_table in the result buffer, for libhac */
    HAC_OUTPUT_PARQUET,
    HAC_OUTPUT_TSV,        /* columns joined by TAB, no header, null as \N: what `hacctl pipe` writes */
    HAC_OUTPUT_TYPEDBYTES, /* the first column, then the second, or a vector of all others */
    HAC_OUTPUT_TEXT,       /* as TSV, without escapes but of line feeds: a filter of lines */
    HAC_OUTPUT_END
} hac_output_format;

/* How the source's bytes become rows. */
typedef struct hac_source_options {
    hac_format format;
    uint8_t delimiter;  /* csv */
    bool header;        /* csv, tsv: the first line of each file names the columns */
    bool skip_errors;   /* rows that cannot be parsed are counted and left out instead of failing the job */
    char null_text[32]; /* csv: an unquoted field with this text is null, besides the empty one */
    uint64_t first_group, groups; /* parquet: row groups; 0 of them: all from the first on */
    bool big_endian;              /* fixed, lengths */
    bool inferred;                /* columns' types are guesses from the first records: errors say so */
} hac_source_options;

/* Of HAC_OUTPUT_PARQUET; 0: the default. */
typedef struct hac_parquet_settings {
    uint8_t compression; /* by <hac/hac.h>: hac_compression */
    uint64_t group_bytes, group_rows, block_bytes;
} hac_parquet_settings;
#define HAC_COMPRESSIONS 5

/* What the user wrote; NULL or "" where nothing was. */
typedef struct hac_query_text {
    const char *schema, *where, *group_by, *select, *order_by;
    uint64_t limit; /* UINT64_MAX: none */
    hac_output_format output;
    hac_parquet_settings parquet;
    hac_source_options source;
} hac_query_text;

typedef enum hac_aggregate_function {
    HAC_AGGREGATE_COUNT_ROWS = 0, /* count(), count(*) */
    HAC_AGGREGATE_COUNT, /* rows where the argument is not null; likewise all below leave nulls out */
    HAC_AGGREGATE_COUNT_DISTINCT,
    HAC_AGGREGATE_SUM, /* integers: 64 bits, an error when the sum does not fit; f32 and f64: f64;
                        * decimal(p,s): decimal(38,s) */
    HAC_AGGREGATE_MIN,
    HAC_AGGREGATE_MAX,
    HAC_AGGREGATE_AVG,      /* f64: sum ÷ count; of decimals and integers the sum is exact */
    HAC_AGGREGATE_VARIANCE, /* of a sample; null below two values; Welford's recurrence, Chan's merge */
    HAC_AGGREGATE_STDDEV,
    HAC_AGGREGATE_VARIANCE_POP,
    HAC_AGGREGATE_STDDEV_POP,
    HAC_AGGREGATE_FIRST, /* in input order */
    HAC_AGGREGATE_LAST,
    HAC_AGGREGATE_TOP_K, /* the `k` most frequent values: string "value:count, …" by count, then value */
    HAC_AGGREGATE_HISTOGRAM, /* `k` buckets of equal width from `low` to `high`: string "count, …" */
    HAC_AGGREGATE_QUANTILE, /* approximate (t-digest, its error bound in docs); `low` is the share, 0 … 1 */
    HAC_AGGREGATE_STRING_LIST, /* distinct values in input order, joined by ',' (inverted index) */
    HAC_AGGREGATE_END
} hac_aggregate_function;

/*
 * Types that the argument comes in, and that of the result:
 *
 *   count_rows                       none → i64        variance … stddev_pop, quantile   f64 → f64
 *   count, count_distinct            any → i64         top_k                             any → string
 *   sum                i64, u64, f64 → the same        histogram                         f64 → string
 *         decimal(p,s) → decimal(38,s)                 string_list                    string → string
 *   avg   i64, u64, decimal, f64 → f64                 min, max, first, last             any → the same
 */
typedef struct hac_aggregate {
    uint8_t function;    /* hac_aggregate_function */
    int16_t argument;    /* output of `rows`, behind the keys, perhaps shared with others; -1: none */
    hac_value_type type; /* of the result */
    uint32_t k;          /* top_k, histogram: 1 … 1000; else 0 */
    double low, high;
} hac_aggregate;

typedef struct hac_order_item {
    uint16_t column; /* of the outputs and the hidden columns behind them */
    bool descending;
} hac_order_item;

typedef struct hac_query {
    hac_source_options source;
    hac_schema columns;    /* of the source, the ones that the query uses only */
    uint16_t *positions;   /* of each in the schema as written (no header, table: also in the source); fixed:
                            * the byte of a record at which it begins */
    size_t schema_columns; /* of the schema as written; fixed: the bytes of a record */
    uint8_t *widths;       /* lengths: hac_value_size of each column of the schema; else NULL */
    hac_program *filter;   /* one bool output; NULL: all rows count */
    hac_program *rows;     /* outputs: n_keys keys, then arguments; without aggregation the output columns */
    hac_program *finals;   /* inputs: keys, then results of the aggregates; NULL without aggregation */
    bool aggregates;       /* there is an aggregation (perhaps without keys: one group) */
    size_t n_keys;
    hac_aggregate *aggregate;
    size_t n_aggregates;
    hac_schema outputs; /* names and types; hidden columns have no name and come last */
    size_t n_visible;
    hac_order_item *order;
    size_t n_order;
    uint64_t limit;
    hac_output_format output;
    hac_parquet_settings parquet;
    bool headless; /* csv: the result goes on another's and has no header; does not travel */
} hac_query;

/*
 * Compiles. HAC_INVALID: the message begins with the option ("--where: character 7: …"), names what was
 * expected, and what there is when a name is unknown. `header` (csv, tsv) are the names of the first file's
 * columns, NULL when there is none; without a schema every one of them is a string column. Of parquet and
 * tables it has their types, too, which those of a schema must be.
 */
HAC_MUST_USE hac_status hac_query_compile(const hac_query_text *text, const hac_schema *header,
                                          hac_query **ret, hac_error *err);
void hac_query_free(hac_query *query);

/* As bytes and back; reading checks everything, programs included. HAC_INVALID: it is none, or too long. */
HAC_MUST_USE hac_status hac_query_write(const hac_query *query, hac_text *ret, hac_error *err);
HAC_MUST_USE hac_status hac_query_read(const uint8_t *data, size_t bytes, hac_query **ret, hac_error *err);

/* Whether results depend on the order in which values are added up: float sums, averages, variances,
 * quantiles, first, last, lists. Order-free aggregates may use shared tables. */
bool hac_query_order_matters(const hac_query *query);

/* The reference page of the language (docs/expressions.md), made from the tables of functions and operators.
 */
void hac_expression_reference(hac_text *ret);

#endif
