/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the names in the header line of csv and tsv text, so that the client can compile a query without
 * asking hacd for the columns. The client accepts only a line that is clearly a header. For any other line,
 * the executor's reader reports the error.
 */
#ifndef CLIENT_HEADER_NAMES_H
#define CLIENT_HEADER_NAMES_H

#include <hac/hac.h>

#include "expr/schema.h"

/*
 * Reads the names at the start of `data`. `whole`: the input ends after `bytes` bytes. Every column is a
 * string. A name is truncated to HAC_FIELD_NAME_MAX - 1 bytes, as in the executor. HAC_NOT_FOUND: the line
 * does not end within `data`, or is not clearly a header.
 */
HAC_MUST_USE hac_status hac_header_names(const hac_query_options *options, const uint8_t *data, size_t bytes,
                                         bool whole, hac_schema *ret, hac_error *err);

#endif
