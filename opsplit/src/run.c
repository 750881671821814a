/* SPDX-License-Identifier: Apache-2.0 */
#include "opsplit/run.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "run_internal.h"

hac_status hac_run_check_names(const hac_logic *logic, const hac_run_options *options, hac_error *err)
{
    for (size_t i = 0; i < options->n_inputs; i++)
        if (hac_logic_input_find(logic, options->inputs[i].name) < 0)
            return hac_fail(err, HAC_INVALID, "%s has no input called %s", logic->file,
                            options->inputs[i].name);
    return HAC_OK;
}

static hac_status check_given(const hac_logic *logic, const hac_run_options *options, hac_error *err)
{
    for (size_t i = 0; i < logic->n_inputs; i++) {
        bool given = false;
        for (size_t j = 0; j < options->n_inputs; j++)
            given |= strcmp(logic->inputs[i].name, options->inputs[j].name) == 0;
        if (!given && !logic->inputs[i].handed)
            return hac_fail(err, HAC_INVALID, "input %s is not given; say where it is with --input %s=FILE",
                            logic->inputs[i].name, logic->inputs[i].name);
        if (!given)
            return hac_fail(err, HAC_INVALID,
                            "input %s is not given; it is a vector, which a program hands over "
                            "(hac_opsplit_run)",
                            logic->inputs[i].name);
    }
    return HAC_OK;
}

/* ---- ranks ---- */

/* Graphs are the same on all ranks: so is what every node is taken to have. */
static hac_status agree_on_threads(hac_logic_run *run, hac_error *err)
{
    const hac_ranks *ranks = run->options->ranks;
    hac_autofree uint64_t *threads = calloc(ranks->ranks, sizeof *threads);
    if (threads == NULL)
        return hac_fail_no_memory(err);
    threads[ranks->rank] = run->threads;
    hac_status status = hac_run_share_numbers(run, threads, err);
    for (unsigned r = 0; r < ranks->ranks && status == HAC_OK; r++)
        run->threads = threads[r] > run->threads ? (unsigned)threads[r] : run->threads;
    return status;
}

static hac_status load(hac_logic_run *run, hac_error *err)
{
    hac_status status = hac_run_agree(run, hac_run_load(run, err), err); /* all of them, or none goes on */
    return status == HAC_OK && !hac_run_alone(run) ? agree_on_threads(run, err) : status;
}

static hac_status run_all(hac_logic_run *run, hac_error *err)
{
    hac_status status = load(run, err);
    if (status == HAC_OK)
        status = hac_run_steps(run, run->logic->steps, run->logic->n_steps, err);
    if (status == HAC_OK)
        status = hac_run_reduce(run, err);
    if (status == HAC_OK)
        status = hac_run_flush(run, err);
    if (status == HAC_OK &&
        run->options->begun != NULL) /* whoever asks for a job has one, though no device ran */
        status = hac_run_agree(run, hac_run_begin_job(run, err), err);
    if (status == HAC_OK)
        status = hac_run_write(run, err);
    if (status == HAC_OK)
        status = hac_run_give_back(run, err);
    return status == HAC_OK && run->job != NULL ? hac_ops_finish(run->job, hac_run_log_text(run), err)
                                                : status;
}

hac_status hac_run_open(hac_logic_run *run, hac_error *err)
{
    run->vectors = calloc(run->logic->n_vectors + 1, sizeof *run->vectors);
    run->dimensions = calloc(run->logic->n_dimensions + 1, sizeof *run->dimensions);
    return run->vectors == NULL || run->dimensions == NULL ? hac_fail_no_memory(err)
                                                           : hac_run_graph_new(run, &run->graph, err);
}

void hac_run_clear(hac_logic_run *run)
{
    hac_job_free(run->job); /* of a run that has failed: it is cancelled */
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

hac_status hac_run_logic(hac_client *client, const hac_logic *logic, const hac_run_options *options,
                         hac_run_report *ret, hac_error *err)
{
    hac_run_report report = {0};
    uint64_t start = hac_now_ns();
    hac_logic_run run = {.client = client,
                         .logic = logic,
                         .options = options,
                         .report = &report,
                         .components = options->components > 0 ? options->components : 1,
                         .threads = hac_node_threads()};
    hac_status status = hac_run_check_names(logic, options, err);
    if (status == HAC_OK)
        status = check_given(logic, options, err);
    if (status == HAC_OK)
        status = hac_run_check_results(logic, options, err);
    if (status != HAC_OK)
        return status;
    status = hac_run_open(&run, err);
    if (status == HAC_OK)
        status = run_all(&run, err);
    hac_run_clear(&run);
    report.seconds = hac_seconds_since(start);
    *ret = report;
    return status;
}
