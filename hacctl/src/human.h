/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers for people: three significant digits and a unit. Each function writes into `buffer` and returns it;
 * what is not a number, or negative where that has no meaning, becomes "-".
 */
#ifndef HACCTL_HUMAN_H
#define HACCTL_HUMAN_H

#define HAC_HUMAN_MAX 32

const char *hac_human_bytes(double bytes, char buffer[HAC_HUMAN_MAX]);      /* "1.5 GiB": powers of 1024 */
const char *hac_human_count(double count, char buffer[HAC_HUMAN_MAX]);      /* "16.8 M": powers of 1000 */
const char *hac_human_rate(double rate, char buffer[HAC_HUMAN_MAX]);        /* "118 M items/s" */
const char *hac_human_seconds(double seconds, char buffer[HAC_HUMAN_MAX]);  /* "28.4 ms", "2 min 5 s" */
const char *hac_human_percent(double fraction, char buffer[HAC_HUMAN_MAX]); /* 0.62 → "62 %" */

#endif
