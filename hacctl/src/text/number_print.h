/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints numbers for people: three significant digits and a unit. Each function writes into `buffer` and
 * returns it. A value that is not a number, or is negative where that has no meaning, becomes "-".
 */
#ifndef HACCTL_NUMBER_PRINT_H
#define HACCTL_NUMBER_PRINT_H

#define HAC_NUMBER_PRINT_MAX 32

const char *hac_number_print_bytes(double bytes,
                                   char buffer[HAC_NUMBER_PRINT_MAX]); /* "1.5 GiB": powers of 1024 */
const char *hac_number_print_count(double count,
                                   char buffer[HAC_NUMBER_PRINT_MAX]); /* "16.8 M": powers of 1000 */
const char *hac_number_print_rate(double rate, char buffer[HAC_NUMBER_PRINT_MAX]); /* "118 M items/s" */
const char *hac_number_print_seconds(double seconds,
                                     char buffer[HAC_NUMBER_PRINT_MAX]); /* "28.4 ms", "2 min 5 s" */
const char *hac_number_print_percent(double fraction, char buffer[HAC_NUMBER_PRINT_MAX]); /* 0.62 → "62 %" */

#endif
