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
 * (hac_csv_front_shifts).
 */
#ifndef CLIENT_CSV_FRONT_H
#define CLIENT_CSV_FRONT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hac/query.h>

#include "base/cleanup.h"
#include "base/error.h"

typedef struct hac_csv_front hac_csv_front;

HAC_MUST_USE hac_status hac_csv_front_new(hac_input_format format, const hac_input_options *options,
                                          hac_csv_front **ret, hac_error *err);
void hac_csv_front_free(hac_csv_front *front);
HAC_DEFINE_CLEANUP(hac_csv_front *, hac_csv_front_free)

/* As hac_json_front_run: takes *ret_used of the `bytes` at `in`, and writes *ret_made bytes to `out`, which
 * has `capacity` (> 0) bytes. HAC_FAILED: a quote is misplaced behind the bytes that were written. */
HAC_MUST_USE hac_status hac_csv_front_run(hac_csv_front *front, const uint8_t *in, size_t bytes,
                                          size_t *ret_used, uint8_t *out, size_t capacity, size_t *ret_made,
                                          hac_error *err);
/* Whether hac_csv_front_run may write bytes without getting any. */
bool hac_csv_front_holds(const hac_csv_front *front);
/* Ends the input; the bytes that this makes are held. HAC_FAILED: it ends within quotes. */
HAC_MUST_USE hac_status hac_csv_front_end(hac_csv_front *front, hac_error *err);

/* Lines of comments were left out, so lines are not those of the input. */
bool hac_csv_front_shifts(const hac_csv_front *front);

/* Looks at fields in the usual form, too, which pass otherwise. Call it before the first run. */
void hac_csv_front_look_closely(hac_csv_front *front);

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

hac_csv_look hac_csv_front_look(const hac_csv_front *front);

#endif
