/* SPDX-License-Identifier: Apache-2.0 */
#include "opsplit/run.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "run_internal.h"

static hac_status check_inputs(const hac_logic *logic, const hac_run_options *options, hac_error *err)
{
    for (size_t i = 0; i < options->n_inputs; i++)
        if (hac_logic_input_find(logic, options->inputs[i].name) < 0)
            return hac_fail(err, HAC_INVALID, "%s has no input called %s", logic->file,
                            options->inputs[i].name);
    for (size_t i = 0; i < logic->n_inputs; i++) {
        bool given = false;
        for (size_t j = 0; j < options->n_inputs; j++)
            given |= strcmp(logic->inputs[i].name, options->inputs[j].name) == 0;
        if (!given)
            return hac_fail(err, HAC_INVALID, "input %s is not given; say where it is with --input %s=FILE",
                            logic->inputs[i].name, logic->inputs[i].name);
    }
    return HAC_OK;
}

static hac_status run_all(hac_logic_run *run, hac_error *err)
{
    hac_status status = hac_run_load(run, err);
    if (run->options->ranks != NULL) /* all of them have their inputs, or none goes on */
        status = run->options->ranks->agree(run->options->ranks->context, status, err);
    if (status == HAC_OK)
        status = hac_run_steps(run, run->logic->steps, run->logic->n_steps, err);
    if (status == HAC_OK && run->logic->reducer != NULL)
        status = hac_run_reduce(run, run->logic->reducer, err);
    if (status == HAC_OK)
        status = hac_run_flush(run, err);
    return status == HAC_OK ? hac_run_write(run, err) : status;
}

static void clear(hac_logic_run *run)
{
    for (size_t i = 0; run->vectors != NULL && i < run->logic->n_vectors; i++)
        hac_run_vector_clear(run, &run->vectors[i]);
    hac_run_graph_free(run->graph);
    hac_run_memory_clear(run);
    free(run->vectors);
    free(run->dimensions);
}

hac_status hac_run_logic(hac_client *client, const hac_logic *logic, const hac_run_options *options,
                         hac_run_report *ret, hac_error *err)
{
    hac_run_report report = {0};
    uint64_t start = hac_now_ns();
    hac_logic_run run = {.client = client,
                         .logic = logic,
                         .options = options,
                         .report = &report,
                         .components = options->components > 0 ? options->components : 1};
    hac_status status = check_inputs(logic, options, err);
    if (status != HAC_OK)
        return status;
    run.vectors = calloc(logic->n_vectors + 1, sizeof *run.vectors);
    run.dimensions = calloc(logic->n_dimensions + 1, sizeof *run.dimensions);
    status = run.vectors == NULL || run.dimensions == NULL ? hac_fail_no_memory(err)
                                                           : hac_run_graph_new(&run.graph, err);
    if (status == HAC_OK)
        status = run_all(&run, err);
    clear(&run);
    report.seconds = hac_seconds_since(start);
    *ret = report;
    return status;
}
