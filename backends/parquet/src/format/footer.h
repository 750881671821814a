/* SPDX-License-Identifier: Apache-2.0 */
/* Parses FileMetaData: a footer's bytes become the leaves and row groups of a file. */
#ifndef PARQUET_FOOTER_H
#define PARQUET_FOOTER_H

#include "base/arena.h"
#include "parquet/file.h"

/* Sets leaves, groups, rows and created_by; file->place is set by the caller. `data` is kept in the arena,
 * because slices point into it. Bytes behind the metadata (a signature) are ignored. HAC_FAILED: damaged or
 * encrypted. */
HAC_MUST_USE hac_status hac_parquet_footer_read(hac_parquet_file *file, hac_arena *arena, const uint8_t *data,
                                                size_t bytes, hac_error *err);

#endif
