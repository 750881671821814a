/* SPDX-License-Identifier: Apache-2.0 */
#include "codec.h"

#include <brotli/decode.h>
#include <libdeflate.h>
#include <limits.h>
#include <lz4.h>
#include <string.h>
#include <zstd.h>

#include "base/error.h"
#include "format/names.h"
#include "snappy.h"

void hac_parquet_codecs_clear(hac_parquet_codecs *codecs)
{
    if (codecs->deflate != NULL)
        libdeflate_free_decompressor(codecs->deflate);
    ZSTD_freeDCtx(codecs->zstd);
    *codecs = (hac_parquet_codecs){0};
}

hac_status hac_parquet_codec_known(uint8_t codec, hac_error *err)
{
    if (codec > HAC_PARQUET_LZ4_RAW || codec == HAC_PARQUET_LZO)
        return hac_fail(err, HAC_FAILED, "its codec is not read: %s (number %u)",
                        hac_parquet_codec_name(codec), codec);
    return HAC_OK;
}

/* Each function returns whether all input bytes give exactly ret_bytes. */

/* Members one after another. */
static bool gzip(struct libdeflate_decompressor *d, const uint8_t *from, size_t bytes, uint8_t *ret,
                 size_t ret_bytes)
{
    do {
        size_t used = 0, made = 0;
        if (libdeflate_gzip_decompress_ex(d, from, bytes, ret, ret_bytes, &used, &made) != LIBDEFLATE_SUCCESS)
            return false;
        from += used;
        bytes -= used;
        ret += made;
        ret_bytes -= made;
    } while (bytes > 0);
    return ret_bytes == 0;
}

static bool brotli(const uint8_t *from, size_t bytes, uint8_t *ret, size_t ret_bytes)
{
    size_t made = ret_bytes;
    return BrotliDecoderDecompress(bytes, from, &made, ret) == BROTLI_DECODER_RESULT_SUCCESS &&
           made == ret_bytes;
}

/* Returns the number of decompressed bytes, at most ret_bytes; -1: damaged. */
static int lz4_block(const uint8_t *from, size_t bytes, uint8_t *ret, size_t ret_bytes)
{
    if (bytes > INT_MAX)
        return -1;
    return LZ4_decompress_safe((const char *)from, (char *)ret, (int)bytes,
                               ret_bytes < INT_MAX ? (int)ret_bytes : INT_MAX);
}

static bool lz4_raw(const uint8_t *from, size_t bytes, uint8_t *ret, size_t ret_bytes)
{
    int made = lz4_block(from, bytes, ret, ret_bytes);
    return made >= 0 && (size_t)made == ret_bytes;
}

static uint32_t big_endian(const uint8_t *from)
{
    uint32_t v;
    memcpy(&v, from, sizeof v);
    return __builtin_bswap32(v);
}

/* Hadoop's format, repeated: the decompressed size, then blocks, each after its size, until that size is
 * reached. */
static bool lz4_hadoop(const uint8_t *from, size_t bytes, uint8_t *ret, size_t ret_bytes)
{
    while (bytes >= 4) {
        size_t left = big_endian(from);
        from += 4;
        bytes -= 4;
        if (left > ret_bytes)
            return false;
        while (left > 0) {
            size_t block = bytes >= 4 ? big_endian(from) : SIZE_MAX;
            if (block == SIZE_MAX || block > bytes - 4)
                return false;
            int made = lz4_block(from + 4, block, ret, left);
            if (made <= 0)
                return false;
            from += 4 + block;
            bytes -= 4 + block;
            ret += made;
            ret_bytes -= (size_t)made;
            left -= (size_t)made;
        }
    }
    return bytes == 0 && ret_bytes == 0;
}

static hac_status make_contexts(hac_parquet_codecs *codecs, uint8_t codec, hac_error *err)
{
    if (codec == HAC_PARQUET_GZIP && codecs->deflate == NULL &&
        (codecs->deflate = libdeflate_alloc_decompressor()) == NULL)
        return hac_fail_no_memory(err);
    if (codec == HAC_PARQUET_ZSTD && codecs->zstd == NULL && (codecs->zstd = ZSTD_createDCtx()) == NULL)
        return hac_fail_no_memory(err);
    return HAC_OK;
}

static bool decompress(hac_parquet_codecs *codecs, uint8_t codec, const uint8_t *from, size_t bytes,
                       uint8_t *ret, size_t ret_bytes)
{
    switch (codec) {
    case HAC_PARQUET_UNCOMPRESSED:
        if (bytes == ret_bytes)
            memcpy(ret, from, bytes);
        return bytes == ret_bytes;
    case HAC_PARQUET_SNAPPY:
        return hac_parquet_snappy(from, bytes, ret, ret_bytes);
    case HAC_PARQUET_GZIP:
        return gzip(codecs->deflate, from, bytes, ret, ret_bytes);
    case HAC_PARQUET_BROTLI:
        return brotli(from, bytes, ret, ret_bytes);
    case HAC_PARQUET_ZSTD: /* any number of frames */
        return ZSTD_decompressDCtx(codecs->zstd, ret, ret_bytes, from, bytes) == ret_bytes;
    case HAC_PARQUET_LZ4:
        return lz4_hadoop(from, bytes, ret, ret_bytes) || lz4_raw(from, bytes, ret, ret_bytes);
    default:
        return lz4_raw(from, bytes, ret, ret_bytes);
    }
}

hac_status hac_parquet_decompress(hac_parquet_codecs *codecs, uint8_t codec, const uint8_t *from,
                                  size_t bytes, uint8_t *ret, size_t ret_bytes, hac_error *err)
{
    hac_status status = hac_parquet_codec_known(codec, err);
    if (status == HAC_OK)
        status = make_contexts(codecs, codec, err);
    if (status == HAC_OK && !decompress(codecs, codec, from, bytes, ret, ret_bytes))
        status = hac_fail(err, HAC_FAILED, "its %zu bytes of %s do not become %zu bytes", bytes,
                          hac_parquet_codec_name(codec), ret_bytes);
    return status;
}
