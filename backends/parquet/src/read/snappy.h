/* SPDX-License-Identifier: Apache-2.0 */
/* Decompresses snappy's raw format into buffers with slack: copies are 8 or 16 bytes at a time regardless of
 * their length. This is faster than the library, which must stop exactly at the end. */
#ifndef PARQUET_SNAPPY_H
#define PARQUET_SNAPPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns whether all bytes give exactly ret_bytes. HAC_PARQUET_SLACK bytes behind `from` may be read, and as
 * many behind `ret` are overwritten. */
bool hac_parquet_snappy(const uint8_t *from, size_t bytes, uint8_t *ret, size_t ret_bytes);

#endif
