/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small bitonic plan as its network: items are horizontal lines, index 0 on top; a comparator is a vertical
 * arrow between the two items it compares, its head at the one that gets the larger. Comparators of one step
 * that would overlap stand beside each other. Who runs what is read from the plan's tasks.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/type.h"
#include "output.h"
#include "split.h"

#define MAX_ITEMS 64
#define MAX_N     6
#define MAX_STEP  (MAX_N * (MAX_N + 1) / 2)
#define LEFT      170.0
#define TOP       104.0
#define GAP       16.0 /* between steps */
#define MIN_WIDTH 720.0

typedef struct drawing {
    hac_text *out;
    const hac_plan *plan;
    uint32_t n_steps;
    unsigned m;
    double row, column;                        /* distances */
    double x0[MAX_STEP + 2], x1[MAX_STEP + 2]; /* of each step: first and last column */
    unsigned place[MAX_STEP + 1][MAX_ITEMS];   /* column of the comparator whose upper item this is */
} drawing;

static double y_of(const drawing *d, unsigned item)
{
    return TOP + d->row * (item + 0.5);
}

/* The item that i is compared with in the step; i itself if none. */
static unsigned partner(const drawing *d, uint32_t step, unsigned i)
{
    unsigned q, r;
    hac_network_locate(step, &q, &r);
    unsigned other = r == q ? i ^ ((1u << r) - 1) : i ^ (1u << (r - 1));
    return other < d->m ? other : i;
}

static unsigned place_step(drawing *d, uint32_t step)
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
    for (uint32_t s = 1; s <= d->n_steps; s++) {
        unsigned columns = place_step(d, s);
        d->x0[s] = x;
        x += d->column * (columns > 0 ? columns - 1 : 0);
        d->x1[s] = x;
        x += GAP;
    }
    return x;
}

static double left_of(const drawing *d, uint32_t step)
{
    return d->x0[step] - GAP / 2;
}

static double right_of(const drawing *d, uint32_t step)
{
    return d->x1[step] + GAP / 2;
}

static size_t device_of(const hac_plan_task *task)
{
    return task->device < 0 ? 0 : (size_t)task->device;
}

static bool is_network_task(const hac_plan_task *task)
{
    return task->step_first > 0 && task->step_last >= task->step_first && task->item_count > 0;
}

static void draw_shades(const drawing *d)
{
    for (size_t t = 0; t < d->plan->n_tasks; t++) {
        const hac_plan_task *task = &d->plan->tasks[t];
        if (!is_network_task(task))
            continue;
        double x = left_of(d, task->step_first), y = TOP + d->row * (double)task->item_first;
        hac_text_addf(d->out,
                      "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" "
                      "fill-opacity=\"0.13\"/>\n",
                      x, y + 1, right_of(d, task->step_last) - x, d->row * (double)task->item_count - 2,
                      hac_colour(device_of(task)));
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

static void draw_comparators(const drawing *d, const hac_plan_task *task, uint32_t step)
{
    const char *colour = hac_colour(device_of(task));
    for (unsigned i = (unsigned)task->item_first; i < task->item_first + task->item_count; i++) {
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

static bool is_folded(const hac_plan *plan, uint32_t step)
{
    for (size_t i = 0; i < plan->sort.n_folded; i++)
        if (plan->sort.folded[i] == step)
            return true;
    return false;
}

static bool is_side_by_side(const hac_plan *plan, uint32_t step)
{
    for (size_t t = 0; t < plan->n_tasks; t++)
        if (is_network_task(&plan->tasks[t]) && plan->tasks[t].side_by_side &&
            plan->tasks[t].step_first <= step && step <= plan->tasks[t].step_last)
            return true;
    return false;
}

static void draw_step_numbers(const drawing *d)
{
    unsigned n = (unsigned)d->plan->sort.n;
    for (uint32_t s = 1; s <= d->n_steps; s++)
        hac_text_addf(
            d->out, "<text x=\"%.1f\" y=\"%.1f\" class=\"step\"%s>%" PRIu32 "</text>\n",
            (d->x0[s] + d->x1[s]) / 2, TOP - 12,
            is_folded(d->plan, s) ? " fill=\"#c00\" font-style=\"italic\" text-decoration=\"underline\"" : "",
            s);
    hac_text_addf(d->out, "<text x=\"%.1f\" y=\"%.1f\" class=\"head\">step</text>\n", LEFT - 5, TOP - 12);
    hac_text_addf(d->out, "<text x=\"%.1f\" y=\"%.1f\" class=\"head\">merge subset</text>\n", LEFT - 5,
                  TOP - 32);
    for (unsigned q = 1; q <= n; q++) {
        uint32_t first = hac_network_step(q, q), last = hac_network_steps(q);
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
    for (uint32_t s = 1; s <= d->n_steps; s++) {
        if (!is_side_by_side(d->plan, s))
            continue;
        uint32_t last = s;
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
    for (size_t p = 0; p < d->plan->sort.n_parts; p++) {
        const hac_sort_part *part = &d->plan->sort.parts[p];
        if (part->items == 0)
            continue;
        const char *colour = hac_colour(part->device);
        double y0 = TOP + d->row * (double)part->first, height = d->row * (double)part->items;
        hac_text_addf(d->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"5\" height=\"%.1f\" fill=\"%s\"/>\n",
                      LEFT - 32, y0 + 2, height - 4, colour);
        hac_text_addf(d->out, "<text x=\"%.1f\" y=\"%.1f\" class=\"part\" fill=\"%s\">", LEFT - 38,
                      y0 + height / 2 + (height > 30 ? -3 : 4), colour);
        hac_xml_text(d->out, d->plan->devices[part->device].name);
        hac_text_add(d->out, "</text>\n");
        if (height > 30)
            hac_text_addf(d->out, "<text x=\"%.1f\" y=\"%.1f\" class=\"note\">%" PRIu64 " items</text>\n",
                          LEFT - 38, y0 + height / 2 + 11, part->items);
    }
}

static double legend_line(const drawing *d, double y, const char *mark, const char *text, const char *name)
{
    hac_text_addf(d->out, "%s<text x=\"48\" y=\"%.1f\">%s", mark, y, text);
    if (name != NULL)
        hac_xml_text(d->out, name);
    hac_text_add(d->out, "</text>\n");
    return y + 18;
}

static void draw_legend(const drawing *d, double y)
{
    const hac_sort_info *sort = &d->plan->sort;
    const char *strong = d->plan->devices[sort->parts[sort->n_parts - 1].device].name;
    char mark[256], text[160];
    for (size_t p = 0; p < sort->n_parts; p++) {
        const hac_sort_part *part = &sort->parts[p];
        snprintf(mark, sizeof(mark), "<rect x=\"22\" y=\"%.1f\" width=\"14\" height=\"11\" fill=\"%s\"/>",
                 y - 10, hac_colour(part->device));
        if (part->items == 0)
            snprintf(text, sizeof(text), "no items (k = %.4g): ", part->k);
        else
            snprintf(text, sizeof(text), "items %" PRIu64 "–%" PRIu64 " (k = %.4g): ", part->first,
                     part->first + part->items - 1, part->k);
        y = legend_line(d, y, mark, text, d->plan->devices[part->device].name);
    }
    snprintf(mark, sizeof(mark),
             "<g stroke=\"#444\" fill=\"#444\"><line x1=\"29\" x2=\"29\" y1=\"%.1f\" y2=\"%.1f\"/><circle "
             "cx=\"29\" "
             "cy=\"%.1f\" r=\"1.7\"/><path d=\"M29 %.1fl-2.6 -5h5.2z\" stroke=\"none\"/></g>",
             y - 11, y - 2, y - 11, y + 1);
    y = legend_line(d, y, mark,
                    "compares two items; the larger goes to the arrow's head, the smaller to the lower index",
                    NULL);
    if (sort->n_corun > sort->n_folded || sort->n_corun > 0) {
        snprintf(
            mark, sizeof(mark),
            "<rect x=\"22\" y=\"%.1f\" width=\"14\" height=\"11\" rx=\"2\" fill=\"none\" stroke=\"#000\" "
            "stroke-width=\"1.6\"/>",
            y - 10);
        y = legend_line(d, y, mark,
                        "framed (||): the devices run these steps side by side, each on its own items", NULL);
    }
    y = legend_line(
        d, y, "", sort->n_corun > 0 ? "not framed: all items are gathered on " : "all steps run on ", strong);
    if (sort->n_folded > 0) {
        snprintf(mark, sizeof(mark),
                 "<text x=\"29\" y=\"%.1f\" class=\"step\" fill=\"#c00\" font-style=\"italic\" "
                 "text-decoration=\"underline\">3</text>",
                 y);
        (void)legend_line(d, y, mark, "folded: could run side by side, but was given to ", strong);
    }
}

static void draw_title(const drawing *d)
{
    const hac_plan *plan = d->plan;
    char time[32];
    hac_text_addf(d->out,
                  "<text x=\"14\" y=\"24\" class=\"title\">bitonic %s of %" PRIu64 " %s%s, scheme %s</text>\n"
                  "<text x=\"14\" y=\"43\">n = %d, %" PRIu32 " steps",
                  plan->sort.argsort ? "argsort" : "sort", plan->sort.items, hac_type_name(plan->sort.type),
                  plan->sort.descending ? ", descending" : "", plan->sort.scheme, plan->sort.n, d->n_steps);
    if (plan->k > 0)
        hac_text_addf(d->out, " · k = %.4g (%s), N = %d", plan->k, plan->k_source, plan->sort.N);
    hac_text_addf(d->out, " · %" PRIu64 " items on weaker devices · predicted %s</text>\n",
                  plan->sort.weaker_items, hac_format_seconds(plan->predicted_seconds, time, sizeof(time)));
}

void hac_svg_network(hac_text *out, const hac_plan *plan)
{
    drawing d = {.out = out, .plan = plan, .m = (unsigned)plan->sort.items};
    memset(d.place, 0, sizeof(d.place));
    d.n_steps = hac_network_steps((unsigned)plan->sort.n);
    d.row = d.m <= 16 ? 22 : d.m <= 32 ? 16 : 13;
    d.column = d.m <= 16 ? 10 : d.m <= 32 ? 8 : 7;
    double right = lay_out(&d), bottom = TOP + d.row * d.m;
    double width = fmax(right + 24, MIN_WIDTH), height = bottom + 40 + 18 * (double)(plan->sort.n_parts + 4);
    hac_text_addf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
        "font-family=\"sans-serif\" font-size=\"12\">\n"
        "<style>.title{font-size:15px;font-weight:bold}.item{text-anchor:end;font-size:10px;fill:#555}"
        ".step{text-anchor:middle;font-size:11px}.head{text-anchor:end;font-size:11px;fill:#555}"
        ".part{text-anchor:end;font-weight:bold}.note{text-anchor:end;font-size:10px;fill:#666}</style>\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
        width, height, width, height);
    draw_title(&d);
    draw_shades(&d);
    draw_items(&d, right);
    for (size_t t = 0; t < plan->n_tasks; t++)
        for (uint32_t s = plan->tasks[t].step_first;
             is_network_task(&plan->tasks[t]) && s <= plan->tasks[t].step_last; s++)
            draw_comparators(&d, &plan->tasks[t], s);
    draw_step_numbers(&d);
    draw_frames(&d);
    draw_parts(&d);
    draw_legend(&d, bottom + 46);
    hac_text_add(out, "</svg>\n");
}
