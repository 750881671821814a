/* SPDX-License-Identifier: Apache-2.0 */
/* The case of letters in UTF-8. */
#ifndef EXPR_UTF8_CASE_H
#define EXPR_UTF8_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A letter of two bytes may become one of three. */
#define HAC_UTF8_CASE_GROWTH(bytes) ((bytes) + (bytes) / 2)

/* Writes the text in upper or lower case, one character for one (Unicode's simple mappings); bytes that are
 * not UTF-8 stay. `to` has `capacity` bytes. Returns the length; SIZE_MAX: the text does not fit. */
size_t hac_utf8_case(const uint8_t *text, size_t bytes, bool upper, uint8_t *to, size_t capacity);

#endif
