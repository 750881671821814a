/* SPDX-License-Identifier: Apache-2.0 */
#include "planner/plan_history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/format.h"

#define FIRST_PIECES (HAC_HISTORY_PIECES / 2) /* kept for good; the places behind them are the last ones' */

/* SIZE_MAX: there are too many. */
static size_t device_index(hac_plan_history *history, const char *name)
{
    for (size_t d = 0; d < history->n_devices; d++)
        if (strcmp(history->devices[d], name) == 0)
            return d;
    if (history->n_devices == HAC_DEVICES_MAX)
        return SIZE_MAX;
    snprintf(history->devices[history->n_devices], HAC_PLAN_NAME_MAX, "%s", name);
    return history->n_devices++;
}

/* The place of the next piece: that of the oldest of the last ones when all are taken. */
static hac_measured_piece *next_place(hac_plan_history *history)
{
    if (history->n_pieces == HAC_HISTORY_PIECES) {
        history->left_out++;
        return &history->pieces[FIRST_PIECES + history->next++ % (HAC_HISTORY_PIECES - FIRST_PIECES)];
    }
    if (history->n_pieces == history->capacity) {
        size_t capacity = history->capacity == 0 ? 4 : 2 * history->capacity;
        hac_measured_piece *grown = reallocarray(history->pieces, capacity, sizeof(*grown));
        if (grown == NULL) {
            history->left_out++;
            return NULL;
        }
        history->pieces = grown;
        history->capacity = capacity;
    }
    return &history->pieces[history->n_pieces++];
}

static bool is_first_of_its_task(const hac_run_record *records, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (records[i].task == records[index].task && records[i].device == records[index].device)
            return false;
    return true;
}

static void add_piece(hac_plan_history *history, const hac_plan *plan, const hac_run_record *record,
                      bool leads, double start)
{
    size_t device = device_index(history, plan->devices[record->device].name);
    hac_measured_piece *piece = device != SIZE_MAX ? next_place(history) : NULL;
    if (piece == NULL)
        return;
    const hac_plan_task *task = &plan->tasks[record->task];
    *piece = (hac_measured_piece){.device = (uint32_t)device,
                                  .leads = leads,
                                  .record = *record,
                                  .predicted_start = start + task->predicted_start,
                                  .predicted_seconds = task->predicted_seconds};
    piece->record.start += start;
    (void)hac_task_label(task, piece->label, sizeof(piece->label));
    snprintf(piece->codelet, sizeof(piece->codelet), "%s", task->codelet);
}

void hac_plan_history_add(hac_plan_history *history, const hac_plan *plan, const hac_run_record *records,
                          size_t n_records, double start)
{
    /* of one plan, too, no more than are kept */
    size_t left_out = n_records > HAC_HISTORY_PIECES ? n_records - HAC_HISTORY_PIECES : 0;
    for (size_t i = 0; i < n_records; i++) {
        bool first = i < FIRST_PIECES || left_out == 0;
        if (!first && i < FIRST_PIECES + left_out)
            continue;
        if (records[i].task < plan->n_tasks && records[i].device < plan->n_devices)
            add_piece(history, plan, &records[i], first && is_first_of_its_task(records, i), start);
    }
    history->left_out += left_out;
}

void hac_plan_history_clear(hac_plan_history *history)
{
    free(history->pieces);
    *history = (hac_plan_history){.pieces = NULL};
}
