/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts and whole sums of a batch whose table has few groups. Adding each row to its record makes every
 * addition wait for the one before to the same record; here rows go to four sets of sums in turn, and records
 * are touched once a batch. Not for floats, whose order counts.
 */
#ifndef QUERY_ACCUMULATE_FEW_H
#define QUERY_ACCUMULATE_FEW_H

#include "group_internal.h"

#define HAC_FEW_GROUPS 16

typedef struct hac_few {
    uint64_t groups; /* 0: there are too many, or too few rows */
    size_t rows;
    uint8_t of[HAC_BATCH_ROWS]; /* the group of each row */
} hac_few;

/* From t->at. */
void hac_few_init(const hac_group_table *t, size_t rows, hac_few *ret);

/* Rows of each group. */
void hac_few_count(const hac_few *few, uint64_t ret[HAC_FEW_GROUPS]);

/* Sums of values[step × row]. */
void hac_few_sum(const hac_few *few, const int64_t *values, size_t step, hac_i128 ret[HAC_FEW_GROUPS]);

/* The sum of all. */
hac_i128 hac_few_sum_all(const int64_t *values, size_t rows);

/* Whether numbers of 128 bits have no more than 64: then they are values with step 2. */
bool hac_few_narrow(const hac_few *few, const int64_t *pairs);

#endif
