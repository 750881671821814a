/* SPDX-License-Identifier: Apache-2.0 */
#include "time_zone.h"

#include <stdlib.h>
#include <string.h>

#include "base/value_text.h"

#define DAY         INT64_C(86400)
#define CYCLE_YEARS 400                     /* after which dates have the same weekdays again */
#define CYCLE       (INT64_C(146097) * DAY) /* 400 years in seconds */

enum { HEAD = 8, CHANGE = 12, YEARLY = 16 };

struct hac_zone {
    int32_t offset; /* before the first change */
    bool repeats;   /* from `fold` on, everything is as it was a cycle before */
    int64_t fold;   /* seconds */
    size_t n;
    hac_zone_change changes[];
};

/* ---- bytes --------------------------------------------------------------------------------------------- */

static uint64_t get(const uint8_t *at, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = bytes; i-- > 0;)
        value = value << 8 | at[i];
    return value;
}

static int32_t get_i32(const uint8_t *at)
{
    return (int32_t)(uint32_t)get(at, 4);
}

static void put(uint8_t *at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

size_t hac_zone_write(const hac_zone_rules *rules, uint8_t *ret)
{
    uint8_t *at = ret + HEAD;
    put(ret, rules->n_changes, 2);
    put(ret + 2, rules->has_yearly, 2);
    put(ret + 4, (uint32_t)rules->offset, 4);
    for (size_t i = 0; i < rules->n_changes; i++, at += CHANGE) {
        put(at, (uint64_t)rules->changes[i].time, 8);
        put(at + 8, (uint32_t)rules->changes[i].offset, 4);
    }
    for (size_t i = 0; rules->has_yearly && i < 2; i++, at += YEARLY) {
        const hac_zone_yearly *rule = &rules->yearly[i];
        memcpy(at, (uint8_t[]){rule->kind, rule->month, rule->week, 0}, 4);
        put(at + 4, (uint32_t)rule->day, 4);
        put(at + 8, (uint32_t)rule->clock, 4);
        put(at + 12, (uint32_t)rule->offset, 4);
    }
    return (size_t)(at - ret);
}

static hac_zone_change change_at(const uint8_t *bytes, size_t i)
{
    const uint8_t *at = bytes + HEAD + i * CHANGE;
    return (hac_zone_change){(int64_t)get(at, 8), get_i32(at + 8)};
}

static hac_zone_yearly yearly_at(const uint8_t *bytes, size_t n_changes, size_t i)
{
    const uint8_t *at = bytes + HEAD + n_changes * CHANGE + i * YEARLY;
    return (hac_zone_yearly){at[0], at[1], at[2], at[3], get_i32(at + 4), get_i32(at + 8), get_i32(at + 12)};
}

static bool within(int64_t value, int64_t low, int64_t high)
{
    return value >= low && value <= high;
}

static bool offset_valid(int32_t offset)
{
    return within(offset, -HAC_ZONE_OFFSET_MAX, HAC_ZONE_OFFSET_MAX);
}

static bool yearly_valid(const hac_zone_yearly *rule)
{
    bool weekday = rule->kind == HAC_ZONE_WEEKDAY;
    return rule->kind < HAC_ZONE_DAYS && rule->unused == 0 && offset_valid(rule->offset) &&
           within(rule->clock, -HAC_ZONE_CLOCK_MAX, HAC_ZONE_CLOCK_MAX) &&
           (weekday ? within(rule->month, 1, 12) && within(rule->week, 1, 5) && within(rule->day, 0, 6)
                    : rule->month == 0 && rule->week == 0 &&
                          within(rule->day, rule->kind == HAC_ZONE_NO_LEAP, 365));
}

bool hac_zone_valid(const uint8_t *bytes, size_t n)
{
    if (n < HEAD)
        return false;
    size_t n_changes = get(bytes, 2), yearly = get(bytes + 2, 2);
    if (n_changes > HAC_ZONE_CHANGES_MAX || yearly > 1 ||
        n != HEAD + n_changes * CHANGE + yearly * 2 * YEARLY)
        return false;
    bool valid = offset_valid(get_i32(bytes + 4));
    int64_t before = -HAC_ZONE_TIME_MAX;
    for (size_t i = 0; i < n_changes; i++) {
        hac_zone_change change = change_at(bytes, i);
        valid = valid && offset_valid(change.offset) && within(change.time, before, HAC_ZONE_TIME_MAX);
        before = change.time + 1;
    }
    for (size_t i = 0; i < 2 * yearly; i++) {
        hac_zone_yearly rule = yearly_at(bytes, n_changes, i);
        valid = valid && yearly_valid(&rule);
    }
    return valid;
}

/* ---- changes of every year ----------------------------------------------------------------------------- */

static bool is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* Days since 1970 of the change in that year. */
static int64_t day_of(const hac_zone_yearly *rule, int64_t year)
{
    int64_t first = hac_days_from_civil(year, 1, 1);
    if (rule->kind == HAC_ZONE_DAY)
        return first + rule->day;
    if (rule->kind == HAC_ZONE_NO_LEAP)
        return first + rule->day - 1 + (is_leap(year) && rule->day >= 60);
    first = hac_days_from_civil(year, rule->month, 1);
    int64_t end = rule->month == 12 ? hac_days_from_civil(year + 1, 1, 1)
                                    : hac_days_from_civil(year, rule->month + 1u, 1);
    int64_t weekday = ((first + 4) % 7 + 7) % 7; /* 1970-01-01 was a Thursday */
    int64_t day = first + (rule->day - weekday + 7) % 7 + 7 * (rule->week - 1);
    return day < end ? day : day - 7;
}

/* Appends the changes of the rule from the year of the last change on, for a cycle and a year. */
static void add_cycle(hac_zone *zone, const hac_zone_yearly rules[2])
{
    int64_t last = zone->n > 0 ? zone->changes[zone->n - 1].time : 0, from;
    int64_t days = last / DAY - (last % DAY < 0);
    unsigned month, day;
    hac_civil_from_days(days, &from, &month, &day);
    for (int64_t year = from; year <= from + CYCLE_YEARS + 1; year++) {
        hac_zone_change two[2];
        for (size_t i = 0; i < 2; i++) {
            int32_t before = rules[1 - i].offset; /* the clock of a change is the one before it */
            two[i] =
                (hac_zone_change){day_of(&rules[i], year) * DAY + rules[i].clock - before, rules[i].offset};
        }
        size_t first = two[1].time < two[0].time;
        for (size_t i = 0; i < 2; i++) {
            hac_zone_change change = two[first ^ i];
            if (zone->n == 0 || change.time > zone->changes[zone->n - 1].time)
                zone->changes[zone->n++] = change;
        }
    }
    zone->repeats = true;
    zone->fold = hac_days_from_civil(from + CYCLE_YEARS + 1, 1, 1) * DAY;
}

hac_status hac_zone_new(const uint8_t *bytes, size_t n, hac_zone **ret, hac_error *err)
{
    (void)n;
    size_t n_changes = get(bytes, 2), yearly = get(bytes + 2, 2);
    size_t capacity = n_changes + 2 * yearly * (CYCLE_YEARS + 2);
    hac_zone *zone = calloc(1, sizeof *zone + capacity * sizeof *zone->changes);
    if (zone == NULL)
        return hac_fail_no_memory(err);
    zone->offset = get_i32(bytes + 4);
    for (; zone->n < n_changes; zone->n++)
        zone->changes[zone->n] = change_at(bytes, zone->n);
    if (yearly != 0)
        add_cycle(zone, (hac_zone_yearly[]){yearly_at(bytes, n_changes, 0), yearly_at(bytes, n_changes, 1)});
    *ret = zone;
    return HAC_OK;
}

void hac_zone_free(hac_zone *zone)
{
    free(zone);
}

/* ---- times --------------------------------------------------------------------------------------------- */

/* The whole seconds of a time, moved by whole cycles into the years of the list. */
static int64_t folded(const hac_zone *zone, int64_t microseconds)
{
    int64_t seconds = microseconds / HAC_US_PER_SECOND - (microseconds % HAC_US_PER_SECOND < 0);
    if (zone->repeats && seconds >= zone->fold)
        seconds -= ((seconds - zone->fold) / CYCLE + 1) * CYCLE;
    return seconds;
}

/* The number of changes up to a time. */
static size_t changes_until(const hac_zone *zone, int64_t seconds)
{
    size_t low = 0, high = zone->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (zone->changes[middle].time <= seconds)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool hac_zone_local(const hac_zone *zone, int64_t microseconds, int64_t *ret)
{
    size_t n = changes_until(zone, folded(zone, microseconds));
    int64_t offset = n > 0 ? zone->changes[n - 1].offset : zone->offset;
    return !__builtin_add_overflow(microseconds, offset * HAC_US_PER_SECOND, ret);
}

bool hac_zone_utc(const hac_zone *zone, int64_t microseconds, int64_t *ret)
{
    int64_t seconds = folded(zone, microseconds);
    size_t n = changes_until(zone, seconds + HAC_ZONE_OFFSET_MAX);
    /* the last change after which clocks have already shown the time */
    while (n > 0 && zone->changes[n - 1].time + zone->changes[n - 1].offset > seconds)
        n--;
    int64_t offset = n > 0 ? zone->changes[n - 1].offset : zone->offset;
    return !__builtin_sub_overflow(microseconds, offset * HAC_US_PER_SECOND, ret);
}
