/* SPDX-License-Identifier: Apache-2.0 */
#include "planner/past.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"

#define FIRST_PIECES (HAC_PAST_PIECES / 2) /* kept for good; the places behind them are the last ones' */

/* SIZE_MAX: there are too many. */
static size_t device_index(hac_past *past, const char *name)
{
    for (size_t d = 0; d < past->n_devices; d++)
        if (strcmp(past->devices[d], name) == 0)
            return d;
    if (past->n_devices == HAC_PLAN_MAX_DEVICES)
        return SIZE_MAX;
    snprintf(past->devices[past->n_devices], HAC_PLAN_NAME_MAX, "%s", name);
    return past->n_devices++;
}

/* The place of the next piece: that of the oldest of the last ones when all are taken. */
static hac_past_piece *next_place(hac_past *past)
{
    if (past->n_pieces == HAC_PAST_PIECES) {
        past->left_out++;
        return &past->pieces[FIRST_PIECES + past->next++ % (HAC_PAST_PIECES - FIRST_PIECES)];
    }
    if (past->n_pieces == past->room) {
        size_t room = past->room == 0 ? 4 : 2 * past->room;
        hac_past_piece *grown = reallocarray(past->pieces, room, sizeof(*grown));
        if (grown == NULL) {
            past->left_out++;
            return NULL;
        }
        past->pieces = grown;
        past->room = room;
    }
    return &past->pieces[past->n_pieces++];
}

static bool is_first_of_its_task(const hac_run_record *records, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (records[i].task == records[index].task && records[i].device == records[index].device)
            return false;
    return true;
}

static void add_piece(hac_past *past, const hac_plan *plan, const hac_run_record *record, bool leads,
                      double start)
{
    size_t device = device_index(past, plan->devices[record->device].name);
    hac_past_piece *piece = device != SIZE_MAX ? next_place(past) : NULL;
    if (piece == NULL)
        return;
    const hac_plan_task *task = &plan->tasks[record->task];
    *piece = (hac_past_piece){.device = (uint32_t)device,
                              .leads = leads,
                              .record = *record,
                              .predicted_start = start + task->predicted_start,
                              .predicted_seconds = task->predicted_seconds};
    piece->record.start += start;
    (void)hac_task_label(task, piece->label, sizeof(piece->label));
    snprintf(piece->codelet, sizeof(piece->codelet), "%s", task->codelet);
}

void hac_past_add(hac_past *past, const hac_plan *plan, const hac_run_record *records, size_t n_records,
                  double start)
{
    /* of one plan, too, no more than are kept */
    size_t left_out = n_records > HAC_PAST_PIECES ? n_records - HAC_PAST_PIECES : 0;
    for (size_t i = 0; i < n_records; i++) {
        bool first = i < FIRST_PIECES || left_out == 0;
        if (!first && i < FIRST_PIECES + left_out)
            continue;
        if (records[i].task < plan->n_tasks && records[i].device < plan->n_devices)
            add_piece(past, plan, &records[i], first && is_first_of_its_task(records, i), start);
    }
    past->left_out += left_out;
}

void hac_past_clear(hac_past *past)
{
    free(past->pieces);
    *past = (hac_past){.pieces = NULL};
}
