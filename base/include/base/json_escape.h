/* SPDX-License-Identifier: Apache-2.0 */
/* Characters of JSON that are written as \uXXXX, for all that read JSON. */
#ifndef BASE_JSON_ESCAPE_H
#define BASE_JSON_ESCAPE_H

#include <stddef.h>
#include <stdint.h>

#define HAC_JSON_NOT_HEX   (-1) /* no four hexadecimal digits; *at stays where it is */
#define HAC_JSON_HALF_PAIR (-2) /* half of a surrogate pair; *at is after its digits */

/* Reads the one or two units (a surrogate pair) that follow "\u", from *at on, and moves *at after them.
 * Returns the character, or one of the two problems above. */
int32_t hac_json_unicode(const uint8_t **at, const uint8_t *end);

/* Writes a character as UTF-8. Returns the number of bytes, 1 to 4. */
size_t hac_json_put_utf8(int32_t code, uint8_t ret[4]);

#endif
