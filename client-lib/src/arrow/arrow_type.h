/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formats of the Arrow C Data Interface: how the values of a column lie in memory, and which type of the
 * query language they become (https://arrow.apache.org/docs/format/CDataInterface.html).
 *
 *   Arrow                            in the table
 *   n                                string, every row null
 *   b c C s S i I l L f g tdD        bool, i8 … u64, f32, f64, date: as they are
 *   e                                f32
 *   tdm                              date; a value that is no whole day is an error
 *   tss: tsm: tsu: tsn:, any zone    timestamp; a value that is no whole microsecond is an error
 *   d:p,s of 32, 64 and 128 bits     decimal of up to 38 digits
 *   u U vu, z Z vz, w:N              string, bytes
 *   a dictionary of one of these     the type of its values
 */
#ifndef CLIENT_ARROW_TYPE_H
#define CLIENT_ARROW_TYPE_H

#include <hac/hac.h>

#include "base/value.h"

typedef enum hac_arrow_layout {
    HAC_ARROW_NULLS,   /* no buffers: every row is null */
    HAC_ARROW_BITS,    /* one bit a row */
    HAC_ARROW_FIXED,   /* `width` bytes a row */
    HAC_ARROW_OFFSETS, /* offsets of `width` bytes, and characters */
    HAC_ARROW_VIEWS    /* 16 bytes a row, with the characters or their place in one of several buffers */
} hac_arrow_layout;

typedef enum hac_arrow_conversion {
    HAC_ARROW_AS_IS,
    HAC_ARROW_RESIZE,   /* a signed integer of another width */
    HAC_ARROW_WIDEN,    /* f16 → f32 */
    HAC_ARROW_DAYS,     /* milliseconds → days */
    HAC_ARROW_MULTIPLY, /* seconds or milliseconds → microseconds */
    HAC_ARROW_DIVIDE    /* nanoseconds → microseconds */
} hac_arrow_conversion;

typedef struct hac_arrow_type {
    hac_value_type type;
    uint8_t layout;     /* hac_arrow_layout */
    uint8_t conversion; /* hac_arrow_conversion, of HAC_ARROW_FIXED */
    uint32_t width;
    int64_t factor;      /* HAC_ARROW_DAYS, MULTIPLY, DIVIDE */
    uint8_t index_width; /* a dictionary: bytes of an index into its values; 0: none */
    bool index_signed;
} hac_arrow_type;

/* Reads the type of a column. HAC_UNSUPPORTED: queries have no such type; HAC_INVALID: the schema is none.
 * The message names the column and its format. */
HAC_MUST_USE hac_status hac_arrow_type_read(const struct ArrowSchema *schema, hac_arrow_type *ret,
                                            hac_error *err);

/* The number of buffers of an array of this type, without those of views. */
int64_t hac_arrow_type_buffers(const hac_arrow_type *type);

#endif
