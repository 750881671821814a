/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parallel loops. The threads belong to the calling thread: they are created when a call needs them, kept for
 * the next calls, and end with the calling thread, or after a second without a call. Between calls a thread
 * spins for 50 µs, about the time of waking it (300 µs if the previous call came within a millisecond), then
 * sleeps; spinning threads yield the processor to others. A call ends when its items are done, even if some
 * threads never got to run. Items are claimed in ascending order, or each thread starts with its own
 * (hac_pool_run_near); results must not depend on which thread gets which item. There may be some 2^32 of
 * them; HAC_REFUSED: there are more.
 */
#ifndef CODELET_THREADS_H
#define CODELET_THREADS_H

#include <stdint.h>

#include "base/error.h"

#define HAC_POOL_MAX 256 /* threads */

/* The number of threads that a call with many items uses: the CPUs that the calling thread may run on. */
unsigned hac_pool_threads(void);

/* `worker` is below hac_pool_threads(): an index for memory of its own. */
typedef hac_status (*hac_pool_work)(void *context, uint64_t item, unsigned worker, hac_error *err);

/* Calls work for items 0 … n - 1. Returns the status of the lowest item that failed; items above it may not
 * have been called. If threads cannot be created, fewer do the work. */
HAC_MUST_USE hac_status hac_pool_run(uint64_t n, hac_pool_work work, void *context, hac_error *err);

/* As hac_pool_run, with at most `threads` threads, the calling one included; `worker` is below `threads`. */
HAC_MUST_USE hac_status hac_pool_run_few(uint64_t n, unsigned threads, hac_pool_work work, void *context,
                                         hac_error *err);

/* As hac_pool_run, but each thread starts with items of its own that follow each other, the same ones in
 * every call of that many items: data that it used for the item before, or in the previous call, may still be
 * in its cache. A thread with no items left takes the second half of another thread's. */
HAC_MUST_USE hac_status hac_pool_run_near(uint64_t n, hac_pool_work work, void *context, hac_error *err);

#endif
