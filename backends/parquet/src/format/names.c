/* SPDX-License-Identifier: Apache-2.0 */
#include "names.h"

#include <stddef.h>

static const char *const physicals[] = {"BOOLEAN", "INT32",  "INT64",      "INT96",
                                        "FLOAT",   "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"};
static const char *const codecs[] = {"UNCOMPRESSED", "SNAPPY", "GZIP", "LZO",
                                     "BROTLI",       "LZ4",    "ZSTD", "LZ4_RAW"};
static const char *const encodings[] = {"PLAIN",
                                        NULL,
                                        "PLAIN_DICTIONARY",
                                        "RLE",
                                        "BIT_PACKED",
                                        "DELTA_BINARY_PACKED",
                                        "DELTA_LENGTH_BYTE_ARRAY",
                                        "DELTA_BYTE_ARRAY",
                                        "RLE_DICTIONARY",
                                        "BYTE_STREAM_SPLIT"};

#define NAME(table, number)                                                                                  \
    ((number) >= 0 && (size_t)(number) < sizeof(table) / sizeof *(table) && (table)[number] != NULL          \
         ? (table)[number]                                                                                   \
         : "not known here")

const char *hac_parquet_physical_name(int32_t physical)
{
    return NAME(physicals, physical);
}

const char *hac_parquet_codec_name(int32_t codec)
{
    return NAME(codecs, codec);
}

const char *hac_parquet_encoding_name(int32_t encoding)
{
    return NAME(encodings, encoding);
}
