/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads for loops. They are the calling thread's own: made when a call needs them, kept for the next ones,
 * and ended with it, or when nothing has come for a second. Between calls they wait awake for 50 µs, about
 * what waking them takes, and for 300 where the last call came within a millisecond, then asleep; who waits
 * awake leaves the processor to others. A call ends when its items have, whether or not all threads have got
 * to run. Items are claimed in ascending order, or each thread's own are first (hac_pool_run_near); which
 * thread gets which must play no part in results.
 */
#ifndef QUERY_POOL_H
#define QUERY_POOL_H

#include <stdint.h>

#include "base/error.h"

#define HAC_POOL_MAX 256 /* threads */

/* Threads that a call with many items uses: the CPUs that the calling thread may run on. */
unsigned hac_pool_threads(void);

/* `worker` is below hac_pool_threads(): for memory of its own. */
typedef hac_status (*hac_pool_work)(void *context, uint64_t item, unsigned worker, hac_error *err);

/* Calls work for items 0 … n - 1. The status is that of the lowest item that failed; items above it may not
 * have been called then. Threads that cannot be made are done without. */
HAC_MUST_USE hac_status hac_pool_run(uint64_t n, hac_pool_work work, void *context, hac_error *err);

/* Likewise; each thread begins with items of its own, in every call of so many items the same ones: what
 * these had it look at in the call before may still be in its cache. */
HAC_MUST_USE hac_status hac_pool_run_near(uint64_t n, hac_pool_work work, void *context, hac_error *err);

#endif
