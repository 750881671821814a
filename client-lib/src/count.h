/* SPDX-License-Identifier: Apache-2.0 */
/* Counting bytes at memory speed: newlines, and the quotes whose parity says whether one counts. */
#ifndef CLIENT_COUNT_H
#define CLIENT_COUNT_H

#include <stddef.h>
#include <stdint.h>

typedef struct hac_text_counts {
    uint64_t newlines, quotes;
} hac_text_counts;

/* Of '\n' and '"' in data[0 … bytes). */
hac_text_counts hac_count_text(const uint8_t *data, size_t bytes);
/* Of '\n' alone; about twice as fast. */
uint64_t hac_count_lines(const uint8_t *data, size_t bytes);

#endif
