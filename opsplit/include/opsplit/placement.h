/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the sub-operators of a logic file would run, and why, before they run (`hacctl explain`).
 *
 * The file is walked as in a run. Inputs are loaded, each sub-operator becomes its tasks, and hacd is asked
 * for the plan of each graph. No task runs. Where the data decides the number of rows, as in a filter, tasks
 * are placed for the largest number that can be. A sub-operator that needs a missing input or a result of a
 * task stays open, with the reason. Of a loop only the first round is placed: the first iteration, or the
 * first one of each sub-loop.
 */
#ifndef OPSPLIT_PLACEMENT_H
#define OPSPLIT_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

/* A task: a codelet over one component of a sub-operator. */
typedef struct hac_placed_task {
    char codelet[40];
    unsigned component, components; /* component from 0 */
    unsigned sub_loop, sub_loops;   /* of a loop that is split: sub-loop from 0; else 0 of 1 */
    uint64_t first, count;          /* its rows; count 0: it has no range */
    bool at_most;                   /* the data decides the number of rows; this is the maximum */
    bool places;                    /* single rows: [first, first + count) of the partition's order */
    uint64_t memory;                /* bytes that it needs, for the rule */
    double seconds;                 /* predicted; NAN: unknown */
    char *devices;                  /* "cpu.0, gpu.0"; several devices may share a range */
    char *reason; /* "rule: float, 2 MiB < 3072 MiB: gpu", "measured: cpu.0 1 ms, gpu.0 0.4 ms", "pinned …" */
} hac_placed_task;

/* The tasks of one piece of the logic file. */
typedef struct hac_piece_placement {
    hac_placed_task *tasks;
    size_t n_tasks;
    char *open; /* why the placement is not complete; NULL: it is */
} hac_piece_placement;

typedef struct hac_placement {
    hac_piece_placement *pieces; /* by hac_logic_piece.number */
    size_t n_pieces;
} hac_placement;

/* Reads hacd's plan (JSON) of `n` tasks. Sets devices (malloc'ed), seconds and reason (malloc'ed) of each. */
typedef hac_status hac_plan_reader(const char *json, hac_placed_task *tasks, size_t n, hac_error *err);

void hac_placement_free(hac_placement *placement);
/* Whether there are tasks whose number of rows is only a maximum. */
bool hac_placement_has_max_rows(const hac_placement *placement);

/* Prints lines of text with an indent of `indent` blanks. Components with the same placement share a line. */
void hac_piece_placement_print(const hac_piece_placement *placement, unsigned indent, hac_text *ret);
/* Writes the members "tasks" and "open" of a JSON object. */
void hac_piece_placement_json(const hac_piece_placement *placement, hac_text *ret);

#endif
