/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The RLE/bit-packed hybrid of levels and dictionary codes: runs of eight equal numbers or more are stored
 * once, what lies between is packed in groups of eight. Appends, without a length in front.
 * https://parquet.apache.org/docs/file-format/data-pages/encodings/
 */
#ifndef PARQUET_HYBRID_WRITER_H
#define PARQUET_HYBRID_WRITER_H

#include "bytes.h"

/* Levels of 0 and 1, a byte each. */
bool hac_hybrid_levels(hac_bytes *out, const uint8_t *levels, size_t n);

/* Codes below 2^width, width 1 … 32. There is room for 7 codes behind the last. */
bool hac_hybrid_codes(hac_bytes *out, uint32_t *codes, size_t n, unsigned width);

/* n values of 0 and 1 to bits, the lowest first. */
bool hac_pack_bools(hac_bytes *out, const uint8_t *values, size_t n);

#endif
