/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 in strings of any origin. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* The length, 1 to 4 bytes, of the well-formed UTF-8 sequence at the start of `string`; 0 if its first
 * `bytes` bytes do not start with one. */
size_t hac_utf8_sequence(const char *string, size_t bytes);

/* True if all of the bytes are well-formed UTF-8. Fast for ASCII. */
bool hac_utf8_is_valid(const void *string, size_t bytes);

/* Copies `s` into `capacity` (> 0) bytes at `ret`, with a zero at the end. A byte that is not UTF-8 becomes
 * U+FFFD. Leaves out characters that do not fit whole. Returns the length. */
size_t hac_utf8_replace(char *ret, size_t capacity, const char *s);

/* Copies `s` (NULL: "") into `capacity` (> 0) bytes at `ret`, with a zero at the end. Leaves out characters
 * that do not fit whole; a byte that is not UTF-8 becomes '?'. `ret` may be `s`. Returns the length. */
size_t hac_utf8_copy(char *ret, size_t capacity, const char *s);
/* As hac_utf8_copy, and each control character becomes a space: also C1 controls and those that change the
 * direction of text. For names from outside (of files, of drivers) that go into a message or to a terminal.
 */
size_t hac_utf8_copy_line(char *ret, size_t capacity, const char *s);

#endif
