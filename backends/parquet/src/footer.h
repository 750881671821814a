/* SPDX-License-Identifier: Apache-2.0 */
/* FileMetaData: from a footer's bytes to the leaves and row groups of a file. */
#ifndef PARQUET_FOOTER_H
#define PARQUET_FOOTER_H

#include "base/arena.h"
#include "parquet/file.h"

/* Fills in leaves, groups, rows and created_by; file->place is there. `data` is kept in the arena: slices
 * point into it. Bytes behind the metadata (a signature) are left alone. HAC_FAILED: damaged, or encrypted.
 */
HAC_MUST_USE hac_status hac_parquet_footer_read(hac_parquet_file *file, hac_arena *arena, const uint8_t *data,
                                                size_t bytes, hac_error *err);

#endif
