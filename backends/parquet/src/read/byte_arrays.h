/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes the encodings of BYTE_ARRAY to refs. With PLAIN and DELTA_LENGTH_BYTE_ARRAY, refs point into the
 * page, which is in a string buffer; values of DELTA_BYTE_ARRAY are assembled in the string buffer, and their
 * page is elsewhere. */
#ifndef PARQUET_BYTE_ARRAYS_H
#define PARQUET_BYTE_ARRAYS_H

#include "delta.h"
#include "expr/column.h"
#include "string_buffer.h"

#define HAC_PARQUET_SCRATCH (HAC_BATCH_ROWS + 32) /* numbers: decoders write up to 31 more than requested */

typedef enum hac_byte_arrays_kind {
    HAC_BYTE_ARRAYS_PLAIN,
    HAC_BYTE_ARRAYS_LENGTHS,
    HAC_BYTE_ARRAYS_PREFIXES,
} hac_byte_arrays_kind;

typedef struct hac_byte_arrays {
    hac_byte_arrays_kind kind;
    hac_string_buffer *strings;
    uint64_t at_once; /* maximum size of values assembled by one call */
    size_t at, end;   /* the remaining bytes: offsets in the string buffer; PREFIXES: in `data` */
    const uint8_t *data;
    hac_parquet_delta lengths, prefixes;
} hac_byte_arrays;

/* The last value, kept across pages: some old writers continue from the previous page. */
typedef struct hac_parquet_last {
    uint8_t *data;
    size_t bytes, size;
} hac_parquet_last;

/* PLAIN and LENGTHS: the page's values are [at, at + bytes) of the string buffer. */
HAC_MUST_USE hac_status hac_byte_arrays_begin(hac_byte_arrays *t, hac_byte_arrays_kind kind,
                                              const hac_parquet_kernels *kernels, hac_string_buffer *strings,
                                              size_t at, size_t bytes, hac_error *err);
/* PREFIXES: the page's values are data[0 … bytes). */
HAC_MUST_USE hac_status hac_byte_arrays_begin_prefixes(hac_byte_arrays *t, const hac_parquet_kernels *kernels,
                                                       hac_string_buffer *strings, uint64_t at_once,
                                                       const uint8_t *data, size_t bytes, hac_error *err);

/* Reads the next n (≤ HAC_BATCH_ROWS) values; ret NULL: skips them. With PREFIXES the values are adjacent. */
HAC_MUST_USE hac_status hac_byte_arrays_get(hac_byte_arrays *t, hac_parquet_last *last, size_t n,
                                            hac_string_ref *ret, hac_error *err);

#endif
