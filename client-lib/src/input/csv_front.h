/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns csv and tsv of other dialects into the forms that executors read, while they are read: another quote,
 * an escape, and lines that are comments (hac_input_is_dialect). The delimiter stays, as do line feeds within
 * fields. A field that was quoted stays quoted; in csv, one that holds a delimiter, a quote or an end of line
 * behind an escape gets quotes.
 *
 * An escape makes a byte data, within quotes and outside of them. A field \N is null, as MySQL writes it.
 * A quote within a field that does not begin with one is data.
 *
 * The line feeds of comments stay, those before the first record behind it, so that errors name the lines of
 * the input. Where records have one field an empty line would be a record, so these line feeds are left out
 * (hac_front_remark).
 */
#ifndef CLIENT_CSV_FRONT_H
#define CLIENT_CSV_FRONT_H

#include <hac/query.h>

#include "front.h"

/* A front; HAC_FAILED of its run: a quote is misplaced; of its end: the input ends within quotes. */
HAC_MUST_USE hac_status hac_csv_front_new(hac_input_format format, const hac_input_options *options,
                                          hac_front **ret, hac_error *err);

/* The functions below are for fronts that hac_csv_front_new has made. */

/* Looks at fields in the usual form, too, which pass otherwise. Call it before the first run. */
void hac_csv_front_look_closely(hac_front *front);

/* What the records so far look like. */
typedef struct hac_csv_look {
    uint64_t records; /* with at least one byte */
    size_t fields;    /* of the first record */
    bool uneven;      /* records have other numbers of fields */
    size_t quoted;    /* fields in quotes */
    size_t escaped;   /* quotes behind an escape, within quotes */
    size_t
        all_quoted; /* columns, of the first 64, that have fields in quotes and no others, but for empty ones */
} hac_csv_look;

hac_csv_look hac_csv_front_look(const hac_front *front);

#endif
