/* SPDX-License-Identifier: Apache-2.0 */
/* Names of parquet.thrift's enumerators for messages; "not known here" for other numbers. */
#ifndef PARQUET_NAMES_H
#define PARQUET_NAMES_H

#include <stdint.h>

const char *hac_parquet_physical_name(int32_t physical);
const char *hac_parquet_codec_name(int32_t codec);
const char *hac_parquet_encoding_name(int32_t encoding);

#endif
