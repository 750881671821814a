/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the stages of flow B did in a task (base/query_layout.h: hac_splice_value): counted by each thread for
 * itself, then added up. Clocks are read twice a batch of HAC_BATCH_ROWS rows, or less.
 */
#ifndef QUERY_STAGES_H
#define QUERY_STAGES_H

#include <stdbool.h>

#include "base/clock.h"
#include "base/query_layout.h"

/* One stage; times are hac_now_ns's. */
typedef struct hac_stage {
    uint64_t busy;
    uint64_t first, last; /* when its first work began, when its last ended; 0: never */
} hac_stage;

typedef struct hac_splice_counters {
    uint64_t values[HAC_SPLICE_STAGES]; /* by hac_splice_value */
    hac_stage stages[HAC_SPLICE_N_STAGES];
} hac_splice_counters;

/* Adds work from `from` to `to`, of which `other` nanoseconds were another stage's. */
void hac_stage_add(hac_stage *stage, uint64_t from, uint64_t to, uint64_t other);
void hac_stage_merge(hac_stage *stage, const hac_stage *from);

/* A data set, a block or a result: number, bytes, the largest. */
void hac_splice_count_set(hac_splice_counters *counters, uint64_t records, uint64_t bytes);
void hac_splice_count_block(hac_splice_counters *counters, uint64_t bytes);
void hac_splice_count_result(hac_splice_counters *counters, uint64_t bytes);

void hac_splice_merge(hac_splice_counters *counters, const hac_splice_counters *from);
/* HAC_SPLICE_N_VALUES values of a task that began at `start`. */
void hac_splice_put_values(const hac_splice_counters *counters, uint64_t start, uint64_t *ret);
/* Adds what such values say, of a task within this one: all, or its stages only. */
void hac_splice_add_values(hac_splice_counters *counters, uint64_t start, const uint64_t *values,
                           bool stages_only);

#endif
