/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the delimiter of csv, and whether the first line of csv or tsv names the columns, from the first
 * HAC_DETECT_BYTES of an input. What is found depends on these bytes alone.
 *
 * The delimiter is the comma, if all records have as many of them outside of quotes, and at least one, unless
 * another one of ; TAB | is possible and all commas are then in numbers (1,5;2,5). Else
 * it is the one of ; TAB | of which that is true, and of several the one with the most. Else it is the space,
 * if that is true of it, there are three records or more, and a column has numbers, times or bools. Else it
 * is the comma.
 *
 * A column is typed if all its values but the first are numbers, times or bools, in any form. There is no
 * header if a
 * value of the first record is of its column's type, and no value is of another one. Successive years are an
 * exception: they are names. Without a typed column, the first record is the header.
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
