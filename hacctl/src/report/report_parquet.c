/* SPDX-License-Identifier: Apache-2.0 */
#include "report_parquet.h"

#include <math.h>
#include <string.h>

#include "text/number_print.h"
#include "text/text_table.h"

static void add_bytes(hac_text_table *table, const cJSON *object, const char *key)
{
    char buffer[HAC_NUMBER_PRINT_MAX];
    hac_text_table_add(table, hac_number_print_bytes(hac_json_get_number(object, key), buffer));
}

static void add_count(hac_text_table *table, const cJSON *object, const char *key)
{
    double number = hac_json_get_number(object, key);
    if (isfinite(number))
        hac_text_table_addf(table, "%.0f", number);
    else
        hac_text_table_add(table, NULL);
}

static int group_count(const cJSON *file)
{
    return cJSON_GetArraySize(hac_json_get_array(file, "row_groups"));
}

static void add_file(const cJSON *file, hac_text *text)
{
    char bytes[HAC_NUMBER_PRINT_MAX];
    const char *writer = hac_json_get_string(file, "created_by");
    hac_autofree char *copy = writer != NULL && *writer != '\0' ? strdup(writer) : NULL;
    int groups = group_count(file);
    hac_text_addf(text, "%.0f rows of %d columns in %d row group%s, %s\n", hac_json_get_number(file, "rows"),
                  cJSON_GetArraySize(hac_json_get_array(file, "columns")), groups, groups == 1 ? "" : "s",
                  hac_number_print_bytes(hac_json_get_number(file, "bytes"), bytes));
    if (copy == NULL)
        return;
    hac_text_table_sanitise(copy, false);
    hac_text_addf(text, "written by %s\n", copy);
}

/* Adds the columns: types in the expression language, and in the file. */
static void add_columns(const cJSON *file, hac_text *text)
{
    static const hac_text_column columns[] = {
        {"column", false}, {"type", false}, {"stored as", false}, {"nulls", false}, {"note", false}};
    hac_text_table table = HAC_TEXT_TABLE(columns);
    const cJSON *column;
    cJSON_ArrayForEach(column, hac_json_get_array(file, "columns"))
    {
        const char *logical = hac_json_get_string(column, "logical"),
                   *why = hac_json_get_string(column, "why_not_read");
        const char *physical = hac_json_get_string(column, "physical");
        double length = hac_json_get_number(column, "length");
        char fixed[HAC_NUMBER_PRINT_MAX] = "";
        if (isfinite(length))
            snprintf(fixed, sizeof fixed, "(%.0f)", length);
        hac_text_table_add(&table, hac_json_get_string(column, "name"));
        hac_text_table_add(&table, hac_json_get_string(column, "type"));
        hac_text_table_addf(&table, "%s%s%s%s", physical != NULL ? physical : "-", fixed,
                            logical != NULL ? ", " : "", logical != NULL ? logical : "");
        hac_text_table_add(&table, hac_json_get_bool(column, "nullable", true) ? "possible" : "none");
        if (why != NULL)
            hac_text_table_addf(&table, "not read: %s", why);
        else
            hac_text_table_add(&table, NULL);
    }
    hac_text_add(text, "\n");
    hac_text_table_write(&table, text);
    hac_text_table_clear(&table);
}

static void add_groups(const cJSON *file, hac_text *text)
{
    static const hac_text_column columns[] = {
        {"row group", true}, {"rows", true}, {"from byte", true}, {"size", true}, {"uncompressed", true}};
    hac_text_table table = HAC_TEXT_TABLE(columns);
    const cJSON *group;
    int index = 0, groups = group_count(file);
    cJSON_ArrayForEach(group, hac_json_get_array(file, "row_groups"))
    {
        if (index == HAC_REPORT_GROUPS)
            break;
        hac_text_table_addf(&table, "%d", index++);
        add_count(&table, group, "rows");
        add_count(&table, group, "offset");
        add_bytes(&table, group, "bytes");
        add_bytes(&table, group, "uncompressed_bytes");
    }
    if (groups > 0) {
        hac_text_add(text, "\n");
        hac_text_table_write(&table, text);
    }
    if (groups > index)
        hac_text_addf(text, "… and %d more row groups; --json has all\n", groups - index);
    hac_text_table_clear(&table);
}

/* Adds the indexes that let readers skip parts of a chunk. */
static void add_indexes(hac_text_table *table, const cJSON *chunk)
{
    static const char *const keys[] = {"column_index", "bloom_filter"};
    static const char *const names[] = {"pages", "bloom"};
    char all[32] = "";
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (hac_json_get_bool(chunk, keys[i], false))
            snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", *all != '\0' ? ", " : "", names[i]);
    hac_text_table_add(table, all);
}

static void add_chunks(const cJSON *group, hac_text_table *table)
{
    const cJSON *chunk;
    cJSON_ArrayForEach(chunk, hac_json_get_array(group, "columns"))
    {
        hac_autofree char *encodings = hac_json_get_joined(chunk, "encodings");
        const char *why = hac_json_get_string(chunk, "why_not_read");
        hac_text_table_add(table, hac_json_get_string(chunk, "column"));
        hac_text_table_add(table, hac_json_get_string(chunk, "codec"));
        if (why != NULL)
            hac_text_table_addf(table, "not read: %s", why);
        else
            hac_text_table_add(table, encodings);
        add_bytes(table, chunk, "bytes");
        add_bytes(table, chunk, "uncompressed_bytes");
        add_count(table, chunk, "nulls");
        hac_text_table_add(table, hac_json_get_string(chunk, "min"));
        hac_text_table_add(table, hac_json_get_string(chunk, "max"));
        add_indexes(table, chunk);
    }
}

static void add_groups_in_full(const cJSON *file, hac_text *text)
{
    static const hac_text_column columns[] = {{"column", false}, {"codec", false},       {"encodings", false},
                                              {"size", true},    {"uncompressed", true}, {"nulls", true},
                                              {"min", false},    {"max", false},         {"index of", false}};
    const cJSON *group;
    int index = 0;
    cJSON_ArrayForEach(group, hac_json_get_array(file, "row_groups"))
    {
        hac_text_table table = HAC_TEXT_TABLE(columns);
        if (index == HAC_REPORT_GROUPS_IN_FULL) {
            hac_text_add(text, "\nthe columns of further row groups: --json\n");
            return;
        }
        hac_text_addf(text, "\nrow group %d\n", index++);
        add_chunks(group, &table);
        hac_text_table_write(&table, text);
        hac_text_table_clear(&table);
    }
}

/* Adds a name as a schema writes it: bare, or in quotes. */
static void add_name(const char *name, hac_text *text)
{
    bool bare = *name != '\0' && !(*name >= '0' && *name <= '9');
    for (const char *at = name; *at != '\0'; at++)
        bare &= (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
                *at == '_' || (unsigned char)*at >= 0x80;
    if (bare)
        hac_text_add(text, name);
    else
        hac_text_add_name(text, name);
}

void hac_report_parquet_schema(const cJSON *file, hac_text *text)
{
    const cJSON *column;
    bool first = true;
    cJSON_ArrayForEach(column, hac_json_get_array(file, "columns"))
    {
        const char *name = hac_json_get_string(column, "name"), *type = hac_json_get_string(column, "type");
        if (name == NULL || type == NULL)
            continue;
        if (!first)
            hac_text_add_bytes(text, ",", 1);
        first = false;
        add_name(name, text);
        hac_text_addf(text, ":%s", type);
    }
}

void hac_report_parquet(const cJSON *file, hac_text *text)
{
    add_file(file, text);
    add_columns(file, text);
    add_groups(file, text);
    add_groups_in_full(file, text);
}
