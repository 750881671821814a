/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the driver's table of functions without a driver manager: what it releases and when, calls in a wrong
 * order, errors of callers of both versions of ADBC, and the nested arrays of the catalogue, of which every
 * buffer is read to its end. tests/integration/adbc_test.py has the queries.
 */
#include "fake_daemon.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../src/driver.h"

AdbcStatusCode AdbcDriverInit(int version, void *raw_driver, struct AdbcError *error);

static fake_daemon *the_daemon;
static hac_client *unused;
static struct AdbcDriver driver;
static struct AdbcDatabase database;
static struct AdbcConnection connection;
static char folder[] = "/tmp/hac-adbc-XXXXXX";

static struct AdbcError new_error(void)
{
    return (struct AdbcError){.vendor_code = ADBC_ERROR_VENDOR_CODE_PRIVATE_DATA};
}

static int start(void **state)
{
    if (fake_setup(state, NULL, &the_daemon, &unused) != 0)
        return -1;
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    assert_non_null(mkdtemp(folder));
    assert_int_equal(AdbcDriverInit(ADBC_VERSION_1_1_0, &driver, NULL), ADBC_STATUS_OK);
    assert_int_equal(driver.DatabaseNew(&database, NULL), ADBC_STATUS_OK);
    assert_int_equal(driver.DatabaseSetOption(&database, "uri", folder, NULL), ADBC_STATUS_OK);
    assert_int_equal(driver.DatabaseSetOption(&database, "socket", fake_path(the_daemon), NULL),
                     ADBC_STATUS_OK);
    assert_int_equal(driver.DatabaseInit(&database, NULL), ADBC_STATUS_OK);
    assert_int_equal(driver.ConnectionNew(&connection, NULL), ADBC_STATUS_OK);
    assert_int_equal(driver.ConnectionInit(&connection, &database, NULL), ADBC_STATUS_OK);
    return 0;
}

static int stop(void **state)
{
    assert_int_equal(driver.ConnectionRelease(&connection, NULL), ADBC_STATUS_OK);
    assert_int_equal(driver.DatabaseRelease(&database, NULL), ADBC_STATUS_OK);
    assert_int_equal(driver.release(&driver, NULL), ADBC_STATUS_OK);
    rmdir(folder);
    return fake_teardown(state, the_daemon, unused);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, start, stop)

/* ---- a bound batch ---- */

static int released;

static void release_schema(struct ArrowSchema *schema)
{
    free(schema->children[0]);
    free(schema->children);
    schema->release = NULL;
    released++;
}

static void release_array(struct ArrowArray *array)
{
    free((void *)(uintptr_t)array->children[0]->buffers[1]);
    free(array->children[0]->buffers);
    free(array->children[0]);
    free(array->children);
    free(array->buffers);
    array->release = NULL;
    released++;
}

static void keep_schema(struct ArrowSchema *schema)
{
    (void)schema;
}

static void keep_array(struct ArrowArray *array)
{
    (void)array;
}

static void *new (size_t bytes)
{
    void *memory = calloc(1, bytes);
    assert_non_null(memory);
    return memory;
}

/* One column x of the numbers 0 to 9. */
static void make_batch(struct ArrowSchema *schema, struct ArrowArray *array)
{
    *schema = (struct ArrowSchema){.format = "+s", .name = "", .n_children = 1, .release = release_schema};
    schema->children = new (sizeof(struct ArrowSchema *));
    schema->children[0] = new (sizeof(struct ArrowSchema));
    *schema->children[0] = (struct ArrowSchema){.format = "l", .name = "x", .release = keep_schema};
    *array = (struct ArrowArray){.length = 10, .n_buffers = 1, .n_children = 1, .release = release_array};
    array->buffers = new (sizeof(void *));
    array->children = new (sizeof(struct ArrowArray *));
    struct ArrowArray *column = array->children[0] = new (sizeof(struct ArrowArray));
    *column = (struct ArrowArray){.length = 10, .n_buffers = 2, .release = keep_array};
    column->buffers = new (2 * sizeof(void *));
    int64_t *values = new (10 * sizeof(int64_t));
    for (int i = 0; i < 10; i++)
        values[i] = i;
    column->buffers[1] = values;
}

static struct AdbcStatement new_statement(const char *sql)
{
    struct AdbcStatement statement = {NULL, NULL};
    assert_int_equal(driver.StatementNew(&connection, &statement, NULL), ADBC_STATUS_OK);
    if (sql != NULL)
        assert_int_equal(driver.StatementSetSqlQuery(&statement, sql, NULL), ADBC_STATUS_OK);
    return statement;
}

static void bind_batch(struct AdbcStatement *statement)
{
    struct ArrowSchema schema;
    struct ArrowArray array;
    make_batch(&schema, &array);
    released = 0;
    assert_int_equal(driver.StatementBind(statement, &array, &schema, NULL), ADBC_STATUS_OK);
    assert_null(array.release); /* the statement owns them */
    assert_null(schema.release);
}

/* ---- tests ---- */

/* What is bound is released once: read, replaced, or left over. The result outlives all that it came from. */
static void test_bound(void **state)
{
    (void)state;
    struct ArrowArrayStream stream;
    struct ArrowArray array;
    int64_t rows = 0;
    struct AdbcStatement statement = new_statement("SELECT * FROM bound");
    bind_batch(&statement);
    assert_int_equal(driver.StatementExecuteQuery(&statement, &stream, &rows, NULL), ADBC_STATUS_OK);
    assert_int_equal(released, 2);
    assert_int_equal(rows, -1);
    bind_batch(&statement);
    assert_int_equal(driver.StatementExecuteQuery(&statement, NULL, NULL, NULL),
                     ADBC_STATUS_OK); /* no result */
    assert_int_equal(released, 2);
    bind_batch(&statement);
    struct ArrowSchema schema;
    make_batch(&schema, &array);
    assert_int_equal(driver.StatementBind(&statement, &array, &schema, NULL), ADBC_STATUS_OK);
    assert_int_equal(released, 2); /* of the first */
    assert_int_equal(driver.StatementRelease(&statement, NULL), ADBC_STATUS_OK);
    assert_int_equal(released, 4);
    assert_int_equal(driver.ConnectionRelease(&connection, NULL), ADBC_STATUS_OK);
    assert_int_equal(stream.get_next(&stream, &array), 0);
    stream.release(&stream);
    assert_int_equal(array.length, 10);
    assert_int_equal(((const int64_t *)array.children[0]->buffers[1])[9], 9);
    array.release(&array);
    assert_int_equal(driver.ConnectionNew(&connection, NULL), ADBC_STATUS_OK); /* for the teardown */
}

static void expect(AdbcStatusCode code, AdbcStatusCode wanted, struct AdbcError *error, const char *words)
{
    assert_int_equal(code, wanted);
    assert_non_null(error->message);
    hac_test_assert_says(error->message, words);
    error->release(error);
    assert_null(error->release);
}

/* Calls in a wrong order, and what there is not. */
static void test_refused(void **state)
{
    (void)state;
    struct AdbcError error = new_error();
    struct AdbcConnection closed = {NULL, NULL};
    struct AdbcStatement statement = new_statement(NULL), none = {NULL, NULL};
    struct ArrowArrayStream stream = {.release = NULL};
    expect(driver.StatementExecuteQuery(&statement, &stream, NULL, &error), ADBC_STATUS_INVALID_STATE, &error,
           "no SQL");
    expect(driver.StatementBindStream(&statement, &stream, &error), ADBC_STATUS_INVALID_ARGUMENT, &error,
           "has been released");
    expect(driver.StatementCancel(&statement, &error), ADBC_STATUS_INVALID_STATE, &error, "no query runs");
    expect(driver.StatementSetOption(&statement, "adbc.ingest.target_table", "t", &error),
           ADBC_STATUS_NOT_IMPLEMENTED, &error, "nothing is ingested");
    expect(driver.StatementSetOption(&statement, "hac.input.colour", "red", &error),
           ADBC_STATUS_INVALID_ARGUMENT, &error, "no option 'colour'");
    expect(driver.StatementRelease(&none, &error), ADBC_STATUS_INVALID_STATE, &error, "has been released");
    assert_int_equal(driver.StatementRelease(&statement, NULL), ADBC_STATUS_OK);
    expect(driver.ConnectionSetOption(&connection, "adbc.connection.autocommit", "false", &error),
           ADBC_STATUS_NOT_IMPLEMENTED, &error, "no transactions");
    expect(driver.ConnectionInit(&connection, &database, &error), ADBC_STATUS_INVALID_STATE, &error,
           "is open");
    assert_int_equal(driver.ConnectionNew(&closed, NULL), ADBC_STATUS_OK);
    expect(driver.StatementNew(&closed, &statement, &error), ADBC_STATUS_INVALID_STATE, &error,
           "is not open");
    expect(driver.ConnectionGetObjects(&closed, 0, NULL, NULL, NULL, NULL, NULL, &stream, &error),
           ADBC_STATUS_INVALID_STATE, &error, "is not open");
    assert_int_equal(driver.ConnectionRelease(&closed, NULL), ADBC_STATUS_OK);
    expect(driver.DatabaseSetOption(&database, "uri", "hac:/x?port=1", &error), ADBC_STATUS_INVALID_ARGUMENT,
           &error, "is not ?socket=PATH");
    expect(AdbcDriverInit(7, &driver, &error), ADBC_STATUS_NOT_IMPLEMENTED, &error, "not 7");
}

/* A caller of 1.0 has a shorter error, behind which nothing is written; one of 1.1 gets details. */
static void test_errors(void **state)
{
    (void)state;
    struct AdbcStatement statement = new_statement("SELECT * FROM bound WHERE nowhere = 1");
    struct AdbcError old = {.private_data = folder, .private_driver = &driver}; /* what is behind it */
    bind_batch(&statement);
    assert_int_equal(driver.StatementExecuteQuery(&statement, NULL, NULL, &old),
                     ADBC_STATUS_INVALID_ARGUMENT);
    assert_int_equal(released, 2);
    assert_memory_equal(old.sqlstate, "42000", 5);
    old.release(&old);
    assert_ptr_equal(old.private_data, folder);
    assert_ptr_equal(old.private_driver, &driver);
    struct AdbcError error = new_error();
    bind_batch(&statement);
    assert_int_equal(driver.StatementExecuteQuery(&statement, NULL, NULL, &error),
                     ADBC_STATUS_INVALID_ARGUMENT);
    assert_int_equal(driver.ErrorGetDetailCount(&error), 2);
    struct AdbcErrorDetail detail = driver.ErrorGetDetail(&error, 1);
    assert_string_equal(detail.key, "hac.character");
    assert_memory_equal(detail.value, "27", 2);
    assert_null(driver.ErrorGetDetail(&error, 2).key);
    assert_null(driver.ErrorGetDetail(&error, -1).key);
    error.release(&error);
    assert_int_equal(driver.StatementRelease(&statement, NULL), ADBC_STATUS_OK);
}

/* Options are returned with their size, and only where they fit. */
static void test_options(void **state)
{
    (void)state;
    char value[256] = "before";
    size_t length = 3;
    assert_int_equal(driver.DatabaseGetOption(&database, "uri", value, &length, NULL), ADBC_STATUS_OK);
    assert_string_equal(value, "before");
    assert_int_equal(length, strlen(folder) + 1);
    assert_int_equal(driver.DatabaseGetOption(&database, "uri", value, &length, NULL), ADBC_STATUS_OK);
    assert_string_equal(value, folder);
    assert_int_equal(driver.DatabaseGetOption(&database, "colour", value, &length, NULL),
                     ADBC_STATUS_NOT_FOUND);
    assert_int_equal(driver.DatabaseSetOption(&database, "uri", "hac:///data?socket=/run/x", NULL),
                     ADBC_STATUS_OK);
    length = sizeof(value);
    assert_int_equal(driver.DatabaseGetOption(&database, "socket", value, &length, NULL), ADBC_STATUS_OK);
    assert_string_equal(value, "/run/x");
    length = sizeof(value);
    assert_int_equal(driver.DatabaseGetOption(&database, "uri", value, &length, NULL), ADBC_STATUS_OK);
    assert_string_equal(value, "/data");
}

/* ---- the catalogue ---- */

/* Reads every offset and byte of an array, and returns the number of its columns. */
static int walk(const struct ArrowSchema *schema, const struct ArrowArray *array)
{
    static volatile uint8_t sink;
    int columns = 1;
    assert_int_equal(schema->n_children, array->n_children);
    bool list = strcmp(schema->format, "+l") == 0 || strcmp(schema->format, "+m") == 0;
    if (schema->format[0] == 'u' || list) {
        const int32_t *offsets = array->buffers[1];
        for (int64_t i = 0; i < array->length; i++)
            assert_true(offsets[i] <= offsets[i + 1]);
        if (list)
            assert_int_equal(offsets[array->length], array->children[0]->length);
        for (int32_t i = 0; !list && i < offsets[array->length]; i++)
            sink = ((const uint8_t *)array->buffers[2])[i];
    }
    if (array->null_count > 0)
        for (int64_t i = 0; i < array->length; i++)
            sink = ((const uint8_t *)array->buffers[0])[i / 8];
    if (strcmp(schema->format, "+s") == 0)
        for (int64_t i = 0; i < array->n_children; i++)
            assert_int_equal(array->children[i]->length, array->length);
    for (int64_t i = 0; i < schema->n_children; i++)
        columns += walk(schema->children[i], array->children[i]);
    (void)sink;
    return columns;
}

static int walk_stream(struct ArrowArrayStream *stream, int64_t rows)
{
    struct ArrowSchema schema;
    struct ArrowArray array, none;
    assert_int_equal(stream->get_schema(stream, &schema), 0);
    assert_int_equal(stream->get_next(stream, &array), 0);
    assert_int_equal(stream->get_next(stream, &none), 0);
    assert_null(none.release);
    stream->release(stream);
    assert_int_equal(array.length, rows);
    int columns = walk(&schema, &array);
    struct ArrowArray left = *array.children[array.n_children - 1]; /* a child that leaves lives on */
    array.children[array.n_children - 1]->release = NULL;
    array.release(&array);
    left.release(&left);
    schema.release(&schema);
    return columns;
}

static void test_catalogue(void **state)
{
    (void)state;
    struct ArrowArrayStream stream;
    static const uint32_t codes[] = {ADBC_INFO_DRIVER_NAME, 77};
    char file[sizeof(folder) + 16];
    assert_int_equal(driver.ConnectionGetInfo(&connection, NULL, 0, &stream, NULL), ADBC_STATUS_OK);
    assert_int_equal(walk_stream(&stream, 7), 14);
    assert_int_equal(driver.ConnectionGetInfo(&connection, codes, 2, &stream, NULL), ADBC_STATUS_OK);
    assert_int_equal(walk_stream(&stream, 1), 14);
    assert_int_equal(driver.ConnectionGetTableTypes(&connection, &stream, NULL), ADBC_STATUS_OK);
    assert_int_equal(walk_stream(&stream, 1), 2);
    snprintf(file, sizeof(file), "%s/a.csv", folder);
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    assert_int_equal(fclose(out), 0);
    for (int depth = ADBC_OBJECT_DEPTH_CATALOGS; depth <= ADBC_OBJECT_DEPTH_TABLES; depth++) {
        assert_int_equal(
            driver.ConnectionGetObjects(&connection, depth, NULL, NULL, NULL, NULL, NULL, &stream, NULL),
            ADBC_STATUS_OK);
        assert_int_equal(walk_stream(&stream, 1), 42);
        assert_int_equal(
            driver.ConnectionGetObjects(&connection, depth, "no", NULL, NULL, NULL, NULL, &stream, NULL),
            ADBC_STATUS_OK);
        assert_int_equal(walk_stream(&stream, 0), 42);
    }
    assert_int_equal(unlink(file), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_bound), TEST(test_refused), TEST(test_errors),
                                       TEST(test_options), TEST(test_catalogue)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
