/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Hadoop Streaming reads on a task's standard error: states, which keep it from taking a task that is
 * silent for dead, and counters of the group `hac`. Hadoop adds up what it is told, so counters are told as
 * increments.
 *
 *     reporter:status:hac: 1.18 M records/s
 *     reporter:counter:hac,records_read,1180000
 */
#ifndef HACCTL_REPORTER_H
#define HACCTL_REPORTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>
#include <hac/hac.h>

enum { HAC_REPORTER_COUNTERS = 4, HAC_REPORTER_TEXT = 512 };

typedef struct hac_reporter {
    bool quiet;
    uint64_t shown_ns;                    /* when a state was told last; 0: never */
    uint64_t told[HAC_REPORTER_COUNTERS]; /* so far */
} hac_reporter;

/* The state's line and its line feed. */
size_t hac_reporter_format_status(const hac_progress *progress, char ret[HAC_REPORTER_TEXT]);
/* The lines of counters that a job's receipt (JSON) has more of than was told; they count as told. */
size_t hac_reporter_format_counters(hac_reporter *reporter, const cJSON *receipt,
                                    char ret[HAC_REPORTER_TEXT]);

/* On standard error: a state, at most every few seconds (false: not now); the counters. */
bool hac_reporter_status(hac_reporter *reporter, const hac_progress *progress);
void hac_reporter_counters(hac_reporter *reporter, const cJSON *receipt);
/* The last state: "done", or that it failed. */
void hac_reporter_end(const hac_reporter *reporter, const char *state);

#endif
