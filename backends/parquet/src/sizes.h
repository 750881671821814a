/* SPDX-License-Identifier: Apache-2.0 */
/* Widths of stored values, which reading and writing share. */
#ifndef PARQUET_SIZES_H
#define PARQUET_SIZES_H

#include "parquet/file.h"

/* Bytes of a PLAIN value; FIXED: type_length; 0 of BOOLEAN (bits) and BYTE_ARRAY (a length and so many). */
size_t hac_parquet_width(uint8_t physical, uint32_t type_length);

/* Bits that numbers up to `most` need: 0 for 0. */
unsigned hac_parquet_bits(uint64_t most);

#endif
