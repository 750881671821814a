/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times by a format, as strftime and strptime of C have it. The names of months and weekdays are English, and
 * times are UTC.
 *
 *   %Y year, four digits   %m month    %d day       %e day, padded with a blank   %y year, two digits
 *   %H hour                %I 1 … 12   %p AM, PM    %M minute   %S second         %f fraction of the second
 *   %b Jan   %B January    %a Mon      %A Monday    %j day of the year            %F %Y-%m-%d   %T %H:%M:%S
 *   %z +0000               %Z UTC      %% a %
 *
 * In reading, numbers may have fewer digits; %f takes one to nine. Blanks of the format stand for any number
 * of blanks but none, and blanks may stand before and behind the text. Names may be in either case. Weekdays
 * are read and play no part. Years of two digits are 1969 … 2068. What the format lacks is taken from
 * 1900-01-01 00:00:00. %z reads Z, +hh, +hhmm or +hh:mm; %Z reads UTC, GMT or Z.
 */
#ifndef EXPR_TIME_FORMAT_H
#define EXPR_TIME_FORMAT_H

#include "base/value_text.h"

#define HAC_TIME_FORMAT_GROWTH 5 /* bytes of a text for one of its format */

/* NULL, or what is wrong with the format; `ret` has room for the message. */
#define HAC_TIME_FORMAT_PROBLEM_MAX 128
const char *hac_time_format_problem(const char *format, size_t bytes, bool reading,
                                    char ret[HAC_TIME_FORMAT_PROBLEM_MAX]);

/* Whether the format has %z. */
bool hac_time_format_has_offset(const char *format, size_t bytes);

/* Prints a time of the years 1 … 9999; `ret` has room for HAC_TIME_FORMAT_GROWTH × bytes. */
size_t hac_time_print(int64_t microseconds, const char *format, size_t bytes, char *ret);

/* HAC_TEXT_MALFORMED: not such a text; _RANGE: no time of the years 1 … 9999; _PRECISION: digits below a
 * microsecond. */
hac_text_status hac_time_parse(const char *text, size_t n, const char *format, size_t bytes, int64_t *ret);

#endif
