/* SPDX-License-Identifier: Apache-2.0 */
#include "report_parquet.h"

#include <math.h>
#include <string.h>

#include "grid.h"
#include "human.h"

static void add_bytes(hac_grid *grid, const cJSON *object, const char *key)
{
    char buffer[HAC_HUMAN_MAX];
    hac_grid_add(grid, hac_human_bytes(hac_read_number(object, key), buffer));
}

static void add_count(hac_grid *grid, const cJSON *object, const char *key)
{
    double number = hac_read_number(object, key);
    if (isfinite(number))
        hac_grid_addf(grid, "%.0f", number);
    else
        hac_grid_add(grid, NULL);
}

static int group_count(const cJSON *file)
{
    return cJSON_GetArraySize(hac_read_array(file, "row_groups"));
}

static void add_file(const cJSON *file, hac_text *text)
{
    char bytes[HAC_HUMAN_MAX];
    const char *writer = hac_read_string(file, "created_by");
    hac_autofree char *copy = writer != NULL && *writer != '\0' ? strdup(writer) : NULL;
    int groups = group_count(file);
    hac_text_addf(text, "%.0f rows of %d columns in %d row group%s, %s\n", hac_read_number(file, "rows"),
                  cJSON_GetArraySize(hac_read_array(file, "columns")), groups, groups == 1 ? "" : "s",
                  hac_human_bytes(hac_read_number(file, "bytes"), bytes));
    if (copy == NULL)
        return;
    hac_grid_sanitise(copy, false);
    hac_text_addf(text, "written by %s\n", copy);
}

/* Types as expressions have them, and as the file has them. */
static void add_columns(const cJSON *file, hac_text *text)
{
    static const hac_column columns[] = {
        {"column", false}, {"type", false}, {"stored as", false}, {"nulls", false}, {"note", false}};
    hac_grid grid = HAC_GRID(columns);
    const cJSON *column;
    cJSON_ArrayForEach(column, hac_read_array(file, "columns"))
    {
        const char *logical = hac_read_string(column, "logical"),
                   *why = hac_read_string(column, "why_not_read");
        const char *physical = hac_read_string(column, "physical");
        double length = hac_read_number(column, "length");
        char fixed[HAC_HUMAN_MAX] = "";
        if (isfinite(length))
            snprintf(fixed, sizeof fixed, "(%.0f)", length);
        hac_grid_add(&grid, hac_read_string(column, "name"));
        hac_grid_add(&grid, hac_read_string(column, "type"));
        hac_grid_addf(&grid, "%s%s%s%s", physical != NULL ? physical : "-", fixed,
                      logical != NULL ? ", " : "", logical != NULL ? logical : "");
        hac_grid_add(&grid, hac_read_bool(column, "nullable", true) ? "possible" : "none");
        if (why != NULL)
            hac_grid_addf(&grid, "not read: %s", why);
        else
            hac_grid_add(&grid, NULL);
    }
    hac_text_add(text, "\n");
    hac_grid_write(&grid, text);
    hac_grid_clear(&grid);
}

static void add_groups(const cJSON *file, hac_text *text)
{
    static const hac_column columns[] = {
        {"row group", true}, {"rows", true}, {"from byte", true}, {"size", true}, {"uncompressed", true}};
    hac_grid grid = HAC_GRID(columns);
    const cJSON *group;
    int index = 0, groups = group_count(file);
    cJSON_ArrayForEach(group, hac_read_array(file, "row_groups"))
    {
        if (index == HAC_REPORT_GROUPS)
            break;
        hac_grid_addf(&grid, "%d", index++);
        add_count(&grid, group, "rows");
        add_count(&grid, group, "offset");
        add_bytes(&grid, group, "bytes");
        add_bytes(&grid, group, "uncompressed_bytes");
    }
    if (groups > 0) {
        hac_text_add(text, "\n");
        hac_grid_write(&grid, text);
    }
    if (groups > index)
        hac_text_addf(text, "… and %d more row groups; --json has all\n", groups - index);
    hac_grid_clear(&grid);
}

/* What helps to leave out parts of it. */
static void add_indexes(hac_grid *grid, const cJSON *chunk)
{
    static const char *const keys[] = {"column_index", "bloom_filter"};
    static const char *const names[] = {"pages", "bloom"};
    char all[32] = "";
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (hac_read_bool(chunk, keys[i], false))
            snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", *all != '\0' ? ", " : "", names[i]);
    hac_grid_add(grid, all);
}

static void add_chunks(const cJSON *group, hac_grid *grid)
{
    const cJSON *chunk;
    cJSON_ArrayForEach(chunk, hac_read_array(group, "columns"))
    {
        hac_autofree char *encodings = hac_read_joined(chunk, "encodings");
        const char *why = hac_read_string(chunk, "why_not_read");
        hac_grid_add(grid, hac_read_string(chunk, "column"));
        hac_grid_add(grid, hac_read_string(chunk, "codec"));
        if (why != NULL)
            hac_grid_addf(grid, "not read: %s", why);
        else
            hac_grid_add(grid, encodings);
        add_bytes(grid, chunk, "bytes");
        add_bytes(grid, chunk, "uncompressed_bytes");
        add_count(grid, chunk, "nulls");
        hac_grid_add(grid, hac_read_string(chunk, "min"));
        hac_grid_add(grid, hac_read_string(chunk, "max"));
        add_indexes(grid, chunk);
    }
}

static void add_groups_in_full(const cJSON *file, hac_text *text)
{
    static const hac_column columns[] = {{"column", false}, {"codec", false},       {"encodings", false},
                                         {"size", true},    {"uncompressed", true}, {"nulls", true},
                                         {"least", false},  {"greatest", false},    {"index of", false}};
    const cJSON *group;
    int index = 0;
    cJSON_ArrayForEach(group, hac_read_array(file, "row_groups"))
    {
        hac_grid grid = HAC_GRID(columns);
        if (index == HAC_REPORT_GROUPS_IN_FULL) {
            hac_text_add(text, "\nthe columns of further row groups: --json\n");
            return;
        }
        hac_text_addf(text, "\nrow group %d\n", index++);
        add_chunks(group, &grid);
        hac_grid_write(&grid, text);
        hac_grid_clear(&grid);
    }
}

/* As a schema has names: bare, or in quotes. */
static void add_name(const char *name, hac_text *text)
{
    bool bare = *name != '\0' && !(*name >= '0' && *name <= '9');
    for (const char *at = name; *at != '\0'; at++)
        bare &= (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
                *at == '_' || (unsigned char)*at >= 0x80;
    if (bare) {
        hac_text_addf(text, "%s", name);
        return;
    }
    hac_text_add_bytes(text, "\"", 1);
    for (const char *at = name; *at != '\0'; at++)
        hac_text_add_bytes(text, *at == '"' ? "\"\"" : at, *at == '"' ? 2 : 1);
    hac_text_add_bytes(text, "\"", 1);
}

void hac_report_parquet_schema(const cJSON *file, hac_text *text)
{
    const cJSON *column;
    bool first = true;
    cJSON_ArrayForEach(column, hac_read_array(file, "columns"))
    {
        const char *name = hac_read_string(column, "name"), *type = hac_read_string(column, "type");
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
