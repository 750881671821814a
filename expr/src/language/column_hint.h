/* SPDX-License-Identifier: Apache-2.0 */
/* What to write for a name that is no column's. */
#ifndef EXPR_COLUMN_HINT_H
#define EXPR_COLUMN_HINT_H

#include <stdbool.h>

#include "expr/schema.h"

#define HAC_COLUMN_HINT_MAX 1024

/* For the name of an object that has columns as its members, user of user.id, and for SQL's words for the
 * present time. `schema` may be NULL. `json`: the source is JSON, whose objects can be read as text. False:
 * there is nothing to say. */
bool hac_column_hint(const hac_schema *schema, bool json, const char *name, char ret[HAC_COLUMN_HINT_MAX]);

#endif
