/* SPDX-License-Identifier: Apache-2.0 */
/* Decompression of pages. What comes out must be exactly as long as the page's header says. */
#ifndef PARQUET_CODEC_H
#define PARQUET_CODEC_H

#include "parquet/file.h"

/* What decompressors keep from page to page; all zero at first. Not shared by threads. */
typedef struct hac_parquet_codecs {
    void *deflate, *zstd;
} hac_parquet_codecs;

void hac_parquet_codecs_clear(hac_parquet_codecs *codecs);

/* HAC_OK, or HAC_FAILED: "its codec is not read: LZO (number 3)". */
HAC_MUST_USE hac_status hac_parquet_codec_known(uint8_t codec, hac_error *err);

/* HAC_FAILED: damaged, or of another size; HAC_NO_MEMORY. HAC_PARQUET_SLACK bytes behind `from` may be read,
 * as many behind `ret` overwritten. */
HAC_MUST_USE hac_status hac_parquet_decompress(hac_parquet_codecs *codecs, uint8_t codec, const uint8_t *from,
                                               size_t bytes, uint8_t *ret, size_t ret_bytes, hac_error *err);

#endif
