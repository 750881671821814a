/* SPDX-License-Identifier: Apache-2.0 */
/* Statements: SQL over files, or over a table that is bound. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver.h"

static AdbcStatusCode no_memory(struct AdbcError *error)
{
    return hac_adbc_refuse(error, ADBC_STATUS_INTERNAL, "out of memory");
}

static AdbcStatusCode statement_new(struct AdbcConnection *connection, struct AdbcStatement *statement,
                                    struct AdbcError *error)
{
    hac_adbc_connection *c = connection->private_data;
    if (c == NULL || c->client == NULL)
        return hac_adbc_refuse(error, ADBC_STATUS_INVALID_STATE, "the connection is not open");
    hac_adbc_statement *s = calloc(1, sizeof(*s));
    if (s == NULL || (s->bind_name = strdup("bound")) == NULL) {
        free(s);
        return no_memory(error);
    }
    s->connection = c;
    s->input = (hac_query_options)HAC_QUERY_OPTIONS_INIT;
    s->input.find = HAC_FIND_DELIMITER | HAC_FIND_HEADER | HAC_FIND_FORMS;
    statement->private_data = s;
    return ADBC_STATUS_OK;
}

static void drop_bound(hac_adbc_statement *s)
{
    if (s->bound.release != NULL)
        s->bound.release(&s->bound);
    s->bound.release = NULL;
    s->bound_read = false;
}

static AdbcStatusCode statement_release(struct AdbcStatement *statement, struct AdbcError *error)
{
    hac_adbc_statement *s = statement->private_data;
    if (s == NULL)
        return hac_adbc_refuse(error, ADBC_STATUS_INVALID_STATE, "the statement has been released");
    drop_bound(s);
    free(s->sql);
    free(s->schema);
    free(s->bind_name);
    free(s);
    statement->private_data = NULL;
    return ADBC_STATUS_OK;
}

/* ---- options ---- */

static AdbcStatusCode replace(char **text, const char *value, struct AdbcError *error)
{
    char *copy = value != NULL ? strdup(value) : NULL;
    if (value != NULL && copy == NULL)
        return no_memory(error);
    free(*text);
    *text = copy;
    return ADBC_STATUS_OK;
}

/* Sets "hac.input.delimiter" … : the options of the input format, by their names in docs/formats.md. */
static AdbcStatusCode set_input(hac_adbc_statement *s, const char *name, const char *value,
                                struct AdbcError *error)
{
    hac_error err = HAC_ERROR_NONE;
    if (hac_query_set_option(&s->input, name, value != NULL ? value : "", &err) != HAC_OK)
        return hac_adbc_fail(error, &err);
    if (strcmp(name, "delimiter") == 0)
        s->input.find &= ~HAC_FIND_DELIMITER;
    if (strcmp(name, "header") == 0)
        s->input.find &= ~HAC_FIND_HEADER;
    return ADBC_STATUS_OK;
}

static AdbcStatusCode set_option(struct AdbcStatement *statement, const char *key, const char *value,
                                 struct AdbcError *error)
{
    static const char input[] = "hac.input.";
    hac_adbc_statement *s = statement->private_data;
    if (strcmp(key, "hac.schema") == 0)
        return replace(&s->schema, value, error);
    if (strcmp(key, "hac.bind.name") == 0)
        return replace(&s->bind_name, value != NULL ? value : "bound", error);
    if (strncmp(key, input, sizeof(input) - 1) == 0)
        return set_input(s, key + sizeof(input) - 1, value, error);
    if (strncmp(key, "adbc.ingest.", 12) == 0)
        return hac_adbc_refuse(error, ADBC_STATUS_NOT_IMPLEMENTED,
                               "nothing is ingested: bind the table, and write FROM %s in the statement",
                               s->bind_name);
    return hac_adbc_refuse(
        error, ADBC_STATUS_NOT_IMPLEMENTED,
        "a statement has no option '%.64s'; there are: hac.schema, hac.bind.name, hac.input.…", key);
}

static AdbcStatusCode get_option(struct AdbcStatement *statement, const char *key, char *value,
                                 size_t *length, struct AdbcError *error)
{
    const hac_adbc_statement *s = statement->private_data;
    if (strcmp(key, "hac.bind.name") == 0)
        return hac_adbc_return_text(s->bind_name, value, length);
    if (strcmp(key, "hac.schema") == 0)
        return hac_adbc_return_text(s->schema != NULL ? s->schema : "", value, length);
    return hac_adbc_refuse(error, ADBC_STATUS_NOT_FOUND, "a statement has no option '%.64s'", key);
}

/* ---- the text ---- */

static AdbcStatusCode set_sql(struct AdbcStatement *statement, const char *sql, struct AdbcError *error)
{
    hac_adbc_statement *s = statement->private_data;
    return replace(&s->sql, sql, error);
}

/* Reads the statement's text. */
static AdbcStatusCode read_sql(const hac_adbc_statement *s, hac_sql **ret, struct AdbcError *error)
{
    hac_error err = HAC_ERROR_NONE;
    if (s->sql == NULL)
        return hac_adbc_refuse(error, ADBC_STATUS_INVALID_STATE, "the statement has no SQL");
    return hac_sql_read(s->sql, ret, &err) == HAC_OK ? ADBC_STATUS_OK : hac_adbc_fail(error, &err);
}

static AdbcStatusCode prepare(struct AdbcStatement *statement, struct AdbcError *error)
{
    hac_sql *sql = NULL;
    AdbcStatusCode code = read_sql(statement->private_data, &sql, error);
    hac_sql_free(sql);
    return code;
}

/* ---- binding ---- */

/* A stream of one batch, which Bind gives. */
typedef struct one_batch {
    struct ArrowSchema schema;
    struct ArrowArray array; /* release NULL: it has been taken */
} one_batch;

static int one_schema(struct ArrowArrayStream *stream, struct ArrowSchema *ret)
{
    one_batch *own = stream->private_data;
    if (own->schema.release == NULL)
        return EINVAL; /* libhac asks once */
    *ret = own->schema;
    own->schema.release = NULL;
    return 0;
}

static int one_next(struct ArrowArrayStream *stream, struct ArrowArray *ret)
{
    one_batch *own = stream->private_data;
    *ret = own->array;
    own->array.release = NULL;
    return 0;
}

static const char *one_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return NULL;
}

static void one_release(struct ArrowArrayStream *stream)
{
    one_batch *own = stream->private_data;
    if (own->schema.release != NULL)
        own->schema.release(&own->schema);
    if (own->array.release != NULL)
        own->array.release(&own->array);
    free(own);
    stream->release = NULL;
}

static AdbcStatusCode bind(struct AdbcStatement *statement, struct ArrowArray *values,
                           struct ArrowSchema *schema, struct AdbcError *error)
{
    hac_adbc_statement *s = statement->private_data;
    one_batch *own = malloc(sizeof(*own));
    if (own == NULL)
        return no_memory(error);
    *own = (one_batch){*schema, *values};
    schema->release = NULL;
    values->release = NULL;
    drop_bound(s);
    s->bound = (struct ArrowArrayStream){.get_schema = one_schema,
                                         .get_next = one_next,
                                         .get_last_error = one_error,
                                         .release = one_release,
                                         .private_data = own};
    return ADBC_STATUS_OK;
}

static AdbcStatusCode bind_stream(struct AdbcStatement *statement, struct ArrowArrayStream *stream,
                                  struct AdbcError *error)
{
    hac_adbc_statement *s = statement->private_data;
    if (stream->release == NULL)
        return hac_adbc_refuse(error, ADBC_STATUS_INVALID_ARGUMENT, "the stream has been released");
    drop_bound(s);
    s->bound = *stream;
    stream->release = NULL;
    return ADBC_STATUS_OK;
}

/* ---- execution ---- */

static hac_status find_files(const hac_adbc_statement *s, const hac_sql *sql, hac_adbc_source *ret,
                             hac_error *err)
{
    const char *name;
    hac_status status = HAC_OK;
    for (size_t i = 0; status == HAC_OK && (name = hac_sql_source(sql, i)) != NULL; i++)
        status = hac_adbc_source_add(ret, s->connection->folder, name, err);
    return status;
}

static hac_status fail_bound(const hac_adbc_statement *s, hac_error *err)
{
    err->code = HAC_INVALID;
    snprintf(err->message, sizeof(err->message),
             "the bound table %.100s was read by the query before; bind it again for another one",
             s->bind_name);
    return HAC_INVALID;
}

static hac_status run(hac_adbc_statement *s, const hac_sql *sql, const hac_query_options *options,
                      hac_job **ret, hac_error *err)
{
    hac_adbc_source source = {.files = NULL};
    bool names_bound = hac_sql_source(sql, 1) == NULL && strcmp(hac_sql_source(sql, 0), s->bind_name) == 0;
    bool has_bound = s->bound.release != NULL;
    if (names_bound && !has_bound && s->bound_read)
        return fail_bound(s, err);
    s->bound_read |= names_bound && has_bound;
    if (names_bound && has_bound)
        return hac_adbc_run_stream(s->connection, &s->bound, options, ret, err);
    hac_status status = find_files(s, sql, &source, err);
    if (status == HAC_OK)
        status = hac_adbc_run_files(s->connection, &source, options, ret, err);
    hac_adbc_source_clear(&source);
    return status;
}

/* Runs the statement; `limit_0`: without rows. */
static AdbcStatusCode execute(hac_adbc_statement *s, bool limit_0, hac_job **ret, struct AdbcError *error)
{
    hac_query_options options = s->input;
    hac_error err = HAC_ERROR_NONE;
    hac_sql *sql = NULL;
    AdbcStatusCode code = read_sql(s, &sql, error);
    if (code != ADBC_STATUS_OK)
        return code;
    hac_sql_apply(sql, &options);
    options.schema = s->schema;
    options.input_format = hac_sql_format(sql);
    options.result_format = HAC_RESULT_TABLE;
    if (limit_0)
        options.limit = 0;
    hac_adbc_run_begin(s->connection);
    hac_status status = run(s, sql, &options, ret, &err);
    hac_adbc_run_end(s->connection);
    if (status != HAC_OK) {
        hac_sql_reword(sql, &err);
        code = hac_adbc_fail(error, &err);
    }
    hac_sql_free(sql);
    return code;
}

static AdbcStatusCode execute_query(struct AdbcStatement *statement, struct ArrowArrayStream *ret,
                                    int64_t *ret_rows, struct AdbcError *error)
{
    hac_adbc_statement *s = statement->private_data;
    hac_error err = HAC_ERROR_NONE;
    hac_job *job = NULL;
    AdbcStatusCode code = execute(s, false, &job, error);
    if (code != ADBC_STATUS_OK)
        return code;
    if (ret != NULL && hac_job_export_arrow_stream(job, ret, &err) != HAC_OK)
        code = hac_adbc_fail(error, &err);
    hac_job_free(job);
    if (code == ADBC_STATUS_OK && ret_rows != NULL)
        *ret_rows = -1; /* no rows are changed */
    return code;
}

static AdbcStatusCode execute_schema(struct AdbcStatement *statement, struct ArrowSchema *ret,
                                     struct AdbcError *error)
{
    hac_adbc_statement *s = statement->private_data;
    hac_error err = HAC_ERROR_NONE;
    struct ArrowArray none;
    hac_job *job = NULL;
    if (s->bound.release != NULL)
        return hac_adbc_refuse(
            error, ADBC_STATUS_INVALID_STATE,
            "a bound table is read once, and the schema of its query is that of the result: "
            "execute the query");
    AdbcStatusCode code = execute(s, true, &job, error);
    if (code != ADBC_STATUS_OK)
        return code;
    if (hac_job_export_arrow(job, ret, &none, &err) != HAC_OK)
        code = hac_adbc_fail(error, &err);
    else
        none.release(&none);
    hac_job_free(job);
    return code;
}

/* Any thread may call this. */
static AdbcStatusCode cancel(struct AdbcStatement *statement, struct AdbcError *error)
{
    hac_adbc_statement *s = statement->private_data;
    struct AdbcConnection connection = {s->connection, statement->private_driver};
    return hac_adbc_cancel(&connection, error);
}

void hac_adbc_fill_statement(struct AdbcDriver *driver, bool has_1_1)
{
    driver->StatementNew = statement_new;
    driver->StatementRelease = statement_release;
    driver->StatementSetOption = set_option;
    driver->StatementSetSqlQuery = set_sql;
    driver->StatementPrepare = prepare;
    driver->StatementBind = bind;
    driver->StatementBindStream = bind_stream;
    driver->StatementExecuteQuery = execute_query;
    if (!has_1_1)
        return;
    driver->StatementCancel = cancel;
    driver->StatementExecuteSchema = execute_schema;
    driver->StatementGetOption = get_option;
}
