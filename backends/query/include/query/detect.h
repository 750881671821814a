/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the delimiter of csv, and whether the first line of csv or tsv names the columns. Both depend only on
 * the first HAC_DETECT_BYTES of the input.
 *
 * A character is a *possible* delimiter if it occurs outside quotes, and equally often in every record. The
 * delimiter is the first of these that applies:
 *
 *     1. the comma, if it is possible; but not if one of ; TAB | is possible too and, with that delimiter,
 *        every comma is inside a number (1,5;2,5)
 *     2. the possible one of ; TAB |; of several, the one that occurs most often
 *     3. the space, if it is possible, there are at least three records, and a column has numbers, times or
 *        bools
 *     4. the comma
 *
 * A column is *typed* if all its values after the first record are numbers, times or bools, in any form. The
 * first record is data, and there is no header, if at least one of its values has the type of its column and
 * no value of a typed column has another type. Otherwise, or if no column is typed, the first record is the
 * header. Exception: successive years in the first record are names.
 */
#ifndef QUERY_DETECT_H
#define QUERY_DETECT_H

#include "query/source.h"

#define HAC_DETECT_BYTES 65536

/* Sets the options that HAC_DETECT_… bits of `what` ask for. An input that cannot be read, or has no whole
 * record in its beginning, leaves them as they are: the reader reports errors. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_detect_options(unsigned what, const hac_source_place *place,
                                           hac_source_options *options, hac_error *err);

#endif
