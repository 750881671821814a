/* SPDX-License-Identifier: Apache-2.0 */
/* How many records of one kind a user may cause in a minute. A fixed table: what does not fit is left out. */
#ifndef BASE_LOG_LIMIT_H
#define BASE_LOG_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"

#define HAC_LOG_LIMIT_ENTRIES   256
#define HAC_LOG_LIMIT_WINDOW_NS UINT64_C(60000000000)

typedef struct hac_log_limit_entry {
    uint64_t since_ns; /* the minute's begin */
    uint64_t left_out; /* since the last record that was written */
    uint32_t uid;
    uint16_t event;
    uint16_t written; /* in this minute; 0: the entry is free */
} hac_log_limit_entry;

typedef struct hac_log_limit {
    hac_log_limit_entry entries[HAC_LOG_LIMIT_ENTRIES];
    uint64_t crowded_out; /* there was no entry for them */
} hac_log_limit;

/* Whether a record may be written now; *ret_left_out: those before it that were not, to be told with it. */
bool hac_log_limit_take(hac_log_limit *limit, uint32_t uid, hac_log_event event, uint64_t now_ns,
                        uint64_t *ret_left_out);

/* Takes out one entry whose minute is over (`all`: any) and that has left something out: false: there is
 * none. An entry of no event stands for all that was crowded out. */
bool hac_log_limit_collect(hac_log_limit *limit, uint64_t now_ns, bool all, hac_log_limit_entry *ret);

#endif
