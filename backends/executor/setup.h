/* SPDX-License-Identifier: Apache-2.0 */
/* From hacd's Setup message to an opened device, in the order that drivers need. */
#ifndef EXECUTOR_SETUP_H
#define EXECUTOR_SETUP_H

#include "opencl/device_open.h"
#include "proto/messages.h"

/* Checks the version and the numbers. */
HAC_MUST_USE hac_status hac_setup_check(const Hac__Executor__Setup *setup, hac_error *err);

/*
 * Sets the environment that drivers read when they start: numbers of threads, stacks large enough for
 * kernels, and the private directory for their caches. PoCL's platform disappears without an error if its
 * cache directory cannot be used, so the directory is tried first. Call this before any OpenCL call and any
 * thread.
 */
HAC_MUST_USE hac_status hac_setup_environment(const Hac__Executor__Setup *setup, hac_error *err);

/* Opens the device. Never returns HAC_NOT_FOUND, which would mean that hacd has closed the connection. */
HAC_MUST_USE hac_status hac_setup_open(const Hac__Executor__Setup *setup, bool never_build, hac_device **ret,
                                       hac_error *err);

/*
 * Pins this process's threads to setup's CPUs: each of PoCL's workers to one CPU, in turn, and all other
 * threads to the whole set. PoCL's own pinning counts CPUs from 0 whatever the process may use, so it stays
 * off. HAC_INVALID: a CPU does not exist or may not be used.
 */
HAC_MUST_USE hac_status hac_setup_pin(const Hac__Executor__Setup *setup, const hac_device_facts *facts,
                                      hac_error *err);

/*
 * From now on this process, its driver's threads (which compile and run kernels) and its children get only
 * CPU time that nobody else wants (SCHED_IDLE). Returns false if that failed for some of them.
 */
bool hac_setup_yield_to_others(void);

/*
 * From now on this process and its driver's threads preempt nobody when they wake up (SCHED_BATCH); only for
 * CPU devices, which compute in them. hacd wakes them and is often about to wake other executors. Returns
 * false if that failed for some of them. Call this before the call filter, which denies it.
 */
bool hac_setup_compute(const hac_device_facts *facts);

/* The facts as a message. Its texts are borrowed from `facts` and `kernel_hash`. */
void hac_facts_to_message(const hac_device_facts *facts, char kernel_hash[17],
                          Hac__Executor__DeviceFacts *ret);

#endif
