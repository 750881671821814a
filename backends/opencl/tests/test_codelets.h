/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of codelets share: the device, memory with a guard at its end, the order of keys. */
#ifndef CODELETS_TEST_CODELETS_H
#define CODELETS_TEST_CODELETS_H

#include "base/test_support.h"
#include "base/type.h"
#include "opencl/device_open.h"

/*
 * The first device found, or the first of the platform that HAC_TEST_PLATFORM names. HAC_TEST_SIMT=1 keeps to
 * lock-step style, for devices whose compiler takes minutes over vectors (llvmpipe).
 */
hac_device *test_open_device(hac_device_options options);

/* HAC_TEST_SMALL=1 keeps to sizes for an instrumented device (oclgrind). */
bool test_small_sizes(void);

#define TEST_GUARD 256 /* bytes after a span that must not change */

/* 64-byte aligned memory with a guard after it, for free(). */
uint8_t *test_guarded(uint64_t bytes);
bool test_guard_is_whole(const uint8_t *data, uint64_t bytes);

/* A key's rank (IEEE 754 totalOrder, but all NaNs are equal and last) and its index: the oracle of sorts.
 * Equal items keep the order of their indices. */
typedef struct test_item {
    uint64_t rank, index;
} test_item;

uint64_t test_load(const uint8_t *data, uint64_t i, size_t size); /* item i of `size` bytes, little-endian */
uint64_t test_rank(hac_type type, uint64_t key);
void test_sort_items(test_item *items, size_t n, bool descending);

#endif
