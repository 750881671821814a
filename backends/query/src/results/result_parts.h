/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A result in parts: each part of its rows is written by itself to a region, and the regions are joined to
 * the result. A region begins with a header; the part's bytes follow, text or the row groups of a Parquet
 * file, which are then described (parquet/join.h). The header of CSV is the beginning of the first part.
 */
#ifndef QUERY_RESULT_PARTS_H
#define QUERY_RESULT_PARTS_H

#include "codelet/codelet.h"
#include "finish_internal.h"

/* Rows of a part; the plan wanted `wanted`. Row groups of a chosen number of rows are not
 * divided. */
uint64_t hac_part_rows(const hac_query *query, uint64_t wanted);

/* Writes a part. *ret_bytes: the size of region that it needs; if it is above the capacity, the region is
 * empty. *ret_result: its bytes in the result, at most. `seed` is the job's. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_part_write(const hac_ordered_rows *rows, uint64_t number, uint64_t seed,
                                       uint8_t *region, uint64_t capacity, uint64_t *ret_bytes,
                                       uint64_t *ret_result, hac_error *err);

/* The regions of all parts, which another process has written and may change. */
typedef struct hac_result_parts {
    const hac_query *query;
    const uint8_t *regions;
    uint64_t region_bytes, n, seed;
} hac_result_parts;

/* Copies parts [first, first + count) to their places in the result. *ret_rows: rows of the whole result;
 * *ret_bytes: its bytes, 0 if these parts do not tell. If the result does not fit the capacity, nothing is
 * written. HAC_INVALID: a part is damaged. */
HAC_MUST_USE hac_status hac_parts_join(const hac_result_parts *parts, uint64_t first, uint64_t count,
                                       hac_span result, uint64_t *ret_rows, uint64_t *ret_bytes,
                                       hac_error *err);

#endif
