/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of a time zone, as programs carry them: when clocks changed, by how much they are ahead of UTC,
 * and a rule for all years after the last change in the list. libhac makes the rules from a file of the tz
 * database (language/zone_file.c), so executors open and parse no file. Numbers are little-endian:
 *
 *   u16 n           changes, at most HAC_ZONE_CHANGES_MAX
 *   u16 yearly      1: a rule follows the changes; 0: the last offset stays
 *   i32 offset      seconds ahead of UTC before the first change
 *   n × 12 bytes    i64 seconds since 1970 of a change, ascending; i32 offset from then on
 *   yearly × 32     two changes a year, each: u8 kind (hac_zone_day), u8 month, u8 week, u8 0, i32 day,
 *                   i32 second of the day of the clocks before the change, i32 offset from then on
 */
#ifndef EXPR_TIME_ZONE_H
#define EXPR_TIME_ZONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define HAC_ZONE_CHANGES_MAX 2000
#define HAC_ZONE_BYTES_MAX   (8 + HAC_ZONE_CHANGES_MAX * 12 + 32)
#define HAC_ZONE_OFFSET_MAX  (26 * 3600)                 /* seconds */
#define HAC_ZONE_TIME_MAX    (INT64_C(1) << 40)          /* seconds, beyond all years that have a text */
#define HAC_ZONE_CLOCK_MAX   (167 * 3600 + 59 * 60 + 59) /* of a rule: up to a week, as RFC 8536 has it */

typedef enum hac_zone_day {
    HAC_ZONE_WEEKDAY = 0, /* `day` (Sunday is 0) of week 1 … 5 of the month; 5 is the last one */
    HAC_ZONE_NO_LEAP,     /* day 1 … 365 of a year in which February has 28 days */
    HAC_ZONE_DAY,         /* day 0 … 365 of the year */
    HAC_ZONE_DAYS
} hac_zone_day;

typedef struct hac_zone_change {
    int64_t time; /* seconds since 1970, UTC */
    int32_t offset;
} hac_zone_change;

/* A change that comes every year. */
typedef struct hac_zone_yearly {
    uint8_t kind, month, week, unused;
    int32_t day, clock, offset;
} hac_zone_yearly;

typedef struct hac_zone_rules {
    int32_t offset;
    size_t n_changes;
    hac_zone_change changes[HAC_ZONE_CHANGES_MAX];
    bool has_yearly;
    hac_zone_yearly yearly[2];
} hac_zone_rules;

/* `ret` has room for HAC_ZONE_BYTES_MAX; returns the bytes written. */
size_t hac_zone_write(const hac_zone_rules *rules, uint8_t *ret);
/* Whether the bytes are rules, with every number in its range. */
bool hac_zone_valid(const uint8_t *bytes, size_t n);

/* A zone to compute with. */
typedef struct hac_zone hac_zone;
/* `bytes` are valid. */
HAC_MUST_USE hac_status hac_zone_new(const uint8_t *bytes, size_t n, hac_zone **ret, hac_error *err);
void hac_zone_free(hac_zone *zone);

/* What clocks in the zone show at a time in UTC, both in microseconds. False: it does not fit. */
bool hac_zone_local(const hac_zone *zone, int64_t microseconds, int64_t *ret);
/* The time in UTC at which clocks in the zone show `microseconds`. Of the two times at which they show it
 * when they are set back, it is the later one. What they leave out when they are set forward counts as if
 * they were not yet. */
bool hac_zone_utc(const hac_zone *zone, int64_t microseconds, int64_t *ret);

#endif
