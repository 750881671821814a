/* SPDX-License-Identifier: Apache-2.0 */
#include "log_limit.h"

#include <stddef.h>

static bool is_over(const hac_log_limit_entry *entry, uint64_t now_ns)
{
    return now_ns - entry->since_ns >= HAC_LOG_LIMIT_WINDOW_NS;
}

/* The entry of that user and event, else one that is free or has nothing more to say; NULL: all are in use.
 */
static hac_log_limit_entry *find(hac_log_limit *limit, uint32_t uid, hac_log_event event, uint64_t now_ns)
{
    hac_log_limit_entry *free_one = NULL;
    for (unsigned i = 0; i < HAC_LOG_LIMIT_ENTRIES; i++) {
        hac_log_limit_entry *entry = &limit->entries[i];
        if (entry->written != 0 && entry->uid == uid && entry->event == event)
            return entry;
        bool idle = entry->written == 0 || (is_over(entry, now_ns) && entry->left_out == 0);
        if (idle && free_one == NULL)
            free_one = entry;
    }
    if (free_one != NULL)
        *free_one = (hac_log_limit_entry){.uid = uid, .event = (uint16_t)event, .since_ns = now_ns};
    return free_one;
}

bool hac_log_limit_take(hac_log_limit *limit, uint32_t uid, hac_log_event event, uint64_t now_ns,
                        uint64_t *ret_left_out)
{
    *ret_left_out = 0;
    hac_log_limit_entry *entry = find(limit, uid, event, now_ns);
    if (entry == NULL) {
        limit->crowded_out++;
        return false;
    }
    if (is_over(entry, now_ns)) {
        entry->since_ns = now_ns;
        entry->written = 0;
    }
    /* a driver's message is many lines */
    unsigned max = uid == HAC_LOG_NOBODY || event == HAC_EVENT_REMARK ? HAC_LOG_NOBODYS_BURST : 1;
    if (entry->written >= max) {
        entry->left_out++;
        return false;
    }
    entry->written++;
    *ret_left_out = entry->left_out;
    entry->left_out = 0;
    return true;
}

bool hac_log_limit_collect(hac_log_limit *limit, uint64_t now_ns, bool all, hac_log_limit_entry *ret)
{
    for (unsigned i = 0; i < HAC_LOG_LIMIT_ENTRIES; i++) {
        hac_log_limit_entry *entry = &limit->entries[i];
        if (entry->left_out == 0 || !(all || is_over(entry, now_ns)))
            continue;
        *ret = *entry;
        entry->left_out = 0;
        return true;
    }
    if (limit->crowded_out == 0)
        return false;
    *ret = (hac_log_limit_entry){
        .uid = HAC_LOG_NOBODY, .event = HAC_LOG_N_EVENTS, .left_out = limit->crowded_out};
    limit->crowded_out = 0;
    return true;
}
