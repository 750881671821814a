/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon's and the executors' log. Where it goes:
 *
 *   the journal, by its own protocol   hacd under systemd (hac_log_to_journal): a record with the fields
 *                                      MESSAGE, MESSAGE_ID, PRIORITY, HAC_EVENT, HAC_USER, HAC_JOB,
 * HAC_DEVICE else standard error                one line a record, "LEVEL component: message [event user=…
 * job=… …]", with the journal's "<N>" prefix when standard error is the journal
 *
 * Never blocks: a record that cannot be written at once is dropped and counted. What a user causes is limited
 * to one record a (user, kind of event, minute), so that nobody fills the disk, or hides what others do; how
 * many were left out is said in the next record of that kind, or on its own when the minute is over. Any
 * thread may log. Libraries do not log.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/log_events.h"

typedef enum hac_log_level { HAC_LOG_ERROR = 0, HAC_LOG_WARNING, HAC_LOG_INFO, HAC_LOG_DEBUG } hac_log_level;
#define HAC_LOG_N_LEVELS 4

#define HAC_LOG_CONSTANT(constant, name, id, what) HAC_EVENT_##constant,
typedef enum hac_log_event { HAC_LOG_EVENTS(HAC_LOG_CONSTANT) HAC_LOG_N_EVENTS } hac_log_event;
#undef HAC_LOG_CONSTANT

/* Whom or what a record is about. A record with a user is one that this user has caused. */
typedef struct hac_log_subject {
    uint32_t uid;       /* HAC_LOG_NOBODY: no user's */
    uint64_t job;       /* 0: no job's */
    const char *device; /* NULL: no device's */
} hac_log_subject;
#define HAC_LOG_NOBODY UINT32_MAX

/* What is about a device and no user. */
static inline hac_log_subject hac_log_device(const char *device)
{
    return (hac_log_subject){HAC_LOG_NOBODY, 0, device};
}

/* Records of a kind that no user has caused, and lines that a user's executors write: so many a minute. */
#define HAC_LOG_NOBODYS_BURST 64

/* Called once at start, before threads: component name ("hacd", "hac-executor cpu.0"), lowest level shown. */
void hac_log_init(const char *component, hac_log_level level);
void hac_log_set_level(hac_log_level level);

/* Sends records to the journal from now on if standard error goes there, or if HAC_JOURNAL_SOCKET names its
 * socket. Called once, before threads. */
void hac_log_to_journal(void);

/* A record of a kind. `subject` NULL: nobody's. */
void hac_log_record(hac_log_level level, hac_log_event event, const hac_log_subject *subject, const char *fmt,
                    ...) HAC_PRINTF(4, 5);

/* A record without a kind, which is not limited: for what no client can cause. */
void hac_log(hac_log_level level, const char *fmt, ...) HAC_PRINTF(2, 3);

/* Says what was left out in minutes that are over; `all`: in the current ones, too (at the end). To be called
 * now and then. */
void hac_log_report(bool all);

/* For the metrics: records written by level, left out by the limits, and lost because nobody took them. */
typedef struct hac_log_counts {
    uint64_t written[HAC_LOG_N_LEVELS], left_out, lost;
} hac_log_counts;
void hac_log_count(hac_log_counts *ret);

const char *hac_log_level_name(hac_log_level level);

#endif
