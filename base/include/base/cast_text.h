/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of casts from text. A cast takes what the parser of the type takes (base/value_text.h), and other
 * spellings that databases take: blanks on both sides, an underscore between two digits, and those that
 * stand at the functions. Files are read with the parsers.
 */
#ifndef BASE_CAST_TEXT_H
#define BASE_CAST_TEXT_H

#include "base/value_text.h"

/* A fraction is rounded, half away from zero. 0x1f is hexadecimal, and 0b101 binary. */
hac_text_status hac_cast_i64(const char *text, size_t bytes, int64_t *ret);
hac_text_status hac_cast_u64(const char *text, size_t bytes, uint64_t *ret);

hac_text_status hac_cast_f64(const char *text, size_t bytes, double *ret);
hac_text_status hac_cast_f32(const char *text, size_t bytes, float *ret);
hac_text_status hac_cast_decimal(const char *text, size_t bytes, unsigned precision, unsigned scale,
                                 __int128 *ret);

/* Also y and n; blanks on the sides are not taken. */
hac_text_status hac_cast_bool(const char *text, size_t bytes, bool *ret);

/* The parts of a date are separated by one of `-/\` or a blank. They need no zero in front, nor do those of a
 * time. A cast to date leaves a time of day out. */
hac_text_status hac_cast_date(const char *text, size_t bytes, int32_t *ret);
hac_text_status hac_cast_timestamp(const char *text, size_t bytes, int64_t *ret);

#endif
