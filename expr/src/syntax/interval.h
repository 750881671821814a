/* SPDX-License-Identifier: Apache-2.0 */
/* Intervals: '2 hours', '1 year 6 months', or a number and a unit. */
#ifndef EXPR_INTERVAL_H
#define EXPR_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Months and the rest are kept apart, because months differ in length. */
typedef struct hac_interval {
    int64_t months, microseconds;
} hac_interval;

#define HAC_INTERVAL_EXPECTED                                                                                \
    "expected whole numbers with units, such as interval '1 year 2 hours'; units are year, quarter, "        \
    "month, week, day, hour, minute, second, millisecond and microsecond"

/* Adds `amount` × `unit`. NULL, or what is wrong. */
const char *hac_interval_add(hac_interval *interval, int64_t amount, const char *unit, size_t bytes);
/* Reads pairs of a number and a unit. NULL, or what is wrong. */
const char *hac_interval_parse(const char *text, size_t bytes, hac_interval *ret);
/* Reads a whole number. NULL, or what is wrong. */
const char *hac_interval_amount(const char *text, size_t bytes, int64_t *ret);

#endif
