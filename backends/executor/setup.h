/* SPDX-License-Identifier: Apache-2.0 */
/* From hacd's Setup message to an opened device, in the order that drivers need. */
#ifndef EXECUTOR_SETUP_H
#define EXECUTOR_SETUP_H

#include "opencl/device_open.h"
#include "proto/messages.h"

/* Checks version and numbers. */
HAC_MUST_USE hac_status hac_setup_check(const Hac__Executor__Setup *setup, hac_error *err);

/*
 * Environment that drivers read when they start: thread counts, stacks that kernels fit, and the private
 * directory for their own caches (PoCL's platform vanishes without a word when its cache directory cannot be
 * used, so it is tried first). Before any OpenCL call and any thread.
 */
HAC_MUST_USE hac_status hac_setup_environment(const Hac__Executor__Setup *setup, hac_error *err);

/* Opens the device. Never HAC_NOT_FOUND: that one would mean that hacd has gone. */
HAC_MUST_USE hac_status hac_setup_open(const Hac__Executor__Setup *setup, bool never_build, hac_device **ret,
                                       hac_error *err);

/*
 * Pins this process's threads to setup's CPUs: PoCL's workers each to one, round robin, all others to the
 * whole set. PoCL's own pinning counts CPUs from 0 whatever the process may use, so it stays off. HAC_INVALID
 * when a CPU is not there or not ours.
 */
HAC_MUST_USE hac_status hac_setup_pin(const Hac__Executor__Setup *setup, const hac_device_facts *facts,
                                      hac_error *err);

/*
 * From now on this process, its driver's threads (the ones that compile and run kernels) and what they start
 * get only the time that nobody else wants: SCHED_IDLE. False: not all of them.
 */
bool hac_setup_yield_to_others(void);

/*
 * From now on this process and its driver's threads preempt nobody when they are woken, if they compute (of a
 * CPU device): SCHED_BATCH. hacd, which wakes them, is often about to give other executors their work. False:
 * not all of them. The call filter denies it: before that.
 */
bool hac_setup_compute(const hac_device_facts *facts);

/* Facts as a message; its texts borrow from `facts` and `kernel_hash`. */
void hac_facts_to_message(const hac_device_facts *facts, char kernel_hash[17],
                          Hac__Executor__DeviceFacts *ret);

#endif
