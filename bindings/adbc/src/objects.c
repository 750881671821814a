/* SPDX-License-Identifier: Apache-2.0 */
/* What a connection says about itself, and about the files in its folder. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "nested.h"

#define ANY HAC_ADBC_NULLABLE

/* ---- GetInfo ---- */

static const hac_adbc_field info_fields[] = {
    {0, "+s", "", 0},
    {1, "I", "info_name", 0},
    {1, "+ud:0,1,2,3,4,5", "info_value", ANY},
    {2, "u", "string_value", ANY},
    {2, "b", "bool_value", ANY},
    {2, "l", "int64_value", ANY},
    {2, "i", "int32_bitmask", ANY},
    {2, "+l", "string_list", ANY},
    {3, "u", "item", ANY},
    {2, "+m", "int32_to_int32_list_map", ANY},
    {3, "+s", "entries", 0},
    {4, "i", "key", 0},
    {4, "+l", "value", ANY},
    {5, "i", "item", ANY},
    {-1, NULL, NULL, 0},
};

enum { INFO_TEXT = 0, INFO_BOOL = 1, INFO_INT = 2 };

static const struct info {
    uint32_t code;
    int8_t kind;
    const char *text; /* NULL: libhac's version */
    int64_t number;
} infos[] = {
    {ADBC_INFO_VENDOR_NAME, INFO_TEXT, "hac", 0},
    {ADBC_INFO_VENDOR_VERSION, INFO_TEXT, NULL, 0},
    {ADBC_INFO_VENDOR_SQL, INFO_BOOL, NULL, 1},
    {ADBC_INFO_VENDOR_SUBSTRAIT, INFO_BOOL, NULL, 0},
    {ADBC_INFO_DRIVER_NAME, INFO_TEXT, "hac ADBC driver", 0},
    {ADBC_INFO_DRIVER_VERSION, INFO_TEXT, NULL, 0},
    {ADBC_INFO_DRIVER_ADBC_VERSION, INFO_INT, NULL, ADBC_VERSION_1_1_0},
};

static bool is_wanted(const uint32_t *codes, size_t n, uint32_t code)
{
    for (size_t i = 0; i < n; i++)
        if (codes[i] == code)
            return true;
    return codes == NULL || n == 0;
}

static AdbcStatusCode get_info(struct AdbcConnection *connection, const uint32_t *codes, size_t n,
                               struct ArrowArrayStream *ret, struct AdbcError *error)
{
    (void)connection;
    hac_adbc_column *rows = hac_adbc_column_new(info_fields);
    for (size_t i = 0; i < sizeof(infos) / sizeof(infos[0]) && rows != NULL; i++) {
        const struct info *info = &infos[i];
        if (!is_wanted(codes, n, info->code))
            continue;
        hac_adbc_column *value = hac_adbc_column_child(rows, 1);
        hac_adbc_column *of_kind = hac_adbc_column_child(value, (size_t)info->kind);
        hac_adbc_put_int(hac_adbc_column_child(rows, 0), info->code);
        if (info->kind == INFO_TEXT)
            hac_adbc_put_text(of_kind, info->text != NULL ? info->text : hac_version());
        else
            hac_adbc_put_int(of_kind, info->number);
        hac_adbc_put_union(value, info->kind);
        hac_adbc_put_row(rows);
    }
    return hac_adbc_column_finish(rows, ret, error);
}

/* ---- GetTableTypes ---- */

static const char table_type[] = "file";

static AdbcStatusCode get_table_types(struct AdbcConnection *connection, struct ArrowArrayStream *ret,
                                      struct AdbcError *error)
{
    static const hac_adbc_field fields[] = {{0, "+s", "", 0}, {1, "u", "table_type", 0}, {-1, NULL, NULL, 0}};
    (void)connection;
    hac_adbc_column *rows = hac_adbc_column_new(fields);
    if (rows != NULL) {
        hac_adbc_put_text(hac_adbc_column_child(rows, 0), table_type);
        hac_adbc_put_row(rows);
    }
    return hac_adbc_column_finish(rows, ret, error);
}

/* ---- GetObjects ---- */

static const hac_adbc_field object_fields[] = {
    {0, "+s", "", 0},
    {1, "u", "catalog_name", ANY},
    {1, "+l", "catalog_db_schemas", ANY},
    {2, "+s", "item", ANY},
    {3, "u", "db_schema_name", ANY},
    {3, "+l", "db_schema_tables", ANY},
    {4, "+s", "item", ANY},
    {5, "u", "table_name", 0},
    {5, "u", "table_type", 0},
    {5, "+l", "table_columns", ANY},
    {6, "+s", "item", ANY},
    {7, "u", "column_name", 0},
    {7, "i", "ordinal_position", ANY},
    {7, "u", "remarks", ANY},
    {7, "s", "xdbc_data_type", ANY},
    {7, "u", "xdbc_type_name", ANY},
    {7, "i", "xdbc_column_size", ANY},
    {7, "s", "xdbc_decimal_digits", ANY},
    {7, "s", "xdbc_num_prec_radix", ANY},
    {7, "s", "xdbc_nullable", ANY},
    {7, "u", "xdbc_column_def", ANY},
    {7, "s", "xdbc_sql_data_type", ANY},
    {7, "s", "xdbc_datetime_sub", ANY},
    {7, "i", "xdbc_char_octet_length", ANY},
    {7, "u", "xdbc_is_nullable", ANY},
    {7, "u", "xdbc_scope_catalog", ANY},
    {7, "u", "xdbc_scope_schema", ANY},
    {7, "u", "xdbc_scope_table", ANY},
    {7, "b", "xdbc_is_autoincrement", ANY},
    {7, "b", "xdbc_is_generatedcolumn", ANY},
    {5, "+l", "table_constraints", ANY},
    {6, "+s", "item", ANY},
    {7, "u", "constraint_name", ANY},
    {7, "u", "constraint_type", 0},
    {7, "+l", "constraint_column_names", 0},
    {8, "u", "item", ANY},
    {7, "+l", "constraint_column_usage", ANY},
    {8, "+s", "item", ANY},
    {9, "u", "fk_catalog", ANY},
    {9, "u", "fk_db_schema", ANY},
    {9, "u", "fk_table", 0},
    {9, "u", "fk_column_name", 0},
    {-1, NULL, NULL, 0},
};

enum { COLUMN_NAME = 0, COLUMN_ORDINAL = 1, COLUMN_TYPE_NAME = 4 };

/* What a call of GetObjects asks for; patterns may be NULL. */
typedef struct object_filter {
    int depth;
    const char *table, *column;
    const char **types;
} object_filter;

/* Whether text matches a pattern of SQL: % stands for any characters, _ for one. */
static bool matches(const char *pattern, const char *text)
{
    const char *after = NULL, *from = NULL; /* where to go on if what follows the last % does not fit */
    if (pattern == NULL)
        return true;
    while (*text != '\0') {
        if (*pattern == '%') {
            after = ++pattern;
            from = text;
        } else if (*pattern != '\0' && (*pattern == '_' || *pattern == *text)) {
            pattern++;
            text++;
        } else if (after != NULL) {
            pattern = after;
            text = ++from;
        } else {
            return false;
        }
    }
    while (*pattern == '%')
        pattern++;
    return *pattern == '\0';
}

static bool wants_type(const char **types)
{
    if (types == NULL)
        return true;
    for (; *types != NULL; types++)
        if (strcmp(*types, table_type) == 0)
            return true;
    return false;
}

static void put_column(hac_adbc_column *column, const struct ArrowSchema *field, int64_t place)
{
    for (size_t i = 0; object_fields[11 + i].depth == 7; i++) {
        hac_adbc_column *part = hac_adbc_column_child(column, i);
        if (i == COLUMN_NAME)
            hac_adbc_put_text(part, field->name);
        else if (i == COLUMN_ORDINAL)
            hac_adbc_put_int(part, place);
        else if (i == COLUMN_TYPE_NAME)
            hac_adbc_put_text(part, field->format);
        else
            hac_adbc_put_null(part);
    }
    hac_adbc_put_row(column);
}

/* Puts the columns of a file; null, if they cannot be read: a folder may have files that are no tables. */
static hac_status put_columns(hac_adbc_connection *c, const char *path, const object_filter *filter,
                              hac_adbc_column *columns, hac_error *err)
{
    struct ArrowSchema schema;
    hac_status status = hac_adbc_table_schema(c, path, &schema, err);
    if (status == HAC_CANCELLED || status == HAC_NO_DAEMON || status == HAC_NO_MEMORY)
        return status;
    if (status != HAC_OK) {
        hac_adbc_put_null(columns);
        return HAC_OK;
    }
    for (int64_t i = 0; i < schema.n_children; i++)
        if (matches(filter->column, schema.children[i]->name))
            put_column(hac_adbc_column_child(columns, 0), schema.children[i], i + 1);
    hac_adbc_put_row(columns);
    schema.release(&schema);
    return HAC_OK;
}

static hac_status put_table(hac_adbc_connection *c, const char *path, const char *name,
                            const object_filter *filter, hac_adbc_column *table, hac_error *err)
{
    hac_adbc_column *columns = hac_adbc_column_child(table, 2);
    hac_adbc_put_text(hac_adbc_column_child(table, 0), name);
    hac_adbc_put_text(hac_adbc_column_child(table, 1), table_type);
    hac_status status = HAC_OK;
    if (filter->depth == ADBC_OBJECT_DEPTH_ALL)
        status = put_columns(c, path, filter, columns, err);
    else
        hac_adbc_put_null(columns);
    hac_adbc_put_null(hac_adbc_column_child(table, 3)); /* constraints: files have none */
    hac_adbc_put_row(table);
    return status;
}

/* Puts the files of the folder that have a suffix which says a format, by their names in the folder. */
static hac_status put_tables(hac_adbc_connection *c, const object_filter *filter, hac_adbc_column *table,
                             hac_error *err)
{
    hac_adbc_source files = {.files = NULL};
    const char *folder = c->folder[0] != '\0' ? c->folder : ".";
    size_t skip = strlen(folder) + (folder[strlen(folder) - 1] != '/');
    hac_status status = hac_adbc_list_folder(&files, folder, err);
    for (size_t i = 0; status == HAC_OK && i < hac_files_count(files.files); i++) {
        const char *path = hac_files_name(files.files, i), *name = path + skip;
        if (hac_input_format_of(path) == HAC_INPUT_NONE || !matches(filter->table, name))
            continue;
        status = put_table(c, c->folder[0] != '\0' && path[0] != '/' ? name : path, name, filter, table, err);
    }
    hac_adbc_source_clear(&files);
    return status;
}

static hac_status put_objects(hac_adbc_connection *c, const object_filter *filter, bool nameless,
                              hac_adbc_column *rows, hac_error *err)
{
    hac_adbc_column *schemas = hac_adbc_column_child(rows, 1), *schema = hac_adbc_column_child(schemas, 0);
    hac_adbc_column *tables = hac_adbc_column_child(schema, 1);
    hac_status status = HAC_OK;
    hac_adbc_put_text(hac_adbc_column_child(rows, 0), "");
    if (filter->depth == ADBC_OBJECT_DEPTH_CATALOGS) {
        hac_adbc_put_null(schemas);
        hac_adbc_put_row(rows);
        return HAC_OK;
    }
    if (nameless) {
        hac_adbc_put_text(hac_adbc_column_child(schema, 0), "");
        if (filter->depth == ADBC_OBJECT_DEPTH_DB_SCHEMAS) {
            hac_adbc_put_null(tables);
        } else {
            if (wants_type(filter->types))
                status = put_tables(c, filter, hac_adbc_column_child(tables, 0), err);
            hac_adbc_put_row(tables);
        }
        hac_adbc_put_row(schema);
    }
    hac_adbc_put_row(schemas);
    hac_adbc_put_row(rows);
    return status;
}

static AdbcStatusCode get_objects(struct AdbcConnection *connection, int depth, const char *catalog,
                                  const char *db_schema, const char *table, const char **types,
                                  const char *column, struct ArrowArrayStream *ret, struct AdbcError *error)
{
    hac_adbc_connection *c = connection->private_data;
    const object_filter filter = {depth, table, column, types};
    hac_error err = HAC_ERROR_NONE;
    if (depth < ADBC_OBJECT_DEPTH_ALL || depth > ADBC_OBJECT_DEPTH_TABLES)
        return hac_adbc_refuse(error, ADBC_STATUS_INVALID_ARGUMENT, "depth %d does not exist", depth);
    if (c->client == NULL)
        return hac_adbc_refuse(error, ADBC_STATUS_INVALID_STATE, "the connection is not open");
    hac_adbc_column *rows = hac_adbc_column_new(object_fields);
    hac_status status = HAC_OK;
    hac_adbc_run_begin(c);
    if (rows != NULL && matches(catalog, "")) /* the only catalog and its only schema have no names */
        status = put_objects(c, &filter, matches(db_schema, ""), rows, &err);
    hac_adbc_run_end(c);
    if (status == HAC_OK)
        return hac_adbc_column_finish(rows, ret, error);
    hac_adbc_column_free(rows);
    return hac_adbc_fail(error, &err);
}

void hac_adbc_fill_objects(struct AdbcDriver *driver)
{
    driver->ConnectionGetInfo = get_info;
    driver->ConnectionGetObjects = get_objects;
    driver->ConnectionGetTableTypes = get_table_types;
}
