/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ADBC driver over libhac: a database is a folder of files and a daemon, a connection is a client of the
 * daemon, and a statement is a query of SQL (docs/adbc.md).
 *
 * As ADBC asks for, one thread at a time uses a connection and its statements, except for the functions that
 * cancel.
 */
#ifndef HAC_ADBC_DRIVER_H
#define HAC_ADBC_DRIVER_H

#include <stdatomic.h>
#include <stdbool.h>

#include <hac/files.h>

#include "../adbc.h"

#define HAC_ADBC_API __attribute__((visibility("default")))

typedef struct hac_adbc_database {
    char *folder; /* names in FROM are relative to this folder; "": the current one */
    char *socket; /* of the daemon; "": as hac_client_connect finds one */
} hac_adbc_database;

typedef struct hac_adbc_connection {
    hac_client *client;
    char *folder;
    int stop_fd;         /* an eventfd that cancels what runs; -1: the connection has not been opened */
    atomic_bool running; /* a query runs, which may be cancelled */
} hac_adbc_connection;

/* What a query is about, besides its text. */
typedef struct hac_adbc_source {
    hac_files *files; /* NULL: none */
} hac_adbc_source;

typedef struct hac_adbc_statement {
    hac_adbc_connection *connection; /* borrowed */
    char *sql;
    char *bind_name;               /* the name of the bound table in FROM */
    struct ArrowArrayStream bound; /* release NULL: nothing is bound, or the query has read it */
    bool bound_read;               /* a query has read what was bound last */
    char *schema;                  /* --schema of text files; NULL: types are found */
    hac_query_options input;       /* input_options and find of the statement's queries */
} hac_adbc_statement;

/* ---- errors.c ---- */

/* Fills in ADBC's error with the message and with details: "hac.status", and "hac.character", the place in
 * the statement, if the message names one. Returns the code that stands for libhac's. `error` may be NULL. */
AdbcStatusCode hac_adbc_fail(struct AdbcError *error, const hac_error *why);

/* The same for an error of the driver itself. */
AdbcStatusCode hac_adbc_refuse(struct AdbcError *error, AdbcStatusCode code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

int hac_adbc_error_detail_count(const struct AdbcError *error);
struct AdbcErrorDetail hac_adbc_error_detail(const struct AdbcError *error, int index);

/* Copies an option's value as ADBC's functions return texts: *length is the capacity, then the size with its
 * NUL; a value that does not fit is not copied. */
AdbcStatusCode hac_adbc_return_text(const char *value, char *ret, size_t *length);

/* ---- source.c ---- */

/* Finds the files that a name in FROM stands for: a file, a folder with its subfolders, a pattern. Relative
 * names are in `folder`. HAC_FAILED: there is none. */
HAC_MUST_USE hac_status hac_adbc_source_add(hac_adbc_source *source, const char *folder, const char *name,
                                            hac_error *err);
void hac_adbc_source_clear(hac_adbc_source *source);

/* The paths of the files in a folder and its subfolders, without names that begin with . or _, in the order
 * of their bytes. */
HAC_MUST_USE hac_status hac_adbc_list_folder(hac_adbc_source *source, const char *folder, hac_error *err);

/* ---- run.c ---- */

/* Marks the connection as running a query, so that it can be cancelled; hac_adbc_run_end ends that. */
void hac_adbc_run_begin(hac_adbc_connection *c);
void hac_adbc_run_end(hac_adbc_connection *c);

/* Runs a query over the files, whose format is options->input_format or else that of their suffixes, and
 * waits for its result, a table. HAC_CANCELLED: somebody has cancelled it. */
HAC_MUST_USE hac_status hac_adbc_run_files(hac_adbc_connection *c, const hac_adbc_source *source,
                                           const hac_query_options *options, hac_job **ret, hac_error *err);
/* The same over a stream, which is released in every case. */
HAC_MUST_USE hac_status hac_adbc_run_stream(hac_adbc_connection *c, struct ArrowArrayStream *stream,
                                            const hac_query_options *options, hac_job **ret, hac_error *err);

/* ---- connection.c, statement.c, objects.c: the functions of the driver's table ---- */

void hac_adbc_fill_connection(struct AdbcDriver *driver, bool has_1_1);
void hac_adbc_fill_statement(struct AdbcDriver *driver, bool has_1_1);
void hac_adbc_fill_objects(struct AdbcDriver *driver);

/* Cancels what runs on the connection. Any thread may call this. */
AdbcStatusCode hac_adbc_cancel(struct AdbcConnection *connection, struct AdbcError *error);

/* Returns the columns of one file, folder or pattern. */
HAC_MUST_USE hac_status hac_adbc_table_schema(hac_adbc_connection *c, const char *name,
                                              struct ArrowSchema *ret, hac_error *err);

#endif
