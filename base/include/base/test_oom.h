/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests only (target hac_test_oom): a piece of work is done again and again, and each time another one of
 * its allocations fails.
 *
 * Linking hac_test_oom puts these functions before the C library's (the linker's --wrap): malloc, calloc,
 * realloc, reallocarray, aligned_alloc, strdup, strndup, asprintf, vasprintf, open_memstream, free. What
 * shared libraries allocate inside themselves is not reached. Of all that was allocated through them, what is
 * left at the end of a piece of work is a leak, also without a sanitizer.
 */
#ifndef BASE_TEST_OOM_H
#define BASE_TEST_OOM_H

#include <stdbool.h>

#include "base/error.h"
#include "base/test_support.h"

/* One piece of work, from nothing to nothing: all that it takes is given back, whatever its status is. */
typedef hac_status (*hac_test_work)(void *context, hac_error *err);

/*
 * Does the work with 0, 1, 2 … allocations that succeed, then with the 1st, 2nd, 3rd … one failing alone,
 * until none fails any more. Asserts each time: HAC_NO_MEMORY and a message that speaks of memory; or HAC_OK,
 * where the work could do without (it looks itself whether what it got is right). Nothing is leaked, no
 * descriptor stays open. Asserts that the work makes `min_allocations` or more. Returns the number of
 * allocations.
 *
 * $HAC_TEST_OOM_STEP: behind the first 64 only every so-many-th allocation fails.
 */
long hac_test_exhaust(hac_test_work work, void *context, long min_allocations);

/* The parts, for work that has an oracle of its own: the next `n` allocations succeed, then one fails, or all
 * from there on. */
void hac_test_oom_arm(long n, bool all);

/* Lets everything succeed again; returns how many have failed. */
long hac_test_oom_disarm(void);

/* Blocks allocated and not freed since the program began. */
long hac_test_oom_blocks(void);

#endif
