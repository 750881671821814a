/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decompression of snappy's raw format, where what stands behind both buffers is ours: copies are of 8 and 16
 * bytes whatever their length is. So it is faster than the library's, which has to stop at the end.
 */
#ifndef PARQUET_SNAPPY_H
#define PARQUET_SNAPPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether exactly ret_bytes came out of all the bytes. HAC_PARQUET_SLACK bytes behind `from` may be read, as
 * many behind `ret` are overwritten. */
bool hac_parquet_snappy(const uint8_t *from, size_t bytes, uint8_t *ret, size_t ret_bytes);

#endif
