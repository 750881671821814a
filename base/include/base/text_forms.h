/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers and dates as people write them in their countries: 1.234,56 or 1,234.56 or 1'234.56; 31.12.2024 or
 * 12/31/2024. The functions rewrite such a text in the form that the parsers of base/value_text.h take. Which
 * form a text has is an option of its input (hac_input_options: decimal, thousands, dates).
 */
#ifndef BASE_TEXT_FORMS_H
#define BASE_TEXT_FORMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hac/query.h>

#define HAC_FORM_TEXT_MAX 128 /* bytes of a rewritten text; longer ones are not rewritten */

/*
 * Rewrites a number without separators of thousands and with a decimal point. Returns its bytes; 0: it is no
 * such number. Separators must stand between groups of three digits, of which the first may be shorter and
 * does not begin with 0, so that 1,5 is never 15. A space may be one of those that do not break lines, and an
 * apostrophe may be a right single quotation mark. What is not digits, separators and a decimal sign is
 * copied: the caller's parser decides on it.
 */
size_t hac_plain_number(const char *text, size_t bytes, hac_decimal_sign decimal, hac_thousands thousands,
                        char ret[HAC_FORM_TEXT_MAX]);

/* What a text with a decimal sign or separators of thousands may be. */
typedef struct hac_number_form {
    hac_thousands thousands; /* the separator that it has; HAC_THOUSANDS_NONE: none */
    bool fraction;           /* it has a decimal sign, or an exponent */
    bool several;            /* two separators or more: neither can be a decimal sign */
} hac_number_form;

/* Whether the text is a number with that decimal sign and any one separator of thousands. `ret_plain` gets
 * its rewritten form. */
size_t hac_number_form_of(const char *text, size_t bytes, hac_decimal_sign decimal, hac_number_form *ret,
                          char ret_plain[HAC_FORM_TEXT_MAX]);

/*
 * Rewrites a date with day and month in that order, or a year in front (2024/12/31, 2024-1-5), as 2024-12-31.
 * Its parts are separated by two equal ones of . / -, and the year has four digits. A time may follow,
 * 1:05 PM or 13:05:00, with the zones of hac_parse_timestamp. Returns the bytes; 0: it is no such date.
 * HAC_DATES_AUTO and HAC_DATES_YMD take a year in front only.
 */
size_t hac_plain_date(const char *text, size_t bytes, hac_date_order order, char ret[HAC_FORM_TEXT_MAX]);

/* Whether the text is a date with the year at its end, and then the separator of its parts, else 0. */
char hac_date_separator(const char *text, size_t bytes);

#endif
