/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks in an executor: from a Run command to a Done report. */
#ifndef EXECUTOR_TASK_H
#define EXECUTOR_TASK_H

#include "codelet/codelet.h"
#include "memory.h"
#include "proto/messages.h"

typedef struct hac_runner hac_runner;

/* Device and memory are borrowed. With slowdown > 1 every task takes that many times as long. */
HAC_MUST_USE hac_status hac_runner_new(hac_device *device, hac_memory *memory, double slowdown,
                                       hac_runner **ret, hac_error *err);
void hac_runner_free(hac_runner *runner);

/*
 * Makes a task from a command. Everything is checked, by the codelet's own check, too. HAC_INVALID or
 * HAC_UNSUPPORTED: the message names the fault. The task borrows from `run`.
 */
HAC_MUST_USE hac_status hac_task_from_command(const hac_device_facts *facts, hac_memory *memory,
                                              const Hac__Executor__Run *run, const hac_codelet **ret_codelet,
                                              hac_task *ret, hac_error *err);

/* Runs a command's task and fills *ret, which points into the runner until the next call. *ret reports
 * failures, too. */
void hac_runner_run(hac_runner *runner, const Hac__Executor__Run *run, Hac__Executor__Done *ret);

#endif
