/* SPDX-License-Identifier: Apache-2.0 */
/* Columns that are members of an object: user.id, user.name. */
#ifndef EXPR_OBJECT_MEMBERS_H
#define EXPR_OBJECT_MEMBERS_H

#include <stdbool.h>

#include "expr/schema.h"

#define HAC_MEMBERS_SHOWN    3
#define HAC_MEMBERS_TEXT_MAX (HAC_MEMBERS_SHOWN * (HAC_FIELD_NAME_MAX + 2) + 8)

/* Lists the first columns that are members of the object with that name. False: there are none. */
bool hac_list_members(const hac_schema *schema, const char *name, size_t bytes,
                      char ret[HAC_MEMBERS_TEXT_MAX]);

#endif
