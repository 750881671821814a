/* SPDX-License-Identifier: Apache-2.0 */
/* Typed bytes as in org.apache.hadoop.typedbytes: an object is a code followed by its bytes; all numbers are
 * big-endian. Lengths and counts are signed 32-bit numbers and not negative. */
#ifndef QUERY_TYPED_CODES_H
#define QUERY_TYPED_CODES_H

enum {
    HAC_TYPED_BYTES = 0,  /* length, bytes */
    HAC_TYPED_BYTE = 1,   /* signed */
    HAC_TYPED_BOOL = 2,   /* 0 or 1 */
    HAC_TYPED_INT = 3,    /* 4 bytes */
    HAC_TYPED_LONG = 4,   /* 8 bytes */
    HAC_TYPED_FLOAT = 5,  /* 4 bytes, IEEE 754 */
    HAC_TYPED_DOUBLE = 6, /* 8 bytes */
    HAC_TYPED_STRING = 7, /* length, UTF-8 */
    HAC_TYPED_VECTOR = 8, /* count, objects */
    HAC_TYPED_LIST = 9,   /* objects, then the marker */
    HAC_TYPED_MAP = 10,   /* count, pairs of objects */
    /* codes of applications: laid out like bytes */
    HAC_TYPED_APPLICATION_FIRST = 50,
    HAC_TYPED_APPLICATION_LAST = 200,
    HAC_TYPED_MARKER = 255
};

#endif
