/* SPDX-License-Identifier: Apache-2.0 */
/* A cut (hac_source_cut) as a filter with one conjunct, which sources apply as they apply the query's. */
#ifndef QUERY_CUT_FILTER_H
#define QUERY_CUT_FILTER_H

#include "expr/conjuncts.h"
#include "query/source.h"

/* Zero-initialised: there is none. */
typedef struct hac_cut_filter {
    hac_program *program; /* of the filter; the bounds of `found` point to its bytes */
    hac_conjuncts found;
} hac_cut_filter;

/* Whether there are such filters of a column of that type. */
bool hac_cut_filter_can(hac_value_type type);

/* `ret` has no filter. HAC_NO_MEMORY. */
HAC_MUST_USE hac_status hac_cut_filter_make(const hac_source_cut *cut, hac_value_type type,
                                            hac_cut_filter *ret, hac_error *err);
void hac_cut_filter_clear(hac_cut_filter *filter);

#endif
