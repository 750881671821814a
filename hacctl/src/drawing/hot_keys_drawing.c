/* SPDX-License-Identifier: Apache-2.0 */
#include "hot_keys_drawing.h"

#include <math.h>
#include <stdio.h>

#include "svg.h"
#include "text/json_fields.h"

#define LINE       17.0
#define CHART      96.0 /* height of the bars' field */
#define CHART_ALL  150.0
#define FIGURES    330.0 /* width of the text beside it */
#define TEXT_LINES 9
#define CHARTS_MAX 8

static const cJSON *hot_keys_of(const cJSON *query)
{
    return cJSON_GetObjectItemCaseSensitive(query, "hot_keys");
}

static int n_charts(const cJSON *hot)
{
    int n = cJSON_GetArraySize(hac_json_get_array(hot, "work_groups"));
    return n < CHARTS_MAX ? n : CHARTS_MAX;
}

double hac_hot_keys_drawing_height(const cJSON *query)
{
    const cJSON *hot = hot_keys_of(query);
    double pairs = hac_json_get_number(hot, "pairs_local") + hac_json_get_number(hot, "pairs_global");
    return pairs > 0 ? fmax(LINE * (TEXT_LINES + 2), CHART_ALL * n_charts(hot)) + LINE : 0;
}

static const char *percent(const cJSON *object, const char *key, char ret[32])
{
    double rate = hac_json_get_number(object, key);
    snprintf(ret, 32, isfinite(rate) ? "%.1f %%" : "none", 100 * rate);
    return ret;
}

static void write_figures(const cJSON *query, double left, double top, hac_text *out)
{
    const cJSON *hot = hot_keys_of(query), *merge = cJSON_GetObjectItemCaseSensitive(query, "merge");
    bool on = hac_json_get_bool(hot, "on", false);
    char line[TEXT_LINES][96] = {{0}}, rate[32];
    snprintf(line[0], sizeof *line, "sample: %s of the rows", percent(hot, "sample_coverage", rate));
    snprintf(line[1], sizeof *line, "hot set: %.0f keys at most, with %s of the sample",
             hac_json_get_number(hot, "hot_set"), percent(hot, "sample_hit_rate", rate));
    snprintf(line[2], sizeof *line, "chosen %.0f times", hac_json_get_number(hot, "chosen"));
    snprintf(line[3], sizeof *line, "hit rate: %s of the rows after it", percent(hot, "hit_rate", rate));
    snprintf(line[4], sizeof *line, "in local memory: %s", percent(hot, "local_hit_rate", rate));
    snprintf(line[5], sizeof *line, "pairs: %.0f in local memory,", hac_json_get_number(hot, "pairs_local"));
    snprintf(line[6], sizeof *line, "%.0f %s global memory", hac_json_get_number(hot, "pairs_global"),
             on ? "overflowed to" : "in");
    snprintf(line[7], sizeof *line, "tables grown %.0f times, %.0f more key ranges",
             hac_json_get_number(hot, "tables_grown"), hac_json_get_number(hot, "key_ranges_more"));
    snprintf(line[8], sizeof *line, "merged: %.0f partials, %.0f pairs to %.0f groups",
             hac_json_get_number(merge, "partials"), hac_json_get_number(merge, "pairs"),
             hac_json_get_number(merge, "groups"));
    hac_text_addf(out, "<text x=\"%.0f\" y=\"%.1f\" class=\"title\">hot keys%s</text>\n", left, top + LINE,
                  on ? "" : " off");
    for (int i = on ? 0 : 5; i < TEXT_LINES; i++)
        hac_text_addf(out, "<text x=\"%.0f\" y=\"%.1f\">%s</text>\n", left,
                      top + LINE * (i - (on ? 0 : 5) + 2.5), line[i]);
}

static void draw_bar(const cJSON *bar, double x, double bottom, double width, hac_text *out)
{
    double rate = hac_json_get_number(bar, "hit_rate"), first = hac_json_get_number(bar, "first");
    double height = isfinite(rate) ? CHART * fmin(fmax(rate, 0), 1) : 0;
    hac_text_addf(out,
                  "<g><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/><title>"
                  "work-groups %.0f to %.0f: %.0f of %.0f rows</title>",
                  x + 1, bottom - height, width - 2, height, hac_svg_colour(0), first,
                  hac_json_get_number(bar, "last"), hac_json_get_number(bar, "hits"),
                  hac_json_get_number(bar, "rows"));
    if (!isfinite(rate))
        hac_text_addf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"tick\">no rows</text>", x + width / 2,
                      bottom - 4);
    else if (width > 26)
        hac_text_addf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">%.0f</text>", x + width / 2,
                      height > 16 ? bottom - height + 13 : bottom - height - 3, height > 16 ? "in" : "tick",
                      100 * rate);
    hac_text_addf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"tick\">%.0f</text></g>\n", x + width / 2,
                  bottom + 14, first);
}

static void draw_chart(const cJSON *groups, double left, double top, double width, hac_text *out)
{
    const cJSON *bars = hac_json_get_array(groups, "bars"), *bar;
    int n = cJSON_GetArraySize(bars), at = 0;
    double bottom = top + LINE + CHART + 8, bar_width = fmin(width / fmax(n, 1), 60);
    hac_text_addf(out,
                  "<text x=\"%.1f\" y=\"%.1f\">hit rate in %%, by work-group (%.0f of them; %.1f to %.1f %%)"
                  "</text>\n",
                  left, top + LINE - 4, hac_json_get_number(groups, "work_groups"),
                  100 * hac_json_get_number(groups, "min"), 100 * hac_json_get_number(groups, "max"));
    for (int i = 0; i <= 4; i++)
        hac_text_addf(out, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>\n", left,
                      left + bar_width * n, bottom - CHART * i / 4, bottom - CHART * i / 4);
    cJSON_ArrayForEach(bar, bars)
    {
        draw_bar(bar, left + bar_width * at++, bottom, bar_width, out);
    }
}

void hac_hot_keys_drawing(const cJSON *query, double left, double top, double width, hac_text *out)
{
    const cJSON *hot = hot_keys_of(query);
    if (hac_hot_keys_drawing_height(query) <= 0)
        return;
    write_figures(query, left, top, out);
    for (int i = 0; i < n_charts(hot); i++)
        draw_chart(cJSON_GetArrayItem(hac_json_get_array(hot, "work_groups"), i), left + FIGURES,
                   top + CHART_ALL * i, width - FIGURES, out);
}
