/* SPDX-License-Identifier: Apache-2.0 */
#include "snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "vectors.h"

void hac_run_find_changed(const hac_logic_step *step, hac_run_changed *ret)
{
    bool writes[HAC_LOGIC_VECTORS_MAX] = {false};
    hac_logic_mark_writes(step->body, step->n_body, writes);
    ret->n = 0;
    for (int v = 0; v < HAC_LOGIC_VECTORS_MAX; v++)
        if (writes[v])
            ret->vectors[ret->n++] = v;
}

/* Makes `to` a second name for `from`, or clears it if `from` has no value. */
static void copy_vector(hac_logic_run_state *run, const hac_run_vector *from, hac_run_vector *to)
{
    if (from->memory != NULL)
        hac_run_vector_copy(run, from, to);
    else
        hac_run_vector_clear(run, to);
}

hac_status hac_run_snapshot_take(hac_logic_run_state *run, const hac_run_changed *changed,
                                 hac_run_snapshot *ret, hac_error *err)
{
    size_t dimensions = run->logic->n_dimensions;
    *ret = (hac_run_snapshot){.vectors = calloc(changed->n + 1, sizeof *ret->vectors),
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

void hac_run_snapshot_restore(hac_logic_run_state *run, const hac_run_changed *changed,
                              const hac_run_snapshot *snapshot)
{
    for (size_t i = 0; i < changed->n; i++)
        copy_vector(run, &snapshot->vectors[i], &run->vectors[changed->vectors[i]]);
    memcpy(run->dimensions, snapshot->dimensions, run->logic->n_dimensions * sizeof *snapshot->dimensions);
    run->round = snapshot->round;
    run->report->rounds = snapshot->rounds;
}

void hac_run_snapshot_clear(hac_logic_run_state *run, const hac_run_changed *changed,
                            hac_run_snapshot *snapshot)
{
    for (size_t i = 0; snapshot->vectors != NULL && i < changed->n; i++)
        hac_run_vector_clear(run, &snapshot->vectors[i]);
    free(snapshot->vectors);
    free(snapshot->dimensions);
    *snapshot = (hac_run_snapshot){.vectors = NULL};
}
