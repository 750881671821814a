/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads Thrift's compact protocol, the format of footers, page headers, page indexes and headers of bloom
 * filters. Bytes are untrusted: nothing is read beyond them, a list has at most one element for each byte
 * left, and nesting is limited. Nothing is allocated; binaries are slices of the input.
 *
 * Damaged input sets `broken`, which stays set: then structs have no more fields, lists no elements, and
 * values keep their previous content. A reader reads straight through and checks `broken` once:
 *
 *     hac_thrift_field field = {0};
 *     while (hac_thrift_next(t, &field)) {
 *         if (field.id == 1)
 *             hac_thrift_i32(t, &field, &type);
 *         else if (field.id == 5 && hac_thrift_struct(t, &field))
 *             read_header(t, ret);       // a loop like this one
 *         else
 *             hac_thrift_skip(t, &field);
 *     }
 *
 * Each field must be consumed exactly once, by one of the functions below. A field of another type than the
 * one asked for is skipped and counts as absent, as in Thrift's own readers: check that required fields were
 * found. Bytes behind the outermost struct are not read (`at`).
 */
#ifndef PARQUET_THRIFT_H
#define PARQUET_THRIFT_H

#include "parquet/file.h"

typedef enum hac_thrift_type {
    HAC_THRIFT_STOP = 0,
    HAC_THRIFT_TRUE,
    HAC_THRIFT_FALSE,
    HAC_THRIFT_I8,
    HAC_THRIFT_I16,
    HAC_THRIFT_I32,
    HAC_THRIFT_I64,
    HAC_THRIFT_DOUBLE,
    HAC_THRIFT_BINARY,
    HAC_THRIFT_LIST,
    HAC_THRIFT_SET,
    HAC_THRIFT_MAP,
    HAC_THRIFT_STRUCT,
    HAC_THRIFT_UUID,
} hac_thrift_type;

typedef struct hac_thrift {
    const uint8_t *at, *end;
    const char *broken; /* what is wrong with the bytes: "it ends too early"; NULL: nothing yet */
} hac_thrift;

typedef struct hac_thrift_field {
    int16_t id;   /* 0 before a struct's first field */
    uint8_t type; /* hac_thrift_type */
} hac_thrift_field;

void hac_thrift_begin(hac_thrift *t, const uint8_t *data, size_t bytes);
/* For errors that a reader finds, as an absent required field. The first error is kept. */
void hac_thrift_break(hac_thrift *t, const char *why);

/* Reads the next field of a struct. False: there are no more. */
bool hac_thrift_next(hac_thrift *t, hac_thrift_field *field);

/* Reads the field's value. False: it has another type, and *ret is unchanged. */
bool hac_thrift_bool(hac_thrift *t, const hac_thrift_field *field, bool *ret);
bool hac_thrift_i8(hac_thrift *t, const hac_thrift_field *field, int8_t *ret);
bool hac_thrift_i16(hac_thrift *t, const hac_thrift_field *field, int16_t *ret);
bool hac_thrift_i32(hac_thrift *t, const hac_thrift_field *field, int32_t *ret);
bool hac_thrift_i64(hac_thrift *t, const hac_thrift_field *field, int64_t *ret);
bool hac_thrift_binary(hac_thrift *t, const hac_thrift_field *field, hac_parquet_slice *ret);
/* True: the caller reads the struct with hac_thrift_next and a new field. */
bool hac_thrift_struct(hac_thrift *t, const hac_thrift_field *field);
/* True: *ret_n elements follow, at most one for each byte left. Elements of type bool have HAC_THRIFT_TRUE.
 * Elements of another type set `broken`. */
bool hac_thrift_list(hac_thrift *t, const hac_thrift_field *field, hac_thrift_type element, size_t *ret_n);
void hac_thrift_skip(hac_thrift *t, const hac_thrift_field *field);

/* Read elements of lists; 0, false or absent if `broken`. For structs, use hac_thrift_next. */
bool hac_thrift_bool_element(hac_thrift *t);
int32_t hac_thrift_i32_element(hac_thrift *t);
int64_t hac_thrift_i64_element(hac_thrift *t);
hac_parquet_slice hac_thrift_binary_element(hac_thrift *t);

#endif
