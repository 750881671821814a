/* SPDX-License-Identifier: Apache-2.0 */
/* Decompresses pages. The result must have exactly the size of the page's header. */
#ifndef PARQUET_CODEC_H
#define PARQUET_CODEC_H

#include "parquet/file.h"

/* State of decompressors, kept from page to page; zero-initialised. Not shared by threads. */
typedef struct hac_parquet_codecs {
    void *deflate, *zstd;
} hac_parquet_codecs;

void hac_parquet_codecs_clear(hac_parquet_codecs *codecs);

/* Checks a codec. HAC_FAILED: "its codec is not read: LZO (number 3)". */
HAC_MUST_USE hac_status hac_parquet_codec_known(uint8_t codec, hac_error *err);

/* HAC_FAILED: damaged, or of another size; HAC_NO_MEMORY. Up to HAC_PARQUET_SLACK bytes behind `from` may be
 * read, and as many behind `ret` overwritten. */
HAC_MUST_USE hac_status hac_parquet_decompress(hac_parquet_codecs *codecs, uint8_t codec, const uint8_t *from,
                                               size_t bytes, uint8_t *ret, size_t ret_bytes, hac_error *err);

#endif
