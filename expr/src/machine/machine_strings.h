/* SPDX-License-Identifier: Apache-2.0 */
/* Functions on one string. A byte that is not part of well-formed UTF-8 counts as a character. */
#ifndef EXPR_MACHINE_STRINGS_H
#define EXPR_MACHINE_STRINGS_H

#include "machine_parts.h"

/* The number of characters. */
size_t hac_utf8_length(const uint8_t *text, size_t bytes);
/* Bytes of the first `count` characters, or of all if there are fewer. */
size_t hac_utf8_skip(const uint8_t *text, size_t bytes, size_t count);

/* Whether the text is in the list. */
bool hac_string_in(const uint8_t *text, size_t bytes, const hac_argument *list);

/* Whether the whole text matches the pattern of a program (HAC_PATTERN_ESCAPE). */
bool hac_like(const uint8_t *text, size_t bytes, const uint8_t *pattern, size_t n);

#endif
