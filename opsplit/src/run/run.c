/* SPDX-License-Identifier: Apache-2.0 */
#include "opsplit/run.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "run/control/steps.h"
#include "run/io/given_vectors.h"
#include "run/io/load.h"
#include "run/io/write.h"
#include "run/ops/ops.h"
#include "run/run_state.h"
#include "run/state/exchange.h"
#include "run/state/graph.h"
#include "run/state/run_base.h"

static hac_status check_given(const hac_logic *logic, const hac_run_options *options, hac_error *err)
{
    for (size_t i = 0; i < logic->n_inputs; i++) {
        bool given = false;
        for (size_t j = 0; j < options->n_inputs; j++)
            given |= strcmp(logic->inputs[i].name, options->inputs[j].name) == 0;
        if (!given && !logic->inputs[i].is_vector)
            return hac_fail(err, HAC_INVALID, "input %s is not given; say where it is with --input %s=FILE",
                            logic->inputs[i].name, logic->inputs[i].name);
        if (!given)
            return hac_fail(
                err, HAC_INVALID,
                "input %s is not given; it is a vector, which a program passes in (hac_opsplit_run)",
                logic->inputs[i].name);
    }
    return HAC_OK;
}

/* ---- ranks ---- */

/* Graphs have to be the same on all ranks, so all ranks use the largest number of threads. */
static hac_status agree_on_threads(hac_logic_run_state *run, hac_error *err)
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

static hac_status load(hac_logic_run_state *run, hac_error *err)
{
    /* All ranks succeed, or none goes on. */
    hac_status status = hac_run_agree(run, hac_run_load(run, err), err);
    return status == HAC_OK && !hac_run_is_single_rank(run) ? agree_on_threads(run, err) : status;
}

static hac_status run_all(hac_logic_run_state *run, hac_error *err)
{
    hac_status status = load(run, err);
    if (status == HAC_OK)
        status = hac_run_steps(run, run->logic->steps, run->logic->n_steps, err);
    if (status == HAC_OK)
        status = hac_run_reduce(run, err);
    if (status == HAC_OK)
        status = hac_run_flush(run, err);
    if (status == HAC_OK &&
        run->options->begun != NULL) /* a caller that asks for the job gets one even if no device ran */
        status = hac_run_agree(run, hac_run_begin_job(run, err), err);
    if (status == HAC_OK)
        status = hac_run_write(run, err);
    if (status == HAC_OK)
        status = hac_run_give_back(run, err);
    return status == HAC_OK && run->job != NULL ? hac_ops_finish(run->job, hac_run_log_text(run), err)
                                                : status;
}

hac_status hac_run_logic(hac_client *client, const hac_logic *logic, const hac_run_options *options,
                         hac_run_report *ret, hac_error *err)
{
    hac_run_report report = {0};
    uint64_t start = hac_now_ns();
    hac_logic_run_state run = {.client = client,
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
