/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a placement as text and as JSON. */
#include "opsplit/placement.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void clear_piece(hac_piece_placement *piece)
{
    for (size_t i = 0; i < piece->n_tasks; i++) {
        free(piece->tasks[i].devices);
        free(piece->tasks[i].reason);
    }
    free(piece->tasks);
    free(piece->open);
}

void hac_placement_free(hac_placement *placement)
{
    if (placement == NULL)
        return;
    for (size_t i = 0; i < placement->n_pieces; i++)
        clear_piece(&placement->pieces[i]);
    free(placement->pieces);
    free(placement);
}

bool hac_placement_has_max_rows(const hac_placement *placement)
{
    for (size_t i = 0; i < placement->n_pieces; i++)
        for (size_t t = 0; t < placement->pieces[i].n_tasks; t++)
            if (placement->pieces[i].tasks[t].at_most)
                return true;
    return false;
}

static const char *or_unknown(const char *text)
{
    return text != NULL ? text : "?";
}

static bool is_same(const char *a, const char *b)
{
    return strcmp(or_unknown(a), or_unknown(b)) == 0;
}

/* Whether `b` is the next component after `a`, or the same component of the next sub-loop. */
static bool is_next(const hac_placed_task *a, const hac_placed_task *b)
{
    if (a->sub_loop == b->sub_loop)
        return b->component == a->component + 1;
    return b->sub_loop == a->sub_loop + 1 && a->components == 1 && b->components == 1 &&
           a->first == b->first && a->count == b->count;
}

static bool are_alike(const hac_placed_task *a, const hac_placed_task *b)
{
    return strcmp(a->codelet, b->codelet) == 0 && is_next(a, b) && a->at_most == b->at_most &&
           is_same(a->devices, b->devices) && is_same(a->reason, b->reason);
}

/* Prints " [2 of 4]" or " [1 to 4 of 4]". */
static void print_numbers(const char *what, unsigned first, unsigned last, unsigned n, hac_text *ret)
{
    if (n > 1 && first == last)
        hac_text_addf(ret, " [%s%u of %u]", what, first + 1, n);
    else if (n > 1)
        hac_text_addf(ret, " [%s%u to %u of %u]", what, first + 1, last + 1, n);
}

/* Prints consecutive tasks with the same placement on one line. */
static void print_tasks(const hac_placed_task *first, const hac_placed_task *last, unsigned indent,
                        hac_text *ret)
{
    hac_text_addf(ret, "%*s%s", (int)indent, "", first->codelet);
    print_numbers("sub-loop ", first->sub_loop, last->sub_loop, first->sub_loops, ret);
    print_numbers("", first->component, last->component, first->components, ret);
    if (first->count > 0)
        hac_text_addf(ret, " %s [%" PRIu64 ", %" PRIu64 ")", first->places ? "places" : "rows", first->first,
                      last->first + last->count);
    hac_text_addf(ret, "%s on %s: %s\n", first->at_most ? " (at most)" : "", or_unknown(first->devices),
                  or_unknown(first->reason));
}

void hac_piece_placement_print(const hac_piece_placement *placement, unsigned indent, hac_text *ret)
{
    const hac_placed_task *tasks = placement->tasks;
    for (size_t first = 0, last; first < placement->n_tasks; first = last + 1) {
        for (last = first; last + 1 < placement->n_tasks && are_alike(&tasks[last], &tasks[last + 1]);)
            last++;
        print_tasks(&tasks[first], &tasks[last], indent, ret);
    }
    if (placement->n_tasks == 0 && placement->open == NULL)
        hac_text_addf(ret, "%*snothing to place: it is done without a device\n", (int)indent, "");
    if (placement->open != NULL)
        hac_text_addf(ret, "%*s%s%s\n", (int)indent, "", placement->n_tasks > 0 ? "the rest: " : "",
                      placement->open);
}

static void json_task(const hac_placed_task *task, hac_text *ret)
{
    hac_json_open(ret, NULL, '{');
    hac_json_string(ret, "codelet", task->codelet);
    hac_json_unsigned(ret, "component", task->component);
    hac_json_unsigned(ret, "components", task->components);
    hac_json_unsigned(ret, "sub_loop", task->sub_loop);
    hac_json_unsigned(ret, "sub_loops", task->sub_loops);
    if (task->count > 0) {
        hac_json_open(ret, "rows", '[');
        hac_json_unsigned(ret, NULL, task->first);
        hac_json_unsigned(ret, NULL, task->first + task->count);
        hac_json_close(ret, ']');
    } else {
        hac_json_null(ret, "rows");
    }
    hac_json_bool(ret, "places", task->places);
    hac_json_bool(ret, "at_most", task->at_most);
    hac_json_unsigned(ret, "memory", task->memory);
    hac_json_string(ret, "devices", task->devices);
    if (isnan(task->seconds))
        hac_json_null(ret, "predicted_seconds");
    else
        hac_json_number(ret, "predicted_seconds", task->seconds);
    hac_json_string(ret, "reason", task->reason);
    hac_json_close(ret, '}');
}

void hac_piece_placement_json(const hac_piece_placement *placement, hac_text *ret)
{
    hac_json_open(ret, "tasks", '[');
    for (size_t i = 0; i < placement->n_tasks; i++)
        json_task(&placement->tasks[i], ret);
    hac_json_close(ret, ']');
    hac_json_string(ret, "open", placement->open);
}
