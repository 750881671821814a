/* SPDX-License-Identifier: Apache-2.0 */
/* Which program wrote a file: because of known bugs, some metadata of some writers is not trusted. */
#ifndef PARQUET_CREATED_BY_H
#define PARQUET_CREATED_BY_H

#include "parquet/file.h"

/* The hac_parquet_doubts about files with that created_by: those of all rows of the table of writers that
 * match. "parquet-mr version 1.8.1 (build …)" is parquet-mr before 1.10.0. A writer without a version counts
 * as older than all versions. */
uint8_t hac_parquet_doubts_about(const char *created_by);

/* Whether doubts about the writer make the bounds of such values useless, in statistics and page indexes. */
bool hac_parquet_doubtful_bounds(uint8_t doubts, const hac_parquet_leaf *leaf);

/* Whether values compare like signed numbers of their physical type. */
bool hac_parquet_is_signed(const hac_parquet_leaf *leaf);

#endif
