/* SPDX-License-Identifier: Apache-2.0 */
/* Widths of stored values, for reading and writing. */
#ifndef PARQUET_SIZES_H
#define PARQUET_SIZES_H

#include "parquet/file.h"

/* Bytes of a PLAIN value; FIXED: type_length; 0 for BOOLEAN (bits) and BYTE_ARRAY (a length, then bytes). */
size_t hac_parquet_width(uint8_t physical, uint32_t type_length);

/* Bits for numbers up to `max`: 0 for 0. */
unsigned hac_parquet_bits(uint64_t max);

#endif
