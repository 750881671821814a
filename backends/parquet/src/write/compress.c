/* SPDX-License-Identifier: Apache-2.0 */
#include "compress.h"

#include <libdeflate.h>
#include <lz4.h>
#include <snappy-c.h>
#include <zstd.h>

enum { ZSTD_LEVEL = 1, GZIP_LEVEL = 6 };

bool hac_compressor_knows(unsigned codec)
{
    return codec == HAC_PARQUET_UNCOMPRESSED || codec == HAC_PARQUET_SNAPPY || codec == HAC_PARQUET_GZIP ||
           codec == HAC_PARQUET_ZSTD || codec == HAC_PARQUET_LZ4_RAW;
}

void hac_compressor_clear(hac_compressor *compressor)
{
    if (compressor->codec == HAC_PARQUET_ZSTD)
        ZSTD_freeCCtx(compressor->state);
    else if (compressor->codec == HAC_PARQUET_GZIP && compressor->state != NULL)
        libdeflate_free_compressor(compressor->state);
    compressor->state = NULL;
}

static bool make_state(hac_compressor *compressor)
{
    if (compressor->state != NULL)
        return true;
    if (compressor->codec == HAC_PARQUET_ZSTD)
        compressor->state = ZSTD_createCCtx();
    else if (compressor->codec == HAC_PARQUET_GZIP)
        compressor->state = libdeflate_alloc_compressor(GZIP_LEVEL);
    else
        return true;
    return compressor->state != NULL;
}

static size_t max(const hac_compressor *compressor, size_t bytes)
{
    switch (compressor->codec) {
    case HAC_PARQUET_SNAPPY:
        return snappy_max_compressed_length(bytes);
    case HAC_PARQUET_GZIP:
        return libdeflate_gzip_compress_bound(compressor->state, bytes);
    case HAC_PARQUET_ZSTD:
        return ZSTD_compressBound(bytes);
    case HAC_PARQUET_LZ4_RAW:
        return (size_t)LZ4_compressBound((int)bytes);
    default:
        return bytes;
    }
}

/* Returns the compressed size; 0: the codec failed (no codec compresses to 0 bytes, even if the input is
 * empty). */
static size_t apply(hac_compressor *compressor, const uint8_t *data, size_t bytes, uint8_t *ret,
                    size_t capacity)
{
    size_t size = capacity;
    switch (compressor->codec) {
    case HAC_PARQUET_SNAPPY:
        return snappy_compress((const char *)data, bytes, (char *)ret, &size) == SNAPPY_OK ? size : 0;
    case HAC_PARQUET_GZIP:
        return libdeflate_gzip_compress(compressor->state, data, bytes, ret, capacity);
    case HAC_PARQUET_ZSTD:
        size = ZSTD_compressCCtx(compressor->state, ret, capacity, data, bytes, ZSTD_LEVEL);
        return ZSTD_isError(size) ? 0 : size;
    default:
        return (size_t)LZ4_compress_default((const char *)data, (char *)ret, (int)bytes, (int)capacity);
    }
}

hac_status hac_compress(hac_compressor *compressor, const uint8_t *data, size_t bytes, hac_bytes *ret,
                        hac_error *err)
{
    ret->n = 0;
    if (compressor->codec == HAC_PARQUET_UNCOMPRESSED)
        return hac_bytes_add(ret, data, bytes) ? HAC_OK : hac_fail_no_memory(err);
    if (!make_state(compressor))
        return hac_fail_no_memory(err);
    size_t capacity = max(compressor, bytes);
    if (!hac_bytes_reserve(ret, capacity))
        return hac_fail_no_memory(err);
    ret->n = apply(compressor, data, bytes, ret->data, capacity);
    if (ret->n == 0)
        return hac_fail(err, HAC_INTERNAL, "a page of %zu bytes cannot be compressed", bytes);
    return HAC_OK;
}

uint32_t hac_page_crc(const uint8_t *data, size_t bytes)
{
    return libdeflate_crc32(0, data, bytes);
}
