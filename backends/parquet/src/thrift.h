/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads Thrift's compact protocol, the language of footers, page headers, page indexes and bloom filters'
 * headers. Bytes are untrusted: nothing is read beyond them, a list claims no more elements than there are
 * bytes left, nesting is bounded. Nothing is allocated; binaries are slices of the input.
 *
 * A damaged input sets `broken`, which stays: from then on structs have no more fields, lists no elements,
 * and values are as they were. So a reader reads straight through and looks at `broken` once:
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
 * Every field is taken exactly once, by one of the functions below. A field of another type than asked for is
 * skipped and counts as absent, as with Thrift's own readers: check what is required by what was found. What
 * lies behind the outermost struct is left alone (`at`).
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
    const char *broken; /* what is wrong with the bytes: "it ends too early"; NULL: nothing so far */
} hac_thrift;

typedef struct hac_thrift_field {
    int16_t id;   /* 0 before a struct's first */
    uint8_t type; /* hac_thrift_type */
} hac_thrift_field;

void hac_thrift_begin(hac_thrift *t, const uint8_t *data, size_t bytes);
/* For what a reader finds wrong itself: a required field is absent. The first one stays. */
void hac_thrift_break(hac_thrift *t, const char *why);

/* The next field of a struct. false: it has no more. */
bool hac_thrift_next(hac_thrift *t, hac_thrift_field *field);

/* The field's value. false: it has none of that type, and *ret is as it was. */
bool hac_thrift_bool(hac_thrift *t, const hac_thrift_field *field, bool *ret);
bool hac_thrift_i8(hac_thrift *t, const hac_thrift_field *field, int8_t *ret);
bool hac_thrift_i16(hac_thrift *t, const hac_thrift_field *field, int16_t *ret);
bool hac_thrift_i32(hac_thrift *t, const hac_thrift_field *field, int32_t *ret);
bool hac_thrift_i64(hac_thrift *t, const hac_thrift_field *field, int64_t *ret);
bool hac_thrift_binary(hac_thrift *t, const hac_thrift_field *field, hac_parquet_slice *ret);
/* true: hac_thrift_next is to go through it, with a field of its own. */
bool hac_thrift_struct(hac_thrift *t, const hac_thrift_field *field);
/* true: *ret_n elements follow, at most one a byte that is left. Bool elements have HAC_THRIFT_TRUE. Elements
 * of another type are broken. */
bool hac_thrift_list(hac_thrift *t, const hac_thrift_field *field, hac_thrift_type element, size_t *ret_n);
void hac_thrift_skip(hac_thrift *t, const hac_thrift_field *field);

/* Elements of lists; 0, false or absent when broken. Structs: hac_thrift_next. */
bool hac_thrift_bool_element(hac_thrift *t);
int32_t hac_thrift_i32_element(hac_thrift *t);
int64_t hac_thrift_i64_element(hac_thrift *t);
hac_parquet_slice hac_thrift_binary_element(hac_thrift *t);

#endif
