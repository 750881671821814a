/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline_drawing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hot_keys_drawing.h"
#include "svg.h"

#define LEFT       130.0
#define WIDTH      900.0
#define TOP        64.0
#define LANE       34.0
#define BAR        24.0
#define NARROW     2.0 /* bars of a stage closer than this become one */
#define MAX_STAGES 16

typedef struct chart {
    hac_text *out;
    const hac_plan_view *plan;
    double seconds;
    const char *stages[MAX_STAGES];
    size_t n_stages;
} chart;

static size_t stage_of(chart *c, const hac_plan_view_task *task)
{
    for (size_t i = 0; i < c->n_stages; i++)
        if (strcmp(c->stages[i], task->stage) == 0)
            return i;
    if (c->n_stages < MAX_STAGES)
        c->stages[c->n_stages++] = task->stage;
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

/* "block 1–105", "scatter": what the task does, in a few words. */
static void label_of(const hac_plan_view_task *task, char *ret, size_t bytes)
{
    if (task->step_first == 0 || task->step_last < task->step_first)
        snprintf(ret, bytes, "%s", task->stage);
    else if (task->step_first == task->step_last)
        snprintf(ret, bytes, "%s %u", strcmp(task->stage, "steps") == 0 ? "step" : task->stage,
                 task->step_first);
    else
        snprintf(ret, bytes, "%s %u–%u", task->stage, task->step_first, task->step_last);
}

static void draw_bar(const chart *c, const bar *b, size_t lane)
{
    char label[96], start[32], seconds[32];
    double y = TOP + (double)lane * LANE, width = fmax(b->x1 - b->x0, 0.6);
    const hac_plan_view_task *task = &c->plan->tasks[b->first];
    if (b->tasks > 1)
        snprintf(label, sizeof(label), "%s, %zu tasks", c->stages[b->stage], b->tasks);
    else
        label_of(task, label, sizeof(label));
    hac_text_addf(c->out,
                  "<g><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.0f\" rx=\"2\" fill=\"%s\" "
                  "stroke=\"#fff\" stroke-width=\"0.5\"/><title>",
                  b->x0, y, width, BAR, hac_svg_colour(b->stage));
    hac_svg_text(c->out, label);
    hac_text_addf(c->out, ": starts at %s, takes %s</title>",
                  hac_format_seconds(b->start, start, sizeof(start)),
                  hac_format_seconds(b->end - b->start, seconds, sizeof(seconds)));
    if (width > 6.5 * (double)strlen(label)) {
        hac_text_addf(c->out, "<text x=\"%.1f\" y=\"%.1f\" class=\"in\">", b->x0 + width / 2,
                      y + BAR / 2 + 4);
        hac_svg_text(c->out, label);
        hac_text_add(c->out, "</text>");
    }
    hac_text_add(c->out, "</g>\n");
}

static bool runs_on(const hac_plan_view_task *task, size_t device)
{
    if (!task->range) /* the first device that may run it */
        return (task->devices & ((UINT64_C(2) << device) - 1)) == UINT64_C(1) << device;
    return task->devices >> device & 1;
}

static void draw_lane(chart *c, size_t device)
{
    bar now = {0, 0, 0, 0, 0, 0, 0};
    for (size_t t = 0; t < c->plan->n_tasks; t++) {
        const hac_plan_view_task *task = &c->plan->tasks[t];
        if (!runs_on(task, device))
            continue;
        double end = task->start + task->seconds;
        bar next = {x_of(c, task->start), x_of(c, end), task->start, end, stage_of(c, task), 1, t};
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
        hac_svg_text(c->out, c->plan->device_names[d]);
        hac_text_addf(c->out, "</text><text x=\"%.0f\" y=\"%.1f\" class=\"note\">", LEFT - 10,
                      y + BAR / 2 + 12);
        if (c->plan->is_one_task)
            hac_text_add(c->out, "may take the task</text>\n");
        else
            hac_text_addf(c->out, "%.1f %% of items</text>\n", 100 * c->plan->shares[d]);
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
                      y - 10, hac_svg_colour(i));
        hac_text_addf(c->out, "<text x=\"%.0f\" y=\"%.0f\">", x + 16, y);
        hac_svg_text(c->out, c->stages[i]);
        hac_text_add(c->out, "</text>\n");
        x += 34 + 7 * (double)strlen(c->stages[i]);
    }
}

static void draw_title(const chart *c)
{
    const hac_plan_view *plan = c->plan;
    char time[32];
    hac_text_addf(c->out, "<text x=\"14\" y=\"24\" class=\"title\">");
    hac_svg_text(c->out, plan->flow);
    if (plan->algorithm != NULL)
        hac_text_addf(c->out, " of %.0f %s: %s%s%s", plan->items, plan->type, plan->algorithm,
                      plan->scheme != NULL ? ", scheme " : "", plan->scheme != NULL ? plan->scheme : "");
    hac_text_addf(c->out, "</text>\n<text x=\"14\" y=\"42\">predicted %s",
                  hac_format_seconds(plan->seconds, time, sizeof time));
    if (plan->k > 0)
        hac_text_addf(c->out, " · k = %.4g (%s)", plan->k, plan->k_source);
    if (plan->N > 0)
        hac_text_addf(c->out, " · N = %.0f", plan->N);
    if (plan->rounds > 0)
        hac_text_addf(c->out, " · the last of %.0f rounds", plan->rounds);
    if (plan->tasks_omitted > 0)
        hac_text_addf(c->out, " · %.0f more tasks are not drawn", plan->tasks_omitted);
    hac_text_add(c->out, "</text>\n");
}

static const char style[] = ".title{font-size:15px;font-weight:bold}.lane{text-anchor:end;font-weight:bold}"
                            ".note{text-anchor:end;font-size:9px;fill:#666}"
                            ".tick{text-anchor:middle;fill:#444;font-size:11px}"
                            ".in{text-anchor:middle;fill:#fff;font-size:11px}";

void hac_timeline_drawing(const hac_plan_view *plan, const cJSON *query, hac_text *out)
{
    chart c = {.out = out, .plan = plan, .seconds = 1e-9};
    for (size_t t = 0; t < plan->n_tasks; t++)
        c.seconds = fmax(c.seconds, plan->tasks[t].start + plan->tasks[t].seconds);
    double below = TOP + (double)plan->n_devices * LANE + 74, width = LEFT + WIDTH + 30;
    double height = below + hac_hot_keys_drawing_height(query);
    hac_svg_open(out, width, height, style);
    draw_title(&c);
    double y = draw_axis(&c);
    draw_labels(&c);
    for (size_t d = 0; d < plan->n_devices; d++)
        draw_lane(&c, d);
    draw_legend(&c, y);
    hac_hot_keys_drawing(query, 14, below, LEFT + WIDTH - 14, out);
    hac_svg_close(out);
}
