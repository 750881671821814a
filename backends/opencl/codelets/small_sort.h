/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorting on one thread what fits a message: at most 32 KiB of keys, no allocation. Stable; descending keeps
 * the input order of ties, too; all NaNs are ties. A thousand 32-bit keys take a few microseconds.
 */
#ifndef CODELETS_SMALL_SORT_H
#define CODELETS_SMALL_SORT_H

#include <hac/type.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HAC_SMALL_SORT_BYTES 32768

/* Sorts n keys of `type` from `in` into `out`; n · size ≤ HAC_SMALL_SORT_BYTES. No alignment is needed. */
void hac_small_sort_keys(hac_type type, bool descending, const void *in, size_t n, void *out);

/* The same order as indices of `in`. */
void hac_small_sort_index(hac_type type, bool descending, const void *in, size_t n, uint32_t *out);

#endif
