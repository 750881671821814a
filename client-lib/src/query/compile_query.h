/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles the text of a query. hacd receives bytecode and the numbers for its planner, so hacd parses no
 * text. */
#ifndef CLIENT_COMPILE_QUERY_H
#define CLIENT_COMPILE_QUERY_H

#include <hac/hac.h>

#include "base/cleanup.h"
#include "base/table.h"
#include "expr/schema.h"
#include "file_columns.h"
#include "jobs/jobs.h"
#include "json_fields_seen.h"
#include "proto/messages.h"

/* A query in the form that its request contains. `message` points to `bytes`. */
typedef struct hac_compiled_query {
    Hac__Client__CompiledQuery message;
    bool aggregates;    /* false: the query returns one row for each row that passes its filter */
    char note[512];     /* what the user should know about the columns; empty: nothing */
    char assumed[1024]; /* the columns, if types were inferred, as a schema; else empty */
    uint8_t bytes[HAC_QUERY_BYTES_MAX];
    hac_input_options input_options; /* of the options, or as they were found in the first records */
    size_t n_columns;
    hac_job_column_row columns[]; /* of the result */
} hac_compiled_query;

/* What the source declares about its columns. */
typedef struct hac_source_columns {
    hac_schema schema;    /* owned; without fields if the options' schema or the format defines the columns */
    hac_table table;      /* owned; the columns of a table source, else empty */
    char *const *refused; /* why a query may not use a column of the schema; NULL, or NULL in it: it may */
    hac_file_form
        *forms; /* owned; of n_forms columns of the schema, of several texts. NULL: there are none */
    size_t n_forms;
    bool detected; /* input_options is what was found in the first records */
    hac_input_options input_options;
    bool inferred;       /* the types are guesses from the first records */
    size_t unseen;       /* files that may have more columns, as they were not looked at; 0: none */
    hac_json_begin json; /* hac_query_names_json: looked at for the names of the columns; may be empty */
} hac_source_columns;

void hac_source_columns_clear(hac_source_columns *columns);

/* True if the first line of the source contains the names of the columns. */
bool hac_query_has_header(const hac_query_options *options);

/* True if the options name columns and their types. */
bool hac_query_has_schema(const hac_query_options *options);

/* True if no row of the result is known before all rows are: they come in an order, or are limited by
 * columns. */
bool hac_query_needs_all_rows(const hac_query_options *options);

/* True if the options name members of JSON objects, which the objects may not have. */
bool hac_query_names_json(const hac_query_options *options);

/* True if the query has columns that its schema does not list, or it has no schema. */
bool hac_query_names_other(const hac_query_options *options);

/* True if types are inferred from the first records: the options ask for it, and the query has columns that
 * its schema does not list. */
bool hac_query_infers(const hac_query_options *options);

/* The HAC_FIND_… bits of what must be found in the first records, without FORMS; 0: nothing. */
unsigned hac_query_finds(const hac_query_options *options);
/* HAC_FIND_FORMS if the options ask for it and types are inferred, which is when it can be found; else 0. */
unsigned hac_query_finds_forms(const hac_query_options *options);

/* True if names of a header line, read with the options' delimiter, are all that the options' schema lists,
 * so that nothing must be found in the first records. */
bool hac_query_names_settle(const hac_query_options *options, const hac_schema *names);

/* True if the query's text contains an aggregation, as far as is known without the columns. */
bool hac_query_asks_aggregates(const hac_query_options *options);

/* True if the query's text leaves columns of `*` out by name. */
bool hac_query_excludes_columns(const hac_query_options *options);

/* True if the compiler needs the names or types of the columns from the source, which must be read first.
 * `infers` is what hac_query_infers returns, which parses the query. */
bool hac_query_needs_columns(const hac_query_options *options, bool infers);

/*
 * Compiles the query in `options`, which must have been checked. The caller frees *ret. HAC_INVALID: the
 * message begins with the option and the position ("--where: character 7: ...").
 */
HAC_MUST_USE hac_status hac_query_compile_options(const hac_query_options *options,
                                                  const hac_source_columns *columns, hac_compiled_query **ret,
                                                  hac_error *err);

#endif
