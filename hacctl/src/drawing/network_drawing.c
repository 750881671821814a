/* SPDX-License-Identifier: Apache-2.0 */
#include "network_drawing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "svg.h"

#define MAX_ITEMS 64
#define LEFT      170.0
#define TOP       104.0
#define GAP       16.0 /* between steps */
#define MIN_WIDTH 720.0

/* Steps of the merge subsets 1 … q. */
static unsigned steps_of(unsigned q)
{
    return q * (q + 1) / 2;
}

/* Step `r` counted from the last of subset q. */
static unsigned step_of(unsigned q, unsigned r)
{
    return steps_of(q) - r + 1;
}

typedef struct drawing {
    hac_text *out;
    const hac_plan_view *plan;
    unsigned n_steps;
    unsigned m;         /* items */
    double row, column; /* distances */
    double x0[HAC_PLAN_VIEW_STEPS_MAX + 2],
        x1[HAC_PLAN_VIEW_STEPS_MAX + 2]; /* of each step: first and last column */
    unsigned place[HAC_PLAN_VIEW_STEPS_MAX + 1]
                  [MAX_ITEMS]; /* column of the comparator whose upper item this is */
} drawing;

static double y_of(const drawing *d, unsigned item)
{
    return TOP + d->row * (item + 0.5);
}

/* The item that i is compared with in the step; i itself if none. */
static unsigned partner(const drawing *d, unsigned step, unsigned i)
{
    unsigned q = 1;
    while (steps_of(q) < step)
        q++;
    unsigned r = steps_of(q) - step + 1;
    unsigned other = r == q ? i ^ ((1u << r) - 1) : i ^ (1u << (r - 1));
    return other < d->m ? other : i;
}

static unsigned place_step(drawing *d, unsigned step)
{
    int last[MAX_ITEMS]; /* by column: the lowest item in use */
    unsigned columns = 0;
    for (unsigned i = 0; i < d->m; i++) {
        unsigned other = partner(d, step, i), c = 0;
        if (other <= i)
            continue;
        while (c < columns && last[c] >= (int)i)
            c++;
        if (c == columns)
            columns++;
        last[c] = (int)other;
        d->place[step][i] = c;
    }
    return columns;
}

static double lay_out(drawing *d)
{
    double x = LEFT + GAP;
    for (unsigned s = 1; s <= d->n_steps; s++) {
        unsigned columns = place_step(d, s);
        d->x0[s] = x;
        x += d->column * (columns > 0 ? columns - 1 : 0);
        d->x1[s] = x;
        x += GAP;
    }
    return x;
}

static double left_of(const drawing *d, unsigned step)
{
    return d->x0[step] - GAP / 2;
}

static double right_of(const drawing *d, unsigned step)
{
    return d->x1[step] + GAP / 2;
}

static bool is_network_task(const hac_plan_view_task *task)
{
    return task->step_first > 0 && task->step_last >= task->step_first && task->item_count > 0;
}

static void draw_shades(const drawing *d)
{
    for (size_t t = 0; t < d->plan->n_tasks; t++) {
        const hac_plan_view_task *task = &d->plan->tasks[t];
        if (!is_network_task(task))
            continue;
        double x = left_of(d, task->step_first), y = TOP + d->row * (double)task->item_first;
        hac_text_addf(d->out,
                      "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" "
                      "fill-opacity=\"0.13\"/>\n",
                      x, y + 1, right_of(d, task->step_last) - x, d->row * (double)task->item_count - 2,
                      hac_svg_colour(hac_plan_view_task_device(task)));
    }
}

static void draw_items(const drawing *d, double right)
{
    for (unsigned i = 0; i < d->m; i++)
        hac_text_addf(
            d->out,
            "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#888\" stroke-width=\"0.8\"/>"
            "<text x=\"%.1f\" y=\"%.1f\" class=\"item\">%u</text>\n",
            LEFT, right, y_of(d, i), y_of(d, i), LEFT - 5, y_of(d, i) + 3.5, i);
}

static void draw_comparators(const drawing *d, const hac_plan_view_task *task, unsigned step)
{
    const char *colour = hac_svg_colour(hac_plan_view_task_device(task));
    for (unsigned i = task->item_first; i < task->item_first + task->item_count; i++) {
        unsigned other = partner(d, step, i);
        if (other <= i)
            continue;
        double x = d->x0[step] + d->column * d->place[step][i], y0 = y_of(d, i), y1 = y_of(d, other);
        hac_text_addf(d->out,
                      "<g stroke=\"%s\" fill=\"%s\"><line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" "
                      "stroke-width=\"1.4\"/><circle cx=\"%.1f\" cy=\"%.1f\" r=\"1.7\"/>"
                      "<path d=\"M%.1f %.1fl-2.6 -5h5.2z\" stroke=\"none\"/></g>\n",
                      colour, colour, x, x, y0, y1 - 3, x, y0, x, y1 + 0.5);
    }
}

static bool is_side_by_side(const hac_plan_view *plan, unsigned step)
{
    for (size_t t = 0; t < plan->n_tasks; t++)
        if (is_network_task(&plan->tasks[t]) && plan->tasks[t].side_by_side &&
            plan->tasks[t].step_first <= step && step <= plan->tasks[t].step_last)
            return true;
    return false;
}

static void draw_step_numbers(const drawing *d)
{
    unsigned n = d->plan->n;
    for (unsigned s = 1; s <= d->n_steps; s++)
        hac_text_addf(
            d->out, "<text x=\"%.1f\" y=\"%.1f\" class=\"step\"%s>%u</text>\n", (d->x0[s] + d->x1[s]) / 2,
            TOP - 12,
            d->plan->folded[s] ? " fill=\"#c00\" font-style=\"italic\" text-decoration=\"underline\"" : "",
            s);
    hac_text_addf(d->out, "<text x=\"%.1f\" y=\"%.1f\" class=\"head\">step</text>\n", LEFT - 5, TOP - 12);
    hac_text_addf(d->out, "<text x=\"%.1f\" y=\"%.1f\" class=\"head\">merge subset</text>\n", LEFT - 5,
                  TOP - 32);
    for (unsigned q = 1; q <= n; q++) {
        unsigned first = step_of(q, q), last = steps_of(q);
        double a = left_of(d, first) + 2, b = right_of(d, last) - 2;
        hac_text_addf(d->out,
                      "<path d=\"M%.1f %.1fv-4H%.1fv4\" fill=\"none\" stroke=\"#444\"/>"
                      "<text x=\"%.1f\" y=\"%.1f\" class=\"step\">%u</text>\n",
                      a, TOP - 24, b, (a + b) / 2, TOP - 32, q);
    }
}

/* A frame around every stretch of steps in which devices work side by side. */
static void draw_frames(const drawing *d)
{
    double height = d->row * d->m;
    for (unsigned s = 1; s <= d->n_steps; s++) {
        if (!is_side_by_side(d->plan, s))
            continue;
        unsigned last = s;
        while (last < d->n_steps && is_side_by_side(d->plan, last + 1))
            last++;
        double x = left_of(d, s) + 1, width = right_of(d, last) - x - 1;
        hac_text_addf(d->out,
                      "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"3\" fill=\"none\" "
                      "stroke=\"#000\" "
                      "stroke-width=\"1.6\"/>\n",
                      x, TOP - 4, width, height + 8);
        hac_text_addf(d->out, "<text x=\"%.1f\" y=\"%.1f\" class=\"step\" font-weight=\"bold\">%s</text>\n",
                      x + width / 2, TOP + height + 18, width > 84 ? "side by side" : "||");
        s = last;
    }
}

static void draw_parts(const drawing *d)
{
    for (size_t p = 0; p < d->plan->n_parts; p++) {
        const struct hac_plan_view_part *part = &d->plan->parts[p];
        if (part->items == 0)
            continue;
        const char *colour = hac_svg_colour(part->device);
        double y0 = TOP + d->row * (double)part->first, height = d->row * (double)part->items;
        hac_text_addf(d->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"5\" height=\"%.1f\" fill=\"%s\"/>\n",
                      LEFT - 32, y0 + 2, height - 4, colour);
        hac_text_addf(d->out, "<text x=\"%.1f\" y=\"%.1f\" class=\"part\" fill=\"%s\">", LEFT - 38,
                      y0 + height / 2 + (height > 30 ? -3 : 4), colour);
        hac_svg_text(d->out, d->plan->device_names[part->device]);
        hac_text_add(d->out, "</text>\n");
        if (height > 30)
            hac_text_addf(d->out, "<text x=\"%.1f\" y=\"%.1f\" class=\"note\">%u items</text>\n", LEFT - 38,
                          y0 + height / 2 + 11, part->items);
    }
}

static double legend_line(const drawing *d, double y, const char *mark, const char *text, const char *name)
{
    hac_text_addf(d->out, "%s<text x=\"48\" y=\"%.1f\">%s", mark, y, text);
    if (name != NULL)
        hac_svg_text(d->out, name);
    hac_text_add(d->out, "</text>\n");
    return y + 18;
}

static void draw_legend(const drawing *d, double y)
{
    const hac_plan_view *plan = d->plan;
    const char *strong = plan->device_names[plan->parts[plan->n_parts - 1].device];
    char mark[256], text[160];
    for (size_t p = 0; p < plan->n_parts; p++) {
        const struct hac_plan_view_part *part = &plan->parts[p];
        snprintf(mark, sizeof(mark), "<rect x=\"22\" y=\"%.1f\" width=\"14\" height=\"11\" fill=\"%s\"/>",
                 y - 10, hac_svg_colour(part->device));
        if (part->items == 0)
            snprintf(text, sizeof(text), "no items (k = %.4g): ", part->k);
        else
            snprintf(text, sizeof(text), "items %u–%u (k = %.4g): ", part->first,
                     part->first + part->items - 1, part->k);
        y = legend_line(d, y, mark, text, d->plan->device_names[part->device]);
    }
    snprintf(mark, sizeof(mark),
             "<g stroke=\"#444\" fill=\"#444\"><line x1=\"29\" x2=\"29\" y1=\"%.1f\" y2=\"%.1f\"/><circle "
             "cx=\"29\" "
             "cy=\"%.1f\" r=\"1.7\"/><path d=\"M29 %.1fl-2.6 -5h5.2z\" stroke=\"none\"/></g>",
             y - 11, y - 2, y - 11, y + 1);
    y = legend_line(d, y, mark,
                    "compares two items; the larger goes to the arrow's head, the smaller to the lower index",
                    NULL);
    if (plan->n_corun > 0) {
        snprintf(
            mark, sizeof(mark),
            "<rect x=\"22\" y=\"%.1f\" width=\"14\" height=\"11\" rx=\"2\" fill=\"none\" stroke=\"#000\" "
            "stroke-width=\"1.6\"/>",
            y - 10);
        y = legend_line(d, y, mark,
                        "framed (||): the devices run these steps side by side, each on its own items", NULL);
    }
    y = legend_line(
        d, y, "", plan->n_corun > 0 ? "not framed: all items are gathered on " : "all steps run on ", strong);
    if (plan->n_folded > 0) {
        snprintf(mark, sizeof(mark),
                 "<text x=\"29\" y=\"%.1f\" class=\"step\" fill=\"#c00\" font-style=\"italic\" "
                 "text-decoration=\"underline\">3</text>",
                 y);
        (void)legend_line(d, y, mark, "folded: could run side by side, but was given to ", strong);
    }
}

static void draw_title(const drawing *d)
{
    const hac_plan_view *plan = d->plan;
    char time[32];
    hac_text_addf(d->out,
                  "<text x=\"14\" y=\"24\" class=\"title\">bitonic %s of %.0f %s%s, scheme %s</text>\n"
                  "<text x=\"14\" y=\"43\">n = %u, %u steps",
                  plan->argsort ? "argsort" : "sort", plan->items, plan->type,
                  plan->descending ? ", descending" : "", plan->scheme, plan->n, d->n_steps);
    if (plan->k > 0)
        hac_text_addf(d->out, " · k = %.4g (%s), N = %.0f", plan->k, plan->k_source, plan->N);
    hac_text_addf(d->out, " · %.0f items on weaker devices · predicted %s</text>\n", plan->weaker_items,
                  hac_format_seconds(plan->seconds, time, sizeof time));
}

static const char style[] =
    ".title{font-size:15px;font-weight:bold}.item{text-anchor:end;font-size:10px;fill:#555}"
    ".step{text-anchor:middle;font-size:11px}.head{text-anchor:end;font-size:11px;fill:#555}"
    ".part{text-anchor:end;font-weight:bold}.note{text-anchor:end;font-size:10px;fill:#666}";

void hac_network_drawing(const hac_plan_view *plan, hac_text *out)
{
    drawing d = {.out = out, .plan = plan, .m = (unsigned)plan->items};
    memset(d.place, 0, sizeof(d.place));
    d.n_steps = plan->n_steps;
    d.row = d.m <= 16 ? 22 : d.m <= 32 ? 16 : 13;
    d.column = d.m <= 16 ? 10 : d.m <= 32 ? 8 : 7;
    double right = lay_out(&d), bottom = TOP + d.row * d.m;
    double width = fmax(right + 24, MIN_WIDTH), height = bottom + 40 + 18 * (double)(plan->n_parts + 4);
    hac_svg_open(out, width, height, style);
    draw_title(&d);
    draw_shades(&d);
    draw_items(&d, right);
    for (size_t t = 0; t < plan->n_tasks; t++)
        for (unsigned s = plan->tasks[t].step_first;
             is_network_task(&plan->tasks[t]) && s <= plan->tasks[t].step_last; s++)
            draw_comparators(&d, &plan->tasks[t], s);
    draw_step_numbers(&d);
    draw_frames(&d);
    draw_parts(&d);
    draw_legend(&d, bottom + 46);
    hac_svg_close(out);
}
