/* SPDX-License-Identifier: Apache-2.0 */
#include "planner/flow_c.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "output.h"

#define PER_RATE   1e-6 /* rates of work-groups are reported per million */
#define LINE       17.0
#define CHART      96.0 /* height of the bars' field */
#define CHART_ALL  150.0
#define FIGURES    330.0 /* width of the text beside it */
#define TEXT_LINES 9

static double rate(uint64_t part, uint64_t all)
{
    return all != 0 ? (double)part / (double)all : NAN;
}

static hac_flow_c_groups *shape_of(hac_flow_c *f, uint64_t n)
{
    for (size_t i = 0; i < f->n_groups; i++)
        if (f->groups[i].n == n)
            return &f->groups[i];
    if (f->n_groups == HAC_FLOW_C_SHAPES)
        return NULL;
    f->groups[f->n_groups] = (hac_flow_c_groups){.n = n, .least = 1};
    return &f->groups[f->n_groups++];
}

void hac_flow_c_add(hac_flow_c *f, const uint64_t *values, size_t n)
{
    if (n < HAC_AGGREGATE_N_VALUES)
        return;
    uint64_t hot_set = values[HAC_AGGREGATE_VALUE_HOT_KEYS], groups = values[HAC_AGGREGATE_VALUE_WORK_GROUPS];
    f->sampled += values[HAC_AGGREGATE_VALUE_SAMPLED];
    f->covered += values[HAC_AGGREGATE_VALUE_COVERED];
    f->hot_set = hot_set > f->hot_set ? hot_set : f->hot_set;
    f->chosen += values[HAC_AGGREGATE_VALUE_CHOSEN];
    f->behind += values[HAC_AGGREGATE_VALUE_BEHIND];
    f->hits += values[HAC_AGGREGATE_VALUE_HOT_HITS];
    f->local_hits += values[HAC_AGGREGATE_VALUE_LOCAL_HITS];
    f->pairs_local += values[HAC_AGGREGATE_VALUE_PAIRS_LOCAL];
    f->pairs_global += values[HAC_AGGREGATE_VALUE_PAIRS_GLOBAL];
    f->grown += values[HAC_AGGREGATE_VALUE_GROWN];
    f->key_ranges += values[HAC_AGGREGATE_VALUE_KEY_RANGES];
    hac_flow_c_groups *shape = groups != 0 ? shape_of(f, groups) : NULL;
    if (shape == NULL)
        return;
    shape->least = fmin(shape->least, (double)values[HAC_AGGREGATE_VALUE_LEAST] * PER_RATE);
    shape->greatest = fmax(shape->greatest, (double)values[HAC_AGGREGATE_VALUE_GREATEST] * PER_RATE);
    for (size_t i = 0; i < HAC_HOT_BARS; i++) {
        shape->rows[i] += values[HAC_AGGREGATE_VALUE_BARS + i];
        shape->hits[i] += values[HAC_AGGREGATE_VALUE_BARS + HAC_HOT_BARS + i];
    }
}

/* ---- bars ---- */

static size_t n_bars(const hac_flow_c_groups *g)
{
    return g->n < HAC_HOT_BARS ? (size_t)g->n : HAC_HOT_BARS;
}

/* The first work-group of a bar: that g for which hac_hot_bar gets to `bar`. An executor says how many there
 * are: any number. */
static uint64_t first_of(const hac_flow_c_groups *g, size_t bar)
{
    uint64_t whole = g->n / HAC_HOT_BARS, rest = g->n % HAC_HOT_BARS;
    return g->n <= HAC_HOT_BARS ? bar : bar * whole + (bar * rest + HAC_HOT_BARS - 1) / HAC_HOT_BARS;
}

/* ---- JSON ---- */

static void groups_json(const hac_flow_c_groups *g, hac_text *out)
{
    hac_json_open(out, NULL, '{');
    hac_json_unsigned(out, "work_groups", g->n);
    hac_json_number(out, "least", g->least);
    hac_json_number(out, "greatest", g->greatest);
    hac_json_open(out, "bars", '[');
    for (size_t i = 0; i < n_bars(g); i++) {
        hac_json_open(out, NULL, '{');
        hac_json_unsigned(out, "first", first_of(g, i));
        hac_json_unsigned(out, "last", first_of(g, i + 1) - 1);
        hac_json_unsigned(out, "rows", g->rows[i]);
        hac_json_unsigned(out, "hits", g->hits[i]);
        hac_json_number(out, "hit_rate", rate(g->hits[i], g->rows[i]));
        hac_json_close(out, '}');
    }
    hac_json_close(out, ']');
    hac_json_close(out, '}');
}

void hac_flow_c_json(const hac_flow_c *f, bool on, hac_text *out)
{
    hac_json_open(out, "hot_keys", '{');
    hac_json_bool(out, "on", on);
    hac_json_unsigned(out, "sampled_rows", f->sampled);
    hac_json_number(out, "sample_coverage", rate(f->sampled, f->sampled + f->behind));
    hac_json_number(out, "sample_hit_rate", rate(f->covered, f->sampled));
    hac_json_unsigned(out, "hot_set", f->hot_set);
    hac_json_unsigned(out, "chosen", f->chosen);
    hac_json_unsigned(out, "rows_behind_sample", f->behind);
    hac_json_unsigned(out, "hits", f->hits);
    hac_json_number(out, "hit_rate", rate(f->hits, f->behind));
    hac_json_unsigned(out, "local_hits", f->local_hits);
    hac_json_number(out, "local_hit_rate", rate(f->local_hits, f->behind));
    hac_json_unsigned(out, "pairs_local", f->pairs_local);
    hac_json_unsigned(out, "pairs_global", f->pairs_global);
    hac_json_unsigned(out, "tables_grown", f->grown);
    hac_json_unsigned(out, "key_ranges_more", f->key_ranges);
    hac_json_open(out, "work_groups", '[');
    for (size_t i = 0; i < f->n_groups; i++)
        groups_json(&f->groups[i], out);
    hac_json_close(out, ']');
    hac_json_close(out, '}');
    hac_json_open(out, "merge", '{');
    hac_json_unsigned(out, "partials", f->partials);
    hac_json_unsigned(out, "pairs", f->pairs_merged);
    hac_json_unsigned(out, "groups", f->groups_merged);
    hac_json_close(out, '}');
}

/* ---- SVG ---- */

double hac_flow_c_svg_height(const hac_flow_c *f)
{
    if (f->pairs_local + f->pairs_global == 0)
        return 0;
    return fmax(LINE * (TEXT_LINES + 2), CHART_ALL * (double)f->n_groups) + LINE;
}

static void percent(char *to, size_t room, uint64_t part, uint64_t all)
{
    if (all != 0)
        snprintf(to, room, "%.1f %%", 100 * rate(part, all));
    else
        snprintf(to, room, "none");
}

static void write_figures(const hac_flow_c *f, bool on, double left, double top, hac_text *out)
{
    char line[TEXT_LINES][96] = {{0}}, one[32], two[32];
    percent(one, sizeof one, f->sampled, f->sampled + f->behind);
    percent(two, sizeof two, f->covered, f->sampled);
    snprintf(line[0], sizeof *line, "sample: %s of the rows", one);
    snprintf(line[1], sizeof *line, "hot set: %" PRIu64 " keys at most, with %s of the sample", f->hot_set,
             two);
    snprintf(line[2], sizeof *line, "chosen %" PRIu64 " times", f->chosen);
    percent(one, sizeof one, f->hits, f->behind);
    percent(two, sizeof two, f->local_hits, f->behind);
    snprintf(line[3], sizeof *line, "hit rate: %s of the rows behind it", one);
    snprintf(line[4], sizeof *line, "in local memory: %s", two);
    snprintf(line[5], sizeof *line, "pairs: %" PRIu64 " in local memory,", f->pairs_local);
    snprintf(line[6], sizeof *line, "%" PRIu64 " %s global memory", f->pairs_global,
             on ? "overflowed to" : "in");
    snprintf(line[7], sizeof *line, "tables grown %" PRIu64 " times, %" PRIu64 " more key ranges", f->grown,
             f->key_ranges);
    snprintf(line[8], sizeof *line, "merged: %" PRIu64 " partials, %" PRIu64 " pairs to %" PRIu64 " groups",
             f->partials, f->pairs_merged, f->groups_merged);
    hac_text_addf(out, "<text x=\"%.0f\" y=\"%.1f\" class=\"title\">hot keys%s</text>\n", left, top + LINE,
                  on ? "" : " off");
    for (int i = on ? 0 : 5; i < TEXT_LINES; i++)
        hac_text_addf(out, "<text x=\"%.0f\" y=\"%.1f\">%s</text>\n", left,
                      top + LINE * (i - (on ? 0 : 5) + 2.5), line[i]);
}

static void draw_bar(const hac_flow_c_groups *g, size_t i, double x, double bottom, double wide,
                     hac_text *out)
{
    uint64_t first = first_of(g, i), last = first_of(g, i + 1) - 1;
    double part = rate(g->hits[i], g->rows[i]), high = isnan(part) ? 0 : CHART * part;
    hac_text_addf(out,
                  "<g><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/><title>"
                  "work-groups %" PRIu64 " to %" PRIu64 ": %" PRIu64 " of %" PRIu64 " rows</title>",
                  x + 1, bottom - high, wide - 2, high, hac_colour(0), first, last, g->hits[i], g->rows[i]);
    if (isnan(part))
        hac_text_addf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"tick\">no rows</text>", x + wide / 2,
                      bottom - 4);
    else if (wide > 26)
        hac_text_addf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">%.0f</text>", x + wide / 2,
                      high > 16 ? bottom - high + 13 : bottom - high - 3, high > 16 ? "in" : "tick",
                      100 * part);
    hac_text_addf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"tick\">%" PRIu64 "</text></g>\n", x + wide / 2,
                  bottom + 14, first);
}

static void draw_chart(const hac_flow_c_groups *g, double left, double top, double width, hac_text *out)
{
    double bottom = top + LINE + CHART + 8, wide = fmin(width / (double)n_bars(g), 60);
    hac_text_addf(out,
                  "<text x=\"%.1f\" y=\"%.1f\">hit rate in %%, by work-group (%" PRIu64
                  " of them; %.1f to %.1f %%)</text>\n",
                  left, top + LINE - 4, g->n, 100 * g->least, 100 * g->greatest);
    for (int i = 0; i <= 4; i++)
        hac_text_addf(out, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>\n", left,
                      left + wide * (double)n_bars(g), bottom - CHART * i / 4, bottom - CHART * i / 4);
    for (size_t i = 0; i < n_bars(g); i++)
        draw_bar(g, i, left + wide * (double)i, bottom, wide, out);
}

void hac_flow_c_svg(const hac_flow_c *f, bool on, double left, double top, double width, hac_text *out)
{
    if (hac_flow_c_svg_height(f) <= 0)
        return;
    write_figures(f, on, left, top, out);
    for (size_t i = 0; i < f->n_groups; i++)
        draw_chart(&f->groups[i], left + FIGURES, top + CHART_ALL * (double)i, width - FIGURES, out);
}
