/* SPDX-License-Identifier: Apache-2.0 */
#include "expr/schema.h"

#include <stdlib.h>
#include <string.h>

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
