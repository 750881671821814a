/* SPDX-License-Identifier: Apache-2.0 */
/* Counts and integer sums of a batch when the table has few groups. If each row is added to its record, every
 * addition waits for the previous one to the same record. Here the rows go to four sets of sums in turn, and
 * each record is touched once a batch. Not for floats: the order of their additions matters. */
#ifndef QUERY_ACCUMULATE_FEW_H
#define QUERY_ACCUMULATE_FEW_H

#include "groups/group_internal.h"

#define HAC_FEW_GROUPS 16

typedef struct hac_few {
    uint64_t groups; /* 0: too many groups, or too few rows */
    size_t rows;
    uint8_t of[HAC_BATCH_ROWS]; /* group number of each row */
} hac_few;

/* Finds the rows' groups from t->at. */
void hac_few_init(const hac_group_table *t, size_t rows, hac_few *ret);

/* Counts the rows of each group. */
void hac_few_count(const hac_few *few, uint64_t ret[HAC_FEW_GROUPS]);

/* Sums values[step × row] for each group. */
void hac_few_sum(const hac_few *few, const int64_t *values, size_t step, hac_i128 ret[HAC_FEW_GROUPS]);

/* Sums all values. */
hac_i128 hac_few_sum_all(const int64_t *values, size_t rows);

/* Whether all 128-bit numbers fit 64 bits: then hac_few_sum takes them with step 2. */
bool hac_few_narrow(const hac_few *few, const int64_t *pairs);

#endif
