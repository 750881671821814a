/* SPDX-License-Identifier: Apache-2.0 */
/* Databases and connections. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "driver.h"

/* Replaces *text. */
static AdbcStatusCode set_text(char **text, const char *value, size_t bytes, struct AdbcError *error)
{
    char *copy = strndup(value, bytes);
    if (copy == NULL)
        return hac_adbc_refuse(error, ADBC_STATUS_INTERNAL, "out of memory");
    free(*text);
    *text = copy;
    return ADBC_STATUS_OK;
}

/* ---- databases ---- */

static AdbcStatusCode database_new(struct AdbcDatabase *database, struct AdbcError *error)
{
    hac_adbc_database *d = calloc(1, sizeof(*d));
    if (d == NULL || (d->folder = strdup("")) == NULL || (d->socket = strdup("")) == NULL) {
        if (d != NULL)
            free(d->folder);
        free(d);
        return hac_adbc_refuse(error, ADBC_STATUS_INTERNAL, "out of memory");
    }
    database->private_data = d;
    return ADBC_STATUS_OK;
}

/* Reads a URI: a folder, "hac:FOLDER", "hac:FOLDER?socket=PATH" or "hac:?socket=PATH". */
static AdbcStatusCode set_uri(hac_adbc_database *d, const char *uri, struct AdbcError *error)
{
    static const char scheme[] = "hac:", key[] = "?socket=";
    bool has_scheme = strncmp(uri, scheme, sizeof(scheme) - 1) == 0;
    const char *folder = has_scheme ? uri + sizeof(scheme) - 1 : uri;
    if (has_scheme && strncmp(folder, "//", 2) == 0)
        folder += 2;
    const char *query = has_scheme ? strchr(folder, '?') : NULL;
    if (query != NULL && strncmp(query, key, sizeof(key) - 1) != 0)
        return hac_adbc_refuse(error, ADBC_STATUS_INVALID_ARGUMENT,
                               "uri: '%.100s' is not ?socket=PATH; write hac:FOLDER?socket=PATH", query);
    size_t bytes = query != NULL ? (size_t)(query - folder) : strlen(folder);
    AdbcStatusCode code = set_text(&d->folder, folder, bytes, error);
    if (code == ADBC_STATUS_OK && query != NULL)
        code = set_text(&d->socket, query + sizeof(key) - 1, strlen(query + sizeof(key) - 1), error);
    return code;
}

static AdbcStatusCode database_set_option(struct AdbcDatabase *database, const char *key, const char *value,
                                          struct AdbcError *error)
{
    hac_adbc_database *d = database->private_data;
    if (value == NULL)
        value = "";
    if (strcmp(key, "uri") == 0)
        return set_uri(d, value, error);
    if (strcmp(key, "socket") == 0 || strcmp(key, "hac.socket") == 0)
        return set_text(&d->socket, value, strlen(value), error);
    if (strcmp(key, "hac.folder") == 0)
        return set_text(&d->folder, value, strlen(value), error);
    return hac_adbc_refuse(error, ADBC_STATUS_NOT_IMPLEMENTED,
                           "a database has no option '%.64s'; there are: uri, socket, hac.folder", key);
}

static AdbcStatusCode database_get_option(struct AdbcDatabase *database, const char *key, char *value,
                                          size_t *length, struct AdbcError *error)
{
    const hac_adbc_database *d = database->private_data;
    if (strcmp(key, "uri") == 0 || strcmp(key, "hac.folder") == 0)
        return hac_adbc_return_text(d->folder, value, length);
    if (strcmp(key, "socket") == 0 || strcmp(key, "hac.socket") == 0)
        return hac_adbc_return_text(d->socket, value, length);
    return hac_adbc_refuse(error, ADBC_STATUS_NOT_FOUND, "a database has no option '%.64s'", key);
}

static AdbcStatusCode database_init(struct AdbcDatabase *database, struct AdbcError *error)
{
    (void)database;
    (void)error;
    return ADBC_STATUS_OK;
}

static AdbcStatusCode database_release(struct AdbcDatabase *database, struct AdbcError *error)
{
    hac_adbc_database *d = database->private_data;
    if (d == NULL)
        return hac_adbc_refuse(error, ADBC_STATUS_INVALID_STATE, "the database has been released");
    free(d->folder);
    free(d->socket);
    free(d);
    database->private_data = NULL;
    return ADBC_STATUS_OK;
}

/* ---- connections ---- */

static AdbcStatusCode connection_new(struct AdbcConnection *connection, struct AdbcError *error)
{
    hac_adbc_connection *c = calloc(1, sizeof(*c));
    if (c == NULL)
        return hac_adbc_refuse(error, ADBC_STATUS_INTERNAL, "out of memory");
    c->stop_fd = -1;
    connection->private_data = c;
    return ADBC_STATUS_OK;
}

/* Options that may only have the value that hac has anyway. */
static const struct {
    const char *key, *value, *why;
} fixed_options[] = {
    {"adbc.connection.autocommit", "true", "there are no transactions"},
    {"adbc.connection.readonly", "true", "nothing is written"},
    {"adbc.connection.catalog", "", "there are no catalogs"},
    {"adbc.connection.db_schema", "", "there are no schemas; tables are files in the database's folder"},
};

static AdbcStatusCode connection_set_option(struct AdbcConnection *connection, const char *key,
                                            const char *value, struct AdbcError *error)
{
    (void)connection;
    for (size_t i = 0; i < sizeof(fixed_options) / sizeof(fixed_options[0]); i++) {
        if (strcmp(key, fixed_options[i].key) != 0)
            continue;
        if (value != NULL && strcmp(value, fixed_options[i].value) == 0)
            return ADBC_STATUS_OK;
        return hac_adbc_refuse(error, ADBC_STATUS_NOT_IMPLEMENTED, "%s can only be '%s': %s", key,
                               fixed_options[i].value, fixed_options[i].why);
    }
    return hac_adbc_refuse(error, ADBC_STATUS_NOT_IMPLEMENTED, "a connection has no option '%.64s'", key);
}

static AdbcStatusCode connection_get_option(struct AdbcConnection *connection, const char *key, char *value,
                                            size_t *length, struct AdbcError *error)
{
    (void)connection;
    for (size_t i = 0; i < sizeof(fixed_options) / sizeof(fixed_options[0]); i++)
        if (strcmp(key, fixed_options[i].key) == 0)
            return hac_adbc_return_text(fixed_options[i].value, value, length);
    return hac_adbc_refuse(error, ADBC_STATUS_NOT_FOUND, "a connection has no option '%.64s'", key);
}

static AdbcStatusCode connection_init(struct AdbcConnection *connection, struct AdbcDatabase *database,
                                      struct AdbcError *error)
{
    hac_adbc_connection *c = connection->private_data;
    const hac_adbc_database *d = database->private_data;
    if (c->client != NULL)
        return hac_adbc_refuse(error, ADBC_STATUS_INVALID_STATE, "the connection is open");
    if (c->folder == NULL && (c->folder = strdup(d->folder)) == NULL)
        return hac_adbc_refuse(error, ADBC_STATUS_INTERNAL, "out of memory");
    if (c->stop_fd < 0 && (c->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0)
        return hac_adbc_refuse(error, ADBC_STATUS_IO, "no eventfd: %s", strerror(errno));
    hac_connect_options options = HAC_CONNECT_OPTIONS_INIT;
    hac_error err = HAC_ERROR_NONE;
    options.socket = d->socket[0] != '\0' ? d->socket : NULL;
    options.software = "libadbc_driver_hac";
    if (hac_client_connect(&options, &c->client, &err) != HAC_OK)
        return hac_adbc_fail(error, &err);
    return ADBC_STATUS_OK;
}

static AdbcStatusCode connection_release(struct AdbcConnection *connection, struct AdbcError *error)
{
    hac_adbc_connection *c = connection->private_data;
    if (c == NULL)
        return hac_adbc_refuse(error, ADBC_STATUS_INVALID_STATE, "the connection has been released");
    hac_client_free(c->client);
    if (c->stop_fd >= 0)
        close(c->stop_fd);
    free(c->folder);
    free(c);
    connection->private_data = NULL;
    return ADBC_STATUS_OK;
}

AdbcStatusCode hac_adbc_cancel(struct AdbcConnection *connection, struct AdbcError *error)
{
    hac_adbc_connection *c = connection->private_data;
    const uint64_t one = 1;
    if (!atomic_load(&c->running))
        return hac_adbc_refuse(error, ADBC_STATUS_INVALID_STATE, "no query runs");
    if (write(c->stop_fd, &one, sizeof(one)) < 0 && errno != EAGAIN)
        return hac_adbc_refuse(error, ADBC_STATUS_IO, "cannot cancel: %s", strerror(errno));
    return ADBC_STATUS_OK;
}

static AdbcStatusCode get_table_schema(struct AdbcConnection *connection, const char *catalog,
                                       const char *db_schema, const char *table, struct ArrowSchema *ret,
                                       struct AdbcError *error)
{
    hac_adbc_connection *c = connection->private_data;
    hac_error err = HAC_ERROR_NONE;
    if ((catalog != NULL && catalog[0] != '\0') || (db_schema != NULL && db_schema[0] != '\0'))
        return hac_adbc_refuse(
            error, ADBC_STATUS_NOT_FOUND,
            "there are no catalogs and schemas; tables are files in the database's folder");
    if (c->client == NULL)
        return hac_adbc_refuse(error, ADBC_STATUS_INVALID_STATE, "the connection is not open");
    hac_adbc_run_begin(c);
    hac_status status = hac_adbc_table_schema(c, table, ret, &err);
    hac_adbc_run_end(c);
    return status == HAC_OK ? ADBC_STATUS_OK : hac_adbc_fail(error, &err);
}

hac_status hac_adbc_table_schema(hac_adbc_connection *c, const char *name, struct ArrowSchema *ret,
                                 hac_error *err)
{
    hac_adbc_source source = {.files = NULL};
    hac_query_options options = HAC_QUERY_OPTIONS_INIT;
    struct ArrowArray none;
    hac_job *job = NULL;
    options.select = "*";
    options.limit = 0;
    options.result_format = HAC_RESULT_TABLE;
    options.find = HAC_FIND_DELIMITER | HAC_FIND_HEADER | HAC_FIND_FORMS;
    hac_status status = hac_adbc_source_add(&source, c->folder, name, err);
    if (status == HAC_OK)
        status = hac_adbc_run_files(c, &source, &options, &job, err);
    if (status == HAC_OK)
        status = hac_job_export_arrow(job, ret, &none, err);
    if (status == HAC_OK)
        none.release(&none);
    hac_job_free(job);
    hac_adbc_source_clear(&source);
    return status;
}

void hac_adbc_fill_connection(struct AdbcDriver *driver, bool has_1_1)
{
    driver->DatabaseNew = database_new;
    driver->DatabaseSetOption = database_set_option;
    driver->DatabaseInit = database_init;
    driver->DatabaseRelease = database_release;
    driver->ConnectionNew = connection_new;
    driver->ConnectionSetOption = connection_set_option;
    driver->ConnectionInit = connection_init;
    driver->ConnectionRelease = connection_release;
    driver->ConnectionGetTableSchema = get_table_schema;
    if (!has_1_1)
        return;
    driver->DatabaseGetOption = database_get_option;
    driver->ConnectionGetOption = connection_get_option;
    driver->ConnectionCancel = hac_adbc_cancel;
}
