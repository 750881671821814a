/* SPDX-License-Identifier: Apache-2.0 */
#include "report_hash.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "text/number_print.h"

enum { BAR = 40 };

/* The number as text; "-" if there is none. */
static const char *count(const cJSON *object, const char *key, char buffer[HAC_NUMBER_PRINT_MAX])
{
    double number = hac_json_get_number(object, key);
    snprintf(buffer, HAC_NUMBER_PRINT_MAX, isfinite(number) ? "%.0f" : "-", number);
    return buffer;
}

static const char *percent(const cJSON *object, const char *key, char buffer[HAC_NUMBER_PRINT_MAX])
{
    double part = hac_json_get_number(object, key);
    snprintf(buffer, HAC_NUMBER_PRINT_MAX, isfinite(part) ? "%.1f %%" : "-", 100 * part);
    return buffer;
}

static void add_bar(const cJSON *bar, hac_text *text)
{
    char range[2 * HAC_NUMBER_PRINT_MAX], one[HAC_NUMBER_PRINT_MAX], two[HAC_NUMBER_PRINT_MAX],
        drawn[BAR + 1];
    double part = hac_json_get_number(bar, "hit_rate");
    size_t full = isfinite(part) ? (size_t)(fmin(fmax(part, 0), 1) * BAR + 0.5) : 0;
    memset(drawn, '#', full);
    drawn[full] = '\0';
    count(bar, "first", one);
    count(bar, "last", two);
    snprintf(range, sizeof range, strcmp(one, two) == 0 ? "%s" : "%s-%s", one, two);
    hac_text_addf(text, "  %11s %7s %s\n", range, percent(bar, "hit_rate", one),
                  isfinite(part) ? drawn : "no rows");
}

static void add_bars(const cJSON *hot, hac_text *text)
{
    const cJSON *groups, *bar;
    cJSON_ArrayForEach(groups, hac_json_get_array(hot, "work_groups"))
    {
        char n[HAC_NUMBER_PRINT_MAX], one[HAC_NUMBER_PRINT_MAX], two[HAC_NUMBER_PRINT_MAX];
        hac_text_addf(text, "  hit rate by work-group (%s of them, %s to %s)\n",
                      count(groups, "work_groups", n), percent(groups, "min", one),
                      percent(groups, "max", two));
        cJSON_ArrayForEach(bar, hac_json_get_array(groups, "bars"))
        {
            add_bar(bar, text);
        }
    }
}

static void add_hot(const cJSON *hot, hac_text *text)
{
    char one[HAC_NUMBER_PRINT_MAX], two[HAC_NUMBER_PRINT_MAX];
    hac_text_addf(text, "  sample              %s of the rows (%s)\n", percent(hot, "sample_coverage", one),
                  count(hot, "sampled_rows", two));
    hac_text_addf(text, "  hot set             %s keys at most, with %s of the sample\n",
                  count(hot, "hot_set", one), percent(hot, "sample_hit_rate", two));
    hac_text_addf(text, "  chosen              %s times\n", count(hot, "chosen", one));
    hac_text_addf(text, "  hit rate            %s of the %s rows after the sample\n",
                  percent(hot, "hit_rate", one), count(hot, "rows_behind_sample", two));
    hac_text_addf(text, "  in local memory     %s of them, including other keys\n",
                  percent(hot, "local_hit_rate", one));
}

void hac_report_hash(const cJSON *query, hac_text *text)
{
    const cJSON *hot = cJSON_GetObjectItemCaseSensitive(query, "hot_keys");
    const cJSON *merge = cJSON_GetObjectItemCaseSensitive(query, "merge");
    char one[HAC_NUMBER_PRINT_MAX], two[HAC_NUMBER_PRINT_MAX], three[HAC_NUMBER_PRINT_MAX];
    if (!cJSON_IsObject(hot))
        return;
    bool on = hac_json_get_bool(hot, "on", false);
    hac_text_addf(text, "\nhot keys%s\n", on ? "" : ": off");
    if (on)
        add_hot(hot, text);
    hac_text_addf(text, "  pairs               %s in local memory, %s%s global memory\n",
                  count(hot, "pairs_local", one), count(hot, "pairs_global", two),
                  on ? " overflowed to" : " in");
    hac_text_addf(text, "  tables grown        %s times; %s more key ranges\n",
                  count(hot, "tables_grown", one), count(hot, "key_ranges_more", two));
    hac_text_addf(text, "  merged              %s partials, %s pairs to %s groups\n",
                  count(merge, "partials", one), count(merge, "pairs", two), count(merge, "groups", three));
    if (on)
        add_bars(hot, text);
}
