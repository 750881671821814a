/* SPDX-License-Identifier: Apache-2.0 */
#include "expr/schema.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

void hac_schema_clear(hac_schema *schema)
{
    free(schema->fields);
    *schema = (hac_schema){NULL, 0};
}

int hac_schema_find(const hac_schema *schema, const char *name, size_t bytes)
{
    for (size_t i = 0; i < schema->n_fields; i++)
        if (strlen(schema->fields[i].name) == bytes && memcmp(schema->fields[i].name, name, bytes) == 0)
            return (int)i;
    return -1;
}

int hac_find_name(const void *list, size_t n, const char *(*name_at)(const void *list, size_t i),
                  const char *name, size_t bytes)
{
    int other_case = -1;
    size_t others = 0;
    for (size_t i = 0; i < n; i++) {
        const char *at = name_at(list, i);
        if (strlen(at) != bytes)
            continue;
        if (memcmp(at, name, bytes) == 0)
            return (int)i;
        if (strncasecmp(at, name, bytes) == 0) {
            other_case = (int)i;
            others++;
        }
    }
    return others == 1 ? other_case : -1;
}

const char *hac_field_name(const void *schema, size_t i)
{
    return ((const hac_schema *)schema)->fields[i].name;
}

int hac_schema_find_any_case(const hac_schema *schema, const char *name, size_t bytes)
{
    return hac_find_name(schema, schema->n_fields, hac_field_name, name, bytes);
}

hac_status hac_schema_add_path(hac_schema *schema, const hac_schema *path, hac_error *err)
{
    size_t n = 0;
    if (path->n_fields == 0)
        return HAC_OK;
    for (size_t i = 0; i < schema->n_fields; i++)
        if (hac_schema_find(path, schema->fields[i].name, strlen(schema->fields[i].name)) < 0)
            schema->fields[n++] = schema->fields[i];
    schema->n_fields = n;
    hac_field *fields = realloc(schema->fields, (n + path->n_fields) * sizeof *fields);
    if (fields == NULL)
        return hac_fail_no_memory(err);
    memcpy(fields + n, path->fields, path->n_fields * sizeof *fields);
    *schema = (hac_schema){fields, n + path->n_fields};
    for (; n < schema->n_fields; n++)
        schema->fields[n].in_path = true;
    return HAC_OK;
}
