/* SPDX-License-Identifier: Apache-2.0 */
#include "hadoop_reporter.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "text/json_fields.h"
#include "text/number_print.h"
#include "text/text_table.h"

/* Hadoop wants a state every 10 minutes; people who watch want one sooner. */
enum { SECONDS = 5 };

static const struct {
    const char *counter, *member; /* name for Hadoop, and member of a receipt's "query" */
} counters[HAC_HADOOP_REPORTER_COUNTERS] = {{"records_read", "rows_read"},
                                            {"records_skipped", "rows_skipped"},
                                            {"groups", "groups"},
                                            {"rows_out", "rows_out"}};

size_t hac_hadoop_reporter_format_status(const hac_progress *progress, char ret[HAC_HADOOP_REPORTER_TEXT])
{
    char rate[HAC_NUMBER_PRINT_MAX] = "", percent[HAC_NUMBER_PRINT_MAX];
    const char *stage = progress->stage != NULL ? progress->stage : "";
    const char *note = progress->note != NULL ? progress->note : "";
    if (progress->items_per_second > 0)
        hac_number_print_rate(progress->items_per_second, rate);
    bool known = progress->fraction > 0 && progress->fraction <= 1;
    snprintf(ret, HAC_HADOOP_REPORTER_TEXT - 1, "reporter:status:hac: %s%s%s%s%s%s%s",
             *stage != '\0' ? stage : "working", known ? ", " : "",
             known ? hac_number_print_percent(progress->fraction, percent) : "", *rate != '\0' ? ", " : "",
             rate, *note != '\0' ? ", " : "", note);
    hac_text_table_sanitise(ret, false);
    size_t bytes = strlen(ret);
    ret[bytes++] = '\n';
    ret[bytes] = '\0';
    return bytes;
}

size_t hac_hadoop_reporter_format_counters(hac_hadoop_reporter *reporter, const cJSON *receipt,
                                           char ret[HAC_HADOOP_REPORTER_TEXT])
{
    const cJSON *query = cJSON_GetObjectItemCaseSensitive(receipt, "query");
    size_t bytes = 0;
    ret[0] = '\0';
    for (size_t i = 0; i < HAC_HADOOP_REPORTER_COUNTERS; i++) {
        double now = hac_json_get_number(query, counters[i].member);
        if (!(now > (double)reporter->told[i] && now < 0x1p63))
            continue;
        uint64_t more = (uint64_t)now - reporter->told[i];
        bytes +=
            (size_t)snprintf(ret + bytes, HAC_HADOOP_REPORTER_TEXT - bytes, "reporter:counter:hac,%s,%llu\n",
                             counters[i].counter, (unsigned long long)more);
        reporter->told[i] += more;
    }
    return bytes;
}

/* One write, so that lines of several processes do not mix. */
static void put(const char *text, size_t bytes)
{
    if (bytes > 0 && write(STDERR_FILENO, text, bytes) < 0) {
        /* there is no one to report this to */
    }
}

bool hac_hadoop_reporter_status(hac_hadoop_reporter *reporter, const hac_progress *progress)
{
    char text[HAC_HADOOP_REPORTER_TEXT];
    if (reporter->quiet || (reporter->shown_ns != 0 && hac_seconds_since(reporter->shown_ns) < SECONDS))
        return false;
    reporter->shown_ns = hac_now_ns();
    put(text, hac_hadoop_reporter_format_status(progress, text));
    return true;
}

void hac_hadoop_reporter_counters(hac_hadoop_reporter *reporter, const cJSON *receipt)
{
    char text[HAC_HADOOP_REPORTER_TEXT];
    if (!reporter->quiet)
        put(text, hac_hadoop_reporter_format_counters(reporter, receipt, text));
}

void hac_hadoop_reporter_end(const hac_hadoop_reporter *reporter, const char *state)
{
    char text[HAC_HADOOP_REPORTER_TEXT];
    if (!reporter->quiet)
        put(text, (size_t)snprintf(text, sizeof text, "reporter:status:hac: %s\n", state));
}
