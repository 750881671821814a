/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled queries for tests of codelets, as a client makes them. */
#ifndef QUERY_COMPILE_SUPPORT_H
#define QUERY_COMPILE_SUPPORT_H

#include "base/query_layout.h"
#include "expr/query_blob.h"
#include "query/codelets.h"

/* Writes the query to `ret`, which has HAC_INLINE_MAX bytes; *ret_bytes of them are used. *ret_aggregates may
 * be NULL. `columns` and `table` may be NULL. */
static inline hac_status compile_blob(const hac_query_text *text, const hac_schema *columns,
                                      const hac_table *table, uint8_t *ret, size_t *ret_bytes,
                                      bool *ret_aggregates, hac_error *err)
{
    hac_query *query = NULL;
    hac_status status = hac_query_compile(text, columns, &query, err);
    if (status == HAC_OK && ret_aggregates != NULL)
        *ret_aggregates = query->aggregates;
    if (status == HAC_OK)
        status = hac_query_blob_write(query, table, ret, HAC_INLINE_MAX, ret_bytes, err);
    hac_query_free(query);
    return status;
}

#endif
