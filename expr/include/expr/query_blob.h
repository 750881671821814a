/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A compiled query as it travels from the client to the codelets, which have it as inline data of every task
 * (base/query_layout.h): a header, the query (hac_query_write) padded to 8 bytes, then, if its source is a
 * table, the table's columns. hacd hands the bytes on and does not look into them.
 */
#ifndef EXPR_QUERY_BLOB_H
#define EXPR_QUERY_BLOB_H

#include "base/table.h"
#include "expr/query.h"

#define HAC_QUERY_BLOB_MAGIC UINT64_C(0x3159525551434148) /* "HACQURY1" */

typedef struct hac_query_blob {
    uint64_t magic;
    uint32_t query_bytes;
    uint32_t n_columns; /* hac_query_blob_column behind the query; 0: no table */
} hac_query_blob;

typedef struct hac_query_blob_column {
    uint8_t kind, precision, scale, large;
    uint32_t unused;
    uint64_t validity, values, bytes, n_bytes;
} hac_query_blob_column;

/* Reads a blob at the front of `data`; what lies behind it is a source. Verifies everything. The caller frees
 * the query and the table's columns. */
HAC_MUST_USE hac_status hac_query_blob_read(const uint8_t *data, size_t bytes, hac_query **ret_query,
                                            hac_table *ret_table, hac_error *err);
/* Writes at most `size` bytes. `table` may be NULL. */
HAC_MUST_USE hac_status hac_query_blob_write(const hac_query *query, const hac_table *table, uint8_t *ret,
                                             size_t size, size_t *ret_bytes, hac_error *err);

#endif
