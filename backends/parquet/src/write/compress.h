/* SPDX-License-Identifier: Apache-2.0 */
/* Compresses pages. Each thread has a compressor, which keeps the codec's memory. */
#ifndef PARQUET_COMPRESS_H
#define PARQUET_COMPRESS_H

#include "base/error.h"
#include "format/bytes.h"
#include "parquet/file.h"

typedef struct hac_compressor {
    hac_parquet_codec codec;
    void *state; /* ZSTD_CCtx or libdeflate_compressor, made at the first use */
} hac_compressor;

/* Whether pages can be written with this codec. */
bool hac_compressor_knows(unsigned codec);
void hac_compressor_clear(hac_compressor *compressor);

/* Compresses `bytes` bytes of data to *ret. HAC_NO_MEMORY; HAC_INTERNAL: the codec failed. */
HAC_MUST_USE hac_status hac_compress(hac_compressor *compressor, const uint8_t *data, size_t bytes,
                                     hac_bytes *ret, hac_error *err);

/* The CRC of a page, the same as in gzip. */
uint32_t hac_page_crc(const uint8_t *data, size_t bytes);

#endif
