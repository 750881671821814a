/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A schema from data: what a csv, tsv or jsonl source looks like, by its first records. What is inferred must
 * lose nothing: numbers that an f64 would change (whole ones beyond 2^53), or whose writing is not a number's
 * (00123, +49) make a string column.
 *
 *   i64         whole numbers, without zeros or a + in front
 *   f64         numbers, one of them finite at least
 *   bool        true, false, in any case
 *   date        2020-01-31
 *   timestamp   2020-01-31 12:34:56, in all ways of hac_parse_timestamp; dates may be between them
 *   string      everything else, and columns of nothing but nulls
 *
 * csv: "" is a string; tsv: an empty field says nothing. jsonl: what stands in quotes is a date, a timestamp
 * or a string, what does not is a number or a bool. The order of columns is that of the header, or that in
 * which names first come.
 */
#ifndef QUERY_INFER_H
#define QUERY_INFER_H

#include "query/source.h"

#define HAC_INFER_RECORDS 65536 /* that are looked at */

/*
 * HAC_INVALID: a format that has no schema to infer, a header that cannot be one (two columns of a name, no
 * name, more than HAC_FIELDS_MAX). HAC_FAILED: malformed input, with its line; an object or array in an
 * object; an empty source without a header. Without a header columns are named c1, c2 … Of options->inferred
 * nothing is needed here: it is for reading with what was inferred.
 */
HAC_MUST_USE hac_status hac_infer_schema(const hac_source_options *options, const hac_source_place *place,
                                         hac_schema *ret, hac_error *err);

#endif
