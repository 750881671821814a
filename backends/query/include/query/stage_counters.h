/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of the splice pipeline's stages in a task (hac_splice_value in base/query_layout.h). Each thread
 * counts for itself; the sums are added up. Clocks are read at most twice for HAC_BATCH_ROWS rows. */
#ifndef QUERY_STAGE_COUNTERS_H
#define QUERY_STAGE_COUNTERS_H

#include <stdbool.h>

#include "base/clock.h"
#include "base/query_layout.h"

/* One stage; times are from hac_now_ns. */
typedef struct hac_stage {
    uint64_t busy;
    uint64_t first, last; /* start of its first work, end of its last; 0: never */
} hac_stage;

typedef struct hac_splice_counters {
    uint64_t values[HAC_SPLICE_STAGES]; /* by hac_splice_value */
    hac_stage stages[HAC_SPLICE_N_STAGES];
} hac_splice_counters;

/* Adds work from `from` to `to`, of which `other` nanoseconds belong to another stage. */
void hac_stage_add(hac_stage *stage, uint64_t from, uint64_t to, uint64_t other);
void hac_stage_merge(hac_stage *stage, const hac_stage *from);

/* Counts a data set, a block or a result: number, bytes, the largest. */
void hac_splice_count_set(hac_splice_counters *counters, uint64_t records, uint64_t bytes);
void hac_splice_count_block(hac_splice_counters *counters, uint64_t bytes);
void hac_splice_count_result(hac_splice_counters *counters, uint64_t bytes);

void hac_splice_merge(hac_splice_counters *counters, const hac_splice_counters *from);
/* Stores HAC_SPLICE_N_VALUES values of a task that began at `start`. */
void hac_splice_put_values(const hac_splice_counters *counters, uint64_t start, uint64_t *ret);
/* Adds such values of a task that ran inside this one: all, or only its stages. */
void hac_splice_add_values(hac_splice_counters *counters, uint64_t start, const uint64_t *values,
                           bool stages_only);

#endif
