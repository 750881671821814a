/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the parts of a query fit together: everything that an engine relies on. */
#ifndef EXPR_QUERY_VERIFY_H
#define EXPR_QUERY_VERIFY_H

#include "expr/query.h"

/* The programs are verified already. HAC_INVALID: the message says what does not fit. */
HAC_MUST_USE hac_status hac_query_verify(const hac_query *query, hac_error *err);
/* Whether sources of the format make a row of each element of a list that is text (HAC_LIST_UNNEST). */
bool hac_query_unnests(hac_input_format format);

#endif
