/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include <stddef.h>
#include <stdlib.h>

/*
 * glibc gives the end of the heap back when it is larger than 128 KiB, which is what a small task takes, or a
 * message of a few: each one would fault the same pages in again. Once a block of its own mapping was freed,
 * larger ones come from the heap, too, and twice that much stays.
 */
static inline void hac_heap_keep(size_t bytes)
{
    void *volatile block = malloc(bytes);
    free(block);
}

#endif
