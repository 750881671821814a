/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Hadoop Streaming reads on a task's standard error: states, which keep Hadoop from killing a silent
 * task, and counters of the group `hac`. Hadoop adds up what it reads, so counters are reported as
 * increments.
 *
 *     reporter:status:hac: 1.18 M records/s
 *     reporter:counter:hac,records_read,1180000
 */
#ifndef HACCTL_HADOOP_REPORTER_H
#define HACCTL_HADOOP_REPORTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>
#include <hac/hac.h>

enum { HAC_HADOOP_REPORTER_COUNTERS = 4, HAC_HADOOP_REPORTER_TEXT = 512 };

typedef struct hac_hadoop_reporter {
    bool quiet;
    uint64_t shown_ns;                           /* time of the last state; 0: none yet */
    uint64_t told[HAC_HADOOP_REPORTER_COUNTERS]; /* what the counters have reported so far */
} hac_hadoop_reporter;

/* Writes the line of a state with its line feed. */
size_t hac_hadoop_reporter_format_status(const hac_progress *progress, char ret[HAC_HADOOP_REPORTER_TEXT]);
/* Writes lines for what the counters of a job's receipt (JSON) grew by since the last call. */
size_t hac_hadoop_reporter_format_counters(hac_hadoop_reporter *reporter, const cJSON *receipt,
                                           char ret[HAC_HADOOP_REPORTER_TEXT]);

/* Print to standard error: a state, at most every few seconds (returns false if it is too early); the
 * counters. */
bool hac_hadoop_reporter_status(hac_hadoop_reporter *reporter, const hac_progress *progress);
void hac_hadoop_reporter_counters(hac_hadoop_reporter *reporter, const cJSON *receipt);
/* Prints the last state: "done", or that the job failed. */
void hac_hadoop_reporter_end(const hac_hadoop_reporter *reporter, const char *state);

#endif
