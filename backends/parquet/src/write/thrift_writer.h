/* SPDX-License-Identifier: Apache-2.0 */
/* Writes Thrift's compact protocol: fields of structs in ascending order of their numbers. Field number 0 is
 * an element of a list, which has no header. Out of memory is noted in `out`. Elements of lists of bools have
 * the type HAC_THRIFT_TRUE. */
#ifndef PARQUET_THRIFT_WRITER_H
#define PARQUET_THRIFT_WRITER_H

#include "format/bytes.h"
#include "format/thrift.h"

#define HAC_THRIFT_WRITER_DEPTH 8

typedef struct hac_thrift_writer {
    hac_bytes *out;
    unsigned depth;
    unsigned last[HAC_THRIFT_WRITER_DEPTH]; /* last field of each open struct */
} hac_thrift_writer;

/* A writer begins inside a struct, which its last hac_thrift_put_close ends. */
#define HAC_THRIFT_WRITER(bytes)                                                                             \
    {                                                                                                        \
        .out = (bytes)                                                                                       \
    }

void hac_thrift_put_open(hac_thrift_writer *writer, unsigned field); /* a struct */
void hac_thrift_put_close(hac_thrift_writer *writer);
void hac_thrift_put_empty(hac_thrift_writer *writer, unsigned field); /* writes a struct without fields */
void hac_thrift_put_list(hac_thrift_writer *writer, unsigned field, hac_thrift_type element, size_t n);
void hac_thrift_put_bool(hac_thrift_writer *writer, unsigned field, bool value);
void hac_thrift_put_i8(hac_thrift_writer *writer, unsigned field, int8_t value);
void hac_thrift_put_i16(hac_thrift_writer *writer, unsigned field, int16_t value);
void hac_thrift_put_i32(hac_thrift_writer *writer, unsigned field, int32_t value);
void hac_thrift_put_i64(hac_thrift_writer *writer, unsigned field, int64_t value);
void hac_thrift_put_binary(hac_thrift_writer *writer, unsigned field, const void *data, size_t bytes);

#endif
