/* SPDX-License-Identifier: Apache-2.0 */
/* The levels of a page, which stand before its values. A definition level below the column's maximum says
 * that there is no value; a repetition level of 0 says that a row begins. */
#ifndef PARQUET_LEVELS_H
#define PARQUET_LEVELS_H

#include "format/page_header.h"
#include "rle_hybrid.h"

typedef struct hac_parquet_levels {
    bool there; /* the page has definition levels; else all values are there */
    hac_parquet_hybrid definition, repetition;
    uint8_t *packed[2]; /* owned: repetition and definition levels that are BIT_PACKED */
} hac_parquet_levels;

void hac_parquet_levels_clear(hac_parquet_levels *levels);

/* HAC_FAILED: the leaf's levels have an encoding that levels cannot have. */
HAC_MUST_USE hac_status hac_parquet_levels_check(const hac_parquet_leaf *leaf,
                                                 const hac_parquet_page_header *header, hac_error *err);

/* Begins the levels at the front of the page's `bytes` bytes. *ret_used: the size of the levels. HAC_FAILED:
 * the page is too short for them. */
HAC_MUST_USE hac_status hac_parquet_levels_begin(hac_parquet_levels *levels, const hac_parquet_leaf *leaf,
                                                 const hac_parquet_kernels *kernels,
                                                 const hac_parquet_page_header *header, const uint8_t *data,
                                                 size_t bytes, size_t *ret_used, hac_error *err);

/* Reads the next n definition levels as row states; *ret_nulls is the number of nulls. Without levels,
 * `states` stays as it is. */
HAC_MUST_USE hac_status hac_parquet_levels_states(hac_parquet_levels *levels, const hac_parquet_leaf *leaf,
                                                  size_t n, uint8_t *states, size_t *ret_nulls,
                                                  hac_error *err);

/* Reads the next n levels of a repeated leaf, and row states as above. n is at most HAC_BATCH_ROWS. */
HAC_MUST_USE hac_status hac_parquet_levels_slots(hac_parquet_levels *levels, const hac_parquet_leaf *leaf,
                                                 size_t n, uint8_t *ret_repetition, uint8_t *ret_definition,
                                                 uint8_t *states, size_t *ret_nulls, hac_error *err);

#endif
