/* SPDX-License-Identifier: Apache-2.0 */
#include "run_state.h"

#include <stdlib.h>

#include "run/state/graph.h"
#include "run/state/vectors.h"
#include "run/tasks/partition.h"

hac_status hac_run_check_names(const hac_logic *logic, const hac_run_options *options, hac_error *err)
{
    for (size_t i = 0; i < options->n_inputs; i++)
        if (hac_logic_input_find(logic, options->inputs[i].name) < 0)
            return hac_fail(err, HAC_INVALID, "%s has no input called %s", logic->file,
                            options->inputs[i].name);
    return HAC_OK;
}

hac_status hac_run_open(hac_logic_run_state *run, hac_error *err)
{
    run->vectors = calloc(run->logic->n_vectors + 1, sizeof *run->vectors);
    run->dimensions = calloc(run->logic->n_dimensions + 1, sizeof *run->dimensions);
    return run->vectors == NULL || run->dimensions == NULL ? hac_fail_no_memory(err)
                                                           : hac_run_graph_new(run, &run->graph, err);
}

void hac_run_clear(hac_logic_run_state *run)
{
    hac_job_free(run->job); /* cancels the job of a run that has failed */
    hac_text_clear(&run->log);
    for (unsigned i = 0; i < run->n_sent; i++)
        hac_run_graph_free(run->sent[i]);
    hac_run_graph_free(run->spare_graph);
    hac_run_graph_free(run->graph);
    hac_run_partitions_clear(run);
    hac_run_memory_clear(run);
    free(run->vectors);
    free(run->dimensions);
}
