/* SPDX-License-Identifier: Apache-2.0 */
/* Names that functions have in other databases. */
#ifndef EXPR_FOREIGN_NAMES_H
#define EXPR_FOREIGN_NAMES_H

/* What to write in place of that function; NULL: not known. */
const char *hac_foreign_name(const char *name);

#endif
