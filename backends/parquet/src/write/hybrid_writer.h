/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the RLE/bit-packed hybrid of levels and dictionary codes: runs of eight or more equal numbers are
 * stored once, numbers between them are packed in groups of eight. Appends without a leading length.
 * https://parquet.apache.org/docs/file-format/data-pages/encodings/ */
#ifndef PARQUET_HYBRID_WRITER_H
#define PARQUET_HYBRID_WRITER_H

#include "format/bytes.h"

/* Writes levels 0 and 1, one byte each. */
bool hac_hybrid_levels(hac_bytes *out, const uint8_t *levels, size_t n);

/* Writes codes below 2^width, width 1 … 32. There must be room for 7 codes behind the last one. */
bool hac_hybrid_codes(hac_bytes *out, uint32_t *codes, size_t n, unsigned width);

/* Packs n values 0 and 1 to bits, the lowest bit first. */
bool hac_pack_bools(hac_bytes *out, const uint8_t *values, size_t n);

#endif
