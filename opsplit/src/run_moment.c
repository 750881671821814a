/* SPDX-License-Identifier: Apache-2.0 */
#include "run_moment.h"

#include <stdlib.h>
#include <string.h>

void hac_run_find_changed(const hac_logic_step *step, hac_run_changed *ret)
{
    bool writes[HAC_LOGIC_VECTORS_MAX] = {false};
    hac_logic_mark_writes(step->body, step->n_body, writes);
    ret->n = 0;
    for (int v = 0; v < HAC_LOGIC_VECTORS_MAX; v++)
        if (writes[v])
            ret->vectors[ret->n++] = v;
}

/* A second name for a vector, or none for one that has no value. */
static void copy_vector(hac_logic_run *run, const hac_run_vector *from, hac_run_vector *to)
{
    if (from->memory != NULL)
        hac_run_vector_copy(run, from, to);
    else
        hac_run_vector_clear(run, to);
}

hac_status hac_run_take_moment(hac_logic_run *run, const hac_run_changed *changed, hac_run_moment *ret,
                               hac_error *err)
{
    size_t dimensions = run->logic->n_dimensions;
    *ret = (hac_run_moment){.vectors = calloc(changed->n + 1, sizeof *ret->vectors),
                            .dimensions = calloc(dimensions + 1, sizeof *ret->dimensions),
                            .round = run->round,
                            .rounds = run->report->rounds};
    if (ret->vectors == NULL || ret->dimensions == NULL)
        return hac_fail_no_memory(err);
    for (size_t i = 0; i < changed->n; i++)
        copy_vector(run, &run->vectors[changed->vectors[i]], &ret->vectors[i]);
    memcpy(ret->dimensions, run->dimensions, dimensions * sizeof *ret->dimensions);
    return HAC_OK;
}

void hac_run_go_back(hac_logic_run *run, const hac_run_changed *changed, const hac_run_moment *moment)
{
    for (size_t i = 0; i < changed->n; i++)
        copy_vector(run, &moment->vectors[i], &run->vectors[changed->vectors[i]]);
    memcpy(run->dimensions, moment->dimensions, run->logic->n_dimensions * sizeof *moment->dimensions);
    run->round = moment->round;
    run->report->rounds = moment->rounds;
}

void hac_run_clear_moment(hac_logic_run *run, const hac_run_changed *changed, hac_run_moment *moment)
{
    for (size_t i = 0; moment->vectors != NULL && i < changed->n; i++)
        hac_run_vector_clear(run, &moment->vectors[i]);
    free(moment->vectors);
    free(moment->dimensions);
    *moment = (hac_run_moment){.vectors = NULL};
}
