/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Infers a schema from the first records of a csv, tsv or jsonl source. The inferred types lose nothing: a
 * column of numbers that an f64 would change (integers beyond 2^53) or that are not written as numbers
 * usually are (00123, +49) becomes a string column.
 *
 *   i64         integers without leading zeros and without a leading +
 *   decimal     numbers that all have the same 2 to 4 digits behind a point, as money is written: 12.50
 *   f64         other numbers, at least one of them finite
 *   bool        true and false, in any case
 *   date        2020-01-31
 *   timestamp   2020-01-31 12:34:56, in all forms that hac_parse_timestamp accepts, mixed with dates
 *   string      everything else, and columns that have only nulls
 *
 * In csv, "" is a string. In tsv, an empty field tells nothing about its column. In jsonl, a quoted value is
 * a date, a timestamp or a string; an unquoted one is a number or a bool. Columns come in the order of the
 * header, or in the order in which their names first appear.
 */
#ifndef QUERY_INFER_H
#define QUERY_INFER_H

#include "query/source.h"

#define HAC_INFER_RECORDS 65536 /* records that are read; fewer of more than HAC_COLUMNS_MAX columns */

/*
 * HAC_INVALID: the format has no schema to infer.
 * HAC_FAILED: malformed input, with its line; an object or array inside an object; an empty csv or tsv source
 * without a header. A jsonl source without members has no columns. Columns without a header are named c1, c2
 * … options->inferred is not used here: it is for reading with an inferred schema.
 */
HAC_MUST_USE hac_status hac_infer_schema(const hac_source_options *options, const hac_source_place *place,
                                         hac_schema *ret, hac_error *err);

/*
 * As hac_infer_schema, with the forms of numbers and dates that are no default (base/text_forms.h): those
 * of options->options and, if `detect` has HAC_DETECT_FORMS, those that the records show, which are set in
 * options->options. The bits from HAC_DETECT_SEPARATORS on limit the order of dates that options->options
 * has.
 *
 * A decimal comma, a separator of thousands and an order of dates are found if the values of a column are
 * numbers or dates in this form only, and those of no column in another form only. Values that could be
 * numbers or dates in several forms are strings, unless other columns decide. hac_field.forms says which
 * columns are concerned.
 */
HAC_MUST_USE hac_status hac_infer_forms(hac_source_options *options, unsigned detect,
                                        const hac_source_place *place, hac_schema *ret, hac_error *err);

/* Finds the columns as hac_infer_schema does; those of csv and tsv are all strings. */
HAC_MUST_USE hac_status hac_infer_names(const hac_source_options *options, const hac_source_place *place,
                                        hac_schema *ret, hac_error *err);

#endif
