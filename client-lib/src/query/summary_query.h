/* SPDX-License-Identifier: Apache-2.0 */
/* The query that summarizes the columns of a source (hac_query_options.summary). */
#ifndef CLIENT_SUMMARY_QUERY_H
#define CLIENT_SUMMARY_QUERY_H

#include <hac/hac.h>

#include "compile_query.h"

/* Finds all columns of a source with the types that the query reads them as. The caller clears *ret. */
HAC_MUST_USE hac_status hac_summary_columns(const hac_query_options *options,
                                            const hac_source_columns *columns, hac_schema *ret,
                                            hac_error *err);

/* Writes the `select` of a summary of the columns from options->summary_first on, as many as a query has room
 * for; for HAC_SUMMARY_COLUMNS one that reads next to nothing. The caller frees *ret. HAC_INVALID: the source
 * has no such column. */
HAC_MUST_USE hac_status hac_summary_select(const hac_query_options *options, const hac_schema *columns,
                                           char **ret, hac_error *err);

#endif
