/* SPDX-License-Identifier: Apache-2.0 */
#include "object_members.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

bool hac_list_members(const hac_schema *schema, const char *name, size_t bytes,
                      char ret[HAC_MEMBERS_TEXT_MAX])
{
    size_t used = 0, members = 0;
    for (size_t i = 0; bytes > 0 && i < schema->n_fields; i++) {
        const char *column = schema->fields[i].name;
        if (strncasecmp(column, name, bytes) != 0 || column[bytes] != '.')
            continue;
        if (members < HAC_MEMBERS_SHOWN)
            used += (size_t)snprintf(ret + used, HAC_MEMBERS_TEXT_MAX - used, "%s%s", members > 0 ? ", " : "",
                                     column);
        members++;
    }
    if (members > HAC_MEMBERS_SHOWN)
        snprintf(ret + used, HAC_MEMBERS_TEXT_MAX - used, ", …");
    return members > 0;
}
