/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiles the query of an input that is sent in splits. If only the input defines the columns, the client
 * reads the first records, and gives the bytes back to the input so that they are read again.
 */
#ifndef CLIENT_FIRST_RECORDS_H
#define CLIENT_FIRST_RECORDS_H

#include "input_list.h"
#include "query/query.h"

/* Compiles the query. If the query needs the first records, the function opens inputs until one has bytes.
 * The caller frees *ret. HAC_CANCELLED: stop_fd is readable. */
HAC_MUST_USE hac_status hac_first_records_compile(hac_client *client, hac_input_list *inputs,
                                                  const hac_query_options *options, hac_compiled_query **ret,
                                                  hac_error *err);

#endif
