/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A backend that does nothing: in the place of hac-executor, which probes and builds for it, it says of every
 * task that it is done, and looks at no data. What a job takes then is what hac itself costs: the client,
 * hacd, and the messages.
 *
 * HAC_BENCH_EXECUTOR is the real one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "parent.h"

HAC_DEFINE_CLEANUP(hac_parent *, hac_parent_free)

static hac_status send_ready(hac_parent *parent, hac_error *err)
{
    Hac__Executor__DeviceFacts facts;
    Hac__Executor__Ready ready;
    Hac__Executor__Report report;
    hac__executor__device_facts__init(&facts);
    hac__executor__ready__init(&ready);
    hac__executor__report__init(&report);
    facts.platform = "null";
    facts.block_items = 1024;
    ready.facts = &facts;
    report.what_case = HAC__EXECUTOR__REPORT__WHAT_READY;
    report.ready = &ready;
    return hac_parent_send(parent, &report, err);
}

static hac_status send_done(hac_parent *parent, const Hac__Executor__Run *run, hac_error *err)
{
    Hac__Executor__Done done;
    Hac__Executor__Report report;
    hac__executor__done__init(&done);
    hac__executor__report__init(&report);
    done.task = run->task;
    done.seconds = 1e-6;
    report.what_case = HAC__EXECUTOR__REPORT__WHAT_DONE;
    report.done = &done;
    return hac_parent_send(parent, &report, err);
}

static hac_status send_pong(hac_parent *parent, uint64_t serial, hac_error *err)
{
    Hac__Executor__Pong pong;
    Hac__Executor__Report report;
    hac__executor__pong__init(&pong);
    hac__executor__report__init(&report);
    pong.serial = serial;
    report.what_case = HAC__EXECUTOR__REPORT__WHAT_PONG;
    report.pong = &pong;
    return hac_parent_send(parent, &report, err);
}

static hac_status handle(hac_parent *parent, const Hac__Executor__Command *command, hac_error *err)
{
    hac_status status = HAC_OK;
    for (size_t i = 0; i < command->n_runs && status == HAC_OK; i++)
        status = send_done(parent, command->runs[i], err);
    if (status != HAC_OK)
        return status;
    switch (command->what_case) {
    case HAC__EXECUTOR__COMMAND__WHAT_SETUP:
        return send_ready(parent, err);
    case HAC__EXECUTOR__COMMAND__WHAT_RUN:
        return send_done(parent, command->run, err);
    case HAC__EXECUTOR__COMMAND__WHAT_PING:
        return send_pong(parent, command->ping->serial, err);
    case HAC__EXECUTOR__COMMAND__WHAT_SHUTDOWN:
        return hac_fail(err, HAC_NOT_FOUND, "hacd wants it so");
    default:
        return HAC_OK; /* memory that comes and goes */
    }
}

int main(int argc, char **argv)
{
    hac_cleanup(hac_parent_free_cleanup) hac_parent *parent = NULL;
    hac_error err = HAC_ERROR_NONE;
    const char *executor = getenv("HAC_BENCH_EXECUTOR");
    if (argc > 1 && argv[1][0] == '-' && executor != NULL) {
        execv(executor, argv);
        perror(executor);
        return 1;
    }
    hac_status status = hac_parent_open(HAC_PARENT_FD, &parent, &err);
    while (status == HAC_OK) {
        Hac__Executor__Command *command;
        hac_frame frame;
        status = hac_parent_receive(parent, &command, &frame, &err);
        if (status != HAC_OK)
            break;
        status = handle(parent, command, &err);
        hac_frame_clear(&frame);
    }
    return status != HAC_NOT_FOUND;
}
