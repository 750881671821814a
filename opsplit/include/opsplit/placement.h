/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the sub-operators of a logic file would run, and why, before they do (`hacctl explain`).
 *
 * The file is walked as a run walks it: inputs are loaded, each sub-operator becomes the tasks that it would
 * become, and hacd, which decides, is asked for the plan of each graph of them. None of them runs. Where the
 * data decides how many rows there are (how many a filter keeps), tasks are placed for as many as there can
 * be. What needs an input that is not given, or a value that a sub-operator would find, is open, and says of
 * what. Of loops it is the first round: the first iteration, of one that is split that of each sub-loop.
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
    unsigned sub_loop, sub_loops;   /* of a loop that is split, sub-loop from 0; else 0 of 1 */
    uint64_t first, count;          /* its rows; count 0: it has no range */
    bool most;                      /* the data decides how many: it has at most these */
    bool places;     /* rows that were dealt one by one: [first, first + count) in that order */
    uint64_t memory; /* bytes that it needs, which the rule looks at */
    double seconds;  /* predicted; NAN: not said */
    char *devices;   /* "cpu.0, gpu.0"; of a range several may share it */
    char *reason; /* "rule: float, 2 MiB < 3072 MiB: gpu", "measured: cpu.0 1 ms, gpu.0 0.4 ms", "pinned …" */
} hac_placed_task;

/* Of one piece of the logic file. */
typedef struct hac_piece_placement {
    hac_placed_task *tasks;
    size_t n_tasks;
    char *open; /* why not all of it is said; NULL: it is */
} hac_piece_placement;

typedef struct hac_placement {
    hac_piece_placement *pieces; /* by hac_logic_piece.number */
    size_t n_pieces;
} hac_placement;

/* Reads hacd's plan, JSON, of `n` tasks: devices (malloc'ed), seconds and reason (malloc'ed) of each. */
typedef hac_status hac_plan_reader(const char *json, hac_placed_task *tasks, size_t n, hac_error *err);

void hac_placement_free(hac_placement *placement);
/* Whether it has tasks of at most so many rows. */
bool hac_placement_is_most(const hac_placement *placement);

/* Lines for people, each after `indent` blanks; components that are placed alike share one. */
void hac_piece_placement_print(const hac_piece_placement *placement, unsigned indent, hac_text *ret);
/* Members "tasks" and "open" of a JSON object that is open. */
void hac_piece_placement_json(const hac_piece_placement *placement, hac_text *ret);

#endif
