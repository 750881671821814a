/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results as text.
 *
 *   csv         RFC 4180. Null is an empty field, an empty string is "". Floats are as short as possible.
 *               Strings that are not UTF-8 are written unchanged.
 *   json        one object a line. Decimals are numbers, dates are strings, NaN and infinities are strings;
 *               bytes that are not UTF-8 become U+FFFD.
 *   tsv         no header. Null is \N, and \t \n \r \\ are escapes, so that a tsv source reads it back
 *               (except an empty string in a single column, which is an empty field). tsv_named has a header
 *               line.
 *   markdown    a table of GitHub's Markdown, numbers aligned on the right. Null and "" are empty cells; the
 *               backslash and | are escaped, < and & are entities, a line feed is <br>.
 *   typedbytes  the first column is the key, the second the value. More columns make the value a vector; with
 *               one column the value is an empty string. Type codes: bool 2; i8 1; i16 i32 u8 u16 3;
 *               i64 u32 4; u64 4, or its digits as a string; f32 5; f64 6; bytes 0; null 0 without bytes. All
 *               other types are strings, written as in csv.
 */
#ifndef QUERY_OUTPUT_H
#define QUERY_OUTPUT_H

#include "expr/column.h"
#include "expr/query.h"
#include "expr/schema.h"

/* Text in memory of a fixed size. Text that does not fit is counted and not written. */
typedef struct hac_output_buffer {
    uint8_t *data;
    uint64_t capacity, bytes; /* bytes > capacity: that many are needed */
} hac_output_buffer;

/* Writes the names of the columns, in formats that have a header: csv, tsv_named, markdown. */
void hac_output_header(hac_output_buffer *output, hac_result_format format, const hac_schema *schema,
                       size_t n_visible);
/* Writes the rows of a batch whose first n_visible columns are the schema's. All states must be HAC_ROW_OK or
 * HAC_ROW_NULL. */
void hac_output_rows(hac_output_buffer *output, hac_result_format format, const hac_schema *schema,
                     size_t n_visible, const hac_column *columns, size_t rows);

#endif
