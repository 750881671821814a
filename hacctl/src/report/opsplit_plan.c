/* SPDX-License-Identifier: Apache-2.0 */
#include "opsplit_plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "text/number_print.h"

enum { DEVICES_MAX = 64, NAME_MAX_BYTES = 128 };

typedef struct opsplit_sum {
    char devices[DEVICES_MAX][NAME_MAX_BYTES];
    double busy[DEVICES_MAX]; /* seconds */
    size_t n_devices, n_tasks;
    double seconds; /* of the busiest device */
} opsplit_sum;

/* Takes the next name of "cpu.0, gpu.0"; false if there is none. */
static bool next_device(const char **at, char *ret)
{
    size_t n;
    if (*at == NULL || **at == '\0')
        return false;
    n = strcspn(*at, ",");
    snprintf(ret, NAME_MAX_BYTES, "%.*s", (int)(n < NAME_MAX_BYTES ? n : NAME_MAX_BYTES - 1), *at);
    *at += n;
    *at += strspn(*at, ", ");
    return true;
}

static size_t device_number(opsplit_sum *p, const char *name)
{
    for (size_t d = 0; d < p->n_devices; d++)
        if (strcmp(p->devices[d], name) == 0)
            return d;
    if (p->n_devices == DEVICES_MAX)
        return DEVICES_MAX;
    strcpy(p->devices[p->n_devices], name);
    return p->n_devices++;
}

/* Adds a task. A task that several devices share keeps all of them busy for its whole time. */
static void add_task(opsplit_sum *p, const hac_placed_task *task)
{
    const char *at = task->devices;
    char name[NAME_MAX_BYTES];
    p->n_tasks++;
    while (next_device(&at, name)) {
        size_t d = device_number(p, name);
        if (d < DEVICES_MAX && isfinite(task->seconds))
            p->busy[d] += task->seconds;
    }
}

static void sum_up(const hac_placement *placement, opsplit_sum *p)
{
    *p = (opsplit_sum){.n_devices = 0};
    for (size_t i = 0; i < placement->n_pieces; i++)
        for (size_t t = 0; t < placement->pieces[i].n_tasks; t++)
            add_task(p, &placement->pieces[i].tasks[t]);
    for (size_t d = 0; d < p->n_devices; d++)
        p->seconds = fmax(p->seconds, p->busy[d]);
}

static double share_of(const opsplit_sum *p, size_t device)
{
    double all = 0;
    for (size_t d = 0; d < p->n_devices; d++)
        all += p->busy[d];
    return all > 0 ? p->busy[device] / all : 0;
}

/* The name of the piece with this number; NULL for the reducer. */
static const char *piece_name(const hac_logic_step *steps, size_t n, size_t number)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < steps[i].n_pieces; k++)
            if (steps[i].pieces[k].number == number)
                return steps[i].pieces[k].name;
        const char *within = piece_name(steps[i].body, steps[i].n_body, number);
        within = within != NULL ? within : piece_name(steps[i].otherwise, steps[i].n_otherwise, number);
        if (within != NULL)
            return within;
    }
    return NULL;
}

static void json_task(const hac_placed_task *task, const char *stage, size_t id, hac_text *ret)
{
    const char *at = task->devices;
    char name[NAME_MAX_BYTES];
    hac_json_open(ret, NULL, '{');
    hac_json_unsigned(ret, "id", id);
    hac_json_string(ret, "codelet", task->codelet);
    hac_json_string(ret, "stage", stage);
    hac_json_open(ret, "devices", '[');
    while (next_device(&at, name))
        hac_json_string(ret, NULL, name);
    hac_json_close(ret, ']');
    hac_json_unsigned(ret, "first", task->first);
    hac_json_unsigned(ret, "count", task->count);
    if (isfinite(task->seconds))
        hac_json_number(ret, "predicted_seconds", task->seconds);
    else
        hac_json_null(ret, "predicted_seconds");
    hac_json_close(ret, '}');
}

static void json_tasks(const hac_logic *logic, const hac_placement *placement, hac_text *ret)
{
    size_t id = 0;
    hac_json_open(ret, "tasks", '[');
    for (size_t i = 0; i < placement->n_pieces; i++) {
        const char *stage = piece_name(logic->steps, logic->n_steps, i);
        for (size_t t = 0; t < placement->pieces[i].n_tasks; t++)
            json_task(&placement->pieces[i].tasks[t], stage != NULL ? stage : "reducer", id++, ret);
    }
    hac_json_close(ret, ']');
}

void hac_opsplit_plan_json(const hac_logic *logic, const hac_placement *placement, hac_text *ret)
{
    static const char *const unknown[] = {"shares", "predicted_seconds", "devices", "tasks"};
    opsplit_sum p;
    hac_json_null(ret, "k");
    hac_json_null(ret, "k_source");
    for (size_t i = 0; placement == NULL && i < sizeof unknown / sizeof *unknown; i++)
        hac_json_null(ret, unknown[i]);
    if (placement == NULL)
        return;
    sum_up(placement, &p);
    hac_json_open(ret, "shares", '[');
    for (size_t d = 0; d < p.n_devices; d++)
        hac_json_number(ret, NULL, share_of(&p, d));
    hac_json_close(ret, ']');
    hac_json_number(ret, "predicted_seconds", p.seconds);
    hac_json_open(ret, "devices", '[');
    for (size_t d = 0; d < p.n_devices; d++)
        hac_json_string(ret, NULL, p.devices[d]);
    hac_json_close(ret, ']');
    json_tasks(logic, placement, ret);
}

void hac_opsplit_plan_print(const hac_placement *placement, hac_text *ret)
{
    char seconds[HAC_NUMBER_PRINT_MAX];
    opsplit_sum p;
    sum_up(placement, &p);
    if (p.n_tasks == 0)
        return;
    hac_text_addf(ret, "predicted %s with %zu tasks, each loop once:",
                  hac_number_print_seconds(p.seconds, seconds), p.n_tasks);
    for (size_t d = 0; d < p.n_devices; d++)
        hac_text_addf(ret, "%s %s %.1f %%", d > 0 ? "," : "", p.devices[d], 100 * share_of(&p, d));
    hac_text_add(ret, "\n");
}
