/* SPDX-License-Identifier: Apache-2.0 */
/* The mark that some programs put in front of text in UTF-8. */
#ifndef BASE_BYTE_ORDER_MARK_H
#define BASE_BYTE_ORDER_MARK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bytes of the mark at the beginning of the text: 3, or 0 without one. */
size_t hac_byte_order_mark(const void *text, size_t bytes);

/* Whether a file of so many bytes is a mark with nothing behind it: as empty as one without bytes. */
bool hac_is_mark_alone(int fd, uint64_t bytes);

#endif
