/* SPDX-License-Identifier: Apache-2.0 */
#include "op_totals.h"

#include <stdlib.h>
#include <string.h>

void hac_op_totals_clear(hac_op_totals *totals)
{
    free(totals->items);
    *totals = (hac_op_totals){NULL, 0};
}

/* NULL: there is no place for another one. */
static hac_op_total *find(hac_op_totals *totals, const hac_op_spec *op)
{
    hac_op_total wanted = {.tasks = 0};
    snprintf(wanted.name, sizeof wanted.name, "%s", op->name);
    snprintf(wanted.codelet, sizeof wanted.codelet, "%s", op->codelet);
    for (size_t i = 0; i < totals->n; i++)
        if (strcmp(totals->items[i].name, wanted.name) == 0 &&
            strcmp(totals->items[i].codelet, wanted.codelet) == 0)
            return &totals->items[i];
    if (totals->n == HAC_OP_TOTALS_MAX)
        return NULL;
    if (totals->items == NULL)
        totals->items = calloc(HAC_OP_TOTALS_MAX, sizeof *totals->items);
    if (totals->items == NULL)
        return NULL;
    totals->items[totals->n] = wanted;
    return &totals->items[totals->n++];
}

/* The bytes that the task reads or writes. */
static double bytes_of(const hac_op_spec *op)
{
    double bytes = 0;
    for (size_t s = 0; s < op->n_spans; s++)
        bytes += (double)(op->spans[s].touch_end - op->spans[s].touch_first);
    return bytes;
}

void hac_op_totals_add(hac_op_totals *totals, const hacd_job *job, const hac_ops_spec *spec)
{
    for (size_t i = 0; i < job->run.n_records; i++) {
        const hac_run_record *r = &job->run.records[i];
        if (r->lost || r->task >= spec->n_tasks)
            continue;
        const hac_op_spec *op = &spec->tasks[r->task];
        hac_op_total *total = find(totals, op);
        if (total == NULL)
            continue;
        total->tasks++;
        total->kernel_tasks += r->by_kernels;
        total->rows += r->count;
        total->bytes += bytes_of(op) * (op->count > 0 ? (double)r->count / (double)op->count : 1);
        total->seconds += r->seconds;
        total->devices |= 1u << hacd_job_device(job, r->device);
    }
}

static void print_one(const hac_op_total *total, const hac_devices *devices, hac_text *text)
{
    hac_json_open(text, NULL, '{');
    hac_json_string(text, "name", total->name);
    hac_json_string(text, "codelet", total->codelet);
    hac_json_unsigned(text, "tasks", total->tasks);
    hac_json_unsigned(text, "kernel_tasks", total->kernel_tasks);
    hac_json_unsigned(text, "rows", total->rows);
    hac_json_unsigned(text, "bytes", (uint64_t)total->bytes);
    hac_json_number(text, "seconds", total->seconds);
    hac_json_open(text, "devices", '[');
    for (uint32_t d = 0; d < devices->count; d++)
        if (total->devices >> d & 1)
            hac_json_string(text, NULL, devices->items[d]->config.name);
    hac_json_close(text, ']');
    hac_json_close(text, '}');
}

void hac_op_totals_print(const hac_op_totals *totals, const hacd_job *job, const hac_ops_spec *spec,
                         hac_text *text)
{
    hac_op_totals all = {calloc(HAC_OP_TOTALS_MAX, sizeof *all.items), totals->n};
    if (all.items == NULL)
        return;
    if (totals->n > 0)
        memcpy(all.items, totals->items, totals->n * sizeof *all.items);
    hac_op_totals_add(&all, job, spec);
    hac_json_open(text, "totals", '[');
    for (size_t i = 0; i < all.n; i++)
        print_one(&all.items[i], job->jobs->devices, text);
    hac_json_close(text, ']');
    hac_op_totals_clear(&all);
}
