/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include <stddef.h>
#include <stdlib.h>

/*
 * glibc returns free heap above 128 KiB to the kernel, so every small task would fault its pages in again.
 * Freeing one block of `bytes` that was mapped on its own raises both thresholds: the size from which a block
 * is mapped on its own to `bytes`, and the free heap that stays to twice that.
 */
static inline void hac_heap_keep(size_t bytes)
{
    void *volatile block = malloc(bytes);
    free(block);
}

#endif
