/* SPDX-License-Identifier: Apache-2.0 */
/* Any plan as a time line: a lane a device, a bar a task, milliseconds along the bottom. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/type.h"
#include "output.h"

#define LEFT       130.0
#define WIDTH      900.0
#define TOP        64.0
#define LANE       34.0
#define BAR        24.0
#define NARROW     2.0 /* bars of a stage closer than this become one */
#define MAX_STAGES 16

typedef struct chart {
    hac_text *out;
    const hac_plan *plan;
    double seconds;
    const char *stages[MAX_STAGES];
    size_t n_stages;
} chart;

static size_t stage_of(chart *c, const hac_plan_task *task)
{
    const char *stage = task->stage != NULL ? task->stage : task->codelet;
    for (size_t i = 0; i < c->n_stages; i++)
        if (strcmp(c->stages[i], stage) == 0)
            return i;
    if (c->n_stages < MAX_STAGES)
        c->stages[c->n_stages++] = stage;
    return c->n_stages - 1;
}

static double x_of(const chart *c, double seconds)
{
    return LEFT + WIDTH * seconds / c->seconds;
}

/* A bar that is still growing: tasks of one stage that follow each other closely are drawn as one. */
typedef struct bar {
    double x0, x1, start, end;
    size_t stage, tasks, first;
} bar;

static void draw_bar(const chart *c, const bar *b, size_t lane)
{
    char label[96], start[32], seconds[32];
    double y = TOP + (double)lane * LANE, width = fmax(b->x1 - b->x0, 0.6);
    const hac_plan_task *task = &c->plan->tasks[b->first];
    if (b->tasks > 1)
        snprintf(label, sizeof(label), "%s, %zu tasks", c->stages[b->stage], b->tasks);
    else
        hac_task_label(task, label, sizeof(label));
    hac_text_addf(c->out,
                  "<g><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.0f\" rx=\"2\" fill=\"%s\" "
                  "stroke=\"#fff\" stroke-width=\"0.5\"/><title>",
                  b->x0, y, width, BAR, hac_colour(b->stage));
    hac_xml_text(c->out, label);
    hac_text_addf(c->out, ": starts at %s, takes %s</title>",
                  hac_format_seconds(b->start, start, sizeof(start)),
                  hac_format_seconds(b->end - b->start, seconds, sizeof(seconds)));
    if (width > 6.5 * (double)strlen(label)) {
        hac_text_addf(c->out, "<text x=\"%.1f\" y=\"%.1f\" class=\"in\">", b->x0 + width / 2,
                      y + BAR / 2 + 4);
        hac_xml_text(c->out, label);
        hac_text_add(c->out, "</text>");
    }
    hac_text_add(c->out, "</g>\n");
}

static bool runs_on(const hac_plan_task *task, size_t device)
{
    if (!task->range && task->device < 0) /* drawn on the first device that may run it */
        return (task->device_mask & ((UINT32_C(2) << device) - 1)) == UINT32_C(1) << device;
    return task->device_mask >> device & 1;
}

static void draw_lane(chart *c, size_t device)
{
    bar now = {0, 0, 0, 0, 0, 0, 0};
    for (size_t t = 0; t < c->plan->n_tasks; t++) {
        const hac_plan_task *task = &c->plan->tasks[t];
        if (!runs_on(task, device))
            continue;
        double end = task->predicted_start + task->predicted_seconds;
        bar next = {x_of(c, task->predicted_start),
                    x_of(c, end),
                    task->predicted_start,
                    end,
                    stage_of(c, task),
                    1,
                    t};
        bool narrow = next.x1 - next.x0 < NARROW || now.x1 - now.x0 < NARROW;
        if (now.tasks > 0 && now.stage == next.stage && narrow && next.x0 - now.x1 < NARROW &&
            next.x0 >= now.x0) {
            now.x1 = fmax(now.x1, next.x1);
            now.end = fmax(now.end, end);
            now.tasks++;
            continue;
        }
        if (now.tasks > 0)
            draw_bar(c, &now, device);
        now = next;
    }
    if (now.tasks > 0)
        draw_bar(c, &now, device);
}

static void draw_labels(const chart *c)
{
    for (size_t d = 0; d < c->plan->n_devices; d++) {
        double y = TOP + (double)d * LANE;
        hac_text_addf(c->out, "<text x=\"%.0f\" y=\"%.1f\" class=\"lane\">", LEFT - 10, y + BAR / 2);
        hac_xml_text(c->out, c->plan->devices[d].name);
        hac_text_addf(c->out, "</text><text x=\"%.0f\" y=\"%.1f\" class=\"note\">", LEFT - 10,
                      y + BAR / 2 + 12);
        if (hac_plan_is_one_task(c->plan))
            hac_text_add(c->out, "may take the task</text>\n");
        else
            hac_text_addf(c->out, "%.1f %% of items</text>\n", 100 * c->plan->devices[d].share);
    }
}

/* Ticks at 1, 2 or 5 times a power of ten. */
static double tick_step(double range)
{
    double raw = range / 8, power = pow(10, floor(log10(raw)));
    return power * (raw <= power ? 1 : raw <= 2 * power ? 2 : raw <= 5 * power ? 5 : 10);
}

static double draw_axis(const chart *c)
{
    double bottom = TOP + (double)c->plan->n_devices * LANE, step = tick_step(c->seconds * 1e3);
    for (int i = 0; i * step <= c->seconds * 1e3 * 1.0001; i++) {
        double x = x_of(c, i * step / 1e3);
        hac_text_addf(c->out,
                      "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.0f\" y2=\"%.1f\" stroke=\"#ddd\"/>"
                      "<text x=\"%.1f\" y=\"%.1f\" class=\"tick\">%.6g</text>\n",
                      x, x, TOP - 6, bottom + 2, x, bottom + 16, i * step);
    }
    hac_text_addf(
        c->out,
        "<text x=\"%.1f\" y=\"%.1f\" class=\"tick\">milliseconds from the job's start, predicted</text>\n",
        LEFT + WIDTH / 2, bottom + 33);
    return bottom + 54;
}

static void draw_legend(const chart *c, double y)
{
    double x = LEFT;
    for (size_t i = 0; i < c->n_stages; i++) {
        hac_text_addf(c->out, "<rect x=\"%.0f\" y=\"%.0f\" width=\"12\" height=\"12\" fill=\"%s\"/>", x,
                      y - 10, hac_colour(i));
        hac_text_addf(c->out, "<text x=\"%.0f\" y=\"%.0f\">", x + 16, y);
        hac_xml_text(c->out, c->stages[i]);
        hac_text_add(c->out, "</text>\n");
        x += 34 + 7 * (double)strlen(c->stages[i]);
    }
}

static void draw_title(const chart *c)
{
    const hac_plan *plan = c->plan;
    char time[32];
    hac_text_addf(c->out, "<text x=\"14\" y=\"24\" class=\"title\">");
    hac_xml_text(c->out, hac_plan_name(plan));
    if (strcmp(plan->flow, "sort") == 0)
        hac_text_addf(c->out, " of %llu %s: %s%s%s", (unsigned long long)plan->sort.items,
                      hac_type_name(plan->sort.type), plan->sort.algorithm,
                      plan->sort.scheme[0] != '\0' ? ", scheme " : "", plan->sort.scheme);
    hac_text_addf(c->out, "</text>\n<text x=\"14\" y=\"42\">predicted %s",
                  hac_format_seconds(plan->predicted_seconds, time, sizeof(time)));
    if (plan->k > 0)
        hac_text_addf(c->out, " · k = %.4g (%s)", plan->k, plan->k_source);
    if (plan->sort.N > 0)
        hac_text_addf(c->out, " · N = %d", plan->sort.N);
    if (plan->query.rounds > 0)
        hac_text_addf(c->out, " · the last of %llu rounds", (unsigned long long)plan->query.rounds);
    hac_text_add(c->out, "</text>\n");
}

void hac_svg_timeline(hac_text *out, const hac_plan *plan)
{
    chart c = {.out = out, .plan = plan, .seconds = 1e-9};
    for (size_t t = 0; t < plan->n_tasks; t++)
        c.seconds = fmax(c.seconds, plan->tasks[t].predicted_start + plan->tasks[t].predicted_seconds);
    double below = TOP + (double)plan->n_devices * LANE + 74, width = LEFT + WIDTH + 30;
    double height = below + hac_flow_c_svg_height(&plan->query.flow_c);
    hac_text_addf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
        "font-family=\"sans-serif\" font-size=\"12\">\n"
        "<style>.title{font-size:15px;font-weight:bold}.lane{text-anchor:end;font-weight:bold}"
        ".note{text-anchor:end;font-size:9px;fill:#666}.tick{text-anchor:middle;fill:#444;font-size:11px}"
        ".in{text-anchor:middle;fill:#fff;font-size:11px}</style>\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
        width, height, width, height);
    draw_title(&c);
    double y = draw_axis(&c);
    draw_labels(&c);
    for (size_t d = 0; d < plan->n_devices; d++)
        draw_lane(&c, d);
    draw_legend(&c, y);
    hac_flow_c_svg(&plan->query.flow_c, plan->query.hot_keys, 14, below, LEFT + WIDTH - 14, out);
    hac_text_add(out, "</svg>\n");
}
