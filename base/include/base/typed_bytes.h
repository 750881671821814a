/* SPDX-License-Identifier: Apache-2.0 */
/* Typed bytes as in org.apache.hadoop.typedbytes: an object is a code followed by its bytes; all numbers are
 * big-endian. Lengths and counts are signed 32-bit numbers and not negative. */
#ifndef BASE_TYPED_BYTES_H
#define BASE_TYPED_BYTES_H

#include <stdbool.h>
#include <stdint.h>

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

#define HAC_TYPED_DEPTH_MAX 64 /* nesting of vectors, lists and maps in a key or a value */

/* What follows the code of an object. */
typedef enum hac_typed_layout {
    HAC_TYPED_NO_OBJECT,   /* the code is of no object; the marker is none, either */
    HAC_TYPED_FIXED,       /* a number of bytes that the code says */
    HAC_TYPED_LENGTH,      /* a length and as many bytes */
    HAC_TYPED_COUNT,       /* a count and as many objects; of a map, pairs of objects */
    HAC_TYPED_UNTIL_MARKER /* objects, then the marker */
} hac_typed_layout;

/* *ret_bytes: of HAC_TYPED_FIXED; else 0. */
static inline hac_typed_layout hac_typed_layout_of(uint8_t code, uint32_t *ret_bytes)
{
    static const uint8_t bytes[] = {[HAC_TYPED_BYTE] = 1, [HAC_TYPED_BOOL] = 1,  [HAC_TYPED_INT] = 4,
                                    [HAC_TYPED_LONG] = 8, [HAC_TYPED_FLOAT] = 4, [HAC_TYPED_DOUBLE] = 8};
    bool fixed = code >= HAC_TYPED_BYTE && code <= HAC_TYPED_DOUBLE;
    *ret_bytes = fixed ? bytes[code] : 0;
    if (fixed)
        return HAC_TYPED_FIXED;
    if (code == HAC_TYPED_BYTES || code == HAC_TYPED_STRING ||
        (code >= HAC_TYPED_APPLICATION_FIRST && code <= HAC_TYPED_APPLICATION_LAST))
        return HAC_TYPED_LENGTH;
    if (code == HAC_TYPED_LIST)
        return HAC_TYPED_UNTIL_MARKER;
    return code == HAC_TYPED_VECTOR || code == HAC_TYPED_MAP ? HAC_TYPED_COUNT : HAC_TYPED_NO_OBJECT;
}

#endif
