/* SPDX-License-Identifier: Apache-2.0 */
/* Messages for words of SQL that expressions do not have. */
#ifndef EXPR_INSTEAD_OF_SQL_H
#define EXPR_INSTEAD_OF_SQL_H

#include "lexer.h"

/* What to write in place of SQL that stands at the token, or that `text` begins with; "": none is known. */
const char *hac_instead_of_sql(const hac_token *token, const char *text);

#endif
