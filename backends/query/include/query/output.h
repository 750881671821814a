/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results as bytes:
 *
 *   csv         RFC 4180; null is an empty field, an empty string is ""; shortest floats; strings that are
 * not UTF-8 as they are json        one object a line; decimals as numbers, dates as strings, NaN and
 * infinities as strings, bytes that are not UTF-8 as U+FFFD tsv         no header; null is \N, and \t \n \r
 * \\ are escapes, so that tsv sources read it back (but an empty string of one column is an empty field)
 *   typedbytes  the first column is the key, the second the value; more make the value a vector, none an
 * empty string. bool is 2, i8 1, i16 i32 u8 u16 3, i64 u32 4, u64 4 or its digits, f32 5, f64 6, bytes and
 * nulls (of no bytes) 0; all others are strings, as csv has them
 */
#ifndef QUERY_OUTPUT_H
#define QUERY_OUTPUT_H

#include "expr/query.h"
#include "expr/schema.h"
#include "expr/vector.h"

/* Where text goes: memory of a fixed size. What does not fit is counted, not written. */
typedef struct hac_output {
    uint8_t *data;
    uint64_t room, bytes; /* bytes > room: that many were wanted */
} hac_output;

/* The header line (CSV; the others have none). */
void hac_output_header(hac_output *output, hac_output_format format, const hac_schema *schema,
                       size_t n_visible);
/* The rows of a batch whose first n_visible columns are the schema's. No row may have a state above
 * HAC_ROW_NULL. */
void hac_output_rows(hac_output *output, hac_output_format format, const hac_schema *schema, size_t n_visible,
                     const hac_vector *columns, size_t rows);

#endif
