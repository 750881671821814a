/* SPDX-License-Identifier: Apache-2.0 */
/* Columns in the names of folders: finds them and their types, and leaves out the files for which `where`
 * cannot be true. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/folder_keys.h"
#include "base/format.h"
#include "base/text.h"
#include "base/value_text.h"
#include "expr/machine.h"
#include "expr/path_filter.h"
#include "expr/schema.h"
#include "files.h"
#include "path_columns.h"

HAC_DEFINE_CLEANUP(hac_machine_c *, hac_machine_c_free)

/* ---- columns ---- */

static void clear_schema(hac_schema *schema)
{
    hac_schema_clear(schema);
}

static const char *end_of(const char *name)
{
    return name + strlen(name);
}

/* Whether the value is written as a number is printed, so that nothing is lost: 03 is text. */
static bool is_integer(const char *text, size_t bytes)
{
    int64_t value;
    size_t sign = bytes > 0 && text[0] == '-';
    if (bytes == sign || (text[sign] == '0' && bytes > 1))
        return false;
    return hac_parse_i64(text, bytes, &value) == HAC_TEXT_OK && text[sign] >= '0' && text[sign] <= '9';
}

static bool is_date(const char *text, size_t bytes)
{
    int32_t days;
    return bytes == strlen("2024-01-31") && hac_parse_date(text, bytes, &days) == HAC_TEXT_OK;
}

/* Narrows the types that all values seen so far have: integers, dates, else text. HAC_KIND_NONE: only nulls.
 */
static void note_value(hac_field *field, const hac_folder_key *key, char *text)
{
    if (hac_folder_key_is_null(key))
        return;
    size_t bytes = hac_folder_key_value(key, text);
    hac_kind kind = is_integer(text, bytes) ? HAC_KIND_I64
                    : is_date(text, bytes)  ? HAC_KIND_DATE
                                            : HAC_KIND_STRING;
    hac_kind before = (hac_kind)field->type.kind;
    field->type.kind = (uint8_t)(before == HAC_KIND_NONE || before == kind ? kind : HAC_KIND_STRING);
}

/* Adds the keys of the first file as columns. */
static hac_status add_keys(const char *name, hac_schema *ret, hac_error *err)
{
    const char *at = name;
    hac_folder_key key;
    ret->fields = calloc(HAC_FOLDER_KEYS_MAX, sizeof *ret->fields);
    if (ret->fields == NULL)
        return hac_fail_no_memory(err);
    while (hac_folder_key_next(&at, end_of(name), &key)) {
        if (hac_schema_find(ret, key.name, strlen(key.name)) >= 0)
            continue; /* the last one counts */
        if (ret->n_fields == HAC_FOLDER_KEYS_MAX)
            return hac_fail(err, HAC_INVALID, "%.200s: more than %d folders with keys", name,
                            HAC_FOLDER_KEYS_MAX);
        strcpy(ret->fields[ret->n_fields++].name, key.name);
    }
    return HAC_OK;
}

/* Notes the values of a file. False: it has other keys than the first file. */
static bool note_keys(const char *name, hac_schema *schema, char *text)
{
    const char *at = name;
    hac_folder_key key;
    uint64_t seen = 0;
    while (hac_folder_key_next(&at, end_of(name), &key)) {
        int column = hac_schema_find(schema, key.name, strlen(key.name));
        if (column < 0)
            return false;
        seen |= UINT64_C(1) << column;
        note_value(&schema->fields[column], &key, text);
    }
    return seen == (schema->n_fields == 64 ? UINT64_MAX : (UINT64_C(1) << schema->n_fields) - 1);
}

static hac_status find_columns(const hac_files *files, hac_schema *ret, hac_error *err)
{
    hac_status status = files->n > 0 ? add_keys(files->names[0], ret, err) : HAC_OK;
    size_t longest = 0;
    for (size_t i = 0; i < files->n; i++)
        longest = strlen(files->names[i]) > longest ? strlen(files->names[i]) : longest;
    hac_autofree char *text = malloc(longest + 1);
    if (text == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < files->n && status == HAC_OK && ret->n_fields > 0; i++)
        if (!note_keys(files->names[i], ret, text))
            ret->n_fields = 0;
    for (size_t i = 0; i < ret->n_fields; i++)
        if (ret->fields[i].type.kind == HAC_KIND_NONE)
            ret->fields[i].type.kind = HAC_KIND_STRING;
    return status;
}

/* ---- files that need not be read ---- */

/* A batch of values for the filter: one row for each file. */
typedef struct path_rows {
    const hac_path_filter *filter;
    hac_column columns[HAC_FOLDER_KEYS_MAX];
    uint8_t *memory; /* owned */
    hac_text text;   /* the strings */
} path_rows;

static void path_rows_clear(path_rows *rows)
{
    free(rows->memory);
    hac_text_clear(&rows->text);
}

static hac_status make_rows(const hac_path_filter *filter, path_rows *ret, hac_error *err)
{
    size_t bytes = 0, n = filter->columns.n_fields;
    *ret = (path_rows){.filter = filter, .text = HAC_TEXT_NONE};
    for (size_t i = 0; i < n; i++)
        bytes += HAC_BATCH_ROWS * (hac_repr_size(hac_repr_of(filter->columns.fields[i].type)) + 1);
    uint8_t *memory = ret->memory = aligned_alloc(64, (bytes + 127) / 64 * 64);
    if (memory == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        hac_column *column = &ret->columns[i];
        column->type = filter->columns.fields[i].type;
        column->values = memory;
        column->states = memory + HAC_BATCH_ROWS * hac_repr_size(hac_repr_of(column->type));
        memory = column->states + HAC_BATCH_ROWS;
    }
    memset(ret->memory, 0, bytes);
    return HAC_OK;
}

/* Parses the types that columns in paths have by themselves. Files are kept for the sake of other types. */
static bool parse(hac_value_type type, const char *text, size_t bytes, void *ret)
{
    int64_t number;
    int32_t days;
    if (type.kind == HAC_KIND_I64 && hac_parse_i64(text, bytes, &number) == HAC_TEXT_OK) {
        memcpy(ret, &number, sizeof number);
        return true;
    }
    if (type.kind != HAC_KIND_DATE || hac_parse_date(text, bytes, &days) != HAC_TEXT_OK)
        return false;
    number = days;
    memcpy(ret, &number, hac_repr_size(HAC_REPR_I64));
    return true;
}

static void put_value(path_rows *rows, hac_column *column, size_t row, const char *text, size_t bytes)
{
    size_t size = hac_repr_size(hac_repr_of(column->type));
    column->states[row] = HAC_ROW_OK;
    if (hac_repr_of(column->type) == HAC_REPR_STRING) {
        ((hac_string_ref *)column->values)[row] =
            (hac_string_ref){(uint32_t)rows->text.bytes, (uint32_t)bytes};
        hac_text_add_bytes(&rows->text, text, bytes);
    } else if (!parse(column->type, text, bytes, (uint8_t *)column->values + row * size)) {
        column->states[row] = HAC_ROW_MALFORMED; /* the file is kept, and reading it says what is wrong */
    }
}

static void put_file(path_rows *rows, size_t row, const char *name)
{
    const hac_schema *schema = &rows->filter->columns;
    const char *at = name;
    char text[HAC_FOLDER_KEYS_BYTES];
    hac_folder_key key;
    for (size_t i = 0; i < schema->n_fields; i++) {
        size_t size = hac_repr_size(hac_repr_of(rows->columns[i].type));
        memset((uint8_t *)rows->columns[i].values + row * size, 0, size);
        rows->columns[i].states[row] = HAC_ROW_NULL;
    }
    while (hac_folder_key_next(&at, end_of(name), &key)) {
        int column = hac_schema_find(schema, key.name, strlen(key.name));
        if (column < 0 || hac_folder_key_is_null(&key) || key.value_bytes > sizeof text)
            continue;
        size_t bytes = hac_folder_key_value(&key, text);
        put_value(rows, &rows->columns[column], row, text, bytes);
    }
}

/* Keeps the files of names[first … first + n) that the filter does not rule out, from *kept on. */
static hac_status judge(hac_files *files, path_rows *rows, hac_machine_c *machine, size_t first, size_t n,
                        size_t *kept, hac_error *err)
{
    hac_column verdict;
    hac_text_clear(&rows->text);
    rows->text = (hac_text)HAC_TEXT_NONE;
    for (size_t i = 0; i < n; i++)
        put_file(rows, i, files->names[first + i]);
    for (size_t row = n; row < HAC_BATCH_ROWS; row++) /* machines read whole batches */
        for (size_t i = 0; i < rows->filter->columns.n_fields; i++) {
            size_t size = hac_repr_size(hac_repr_of(rows->columns[i].type));
            memset((uint8_t *)rows->columns[i].values + row * size, 0, size);
        }
    if (rows->text.broken)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < rows->filter->columns.n_fields; i++)
        rows->columns[i].bytes = (const uint8_t *)(rows->text.data != NULL ? rows->text.data : "");
    hac_machine_c_run(
        machine,
        &(hac_batch){.rows = n, .n_columns = rows->filter->columns.n_fields, .columns = rows->columns},
        &verdict);
    for (size_t i = 0; i < n; i++) {
        uint8_t state = verdict.states != NULL ? verdict.states[i] : HAC_ROW_OK;
        bool out =
            state == HAC_ROW_NULL || (state == HAC_ROW_OK && ((const uint8_t *)verdict.values)[i] == 0);
        char *name = files->names[first + i];
        if (out && (*kept > 0 || first + i + 1 < files->n)) /* one file stays: it has the columns */
            free(name);
        else
            files->names[(*kept)++] = name;
    }
    return HAC_OK;
}

static void clear_filter(hac_path_filter *filter)
{
    hac_path_filter_clear(filter);
}

static hac_status prune(hac_files *files, const hac_query_text *text, hac_error *err)
{
    hac_cleanup(clear_filter) hac_path_filter filter = {0};
    hac_cleanup(path_rows_clear) path_rows rows = {0};
    hac_cleanup(hac_machine_c_free_cleanup) hac_machine_c *machine = NULL;
    size_t kept = 0, n = files->n;
    hac_status status = hac_path_filter_make(text, &filter, err);
    if (status != HAC_OK || filter.program == NULL)
        return status;
    status = make_rows(&filter, &rows, err);
    if (status == HAC_OK)
        status = hac_machine_c_new(filter.program, (size_t)1 << 20, &machine, err);
    if (status != HAC_OK)
        return status;
    for (size_t first = 0; first < n && status == HAC_OK; first += HAC_BATCH_ROWS)
        status = judge(files, &rows, machine, first, n - first < HAC_BATCH_ROWS ? n - first : HAC_BATCH_ROWS,
                       &kept, err);
    files->n = status == HAC_OK ? kept : files->n;
    return status;
}

hac_status hac_files_apply(hac_files *files, hac_query_options *options, hac_error *err)
{
    hac_cleanup(clear_schema) hac_schema schema = {0};
    hac_text text = HAC_TEXT_NONE;
    free(files->path_columns);
    files->path_columns = NULL;
    options->path_columns = NULL;
    if ((unsigned)options->input_format >= HAC_INPUT_END || !hac_formats[options->input_format].path_columns)
        return HAC_OK;
    hac_status status = find_columns(files, &schema, err);
    if (status != HAC_OK || schema.n_fields == 0)
        return status;
    hac_schema_print(&schema, &text);
    status = hac_text_finish(&text, &files->path_columns, NULL, err);
    if (status != HAC_OK)
        return status;
    options->path_columns = files->path_columns;
    size_t before = files->n;
    const hac_query_text query = {.schema = options->schema,
                                  .where = options->where,
                                  .with_select = options->with_select,
                                  .with_where = options->with_where,
                                  .path_columns = files->path_columns,
                                  .source = {.format = (hac_input_format)options->input_format}};
    status = prune(files, &query, err);
    options->files_left_out += before - files->n;
    return status;
}

/* ---- one file ---- */

hac_status hac_path_keys(const hac_query_options *options, const char *name, hac_path_keys_text *ret,
                         hac_error *err)
{
    const char *at = name, *folder = name;
    hac_folder_key key;
    ret->bytes = 0;
    if (options->path_columns == NULL || name == NULL)
        return HAC_OK;
    while (hac_folder_key_next(&at, end_of(name), &key)) {
        for (const char *slash; (slash = memchr(folder, '/', (size_t)(at - 1 - folder))) != NULL;)
            folder = slash + 1; /* folders without keys */
        size_t bytes = (size_t)(at - folder);
        if (bytes > sizeof ret->text - ret->bytes)
            return hac_fail(err, HAC_INVALID, "%.200s: names of folders with keys have more than %zu bytes",
                            name, sizeof ret->text);
        memcpy(ret->text + ret->bytes, folder, bytes);
        ret->bytes += bytes;
        folder = at;
    }
    return HAC_OK;
}
