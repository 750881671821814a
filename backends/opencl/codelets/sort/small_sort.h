/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts what fits a message, at most 32 KiB of keys, on one thread and without allocations. The sort is
 * stable, also when descending; all NaNs are equal. A thousand 32-bit keys take a few microseconds.
 */
#ifndef CODELETS_SMALL_SORT_H
#define CODELETS_SMALL_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hac/type.h>

#include "base/limits.h"

#define HAC_SMALL_SORT_BYTES HAC_INLINE_MAX

/* Sorts n keys of `type` from `in` into `out`; n · size is at most HAC_SMALL_SORT_BYTES. No alignment is
 * needed. */
void hac_small_sort_keys(hac_type type, bool descending, const void *in, size_t n, void *out);

/* The indices of `in` in sorted order. */
void hac_small_sort_index(hac_type type, bool descending, const void *in, size_t n, uint32_t *out);

#endif
