/* SPDX-License-Identifier: Apache-2.0 */
/* Names that functions have in other databases. */
#ifndef EXPR_FOREIGN_NAMES_H
#define EXPR_FOREIGN_NAMES_H

#include <stddef.h>

/* What to write in place of that function. With = before it, the function is there and is written so. NULL:
 * not known. */
const char *hac_foreign_name(const char *name);

/* The rows of the table: ret[0] is the name, ret[1] what to write. NULL: there are no more. */
const char *const *hac_foreign_names_row(size_t index);

#endif
