/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantities as people write them: "4GiB", "25GB/s", "10us", "1.2e8". A number is decimal digits with an
 * optional fraction and exponent; signs, hexadecimal, infinities and NaN are refused, and so is a leading
 * zero (YAML 1.1 would read 010 as eight). One blank may stand before the unit. The locale plays no part.
 *
 * Reasons of failure are half sentences ("`4 parsecs` has an unknown unit"), to which the caller adds what is
 * allowed; the public functions in config/profile.h do that for command lines.
 */
#ifndef CONFIG_UNITS_H
#define CONFIG_UNITS_H

#include <stdint.h>

#include "base/error.h"

#define HAC_UNITS_SIZE     "B, kB, MB, GB, TB, KiB, MiB, GiB, TiB"
#define HAC_UNITS_RATE     "B/s, kB/s, MB/s, GB/s, TB/s, KiB/s, MiB/s, GiB/s, TiB/s"
#define HAC_UNITS_DURATION "ns, us, ms, s, min, h"

HAC_MUST_USE hac_status hac_units_number(const char *text, double *ret, hac_error *err);

/* A whole number; 1e6 is one. */
HAC_MUST_USE hac_status hac_units_integer(const char *text, uint64_t *ret, hac_error *err);

/* Bytes, rounded down; a bare number is bytes. */
HAC_MUST_USE hac_status hac_units_size(const char *text, uint64_t *ret, hac_error *err);

/* Bytes per second; the unit is needed. */
HAC_MUST_USE hac_status hac_units_rate(const char *text, double *ret, hac_error *err);

/* Seconds; the unit is needed. */
HAC_MUST_USE hac_status hac_units_duration(const char *text, double *ret, hac_error *err);

#endif
