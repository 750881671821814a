/* SPDX-License-Identifier: Apache-2.0 */
#include "column_hint.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { SHOWN = 3 };

/* Lists columns that are members of the object. Returns their number. */
static size_t list_members(const hac_schema *schema, const char *name, char *ret, size_t capacity)
{
    size_t used = 0, members = 0, bytes = strlen(name);
    for (size_t i = 0; bytes > 0 && i < schema->n_fields; i++) {
        const char *column = schema->fields[i].name;
        if (strncasecmp(column, name, bytes) != 0 || column[bytes] != '.')
            continue;
        if (members < SHOWN)
            used += (size_t)snprintf(ret + used, capacity - used, "%s%s", members > 0 ? ", " : "", column);
        members++;
    }
    if (members > SHOWN)
        snprintf(ret + used, capacity - used, ", …");
    return members;
}

bool hac_column_hint(const hac_schema *schema, bool json, const char *name, char ret[HAC_COLUMN_HINT_MAX])
{
    char members[SHOWN * (HAC_FIELD_NAME_MAX + 2) + sizeof ", …"];
    if (schema != NULL && list_members(schema, name, members, sizeof members) > 0) {
        int n =
            snprintf(ret, HAC_COLUMN_HINT_MAX, "'%.128s' is an object; name its members: %s", name, members);
        if (json)
            snprintf(ret + n, HAC_COLUMN_HINT_MAX - (size_t)n, " (--schema '%.128s:string' reads it as text)",
                     name);
        return true;
    }
    bool day = strcasecmp(name, "current_date") == 0;
    if (!day && strcasecmp(name, "current_timestamp") != 0)
        return false;
    snprintf(ret, HAC_COLUMN_HINT_MAX, "there is no %s: a query gives the same answer each time; write %s",
             name, day ? "date '2024-01-31'" : "timestamp '2024-01-31 12:00:00'");
    return true;
}
